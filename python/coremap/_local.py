"""The library through ctypes."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import shutil
import tempfile
from typing import Any, Dict, List, Optional

import numpy as np


def shown(text: Any, lines: bool = False) -> str:
    """Text of others as it may be shown: what moves a cursor or cannot be seen as the escape that Python has for it."""
    return "".join(c if c.isprintable() or (lines and c in "\n\t") else ascii(c)[1:-1] for c in str(text))


def whole(name: str, given: Any) -> int:
    """A count, of Python's or numpy's whole numbers."""
    try:
        made = operator.index(given)
    except TypeError:
        made = -1
    if not 0 <= made < 2**63:
        raise ValueError("%s is a whole number from 0, not %r" % (name, given))
    return made


def several(name: str, given: Any) -> List[Any]:
    """One name or path, or those of a list."""
    if isinstance(given, (str, os.PathLike)):
        return [given]
    try:
        return list(given)
    except TypeError:
        raise TypeError("%s is a name or a list of names, not %r" % (name, given)) from None


def _plain(value: Any) -> Any:
    """What JSON has in place of numpy's numbers and arrays, paths and ranges."""
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufU":
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, range):
        return list(value)
    raise TypeError("values are numbers, texts, lists and dicts of them, and this is of type %s" % type(value).__name__)


def encoded(options: Dict[str, Any]) -> bytes:
    """Options as the library takes them."""
    made = []
    for name, value in options.items():
        try:
            made.append("%s: %s" % (json.dumps(name), json.dumps(value, default=_plain, allow_nan=False)))
        except (TypeError, ValueError) as error:
            raise type(error)("%s: %s" % (name, str(error).replace("Out of range float values are not JSON compliant", "not a finite number"))) from None
    return ("{%s}" % ", ".join(made)).encode()


class CoremapError(RuntimeError):
    """What went wrong: ``code`` (docs/reference/http.md), ``detail`` (what, where, what would be right), ``where`` (the place)."""

    def __init__(self, code: str, detail: str, where: str = ""):
        super().__init__(detail)
        self.code, self.detail, self.where = code, detail, where


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double)
_library: Optional[ctypes.CDLL] = None


