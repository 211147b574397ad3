"""A coremapd server over HTTP, with the standard library."""
from __future__ import annotations

import hashlib
import io
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Optional

import numpy as np

from ._local import CoremapError


class _Server:
    def __init__(self, url: str, token: Optional[str]):
        self.url = url.rstrip("/")
        self.token = token or os.environ.get("COREMAP_TOKEN")
        host = urllib.parse.urlsplit(self.url)
        if self.token and host.scheme != "https" and host.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise CoremapError("conflict", "the token would go to %s unencrypted; use https://" % self.url)

    def ask(self, method: str, path: str, body: Any = None, size: Optional[int] = None, etag: Optional[str] = None,
            match: Optional[str] = None, offset: Optional[int] = None) -> Any:
        request = urllib.request.Request(self.url + path, data=body, method=method)
        if size is not None:
            request.add_header("Content-Length", str(size))
            request.add_header("Content-Type", "application/octet-stream")
        elif body is not None:
            request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        if etag:
            request.add_header("If-None-Match", etag)
        if match:
            request.add_header("If-Match", match)
        if offset is not None:
            request.add_header("Upload-Offset", str(offset))
        try:
            return urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            if error.code == 304:
                return None
            try:
                told = json.loads(error.read())
            except ValueError:
                told = {}
            raise CoremapError(told.get("code", "http-%d" % error.code), told.get("detail", str(error)), told.get("where", "")) from None
        except urllib.error.URLError as error:
            raise CoremapError("io", "no answer from %s: %s" % (self.url, error.reason)) from None

    def json(self, method: str, path: str, body: Any = None, match: Optional[str] = None) -> Any:
        with self.ask(method, path, json.dumps(body).encode() if body is not None else None, match=match) as reply:
            return json.load(reply)


class _Result:
    def __init__(self, server: _Server, mapping: str):
        self._server, self._path = server, "/v1/mappings/" + mapping
        self.part = np.loadtxt(io.StringIO(self.text("part")), dtype=np.uint32, ndmin=1)
        self.xy = np.loadtxt(io.StringIO(self.text("placement")), dtype=np.int32, delimiter=",", skiprows=1, ndmin=2)[:, 1:]

    def _bytes(self, what: str) -> bytes:
        views = {"summary": "", "mapping": "/content", "certificate": "/certificate", "part": "/part", "placement": "/placement"}
        path = views.get(what)
        if path is None and what.startswith("picture:"):
            _, kind, layer = what.split(":", 2)
            path = "/picture?" + urllib.parse.urlencode({"format": kind, "layer": layer})
        elif path is None:
            path = "/export?" + urllib.parse.urlencode({"to": what})
        with self._server.ask("GET", self._path + path) as reply:
            return reply.read()

    def text(self, what: str) -> str:
        return self._bytes(what).decode()

    def write(self, what: str, path: str) -> None:
        data = self._bytes(what)
        with open(path, "wb") as file:
            file.write(data)

    def simulate(self, spikes: Optional[str], options: Dict[str, Any], progress: Any) -> Dict[str, Any]:
        asked, server = dict(options, mapping=self._path.rsplit("/", 1)[1]), self._server
        if spikes is None:
            return _wait(server, server.json("POST", "/v1/jobs", {"kind": "simulate", "options": asked}), progress)["report"]
        size = os.path.getsize(spikes)
        upload = server.json("POST", "/v1/uploads", {"name": os.path.basename(spikes), "size": size})["id"]
        try:
            with open(spikes, "rb") as file:
                server.ask("PATCH", "/v1/uploads/%s?of=spikes" % upload, file, size, offset=0).close()
            asked["spikes"] = {"upload": upload}
            return _wait(server, server.json("POST", "/v1/jobs", {"kind": "simulate", "options": asked}), progress)["report"]
        finally:
            server.ask("DELETE", "/v1/uploads/" + upload).close()


def _network(server: _Server, path: str, format: Optional[str]) -> str:
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
        query = {"name": os.path.basename(path)}
        if format is not None:
            query["format"] = format
        else:  # what the server has, and shows, need not be sent
            for known in server.json("GET", "/v1/networks?sha256=" + digest.hexdigest())["networks"]:
                if known["visibility"] == "lab":
                    return known["id"]
        file.seek(0)
        with server.ask("POST", "/v1/networks?" + urllib.parse.urlencode(query), file, os.path.getsize(path)) as reply:
            return json.load(reply)["id"]


def _object(path: str, what: str) -> Dict[str, Any]:
    with open(path, "rb") as file:
        try:
            told = json.load(file)
        except ValueError as error:
            raise CoremapError("bad-" + what, "%s is no JSON: %s" % (path, error)) from None
    if not isinstance(told, dict):
        raise CoremapError("bad-" + what, "%s is no JSON object" % path)
    return told


def _chip(server: _Server, chip: str, occupancy: Any) -> str:
    """The name of a chip on the server: one that is there, or, of a file or with an occupancy, one under a name that says what it
    is, so that nobody else's is touched and the same one is made once."""
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
    while job["state"] in ("queued", "running"):
        if progress is not None:
            under_way = job.get("progress", {})
            progress(under_way.get("phase", job["state"]), under_way.get("fraction", 0.0))
        reply = server.ask("GET", "/v1/jobs/%s?wait=%s" % (job["id"], "30s" if progress is None else "2s"), etag=etag)
        if reply is not None:
            with reply:
                etag, job = reply.headers.get("ETag"), json.load(reply)
    if job["state"] != "done":
        told = job.get("problem", {})
        raise CoremapError(told.get("code", job["state"]), told.get("detail", "job %s was %s" % (job["id"], job["state"])), told.get("where", ""))
    return job


def map_file(path: str, chip: str, url: str, token: Optional[str], format: Optional[str], occupancy: Any, options: Dict[str, Any],
             progress: Any) -> _Result:
    server = _Server(url, token)
    name = _chip(server, os.fspath(chip), occupancy)
    job = server.json("POST", "/v1/jobs", {"network": _network(server, path, format), "chip": name, "options": options})
    return _Result(server, _wait(server, job, progress)["mapping"])
