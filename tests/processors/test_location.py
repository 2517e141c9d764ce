"""Finding a processor: on this machine first, from the Hub by the real client, and a way out in one line if not."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lint_dataset.processors import ProcessorUnavailable, locate
from lint_dataset.processors.location import files_of

REPOSITORY = Path(__file__).parent.parent.parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "tokenizer.json": b'{"version": "1.0"}',
    "tokenizer_config.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "config.json": b'{"model_type": "gemma"}',
    "model.safetensors": b"weights" * 1000,
    "modeling_own.py": b"raise SystemExit('ran remote code')",
}


@pytest.fixture(autouse=True)
def hub_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("LINT_DATASET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "hf"


def cached(home: Path, repository: str, files: dict[str, bytes], revision: str = COMMIT) -> Path:
    """A repository as huggingface_hub lays it out."""
    folder = home / "hub" / f"models--{repository.replace('/', '--')}"
    snapshot = folder / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(revision)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)
    return snapshot


class Hub(BaseHTTPRequestHandler):
    """What the Hub answers: one repository that is open, one that is gated, and nothing else."""

    asked: list[str]

    def do_GET(self) -> None:
        self.answer(body=True)

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def answer(self, *, body: bool) -> None:
        self.asked.append(self.path)
        path = self.path.split("?")[0]
        for repository in ("own/open", "own/gated"):
            if path.startswith(f"/api/models/{repository}"):
                siblings = [{"rfilename": name} for name in FILES]
                gated = False if repository == "own/open" else "manual"
                info = {"id": repository, "sha": COMMIT, "siblings": siblings, "gated": gated, "private": False}
                if "/tree/" in path:
                    info = [{"type": "file", "path": n, "size": len(c), "oid": "0" * 40} for n, c in FILES.items()]
                self.send(200, json.dumps(info).encode(), body=body, kind="application/json")
                return
        name = path.rsplit("/", 1)[-1]
        if path.startswith("/own/open/resolve/") and name in FILES:
            content = FILES[name]
            headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
            self.send(200, content, body=body, **headers)
        elif path.startswith("/own/gated/resolve/"):
            self.send(401, b"", body=body, **{"X-Error-Code": "GatedRepo", "X-Error-Message": "restricted"})
        else:
            self.send(
                401, b"", body=body, **{"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}
            )

    def send(self, status: int, content: bytes, *, body: bool, kind: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[tuple[str, list[str]]]:
    """A Hub of our own: its address, and what it was asked."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Hub,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def located(name: str, **env: str) -> dict[str, str]:
    """What ``locate`` says in a fresh process: huggingface_hub reads its environment once, when it is imported."""
    program = f"""
        import json, sys
        from lint_dataset.processors import ProcessorUnavailable, locate
        try:
            said = locate({name!r}, None)._asdict()
        except ProcessorUnavailable as reason:
            said = {{"message": reason.message, "remedy": reason.remedy}}
        heavy = {{"transformers", "tokenizers", "torch"}} & set(sys.modules)
        print(json.dumps({{**said, "heavy": sorted(heavy), "hub": "huggingface_hub" in sys.modules}}))
    """
    import os

    command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", **env}
    run = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    assert said["heavy"] == []
    assert not any("\n" in str(value) for value in said.values())
    return said


def test_a_folder_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    for name, content in FILES.items():
        (tmp_path / "own" / name).write_bytes(content)
    place = locate("gemma-3n-E2B", str(tmp_path / "own"))
    assert place.folder == str(tmp_path / "own")
    names = {path.name for path in files_of(tmp_path / "own")}
    assert names == {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "config.json"}


def test_the_hubs_cache_by_alias_id_and_mirror(hub_home: Path) -> None:
    snapshot = cached(hub_home, "unsloth/gemma-3n-E2B-it", FILES)
    for name in ("gemma-3n-E2B", "gemma-3n-e2b", "google/gemma-3n-E2B-it", "unsloth/gemma-3n-E2B-it"):
        assert Path(locate(name, None).folder) == snapshot
    first = cached(hub_home, "google/gemma-3n-E2B-it", FILES)
    assert Path(locate("gemma-3n-E2B", None).folder) == first
    assert Path(locate("unsloth/gemma-3n-E2B-it", None).folder) == snapshot


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = cached(tmp_path / "elsewhere", "own/model", FILES)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere" / "hub"))
    assert Path(locate("own/model", None).folder) == snapshot