def _load() -> ctypes.CDLL:
    global _library
    if _library is None:
        here = os.path.dirname(os.path.abspath(__file__))
        beside, needed = os.path.join(here, "libcoremap.so"), os.path.join(here, "needed")
        for name in sorted(os.listdir(needed)) if os.path.isdir(needed) else ():  # of a wheel: what the library stands on, in order
            ctypes.CDLL(os.path.join(needed, name), ctypes.RTLD_GLOBAL)
        path = os.environ.get("COREMAP_LIBRARY") or (beside if os.path.exists(beside) else "libcoremap.so.0")
        lib = ctypes.CDLL(path)
        text, pointer, out = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
        count = ctypes.POINTER(ctypes.c_uint64)
        for name, result, arguments in (
                ("version", text, []),
                ("text_free", None, [pointer]),
                ("error_code", text, [pointer]), ("error_detail", text, [pointer]), ("error_place", text, [pointer]),
                ("error_free", None, [pointer]),
                ("network_read", ctypes.c_int, [text, text, _PROGRESS, pointer, out, out]),
                ("network_from_nets", ctypes.c_int, [ctypes.c_uint32, ctypes.c_uint32, pointer, pointer, pointer, out, out]),
                ("network_neurons", ctypes.c_uint32, [pointer]),
                ("network_set_sizes", ctypes.c_int, [pointer, pointer, out]), ("network_set_rates", ctypes.c_int, [pointer, pointer, out]),
                ("network_model", text, [pointer, ctypes.c_uint32]),
                ("network_parameter", ctypes.POINTER(ctypes.c_float), [pointer, text]),
                ("network_set_parameters", ctypes.c_int, [pointer, pointer, ctypes.c_size_t, pointer, pointer, out]),
                ("network_write", ctypes.c_int, [pointer, text, out]),
                ("network_free", None, [pointer]),
                ("chip_open", ctypes.c_int, [text, text, out, out]),
                ("calibrate", ctypes.c_int, [pointer, text, text, out, out]),
                ("chip_free", None, [pointer]),
                ("table", ctypes.c_int, [text, out, out]),
                ("fit", ctypes.c_int, [pointer, out, _PROGRESS, pointer, out, out]),
                ("solve", ctypes.c_int, [text, text, _PROGRESS, pointer, out, out]),
                ("map", ctypes.c_int, [pointer, pointer, text, _PROGRESS, pointer, out, out]),
                ("partition_make", ctypes.c_int, [pointer, pointer, text, _PROGRESS, pointer, out, out]),
                ("partition_parts", ctypes.POINTER(ctypes.c_uint32), [pointer, count]),
                ("partition_about", ctypes.c_int, [pointer, out, out]), ("partition_free", None, [pointer]),
                ("mapping_parts", ctypes.POINTER(ctypes.c_uint32), [pointer, count]),
                ("mapping_places", ctypes.POINTER(ctypes.c_int32), [pointer, count]),
                ("mapping_write", ctypes.c_int, [pointer, text, text, out]),
                ("mapping_text", ctypes.c_int, [pointer, text, out, ctypes.POINTER(ctypes.c_size_t), out]),
                ("client_open", ctypes.c_int, [text, text, out, out]),
                ("client_ask", ctypes.c_int, [pointer, text, text, text, _PROGRESS, pointer, out, out]),
                ("client_free", None, [pointer]),
                ("reply_status", ctypes.c_uint, [pointer]), ("reply_etag", text, [pointer]), ("reply_text", text, [pointer]),
                ("reply_free", None, [pointer]),
                ("profile_run", ctypes.c_int, [pointer, text, _PROGRESS, pointer, out, out]),
                ("profile_report", ctypes.c_int, [pointer, out, out]),
                ("profile_counts", ctypes.POINTER(ctypes.c_uint64), [pointer]),
                ("profile_spikes", ctypes.c_uint32, [pointer, ctypes.POINTER(count), ctypes.POINTER(ctypes.POINTER(ctypes.c_uint32))]),
                ("profile_free", None, [pointer]),
                ("deploy", ctypes.c_int, [pointer, pointer, text, _PROGRESS, pointer, out, out]),
                ("deployment_report", ctypes.c_int, [pointer, out, out]), ("deployment_write", ctypes.c_int, [pointer, text, out]),
                ("deployment_free", None, [pointer]),
                ("mapping_open", ctypes.c_int, [text, pointer, pointer, _PROGRESS, pointer, out, out]),
                ("quantize", ctypes.c_int, [text, text, text, _PROGRESS, pointer, out, out]),
                ("compile", ctypes.c_int, [text, pointer, text, text, _PROGRESS, pointer, out, out]),
                ("simulate", ctypes.c_int, [pointer, text, _PROGRESS, pointer, out, out]),
                ("program_read", ctypes.c_int, [text, _PROGRESS, pointer, out, out]), ("program_free", None, [pointer]),
                ("program_emit", ctypes.c_int, [pointer, text, _PROGRESS, pointer, out, out]),
                ("fabric_place", ctypes.c_int, [pointer, pointer, _PROGRESS, pointer, pointer, out]),
                ("fabric_route", ctypes.c_int, [pointer, pointer, _PROGRESS, pointer, out, out]),
                ("fabric_entries", pointer, [pointer, count, count]), ("fabric_routes_free", None, [pointer]),
                ("mapping_free", None, [pointer])):
            function = getattr(lib, "coremap_" + name)
            function.restype, function.argtypes = result, arguments
        _library = lib
    return _library


def version() -> str:
    return _load().coremap_version().decode()


def _call(name: str, *arguments: Any) -> None:
    """Calls what can fail, with an error behind its arguments."""
    lib, error = _load(), ctypes.c_void_p()
    if getattr(lib, "coremap_" + name)(*arguments, ctypes.byref(error)) != 0:
        told = [getattr(lib, "coremap_error_" + part)(error).decode(errors="replace") for part in ("code", "detail", "place")]
        lib.coremap_error_free(error)
        raise CoremapError(*[shown(one) for one in told])


def table(name: str) -> Any:
    """A table of the library (coremap/tables.h)."""
    made = ctypes.c_void_p()
    _call("table", name.encode(), ctypes.byref(made))
    try:
        return json.loads(ctypes.string_at(made))
    finally:
        _load().coremap_text_free(made)


