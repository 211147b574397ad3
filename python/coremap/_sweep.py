"""Many mappings of one request, compared: here, on threads, or as the jobs of a server's sweep."""
from __future__ import annotations

import itertools
import math
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from . import _local, _server
from ._local import CoremapError


class Point:
    """A point of a sweep: ``chip`` and ``options`` of its axes, ``metrics`` of what they made (empty: nothing), ``state`` ("done",
    "failed", "cancelled"), and ``error`` where it failed."""

    def __init__(self, chip: str, options: Dict[str, Any], state: str, metrics: Dict[str, Any], error: Optional[CoremapError],
                 open_mapping: Optional[Callable[[], Any]]):
        self.chip, self.options, self.state, self.metrics, self.error, self._open = chip, options, state, metrics, error, open_mapping
        self._mapping: Any = None
        self._order = 0  # of the axes

    @property
    def mapping(self) -> Any:
        """The coremap.Mapping; None where it is not kept or was not made."""
        if self._mapping is None and self._open is not None:
            self._mapping = self._open()
        return self._mapping

    def __repr__(self) -> str:
        return "<coremap.Point: %s %s, %s>" % (self.chip, " ".join("%s=%s" % one for one in self.options.items()), self.state)


def _values(name: str, values: Any) -> List[Any]:
    if isinstance(values, str) and ".." in values:
        first, last = values.split("..", 1)
        if not (first.isdigit() and last.isdigit() and int(first) <= int(last)):
            raise ValueError("axis %s: a range is two whole numbers, the first not above the last: \"1..20\"" % name)
        return list(range(int(first), int(last) + 1))
    made = [values] if isinstance(values, str) or not isinstance(values, Iterable) else [getattr(one, "item", lambda: one)() for one in values]
    if not made:
        raise ValueError("axis %s has no value" % name)
    return made


def _ways(by: Sequence[str]) -> List[float]:
    """1 where less of a metric is better, -1 where more is."""
    known = _local.table("metrics")["properties"]
    ways = [{"less": 1.0, "more": -1.0}.get(known.get(str(name), {}).get("x-better", ""), 0.0) for name in by]
    if not 1 <= len(by) <= 2 or 0.0 in ways:
        raise ValueError("by: name one metric or two that a mapping is better by, such as energy_pj, step_ns or cores_used")
    return ways


def _ranked(points: List[Point], by: Sequence[str], ways: Sequence[float]) -> List[Point]:
    """Best first; those without the metric last, in the order of the axes."""
    def key(point: Point) -> List[float]:
        return [way * point.metrics[name] if isinstance(point.metrics.get(name), (int, float)) else math.inf for name, way in zip(by, ways)] + [point._order]
    return sorted(points, key=key)


def _drop(points: List[Point], keep: str, by: Sequence[str], ways: Sequence[float]) -> List[Point]:
    """Those of ranked points whose mappings stay; the others let theirs go."""
    stay: List[Point] = []
    least = math.inf
    for point in points:
        value = point.metrics.get(by[-1])
        cost = ways[-1] * value if isinstance(value, (int, float)) else math.inf
        if point.state == "done" and (keep == "all" or not stay or (keep == "pareto" and cost < least)):
            stay.append(point)
            least = min(least, cost)
        else:
            point._open = None
    return stay


def here(source: Any, chips: List[str], axes: Dict[str, List[Any]], base: Dict[str, Any], occupancy: Any, by: List[str], keep: str, threads: Optional[int], make: Callable[[Any], Any], told: Any) -> List[Point]:
    ways, done = _ways(by), 0
    lock = threading.Lock()
    stay: List[Point] = []  # as far as is known: no more mappings are held than these and those under way
    places = [(chip, dict(zip(axes, values))) for chip in chips for values in itertools.product(*axes.values())]
    workers = threads or os.cpu_count() or 1

    def one(order: int) -> Point:
        nonlocal done, stay
        chip, options = places[order]
        try:
            mapping = make(_local.map_source(source, chip, occupancy, {"threads": 1, **base, **options}, None))
            point = Point(chip, options, "done", mapping.metrics, None, lambda: mapping)
        except CoremapError as error:
            if error.code == "bad-option" and not done:
                raise
            point = Point(chip, options, "failed", {}, error, None)
        point._order = order
        with lock:
            done += 1
            stay = _drop(_ranked(stay + [point], by, ways), keep, by, ways)
        if told is not None:
            told("sweep", done / len(places))
        return point

    first = [one(0)]  # what is wrong with all of them is said once, before the rest runs
    with ThreadPoolExecutor(min(workers, len(places))) as pool:
        return _ranked(first + list(pool.map(one, range(1, len(places)))), by, ways)


