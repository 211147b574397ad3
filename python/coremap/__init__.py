"""Maps spiking networks on many-core chips.

    import coremap
    mapping = coremap.map(weights, chip="loihi1", preset="best")     # a scipy matrix: row to column
    mapping.part, mapping.xy, mapping.metrics["energy_pj"]

With ``server="https://..."`` a coremapd server does it. See docs/how-to/python.md.
"""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import urllib.parse
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _local, _server
from ._deploy import calibrate, deploy
from ._local import CoremapError
from ._jobs import Job, jobs, load, mappings, submit
from ._network import Network
from ._partition import Partition, fix_file, partition_source
from ._profile import Profile, profile, spike_file
from ._sweep import Point, sweep

__all__ = ["map", "fit", "solve", "partition", "Partition", "Mapping", "Nets", "Network", "read", "profile", "Profile", "deploy", "quantize", "compile", "Program", "emit", "load", "submit", "Job", "jobs", "calibrate",
           "mappings", "sweep", "Point", "CoremapError", "version"]

Progress = Union[bool, Callable[[str, float], None]]


class _Bar:
    """Progress as tqdm shows it: one line on standard error, a bar of the phase under way."""

    def __init__(self) -> None:
        self._width, self._last = 0, ""

    def __call__(self, phase: str, fraction: float) -> None:
        whole = min(max(fraction, 0.0), 1.0)  # below 0, or no number: not known
        text = "%s: %3d%%|%-20s|" % (phase, 100 * whole, "#" * int(20 * whole)) if whole == whole else "%s" % phase
        if text != self._last:
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width, self._last = len(text), text

    def end(self) -> None:
        if self._last:
            sys.stderr.write("\n")


@contextlib.contextmanager
def _heard(progress: Optional[Progress]) -> Iterator[Any]:
    """Whom progress is told: True is a bar, which then ends its line; None: nobody."""
    heard = _Bar() if progress is True else None if progress is False else progress
    if heard is not None and not callable(heard):
        raise TypeError("progress is True, or a function of a phase and a fraction, not %r" % (progress,))
    try:
        yield heard
    finally:
        if isinstance(heard, _Bar):
            heard.end()


def version() -> str:
    """The version of the library that is loaded."""
    return _local.version()


