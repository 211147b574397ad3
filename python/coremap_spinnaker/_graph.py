"""PACMAN's graph and machine as arrays, and what coremap finds as PACMAN's placements and routing tables."""
from __future__ import annotations

from collections import defaultdict
from typing import Dict, List, Optional, Tuple

import numpy as np

from coremap import CoremapError
from coremap._fabric import NO_CHIP, Fabric, Flows, place, route
from pacman.data import PacmanDataView
from pacman.exceptions import PacmanConfigurationException, PacmanPlaceException, PacmanRoutingException
from pacman.model.graphs import AbstractVirtual
from pacman.model.graphs.application import ApplicationVertex
from pacman.model.graphs.machine import MachineVertex
from pacman.model.placements import Placement, Placements
from pacman.model.routing_table_by_partition import MulticastRoutingTableByPartition
from pacman.utilities.algorithm_utilities.routing_algorithm_utilities import get_app_partitions, vertex_xy_and_route
from spinn_machine import RoutingEntry

from ._start import start_places

LINKS = 6


def _fabric(placed: Optional[Placements]) -> Fabric:
    """The machine, less what is placed on it already."""
    machine, steps = PacmanDataView.get_machine(), PacmanDataView.get_plan_n_timestep()
    width, height = machine.width, machine.height
    links, cores, memory = (np.zeros(width * height, kind) for kind in (np.uint8, np.uint32, np.uint64))
    for chip in machine.chips:
        number = chip.y * width + chip.x
        links[number] = sum(1 << link.source_link_id for link in chip.router.links)
        used = list(placed.placements_on_chip(chip)) if placed is not None else []
        cores[number] = chip.n_placable_processors - len(used)
        memory[number] = max(0, chip.sdram - sum(one.vertex.sdram_required.get_total_sdram(steps) for one in used))
    wrap = {"Wrapped": (True, True), "HorWrap": (True, False), "VerWrap": (False, True)}.get(machine.wrap, (False, False))
    return Fabric(width, height, wrap, links, cores, memory)


class _Graph:
    """Vertices by number, in groups, and who sends to whom."""

    def __init__(self, placed: Optional[Placements] = None):
        """With what is placed already, groups that are to be; without, all are placed, and there are none."""
        self.flows, self.vertices = Flows(), []
        self.families: List[Tuple[ApplicationVertex, str]] = []
        self._placed, self._width = placed, PacmanDataView.get_machine().width
        self._number: Dict[MachineVertex, int] = {}
        if placed is None:
            self.flows.add_group(0, 0)
        for vertex in PacmanDataView.iterate_vertices() if placed is not None else ():
            self._add_groups(vertex)
        for partition in get_app_partitions():
            self._add_partition(partition)
        self.flows.freeze()

    def _add(self, vertex: MachineVertex, group: int) -> int:
        self.vertices.append(vertex)
        self._number[vertex] = self.flows.add_vertex(group)
        return self._number[vertex]

    def number(self, vertex: MachineVertex) -> int:
        """The number of a vertex; of one outside of all groups, which stands somewhere already, a new one."""
        if vertex in self._number:
            return self._number[vertex]
        if self._placed is None:
            return self._add(vertex, 0)
        if isinstance(vertex, AbstractVirtual):
            link = vertex.get_link_data()
            x, y = link.connected_chip_x, link.connected_chip_y
        else:
            x, y = self._placed.get_placement_of_vertex(vertex).xy
        return self._add(vertex, self.flows.add_group(0, 0, y * self._width + x))

    def _pin(self, vertices: List[MachineVertex]) -> int:
        for vertex in vertices:
            fixed = vertex.get_fixed_location()
            if fixed is not None:
                if PacmanDataView.get_machine().get_chip_at(fixed.x, fixed.y) is None:
                    raise PacmanConfigurationException(f"{vertex} is fixed to chip {fixed.x}, {fixed.y}, and there is no such chip")
                return fixed.y * self._width + fixed.x
        return NO_CHIP

    def _add_groups(self, vertex: ApplicationVertex) -> None:
        steps = PacmanDataView.get_plan_n_timestep()
        for vertices, sdram in vertex.splitter.get_same_chip_groups():
            left = [one for one in vertices if not isinstance(one, AbstractVirtual) and not self._placed.is_vertex_placed(one)]
            if not left:
                continue
            if len(left) != len(vertices):
                raise NotImplementedError(f"a group of {vertex.label} that stays on one chip is placed in part already, or in part outside of it")
            group = self.flows.add_group(len(left), sdram.get_total_sdram(steps), self._pin(left))
            for one in left:
                self._add(one, group)

    def _add_partition(self, partition) -> None:
        source, name = partition.pre_vertex, partition.identifier
        senders = dict.fromkeys(source.splitter.get_out_going_vertices(name))
        internal = [one for one in source.splitter.get_internal_multicast_partitions() if one.identifier == name]
        senders.update(dict.fromkeys(one.pre_vertex for one in internal))
        common: List[int] = []
        own: Dict[MachineVertex, List[int]] = {vertex: [] for vertex in senders}
        for edge in partition.edges:
            for target, sources in edge.post_vertex.splitter.get_source_specific_in_coming_vertices(source, name):
                number = self.number(target)
                for one in sources:
                    if isinstance(one, ApplicationVertex):
                        common.append(number)
                    elif one in own:
                        own[one].append(number)
        for one in internal:
            own[one.pre_vertex].extend(self.number(edge.post_vertex) for edge in one.edges)
        if not own:
            return
        self.families.append((source, name))
        self.flows.add_family([self.number(vertex) for vertex in own], common, list(own.values()))


