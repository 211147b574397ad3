"""Places and routes on boards like SpiNNaker's, judged by walking every packet over the entries, link by link; and beside what PACMAN made of the same graphs."""
import importlib.util
import os
import sys

import numpy as np

from coremap import CoremapError
from coremap._fabric import NO_CHIP, Fabric, Flows, place, route

STEPS = [(1, 0), (1, 1), (0, 1), (-1, 0), (-1, -1), (0, -1)]
# Potjans, Diesmann 2014: neurons, and whether a column's population projects to a row's.
SIZES = [20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948]
PROJECTS = ["11111010", "11111010", "11111110", "11111010", "11111110", "11111110", "11111111", "11111111"]
# Links of the trees of 600 vertices that PACMAN made on one board (snapshot of 2026; tests/spinnaker/run with its sources makes them anew), and the share of them that may be used.
RECORDED = {"ring": (2495, 0.03), "layered": (3987, 0.25), "microcircuit": (20936, 0.97)}
checks = 0


def check(good, what):
    global checks
    checks += 1
    if not good:
        sys.exit("FAILED: " + what)


def machine(alive, wrap, cores, dead_links=()):
    """Links of six a chip between those that are there, less dead ones (chip, link)."""
    height, width = alive.shape
    links = np.zeros(width * height, np.uint8)
    for y, x in np.argwhere(alive):
        for link, (dx, dy) in enumerate(STEPS):
            inside = 0 <= x + dx < width and 0 <= y + dy < height
            if (inside or wrap) and alive[(y + dy) % height, (x + dx) % width] and (y * width + x, link) not in dead_links:
                links[y * width + x] |= 1 << link
    there = alive.reshape(-1)
    return Fabric(width, height, (wrap, wrap), links, np.where(there, cores, 0).astype(np.uint32), np.where(there, 1000, 0).astype(np.uint64))


def board():
    x, y = np.meshgrid(np.arange(8), np.arange(8))
    return (x - y <= 4) & (y - x <= 3)  # the 48 chips of a SpiNN-5


def targets_of(flows):
    """What each sender reaches."""
    made = []
    for family in range(len(flows.family_first) - 1):
        common = set(flows.common[int(flows.common_first[family]):int(flows.common_first[family + 1])].tolist())
        for s in range(flows.family_first[family], flows.family_first[family + 1]):
            made.append((family, common | set(flows.own[int(flows.own_first[s]):int(flows.own_first[s + 1])].tolist())))
    return made


def judge(what, fabric, flows, start=None):
    """Places within all limits, and packets that come to each target once and to nobody else. Returns links and entries."""
    chip = place(fabric, flows, start)
    check(bytes(chip) == bytes(place(fabric, flows, start)), what + ": the same places again")
    for used, free in ((flows.group_cores, fabric.cores), (flows.group_memory, fabric.memory)):
        check((np.bincount(chip, used.astype(float), minlength=len(free)) <= free).all(), what + ": no chip holds more than it has")
    fixed = flows.group_pin != NO_CHIP
    check((chip[fixed] == flows.group_pin[fixed]).all(), what + ": what is fixed stays")
    where, count, local = chip[flows.group], {}, []
    for c in where.tolist():
        count[c] = count.get(c, 5) + 1
        local.append(1 << count[c])
    entries, links = route(fabric, flows, where, np.array(local, np.uint32))
    table = {(e[0], e[1], e[2]): e[3] for e in entries.tolist()}
    walked = 0
    for s, (family, targets) in enumerate(targets_of(flows)):
        reached, seen, ways = {}, set(), [int(where[flows.sender[s]])]
        while ways:
            at = ways.pop()
            check(at not in seen, what + ": no packet goes round")
            seen.add(at)
            way = table.get((at, family, s), table.get((at, family, NO_CHIP)))
            check(way is not None, what + ": each chip on the way has an entry")
            reached[at] = way >> 6
            for link in (link for link in range(6) if way >> link & 1):
                check(fabric.links[at] >> link & 1, what + ": links work")
                x, y = at % fabric.width + STEPS[link][0], at // fabric.width + STEPS[link][1]
                ways.append(y % fabric.height * fabric.width + x % fabric.width)
                walked += 1
        want = {}
        for t in targets:
            want[int(where[t])] = want.get(int(where[t]), 0) | local[t] >> 6
        check({c: bits for c, bits in reached.items() if bits} == want, what + ": each target is reached, and nobody else")
    check(walked == links, what + ": links are those that packets take")
    return links, len(entries)