class Mapping:
    """Which neuron runs on which core. ``part[i]`` is the part of neuron i, ``xy[p]`` the core of part p."""

    def __init__(self, source: Any):
        self._source = source
        self.part: np.ndarray = source.part
        self.xy: np.ndarray = source.xy
        self.summary: Dict[str, Any] = json.loads(source.text("summary"))

    @property
    def metrics(self) -> Dict[str, Any]:
        """The figures of docs/reference/mapping-formats.md: energy_pj, connectivity, step_ns, ..."""
        return self.summary["metrics"]

    @property
    def core_of(self) -> np.ndarray:
        """x, y of every neuron's core."""
        return self.xy[self.part]

    def certificate(self) -> Dict[str, Any]:
        """Limits, metrics and lower bounds that ``coremap check --certificate`` verifies."""
        try:
            return json.loads(self._source.text("certificate"))
        except (ValueError, RecursionError) as error:
            raise CoremapError("io", "the certificate is no JSON: %s" % error) from None

    def _ask(self, kind: str, **arguments: Any) -> Any:
        asked = {name: ",".join(str(one) for one in value) if isinstance(value, (tuple, list)) else value
                 for name, value in arguments.items() if value is not None}
        try:
            return json.loads(self._source.text("%s?%s" % (kind, urllib.parse.urlencode(asked))))
        except (ValueError, RecursionError) as error:
            raise CoremapError("io", "the answer is no JSON: %s" % error) from None

    def links(self, limit: int = 10, axons: int = 0) -> Dict[str, Any]:
        """The fullest links and ports, and of each the axons that fill it most (docs/reference/mapping-formats.md)."""
        return self._ask("links", limit=limit, axons=axons)

    def flows(self, *, core: Optional[Tuple[int, int]] = None, neuron: Union[int, str, None] = None, population: Optional[str] = None,
              link: Optional[str] = None, limit: int = 1000) -> Dict[str, Any]:
        """Packets from core to core: out of and into a core, a neuron or a population, or over a link ("3,4,east")."""
        return self._ask("flows", core=core, neuron=neuron, population=population, link=link, limit=limit)

    def tree(self, neuron: Union[int, str], axon: int = 0, limit: int = 10000) -> Dict[str, Any]:
        """The links that the packets of one of a neuron's axons take, and the cores that they reach."""
        return self._ask("tree", neuron=neuron, axon=axon, limit=limit)

    def find(self, neuron: Union[int, str], limit: int = 20) -> List[Dict[str, Any]]:
        """Neurons by number or by some of their name: part, place, fan-in, fan-out, and the cores that they reach."""
        return self._ask("neurons", find=neuron, limit=limit)["neurons"]

    def matrix(self, by: str = "part") -> np.ndarray:
        """Who sends how much to whom: packets from part to part, or synapse events from "population" to population; 512 rows at most."""
        return np.asarray(self._ask("matrix", by=by)["rows"], dtype=np.float64)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the whole mapping as ``coremap map -o`` does."""
        self._source.write("mapping", os.fspath(path))

    def to(self, format: str, path: "str | os.PathLike[str]") -> None:
        """Writes a format of docs/reference/exports.md: sanafe, booksim, noxim, pacman, spinnaker, hgrade, traffic, units, lava."""
        self._source.write(format, os.fspath(path))

    def to_sanafe(self, path: "str | os.PathLike[str]") -> None:
        """Writes SANA-FE's architecture, network and mapping."""
        self.to("sanafe", path)

    def draw(self, path: "str | os.PathLike[str]", layer: str = "neurons") -> None:
        """Draws a layer of docs/reference/pictures.md as .svg or .png."""
        kind = "png" if os.fspath(path).endswith(".png") else "svg"
        self._source.write("picture:%s:%s" % (kind, layer), os.fspath(path))

    def simulate(self, spikes: Any = None, *, progress: Optional[Progress] = None, **options: Any) -> Dict[str, Any]:
        """Lets the packets run over the chip, and returns the report of docs/reference/simulation.md.

        spikes: an array of rows [step, neuron], or a matrix [steps, neurons] of truth values, or the path of a spike file (lines STEP,NEURON, or .npy); without them neurons fire
            at random by their rates. All else are options: steps=10, load=0.01, saturation=True, traffic_model="multicast".
        """
        with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
            path = spike_file(spikes, folder)
            with _heard(progress) as heard:
                return self._source.simulate(path, options, heard)

    def __repr__(self) -> str:
        return "<coremap.Mapping: %d neurons in %d parts on %s>" % (len(self.part), len(self.xy), self.summary["chip"]["name"])

    def _repr_html_(self) -> str:
        return self._source.text("picture:svg:neurons")


_NEURONS_MAX = 0x7FFFFFFE  # of the public header


