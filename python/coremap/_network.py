"""A network by itself: what makes its neurons run, as arrays."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Optional

import numpy as np

from . import _local


class Network:
    """A network that is read or made (coremap.read). ``parameters["tau"][i]`` is neuron i's, 0 where its model has none."""

    def __init__(self, source: _local.Source):
        self._handle = ctypes.c_void_p()
        source.open(self._handle, _local._Listener(None).callback)
        self.neurons: int = _local._load().coremap_network_neurons(self._handle)

    @property
    def models(self) -> Optional[np.ndarray]:
        """The model of every neuron, "LIF" and so on; None: not known."""
        lib = _local._load()
        names = [lib.coremap_network_model(self._handle, v) for v in range(self.neurons)]
        return None if names[0] is None else np.array([name.decode() for name in names])

    @property
    def parameters(self) -> Dict[str, np.ndarray]:
        """Copies of the parameters by name, float32, of every neuron; those that no neuron has are left out."""
        made = {}
        for row in _local.table("parameters"):
            pointer = _local._load().coremap_network_parameter(self._handle, row["name"].encode())
            if pointer:
                made[row["name"]] = np.ctypeslib.as_array(pointer, (self.neurons,)).copy()
        return made

    def set_parameters(self, models: Any = None, **parameters: Any) -> None:
        """Gives all neurons models (a name, or an array of names) and parameters (numbers or arrays; NaN: as it was)."""
        given = None if models is None else [str(name).encode() for name in np.broadcast_to(models, self.neurons)]
        try:
            values = [np.ascontiguousarray(np.broadcast_to(value, self.neurons), dtype=np.float32) for value in parameters.values()]
        except (TypeError, ValueError):
            raise ValueError("parameters are numbers, or arrays of one for each of the %d neurons" % self.neurons) from None
        count = len(values)
        _local._call("network_set_parameters", self._handle, None if given is None else (ctypes.c_char_p * self.neurons)(*given), count,
                     (ctypes.c_char_p * count)(*[name.encode() for name in parameters]),
                     (ctypes.c_void_p * count)(*[value.ctypes.data for value in values]))

    @staticmethod
    def running(network: Any, reading: Dict[str, str]) -> Any:
        """What profile and deploy run: a Network, or the source that a path is."""
        if isinstance(network, Network):
            return network._handle
        if not isinstance(network, (str, os.PathLike)):
            raise TypeError("a network that runs is a path, or what coremap.read made of a %s, with parameters" % type(network).__name__)
        return _local.Source(os.fspath(network), reading)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the network in the format that the name's ending says: .zip keeps all of it."""
        _local._call("network_write", self._handle, os.fsencode(os.fspath(path)))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _local._load().coremap_network_free(self._handle)
