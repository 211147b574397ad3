"""coremap's placer and router on PACMAN's own graphs and machines; the judges are PACMAN's."""
import configparser
import contextlib
import inspect
import io
import logging
import pathlib
import re
import sys
import types

from spinn_utilities.config_holder import get_config_str, set_config
from spinn_machine.virtual_machine import virtual_machine_by_boards
from pacman.config_setup import unittest_setup
from pacman.data.pacman_data_writer import PacmanDataWriter
from pacman.exceptions import PacmanConfigurationException, PacmanPlaceException
from pacman.model.graphs.application import ApplicationEdge, ApplicationFPGAVertex, ApplicationSpiNNakerLinkVertex, ApplicationVertex, FPGAConnection
from pacman.model.graphs.common import Slice
from pacman.model.graphs.machine import SimpleMachineVertex
from pacman.model.partitioner_splitters import AbstractSplitterCommon, SplitterExternalDevice
from pacman.model.placements import Placement, Placements
from pacman.model.resources import ConstantSDRAM
from pacman.utilities.algorithm_utilities.routing_algorithm_utilities import vertex_xy_and_route
from pacman.utilities.utility_objs import ChipCounter
from pacman.operations.multi_cast_router_check_functionality.valid_routes_checker import validate_routes
from pacman.operations.router_compressors import pair_compressor
from pacman.operations.router_compressors.ordered_covering_router_compressor import ordered_covering_compressor
from pacman.operations.routing_info_allocator_algorithms import ZonedRoutingInfoAllocator
from pacman.operations.routing_table_generators import merged_routing_table_generator

from coremap_spinnaker import install, place_application_graph, route_application_graph

logging.disable(logging.CRITICAL)
checks = 0


def check(good, what):
    global checks
    checks += 1
    if not good:
        sys.exit("FAILED: " + what)


class Splitter(AbstractSplitterCommon):
    """Machine vertices of some bytes, so many of which stay on one chip; `reach` limits what one sends to a target population."""

    def __init__(self, count, together, sdram):
        super().__init__()
        self.count, self.together, self.sdram, self.reach = count, together, sdram, {}

    def create_machine_vertices(self, chip_counter):
        for i in range(self.count):
            app = self.governed_app_vertex
            app.remember_machine_vertex(SimpleMachineVertex(ConstantSDRAM(self.sdram), app_vertex=app, label=f"{app.label}_{i}", vertex_slice=Slice(i, i)))

    def _vertices(self, *_):
        return list(self.governed_app_vertex.machine_vertices)

    get_out_going_vertices = get_in_coming_vertices = _vertices

    def get_out_going_slices(self):
        return [v.vertex_slice for v in self._vertices()]

    get_in_coming_slices = get_out_going_slices

    def get_source_specific_in_coming_vertices(self, source_vertex, partition_id):
        reach = self.reach.get(source_vertex)
        sources = list(source_vertex.machine_vertices)
        if reach is None:
            return [(t, [source_vertex]) for t in self._vertices()]
        return [(t, [s for k, s in enumerate(sources) if abs(k - i) <= reach]) for i, t in enumerate(self._vertices())]

    def get_same_chip_groups(self):
        all_, step = self._vertices(), self.together
        return [(all_[i:i + step], ConstantSDRAM(self.sdram * len(all_[i:i + step]))) for i in range(0, len(all_), step)]

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


def begin(boards, populations, edges):
    """A machine, and populations (vertices, together, SDRAM of each) with edges (from, to, reach)."""
    unittest_setup()
    set_config("Machine", "version", "5")
    set_config("Mapping", "router_table_compress_as_far_as_possible", "True")
    writer = PacmanDataWriter.mock()
    writer.set_machine(virtual_machine_by_boards(boards))
    made = []
    for number, (size, together, sdram) in enumerate(populations):
        made.append(Population(size, f"population{number}"))
        made[-1].splitter = Splitter(size, together, sdram)
        writer.add_vertex(made[-1])
        made[-1].splitter.create_machine_vertices(None)
    for source, target, reach in edges:
        if reach is not None:
            made[target].splitter.reach[made[source]] = reach
        writer.add_edge(ApplicationEdge(made[source], made[target]), "spikes")
    return writer, made