class Nets:
    """A hypergraph, as hMETIS, PaToH and KaHyPar have it: of each net the vertices, its source first, and its rate (1 unless given)."""

    def __init__(self, nets: Any, rates: Any = None, vertices: Optional[int] = None):
        lengths = [len(net) for net in nets]
        pins = np.concatenate([np.asarray(net) for net in nets]) if lengths else np.zeros(0, dtype=np.int64)
        if len(pins) and (pins.dtype.kind not in "iu" or pins.min() < 0 or pins.max() >= _NEURONS_MAX):
            raise ValueError("nets are lists of vertices, counted from 0")
        if rates is not None and len(rates) != len(lengths):
            raise ValueError("there are %d rates for %d nets" % (len(rates), len(lengths)))
        least = int(pins.max()) + 1 if len(pins) else 0
        self.arrays = (np.cumsum([0] + lengths, dtype=np.uint64), pins.astype(np.uint32),
                       None if rates is None else np.ascontiguousarray(rates, dtype=np.float64), least if vertices is None else vertices)

    @classmethod
    def of_arrays(cls, first: Any, pins: Any, rates: Any, vertices: int) -> "Nets":
        """The same of arrays: net e has the vertices pins[first[e]:first[e + 1]]."""
        nets = cls([])
        nets.arrays = (np.ascontiguousarray(first, np.uint64), np.ascontiguousarray(pins, np.uint32),
                       None if rates is None else np.ascontiguousarray(rates, np.float64), vertices)
        return nets


def _ids(ids: Any) -> np.ndarray:
    """Ids as they are; whole numbers of a floating point list as whole ones, where these tell them apart."""
    given = np.asarray(ids)
    if given.dtype.kind == "f" and np.all(given == np.floor(given)):
        if len(given) and np.abs(given).max() > 2**53:
            raise ValueError("ids beyond 2^53 have lost digits as floating point numbers: use an array of int64")
        return given.astype(np.int64)
    return given


def _pairs(pre: Any, post: Any, weight: Any, neurons: Optional[int]) -> Dict[str, np.ndarray]:
    pre, post = _ids(pre), _ids(post)
    if pre.ndim != 1 or pre.shape != post.shape or (len(pre) and (pre.dtype.kind not in "iu" or post.dtype.kind not in "iu")):
        raise ValueError("pre and post are lists of as many whole numbers")
    if len(pre) and min(pre.min(), post.min()) < 0:
        raise ValueError("neurons are counted from 0")
    least = int(max(pre.max(), post.max())) + 1 if len(pre) else 0
    size = least if neurons is None else neurons
    if size < least:
        raise ValueError("a synapse is of neuron %d, and there are %d" % (least - 1, size))
    if weight is not None and np.iscomplexobj(weight):
        raise ValueError("weights are complex: give real numbers, such as their absolute values, numpy.abs(weights)")
    data = np.ones(len(pre)) if weight is None else np.asarray(weight, dtype=np.float64)
    if data.shape != pre.shape:
        raise ValueError("there are %d weights for %d synapses" % (data.size, pre.size))
    if neurons is None and size > _NEURONS_MAX:  # ids of a connectome: names, as in a table
        return {"pre": pre, "post": post, "weight": data}
    return {"row": pre.astype(np.int64), "col": post.astype(np.int64), "data": data, "shape": np.array([size, size]),
            "format": np.array(b"coo")}


def _group(group: Any) -> Tuple[Any, int]:
    """The whole group of Brian 2 that a group is a piece of, and where the piece begins."""
    whole = getattr(group, "source", group)
    return whole, int(getattr(group, "start", 0))


def _arrays(network: Any, neurons: Optional[int]) -> Optional[Dict[str, np.ndarray]]:
    """The arrays of a scipy .npz; None: it is a path, or nets."""
    if isinstance(network, (str, os.PathLike, Nets, Network)):
        return None
    if isinstance(network, list) and 2 <= len(network) <= 3 and all(np.ndim(row) == 1 and len(row) == len(network) for row in network):
        raise ValueError("a list of %d lists of %d is a matrix, numpy.array(network), or (pre, post%s), a tuple: say which"
                         % (len(network), len(network), ", weight" if len(network) == 3 else ""))
    if isinstance(network, (tuple, list)) and len(network) in (2, 3):
        return _pairs(network[0], network[1], network[2] if len(network) == 3 else None, neurons)
    if hasattr(network, "tocoo"):  # scipy
        coo = network.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise ValueError("a network is a square matrix, and this is %d by %d" % coo.shape)
        return _pairs(coo.row, coo.col, coo.data, coo.shape[0])
    if hasattr(network, "i") and hasattr(network, "j") and hasattr(network, "source"):  # brian2.Synapses
        (pre, pre_first), (post, post_first) = _group(network.source), _group(network.target)
        if pre.name != post.name:  # two populations, one after the other
            post_first += len(pre)
        return _pairs(np.asarray(network.i[:]) + pre_first, np.asarray(network.j[:]) + post_first, None,
                      len(pre) if pre.name == post.name else len(pre) + len(post))
    array = np.asarray(network)
    if array.ndim == 2 and array.shape[0] == array.shape[1] and array.dtype.kind in "iufbc":
        pre, post = np.nonzero(array)
        return _pairs(pre, post, array[pre, post], array.shape[0])
    raise TypeError("a network is a scipy matrix, (pre, post), (pre, post, weight), a square array, brian2.Synapses, coremap.Nets coremap.Network or a path")