class _Listener:
    """Hands progress on; what that raises, an interrupt too, stops the run and is kept to be raised when it has."""

    def __init__(self, progress: Any):
        self._progress, self.raised = progress, None
        self.callback = _PROGRESS(self._told)

    def _told(self, _user: Any, phase: bytes, fraction: float) -> int:
        try:
            if self._progress is not None:
                self._progress(phase.decode(), fraction)
            return 0
        except BaseException as error:
            self.raised = error
            return 1


def _report(name: str, progress: Any, *arguments: Any) -> Dict[str, Any]:
    """What a call with progress tells as JSON."""
    listener, made = _Listener(progress), ctypes.c_void_p()
    try:
        _call(name, *arguments, listener.callback, None, ctypes.byref(made))
    except CoremapError as error:
        raise listener.raised or error from None
    try:
        return json.loads(ctypes.string_at(made))
    finally:
        _load().coremap_text_free(made)


class _Result:
    """Owns a mapping of the library; its arrays are views that keep it alive."""

    def __init__(self, handle: ctypes.c_void_p):
        self._handle = handle
        count = ctypes.c_uint64()
        lib = _load()
        pointer = lib.coremap_mapping_parts(handle, ctypes.byref(count))
        self.part = self._view(pointer, (count.value,))
        pointer = lib.coremap_mapping_places(handle, ctypes.byref(count))
        self.xy = self._view(pointer, (count.value, 2))

    def _view(self, pointer: Any, shape: Any) -> np.ndarray:
        items = int(np.prod(shape))
        block = (pointer._type_ * items).from_address(ctypes.addressof(pointer.contents))
        block._owner = self  # the array's base keeps the block, and that the result
        view = np.frombuffer(block, dtype=pointer._type_).reshape(shape)
        view.flags.writeable = False
        return view

    def write(self, what: str, path: str) -> None:
        _call("mapping_write", self._handle, what.encode(), os.fsencode(path))

    def text(self, what: str) -> str:
        made, size = ctypes.c_void_p(), ctypes.c_size_t()
        _call("mapping_text", self._handle, what.encode(), ctypes.byref(made), ctypes.byref(size))
        try:
            return ctypes.string_at(made, size.value).decode()
        finally:
            _load().coremap_text_free(made)

    def simulate(self, spikes: Optional[str], options: Dict[str, Any], progress: Any) -> Dict[str, Any]:
        asked = options if spikes is None else dict(options, spikes_file=spikes)
        return _report("simulate", progress, self._handle, encoded(asked))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _load().coremap_mapping_free(self._handle)


class Source:
    """What a network is made of: a file, and how it is read; or nets. And what its neurons have beside, arrays or None."""

    def __init__(self, path: Optional[str], reading: Dict[str, str], nets: Any = None, sizes: Any = None, rates: Any = None):
        self.path, self.reading, self.nets = path, reading, nets
        self.sizes = None if sizes is None else self._numbers("sizes", sizes, np.uint32)
        self.rates = None if rates is None else self._numbers("rates", rates, np.float64)

    @staticmethod
    def _numbers(what: str, given: Any, kind: Any) -> np.ndarray:
        """An array of this kind with the same values."""
        array = np.asarray(given)
        if array.dtype.kind in "iuf":
            with np.errstate(invalid="ignore"):
                made = np.ascontiguousarray(array.astype(kind))
            if kind is np.float64 or np.array_equal(made, array):
                return made
        raise ValueError("%s are %s, one for each neuron" % (what, "numbers" if kind is np.float64 else "whole numbers from 0 and below 2^32"))

    def open(self, network: ctypes.c_void_p, callback: Any) -> None:
        if self.nets is not None:
            first, pins, rate, vertices = self.nets
            _call("network_from_nets", vertices, len(first) - 1, first.ctypes.data, pins.ctypes.data,
                  None if rate is None else rate.ctypes.data, ctypes.byref(network))
        else:
            _call("network_read", os.fsencode(self.path), encoded(self.reading), callback, None, ctypes.byref(network))
        neurons = _load().coremap_network_neurons(network)
        for what, array in (("sizes", self.sizes), ("rates", self.rates)):
            if array is not None and array.shape != (neurons,):
                raise ValueError("%s: %s numbers for %d neurons" % (what, "x".join(map(str, array.shape)), neurons))
            if array is not None:
                _call("network_set_" + what, network, array.ctypes.data)

    def file(self, folder: str) -> str:
        """The path of a file that has all of it, for a server."""
        if self.nets is None and self.sizes is None and self.rates is None:
            return self.path
        network, path = ctypes.c_void_p(), os.path.join(folder, "whole.zip")
        try:
            self.open(network, _Listener(None).callback)
            _call("network_write", network, os.fsencode(path))
        finally:
            _load().coremap_network_free(network)
        self.reading = {}
        return path


