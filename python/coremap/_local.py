"""The library through ctypes."""
from __future__ import annotations

import ctypes
import json
import os
import tempfile
from typing import Any, Dict, Optional

import numpy as np


class CoremapError(RuntimeError):
    """What went wrong: ``code`` (docs/http.md), ``detail`` (what, where, what would be right), ``where`` (the place)."""

    def __init__(self, code: str, detail: str, where: str = ""):
        super().__init__(detail)
        self.code, self.detail, self.where = code, detail, where


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double)
_library: Optional[ctypes.CDLL] = None


def _load() -> ctypes.CDLL:
    global _library
    if _library is None:
        here = os.path.dirname(os.path.abspath(__file__))
        beside = os.path.join(here, "libcoremap-python.so")
        path = os.environ.get("COREMAP_LIBRARY") or (beside if os.path.exists(beside) else "libcoremap.so.0")
        lib = ctypes.CDLL(path)
        text = ctypes.POINTER(ctypes.c_char_p)
        lib.coremap_version.restype = ctypes.c_char_p
        lib.coremap_map.argtypes = [ctypes.c_char_p, ctypes.c_char_p, _PROGRESS, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), text]
        lib.coremap_write.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, text]
        for get, item in ((lib.coremap_parts, ctypes.c_uint32), (lib.coremap_places, ctypes.c_int32)):
            get.argtypes, get.restype = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64)], ctypes.POINTER(item)
        lib.coremap_result_free.argtypes, lib.coremap_result_free.restype = [ctypes.c_void_p], None
        lib.coremap_free.argtypes, lib.coremap_free.restype = [ctypes.c_char_p], None
        _library = lib
    return _library


def version() -> str:
    return _load().coremap_version().decode()


def _raise(problem: ctypes.c_char_p) -> None:
    told = json.loads((problem.value or b"{}").decode())
    _load().coremap_free(problem)
    raise CoremapError(told.get("code", "internal"), told.get("detail", ""), told.get("where", ""))


class _Result:
    """Owns a result of the library; its arrays are views that keep it alive."""

    def __init__(self, handle: ctypes.c_void_p):
        self._handle = handle
        count = ctypes.c_uint64()
        lib = _load()
        pointer = lib.coremap_parts(handle, ctypes.byref(count))
        self.part = self._view(pointer, (count.value,))
        pointer = lib.coremap_places(handle, ctypes.byref(count))
        self.xy = self._view(pointer, (count.value, 2))

    def _view(self, pointer: Any, shape: Any) -> np.ndarray:
        items = int(np.prod(shape))
        block = (pointer._type_ * items).from_address(ctypes.addressof(pointer.contents))
        block._owner = self  # the array's base keeps the block, and that the result
        view = np.frombuffer(block, dtype=pointer._type_).reshape(shape)
        view.flags.writeable = False
        return view

    def write(self, what: str, path: str) -> None:
        problem = ctypes.c_char_p()
        if _load().coremap_write(self._handle, what.encode(), os.fsencode(path), ctypes.byref(problem)) != 0:
            _raise(problem)

    def text(self, what: str) -> str:
        with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
            path = os.path.join(folder, "text")
            self.write(what, path)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _load().coremap_result_free(self._handle)


def map_file(path: str, chip: str, format: Optional[str], occupancy: Any, options: Dict[str, Any], progress: Any) -> _Result:
    request: Dict[str, Any] = {"chip": os.fspath(chip), "options": options}
    if format is not None:
        request["format"] = format
    if occupancy is not None:
        request["occupancy"] = os.fspath(occupancy)
    raised = []

    def told(_user: Any, phase: bytes, fraction: float) -> int:
        try:
            if progress is not None:
                progress(phase.decode(), fraction)
            return 0
        except BaseException as error:  # an interrupt stops the run, and is raised when it has
            raised.append(error)
            return 1

    handle, problem = ctypes.c_void_p(), ctypes.c_char_p()
    failed = _load().coremap_map(os.fsencode(path), json.dumps(request).encode(), _PROGRESS(told), None, ctypes.byref(handle),
                                 ctypes.byref(problem))
    if failed and raised:
        _load().coremap_free(problem)
        raise raised[0]
    if failed:
        _raise(problem)
    return _Result(handle)
