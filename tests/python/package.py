"""The Python package on scipy matrices, pairs, arrays, files and Brian 2, here and on a server; its example notebook.

usage: package.py SERVER NOTEBOOK FOLDER. Leaves FOLDER/network.npz, python.map, python.part for the command to judge."""
import contextlib, gc, io, json, os, sys, threading

import numpy as np
import scipy.sparse

import coremap

server, notebook, folder = sys.argv[1:4]
os.chdir(folder)
options = dict(chip="loihi1", preset="fast", max_part_size=32, seed=3)
weights = scipy.sparse.random(500, 500, 0.02, format="csr", random_state=1)
checks = 0


def check(good, what):
    global checks
    checks += 1
    if not good:
        sys.exit("FAILED: " + what)


def refused(kind, what, *arguments, **more):
    try:
        coremap.map(*arguments, **more)
    except kind as error:
        return error
    sys.exit("FAILED: %s is mapped" % what)


seen = []
mapping = coremap.map(weights, progress=lambda phase, fraction: seen.append((phase, fraction)), **options)
coo = weights.tocoo()
np.savez("network.npz", row=coo.row.astype(np.int64), col=coo.col.astype(np.int64), data=coo.data, shape=np.array([500, 500]),
         format=np.array(b"coo"))
mapping.save("python.map")
np.savetxt("python.part", mapping.part, fmt="%d")
for name, other in (("pairs", (coo.row, coo.col, coo.data)), ("a path", "network.npz"), ("an array", weights.toarray()),
                    ("csc", weights.tocsc())):
    check(np.array_equal(coremap.map(other, **options).part, mapping.part), "%s is mapped as csr" % name)
check(len(mapping.part) == 500 and mapping.part.dtype == np.uint32 and mapping.part.max() + 1 == len(mapping.xy), "a part for each neuron")
check(np.array_equal(mapping.core_of[7], mapping.xy[mapping.part[7]]) and mapping.xy.max() < 16, "x and y")
check(len({tuple(at) for at in mapping.xy}) == len(mapping.xy), "no core twice")
check(np.bincount(mapping.part).max() <= 32, "the limit is kept")
check(not mapping.part.flags.owndata and not mapping.part.flags.writeable, "views, not copies")
check({phase for phase, _ in seen} >= {"read"} and all(0 <= fraction <= 1 for _, fraction in seen), "progress: %s" % seen[:3])
bar = io.StringIO()
with contextlib.redirect_stderr(bar):
    coremap.map(weights, progress=True, **options)
check(bar.getvalue().startswith("\r") and bar.getvalue().endswith("\n") and "|" in bar.getvalue(), "a bar: %r" % bar.getvalue()[-80:])
part, copy = mapping.part, mapping.part.copy()
check(mapping.certificate()["bounds"], "a certificate")
check(mapping._repr_html_().startswith("<svg"), "a picture in a notebook")
mapping.to_sanafe("net.yaml")
check("mappings:" in open("net.yaml").read(), "SANA-FE")
mapping.draw("map.png", layer="links")
check(open("map.png", "rb").read(4) == b"\x89PNG", "a PNG")

# Models and parameters as arrays; they change no mapping, and a file keeps them.
run = coremap.read(weights)
check(run.models is None and run.parameters == {}, "a matrix knows no models")
run.set_parameters("LIF", tau=np.linspace(0.01, 0.02, 500), v_threshold=1)
run.set_parameters(v_threshold=np.where(np.arange(500) == 7, 3, np.nan))
run.save("run.zip")
for held in (run, coremap.read("run.zip")):
    check(set(held.models) == {"LIF"} and np.array_equal(held.parameters["tau"], np.linspace(0.01, 0.02, 500).astype("f4")), "parameters stay")
    check(held.parameters["v_threshold"][6:9].tolist() == [1, 3, 1] and not held.parameters["bias"].any(), "what is not given stays")
    check(np.array_equal(coremap.map(held, **options).part, mapping.part), "and is mapped as without")
try:
    run.set_parameters(tau=0)
    sys.exit("FAILED: a time constant of 0")
except coremap.CoremapError as error:
    check("'0' (LIF) has tau 0" in str(error), "a time constant of 0: %s" % error)

