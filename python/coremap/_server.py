"""A coremapd server over HTTP, by the library's client."""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import tempfile
import time
import urllib.parse
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ._local import CoremapError, _call, _Listener, _load, encoded, shown


LABELS_OF_SERVERS = "labels are a server's: name one with server="


class _Server:
    def __init__(self, url: str, token: Optional[str]):
        self.url, self._handle = url.rstrip("/"), ctypes.c_void_p()
        _call("client_open", url.encode(), token.encode() if token else None, ctypes.byref(self._handle))

    def ask(self, method: str, path: str, **request: Any) -> Tuple[int, str, Dict[str, Any]]:
        """Status, ETag and JSON of the reply. What a request has beside: coremap/client.h."""
        lib, reply, listener = _load(), ctypes.c_void_p(), _Listener(None)
        asked = encoded({name: value for name, value in request.items() if value is not None})
        try:
            _call("client_ask", self._handle, method.encode(), path.encode(), asked, listener.callback, None, ctypes.byref(reply))
        except CoremapError as error:
            raise listener.raised or error from None
        try:
            text = lib.coremap_reply_text(reply)
            return lib.coremap_reply_status(reply), lib.coremap_reply_etag(reply).decode(errors="replace"), json.loads(text) if text else {}
        finally:
            lib.coremap_reply_free(reply)

    def json(self, method: str, path: str, body: Any = None, match: Optional[str] = None) -> Dict[str, Any]:
        return self.ask(method, path, body=body, match=match)[2]

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _load().coremap_client_free(self._handle)


def _has(told: Any, name: str, kind: type) -> Any:
    """A member of what a server said, which is of this kind."""
    value = told.get(name) if isinstance(told, dict) else None
    if not isinstance(value, kind) or (name in ("id", "mapping") and not re.fullmatch("[0-9A-Za-z]+", value)):
        raise CoremapError("io", "the server's answer has no \"%s\" as a server of coremap has it" % name)
    return value


def _table(path: str, kind: Any, columns: int, **more: Any) -> np.ndarray:
    try:
        made = np.loadtxt(path, dtype=kind, **more)
    except (ValueError, OverflowError):
        made = None
    if made is None or made.ndim != (1 if columns == 1 else 2) or (columns > 1 and made.shape[1] != columns):
        raise CoremapError("io", "the server's answer is no table of %d columns of numbers" % columns)
    return made


class _Result:
    def __init__(self, server: _Server, mapping: str):
        self._server, self._path = server, "/v1/mappings/" + mapping
        with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
            path = os.path.join(folder, "view")
            self.write("part", path)
            self.part = _table(path, np.uint32, 1, ndmin=1)
            self.write("placement", path)
            self.xy = _table(path, np.int32, 3, delimiter=",", skiprows=1, ndmin=2)[:, 1:]

    def write(self, what: str, path: str) -> None:
        views = {"summary": "", "mapping": "/content", "certificate": "/certificate", "part": "/part", "placement": "/placement"}
        view = views.get(what)
        if view is None and what.startswith("picture:"):
            _, kind, layer = what.split(":", 2)
            view = "/picture?" + urllib.parse.urlencode({"format": kind, "layer": layer})
        elif view is None and "?" in what:
            view = "/" + what
        elif view is None:
            view = "/export?" + urllib.parse.urlencode({"to": what})
        self._server.ask("GET", self._path + view, output=os.path.abspath(path))

    def text(self, what: str) -> str:
        if what == "summary":
            return json.dumps(self._server.json("GET", self._path))
        with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
            self.write(what, os.path.join(folder, "view"))
            with open(os.path.join(folder, "view"), "rb") as file:
                return file.read().decode(errors="replace")

    def simulate(self, spikes: Optional[str], options: Dict[str, Any], progress: Any) -> Dict[str, Any]:
        return _spiking(self._server, {"kind": "simulate", "options": dict(options, mapping=self._path.rsplit("/", 1)[1])}, spikes, progress)