def place_application_graph(system_placements: Placements, server: Optional[str] = None, token: Optional[str] = None) -> Placements:
    """Places PACMAN's application graph, as its function of this name does; returns the placements given with those of the graph. server: the URL of one that finds places."""
    fabric, graph = _fabric(system_placements), _Graph(system_placements)
    try:
        start = None if server is None else start_places(fabric, graph.flows, server, token)
        chips = place(fabric, graph.flows, start)[graph.flows.group]
    except CoremapError as error:
        raise PacmanPlaceException(f"{error}{PacmanDataView.get_chips_boards_required_str()}") from error
    _put(system_placements, graph.vertices, chips.tolist(), fabric.width)
    return system_placements


def _put(placements: Placements, vertices: List[MachineVertex], chips: List[int], width: int) -> None:
    """Gives vertices the processors of their chips: first those that are fixed to one, then the others in their order."""
    by_chip = defaultdict(list)
    for vertex, chip in zip(vertices, chips):
        if not isinstance(vertex, AbstractVirtual) and not placements.is_vertex_placed(vertex):
            by_chip[chip].append(vertex)
    machine = PacmanDataView.get_machine()
    for number, here in by_chip.items():
        y, x = divmod(number, width)
        free = dict.fromkeys(p for p in machine[x, y].placable_processors_ids if not placements.is_processor_occupied(x, y, p))
        processor = {}
        for vertex in here:
            fixed = vertex.get_fixed_location()
            if fixed is not None and fixed.p is not None:
                if fixed.p not in free:
                    raise PacmanConfigurationException(f"{vertex} is fixed to core {fixed.p} of chip {x}, {y}, which is not free")
                del free[fixed.p]
                processor[vertex] = fixed.p
        others = iter(free)
        for vertex in here:
            p = processor[vertex] if vertex in processor else next(others)
            placements.add_placement(Placement(vertex, x, y, p))


def route_application_graph() -> MulticastRoutingTableByPartition:
    """Routes PACMAN's application graph between its placements, as its function of this name does."""
    fabric, graph = _fabric(None), _Graph()
    chips, bits = np.zeros(len(graph.vertices), np.uint32), np.zeros(len(graph.vertices), np.uint32)
    for number, vertex in enumerate(graph.vertices):
        (x, y), (_, core, link) = vertex_xy_and_route(vertex)
        chips[number], bits[number] = y * fabric.width + x, 1 << (LINKS + core if core is not None else link)
    try:
        entries, _ = route(fabric, graph.flows, chips, bits)
    except CoremapError as error:
        raise PacmanRoutingException(str(error)) from error
    tables, senders = MulticastRoutingTableByPartition(), graph.flows.sender.tolist()
    for chip, family, sender, way, came in entries.tolist():
        y, x = divmod(chip, fabric.width)
        source, name = graph.families[family]
        straight = came != NO_CHIP and way == 1 << (came + LINKS // 2) % LINKS
        entry = RoutingEntry(spinnaker_route=way, defaultable=straight)
        tables.add_path_entry(entry, x, y, source if sender == NO_CHIP else graph.vertices[senders[sender]], name)
    return tables