# Sizes, rates, nets and cores as arrays; here and on a server.
ring = (np.arange(60), np.roll(np.arange(60), -1))
sizes = 1 + np.arange(60) % 2
state = np.zeros((8, 16), dtype=np.uint8)
state[:4], state[5, 8] = 1, 2
for where in (None, server):
    sized = coremap.map(ring, sizes=sizes, rates=np.full(60, 4.0), occupancy=state, preset="fast", max_part_size=6, server=where)
    check(np.bincount(sized.part, weights=sizes).max() <= 6, "sizes count")
    check(sized.metrics["cut_net"] == 4 * np.count_nonzero(sized.part != np.roll(sized.part, -1)), "rates count: %s" % sized.metrics["cut_net"])
    check(all(state[y, x] == 0 for x, y in sized.xy), "only free cores are used")
    hyper = coremap.map(coremap.Nets([[0, 1, 2], [3, 2], [4, 0, 1, 3]], rates=[5, 1, 2]), preset="fast", max_part_size=2, server=where)
    nets = [({hyper.part[v] for v in net}, rate) for net, rate in (((0, 1, 2), 5), ((3, 2), 1), ((4, 0, 1, 3), 2))]
    check(hyper.metrics["connectivity"] == sum((len(parts) - 1) * rate for parts, rate in nets), "nets: %s" % hyper.metrics["connectivity"])
refused(ValueError, "sizes of others", ring, sizes=[1, 2])
refused(ValueError, "a state that is none", ring, occupancy=np.full((8, 16), 7))
check(refused(coremap.CoremapError, "a rate below 0", ring, rates=np.full(60, -1.0)).where == "neuron 0", "a rate below 0")

# Errors have a code and a place; nothing is left behind.
error = refused(coremap.CoremapError, "an unknown chip", weights, chip="nowhere")
check(error.code == "not-found" and "nowhere" in str(error), "an unknown chip: %s" % error)
error = refused(coremap.CoremapError, "an unknown option", weights, presett="best")
check((error.code, error.where) == ("bad-option", "/options/presett"), "an unknown option: %s" % error.where)
open("text", "w").write("%PDF-1.4\n")
check(refused(coremap.CoremapError, "a PDF", "text").code == "bad-network", "a PDF")
refused(ValueError, "a matrix that is not square", scipy.sparse.random(3, 4, 0.5))
refused(ValueError, "a neuron that is not there", ([0], [5]), neurons=3)
refused(ValueError, "half a neuron", ([0.5], [1]))
refused(TypeError, "a number", 7)
check(coremap.map(weights, chip="loihi1", preset="fast", max_part_size=np.int32(32), seed=np.int64(3)).part.tolist() == mapping.part.tolist(), "options that numpy made")
for name, value, words in (("seed", float("nan"), "seed: not a finite number"), ("seed", object(), "seed: values are"), ("sizes", [1.5] * 500, "sizes are whole"),
                           ("sizes", [-1] * 500, "sizes are whole"), ("rates", "often", "rates are numbers"), ("neurons", "x", "neurons is a whole"), ("progress", 3, "progress is True")):
    error = refused((TypeError, ValueError), "%s %r" % (name, value), weights, **{name: value})
    check(str(error).startswith(words), error)
refused(ValueError, "lists of a matrix or of pairs", [[0, 1, 2], [3, 0, 4], [5, 6, 0]])
refused(ValueError, "ids that lost digits", ([7.205759406e17], [1.0]))
check(len(coremap.map(([0.0, 1.0], [1.0, 2.0])).part) == 3, "whole numbers as floats")
root = 720575940600000000
check(len(coremap.map((np.array([root, root + 1]), np.array([root + 1, root + 9]))).part) == 3, "ids of a connectome are names")
both = coremap.map(([0, 1, 2], [1, 0, 1], [2, 2, 3]), directed="no")
check(both.summary["network"]["directed"] is False and both.summary["network"]["synapses"] == 2, "a graph by its user's word")
check(coremap.map(([0, 1, 2], [1, 0, 1], [2, 2, 3]), directed="no", server=server).summary == both.summary, "on a server too")
check(refused(KeyboardInterrupt, "an interrupted run", weights, progress=lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()), **options), "an interrupt")

# The interpreter's lock is free while it maps.
turns, stop = [0], threading.Event()


def turn():
    while not stop.wait(0.001):
        turns[0] += 1


thread = threading.Thread(target=turn)
thread.start()
coremap.map(weights, chip="loihi1", max_part_size=16)
stop.set()
thread.join()
check(turns[0] >= 5, "others run beside it: %d turns" % turns[0])