def connect(writer, device, source, target):
    """A device on a link of the machine, to which one population sends, and which sends to another."""
    device.splitter = SplitterExternalDevice()
    writer.add_vertex(device)
    device.splitter.create_machine_vertices(ChipCounter())
    writer.add_edge(ApplicationEdge(source, device), "spikes")
    writer.add_edge(ApplicationEdge(device, target), "spikes")


def ends(tables, machine, vertex):
    """Where packets of a vertex end: chips with their core or with a link that leaves the machine."""
    (x, y), _ = vertex_xy_and_route(vertex)
    ways, found = [(x, y, None)], set()
    while ways:
        x, y, came = ways.pop()
        entries = tables.get_entries_for_router(x, y)
        entry = next((entries[one, "spikes"] for one in (vertex, vertex.app_vertex) if (one, "spikes") in entries), None)
        found.update((x, y, "core", p) for p in (entry.processor_ids if entry else ()))
        for link in entry.link_ids if entry else [came]:
            if machine.is_link_at(x, y, link):
                to = machine[x, y].router.get_link(link)
                ways.append((to.destination_x, to.destination_y, link))
            else:
                found.add((x, y, "link", link))
    return found


def judge_devices(what, writer, devices):
    """Packets reach a device by its link, and its own all of its targets and nobody else; PACMAN's judge leaves devices out."""
    tables = writer.get_routing_table_by_partition()
    for device, source, target in devices:
        link = device.get_outgoing_link_data()
        for one in source.machine_vertices:
            check((link.connected_chip_x, link.connected_chip_y, "link", link.connected_link) in ends(tables, writer.get_machine(), one), f"{what}: {one} reaches {device}")
        places = {(p.x, p.y, "core", p.p) for p in map(writer.get_placement_of_vertex, target.machine_vertices)}
        for one in device.splitter.get_out_going_vertices("spikes"):
            check(ends(tables, writer.get_machine(), one) == places, f"{what}: {one} reaches its targets")


def judge(what, writer, made, system):
    placements = place_application_graph(system)
    writer.set_placements(placements)
    machine, memory = writer.get_machine(), {}
    for one in placements:
        check(one.p in machine[one.x, one.y].placable_processors_ids, f"{what}: {one} is a core for applications")
        memory[one.xy] = memory.get(one.xy, 0) + one.vertex.sdram_required.get_total_sdram(None)
    check(all(used <= machine[xy].sdram for xy, used in memory.items()), what + ": SDRAM")
    for vertex in made:
        for group, _ in vertex.splitter.get_same_chip_groups():
            check(len({placements.get_placement_of_vertex(v).xy for v in group}) == 1, what + ": groups stay together")
    writer.set_routing_table_by_partition(route_application_graph())
    allocate = ZonedRoutingInfoAllocator().allocate
    writer.set_routing_infos(allocate(*[[] for _ in inspect.signature(allocate).parameters]))  # before 2026-03: extra allocations
    tables = merged_routing_table_generator()
    validate_routes(tables)
    writer.set_uncompressed(tables)
    writer.set_precompressed(tables)
    for compress in (lambda: pair_compressor(accept_overflow=True)), ordered_covering_compressor:
        check(compress().get_max_number_of_entries() <= 1023, what + ": tables fit")  # compressors compare routes before and after themselves
    return placements


def monitored(writer):
    """A monitor on each chip, as SpiNNFrontEndCommon puts it there."""
    placed = Placements()
    for x, y in writer.get_machine().chip_coordinates:
        placed.add_placement(Placement(SimpleMachineVertex(ConstantSDRAM(1000)), x, y, writer.get_machine()[x, y].placable_processors_ids[0]))
    return placed