@contextlib.contextmanager
def _uploaded(server: _Server, path: Optional[str], option: str = "spikes", of: str = "spikes") -> Iterator[Dict[str, Any]]:
    """Options that name a file, which the server has meanwhile."""
    if path is None:
        yield {}
        return
    size = os.path.getsize(path)
    upload = _has(server.json("POST", "/v1/uploads", {"name": os.path.basename(path), "size": size}), "id", str)
    try:
        server.ask("PATCH", "/v1/uploads/%s?of=%s" % (upload, of), file=os.path.abspath(path), offset=0)
        yield {option: {"upload": upload}}
    finally:
        server.ask("DELETE", "/v1/uploads/" + upload)


def _spiking(server: _Server, asked: Dict[str, Any], spikes: Optional[str], progress: Any) -> Dict[str, Any]:
    """The report of a job that spikes in a file may be given to."""
    with _uploaded(server, spikes) as given:
        return _job(server, dict(asked, options=dict(asked["options"], **given)), "report", dict, progress)


def profile_file(path: str, url: str, token: Optional[str], reading: Dict[str, str], spikes: Optional[str], options: Dict[str, Any],
                 progress: Any) -> Dict[str, Any]:
    server = _Server(url, token)
    return _spiking(server, {"kind": "profile", "network": _network(server, path, reading), "options": options}, spikes, progress)


def _network(server: _Server, path: str, reading: Dict[str, str]) -> str:
    if not os.path.exists(path) and re.fullmatch("[0-9a-f]{20,64}", path):  # the id of one that the server has
        return path
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    query = {"name": os.path.basename(path), **reading}
    if not reading:  # what the server has, and shows, need not be sent
        known: List[Any] = _has(server.json("GET", "/v1/networks?sha256=" + digest.hexdigest()), "networks", list)
        for one in known:
            if isinstance(one, dict) and one.get("visibility") == "lab":
                return _has(one, "id", str)
    return _has(server.ask("POST", "/v1/networks?" + urllib.parse.urlencode(query), file=os.path.abspath(path))[2], "id", str)


def _object(path: str, what: str) -> Dict[str, Any]:
    with open(path, "rb") as file:
        try:
            told = json.load(file)
        except ValueError as error:
            raise CoremapError("bad-" + what, "%s is no JSON: %s" % (path, error)) from None
    if not isinstance(told, dict):
        raise CoremapError("bad-" + what, "%s is no JSON object" % path)
    return told


def _chip(server: _Server, chip: Optional[str], occupancy: Any) -> Optional[str]:
    """The name of a chip on the server: one that is there, or, of a file or with an occupancy, one under a name that says what it
    is, so that nobody else's is touched and the same one is made once."""
    if chip is None:
        return None
    from_file = "/" in chip or chip.endswith(".json")
    if not from_file and occupancy is None:
        return chip
    told = _object(chip, "chip") if from_file else server.json("GET", "/v1/chips/" + urllib.parse.quote(chip, safe=""))
    state = _object(os.fspath(occupancy), "occupancy") if occupancy is not None else None
    digest = hashlib.sha256(json.dumps([told, state], sort_keys=True).encode()).hexdigest()
    told["name"] = name = "%s-%s" % (str(told.get("name", "chip"))[:50], digest[:12])
    server.json("PUT", "/v1/chips/" + name, told)
    if state is not None:
        if "chip" in state:
            state["chip"] = name
        server.json("PUT", "/v1/chips/%s/occupancy" % name, state, match="*")
    return name


def _wait(server: _Server, job: Dict[str, Any], progress: Any) -> Dict[str, Any]:
    """The job when it is done."""
    etag = None
    while _has(job, "state", str) in ("queued", "running"):
        if progress is not None:
            told = job.get("progress")
            under_way: Dict[str, Any] = told if isinstance(told, dict) else {}
            fraction = under_way.get("fraction")
            progress(shown(under_way.get("phase", job["state"])), fraction if isinstance(fraction, (int, float)) else 0.0)
        began = time.monotonic()
        status, tag, now = server.ask("GET", "/v1/jobs/%s?wait=%s" % (_has(job, "id", str), "30s" if progress is None else "2s"), known=etag)
        etag, job = (etag, job) if status == 304 else (tag, now)
        if time.monotonic() - began < 0.1:  # a server that does not wait is not asked all the time
            time.sleep(0.1)
    if job["state"] != "done":
        said = job.get("problem")
        problem: Dict[str, Any] = said if isinstance(said, dict) else {}
        raise CoremapError(shown(problem.get("code", job["state"])), shown(problem.get("detail", "job %s was %s" % (job.get("id"), job["state"]))),
                           shown(problem.get("where", "")))
    return job