def _taken(occupancy: Optional[str]) -> Optional[bytes]:
    """The file of an occupancy."""
    if occupancy is None:
        return None
    with open(occupancy, "rb") as file:
        return file.read()


def fit_source(source: Source, chips: Any, occupancy: Optional[str], progress: Any) -> Any:
    """What coremap_fit says of these chips."""
    lib, listener = _load(), _Listener(progress)
    network, opened, made = ctypes.c_void_p(), (ctypes.c_void_p * (len(chips) + 1))(), ctypes.c_void_p()
    taken = _taken(occupancy)
    try:
        for number, chip in enumerate(chips):
            one = ctypes.c_void_p()
            _call("chip_open", os.fsencode(os.fspath(chip)), taken, ctypes.byref(one))
            opened[number] = one
        source.open(network, listener.callback)
        _call("fit", network, opened if chips else None, listener.callback, None, ctypes.byref(made))
        return json.loads(ctypes.string_at(made.value))
    except CoremapError as error:
        raise listener.raised or error from None
    finally:
        if made.value:
            lib.coremap_text_free(made)
        for one in opened:
            lib.coremap_chip_free(one)
        lib.coremap_network_free(network)


def solve(problem: str, options: Dict[str, Any], progress: Any) -> Any:
    """What coremap_solve answers."""
    listener, made = _Listener(progress), ctypes.c_void_p()
    try:
        _call("solve", problem.encode(), encoded(options), listener.callback, None, ctypes.byref(made))
        return json.loads(ctypes.string_at(made.value))
    except CoremapError as error:
        raise listener.raised or error from None
    finally:
        if made.value:
            _load().coremap_text_free(made)


def map_source(source: Source, chip: str, occupancy: Optional[str], options: Dict[str, Any], progress: Any) -> _Result:
    lib, listener = _load(), _Listener(progress)
    network, opened, mapping = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    taken = _taken(occupancy)
    try:
        _call("chip_open", os.fsencode(os.fspath(chip)), taken, ctypes.byref(opened))
        source.open(network, listener.callback)
        _call("map", network, opened, encoded(options), listener.callback, None, ctypes.byref(mapping))
    except CoremapError as error:
        raise listener.raised or error from None
    finally:
        lib.coremap_chip_free(opened)
        lib.coremap_network_free(network)
    return _Result(mapping)


def emit(program: str, options: Dict[str, Any], progress: Any) -> Dict[str, Any]:
    lib, listener, opened, made = _load(), _Listener(progress), ctypes.c_void_p(), ctypes.c_void_p()
    try:
        _call("program_read", os.fsencode(program), listener.callback, None, ctypes.byref(opened))
        _call("program_emit", opened, encoded(options), listener.callback, None, ctypes.byref(made))
        return json.loads(ctypes.string_at(made))
    except CoremapError as error:
        raise listener.raised or error from None
    finally:
        lib.coremap_text_free(made)
        lib.coremap_program_free(opened)