# A server makes the same.
remote = coremap.map(weights, server=server, **options)
check(np.array_equal(remote.part, mapping.part) and np.array_equal(remote.xy, mapping.xy), "a server maps alike")
check(remote.metrics == mapping.metrics and remote.certificate()["bounds"], "and says the same")
check(remote._repr_html_() == mapping._repr_html_(), "and draws the same")
json.dump({"name": "ours", "cores": [6, 6], "limits": {"neurons": 32}}, open("ours.json", "w"))
json.dump({"occupy": [[0, 0, 2, 3]], "broken": [[5, 5]], "owner": "others"}, open("taken.json", "w"))
there, here = (coremap.map(weights, chip="./ours.json", occupancy="taken.json", preset="fast", server=where) for where in (server, None))
check(np.array_equal(there.xy, here.xy) and np.array_equal(there.part, here.part), "a chip file and its occupancy, here and there")
check(not any(x < 3 and y < 4 for x, y in there.xy) and there.summary["chip"]["name"].startswith("ours-"), "no taken core is used")
again = coremap.map(weights, chip="./ours.json", occupancy="taken.json", preset="fast", server=server)
check(again.summary == there.summary, "the same chip is made once")
check(refused(coremap.CoremapError, "no occupancy", weights, chip="loihi1", occupancy="text", server=server).code == "bad-occupancy", "no occupancy")

# Sweeps: the points as single mappings have them, the best first; on a server the same.
axes = {"seed": "1..3", "preset": ["fast", "reference"]}
alone = {(seed, preset): coremap.map(weights, preset=preset, seed=seed, max_part_size=32).metrics["connectivity"] for seed in (1, 2, 3) for preset in axes["preset"]}
for where in (None, server):
    points = coremap.sweep(weights, "loihi1", axes, by="connectivity", keep="best", max_part_size=32, server=where,
                           labels={"study": "python"} if where else None)
    costs = [point.metrics["connectivity"] for point in points]
    check(costs == sorted(alone.values()) and points[0].mapping.metrics["connectivity"] == costs[0], "the best of six, first, and open")
    check(all(round(alone[point.options["seed"], point.options["preset"]], 9) == round(point.metrics["connectivity"], 9) for point in points), "each as alone")
    check(all(point.mapping is None for point in points[1:]), "and the only one kept")
rows = coremap._server._Server(server, None).json("GET", "/v1/jobs?kind=map&label=study=python")["jobs"]
check(len(rows) == 6 and all(row["labels"] == {"study": "python"} for row in rows), "its jobs have the labels of a sweep")
one = coremap.sweep(weights, ["loihi1", "loihi64"], {"max_part_size": [1, 32]}, preset="fast")
check([point.chip for point in one if point.error] == ["loihi1"] and "cores are needed" in str(one[-1].error), "a point that fails says why")
held = coremap.sweep(weights, "loihi1", {"seed": "1..6"}, by="connectivity", keep="pareto", preset="fast", max_part_size=32, threads=2)
check([point.mapping is not None for point in held] == [True] + [False] * 5, "of one metric a front is the best alone")
for wrong in (dict(axes={"seed": []}), dict(axes={"seed": "3..1"}), dict(by="speed"), dict(keep="some"), dict(axes={"sed": [1]})):
    try:
        coremap.sweep(weights, "loihi1", **wrong)
    except (ValueError, coremap.CoremapError):
        check(True, "refused")
    else:
        sys.exit("FAILED: %s is swept" % wrong)

# Kept mappings, jobs that are not waited for, lists, models; what is complex is refused.
kept = coremap.load("python.map", weights)
check(np.array_equal(kept.part, mapping.part) and np.array_equal(kept.xy, mapping.xy) and kept.simulate(steps=1) == mapping.simulate(steps=1), "a kept mapping")
check(kept.metrics.keys() >= {"energy_pj", "connectivity"} and abs(kept.metrics["energy_pj"] / mapping.metrics["energy_pj"] - 1) < 1e-12, "and its metrics")
job = coremap.submit(weights, server=server, name="later", labels={"study": "later"}, **options)
check(job.kind == "map" and job.state in ("queued", "running", "done") and job.name == "later", "a job: %r" % job)
made = job.result()
check(np.array_equal(made.part, mapping.part) and job.state == "done" and job.progress == 1 and isinstance(job.history(), list), "and what it made")
check(np.array_equal(coremap.load(job.id, server=server).part, mapping.part) and np.array_equal(coremap.load(job.about["mapping"], server=server).xy, mapping.xy), "by either id")
check([one.id for one in coremap.jobs(server, limit=1)] == [job.id] and len(coremap.jobs(server)) > 3 and not coremap.jobs(server, state="failed", limit=1), "a list of jobs")
check(any(row["id"] == job.about["mapping"] for row in coremap.mappings(server)), "a list of mappings")
check(np.array_equal(coremap.map(job.about["network"], server=server, **options).part, mapping.part), "a network of the server, by its id")
labelled = coremap.map(weights, server=server, labels={"study": "now"}, **options)
check(job.about["labels"] == {"study": "later"} and [one.about["labels"] for one in coremap.jobs(server, label="study=now")] == [{"study": "now"}], "labels of jobs")
check(refused(ValueError, "labels without a server", weights, labels={"a": "b"}) and labelled.part.size == mapping.part.size, "labels are a server's")
asked = [coremap.fit(weights, "loihi1", server=where)[0] for where in (server, None)]
check(all(asked[0][name] == asked[1][name] for name in ("chip", "fits", "cores_found")) and asked[0]["choices"]["knee"] == asked[1]["choices"]["knee"],
      "what fits on a server: %r" % asked)
