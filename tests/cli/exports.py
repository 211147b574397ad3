"""Reads every export of a mapping with the standard library alone and holds it against the mapping, the network and the chip.

usage: exports.py NETWORK.csv MAPPING.json CHIP.json FOLDER: FOLDER has a file a format, by its name. Prints what is wrong."""
import csv, json, re, struct, sys

network, mapping, chip, folder = sys.argv[1:5]
m = json.load(open(mapping))
c = json.load(open(chip))
per = c.get("cores_per_router", [1, 1])
width = c["cores"][0] * c.get("dies", [1, 1])[0]
height = c["cores"][1] * c.get("dies", [1, 1])[1]
rx, ry = width // per[0], height // per[1]
part = m["neurons"]
core = {}
for entry in m["cores"]:
    core[entry["part"]] = (entry["x"], entry["y"])
names, edges = {}, {}
rows = [row for row in csv.reader(open(network)) if row and not row[0].startswith("#") and row[0] != "source"]
for row in rows:  # neurons are numbered as they come
    for end in row[:2]:
        names.setdefault(end, len(names))
called = list(names)
for s, t, w in rows:
    edges[names[s], names[t]] = edges.get((names[s], names[t]), 0) + float(w)
wrong = []


def check(what, good):
    if not good:
        wrong.append(what)


def router(p):
    return core[p][0] // per[0], core[p][1] // per[1]


# A packet to each other core that an axon reaches.
reached = {}
for s, t in edges:
    reached.setdefault(s, set()).add(part[t])
flows = {}
for s, parts in reached.items():
    for q in parts:
        a, b = router(part[s]), router(q)
        if a != b:
            flows.setdefault((a[1] * rx + a[0], b[1] * rx + b[0]), []).append(s)

pac = json.load(open(folder + "/pacman"))
at = {}
for p in pac["placements"]:
    n = int(p["vertex_label"][4:])
    at[p["x"], p["y"], p["p"]] = n
    check("pacman: part %d" % n, (p["x"], ry - 1 - p["y"]) == router(n) and
          p["p"] == 1 + core[n][1] % per[1] * per[0] + core[n][0] % per[0])
tables = {tuple(t["chip"]): t["entries"] for t in pac["routing_tables"]}
step = {"east": (1, 0), "west": (-1, 0), "north": (0, 1), "south": (0, -1), "north_east": (1, 1), "south_west": (-1, -1)}


def beyond(here, direction):
    return (here[0] + step[direction][0]) % rx, (here[1] + step[direction][1]) % ry


for vertex in pac["keys"]:
    n = int(vertex["vertex_label"][4:])
    x, y = router(n)
    check("pacman: names of part %d" % n, vertex["names"] == [called[neuron] for neuron in vertex["neurons"]])
    for rank, neuron in enumerate(vertex["neurons"]):
        check("pacman: whose key", part[neuron] == n)
        key, got, ways = vertex["key"] + rank, set(), [((x, ry - 1 - y), None)]
        while ways and len(got) < 1000:
            here, came = ways.pop()
            hit = [e for e in tables.get(here, []) if key & e["mask"] == e["key"]]
            if not hit:  # straight on
                check("pacman: a way ends", came is not None)
                ways += [(beyond(here, came), came)] if came else []
                continue
            for d in hit[0]["directions"]:
                if d.startswith("core"):
                    got.add(at.get((here[0], here[1], int(d[4:]))))
                else:
                    ways.append((beyond(here, d), d))
        check("pacman: neuron %d reaches %s" % (neuron, sorted(map(str, got))), got - {n} == reached[neuron] - {n})

# The tables as routers are loaded: links east, north-east, north, west, south-west, south, then processors.
raw, at = open(folder + "/spinnaker", "rb").read(), 0
bits = {"east": 0, "north_east": 1, "north": 2, "west": 3, "south_west": 4, "south": 5}
while at < len(raw):
    x, y, count = struct.unpack_from("<HHI", raw, at)
    at += 8
    loaded = [struct.unpack_from("<HHIII", raw, at + 16 * i) for i in range(count)]
    at += 16 * count
    stated = tables.pop((x, y), [])
    check("spinnaker: entries of chip (%d, %d)" % (x, y), loaded == [
        (i, 0, sum(1 << (bits[d] if d in bits else 6 + int(d[4:])) for d in e["directions"]), e["key"], e["mask"])
        for i, e in enumerate(stated)])
check("spinnaker: a chip without its table", not tables)

if "interconnect" in c:  # what knows a plain mesh only was not asked for
    for line in wrong[:20]:
        print(line)
    sys.exit(1 if wrong else 0)

read = {}
for line in open(folder + "/traffic"):
    if not line.startswith("#"):
        s, t, w = line.split()
        check("traffic: a pair twice", (int(s), int(t)) not in read)
        read[int(s), int(t)] = float(w)
