"""Vertices that are made already, onto boards of chips with multicast routers (coremap/fabric.h)."""
from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass, field
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np

from . import _local

NO_CHIP = 0xFFFFFFFF
ENTRY = np.dtype([(name, np.uint32) for name in ("chip", "family", "sender", "route", "from")])


@dataclass
class Fabric:
    """Chips on a grid, chip x, y being number y * width + x; arrays are of all of them."""
    width: int
    height: int
    wrap: Tuple[bool, bool]
    links: np.ndarray   # uint8, bit l: link l works
    cores: np.ndarray   # uint32, free
    memory: np.ndarray  # uint64, free bytes


@dataclass
class Flows:
    """Groups of vertices that stand together, and families of senders with what they reach; lists as they grow, then arrays."""
    group: List[int] = field(default_factory=list)
    group_cores: List[int] = field(default_factory=list)
    group_memory: List[int] = field(default_factory=list)
    group_pin: List[int] = field(default_factory=list)
    family_first: List[int] = field(default_factory=lambda: [0])
    sender: List[int] = field(default_factory=list)
    common_first: List[int] = field(default_factory=lambda: [0])
    common: List[int] = field(default_factory=list)
    own_first: List[int] = field(default_factory=lambda: [0])
    own: List[int] = field(default_factory=list)

    def add_group(self, cores: int, memory: int, pin: int = NO_CHIP) -> int:
        self.group_cores.append(cores)
        self.group_memory.append(memory)
        self.group_pin.append(pin)
        return len(self.group_cores) - 1

    def add_vertex(self, group: int) -> int:
        self.group.append(group)
        return len(self.group) - 1

    def add_family(self, senders: List[int], common: List[int], own: List[List[int]]) -> None:
        """Senders with what all of them reach, and what each does beside."""
        self.sender.extend(senders)
        self.family_first.append(len(self.sender))
        self.common.extend(common)
        self.common_first.append(len(self.common))
        for targets in own:
            self.own.extend(targets)
            self.own_first.append(len(self.own))

    def freeze(self) -> None:
        for name, kind in _FLOWS:
            setattr(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))


_FLOWS = (("group", np.uint32), ("group_cores", np.uint32), ("group_memory", np.uint64), ("group_pin", np.uint32), ("family_first", np.uint32), ("sender", np.uint32),
          ("common_first", np.uint64), ("common", np.uint32), ("own_first", np.uint64), ("own", np.uint32))


class _Fabric(ctypes.Structure):
    _fields_ = [("width", ctypes.c_uint32), ("height", ctypes.c_uint32), ("wrap_x", ctypes.c_int), ("wrap_y", ctypes.c_int)] + [
        (name, ctypes.c_void_p) for name in ("links", "cores", "memory")]


class _Flows(ctypes.Structure):
    _fields_ = [("fabric", ctypes.POINTER(_Fabric))] + [(name, ctypes.c_uint32) for name in ("vertices", "groups", "families", "senders")] + [
        (name, ctypes.c_void_p) for name in [name for name, _ in _FLOWS] + ["local"]]


def _fabric(f: Fabric) -> _Fabric:
    return _Fabric(f.width, f.height, f.wrap[0], f.wrap[1], f.links.ctypes.data, f.cores.ctypes.data, f.memory.ctypes.data)


def _flows(fabric: Fabric, f: Flows, local: Optional[np.ndarray] = None) -> Any:
    made = _Flows(ctypes.pointer(_fabric(fabric)), len(f.group), len(f.group_cores), len(f.family_first) - 1, len(f.sender),
                  *(getattr(f, name).ctypes.data for name, _ in _FLOWS), None if local is None else local.ctypes.data)
    return ctypes.byref(made)


@contextlib.contextmanager
def _stopped_by(listener: Any) -> Iterator[None]:
    try:
        yield
    except _local.CoremapError as error:
        raise listener.raised or error from None


def place(fabric: Fabric, flows: Flows, start: Optional[np.ndarray], progress: Any = None) -> np.ndarray:
    """The chip of each group; start: where vertices would best be."""
    listener, chip = _local._Listener(progress), np.zeros(len(flows.group_cores), np.uint32)
    begin = None if start is None else np.ascontiguousarray(start, np.uint32)
    with _stopped_by(listener):
        _local._call("fabric_place", _flows(fabric, flows), None if begin is None else begin.ctypes.data, listener.callback, None,
                     chip.ctypes.data)
    return chip


def route(fabric: Fabric, flows: Flows, chip: np.ndarray, local: np.ndarray, progress: Any = None) -> Tuple[np.ndarray, int]:
    """Entries (ENTRY) by chip, family and sender, and the links of all trees; chip and local are of vertices."""
    listener, made, lib = _local._Listener(progress), ctypes.c_void_p(), _local._load()
    where, bit = np.ascontiguousarray(chip, np.uint32), np.ascontiguousarray(local, np.uint32)
    with _stopped_by(listener):
        _local._call("fabric_route", _flows(fabric, flows, bit), where.ctypes.data, listener.callback, None, ctypes.byref(made))
    try:
        count, links = ctypes.c_uint64(), ctypes.c_uint64()
        first = lib.coremap_fabric_entries(made, ctypes.byref(count), ctypes.byref(links))
        entries = np.frombuffer(ctypes.string_at(first, count.value * ENTRY.itemsize), dtype=ENTRY) if count.value else np.zeros(0, ENTRY)
        return entries, links.value
    finally:
        lib.coremap_fabric_routes_free(made)