class Ran:
    """A network of the library that has run, while a ``with`` lasts: of a source, or one that is open; its arrays are copies."""

    def __init__(self, network: Any, options: Dict[str, Any], progress: Any):
        listener, own = _Listener(progress), isinstance(network, Source)
        self._network, self._handle = ctypes.c_void_p() if own else network, ctypes.c_void_p()
        try:
            if own:
                network.open(self._network, listener.callback)
            _call("profile_run", self._network, encoded(options), listener.callback, None, ctypes.byref(self._handle))
            self._neurons = _load().coremap_network_neurons(self._network)
        except CoremapError as error:
            raise listener.raised or error from None
        finally:
            if own:  # what has run keeps it
                _load().coremap_network_free(self._network)

    def __enter__(self) -> "Ran":
        return self

    def __exit__(self, *_: Any) -> None:
        _load().coremap_profile_free(self._handle)

    def report(self) -> str:
        made = ctypes.c_void_p()
        _call("profile_report", self._handle, ctypes.byref(made))
        try:
            return ctypes.string_at(made).decode()
        finally:
            _load().coremap_text_free(made)

    def counts(self) -> np.ndarray:
        return np.ctypeslib.as_array(_load().coremap_profile_counts(self._handle), (self._neurons,)).copy()

    def spikes(self) -> np.ndarray:
        first, neuron = ctypes.POINTER(ctypes.c_uint64)(), ctypes.POINTER(ctypes.c_uint32)()
        steps = _load().coremap_profile_spikes(self._handle, ctypes.byref(first), ctypes.byref(neuron))
        begin = np.ctypeslib.as_array(first, (steps + 1,))
        which = np.ctypeslib.as_array(neuron, (int(begin[-1]),)) if begin[-1] else np.zeros(0, np.uint32)
        return np.column_stack((np.repeat(np.arange(steps, dtype=np.int64), np.diff(begin.astype(np.int64))), which))


def deploy(network: Any, chip: str, options: Dict[str, Any], folder: str, progress: Any) -> Dict[str, Any]:
    """Deploys a source, or a network that is open, and writes its files."""
    lib, listener, own = _load(), _Listener(progress), isinstance(network, Source)
    source, opened, made, text = ctypes.c_void_p() if own else network, ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    try:
        _call("chip_open", os.fsencode(chip), None, ctypes.byref(opened))
        if own:
            network.open(source, listener.callback)
        _call("deploy", source, opened, encoded(options), listener.callback, None, ctypes.byref(made))
        _call("deployment_write", made, os.fsencode(folder))
        _call("deployment_report", made, ctypes.byref(text))
        return json.loads(ctypes.string_at(text.value))
    except CoremapError as error:
        raise listener.raised or error from None
    finally:
        if text.value:
            lib.coremap_text_free(text)
        lib.coremap_deployment_free(made)
        lib.coremap_chip_free(opened)
        if own:
            lib.coremap_network_free(source)


def calibrate(chip: str, runs: str, options: Dict[str, Any]) -> Dict[str, Any]:
    lib, opened, text = _load(), ctypes.c_void_p(), ctypes.c_void_p()
    _call("chip_open", os.fsencode(chip), None, ctypes.byref(opened))
    try:
        _call("calibrate", opened, runs.encode(), encoded(options), ctypes.byref(text))
        return json.loads(ctypes.string_at(text.value))
    finally:
        if text.value:
            lib.coremap_text_free(text)
        lib.coremap_chip_free(opened)


def open_mapping(path: str, source: Source) -> _Result:
    """A mapping from its file, of a network."""
    lib, listener = _load(), _Listener(None)
    network, mapping = ctypes.c_void_p(), ctypes.c_void_p()
    try:
        source.open(network, listener.callback)
        _call("mapping_open", os.fsencode(path), network, None, listener.callback, None, ctypes.byref(mapping))
    finally:
        lib.coremap_network_free(network)
    return _Result(mapping)


def quantize(model: str, out: str, options: Dict[str, Any], progress: Any) -> Dict[str, Any]:
    return _report("quantize", progress, os.fsencode(model), encoded(options), os.fsencode(out))


class Compiled:
    """What a compilation made, in a file of a folder that goes with it."""

    def __init__(self, model: str, chip: Optional[str], options: Dict[str, Any], progress: Any):
        self._folder = tempfile.TemporaryDirectory(prefix="coremap-")
        self._path = os.path.join(self._folder.name, "made")
        opened = ctypes.c_void_p()
        try:
            if chip is not None:
                _call("chip_open", os.fsencode(chip), None, ctypes.byref(opened))
            self.report = _report("compile", progress, os.fsencode(model), opened, encoded(options), os.fsencode(self._path))
        finally:
            _load().coremap_chip_free(opened)

    def write(self, path: str) -> None:
        shutil.copyfile(self._path, path)
