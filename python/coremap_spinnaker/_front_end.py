"""The hooks of SpiNNFrontEndCommon that name a placer and a router."""
from __future__ import annotations

from typing import Any, Callable, Optional

from spinn_utilities.config_holder import get_config_str, get_config_str_or_none, has_config_option

from ._graph import place_application_graph, route_application_graph


def _server() -> Optional[str]:
    option = ("Mapping", "coremap_server")
    return get_config_str_or_none(*option) if has_config_option(*option) else None


def install() -> None:
    """Makes ``[Mapping] placer = coremap`` and ``router = coremap`` known, where SpiNNFrontEndCommon is there; once."""
    try:
        from spinn_front_end_common.interface.abstract_spinnaker_base import AbstractSpinnakerBase
        from spinn_front_end_common.interface.provenance import FecTimer, TimerWork
    except ImportError:
        return

    def also(hook: str, option: str, title: str, run: Callable[..., None]) -> None:
        theirs = getattr(AbstractSpinnakerBase, hook)
        if getattr(theirs, "of_coremap", False):
            return

        def chosen(self: Any, *arguments: Any) -> None:
            if get_config_str("Mapping", option) != "coremap":
                return theirs(self, *arguments)
            with FecTimer(title, TimerWork.OTHER):
                return run(self._data_writer, *arguments)

        chosen.of_coremap = True
        setattr(AbstractSpinnakerBase, hook, chosen)

    also("_do_placer", "placer", "coremap placer", lambda writer, system: writer.set_placements(place_application_graph(system, server=_server())))
    also("_do_routing", "router", "coremap router", lambda writer: writer.set_routing_table_by_partition(route_application_graph()))
