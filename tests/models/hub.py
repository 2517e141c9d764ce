"""A Hub of our own on this machine: the endpoints that huggingface_hub asks, for repositories of a few small files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER = "89abcdef0123456789abcdef0123456789abcdef"


@dataclass
class Repository:
    """Files by commit, commits by branch or tag, and the token that opens it where it is gated."""

    commits: dict[str, dict[str, bytes]]
    refs: dict[str, str] = field(default_factory=lambda: {"main": COMMIT})
    token: str | None = None

    def commit(self, revision: str) -> str | None:
        commit = self.refs.get(revision, revision)
        return commit if commit in self.commits else None


@dataclass
class Hub:
    """The repositories of a Hub, what it was asked, and what goes wrong with it.

    A file in ``cut`` breaks off after that many bytes, only once where it ``mends``; where it ``stalls``, its
    connection stays open and nothing comes.
    """

    #: Models by their names, data sets as ``datasets/owner/name``.
    repositories: dict[str, Repository]
    asked: list[str] = field(default_factory=list)
    cut: dict[str, int] = field(default_factory=dict)
    stalls: bool = False
    mends: bool = False
    address: str = ""

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        """The environment of a process that takes this Hub for the Hub and ``home`` for its cache."""
        names = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN")
        clean = {name: value for name, value in os.environ.items() if name not in names}
        own = {"HF_HOME": str(home / "hf"), "LINT_DATASET_CACHE": str(home / "cache"), "HF_ENDPOINT": self.address}
        return {
            **clean,
            **own,
            "PYTHONPATH": str(ROOT),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "COLUMNS": "200",
            **more,
        }

    def run(self, home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the command line in a process of its own, in ``home``."""
        command = [sys.executable, "-m", "lint_dataset", *arguments]
        run = subprocess.run(
            command, cwd=home, env=self.environment(home, **more), capture_output=True, text=True, timeout=120
        )
        assert "Traceback" not in run.stderr, run.stderr
        return run


_NAME = "((?:datasets/)?[^/]+/[^/]+)"


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        self.hub.asked.append(f"{self.command} {self.path}")
        path = self.path.split("?")[0]
        if found := re.fullmatch(
            r"/api/(?:models/)?((?:datasets/)?[^/]+/[^/]+)(?:/(revision|tree)/([^/]+)/?)?(.*)", path
        ):
            name, kind, revision = found[1], found[2], found[3] or "main"
        elif found := re.fullmatch(rf"/{_NAME}/resolve/([^/]+)/(.+)", path):
            name, kind, revision = found[1], found[3], found[2]
        else:
            return self._refuse(404, "EntryNotFound", body=body)
        repository = self.hub.repositories.get(name)
        if repository is None:
            return self._refuse(401, "RepoNotFound", body=body)
        commit = repository.commit(revision)
        if commit is None:
            return self._refuse(404, "RevisionNotFound", body=body)
        files = repository.commits[commit]
        if path.startswith("/api/"):
            if kind == "tree":
                return self._list(files, found[4], body=body)
            return self._describe(name, repository, commit, body=body)
        if repository.token is not None:
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if given != repository.token:
                return self._refuse(403 if given else 401, "GatedRepo", body=body)
        if kind not in files:
            return self._refuse(404, "EntryNotFound", body=body)
        return self._send_file(kind, files[kind], commit, body=body)

    def _describe(self, name: str, repository: Repository, commit: str, *, body: bool) -> None:
        described = {
            "id": name.removeprefix("datasets/"),
            "sha": commit,
            "siblings": [{"rfilename": file} for file in repository.commits[commit]],
            "gated": "manual" if repository.token else False,
            "private": False,
        }
        self._send(200, json.dumps(described).encode(), {"Content-Type": "application/json"}, body=body)

    def _list(self, files: dict[str, bytes], folder: str, *, body: bool) -> None:
        """What is directly in a folder of a repository."""
        inside = f"{folder}/" if folder else ""
        listed: dict[str, dict[str, Any]] = {}
        for path, content in files.items():
            if path.startswith(inside):
                first, slash, _ = path[len(inside) :].partition("/")
                entry = {"path": inside + first, "oid": hashlib.sha1(content).hexdigest()}
                size = {"type": "directory", "size": 0} if slash else {"type": "file", "size": len(content)}
                listed[first] = {**entry, **size}
        if not listed:
            return self._refuse(404, "EntryNotFound", body=body)
        self._send(200, json.dumps(list(listed.values())).encode(), {"Content-Type": "application/json"}, body=body)

    def _send_file(self, name: str, content: bytes, commit: str, *, body: bool) -> None:
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        first = 0
        if asked := re.fullmatch(r"bytes=(\d+)-\d*", self.headers.get("Range", "")):
            first = int(asked[1])
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        end = self.hub.cut.get(name, len(content)) if body else len(content)
        self._send(206 if first else 200, content[first:], headers, body=body, stop=max(end - first, 0))

    def _refuse(self, status: int, code: str, *, body: bool) -> None:
        self._send(status, b"", {"X-Error-Code": code, "X-Error-Message": code}, body=body)

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], *, body: bool, stop: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if not body:
            return
        self.wfile.write(content[:stop])
        self.wfile.flush()
        if stop is not None and stop < len(content):
            while self.hub.stalls:
                time.sleep(0.05)
            self.close_connection = True
            if self.hub.mends:
                self.hub.cut.clear()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(repositories: dict[str, Repository]) -> Iterator[Hub]:
    """A Hub with these repositories, on a port of this machine."""
    hub = Hub(repositories)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    yield hub
    hub.stalls = False
    server.shutdown()
    server.server_close()