def typed(page, base):
    """The script and the settings of a page, with a stand-in for sPyNNaker that makes a vertex of 100 neurons; returns the simulator and the vertices placed."""
    script, settings = re.findall(r"```(?:python)?\n(.*?)```", page, re.DOTALL)[:2]
    populations, edges, ran, mapping = [], [], [], configparser.ConfigParser()
    mapping.read_string(settings)

    def population(neurons, _):
        populations.append((neurons // 100, 1, 1000))
        return len(populations) - 1

    def run(_):
        writer, made = begin(1, populations, edges)
        for section in mapping.sections():
            for name, value in mapping[section].items():
                set_config(section.title(), name, value)
        simulator = object.__new__(type("Simulator", (base,), {"_data_writer": writer}))
        simulator._do_placer(Placements())
        simulator._do_routing()
        ran.append((simulator, writer.get_n_placements()))

    nothing = lambda *_, **__: None
    sim = types.ModuleType("pyNN.spiNNaker")
    vars(sim).update(setup=nothing, Population=population, run=run, SpikeSourcePoisson=nothing, IF_curr_exp=nothing, StaticSynapse=nothing, OneToOneConnector=lambda: 0,
                     FixedProbabilityConnector=nothing, Projection=lambda source, target, reach, _: edges.append((source, target, reach)))
    sys.modules.update({"pyNN": types.SimpleNamespace(spiNNaker=sim), "pyNN.spiNNaker": sim})
    exec(script, {})
    return ran[0]


said = io.StringIO()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    for boards in 1, 3:
        writer, made = begin(boards, [(40, 1, 1000)] * 6, [(p, (p + 1) % 6, 1) for p in range(6)])
        judge(f"one to three, {boards} boards", writer, made, Placements())
        writer, made = begin(boards, [(20, 1, 1000), (30, 4, 2000), (8, 2, 1000)], [(a, b, None) for a in range(3) for b in range(3)])
        judge(f"all to all in groups with monitors, {boards} boards", writer, made, monitored(writer))
        writer, made = begin(boards, [(10, 1, 100_000_000), (10, 1, 1000)], [(0, 1, None), (1, 0, 0)])
        judge(f"SDRAM, {boards} boards", writer, made, Placements())
        writer, made = begin(boards, [(40, 1, 1000)] * 3, [(0, 1, 1), (1, 2, 1)])
        devices = [(ApplicationSpiNNakerLinkVertex(100, 0), made[2], made[0]),
                   (ApplicationFPGAVertex(100, [FPGAConnection(0, 0, None, None)], FPGAConnection(0, 1, None, None)), made[1], made[2])]
        for one in devices:
            connect(writer, *one)
        judge(f"devices on links, {boards} boards", writer, made, monitored(writer))
        judge_devices(f"devices on links, {boards} boards", writer, devices)
    writer, made = begin(1, [(3, 1, 1000), (30, 1, 1000)], [(0, 1, None), (1, 1, 2)])
    made[0].set_fixed_location(3, 3)
    placements = judge("fixed", writer, made, Placements())
    check({placements.get_placement_of_vertex(v).xy for v in made[0].machine_vertices} == {(3, 3)}, "what is fixed stands there")
    writer, made = begin(1, [(1, 1, 1000)], [(0, 0, None)])
    made[0].set_fixed_location(7, 0)
    try:
        place_application_graph(Placements())
        check(False, "a chip that is not there")
    except PacmanConfigurationException as error:
        check("7, 0" in str(error), "the chip is named")
    writer, made = begin(1, [(2000, 1, 1000)], [(0, 0, 0)])
    try:
        place_application_graph(Placements())
        check(False, "more vertices than cores")
    except PacmanPlaceException:
        check(True, "refused as PACMAN refuses")
try:
    from spinn_front_end_common.interface.abstract_spinnaker_base import AbstractSpinnakerBase as Base
except ImportError as missing:  # its hooks and its timer, no more
    print(f"a stand-in for SpiNNFrontEndCommon: {missing}")

    class Base:
        def _do_placer(self, system_placements):
            raise LookupError(get_config_str("Mapping", "placer"))

        def _do_routing(self):
            raise LookupError(get_config_str("Mapping", "router"))

    names = "spinn_front_end_common", "spinn_front_end_common.interface"
    sys.modules.update({name: types.ModuleType(name) for name in names})
    sys.modules[names[1] + ".abstract_spinnaker_base"] = types.SimpleNamespace(AbstractSpinnakerBase=Base)
    sys.modules[names[1] + ".provenance"] = types.SimpleNamespace(FecTimer=lambda *_: contextlib.nullcontext(), TimerWork=types.SimpleNamespace(OTHER=0))
    install()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    simulator, placed = typed(pathlib.Path(sys.argv[1]).read_text(), Base)
    check(placed == 20, "the page's script is placed and routed")
    set_config("Mapping", "placer", "another")
    try:
        simulator._do_placer(Placements())
        check(False, "another placer")
    except Exception as error:
        check("another" in str(error), "what is not coremap's is left to them")
print(f"Checks: {checks}, Failures: 0")
