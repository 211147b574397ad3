"""Random jobs for tests/fuzz/jobs: networks, chips, occupancies and options, degenerate on purpose. Kinds are rows of tables."""
import io
import json
import struct
import zipfile
from dataclasses import dataclass, field
from hashlib import blake2b


@dataclass
class Network:
    """As its file says it and docs/reference/network-formats.md reads it: `nets` are (source, {target: weight}, rate), a directed one's axons;
    an undirected one's are the rows of its vertices."""
    count: int
    nets: list
    directed: bool = True
    names: list = None
    sizes: list = None
    populations: list = None  # [(name, kind)]
    population_of: list = None
    scenarios: list = None    # [(name, [rate of each net])]
    rates: dict = None        # of a table beside the file: neuron -> rate
    file: str = ""
    data: bytes = b""
    kind: str = ""
    traits: list = field(default_factory=list)


# ---- shapes: which neuron reaches which ----

def ring(r, n):
    return [(v, (v + 1) % n) for v in range(n)]


def random_pairs(r, n, mean):
    return [(r.randrange(n), r.randrange(n)) for _ in range(int(n * mean))]


SHAPES = {
    "isolated": lambda r, n: [],
    "one synapse": lambda r, n: [(0, n - 1)],
    "ring": ring,
    "chain": lambda r, n: [(v, v + 1) for v in range(n - 1)],
    "star": lambda r, n: [(0, v) for v in range(n)],
    "sink": lambda r, n: [(v, 0) for v in range(n)],
    "clique": lambda r, n: [(v, u) for v in range(min(n, 24)) for u in range(min(n, 24))],
    "loops": lambda r, n: [(v, v) for v in range(n)],
    "sparse": lambda r, n: random_pairs(r, n, 1.5),
    "random": lambda r, n: random_pairs(r, n, 4),
    "dense": lambda r, n: random_pairs(r, n, min(n, 20)),
    "layers": lambda r, n: [(v, r.randrange(n // 2, n)) for v in range(n // 2) for _ in range(3)] if n > 1 else [],
    "two halves": lambda r, n: [(v, (v + 1) % (n // 2)) for v in range(n // 2)] + [(v, v - 1) for v in range(n // 2 + 1, n)],
    "twice": lambda r, n: ring(r, n) * 2 + [(0, 0)] * 3,
    "near": lambda r, n: [(v, min(n - 1, max(0, v + r.randint(-3, 3)))) for v in range(n) for _ in range(3)],
}

WEIGHTS = {
    "ones": lambda r: 1,
    "zeros": lambda r: 0,
    "some zeros": lambda r: r.choice([0, 1, 2]),
    "huge": lambda r: r.choice([1, 4294967295]),
    "negative": lambda r: r.choice([-3, 1, -1, 2]),
    "fractions": lambda r: r.choice([0.5, 1.25, -0.375, 7]),
    "tiny": lambda r: r.choice([1e-9, 3e-10]),
    "uneven": lambda r: int(r.paretovariate(0.7)) % 100000,
}
RATES = {
    "ones": lambda r: 1,
    "zeros": lambda r: 0,
    "some zeros": lambda r: r.choice([0, 0, 1, 5]),
    "huge": lambda r: r.choice([1, 1 << 20]),
    "uneven": lambda r: int(r.paretovariate(0.7)) % 10000,
    "fractions": lambda r: r.choice([0.25, 3, 11.5]),
}
COUNTS = [1, 1, 2, 3, 4, 6, 9, 14, 20, 20, 33, 33, 50, 50, 80, 150]


def merge(pairs, weight):
    """Synapses of a source added up: {source: {target: weight}}."""
    rows = {}
    for a, b in pairs:
        row = rows.setdefault(a, {})
        row[b] = row.get(b, 0) + weight()
    return rows


def undirected(n, pairs, weight):
    """Rows of both ends, no loops, repeated edges added up."""
    edges = {}
    for a, b in pairs:
        if a != b:
            edges[min(a, b), max(a, b)] = edges.get((min(a, b), max(a, b)), 0) + weight()
    rows = [dict() for _ in range(n)]
    for (a, b), w in edges.items():
        rows[a][b] = rows[b][a] = w
    return Network(n, [(v, row, 1) for v, row in enumerate(rows)], directed=False), edges


# ---- formats: each takes (random, n, pairs, weight, rate) and gives a network with its file ----

def edges_file(r, n, pairs, weight, rate):
    """Names in the order in which the file mentions them; neurons without synapses are not in it."""
    order = {}
    for a, b in pairs:
        for v in (a, b):
            order.setdefault(v, len(order))
    rates = {a: rate(r) for a, _ in pairs} if r.random() < 0.5 else None
    lines, rows = [], {}
    for a, b in pairs:
        w = weight(r)
        lines.append(f"n{a},n{b},{w}" + (f",{rates[a]}" if rates else ""))
        row = rows.setdefault(order[a], {})
        row[order[b]] = row.get(order[b], 0) + w
    text = "source,target,weight" + (",rate" if rates else "") + "\n" + "\n".join(lines) + "\n"
    return Network(len(order), [(a, row, 1) for a, row in sorted(rows.items())], names=[f"n{v}" for v in order], file="network.csv", data=text.encode())


def matrix_file(r, n, pairs, weight, rate):
    symmetric = r.random() < 0.4
    if symmetric:
        network, edges = undirected(n, pairs, lambda: weight(r))
        rows = {}
        for (a, b), w in edges.items():
            rows.setdefault(b, {})[a] = w
        if r.random() < 0.5:  # without our comment it is a directed network that is stored by half
            network = Network(n, [(a, row, 1) for a, row, _ in network.nets if row])
            symmetric = "whole"
    else:
        rows = merge(pairs, lambda: weight(r))
        network = Network(n, [(a, row, 1) for a, row in sorted(rows.items())])
    entries = [(a, b, w) for a, row in rows.items() for b, w in row.items()]
    text = f"%%MatrixMarket matrix coordinate real {'symmetric' if symmetric else 'general'}\n{'% directed no' if symmetric is True else '%'}\n{n} {n} {len(entries)}\n"
    network.file, network.data = "network.mtx", (text + "".join(f"{a + 1} {b + 1} {w}\n" for a, b, w in entries)).encode()
    return network


def whole(weight, r):
    return max(1, min(4294967295, int(abs(weight(r)))))


def metis_file(r, n, pairs, weight, rate):
    network, edges = undirected(n, pairs, lambda: whole(weight, r) % 1000000 + 1)
    network.sizes = [r.randint(1, 5) for _ in range(n)] if r.random() < 0.5 else None
    lines = [f"{n} {len(edges)} 0{int(network.sizes is not None)}1"]
    for v, row, _ in network.nets:
        size = [str(network.sizes[v])] if network.sizes else []
        lines.append(" ".join(size + [f"{u + 1} {w}" for u, w in row.items()]))
    network.file, network.data = "network.graph", ("\n".join(lines) + "\n").encode()
    return network


def hmetis_file(r, n, pairs, weight, rate):
    """The first pin is the source; nets of one vertex are dropped, and stand in the file all the same."""
    rows = merge(pairs, lambda: 1)
    sizes = [r.randint(1, 5) for _ in range(n)] if r.random() < 0.5 else None
    nets, lines = [], []
    for a, row in rows.items():
        w = whole(weight, r)
        lines.append(" ".join(str(x) for x in [w, a + 1] + [b + 1 for b in row]))
        row = {b: w for b in row if b != a}
        if row:
            nets.append((a, row, w))
    text = f"{len(lines)} {n} {'11' if sizes else '1'}\n" + "\n".join(lines + [str(s) for s in sizes or []]) + "\n"
    return Network(n, sorted(nets, key=lambda net: net[0]), sizes=sizes, file="network.hgr", data=text.encode())


def snn_file(r, n, pairs, weight, rate):
    """Several axons of one source stay apart."""
    nets, data = [], b""
    rows = list(merge(pairs, lambda: 1).items())
    for a, row in rows + ([r.choice(rows)] if rows and r.random() < 0.3 else []):
        nets.append((a, {b: 1 for b in row}, rate(r)))
    nets.sort(key=lambda net: net[0])
    for a, row, hertz in nets:
        data += struct.pack(f"<II{len(row)}If", len(row), a, *row, hertz)
    return Network(n, nets, file="network.snn", data=struct.pack("<II", n, len(nets)) + data)


def npz_file(r, n, pairs, weight, rate):
    import numpy
    populations = r.randint(0, 4)
    rows = {}
    weights = [weight(r) for _ in pairs]
    for (a, b), w in zip(pairs, weights):
        row = rows.setdefault(a, {})
        row[b] = row.get(b, 0) + w
    network = Network(n, [(a, row, 1) for a, row in sorted(rows.items())], file="network.npz")
    arrays = {"sources": numpy.array([a for a, _ in pairs], dtype="i8"), "targets": numpy.array([b for _, b in pairs], dtype="i8"),
              "weights": numpy.array(weights, dtype="f8"), "n": numpy.array(n)}
    if populations:
        network.population_of = [r.randrange(populations) for _ in range(n)]
        arrays["population"] = numpy.array([f"p{k}" for k in network.population_of])
    stream = io.BytesIO()
    numpy.savez(stream, **arrays)
    network.data = stream.getvalue()
    if populations:  # numbered in the order of the neurons
        network.populations = [(f"p{k}", "") for k in range(populations)]
    return network


def graphml_file(r, n, pairs, weight, rate):
    populations = r.randint(0, 3)
    head = ['<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
            '<key id="w" for="edge" attr.name="weight" attr.type="double"/><key id="p" for="node" attr.name="population" attr.type="string"/>',
            '<graph edgedefault="directed">']
    rows, of = {}, [r.randrange(populations) if populations else None for _ in range(n)]
    for v in range(n):
        head.append(f'<node id="v{v}">' + (f'<data key="p">p{of[v]}</data>' if populations else "") + "</node>")
    for a, b in pairs:
        w = weight(r)
        head.append(f'<edge source="v{a}" target="v{b}"><data key="w">{w}</data></edge>')
        rows.setdefault(a, {})[b] = rows.get(a, {}).get(b, 0) + w
    network = Network(n, [(a, row, 1) for a, row in sorted(rows.items())], names=[f"v{v}" for v in range(n)], file="network.graphml",
                      data="\n".join(head + ["</graph></graphml>\n"]).encode())
    if not pairs:
        network.directed = False
        network.nets = [(v, {}, 1) for v in range(n)]
    if populations:
        network.populations, network.population_of = [(f"p{k}", "") for k in range(populations)], of
    return network


def varint(value):
    text = [value & 127]
    while value > 127:
        value >>= 7
        text.append(value & 127 | 128)
    return bytes(reversed(text))


def topology_file(r, n, pairs, weight, rate):
    """Of docs/reference/topology-file.md, with all that it can hold."""
    directed = r.random() < 0.8
    if directed:
        rows = list(merge(pairs, lambda: whole(weight, r) % 1000000).items())
        nets = sorted(((a, row, int(rate(r))) for a, row in rows + ([r.choice(rows)] if rows and r.random() < 0.2 else [])), key=lambda x: x[0])
        network = Network(n, nets)
    else:
        network = undirected(n, pairs, lambda: whole(weight, r) % 1000000)[0]
    if r.random() < 0.4:
        network.sizes = [r.choice([1, 1, 2, 3, 7]) for _ in range(n)]
    if r.random() < 0.3:
        network.names = [f"cell {v}" for v in range(n)]
    if r.random() < 0.6:
        kinds = ["input", "LIF", "LIF", "adaptive"] if r.random() < 0.5 else ["LIF", "adaptive"]
        network.populations = [(f"p{k}", r.choice(kinds)) for k in range(r.randint(1, 6))]
        network.population_of = [r.randrange(len(network.populations)) for _ in range(n)]
        if r.random() < 0.7:  # else inputs may have synapses into them
            source_only = set(range(n)) - {b for _, row, _ in network.nets for b in row}
            fed = next((k for k, p in enumerate(network.populations) if p[1] != "input"), None)
            if fed is not None:
                network.population_of = [k if v in source_only or network.populations[k][1] != "input" else fed
                                         for v, k in enumerate(network.population_of)]
    if directed and nets and r.random() < 0.3:
        network.scenarios = [(f"s{k}", [int(rate(r)) for _ in nets]) for k in range(r.randint(2, 4))]
        means = [round(sum(s[1][i] for s in network.scenarios) / len(network.scenarios)) for i in range(len(nets))]
        network.nets = [(a, row, means[i]) for i, (a, row, _) in enumerate(nets)]
    network.file, network.data = "network.zip", topology_bytes(network, r.random() < 0.4)
    return network


def topology_bytes(network, signed):
    body, pins, weights, size, weight = b"", 0, 0, 1, 1
    for v in range(network.count):
        axons = [(row, rate) for a, row, rate in network.nets if a == v]
        body += varint(sum(len(row) for row, _ in axons))
        for row, rate in axons:
            last = None
            for target in sorted(row):
                its_size = network.sizes[target] if network.sizes else 1
                new = network.directed and last is None
                body += bytes([1 | 2 | 4 * (last is not None) | 8 * new]) + varint(target - (last or 0))
                body += varint(its_size) + varint(int(row[target])) + (varint(rate) if new else b"")
                last = target
                pins, weights = pins + 1, weights + int(row[target])
    members = {"edges/000000": body}
    if network.sizes:
        members["sizes"] = b"".join(varint(s) for s in network.sizes)
    if network.names:
        members["labels"] = b"".join(name.encode() + b"\0" for name in network.names)
    if network.populations:
        members["populations"] = b"".join(varint(k) for k in network.population_of)
    if network.scenarios:
        members["scenarios"] = b"".join(varint(x) for _, rates in network.scenarios for x in rates)
    if signed and pins:
        members["signs"] = bytes([0x55] * (pins // 8)) + bytes([0x55 & ((1 << pins % 8) - 1)] * (pins % 8 > 0))
        members["signs"] += b"\0" * (-len(members["signs"]) % 8)
    rows = sum(1 for _, row, _ in network.nets if row)
    listed = [{"name": name, "bytes": len(data), "blake2b": blake2b(data, digest_size=32).hexdigest()} for name, data in members.items()]
    listed[0].update(first_vertex=0, vertices=network.count, rows=rows, pins=pins)
    manifest = {"format": "coremapd topology", "version": 3 if network.scenarios else 2 if network.populations or "signs" in members else 1,
                "directed": network.directed, "vertices": network.count, "nets": rows, "pins": pins,
                "size_total": sum(network.sizes or [1] * network.count), "weight_total": weights, "weight_scale": 1, "has_weights": True,
                "has_sizes": network.sizes is not None, "has_labels": network.names is not None, "finer_vertices": 0,
                "merged": {"duplicates": 0, "self_loops": 0, "empty_nets": 0}, "members": listed}
    if manifest["version"] > 1:
        manifest.update(weight_exponent=0, has_signs="signs" in members, has_delays=False, delay_unit_ns=1)
        manifest["merged"]["zeros"] = sum(int(w) == 0 for _, row, _ in network.nets for w in row.values())
        if network.populations:
            manifest["populations"] = [list(p) for p in network.populations]
    if network.scenarios:
        manifest["scenarios"] = [name for name, _ in network.scenarios]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [("manifest.json", json.dumps(manifest).encode()), *members.items()]:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


FORMATS = {"topology": (5, topology_file), "edges": (2, edges_file), "matrix": (2, matrix_file), "metis": (1, metis_file),
           "hmetis": (1, hmetis_file), "snn": (2, snn_file), "npz": (1, npz_file), "graphml": (0.5, graphml_file)}


def make_network(r):
    kind = r.choices(list(FORMATS), [w for w, _ in FORMATS.values()])[0]
    shape, weights, rates, n = r.choice(list(SHAPES)), r.choice(list(WEIGHTS)), r.choice(list(RATES)), r.choice(COUNTS)
    pairs = SHAPES[shape](r, n)
    if r.random() < 0.2:
        pairs = pairs + [r.choice(pairs) for _ in range(3) if pairs] + [(v, v) for v in range(0, n, 3)]
    if kind == "edges" and not pairs:
        pairs = [(0, 0)]
    if kind == "snn" and weights == "negative":
        weights = "ones"
    network = FORMATS[kind][1](r, n, pairs, WEIGHTS[weights], RATES[rates])
    network.kind, network.traits = kind, [kind, shape, f"{network.count} neurons", f"weights {weights}", f"rates {rates}"]
    if network.scenarios is None and network.directed and r.random() < 0.15:
        network.rates = {v: RATES[rates](r) for v in range(network.count)}
    return network


# ---- chips ----

def graph_links(r, routers, switches):
    """A tree over all, and some links more."""
    every = routers + switches
    links = [[v, r.randrange(v), *r.choice([[], [2, 1], [1, 4], [0.5, 2]])] for v in range(1, every)]
    seen = {tuple(sorted(link[:2])) for link in links}
    for _ in range(every // 2):
        pair = tuple(sorted((r.randrange(every), r.randrange(every))))
        if pair[0] != pair[1] and pair not in seen:
            seen.add(pair)
            links.append(list(pair))
    return links


def tree_levels(r, x, y):
    levels = []
    while (x, y) != (1, 1):
        block = [min(x, r.choice([2, 2, 4])), min(y, r.choice([1, 2, 4]))]
        if block == [1, 1]:
            block = [x, y]
        if x % block[0] or y % block[1]:
            block = [x, y]
        levels.append({"block": block, "cost": r.choice([1, 2]), "bandwidth": r.choice([1, 4])})
        x, y = x // block[0], y // block[1]
    return levels


CHIPS = {
    "mesh": lambda r, x, y: {},
    "torus": lambda r, x, y: {"torus": r.choice([[x > 2, y > 2], [x > 2, False], [False, y > 2]])},
    "yx": lambda r, x, y: {"routing": "yx"},
    "grid": lambda r, x, y: {"interconnect": {"kind": "grid"}, "torus": [x > 2 and r.random() < 0.5, False]},
    "hexagonal": lambda r, x, y: {"interconnect": {"kind": "hexagonal"}, "torus": [x > 2 and y > 2 and r.random() < 0.5] * 2},
    "tree": lambda r, x, y: {"interconnect": {"kind": "tree", "levels": tree_levels(r, x, y)}},
    "all-to-all": lambda r, x, y: {"interconnect": {"kind": "all-to-all"}},
    "graph": lambda r, x, y: (lambda s: {"interconnect": {"kind": "graph", "switches": s, "links": graph_links(r, x * y, s)}})(r.randint(0, 3)),
}
SIDES = [1, 1, 2, 2, 3, 4, 4, 5, 6, 8]
LIMITED = ["neurons", "synapses", "inbound_axons", "outbound_axons", "target_cores", "populations_per_core"]


def needs(network):
    """What the hungriest neuron asks of a core, and all together, by limit."""
    inputs, sources, axons = [0] * network.count, [set() for _ in range(network.count)], [set() for _ in range(network.count)]
    for a, row, _ in network.nets:
        for b in row:
            inputs[b] += 1
            sources[b].add(a)
            axons[a].add(b)
    sizes = network.sizes or [1] * network.count
    return {"neurons": (max(sizes), sum(sizes)), "synapses": (max(inputs), sum(inputs)), "inbound_axons": (max(map(len, sources)), network.count),
            "outbound_axons": (max(map(len, axons)), sum(map(len, axons))), "target_cores": (max(map(len, axons)), network.count),
            "populations_per_core": (1, len(network.populations or "x")), "fan_in": max(inputs)}


def make_limits(r, need, cores, chance):
    limits = {}
    for name in LIMITED:
        least, total = need[name]
        if r.random() < chance * (2.5 if name == "neurons" else 1):
            fair = max(least, -(-total // cores))
            limits[name] = max(1, r.choice([least, fair, fair + 1, 2 * fair, 2 * fair, 3 * fair, total]))
    if r.random() < 0.1:
        bits = {"bits_per_neuron": r.choice([0, 8, 24]), "bits_per_synapse": r.choice([1, 8]), "bits_per_inbound_axon": r.choice([0, 16])}
        fair = sum(max(need[n][0], -(-need[n][1] // cores)) * b for n, b in zip(("neurons", "synapses", "inbound_axons"), bits.values()))
        limits.update({k: b for k, b in bits.items() if b}, memory_bits=max(1, r.choice([fair, 2 * fair, 4 * fair])))
    return limits


def usable(chip, x, y):
    bx, by = chip["cores_per_router"]
    return [x, y] not in chip.get("dead_cores", []) and [x // bx, y // by] not in chip.get("dead_routers", [])


def some_cores(r, width, height, share):
    return [[x, y] for y in range(height) for x in range(width) if r.random() < share]


def make_chip(r, network):
    kind, block = r.choice(list(CHIPS)), r.choice([[1, 1], [1, 1], [1, 1], [2, 1], [2, 2], [1, 4]])
    x, y = r.choice(SIDES), r.choice(SIDES)
    y = 2 if kind == "tree" and x == 1 else y  # a tree has two routers at least
    width, height = x * block[0], y * block[1]
    need = needs(network)
    chip = {"name": "c", "cores": [width, height], "cores_per_router": block, **CHIPS[kind](r, x, y)}
    if kind in ("mesh", "yx", "torus", "grid", "hexagonal") and r.random() < 0.25:
        chip["dies"] = r.choice([[2, 1], [1, 2], [2, 2]])
    dies = chip.get("dies", [1, 1])
    width, height, x, y = width * dies[0], height * dies[1], x * dies[0], y * dies[1]
    dead = some_cores(r, width, height, r.choice([0, 0, 0, 0.1, 0.4]))[:width * height - 1]
    if dead:
        chip["dead_cores"] = dead
    chip["limits"] = make_limits(r, need, max(1, width * height - len(dead)), r.choice([0, 0.2, 0.2, 0.5]))
    if kind in ("mesh", "yx", "torus", "grid", "hexagonal") and r.random() < 0.2:
        inner = [[a, b, "east"] for b in range(y) for a in range(x - 1)] + [[a, b, "south"] for b in range(y - 1) for a in range(x)]
        chip["dead_links"] = r.sample(inner, min(len(inner), r.randint(1, 2)))
    if "interconnect" in chip and x * y > 2 and kind not in ("tree", "graph") and r.random() < 0.1:
        chip["dead_routers"] = [[r.randrange(x), r.randrange(y)]]
    single(r, chip, need)
    classes(r, chip, network, need, width, height, dead)
    if r.random() < 0.15 and "target_cores_per_neuron" not in chip["limits"]:
        chip["table_entries"] = r.choice([1, 4, 16, 1000])
    if r.random() < 0.3:
        chip["energy_pj"] = r.choice([{"router": 0, "link": 0}, {"router": 1, "link": 1e12}, {"router": 1.7, "link": 2, **({} if "interconnect" in chip else {"east_west": 3, "north_south": 4.2})}])
    if r.random() < 0.35:
        chip["costs"] = {name: {"ns": r.choice([0, 1, 2.5]), "pj": r.choice([0, 1, 30])}
                         for name in r.sample(["packet_sent", "packet_received", "synapse", "neuron", "spike"], 3)}
        chip["costs"].update(r.choice([{}, {"side_by_side": False}, {"packets_per_ns": {"link": 0.5, "port": 0.1}},
                                       {"barrier": {"tile": [1, 1], "ns": [[1, 5], [3, 20]]}}]))
    return chip, kind, (width, height)


def single(r, chip, need):
    """Limits of single neurons."""
    limits = chip["limits"]
    if r.random() < 0.12:
        limits["fan_in_per_neuron"] = max(2, r.choice([2, need["fan_in"], need["fan_in"] // 2, 5]))
    if "synapses" in limits or "memory_bits" in limits:
        return
    chip["relays"] = r.random() < 0.8 and "fan_in_per_neuron" in limits
    if r.random() < 0.1 and "table_entries" not in chip:
        limits["target_cores_per_neuron"] = r.choice([1, 2, 3])


def classes(r, chip, network, need, width, height, dead):
    free = [(a, b) for b in range(height) for a in range(width) if [a, b] not in dead]
    if r.random() > 0.3 or len(free) < 2:
        return
    r.shuffle(free)
    labels = sorted({text for p in network.populations or [] for text in p if text})
    chip["core_classes"], count = [], r.randint(1, 3)
    for k in range(count):
        taken = free[k::count + r.randint(0, 1)]
        free = [core for core in free if core not in taken]
        if not taken:
            break
        one = {"name": f"class {k}", "cores": [list(core) for core in taken]}
        if labels and r.random() < 0.5:
            one["labels"] = r.sample(labels, r.randint(1, len(labels)))
        if r.random() < 0.7:
            single_limits = {"fan_in_per_neuron", "target_cores_per_neuron"}
            one["limits"] = {n: v for n, v in make_limits(r, need, len(taken), 0.3).items() if n not in single_limits}
            if "relays" in chip or "target_cores_per_neuron" in chip["limits"]:
                for name in [n for n in one["limits"] if n == "synapses" or "bits" in n]:
                    del one["limits"][name]
        chip["core_classes"].append(one)


def make_occupancy(r, chip, width, height):
    if r.random() < 0.6:
        return None
    cores = [core for core in some_cores(r, width, height, r.choice([0.1, 0.3, 0.8])) if usable(chip, *core)]
    half = len(cores) // 2
    return {"width": width, "height": height, "taken": [{"owner": "ann", "cores": cores[:half]}], "broken": cores[half:]}


# ---- options: (chance, values) ----

OPTIONS = {
    "preset": (0.9, ["fast", "fast", "fast", "balanced", "balanced", "reference", "best"]),
    "objective": (0.5, ["edge", "axon", "time", "energy", "edp", "pareto", "knee", "auto"]),
    "mapper": (0.4, ["two-phase", "integrated", "bisection", "learned", "auto"]),
    "traffic_model": (0.3, ["unicast", "multicast"]),
    "seed": (0.5, [0, 2, 77, 9223372036854775807]),
    "placement_seed": (0.05, [5]),
    "coarsening_seed": (0.05, [6]),
    "parts": (0.2, [1, 2, 3, 5, 9, 16]),
    "cores": (0.1, [1, 3, 8, 20]),
    "imbalance": (0.1, [0, 0.03, 0.5, 10]),
    "max_part_size": (0.15, [1, 2, 4, 9, 30]),
    "step_budget_ns": (0.04, [1, 100, 100000]),
    "scenarios": (0.1, ["mean", "worst"]),
    "inputs": (0.2, ["relay", "outside", "outside"]),
    "routing": (0.1, ["auto", "xy", "yx", "west-first", "north-last", "negative-first"]),
    "route_model": (0.1, ["multicast", "unicast"]),
    "regions": (0.1, [0, 1, 5]),
    "capacity_tries": (0.05, [1, 3]),
    "matching": (0.05, ["heaviest", "available"]),
    "coarsening_share": (0.05, [1, 4]),
    "coarsening_tries": (0.05, [1]),
    "bisection_tries": (0.05, [1]),
    "refinement_passes": (0.05, [0, 3]),
    "force_fraction": (0.05, [0.5, 1]),
    "force_passes": (0.05, [0, 5]),
    "policy": (0.05, ["pilot", "layout", "letter", "letter-shared", "letter-plane"]),
    "policy_draws": (0.9, [1, 64, 500]),
    "policy_axes": (0.05, ["plane", "order"]),
    "policy_chooser": (0.05, ["node", "core"]),
    "policy_distance": (0.05, ["manhattan", "euclidean"]),
    "policy_fault_weight": (0.05, [0.5, 10]),
    "policy_refinement": (0.05, ["off", "on"]),
    "policy_objective": (0.05, ["hops", "reward"]),
    "memory_limit": (0.03, ["1M", "64M"]),
}


def make_options(r, network, chip):
    """Mostly such that go together; what does not is refused."""
    options = {name: r.choice(values) for name, (chance, values) in OPTIONS.items() if r.random() < chance}
    inputs = {k for k, p in enumerate(network.populations or []) if p[1] == "input"}
    fed = {b for _, row, _ in network.nets for b in row}
    unsuited = [name for name, bad in {
        "scenarios": not network.scenarios,
        "inputs": not network.directed or not inputs & set(network.population_of or ()) or any(network.population_of[v] in inputs for v in fed),
        "routing": "interconnect" in chip,
        "step_budget_ns": options.get("objective") != "energy",
        "parts": options.get("parts", 0) > network.count,
        "cores": "parts" in options,
        "objective": options.get("objective") in ("time", "energy", "edp", "pareto", "knee") and not network.directed
                     or options.get("objective") == "axon" and not chip["limits"],
        "mapper": "core_classes" in chip or options.get("mapper") == "integrated" and "populations_per_core" in chip["limits"],
        "traffic_model": "target_cores_per_neuron" in chip["limits"]}.items() if bad]
    if options.get("preset") == "reference":
        unsuited += ["objective", "scenarios"] + ["mapper"] * (options.get("mapper") not in ("bisection", "auto"))
    if options.get("objective") in ("time", "energy", "edp", "pareto", "knee"):
        unsuited += ["mapper"] * (options.get("mapper") == "integrated")
    for name in unsuited if r.random() < 0.9 else ():
        options.pop(name, None)
    if options.get("objective") == "pareto" and options.get("preset") == "best":  # ten mappings of most effort: minutes, however small
        options["preset"] = "fast"
    return options
