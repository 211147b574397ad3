"""Where the vertices of a graph would best stand on a machine, as a server's job says."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Optional

import numpy as np

import coremap
from coremap._fabric import Fabric, Flows


def _chip(fabric: Fabric, behind: int, limit: int) -> dict:
    """A chip file: a router for each chip, `behind` cores behind it; its y grows south."""
    there = (fabric.links != 0) | (fabric.cores != 0)
    made = {"name": "spinnaker-machine", "cores": [fabric.width * behind, fabric.height], "cores_per_router": [behind, 1], "torus": list(map(bool, fabric.wrap)),
            "interconnect": {"kind": "hexagonal"}, "limits": {"neurons": limit}, "energy_pj": {"router": 1, "link": 0.1}, "latency_ns": {"router": 1, "link": 0.01}}
    numbers = np.flatnonzero(~there)
    if len(numbers):
        made["dead_routers"] = [[int(n % fabric.width), int(fabric.height - 1 - n // fabric.width)] for n in numbers]
    return made


def _nets(flows: Flows, kept: np.ndarray) -> coremap.Nets:
    """A net for what each sender reaches alone, and one for what a family reaches in common."""
    number = np.cumsum(kept) - 1
    senders, families = len(flows.sender), len(flows.family_first) - 1
    common = np.diff(flows.common_first.astype(np.int64))
    counts = np.diff(flows.family_first.astype(np.int64))
    shared = common > 0
    net = [np.arange(senders), np.repeat(np.arange(senders), np.diff(flows.own_first.astype(np.int64)))]
    pin = [flows.sender, flows.own]
    net += [senders + np.repeat(np.arange(families), np.where(shared, counts, 0)), senders + np.repeat(np.arange(families), common)]
    pin += [flows.sender[np.repeat(shared, counts)], flows.common]
    order = np.concatenate(net)
    group = flows.group[np.concatenate(pin)]
    there = kept[group]
    order, group = order[there], number[group[there]]
    sorted_ = np.argsort(order, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(order, minlength=senders + families))))
    rates = np.concatenate((np.ones(senders), np.maximum(counts, 1)))
    full = np.diff(first) > 0
    return coremap.Nets.of_arrays(np.concatenate(([0], np.cumsum(np.diff(first)[full]))), group[sorted_], rates[full], int(kept.sum()))


def start_places(fabric: Fabric, flows: Flows, server: str, token: Optional[str]) -> np.ndarray:
    """The chip of each vertex."""
    kept = (flows.group_cores > 0)
    sizes = flows.group_cores[kept]
    start = np.zeros(len(flows.group_cores), np.int64)
    start[~kept] = flows.group_pin[~kept]
    if not kept.any():
        return start[flows.group]
    single = bool((sizes == 1).all())
    free = fabric.cores[fabric.cores > 0]
    behind, limit = (int(free.max()), 1) if single else (1, int(np.bincount(free).argmax()))
    occupancy: Any = None
    if single and (free != behind).any() or (fabric.cores == 0).any():  # broken: cores that a chip has fewer than others
        rows = np.arange(behind)[None, None, :] >= np.minimum(fabric.cores, behind).reshape(fabric.height, fabric.width, 1)
        occupancy = np.where(rows, 2, 0)[::-1].reshape(fabric.height, -1)
    with tempfile.TemporaryDirectory(prefix="coremap-") as folder:
        path = os.path.join(folder, "spinnaker-machine.json")
        with open(path, "w") as file:
            json.dump(_chip(fabric, behind, limit), file)
        mapping = coremap.map(_nets(flows, kept), path, sizes=None if single else sizes, occupancy=occupancy, server=server, token=token, preset="fast",
                              traffic_model="multicast", seed=1)
    xy = mapping.core_of.astype(np.int64)
    start[kept] = (fabric.height - 1 - xy[:, 1]) * fabric.width + xy[:, 0] // behind
    return start[flows.group]