def _occupancy(given: Any, folder: str) -> Optional[str]:
    """The path of an occupancy; of an array [height, width] that of a file with its cores."""
    if given is None or isinstance(given, (str, os.PathLike)):
        return None if given is None else os.fspath(given)
    state = np.asarray(given)
    if state.ndim != 2 or state.dtype.kind not in "iub" or not np.isin(state, (0, 1, 2)).all():
        raise ValueError("occupancy is an array [height, width] of 0 (free), 1 (taken) and 2 (broken), or a file's path")
    cores = {name: [[int(x), int(y)] for y, x in np.argwhere(state == number)] for name, number in (("occupy", 1), ("broken", 2))}
    path = os.path.join(folder, "occupancy.json")
    with open(path, "w") as file:
        json.dump(dict(cores, owner="others") if cores["occupy"] else cores, file)
    return path


def _written(network: Any, neurons: Optional[int], format: Optional[str], directed: Optional[str], sizes: Any, rates: Any, occupancy: Any,
             folder: str) -> Tuple[Any, Any]:
    """A network and an occupancy as given, with what are arrays in files of a folder."""
    arrays = _arrays(network, None if neurons is None else _local.whole("neurons", neurons))
    nets = network.arrays if isinstance(network, Nets) else None
    if isinstance(network, Network):
        path = os.path.join(folder, "network.zip")
        network.save(path)
        network = path
    path = os.path.join(folder, "network.npz") if arrays is not None else None if nets is not None else os.fspath(network)
    if arrays is not None:
        np.savez(path, **arrays)
    reading = {key: value for key, value in (("format", format), ("directed", directed)) if value is not None}
    return _local.Source(path, reading, nets, sizes, rates), _occupancy(occupancy, folder)


def read(network: Any, *, neurons: Optional[int] = None, format: Optional[str] = None, directed: Optional[str] = None,
         sizes: Any = None, rates: Any = None, parameters: "str | os.PathLike[str] | None" = None) -> Network:
    """A network of what ``map`` takes, with its neurons' models and parameters; parameters: the path of a table that gives them."""
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
        source, _ = _written(network, neurons, format, directed, sizes, rates, None, folder)
        if parameters is not None:
            source.reading["parameters"] = os.fspath(parameters)
        return Network(source)