check("traffic: pairs of routers", set(read) == set(flows))
# Weights are linear in the axons: solve for each axon's rate where it is alone, and hold all else against that.
alone = {axons[0]: read.get(pair) for pair, axons in flows.items() if len(axons) == 1}
for pair, axons in flows.items():
    if all(a in alone for a in axons):
        check("traffic: rates add up", abs(sum(alone[a] for a in axons) - read[pair]) < 1e-9 * read[pair])
hops = sum(w * (abs(s % rx - t % rx) + abs(s // rx - t // rx)) for (s, t), w in read.items())
check("traffic: hops as the metrics say, %g and %g" % (hops, m["metrics"]["hop_traffic"]),
      abs(hops - m["metrics"]["hop_traffic"]) < 1e-6 * hops)

for name, pattern in (("noxim", r"^(\d+) (\d+) (\S+) \S+$"), ("booksim", r"^//: (\d+) (\d+) (\S+)$")):
    rates = {(int(s), int(t)): float(w) for s, t, w in re.findall(pattern, open(folder + "/" + name).read(), re.M)}
    if name == "booksim":  # of a square mesh
        k = max(rx, ry)
        rates = {(s // k * rx + s % k, t // k * rx + t % k): w for (s, t), w in rates.items()}
    check(name + ": pairs", set(rates) == set(read))
    sent, taken = {}, {}
    for (s, t), w in rates.items():
        sent[s] = sent.get(s, 0) + w
        taken[t] = taken.get(t, 0) + w
    check(name + ": the busiest router has a tenth", abs(max(list(sent.values()) + list(taken.values())) - 0.1) < 1e-4)
    ratio = {pair: rates[pair] / read[pair] for pair in rates if rates[pair] > 1e-5}
    check(name + ": in proportion", max(ratio.values()) < 1.001 * min(ratio.values()))
check("booksim: the grid", "k = %d;" % max(rx, ry) in open(folder + "/booksim").read())
check("noxim: the grid", "mesh_dim_x: %d, mesh_dim_y: %d" % (rx, ry) in open(folder + "/noxim").read())

raw = open(folder + "/hgrade", "rb").read()
(count,) = struct.unpack_from("<Q", raw)
check("hgrade: parts", count == len(core) and len(raw) == 8 + 8 * count)
for p in range(count):
    check("hgrade: part %d" % p, struct.unpack_from("<ii", raw, 8 + 8 * p) == core[p])

layers = json.load(open(folder + "/lava"))
check("lava: chip", layers["cores"] == [width, height])
seen = []
for layer in layers["layers"]:
    for placed in layer["placed"]:
        check("lava: core", tuple(placed["core"]) == core[placed["part"]])
        seen += [placed["part"]] * (placed["neurons"][1] - placed["neurons"][0] + 1)
    check("lava: size", len(seen) == layer["size"])
check("lava: neurons", seen == part)

text = open(folder + "/sanafe").read()
size = int(re.search(r"- name: neurons\n.*\n.*\n +- 0\.\.(\d+): \[\]", text).group(1)) + 1
check("sanafe: neurons", size == len(part))
drawn = {(int(s), int(t)): float(w) for s, t, w in re.findall(r"^    - neurons\.(\d+) -> neurons\.(\d+): \[weight: (\S+)\]$", text, re.M)}
check("sanafe: synapses", set(drawn) == set(edges))
check("sanafe: weights", all(abs(drawn[pair] - w) < 1e-6 * abs(w) for pair, w in edges.items()))
with open(folder + "/sanafe.csv") as stream:  # read back
    again = {(int(s.split(".")[1]), int(t.split(".")[1])): float(w) for s, t, w in list(csv.reader(stream))[1:]}
check("sanafe: is read as it was written", again == drawn)
placed = 0
for first, last, tile, inner in re.findall(r"^  - neurons\.(\d+)(?:\.\.(\d+))?: \[core: (\d+)\.(\d+), soma: lif\]$", text, re.M):
    for n in range(int(first), int(last or first) + 1):
        x, y = int(tile) // ry, int(tile) % ry  # tiles go down the columns
        at = core[part[n]]
        check("sanafe: neuron %d" % n, (x, y) == (at[0] // per[0], at[1] // per[1]) and
              int(inner) == at[1] % per[1] * per[0] + at[0] % per[0])
        placed += 1
check("sanafe: all are placed", placed == len(part))
model, sync = re.search(r"sync_model: (\w+)\n    latency_sync: (.*)", text).groups()
used = len({router(p) for p in core})  # tiles that the barrier's table is looked up by
took = float(sync) if model == "fixed" else [float(ns) for least, ns in re.findall(r"(\d+): ([^,}]+)", sync) if int(least) <= used][-1]
check("sanafe: the barrier of this mapping", abs(took * 1e9 - m["metrics"]["barrier_ns"]) < 1e-6)
check("sanafe: grid", "width: %d\n    height: %d\n" % (rx, ry) in text)

for line in wrong[:20]:
    print(line)
sys.exit(1 if wrong else 0)
