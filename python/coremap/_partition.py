"""Parts of a network without places."""
import ctypes
import json
import os
from typing import Any, Dict, NamedTuple, Optional

import numpy as np

from . import _local
from ._local import CoremapError


class Partition(NamedTuple):
    """``part``: of each neuron; ``report``: "parts", "bound", "metrics", "limits" and "attempts"."""

    part: "np.ndarray[Any, Any]"
    report: Dict[str, Any]


def fix_file(fixed: Any, folder: str) -> Optional[str]:
    """The .fix file of an array, a part or -1 for each neuron; a path stays itself."""
    if fixed is None or isinstance(fixed, (str, os.PathLike)):
        return None if fixed is None else os.fspath(fixed)
    parts = np.asarray(fixed)
    if parts.ndim != 1 or parts.dtype.kind not in "iu":
        raise ValueError("fixed is a part, or -1, for each neuron: an array of whole numbers")
    path = os.path.join(folder, "parts.fix")
    np.savetxt(path, parts, fmt="%d")
    return path


def partition_source(source: Any, chip: Optional[str], options: Dict[str, Any], progress: Any) -> Partition:
    lib, listener = _local._load(), _local._Listener(progress)
    network, opened, made, text, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    try:
        if chip is not None:
            _local._call("chip_open", os.fsencode(os.fspath(chip)), None, ctypes.byref(opened))
        source.open(network, listener.callback)
        _local._call("partition_make", network, opened, _local.encoded(options), listener.callback, None, ctypes.byref(made))
        parts = lib.coremap_partition_parts(made, ctypes.byref(count))
        _local._call("partition_about", made, ctypes.byref(text))
        return Partition(np.ctypeslib.as_array(parts, (count.value,)).copy(), json.loads(ctypes.string_at(text)))
    except CoremapError as error:
        raise listener.raised or error from None
    finally:
        lib.coremap_text_free(text)
        lib.coremap_partition_free(made)
        lib.coremap_chip_free(opened)
        lib.coremap_network_free(network)
