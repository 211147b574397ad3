"""Networks as images of a chip's cores."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Optional, Sequence

from . import _local, _server
from ._network import Network
from ._profile import spike_file


def deploy(network: Any, chip: str, steps: int, folder: "str | os.PathLike[str]", *, spikes: Any = None, poisson: Optional[float] = None,
           semantics: str = "snntorch", dt: Optional[float] = None, mapping: "Optional[str | os.PathLike[str]]" = None, server: Optional[str] = None,
           token: Optional[str] = None, format: Optional[str] = None, progress: Any = None,
           **options: Any) -> Dict[str, Any]:
    """Writes images of the cores of a chip that spike as a network does, and returns the report (docs/reference/core-images.md).

    network, spikes, poisson, semantics, dt: as of profile. chip: a preset with images, or a chip file. mapping: the file of one (coremap map -o);
        without it one is made; of a server its id. server, token, format, progress: as of map. All else are options: seed=7, spike_ids="position".
    """
    from . import _heard
    asked = dict(options, steps=steps, semantics=semantics)
    asked.update((name, value) for name, value in (("poisson", poisson), ("dt", dt)) if value is not None)
    if mapping is not None:
        asked["mapping_file" if server is None else "mapping"] = os.fspath(mapping)
    reading = {} if format is None else {"format": format}
    with tempfile.TemporaryDirectory(prefix="coremap-") as scratch, _heard(progress) as heard:
        path = spike_file(spikes, scratch)
        if server is not None:
            return _server.deploy_file(os.fspath(network), chip, os.fspath(folder), server, token, reading, path, asked, heard)
        if path is not None:
            asked["spikes_file"] = path
        return _local.deploy(Network.running(network, reading), os.fspath(chip), asked, os.fspath(folder), heard)


def calibrate(runs: "str | os.PathLike[str]", chip: str, out: "Optional[str | os.PathLike[str]]" = None, *, keep: Sequence[str] = ()) -> Dict[str, Any]:
    """Fits a chip's costs to measured steps: the report, and as "file" the chip file with them, which is written to out.

    runs: a table with columns run, ns and counts of each core (docs/explanation/step-time.md). keep: prices that stay as they are.
    """
    with open(runs, encoding="utf-8") as file:
        report = _local.calibrate(os.fspath(chip), file.read(), {"keep": list(keep)})
    if out is not None:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(report["file"], file, indent=2)
            file.write("\n")
    return report