def there(path: str, chips: List[str], axes: Dict[str, Any], base: Dict[str, Any], reading: Dict[str, str], occupancy: Any, by: List[str],
          keep: str, budget: Optional[Dict[str, Any]], url: str, token: Optional[str], make: Callable[[Any], Any], told: Any,
          labels: Optional[Dict[str, str]] = None) -> List[Point]:
    server = _server._Server(url, token)
    names = [_server._chip(server, chip, occupancy) for chip in chips]
    asked: Dict[str, Any] = {"kind": "sweep", "network": _server._network(server, path, reading), "chip": names, "base": base, "axes": axes, "by": by,
                             "keep": keep}
    if budget:
        asked["budget"] = budget
    if labels:
        asked["labels"] = labels
    identity = _server._has(_server._wait(server, server.json("POST", "/v1/jobs", asked), told), "id", str)
    rows: List[Dict[str, Any]] = []
    cursor = ""
    while True:
        page = server.json("GET", "/v1/sweeps/%s%s" % (identity, "?cursor=" + cursor if cursor else ""))
        rows += _server._has(page, "rows", list)
        cursor = page.get("next", "")
        if not cursor:
            break
    points = []
    for row in rows:
        problem, identity_of = row.get("problem") or {}, row.get("mapping")
        error = CoremapError(_local.shown(problem.get("code", "")), _local.shown(problem.get("detail", ""))) if problem else None
        opener = (lambda mapping=identity_of: make(_server._Result(server, mapping))) if row.get("kept") and identity_of else None
        points.append(Point(str(row.get("chip")), row.get("options") or {}, str(row.get("state")), row.get("metrics") or {}, error, opener))
    return _ranked(points, by, _ways(by))


def sweep(network: Any, chip: "Union[str, Sequence[str]]" = "loihi1", axes: Optional[Dict[str, Any]] = None, *, by: "Union[str, Sequence[str]]" = "energy_pj",
          keep: str = "all", budget: Optional[Dict[str, Any]] = None, threads: Optional[int] = None, neurons: Optional[int] = None,
          server: Optional[str] = None, token: Optional[str] = None, format: Optional[str] = None, directed: Optional[str] = None,
          sizes: Any = None, rates: Any = None, occupancy: Any = None, progress: Any = None, labels: Optional[Dict[str, str]] = None,
          **options: Any) -> List[Point]:
    """Maps a network once for each point of the axes, and gives the points, best first.

    axes: {"seed": range(20), "objective": ["time", "energy"], "preset": [...]}, any job option; "1..20" is a range too. chip: one,
        or several. by: the metric that is compared, or two. keep: which mappings stay, "best", "pareto" (of two metrics) or "all".
        budget, of a server: {"jobs", "cpu_seconds", "idle", "gap"} (docs/how-to/sweeps.md); labels, of a server: {"paper": "fig3"}, of the sweep and what it makes. threads: how many are mapped at
        once here; all processors unless given. All else as in coremap.map.

    Raises what coremap.map does for what is wrong with the request; a point that cannot be mapped has an ``error`` instead.
    """
    from . import Mapping, _heard, _written
    chips, compared = _local.several("chip", chip), _local.several("by", by)
    if not isinstance(axes or {}, dict):
        raise TypeError("axes is a dict of options and their values, such as {\"seed\": range(20)}, not %r" % (axes,))
    given = {name: _values(name, values) for name, values in (axes or {}).items()}
    if not chips or keep not in ("best", "pareto", "all"):
        raise ValueError("name a chip" if not chips else "keep is \"best\", \"pareto\" or \"all\", not %r" % keep)
    if budget and server is None:
        raise ValueError("a budget is a server's: name one with server=, or give fewer values")
    if server is None and (not isinstance(labels, (type(None), dict)) or labels):
        raise ValueError(_server.LABELS_OF_SERVERS)
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder, _heard(progress) as heard:
        source, taken = _written(network, neurons, format, directed, sizes, rates, occupancy, folder)
        names = [os.fspath(one) for one in chips]
        if server is not None:
            return there(source.file(folder), names, given, options, source.reading, taken, compared, keep, budget, server, token, Mapping, heard, labels)
        return here(source, names, given, options, taken, compared, keep, threads, Mapping, heard)
