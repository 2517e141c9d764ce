"""A fault: something wrong that was met while an example was read, brought to one shape, rendered or measured.

A fault is data, not a message. It travels inside the measurement (and the cache), and the rule that owns its code
turns it into a diagnostic.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Fault(NamedTuple):
    """One fault of one example.

    ``code`` is the code of the rule that reports it (``"J006"``). ``data`` holds what that rule's message needs, as
    plain JSON values, and never text of the dataset itself beyond a key or a role name.
    """

    code: str
    data: dict[str, Any]