def test_a_cached_model_needs_neither_network_nor_client(hub_home: Path, hub: tuple[str, list[str]]) -> None:
    cached(hub_home, "own/open", FILES)
    address, asked = hub
    said = located("own/open", HF_ENDPOINT=address)
    assert said["folder"].endswith(COMMIT)
    assert not said["hub"]
    assert asked == []


def test_downloads_the_processor_and_never_weights_or_code(hub_home: Path, hub: tuple[str, list[str]]) -> None:
    address, asked = hub
    said = located("own/open", HF_ENDPOINT=address)
    assert "folder" in said, said
    folder = Path(said["folder"])
    names = {path.name for path in folder.iterdir()}
    assert names == {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "config.json"}
    assert not [path for path in asked if "safetensors" in path or path.endswith(".py")]
    asked.clear()
    assert located("own/open", HF_ENDPOINT=address)["fingerprint"] == said["fingerprint"]
    assert asked == []


def test_a_gated_model(hub: tuple[str, list[str]]) -> None:
    address, _ = hub
    said = located("own/gated", HF_ENDPOINT=address)
    assert "gated" in said["message"]
    assert f"{address}/own/gated" in said["remedy"]
    assert "hf auth login" in said["remedy"]
    assert "--tokenizer FOLDER" in said["remedy"]


def test_a_model_that_is_not_there(hub: tuple[str, list[str]]) -> None:
    address, _ = hub
    said = located("own/nothing", HF_ENDPOINT=address)
    assert "there is no model own/nothing" in said["message"]
    assert "--tokenizer FOLDER" in said["remedy"]


def test_no_network() -> None:
    said = located("gemma-3n-E2B", HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_DOWNLOAD_TIMEOUT="2")
    assert "could not be downloaded" in said["message"]
    assert "hf download google/gemma-3n-E2B-it" in said["remedy"]
    assert "--tokenizer unsloth/gemma-3n-E2B-it" in said["remedy"]


def test_offline(hub: tuple[str, list[str]]) -> None:
    address, asked = hub
    said = located("own/open", HF_ENDPOINT=address, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE" in said["message"]
    assert "hf download own/open" in said["remedy"]
    assert asked == []
    assert not said["hub"]


@pytest.mark.parametrize("name", ["no model at all", "../up", "a/b/c", "http://x/y", "/no/such/folder", "-x"])
def test_what_cannot_be_a_model(name: str) -> None:
    with pytest.raises(ProcessorUnavailable, match="neither a known model") as raised:
        locate(name, None)
    assert "gemma-3n-E2B" in raised.value.remedy


def test_a_folder_without_a_tokenizer_and_a_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ProcessorUnavailable, match="holds no tokenizer"):
        locate(None, str(tmp_path))
    with pytest.raises(ProcessorUnavailable, match="is a file"):
        locate(None, str(tmp_path / "config.json"))


def test_a_cached_model_that_hears_needs_its_preprocessor(hub_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever only ever loaded its tokenizer has a part of it: the rest is fetched, or, offline, done without."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    config = json.dumps({"audio_config": {}}).encode()
    first = cached(hub_home, "google/gemma-3n-E2B-it", {**FILES, "config.json": config})
    assert Path(locate("gemma-3n-E2B", None).folder) == first
    whole = cached(
        hub_home, "unsloth/gemma-3n-E2B-it", {**FILES, "config.json": config, "processor_config.json": b"{}"}
    )
    assert Path(locate("gemma-3n-E2B", None).folder) == whole


def test_the_fingerprint_follows_files_versions_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lint_dataset.processors import fingerprint

    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
    first, second = (locate(None, str(folder)).fingerprint for folder in folders)
    assert first == second
    (folders[1] / "model.safetensors").write_bytes(b"other weights")
    assert locate(None, str(folders[1])).fingerprint == first
    (folders[1] / "chat_template.jinja").write_bytes(b"{{ messages[0] }}")
    assert locate(None, str(folders[1])).fingerprint != first
    monkeypatch.setattr(fingerprint, "version", lambda package: f"{package} of tomorrow")
    assert locate(None, str(folders[0])).fingerprint != first