check(coremap.fit(weights, "loihi1", occupancy=np.ones((8, 16), int))[0]["free"] == 0, "nothing is free")
for wrong in (lambda: coremap.load("python.map"), lambda: coremap.load("../x", server=server)):
    try:
        wrong()
    except ValueError:
        check(True, "refused")
    else:
        sys.exit("FAILED: a mapping without its network, or a path, is loaded")
for complex_one in (weights * 1j, weights.toarray() * 1j, ([0], [1], [1j])):
    check("complex" in str(refused(ValueError, "complex weights", complex_one)), "complex weights say so")
model = os.path.join(os.environ["CM_TEST_DATA"], "onnx", "shuffle.onnx")
compiled = {where: coremap.compile(model, "npu-manycore", scores=8, server=where) for where in (None, server)}
for where, program in compiled.items():
    program.save("%s.program" % ("here" if where is None else "there"))
check(open("here.program", "rb").read() == open("there.program", "rb").read(), "a model is compiled to the same bytes, here and there")
check(len({"%.12g" % program.report["program"]["time"]["total_ns"] for program in compiled.values()}) == 1, "and reported alike")
image = np.random.default_rng(3).uniform(-1, 1, (2, 1, 16, 16, 6)).astype(np.float32)
quantized = [coremap.quantize(model, "quantized%d.onnx" % i, data=data) for i, data in enumerate((image, {"v": image}))]
check(open("quantized0.onnx", "rb").read() == open("quantized1.onnx", "rb").read() and quantized[0]["samples"] == 2, "samples as an array, and by the input's name")
check(coremap.quantize(model, "sent.onnx", data=image, server=server) == quantized[0] and open("sent.onnx", "rb").read() == open("quantized0.onnx", "rb").read(),
      "samples that a server is sent make the same model")
check(coremap.quantize(model, "there.onnx", server=server, samples=2) == coremap.quantize(model, "here.onnx", samples=2) and
      open("here.onnx", "rb").read() == open("there.onnx", "rb").read(), "a model is quantized to the same bytes, here and there")
try:
    coremap.compile(model, "loihi1")
    sys.exit("FAILED: a chip without a machine runs programs")
except coremap.CoremapError as error:
    check(error.code == "bad-chip", "a chip that runs none: %s" % error.code)

