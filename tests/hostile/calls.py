"""Every call of the Python package that asks a server, here one that lies (tests/hostile/server): what comes of it is an error of the
package, and little memory."""
import os, resource, sys

import numpy as np

import coremap
from coremap import _local, _server

server = os.environ["COREMAP_SERVER"]
_local.version()


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def known():
    """A mapping of the server, as if the lies began after it was made."""
    result = _server._Result.__new__(_server._Result)
    result._server, result._path = _server._Server(server, None), "/v1/mappings/abc"
    mapping = coremap.Mapping.__new__(coremap.Mapping)
    mapping._source = result
    return mapping


def nothing(*_):
    pass


np.save("spikes.npy", np.zeros((10, 2), np.uint32))
open("taken.json", "w").write("{}")
calls = (lambda: coremap.map("network.csv", server=server), lambda: coremap.map(([0, 1], [1, 2]), server=server, progress=nothing),
         lambda: coremap.map("network.csv", chip="ours", occupancy="taken.json", server=server), lambda: known().certificate(),
         lambda: known().save("mapping.json"), lambda: known().to_sanafe("net.yaml"), lambda: known().draw("map.svg"),
         lambda: known()._repr_html_(), lambda: known().simulate(), lambda: known().simulate("spikes.npy", progress=nothing),
         lambda: coremap.profile("network.csv", 9, spikes="spikes.npy", server=server))
before, slow = peak(), 0
for call in calls:
    try:
        call()
    except (coremap.CoremapError, ValueError) as error:
        print(error)
    more = peak() - before
    if more > 64 << 20:
        sys.exit("call %d took %d MiB more" % (calls.index(call), more >> 20))