def map(network: Any, chip: str = "loihi1", *, neurons: Optional[int] = None, server: Optional[str] = None, token: Optional[str] = None,
        format: Optional[str] = None, directed: Optional[str] = None, sizes: Any = None, rates: Any = None, occupancy: Any = None,
        spikes: Any = None, labels: Optional[Dict[str, str]] = None, progress: Optional[Progress] = None, **options: Any) -> Mapping:
    """Maps a network on a chip.

    network: a scipy matrix (row i: the synapses of neuron i), (pre, post) or (pre, post, weight), a square array,
        brian2.Synapses, Nets, or the path of any file that coremap reads. chip: a preset, or a chip file's path; of a
        server also a name, as network an id. neurons: how many there are where pairs do not say. server, token: a coremapd server does it; the token
        is $COREMAP_TOKEN unless given. format: of the file, whatever its bytes say. directed: "yes", every edge of a graph is two
        synapses; "no", synapses are its edges; "auto", as the network says. sizes: of each neuron, 1 unless given; rates: of its axons, packets a step.
        spikes: with profile=STEPS, those of inputs, as profile() takes them.
        occupancy: an array [height, width] of 0 (free), 1 (taken) and 2 (broken), or a file; without one, all cores are free, or as
        the server says. labels, of a server: {"paper": "fig3"}, of the job and its mapping. progress(phase, fraction) is told how far it is; True shows a bar on standard error. All else are job options (docs/reference/options.md): preset="best", seed=7, max_part_size=16.

    Raises CoremapError with ``code``, ``detail`` and ``where``; ValueError and TypeError for arrays that are no network.
    The interpreter's lock is released while it maps.
    """
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder, _heard(progress) as heard:
        source, taken = _written(network, neurons, format, directed, sizes, rates, occupancy, folder)
        given = spike_file(spikes, folder)
        if server is not None:
            return Mapping(_server.map_file(source.file(folder), chip, server, token, source.reading, taken, options, given, heard, labels))
        if not isinstance(labels, (type(None), dict)) or labels:
            raise ValueError(_server.LABELS_OF_SERVERS)
        options = options if given is None else dict(options, spikes_file=given)
        return Mapping(_local.map_source(source, chip, taken, options, heard))


def emit(program: "Program | str | os.PathLike[str]", folder: Union[str, os.PathLike], *, progress: Optional[Progress] = None, **options: Any) -> Dict[str, Any]:
    """Writes a program, or the file of one, as C99 into a folder, for a device: target "host" or another of
    `coremap emit --help`; name of files and functions, lanes at most, seed of the stored inputs, pieces=True to time them. What the code needs comes back: chip_bytes, weight_bytes and more."""
    with tempfile.TemporaryDirectory(prefix="coremap-") as scratch, _heard(progress) as heard:
        if isinstance(program, Program):
            given, program = program, os.path.join(scratch, "program")
            given.save(program)
        return _local.emit(os.fspath(program), dict(options, output_dir=os.fspath(folder)), heard)


def fit(network: Any, chips: Any = (), *, neurons: Optional[int] = None, server: Optional[str] = None, token: Optional[str] = None,
        format: Optional[str] = None, directed: Optional[str] = None, sizes: Any = None, rates: Any = None, occupancy: Any = None,
        progress: Optional[Progress] = None) -> List[Dict[str, Any]]:
    """Which chips would take a network, and what a step on them would be; nothing is mapped.

    chips: presets, or paths of chip files; of a server its chips' names; unless given, all that networks are mapped on. occupancy: of one
    chip. All else as in map(). Returns a dict for each: "chip", "fits" ("yes", "no", "unknown"), "bound", "reason", "cores_found",
    "choices", "seconds" and more.
    """
    names = _local.several("chips", chips)
    if occupancy is not None and len(names) != 1:
        raise ValueError("an occupancy is that of one chip: name it")
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder, _heard(progress) as heard:
        source, taken = _written(network, neurons, format, directed, sizes, rates, occupancy, folder)
        if server is not None:
            return _server.fit_file(source.file(folder), names, server, token, source.reading, taken)
        return _local.fit_source(source, names, taken, heard)


def partition(network: Any, chip: Optional[str] = None, *, fixed: Any = None, neurons: Optional[int] = None, format: Optional[str] = None,
              directed: Optional[str] = None, sizes: Any = None, rates: Any = None, progress: Optional[Progress] = None, **options: Any) -> Partition:
    """Cuts a network into parts, which get no places: ``part`` of each neuron, and ``report``.

    chip: whose limits parts keep; None: options say (parts=8, max_part_size=64). fixed, with parts: for each neuron the part that it belongs to, or -1; or the
    path of a .fix file of hMETIS. All else as in map().
    """
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder, _heard(progress) as heard:
        source, _ = _written(network, neurons, format, directed, sizes, rates, None, folder)
        fix = fix_file(fixed, folder)
        return partition_source(source, chip, options if fix is None else dict(options, fixed=fix), heard)