def _job(server: _Server, asked: Dict[str, Any], made: str, kind: type, progress: Any) -> Any:
    """What a job made, when it is done."""
    return _has(_wait(server, server.json("POST", "/v1/jobs", asked), progress), made, kind)


def _submit(server: _Server, kind: str, path: str, chip: Optional[str], reading: Dict[str, str], occupancy: Any, options: Dict[str, Any], **more: Any) -> Dict[str, Any]:
    """The job that was queued."""
    name = _chip(server, chip, occupancy)
    asked = {"kind": kind, "network": _network(server, path, reading), "options": options, **{key: value for key, value in more.items() if value is not None}}
    return server.json("POST", "/v1/jobs", asked if name is None else dict(asked, chip=name))


def map_file(path: str, chip: str, url: str, token: Optional[str], reading: Dict[str, str], occupancy: Any, options: Dict[str, Any],
             spikes: Optional[str], progress: Any, labels: Optional[Dict[str, str]] = None) -> _Result:
    server = _Server(url, token)
    before = options.get("levels_from")
    if isinstance(before, (str, os.PathLike)) and os.path.exists(before):
        options = dict(options, levels_from=_network(server, os.fspath(before), {}))
    with _uploaded(server, spikes) as given:
        job = _submit(server, "map", path, os.fspath(chip), reading, occupancy, dict(options, **given), labels=labels)
        return _Result(server, _has(_wait(server, job, progress), "mapping", str))


def fit_file(path: str, chips: List[Any], url: str, token: Optional[str], reading: Dict[str, str], occupancy: Any) -> List[Dict[str, Any]]:
    server = _Server(url, token)
    names = [_chip(server, os.fspath(chip), occupancy) for chip in chips]
    return _has(server.json("POST", "/v1/fits", {"network": _network(server, path, reading), "chips": names or "all"}), "fits", list)


class _Program:
    """What a compile job made."""

    def __init__(self, server: _Server, program: str):
        self._server, self._path = server, "/v1/programs/" + program
        files = _has(server.json("GET", self._path), "files", dict)
        self._made = next((name for name in ("program", "model", "tiles", "pieces") if name in files), None)
        self.report = server.json("GET", self._path + "/report")

    def write(self, path: str) -> None:
        self._server.ask("GET", "%s/%s" % (self._path, self._made), output=os.path.abspath(path))


def quantize_file(model: str, out: str, url: str, token: Optional[str], data: Optional[str], options: Dict[str, Any], progress: Any) -> Dict[str, Any]:
    server = _Server(url, token)
    with _uploaded(server, data, "data", "samples") as given:
        job = _wait(server, _submit(server, "quantize", model, None, {}, None, dict(options, **given)), progress)
    made = _Program(server, _has(job, "program", str))
    made.write(out)
    return made.report


def compile_file(model: str, chip: Optional[str], url: str, token: Optional[str], options: Dict[str, Any], progress: Any) -> _Program:
    server = _Server(url, token)
    return _Program(server, _has(_wait(server, _submit(server, "compile", model, chip, {}, None, options), progress), "program", str))


_DEPLOYED = {"images": "images.json", "binary": "images.bin", "commands": "commands.txt", "bench": "bench.mem", "inputs": "inputs.csv", "expected": "expected.txt", "spikes": "spikes.csv",
             "report": "report.json"}


def deploy_file(path: str, chip: str, folder: str, url: str, token: Optional[str], reading: Dict[str, str], spikes: Optional[str], options: Dict[str, Any],
                progress: Any) -> Dict[str, Any]:
    server = _Server(url, token)
    with _uploaded(server, spikes) as given:
        job = _wait(server, _submit(server, "deploy", path, os.fspath(chip), reading, None, dict(options, **given)), progress)
    program = "/v1/programs/" + _has(job, "program", str)
    os.makedirs(folder, exist_ok=True)
    for part, name in _DEPLOYED.items():
        server.ask("GET", "%s/%s" % (program, part), output=os.path.abspath(os.path.join(folder, name)))
    return _has(job, "report", dict)
