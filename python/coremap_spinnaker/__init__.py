"""coremap as the placer and the router of PACMAN, which maps networks onto SpiNNaker's boards.

    import coremap_spinnaker            # beside pyNN.spiNNaker; then in spynnaker.cfg:

    [Mapping]
    placer = coremap
    router = coremap

With ``coremap_server = https://...`` there a coremapd server finds places. See docs/how-to/spinnaker.md.
"""
import coremap

from ._graph import place_application_graph, route_application_graph
from ._front_end import install

__all__ = ["place_application_graph", "route_application_graph", "install"]

coremap.version()  # a library that is not there is told of now, not in the middle of a script
install()