def solve(problem: Any, *, progress: Optional[Progress] = None, **options: Any) -> Dict[str, Any]:
    """Places nodes on tiles under constraints, or proves that there are no places (docs/reference/constraints.md).

    problem: a dict, or the path of a file. All else are options: seed, effort, time_limit. Returns "answer" ("places", "impossible", "unknown"), with "places",
    "hops" and "optimal", or with "reason".
    """
    with _heard(progress) as heard:
        if isinstance(problem, (str, os.PathLike)):
            with open(problem, encoding="utf-8") as file:
                return _local.solve(file.read(), options, heard)
        return _local.solve(json.dumps(problem, default=_local._plain), options, heard)


class Program:
    """What a model was compiled to. ``report`` has the figures by stage, the time and its lower bound (docs/explanation/programs.md)."""

    def __init__(self, source: Any):
        self._source = source
        self.report: Dict[str, Any] = source.report

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the program, for ``coremap run``; or what option stop_after asked for."""
        self._source.write(os.fspath(path))

    def __repr__(self) -> str:
        return "<coremap.Program: %s>" % ", ".join("%s %s" % one for one in self.report.items() if isinstance(one[1], (str, int, float)))


def quantize(model: "str | os.PathLike[str]", out: "str | os.PathLike[str]", *, data: Any = None, server: Optional[str] = None,
             token: Optional[str] = None, progress: Optional[Progress] = None, **options: Any) -> Dict[str, Any]:
    """Writes a float32 ONNX model with its products in 8-bit integers to ``out`` (docs/how-to/quantizing.md).

    data: samples: a folder, a file, an array of them, or a dict of such arrays by the name of the input; random numbers unless given. server, token, progress: as in coremap.map. All else are options: method, percentile, threshold, samples, seed,
        shape. Returns the report: "layers" and "outputs", each with its "error".
    """
    paths = os.fspath(model), os.fspath(out)
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder, _heard(progress) as heard:
        if data is not None and not isinstance(data, (str, os.PathLike)):
            arrays = {str(name): np.ascontiguousarray(array) for name, array in (data.items() if isinstance(data, dict) else [("", data)])}
            if not all(array.dtype.kind in "biuf" for array in arrays.values()):
                raise TypeError("data are arrays of numbers, by the names of inputs where there are several, or the path of a file or folder")
            if isinstance(data, dict):
                data = folder + "/samples.npz"
                np.savez(data, **arrays)
            else:
                data = folder + "/samples.npy"
                np.save(data, arrays[""])
        if server is not None:
            if data is not None and os.path.isdir(data):
                data = shutil.make_archive(folder + "/samples", "zip", data)
            return _server.quantize_file(*paths, server, token, data if data is None else os.fspath(data), options, heard)
        return _local.quantize(*paths, options if data is None else dict(options, data=os.fspath(data)), heard)


def compile(model: "str | os.PathLike[str]", chip: Optional[str] = None, *, server: Optional[str] = None, token: Optional[str] = None,
            progress: Optional[Progress] = None, **options: Any) -> Program:
    """Compiles an ONNX model for a chip.

    model: its path. chip: a preset or a chip file that runs programs; without one its permutations are taken out, and it stays a
        model. server, token, progress: as in coremap.map. All else are options of models (docs/reference/options.md).
    """
    with _heard(progress) as heard:
        if server is not None:
            return Program(_server.compile_file(os.fspath(model), chip, server, token, options, heard))
        return Program(_local.Compiled(os.fspath(model), chip, options, heard))
