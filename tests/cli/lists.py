"""Lists against a brute-force judge: all rows as one page says them, filtered and sorted here."""
import json
import os
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.environ["CM_SOURCE"], "tests", "lib"))
from daemon import Daemon  # noqa: E402

DATA = os.environ["CM_TEST_DATA"]
checks = 0


def must(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAILED: {what}")


def ask(client, method, path, body=None, status=None, headers=None):
    reply = client.ask(method, path, body, headers)
    if status is not None:
        must(reply.status == status, f"{method} {path}: {reply.status}, not {status}: {reply.body[:400]}")
    return reply.json if reply.body else None


def page(client, kind, /, **arguments):
    return ask(client, "GET", f"/v1/{kind}?" + urllib.parse.urlencode(arguments), status=200)


def everything(client, kind, /, **arguments):
    """All pages of three rows, one after the other."""
    rows, cursor, seen = [], None, set()
    while True:
        one = page(client, kind, limit=3, total="true", **arguments, **({"cursor": cursor} if cursor else {}))
        rows += one[kind]
        must(one["total"] >= len(rows), f"{kind} {arguments}: total {one['total']} of {len(rows)}")
        cursor = one.get("next")
        if cursor is None:
            must(one["total"] == len(rows), f"{kind} {arguments}: total {one['total']}, rows {len(rows)}")
            return rows
        must(cursor not in seen, f"{kind} {arguments} goes round")
        seen.add(cursor)


def wait(client, **arguments):
    for _ in range(600):
        if not page(client, "jobs", state="queued", **arguments)["jobs"] and not page(client, "jobs", state="running", **arguments)["jobs"]:
            return
        time.sleep(0.1)
    sys.exit("FAILED: jobs do not end")


def in_range(row, name, text):
    low, _, high = text.partition("..") if ".." in text else (text, "", text)
    return name in row and (low == "" or row[name] >= float(low)) and (high == "" or row[name] <= float(high))


def labelled(row, text):
    return all((part.split("=", 1)[0] in row["labels"] and ("=" not in part or row["labels"][part.split("=", 1)[0]] == part.split("=", 1)[1]))
               for part in text.split(","))


JUDGES = {
    **{name: lambda row, text, name=name: row.get(name) == text for name in ("state", "chip", "network", "kind", "preset", "objective", "format", "user")},
    **{name: lambda row, text, name=name: text.lower() in row.get(name, "").lower() for name in ("name", "network_name")},
    **{name: lambda row, text, name=name: in_range(row, name, text)
       for name in ("seed", "cores_used", "step_ns", "step_gap", "energy_pj", "energy_step_pj", "bytes", "neurons", "synapses")},
    "label": labelled,
    "pinned": lambda row, text: row["pinned"] == (text == "true"),
}


def judge(client, kind, rows, /, **arguments):
    expected = [row for row in rows if all(JUDGES[name](row, text) for name, text in arguments.items())]
    got = everything(client, kind, **arguments)
    must([row["id"] for row in got] == [row["id"] for row in expected], f"{kind} {arguments}: {len(got)} rows, {len(expected)} expected")
    return len(expected)


def sorted_right(client, kind, rows, name):
    """The order is judged by values alone; of equal ones the newest comes first."""
    newest = {row["id"]: place for place, row in enumerate(rows)}
    for sign in ("", "-"):
        got = everything(client, kind, sort=sign + name)
        must(sorted(row["id"] for row in got) == sorted(newest), f"{kind} by {sign}{name} has all")
        having = [row for row in got if name in row]
        must(got[:len(having)] == having, f"{kind} by {sign}{name}: rows without it are last")
        for a, b in zip(having, having[1:]):
            right = a[name] < b[name] if sign == "" else a[name] > b[name]
            must(right or (a[name] == b[name] and newest[a["id"]] < newest[b["id"]]), f"{kind} by {sign}{name}: {a[name]} before {b[name]}")


def lists(client):
    worm = open(os.path.join(DATA, "celegans_herm_chem.edges.csv"), "rb").read()
    ring = b"1,2\n2,3\n3,4\n4,1\n"
    network = [ask(client, "POST", "/v1/networks?name=celegans&label=species=worm", worm, 201)["id"],
               ask(client, "POST", "/v1/networks?name=small%20ring", ring, 201)["id"]]
    batch = [{"network": network[i % 2], "chip": ("loihi1", "loihi64")[i % 3 == 0], "name": f"run {i}", "labels": {"paper": f"fig{i % 3}", "run": str(i)},
              "options": {"preset": ("fast", "balanced")[i % 4 == 0], "seed": i, "objective": ("edge", "energy")[i % 2], "max_part_size": 40}} for i in range(14)]
    made = ask(client, "POST", "/v1/jobs", batch, 202)["jobs"]
    must([job["name"] for job in made] == [f"run {i}" for i in range(14)], "a batch comes back in its order")
    wait(client)
    jobs, mappings, networks = (page(client, kind, limit=1000)[kind] for kind in ("jobs", "mappings", "networks"))
    must(len(jobs) == 14 and all(job["state"] == "done" for job in jobs), "all are done")
    must([job["id"] for job in jobs] == [job["id"] for job in reversed(made)], "newest first")
    by_job = {row["job"]: row for row in mappings}
    for job in jobs:
        i = int(job["name"].split()[1])
        must(job["labels"] == batch[i]["labels"] and job["seed"] == i and job["preset"] == batch[i]["options"]["preset"], f"job {i} says what it was asked")
        must(job["network_name"] == ("celegans", "small ring")[i % 2], f"job {i} has its network's name")
        report = ask(client, "GET", f"/v1/jobs/{job['id']}", status=200)["report"]
        summary = ask(client, "GET", f"/v1/mappings/{job['mapping']}", status=200)
        row = by_job[job["id"]]
        for name in ("cores_used", "step_ns", "energy_pj", "energy_step_pj"):
            must(abs(row[name] - summary["metrics"][name]) <= 1e-9 * abs(row[name]) and row[name] == job[name], f"{name} of mapping {i}")
        must(abs(row["cores_gap"] - (row["cores_used"] / report["bound"]["parts"] - 1)) < 1e-9, f"gap of cores {i}")
        must(row["labels"] == job["labels"] and row["name"] == job["name"] and row["seed"] == i, f"mapping {i} is its job's")
    total = 0
    for arguments in ({"chip": "loihi64"}, {"network": network[0]}, {"name": "RUN 1"}, {"label": "paper=fig1"}, {"label": "paper"}, {"label": "paper=fig1,run=4"},
                      {"seed": "3..6"}, {"seed": "..2"}, {"seed": "9"}, {"step_ns": "1000.."}, {"preset": "fast", "objective": "energy"}, {"network_name": "elegan"},
                      {"cores_used": "2..", "chip": "loihi1", "label": "paper=fig2"}, {"chip": "none"}, {"name": "%"}):
        total += judge(client, "jobs", jobs, **arguments) + judge(client, "mappings", mappings, **arguments)
    must(total > 60, "conditions find something")
    judge(client, "jobs", jobs, state="done", kind="map")
    judge(client, "jobs", jobs, state="failed")
    judge(client, "mappings", mappings, bytes="1..5000")
    judge(client, "networks", networks, name="ring")
    judge(client, "networks", networks, label="species=worm")
    judge(client, "networks", networks, neurons="100..")
    for name in ("name", "chip", "seed", "step_ns", "step_gap", "energy_pj", "cores_used", "preset", "network_name"):
        sorted_right(client, "jobs", jobs, name)
        sorted_right(client, "mappings", mappings, name)
    for name in ("name", "neurons", "bytes", "format"):
        sorted_right(client, "networks", networks, name)
    must([row["id"] for row in everything(client, "jobs", sort="created")] == [row["id"] for row in reversed(jobs)], "oldest first")
    ids = [jobs[3]["id"], jobs[9]["id"]]
    must([row["id"] for row in everything(client, "jobs", ids=",".join(ids))] == ids, "by ids")
    now = int(time.time())
    must(len(everything(client, "jobs", since=now - 3600)) == 14 and not everything(client, "jobs", since=now + 3600), "since")
    must(len(everything(client, "mappings", until=now + 3600)) == 14 and not everything(client, "mappings", until=now - 3600), "until")
    return network, jobs, mappings


def refusals(client):
    for path, words in (("/v1/jobs?sort=speed", "must be one of network, sweep, state"), ("/v1/jobs?label=a%20b", "key=value or key"),
                        ("/v1/jobs?seed=x", "a number, or a range"), ("/v1/mappings?pinned=yes", "true or false"), ("/v1/jobs?speed=1", "here there are: sort"),
                        ("/v1/jobs?ids=", "ids between commas"), ("/v1/jobs?state=odd", "queued, running, done"), ("/v1/networks?total=1", "true or false")):
        reply = client.get(path)
        must(reply.status == 400 and words in reply.json["detail"], f"{path}: {reply}")
    one = page(client, "jobs", limit=1, sort="seed")
    reply = client.get(f"/v1/jobs?limit=1&cursor={one['next']}")
    must(reply.status == 400 and "in this order" in reply.json["detail"], f"a cursor of another order: {reply}")


def command(client, *words):
    """Exit status, and what the command says."""
    ran = subprocess.run([os.path.join(os.environ["CM_BUILD"], "coremap"), *words, "--server", f"http://127.0.0.1:{client.port}"], capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr


def labels_by_command(client, job, mapping):
    must(command(client, "label", job, "best=no", "by=hand") == (0, "best=no\nby=hand\nnote=a = b\n"), "a command labels a job, and keeps what it had")
    must(command(client, "label", job, "--remove", "by", "--remove", "note") == (0, "best=no\n"), "and takes labels away")
    must(ask(client, "GET", f"/v1/jobs/{job}/labels", status=200)["labels"] == {"best": "no"} and command(client, "label", job) == (0, "best=no\n"), "which the server has")
    must(command(client, "label", mapping, "best=yes") == (0, "best=yes\n"), "a mapping too")
    for words, said in ((("nosuch",), "there is no job, mapping, program or network nosuch"), ((job, "best"), "not of the form KEY=VALUE"), (("../x", "a=b"), "is no id"),
                        ((job, "a b=1"), "letters, digits")):
        status, text = command(client, "label", *words)
        must(status != 0 and said in text, f"{words}: {text}")


def fits(client, network):
    """The command and the route agree; the seconds are those of jobs that the server has run."""
    rows = ask(client, "POST", "/v1/fits", {"network": network, "chips": ["loihi1"]}, 200)["fits"]
    status, text = command(client, "fit", network, "--chip", "loihi1", "--quiet", "--json")
    must(status == 0 and json.loads(text) == rows, f"fit of a server: {text}")
    took = [job["finished"] - job["started"] for job in page(client, "jobs", chip="loihi1", limit=100)["jobs"] if isinstance(job.get("finished"), float)]
    must(rows[0]["seconds"] > 0 and (not took or rows[0]["seconds"] < 1000 * max(took)), "and how long a mapping takes")
    must(command(client, "fit", network, "--chip", "nosuch")[0] != 0, "no such chip")


def labels(client, jobs, mappings):
    job, mapping = jobs[0], mappings[0]
    ask(client, "PUT", f"/v1/jobs/{job['id']}/labels", {"labels": {"best": "yes", "note": "a = b"}}, 200)
    must(ask(client, "GET", f"/v1/jobs/{job['id']}", status=200)["labels"] == {"best": "yes", "note": "a = b"}, "labels of a job are set")
    must([row["id"] for row in page(client, "jobs", label="best=yes,note=a = b")["jobs"]] == [job["id"]], "and found")
    must(ask(client, "GET", f"/v1/mappings/{mapping['id']}/labels", status=200)["labels"] == mapping["labels"], "its mapping keeps its own")
    ask(client, "PUT", f"/v1/mappings/{mapping['id']}/labels", {"labels": {}}, 200)
    must(not page(client, "mappings", ids=mapping["id"])["mappings"][0]["labels"], "labels are taken away")
    labels_by_command(client, job["id"], mapping["id"])
    fits(client, job["network"])
    for bad in ({"labels": {"a b": "x"}}, {"labels": {"a": 1}}, {"labels": {"a": "x,y"}}, {"labels": {"a": "\n"}}, {"labels": []}, {}, {"label": {}},
                {"labels": {f"key{i}": "v" * 100 for i in range(20)}}):
        must(client.ask("PUT", f"/v1/jobs/{job['id']}/labels", bad).status == 400, f"{bad} is refused")
    again = ask(client, "POST", "/v1/jobs", {"network": jobs[3]["network"], "chip": jobs[3]["chip"], "labels": {"again": "1"},
                                             "options": ask(client, "GET", f"/v1/jobs/{jobs[3]['id']}")["options"]}, 202)
    wait(client)
    done = ask(client, "GET", f"/v1/jobs/{again['id']}", status=200)
    row = page(client, "mappings", ids=done["mapping"])["mappings"][0]
    must(done["reused"] and row["labels"] == {**jobs[3]["labels"], "again": "1"}, f"an equal job adds its labels: {row['labels']}")
    listed = page(client, "jobs", ids=again["id"])["jobs"][0]
    must(all(listed[name] == jobs[3][name] for name in ("step_ns", "step_gap", "cores_gap")), "and has the figures of its result")


def batches(client, network):
    job = {"network": network[1], "chip": "loihi1", "options": {"preset": "fast"}}
    before = page(client, "jobs", limit=1, total="true")["total"]
    reply = client.ask("POST", "/v1/jobs", [job, {**job, "chip": "nochip"}, job, {**job, "options": {"sed": 1}}, 7])
    must(reply.status == 400 or reply.status == 404, f"a batch with faults: {reply}")
    must([one["index"] for one in reply.json["refusals"]] == [1, 3, 4], f"each refusal with its index: {reply.body}")
    must(page(client, "jobs", limit=1, total="true")["total"] == before, "nothing of it was queued")
    key = {"Idempotency-Key": "a batch"}
    first = ask(client, "POST", "/v1/jobs", [{**job, "options": {"preset": "fast", "seed": i}} for i in range(3)], 202, key)["jobs"]
    again = ask(client, "POST", "/v1/jobs", [{**job, "options": {"preset": "fast", "seed": i}} for i in range(3)], 200, key)["jobs"]
    must([one["id"] for one in first] == [one["id"] for one in again], "the same key gives the same jobs")
    must(client.ask("POST", "/v1/jobs", [job], key).status == 422, "with another body it is refused")
    must(client.ask("POST", "/v1/jobs", []).status == 400, "an empty batch is refused")
    must(client.ask("POST", "/v1/jobs", [{"kind": "sweep", "network": network[1], "chip": "loihi1"}]).status == 400, "a sweep is none of a batch")
    wait(client)


def sweeps(client, network):
    sweep = ask(client, "POST", "/v1/jobs", {"kind": "sweep", "network": network[1], "chip": "loihi1", "name": "mine", "axes": {"seed": [1, 2]},
                                             "base": {"preset": "fast"}, "labels": {"study": "s1"}}, 202)
    wait(client)
    must([row["id"] for row in page(client, "sweeps", label="study=s1")["sweeps"]] == [sweep["id"]], "sweeps by label")
    points = page(client, "jobs", sweep=sweep["id"])["jobs"]
    must(len(points) == 2 and all(row["labels"] == {"study": "s1"} for row in points), "its jobs have its labels")
    must(len(page(client, "mappings", sweep=sweep["id"])["mappings"]) > 0, "mappings of a sweep")


def pareto(client, network):
    """Every point is a mapping: its figures are those of the table, it is legal to coremap check, and it can be moved."""
    job = ask(client, "POST", "/v1/jobs", {"network": network[0], "chip": "loihi1", "labels": {"set": "1"}, "options": {"objective": "pareto", "preset": "fast"}}, 202)
    wait(client)
    first = ask(client, "GET", f"/v1/jobs/{job['id']}", status=200)["mapping"]
    table = ask(client, "GET", f"/v1/mappings/{first}/pareto", status=200)
    rows = {row["id"]: row for row in page(client, "mappings", label="set=1")["mappings"]}
    must(len(table["points"]) > 2 and {point["mapping"] for point in table["points"]} == set(rows), "a mapping for each point")
    others = page(client, "mappings", pareto=first, sort="point")["mappings"]
    must([row["point"] for row in others] == [point["number"] for point in table["points"] if point["number"] != table["chosen"]], "found by their set")
    for point in table["points"]:
        row = rows[point["mapping"]]
        must(all(abs(row[name] - point[name]) <= 1e-9 * point[name] for name in ("step_ns", "energy_step_pj")), f"figures of point {point['number']}")
        whole = client.get(f"/v1/mappings/{row['id']}/content").body
        must(json.loads(whole) == json.loads(client.get(f"/v1/mappings/{first}/pareto/{point['number']}").body) or row["id"] == first, "its content")
        for view in ("", "/cores", "/links", "/certificate", "/export?to=traffic", "/picture?layer=neurons"):
            must(client.get(f"/v1/mappings/{row['id']}{view}").status == 200, f"view {view} of point {point['number']}")
    with open("point.json", "wb") as file:
        file.write(client.get(f"/v1/mappings/{others[0]['id']}/content").body)
    ran = subprocess.run([os.path.join(os.environ["CM_BUILD"], "coremap"), "check", os.path.join(DATA, "celegans_herm_chem.edges.csv"), "--chip", "loihi1",
                          "--mapping", "point.json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    must(ran.returncode == 0 and b"legal" in ran.stdout, "a point is legal")
    moved = ask(client, "POST", "/v1/jobs", {"kind": "simulate", "options": {"mapping": others[0]["id"]}}, 202)
    wait(client)
    must(ask(client, "GET", f"/v1/jobs/{moved['id']}", status=200)["state"] == "done", "a point is simulated")


def read_events(client, until="idle", after=None):
    """A whole stream: (status, [(id, kind, data)])."""
    reply = client.ask("GET", "/v1/events" + (f"?until={until}" if until else ""), headers={"Last-Event-ID": str(after)} if after else None)
    told = [dict(line.split(": ", 1) for line in part.split("\n") if ": " in line and not line.startswith(":")) for part in reply.body.decode().split("\n\n")]
    return reply.status, [(int(one["id"]), one["event"], json.loads(one["data"])) for one in told if "data" in one]


def events(server, network):
    client = server.client()
    status, first = read_events(client)
    must(status == 200 and [kind for _, kind, _ in first] == ["open"], f"a stream begins: {first}")
    start = first[0][0]
    must(read_events(client, after=start) == (204, []), "nothing came since, and nothing goes on")
    batch = [{"network": network[0], "chip": "loihi64", "options": {"seed": 900 + i, "max_part_size": 16}} for i in range(6)]
    made = [job["id"] for job in ask(client, "POST", "/v1/jobs", batch, 202)["jobs"]]
    status, told = read_events(client, after=start)
    must([one[0] for one in told] == sorted({one[0] for one in told}), "ids ascend")
    for job in made:
        states = [data["state"] for _, kind, data in told if kind == "state" and data["job"] == job]
        must(states == ["queued", "running", "done"], f"states of a job: {states}")
    must({data["job"] for _, _, data in told} == set(made), "events of these jobs alone")
    must(any(kind == "progress" and 0 <= data["fraction"] <= 1 for _, kind, data in told), "progress is told")
    middle = len(told) // 2
    must(read_events(client, after=told[middle][0])[1] == told[middle + 1:], "a stream goes on where it broke off")
    must(read_events(client, after=told[-1][0]) == (204, []), "all has been told")
    # What came while nobody listened, and before a restart, is told as the newest state of each job.
    more = [job["id"] for job in ask(client, "POST", "/v1/jobs", [{**batch[0], "options": {"seed": 950 + i, "preset": "fast"}} for i in range(3)], 202)["jobs"]]
    wait(client)
    server.kill()
    server.start()
    client = server.client()
    status, later = read_events(client, after=told[-1][0])
    must(status == 200 and [(kind, data["state"]) for _, kind, data in later] == [("state", "done")] * 3, f"told after a restart: {later}")
    must({data["job"] for _, _, data in later} == set(more) and all(one[0] > told[-1][0] for one in later), "in order")
    must(read_events(client, after=later[-1][0]) == (204, []), "once")
    must(client.get("/v1/events?until=ever").status == 400, "until is idle")


def owners(folder):
    """Labels of a thing of two are each one's own, and nobody counts what he does not see."""
    command = lambda *words: subprocess.run([os.path.join(os.environ["CM_BUILD"], "coremapd"), *words, "--data", folder], check=True, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    clients = {}
    tokens = {}
    for user in ("root", "ann", "bob", "eve"):
        command("user", "add", user, "--role", "admin" if user == "root" else "user")
        tokens[user] = command("token", "add", "--user", user)
    server = Daemon(folder).start()
    for user, token in tokens.items():
        clients[user] = server.client()
        clients[user].headers["Authorization"] = "Bearer " + token
    ring = b"1,2\n2,3\n3,1\n"
    network = ask(clients["ann"], "POST", "/v1/networks?name=ring&visibility=lab&label=by=ann", ring, 201)["id"]
    must(ask(clients["bob"], "POST", "/v1/networks?visibility=lab&label=by=bob", ring, 200)["id"] == network, "the same network")
    job = {"network": network, "chip": "loihi1", "options": {"preset": "fast"}, "visibility": "lab"}
    made = {}
    for user in ("ann", "bob"):
        ask(clients[user], "POST", "/v1/jobs", {**job, "labels": {"of": user}}, 202)
        wait(clients[user])
        made[user] = page(clients[user], "jobs", user=user)["jobs"][0]
    must(made["ann"]["mapping"] == made["bob"]["mapping"], "one mapping of both")
    for user, by in (("ann", "ann"), ("bob", "bob"), ("eve", "ann")):
        must(page(clients[user], "networks")["networks"][0]["labels"] == {"by": by}, f"{user} sees labels of a network by {by}")
        must(page(clients[user], "mappings")["mappings"][0]["labels"] == {"of": by}, f"{user} sees labels of a mapping of {by}")
        must(len(page(clients[user], "mappings", label=f"of={by}")["mappings"]) == 1, f"{user} finds it by them")
    must(not page(clients["eve"], "mappings", label="of=bob", total="true")["total"], "eve finds nothing by labels that she does not see")
    for other in ("ann", "eve"):
        must(clients[other].ask("PUT", f"/v1/jobs/{made['bob']['id']}/labels", {"labels": {"x": "y"}}).status == 403, f"{other} gives bob's job no labels")
    ask(clients["bob"], "POST", "/v1/jobs", [{**job, "visibility": "private", "options": {"preset": "fast", "seed": i}} for i in range(5, 8)], 202)
    wait(clients["bob"])
    for user, count in (("bob", 5), ("eve", 2), ("root", 5)):
        must(page(clients[user], "jobs", limit=1, total="true")["total"] == count, f"{user} counts {count} jobs")
        must(page(clients[user], "mappings", limit=1, total="true", sort="bytes")["total"] == count - 1, f"{user} counts {count - 1} mappings")
    must([data for _, kind, data in read_events(clients["eve"])[1] if kind != "open"] == [], "eve is told of nobody's jobs")
    must(server.stop() == 0, "the server ends in peace")


def main():
    folder = os.path.join(os.getcwd(), "data")
    server = Daemon(folder).start()
    client = server.client()
    network, jobs, mappings = lists(client)
    refusals(client)
    labels(client, jobs, mappings)
    batches(client, network)
    sweeps(client, network)
    pareto(client, network)
    events(server, network)
    must(server.stop() == 0, "the server ends in peace")
    owners(os.path.join(os.getcwd(), "lab"))
    print(f"{checks} checks")


main()
