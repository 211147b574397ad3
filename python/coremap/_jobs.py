"""Jobs and mappings of a server, and mappings that were kept."""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
import urllib.parse
from typing import Any, Callable, Dict, List, Optional

from . import _local, _server
from ._local import CoremapError


class Job:
    """A job of a server: ``id``, ``kind``, ``name``, ``state`` ("queued", "running", "done", "failed", "cancelled") and ``about``, all
    that the server said of it last."""

    def __init__(self, server: Any, about: Dict[str, Any]):
        self._server, self.about = server, about
        self.id: str = _server._has(about, "id", str)

    @property
    def state(self) -> str:
        return str(self.about.get("state"))

    @property
    def kind(self) -> str:
        return str(self.about.get("kind"))

    @property
    def name(self) -> str:
        return _local.shown(self.about.get("name", ""))

    @property
    def progress(self) -> float:
        """How much of its time has passed, 0 to 1, as the server estimates it."""
        told = self.about.get("progress")
        fraction = told.get("fraction") if isinstance(told, dict) else None
        return 1.0 if self.state == "done" else float(fraction) if isinstance(fraction, (int, float)) else 0.0

    def refresh(self) -> "Job":
        """Asks the server again, without waiting."""
        self.about = self._server.json("GET", "/v1/jobs/" + self.id)
        return self

    def history(self) -> List[Dict[str, Any]]:
        """How it went: ``seconds``, ``phase``, ``fraction``, and ``metric`` where the phase has one; 200 points at most."""
        return _server._has(self._server.json("GET", "/v1/jobs/%s/history" % self.id), "points", list)

    def wait(self, progress: Any = None) -> "Job":
        """Returns when it is done. Raises CoremapError when it fails or is cancelled."""
        from . import _heard
        with _heard(progress) as heard:
            self.about = _server._wait(self._server, self.refresh().about, heard)
        return self

    def result(self, progress: Any = None) -> Any:
        """What it made, when it is done: a Mapping, a Program, or the report of a job that makes neither."""
        from . import Mapping, Program
        about = self.wait(progress).about
        if "program" in about:
            return Program(_server._Program(self._server, _server._has(about, "program", str)))
        return Mapping(_server._Result(self._server, _server._has(about, "mapping", str))) if "mapping" in about else about.get("report")

    def cancel(self) -> None:
        """Takes it out of the queue, or asks it to stop."""
        self._server.json("POST", "/v1/jobs/%s/cancel" % self.id)

    def __repr__(self) -> str:
        return "<coremap.Job: %s %s, %s>" % (self.kind, self.id, self.state)


def submit(network: Any, chip: str = "loihi1", *, server: str, token: Optional[str] = None, kind: str = "map", name: Optional[str] = None,
           neurons: Optional[int] = None, format: Optional[str] = None, directed: Optional[str] = None, sizes: Any = None, rates: Any = None,
           occupancy: Any = None, labels: Optional[Dict[str, str]] = None, **options: Any) -> Job:
    """Queues a job on a server and returns at once; ``job.result()`` waits. kind: "map", or "compile" with the path of a model. All else is
    as in coremap.map."""
    from . import _written
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
        source, taken = _written(network, neurons, format, directed, sizes, rates, occupancy, folder)
        opened = _server._Server(server, token)
        return Job(opened, _server._submit(opened, kind, source.file(folder), os.fspath(chip), source.reading, taken, options, name=name, labels=labels))


def _rows(server: str, token: Optional[str], what: str, limit: Optional[int], given: Dict[str, Any]) -> "tuple[Any, List[Dict[str, Any]]]":
    """The rows of a list, page after page."""
    opened, rows, cursor = _server._Server(server, token), [], ""
    while limit is None or len(rows) < limit:
        asked = {name: value for name, value in given.items() if value is not None}
        if limit is not None:
            asked["limit"] = min(limit - len(rows), 200)
        if cursor:
            asked["cursor"] = cursor
        page = opened.json("GET", "/v1/%s?%s" % (what, urllib.parse.urlencode(asked)))
        rows += _server._has(page, what, list)
        cursor = page.get("next", "")
        if not cursor:
            break
    return opened, rows


def jobs(server: str, *, token: Optional[str] = None, limit: Optional[int] = None, **only: Any) -> List[Job]:
    """The jobs that one sees on a server, newest first. only: what its list can be narrowed by, such as state="running", user="ada",
    network=ID, chip="loihi1"."""
    opened, rows = _rows(server, token, "jobs", limit, only)
    return [Job(opened, row) for row in rows]


def mappings(server: str, *, token: Optional[str] = None, limit: Optional[int] = None, **only: Any) -> List[Dict[str, Any]]:
    """The mappings that one sees on a server, newest first, as its list has them; ``coremap.load(row["id"], server=...)`` opens one. only: as in coremap.jobs."""
    return _rows(server, token, "mappings", limit, only)[1]


def load(mapping: "str | os.PathLike[str]", network: Any = None, *, server: Optional[str] = None, token: Optional[str] = None,
         neurons: Optional[int] = None, format: Optional[str] = None, directed: Optional[str] = None) -> Any:
    """A mapping that is there: by its id or its job's on a server, or from a file that ``Mapping.save`` or ``coremap map -o`` wrote, with the
    network that it is of."""
    from . import Mapping, _written
    if server is not None:
        opened, told = _server._Server(server, token), os.fspath(mapping)
        if not told.isalnum():
            raise ValueError("a mapping of a server is named by its id, or its job's, not %r" % told)
        try:
            opened.json("GET", "/v1/mappings/" + told)
        except CoremapError as error:
            if error.code != "not-found":
                raise
            told = _server._has(opened.json("GET", "/v1/jobs/" + told), "mapping", str)
        return Mapping(_server._Result(opened, told))
    if network is None:
        raise ValueError("the file of a mapping does not hold its network: load(path, network)")
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
        source, _ = _written(network, neurons, format, directed, None, None, None, folder)
        return Mapping(_local.open_mapping(os.fspath(mapping), source))