# Simulated, by rates and by given spikes; more of these than a request holds go to a server as an upload.
steps = mapping.simulate(steps=2)["steps"]
check(steps["count"] == 2 and steps["packets"] == 2 * sum(len(set(mapping.part[coo.col[coo.row == n]])) for n in range(500)), "steps: %s" % steps)
spikes = np.stack([np.arange(300000) // 500 % 10, np.arange(300000) % 500], axis=1)
few = spikes[:1000]
np.save("spikes.npy", few)
np.savetxt("spikes.csv", few, fmt="%d", delimiter=",")
given = mapping.simulate(few)
check(given["steps"] == mapping.simulate("spikes.npy")["steps"] == mapping.simulate("spikes.csv")["steps"], "an array, its file, lines")
check(given["steps"]["count"] == 2 and given["steps"]["packets"] == steps["packets"], "each neuron once a step: %s" % given["steps"])
check(remote.simulate(few) == given and remote.simulate(steps=2)["steps"] == steps, "a server simulates alike")
check(remote.simulate(spikes, steps=1) == mapping.simulate(spikes, steps=1), "300 000 spikes on a server")
there = {"links": lambda m: m.links(limit=3, axons=2), "flows": lambda m: m.flows(core=tuple(m.xy[0])), "tree": lambda m: m.tree(3), "find": lambda m: m.find(7),
         "matrix": lambda m: m.matrix().tolist()}
for question, answer in there.items():
    check(answer(mapping) == answer(remote), "%s here and on a server" % question)
pairs = {(coo.row[i], mapping.part[coo.col[i]]) for i in range(coo.nnz)}
sums = np.zeros((len(mapping.xy),) * 2)
np.add.at(sums, tuple(zip(*((mapping.part[source], target) for source, target in pairs))), 1)
check(np.array_equal(mapping.matrix(), sums), "a packet an axon and core")
one = mapping.find(7)[0]
check(one["part"] == mapping.part[7] and one["fan_out"] == int(np.sum(coo.row == 7)) and one["fan_in"] == int(np.sum(coo.col == 7)), "a neuron")
for source in (mapping, remote):
    try:
        source.simulate([[0, 500]])
        sys.exit("FAILED: a neuron that is not there fires")
    except coremap.CoremapError as error:
        check(error.code == "bad-option" and "row 0" in str(error) and "500 neurons" in str(error), "a neuron that is not there: %s" % error)
    try:
        source.simulate(np.zeros((2, 3), int))
        sys.exit("FAILED: three columns")
    except ValueError:
        pass

# What libraries read is read in a child: a file that crashes it would cost a line.
import h5py
with h5py.File("net.h5", "w") as h:
    group = h.create_group("edges/a_to_a")
    for name in ("source_node_id", "target_node_id"):
        group[name] = np.arange(6) if name[0] == "s" else np.roll(np.arange(6), 1)
        group[name].attrs["node_population"] = "a"
    group["edge_group_id"], group["edge_group_index"] = np.zeros(6, int), np.arange(6)
    group.create_group("0")
mapped = coremap.map("net.h5", chip="loihi1")
check(len(mapped.part) == 6 and mapped.summary["populations"]["list"][0]["name"] == "a", "SONATA")
whole = open("net.h5", "rb").read()
open("cut.h5", "wb").write(whole[:len(whole) // 2])
check(refused(coremap.CoremapError, "half a file", "cut.h5").code == "bad-network", "half a file")

error = refused(coremap.CoremapError, "an unknown chip there", weights, chip="nowhere", server=server)
check(error.code == "not-found", "an unknown chip there: %s" % error.code)
check(refused(coremap.CoremapError, "no server", weights, server="http://127.0.0.1:1").code == "io", "no server")
check(refused(coremap.CoremapError, "a token in the clear", weights, server="http://192.0.2.1", token="x").code == "conflict", "a token in the clear")

del mapping
gc.collect()
check(np.array_equal(part, copy), "arrays outlive their mapping")

if os.path.exists("program"):
    needs = coremap.emit("program", "code", target="host", lanes=1)
    check(needs["lanes"] == 1 and needs["weight_bytes"] > 0 and os.path.exists("code/model.c"), "a program is emitted as C")
    check(coremap.emit(compiled[None], "whole")["weight_bytes"] > 0, "what compile returned is emitted")
    try:
        coremap.emit("program", "code", target="toaster")
        sys.exit("FAILED: C for a toaster")
    except coremap.CoremapError as error:
        check(error.code == "bad-option" and "cortex-m" in str(error), "a target that is none")

cells = json.load(open(notebook))["cells"]
space = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), space)
check(os.path.exists("map.svg") and os.path.exists("network.yaml"), "the notebook runs")

try:
    import brian2
except ImportError:
    print("Brian 2 is not installed (python3-brian): its networks are not tried")
else:
    brian2.prefs.codegen.target = "numpy"
    group = brian2.NeuronGroup(60, "v : 1", threshold="v > 1")
    synapses = brian2.Synapses(group, group)
    synapses.connect(p=0.2)
    mapped = coremap.map(synapses, chip="loihi1", max_part_size=16)
    check(len(mapped.part) == 60, "Brian 2")
    pieces = brian2.Synapses(group[:20], group[20:])
    pieces.connect(p=0.2)
    check(len(coremap.map(pieces, chip="loihi1", max_part_size=16).part) == 60, "pieces of a group are one population")
    inputs = brian2.PoissonGroup(10, 5 * brian2.Hz)
    outer = brian2.Synapses(inputs, group)
    outer.connect(p=0.2)
    check(len(coremap.map(outer, chip="loihi1", max_part_size=16).part) == 70, "two groups stand one after the other")
print("100%%: Checks: %d, Failures: 0, Errors: 0" % checks)
