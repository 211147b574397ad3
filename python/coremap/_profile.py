"""Networks that run."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Optional

import numpy as np

from . import _local, _server
from ._network import Network


def spike_file(spikes: Any, folder: str) -> Optional[str]:
    """The path of a file of spikes that is given; of an array that of a file in `folder`."""
    if spikes is None or isinstance(spikes, (str, os.PathLike)):
        return None if spikes is None else os.fspath(spikes)
    rows = np.asarray(spikes)
    if rows.dtype.kind == "b" and rows.ndim == 2:  # [steps, neurons]
        rows = np.argwhere(rows)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise ValueError("spikes are rows [step, neuron] of whole numbers, or a matrix [steps, neurons] of truth values")
    path = os.path.join(folder, "spikes.npy")
    np.save(path, np.ascontiguousarray(rows))
    return path


class Profile:
    """What a network did. ``rates[i]``: spikes of neuron i in a step; ``spikes``: rows [step, neuron] (of a server: None);
    ``report``: what docs/explanation/running.md has."""

    def __init__(self, report: Dict[str, Any], counts: np.ndarray, spikes: Optional[np.ndarray]):
        self.report, self.spikes = report, spikes
        self.rates: np.ndarray = counts / report["steps"]

    def __repr__(self) -> str:
        return "<coremap.Profile: %d spikes of %d neurons in %d steps>" % (
            round(self.rates.sum() * self.report["steps"]), len(self.rates), self.report["steps"])


def _here(source: Any, options: Dict[str, Any], progress: Any) -> Profile:
    with _local.Ran(source, options, progress) as ran:
        return Profile(json.loads(ran.report()), ran.counts(), ran.spikes())


def _there(path: str, url: str, token: Optional[str], reading: Dict[str, str], spikes: Optional[str], options: Dict[str, Any],
           progress: Any) -> Profile:
    report = _server.profile_file(path, url, token, reading, spikes, options, progress)
    counts, steps = np.asarray(report.pop("counts", [])), report.get("steps")
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or not isinstance(steps, int) or steps < 1:
        raise _local.CoremapError("io", "the server's answer has no \"counts\" and \"steps\" as a server of coremap has them")
    return Profile(report, counts, None)


def profile(network: Any, steps: int, *, spikes: Any = None, poisson: Optional[float] = None, semantics: str = "snntorch",
            dt: Optional[float] = None, server: Optional[str] = None, token: Optional[str] = None, format: Optional[str] = None,
            progress: Any = None, **options: Any) -> Profile:
    """Runs a network that says how its neurons behave.

    network: its path (NIR, a topology file), or a Network. spikes: which inputs fire when, rows [step, neuron], a matrix [steps, neurons] of truth values or a file; poisson: inputs fire
        at random, so many times a second. semantics, dt: how a step is taken, and its seconds, which files do not say
        (docs/explanation/running.md). server, token, format, progress: as of map. All else are options: seed=7, peaks=True, spike_ids="position".
    """
    from . import _heard
    asked = dict(options, steps=steps, semantics=semantics)
    asked.update((name, value) for name, value in (("poisson", poisson), ("dt", dt)) if value is not None)
    reading = {} if format is None else {"format": format}
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder, _heard(progress) as heard:
        path = spike_file(spikes, folder)
        if server is not None:
            return _there(os.fspath(network), server, token, reading, path, asked, heard)
        if path is not None:
            asked["spikes_file"] = path
        return _here(Network.running(network, reading), asked, heard)