def recorded(name, vertices=600):
    if name == "ring":
        sizes, edges = [30] * 20, [(p, (p + 1) % 20, [0]) for p in range(20)]
    elif name == "layered":
        sizes, edges = [75] * 8, [(p, p + 1, range(-4, 5)) for p in range(7)]
    else:
        sizes = [max(1, round(vertices * s / sum(SIZES))) for s in SIZES]
        edges = [(s, t, None) for t in range(8) for s in range(8) if PROJECTS[t][s] == "1"]
    first, flows = np.concatenate(([0], np.cumsum(sizes))).tolist(), Flows()
    for _ in range(first[-1]):
        flows.add_vertex(flows.add_group(1, 10))
    for s, size in enumerate(sizes):
        common, own = [], [[] for _ in range(size)]
        for _, t, offsets in (e for e in edges if e[0] == s):
            common += range(first[t], first[t + 1]) if offsets is None else ()
            for i in range(size if offsets is not None else 0):
                own[i] += [first[t] + i + o for o in offsets if 0 <= i + o < sizes[t]]
        flows.add_family(list(range(first[s], first[s + 1])), common, own)
    flows.freeze()
    return flows


def pairs():
    """Groups of two in a ring, the first fixed."""
    flows = Flows()
    for number in range(40):
        group = flows.add_group(2, 10, 9 if number == 0 else NO_CHIP)
        for _ in range(2):
            flows.add_vertex(group)
    for v in range(80):
        flows.add_family([v], [(v + 2) % 80], [[]])
    flows.freeze()
    return flows


def random_flows(random, chips):
    """Groups of up to three, some fixed, and families with targets in common and of their own."""
    flows, vertices = Flows(), []
    for _ in range(int(random.integers(5, 30))):
        size = int(random.integers(1, 4))
        group = flows.add_group(size, int(random.integers(0, 300)), int(random.choice(chips)) if random.random() < 0.15 else NO_CHIP)
        vertices += [flows.add_vertex(group) for _ in range(size)]
    senders = random.permutation(vertices).tolist()
    while senders:
        some = [senders.pop() for _ in range(min(len(senders), int(random.integers(1, 6))))]
        pick = lambda most: random.choice(vertices, int(random.integers(0, most))).tolist()
        flows.add_family(some, pick(6), [pick(5) for _ in some])
    flows.freeze()
    return flows


for name, (theirs, share) in RECORDED.items():
    links, _ = judge(name, machine(board(), False, 17), recorded(name))
    check(links <= share * theirs, "%s: %d links, PACMAN has %d" % (name, links, theirs))
for seed in range(60):
    random = np.random.default_rng(seed)
    alive = random.random((5, 6)) < 0.95
    alive[1:4, 1:5] = True
    dead = {(int(random.integers(30)), int(random.integers(6))) for _ in range(4)}
    fabric = machine(alive, seed % 2 == 0, 8, dead)
    flows = random_flows(random, np.flatnonzero(alive.reshape(-1)))
    try:
        judge("random %d" % seed, fabric, flows)
    except CoremapError as error:  # pins that want more than a chip has, or a chip that dead links cut off
        check(error.code in ("no-room", "no-route") and "chip" in error.detail, "refused: " + error.detail)
# Places that a server's job finds, by the module of coremap_spinnaker that needs no PACMAN.
spec = importlib.util.spec_from_file_location("start", os.path.join(os.environ["CM_SOURCE"], "python/coremap_spinnaker/_start.py"))
start_module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(start_module)
for name, fabric, flows in (("layered", machine(board(), False, 17), recorded("layered")), ("pairs", machine(board(), False, 16), pairs())):
    there, here = (start_module.start_places(fabric, flows, where, None) for where in (sys.argv[1], None))
    check(bytes(there) == bytes(here), name + ": a server finds what the library finds")
    judge(name + " on a server", fabric, flows, there)
try:
    start_module.start_places(machine(board(), False, 17), recorded("ring"), sys.argv[1] + "/nowhere", None)
    check(False, "no such server")
except CoremapError:
    check(True, "a server that is not there is told of")
full = recorded("ring")
try:
    place(machine(board(), False, 12), full, None)
    check(False, "600 vertices on 576 cores")
except CoremapError as error:
    check(error.code == "no-room", "no room: " + error.detail)
print("Checks: %d, Failures: 0" % checks)
