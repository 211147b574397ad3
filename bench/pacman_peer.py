"""PACMAN on a graph of machine vertices: hops, table entries, seconds. The interpreter's path has PACMAN, SpiNNMachine and
SpiNNUtils.

usage: pacman_peer.py BOARDS GRAPH.json pacman|coremap [routed]
       pacman_peer.py write ring|layered|microcircuit|feedback|stars|random|columns|funnel|mixed VERTICES GRAPH.json

GRAPH.json: {"populations": [size, ..], "edges": [[source population, target population, "all" or [offset, ..]], ..]}. With
offsets machine vertex i of the source sends to those at i + offset of the target. Prints one JSON object; with `routed` that of
placer and router alone, without keys and tables."""
import json
import logging
import os
import random
import sys
import tempfile
import time

START = time.process_time()
# Potjans, Diesmann 2014: neurons, and whether a column's population projects to a row's.
SIZES = [20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948]
PROJECTS = ["11111010", "11111010", "11111110", "11111010", "11111110", "11111110", "11111111", "11111111"]


def make(name, vertices):
    if name == "ring":
        count = vertices // 30
        return [30] * count, [[p, (p + 1) % count, [0]] for p in range(count)]
    if name == "layered":
        layers = 8 if vertices < 2000 else 32
        return [vertices // layers] * layers, [[p, p + 1, list(range(-4, 5))] for p in range(layers - 1)]
    if name == "feedback":
        sizes, forward = make("layered", vertices)
        return sizes, forward + [[t, s, [0]] for s, t, _ in forward]
    if name == "stars":
        hubs = vertices // 120
        sizes = [8, 28, 28, 28, 28] * hubs
        return sizes, [[5 * h + a, 5 * h + b, "all"] for h in range(hubs) for k in range(1, 5) for a, b in ((0, k), (k, 0))]
    if name == "random":
        count, draw = vertices // 20, random.Random(1)
        return [20] * count, [[s, t, draw.choice(["all", [0]])] for s in range(count) for t in draw.sample(range(count), 3)]
    if name == "columns":
        count = vertices // 24
        inside = [(0, 1), (1, 0), (0, 2), (2, 3), (3, 0)]
        edges = [[4 * c + a, 4 * c + b, "all"] for c in range(count) for a, b in inside]
        return [12, 3, 6, 3] * count, edges + [[4 * c, 4 * ((c + 1) % count), [-1, 0, 1]] for c in range(count)]
    if name == "funnel":
        count = vertices // 10
        return [10] * count, [[p, (p - 1) // 2, [0, 1, 2]] for p in range(1, count)] + [[p, p, [-1, 1]] for p in range(count)]
    if name == "mixed":
        draw, sizes = random.Random(50), []
        while vertices > sum(sizes):
            sizes.append(min(draw.randint(3, 40), vertices - sum(sizes)))
        count, offsets = len(sizes), ["all", [0], [-2, -1, 0, 1, 2]]
        return sizes, [[s, t, draw.choice(offsets)] for s in range(count) for t in draw.sample(range(max(0, s - 6), min(count, s + 7)), 2)]
    sizes = [max(1, round(vertices * s / sum(SIZES))) for s in SIZES]
    return sizes, [[s, t, "all"] for t in range(8) for s in range(8) if PROJECTS[t][s] == "1"]


def write(name, vertices, graph):
    sizes, between = make(name, vertices)
    json.dump({"populations": sizes, "edges": between}, open(graph, "w"))


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    sys.exit()
graph = json.load(open(sys.argv[2]))
os.chdir(tempfile.mkdtemp())
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what PACMAN prints is not the result

from spinn_utilities.config_holder import set_config
from spinn_machine.virtual_machine import virtual_machine_by_boards
from pacman.config_setup import unittest_setup
from pacman.data.pacman_data_writer import PacmanDataWriter
from pacman.model.graphs.application import ApplicationEdge, ApplicationVertex
from pacman.model.graphs.common import Slice
from pacman.model.graphs.machine import SimpleMachineVertex
from pacman.model.partitioner_splitters import AbstractSplitterCommon
from pacman.model.placements import Placements
from pacman.model.resources import ConstantSDRAM
from pacman.operations.multi_cast_router_check_functionality.valid_routes_checker import validate_routes
from pacman.operations.placer_algorithms.application_placer import place_application_graph
from pacman.operations.router_algorithms.application_router import route_application_graph
from pacman.operations.router_compressors.ordered_covering_router_compressor import ordered_covering_compressor
from pacman.operations.router_compressors import pair_compressor
from pacman.operations.routing_info_allocator_algorithms import ZonedRoutingInfoAllocator
from pacman.operations.routing_table_generators import basic_routing_table_generator, merged_routing_table_generator

logging.disable(logging.CRITICAL)


class Splitter(AbstractSplitterCommon):
    """One machine vertex an atom, with edges by offsets between populations."""

    def __init__(self, count):
        super().__init__()
        self.count, self.offsets = count, {}

    def create_machine_vertices(self, chip_counter):
        for i in range(self.count):
            self.governed_app_vertex.remember_machine_vertex(SimpleMachineVertex(
                ConstantSDRAM(0), app_vertex=self.governed_app_vertex, label=f"{self.governed_app_vertex.label}_{i}",
                vertex_slice=Slice(i, i)))

    def get_out_going_slices(self):
        return [v.vertex_slice for v in self.governed_app_vertex.machine_vertices]

    get_in_coming_slices = get_out_going_slices

    def get_out_going_vertices(self, partition_id):
        return list(self.governed_app_vertex.machine_vertices)

    get_in_coming_vertices = get_out_going_vertices

    def get_source_specific_in_coming_vertices(self, source_vertex, partition_id):
        targets = list(self.governed_app_vertex.machine_vertices)
        offsets = self.offsets[source_vertex]
        if offsets == "all":
            return [(t, [source_vertex]) for t in targets]
        sources = list(source_vertex.machine_vertices)
        made = []
        for i, target in enumerate(targets):
            senders = [sources[i - o] for o in offsets if 0 <= i - o < len(sources)]
            if senders:
                made.append((target, senders))
        return made

    def machine_vertices_for_recording(self, variable_to_record):
        return []

    def reset_called(self):
        pass


class Population(ApplicationVertex):
    def __init__(self, size, label):
        super().__init__(label=label, max_atoms_per_core=1)
        self.size = size

    @property
    def n_atoms(self):
        return self.size


def count_hops(machine, tables, placements, keys):
    """Links that the packets of all keys take: an entry may be for a whole population, so every key is followed."""
    entries = {(t.x, t.y): [(e.key, e.mask, e.link_ids) for e in t.multicast_routing_entries] for t in tables}
    exact = {}
    for chip, rows in entries.items():
        by_mask = {}
        for key, mask, links in rows:
            by_mask.setdefault(mask, {})[key] = links
        exact[chip] = by_mask
    hops = 0
    for place in placements:
        info = keys.get_info_from(place.vertex, "spikes") if keys.has_info_from(place.vertex, "spikes") else None
        if info is None:
            continue
        key, ways, met = info.key, [(place.x, place.y)], 0
        while ways:
            here = ways.pop()
            met += 1
            assert met <= len(machine), "a packet goes round"
            for mask, rows in exact.get(here, {}).items():
                links = rows.get(key & mask)
                if links is not None:
                    hops += len(links)
                    for link in links:
                        to = machine[here].router.get_link(link)
                        ways.append((to.destination_x, to.destination_y))
                    break
    return hops


def main(boards, graph, mapper, routed):
    place, route = place_application_graph, route_application_graph
    if mapper == "coremap":
        from coremap_spinnaker import place_application_graph as place, route_application_graph as route
    unittest_setup()
    set_config("Machine", "version", "5")
    set_config("Mapping", "router_table_compress_as_far_as_possible", "True")
    writer = PacmanDataWriter.mock()
    machine = virtual_machine_by_boards(boards)
    writer.set_machine(machine)
    vertices = []
    for number, size in enumerate(graph["populations"]):
        vertex = Population(size, f"population{number}")
        vertex.splitter = Splitter(size)
        writer.add_vertex(vertex)
        vertex.splitter.create_machine_vertices(None)
        vertices.append(vertex)
    for source, target, offsets in graph["edges"]:
        vertices[target].splitter.offsets[vertices[source]] = offsets
        writer.add_edge(ApplicationEdge(vertices[source], vertices[target]), "spikes")
    seconds, begin = {"graph": time.process_time() - START}, time.process_time()

    def done(what):
        nonlocal begin
        seconds[what] = time.process_time() - begin
        begin = time.process_time()

    placements = place(Placements())
    writer.set_placements(placements)
    done("place")
    ways = route()
    writer.set_routing_table_by_partition(ways)
    done("route")
    if routed:
        json.dump({"placed": placements.n_placements, "phases": seconds}, out)
        out.write("\n")
        return
    writer.set_routing_infos(ZonedRoutingInfoAllocator().allocate())
    done("keys")
    plain = basic_routing_table_generator()
    hops = count_hops(machine, plain, placements, writer.get_routing_infos())
    if mapper == "coremap" and os.environ.get("CHECK"):
        validate_routes(plain)
    seconds["count"], begin = 0, time.process_time()
    merged = merged_routing_table_generator()
    writer.set_uncompressed(merged)
    writer.set_precompressed(merged)
    done("tables")
    best = None
    for name, compress in ("pair", lambda: pair_compressor(accept_overflow=True)), ("ordered covering", ordered_covering_compressor):
        try:
            tables = compress()
        except Exception as refusal:
            seconds[name], begin = None, time.process_time()
            continue
        done(name)
        entries = tables.get_total_number_of_entries()
        if best is None or entries < best["entries"]:
            best = {"compressor": name, "entries": entries, "most": tables.get_max_number_of_entries()}
    chosen = seconds.get(best["compressor"]) or 0
    total = sum(seconds[k] for k in ("place", "route", "keys", "tables")) + chosen
    chips = len({(p.x, p.y) for p in placements})
    json.dump(dict(best, chips=len(machine), chips_used=chips, placed=placements.n_placements, hops=hops,
                   uncompressed=plain.get_total_number_of_entries(), seconds=total, phases=seconds), out)
    out.write("\n")
    out.close()


main(int(sys.argv[1]), graph, sys.argv[3], "routed" in sys.argv[4:])
