"""Clients that use a server as a lab does, and write into the ledger what they asked and what they were told."""
import hashlib
import json
import os
import random
import threading

from daemon import ROOT, Gone

SHARED_CHIP = "shared"      # where all clients take leases
MODELS = [os.path.join(ROOT, "tests", "data", "onnx", "shuffle.onnx")]
PASSING = ("no-memory", "disk-full", "disk-low", "io", "not-writable", "busy", "too-many", "draining")
PRESETS = ["fast"] * 5 + ["reference"] * 4 + ["balanced"]  # what takes milliseconds, and now and then longer


def chip_file(name, description, side=8):
    return {"name": name, "description": description, "cores": [side, side], "limits": {"neurons": 64}}


def cells_of(rectangles):
    """[[x, y] or [x0, y0, x1, y1], ..] -> {(x, y), ..}"""
    cells = set()
    for r in rectangles:
        x1, y1 = (r[2], r[3]) if len(r) == 4 else (r[0], r[1])
        cells |= {(x, y) for x in range(r[0], x1 + 1) for y in range(r[1], y1 + 1)}
    return cells


def state_of(occupancy):
    """What an occupancy says, comparable: {owner: cells}, broken cells."""
    return ({group["owner"]: frozenset(cells_of(group["cores"])) for group in occupancy["taken"]},
            frozenset(cells_of(occupancy["broken"])))


class Unexpected(Exception):
    """An answer that no request of ours deserves."""


class ClientThread(threading.Thread):
    """Asks until it is told to stop or the server goes away."""

    def __init__(self, name, server, ledger, seed, round_number, pause=0.0, doubtful=False):
        """`doubtful`: the machine is failing, so that a 5xx or a lost connection may come after what was asked was done."""
        super().__init__(name=name, daemon=True)
        self.server, self.doubtful = server, doubtful
        self.http = server.client()
        self.ledger, self.pause = ledger, pause
        self.random = random.Random(f"{seed} {name} {round_number}")
        self.prefix = f"{name}-{round_number}"
        self.stopping = threading.Event()
        self.counter = 0
        self.fault = None
        self.done = {}

    # ---- the loop ----

    def run(self):
        actions = [(self.upload, 3), (self.model, 1), (self.delete_network, 2), (self.begin_upload, 2),
                   (self.append, 5), (self.drop_upload, 1), (self.put_chip, 2), (self.delete_chip, 1),
                   (self.occupy, 4), (self.lease, 4), (self.keep, 2), (self.release, 3), (self.submit, 6),
                   (self.watch, 6), (self.cancel, 1), (self.delete_job, 2), (self.read, 3), (self.delete_result, 1), (self.set_quota, 2)]
        calls = [call for call, weight in actions for _ in range(weight)]
        try:
            while not self.stopping.is_set():
                call = self.random.choice(calls)
                try:
                    if call() is not False:
                        self.done[call.__name__] = self.done.get(call.__name__, 0) + 1
                except Gone:
                    if not self.doubtful or not self.server.alive():
                        raise
                    self.done["in doubt"] = self.done.get("in doubt", 0) + 1
                if self.pause:
                    self.stopping.wait(self.random.uniform(0, 2 * self.pause))
        except Gone:
            pass
        except Exception as error:
            self.fault = f"{self.name}: {type(error).__name__}: {error}"
        finally:
            self.http.close()

    def fresh(self):
        self.counter += 1
        return f"{self.prefix}-{self.counter}"

    def ask(self, method, path, body=None, headers=None, refused=(), begun=()):
        """One request. A refusal with a status in `refused`, or for want of room, is taken back from the ledger
        and gives None; any other failure is a fault of the server."""
        reply = self.http.ask(method, path, body, headers)
        if reply.status < 300:
            return reply
        if self.doubtful and reply.status >= 500 and reply.json["code"] in PASSING:
            raise Gone(str(reply))
        if reply.status in refused or reply.status in (503, 507):
            self.ledger.refuse(*begun)
            return None
        raise Unexpected(f"{method} {path}: {reply}")

    def mine(self, kind):
        return self.ledger.mine(self.name, kind)

    def pick(self, kind, most=None, least=1):
        """One of my things of this kind, or None; None also when I have `most` or fewer than `least`."""
        held = self.mine(kind)
        if most is not None and len(held) >= most or len(held) < least:
            return None
        return self.random.choice(sorted(held.items(), key=str))

    # ---- what groups may have ----

    def set_quota(self):
        group, most = f"of-{self.name}".lower(), self.random.randint(1, 10**6)
        begun = self.ledger.begin(self.name, ("quota", group), most)
        if not self.ask("PUT", f"/v1/quotas/groups/{group}", json.dumps({"networks": most}).encode(), begun=[begun]):
            return False
        self.ledger.acknowledge(begun)

    # ---- networks ----

    def random_network(self):
        names = [f"{self.fresh()}.{i}" for i in range(self.random.randint(3, 24))]
        edges = {}
        for i, name in enumerate(names):
            edges[name, names[(i + 1) % len(names)]] = self.random.randint(1, 900)
            for other in self.random.sample(names, 2):
                if other != name:
                    edges[name, other] = self.random.randint(1, 900)
        text = "".join(f"{a},{b},{w}\n" for (a, b), w in edges.items())
        return text.encode(), {pair: float(w) for pair, w in edges.items()}

    def begin_network(self, body, known):
        key = ("network", hashlib.sha256(body).hexdigest())
        begun = self.ledger.begin(self.name, key, True)
        self.ledger.known[key] = known
        return begun

    def upload(self):
        if len(self.mine("network")) >= 6:
            return False
        body, known = self.random_network()
        begun = self.begin_network(body, known)
        reply = self.ask("POST", "/v1/networks", body, begun=[begun])
        if reply is not None:
            if reply.json["id"] != begun[0][1]:
                raise Unexpected(f"the id of an upload is not its SHA-256: {reply}")
            self.ledger.acknowledge(begun)

    def model(self):
        if any(isinstance(self.ledger.known.get(key), bytes) for key in self.mine("network")):
            return False
        with open(self.random.choice(MODELS), "rb") as file:
            body = file.read()
        name = self.fresh().encode()  # as producer_name, so that every upload has an id of its own
        body += b"\x12" + bytes([len(name)]) + name
        begun = self.begin_network(body, body)
        if self.ask("POST", "/v1/networks", body, begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    def delete_network(self):
        found = self.pick("network", least=4)
        if found is None:
            return False
        begun = self.ledger.begin(self.name, found[0], None)
        if self.ask("DELETE", f"/v1/networks/{found[0][1]}", refused=[409], begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    # ---- uploads in pieces ----

    def begin_upload(self):
        if len(self.mine("upload")) >= 2:
            return False
        body, known = self.random_network()
        reply = self.ask("POST", "/v1/uploads", {"name": self.fresh(), "size": len(body)})
        if reply is not None:
            key = ("upload", reply.json["id"])
            self.ledger.known[key] = body, known
            self.ledger.note(self.name, key, (0,))

    def append(self):
        found = self.pick("upload")
        if found is None:
            return False
        key, (offset,) = found
        body, known = self.ledger.known[key]
        end = min(len(body), offset + self.random.randint(1, 200))
        whole = end == len(body)
        begun = [self.ledger.begin(self.name, key, None if whole else (end,))]
        if whole:
            begun.append(self.begin_network(body, known))
        reply = self.ask("PATCH", f"/v1/uploads/{key[1]}", body[offset:end], {"Upload-Offset": str(offset)}, begun=begun)
        if reply is not None:
            if (reply.status != 204) != whole or (whole and reply.json["id"] != begun[1][0][1]):
                raise Unexpected(f"PATCH of an upload: {reply}")
            self.ledger.acknowledge(*begun)

    def drop_upload(self):
        found = self.pick("upload", least=2)
        if found is None:
            return False
        begun = self.ledger.begin(self.name, found[0], None)
        if self.ask("DELETE", f"/v1/uploads/{found[0][1]}", begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    # ---- chips and their occupancy ----

    def put_chip(self):
        held = self.mine("chip")
        name = self.random.choice(sorted(key[1] for key in held)) if len(held) >= 2 else self.fresh()
        key, description = ("chip", name), self.fresh()
        if len(self.ledger.allowed(key)) > 1 or ("occupancy", name) in self.ledger.facts:
            return False
        begun = self.ledger.begin(self.name, key, description)
        if self.ask("PUT", f"/v1/chips/{name}", chip_file(name, description), begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    def delete_chip(self):
        found = self.pick("chip", least=2)
        if found is None or ("occupancy", found[0][1]) in self.ledger.facts:
            return False
        begun = self.ledger.begin(self.name, found[0], None)
        if self.ask("DELETE", f"/v1/chips/{found[0][1]}", refused=[409], begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    def occupy(self):
        found = self.pick("chip")
        if found is None:
            return False
        name = found[0][1]
        key = ("occupancy", name)
        if len(self.ledger.allowed(key)) > 1:
            return False
        reply = self.ask("GET", f"/v1/chips/{name}/occupancy")
        if reply is None:
            return False
        taken, broken = state_of(reply.json)
        side = reply.json["width"]
        cell = (self.random.randrange(side), self.random.randrange(side))
        mine = set(taken.get("me", ()))
        if cell in mine:
            change, after = {"release": [list(cell)]}, (frozenset(mine - {cell}), broken)
        elif cell in broken:
            change, after = {"repaired": [list(cell)]}, (frozenset(mine), broken - {cell})
        elif self.random.random() < 0.2:
            change, after = {"broken": [list(cell)]}, (frozenset(mine), broken | {cell})
        else:
            change, after = {"occupy": [list(cell)], "owner": "me"}, (frozenset(mine | {cell}), broken)
        begun = self.ledger.begin(self.name, key, after)
        if self.ask("PATCH", f"/v1/chips/{name}/occupancy", change, {"If-Match": reply.headers["ETag"]},
                    begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    # ---- leases ----

    def lease(self):
        if len(self.mine("lease")) >= 4:
            return False
        owner = self.fresh()
        begun = self.ledger.begin(self.name, ("lease", owner), ("?", frozenset()))
        reply = self.ask("POST", f"/v1/chips/{SHARED_CHIP}/reservations",
                         {"count": self.random.randint(1, 5), "owner": owner, "ttl": 86400}, refused=[409], begun=[begun])
        if reply is not None:
            self.ledger.acknowledge(begun, value=(reply.json["id"], frozenset(cells_of(reply.json["cores"]))))

    def keep(self):
        found = self.pick("lease")
        if found is None:
            return False
        self.ask("PUT", f"/v1/chips/{SHARED_CHIP}/reservations/{found[1][0]}", {"ttl": 86400})

    def release(self):
        found = self.pick("lease", least=2)
        if found is None:
            return False
        begun = self.ledger.begin(self.name, found[0], None)
        if self.ask("DELETE", f"/v1/chips/{SHARED_CHIP}/reservations/{found[1][0]}", begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    # ---- jobs ----

    def submit(self):
        ended = {key[1] for key in self.mine("outcome")}
        if len([key for key in self.mine("job") if key[1] not in ended]) >= 3:
            return False
        if len(ended) >= 10:
            return self.delete_job()
        if len(self.mine("map")) + len(self.mine("compile")) >= 8:
            return self.delete_result()
        found = self.pick("network")
        if found is None:
            return False
        name, network = self.fresh(), found[0][1]
        body = {"network": network, "name": name}
        if isinstance(self.ledger.known.get(found[0]), bytes):
            body["kind"] = "compile"
            body["options"] = {"seed": self.random.randint(1, 4)}
            if self.random.random() < 0.5:
                body["chip"] = "npu-embedded"
        else:
            body["chip"] = SHARED_CHIP
            body["options"] = {"seed": self.random.randint(1, 99), "max_part_size": self.random.randint(2, 8),
                               "preset": self.random.choice(PRESETS)}
            body["reserve"] = self.random.random() < 0.2
        begun = self.ledger.begin(self.name, ("job", name), "?")
        reply = self.ask("POST", "/v1/jobs", body, {"Idempotency-Key": name}, refused=[404], begun=[begun])
        if reply is not None:
            self.ledger.acknowledge(begun, value=reply.json["id"])

    def watch(self):
        ended = {key[1] for key in self.mine("outcome")}
        waiting = [(key, value) for key, value in self.mine("job").items() if key[1] not in ended]
        if not waiting:
            return False
        key, job = self.random.choice(sorted(waiting))
        reply = self.ask("GET", f"/v1/jobs/{job}?wait=1s")
        if reply is not None and reply.json["state"] not in ("queued", "running"):
            self.see_outcome(key[1], reply.json)

    def see_outcome(self, name, job):
        result = job.get("mapping") or job.get("program") or ""
        if job["state"] == "failed" and job["problem"]["code"] not in ("no-room", "killed-server", "conflict"):
            raise Unexpected(f"a job failed: {json.dumps(job['problem'])}")
        self.ledger.note(self.name, ("outcome", name), (job["state"], result))
        if job.get("lease"):
            self.ledger.note(self.name, ("lease", f"job:{job['id']}"), (job["lease"], frozenset()))
        if result and not job.get("reused"):
            self.ledger.note(self.name, (job["kind"], result), "?")

    def cancel(self):
        ended = {key[1] for key in self.mine("outcome")}
        waiting = [(key, value) for key, value in self.mine("job").items() if key[1] not in ended]
        if not waiting:
            return False
        key, job = self.random.choice(sorted(waiting))
        begun = self.ledger.begin(self.name, ("cancel", key[1]), True)
        if self.ask("POST", f"/v1/jobs/{job}/cancel", b"", refused=[409], begun=[begun]) is not None:
            self.ledger.acknowledge(begun)

    def delete_job(self):
        found = self.pick("outcome", least=4)
        if found is None:
            return False
        name = found[0][1]
        job = self.mine("job").get(("job", name))
        if job is None:
            return False
        begun = [self.ledger.begin(self.name, ("job", name), None), self.ledger.begin(self.name, found[0], None)]
        if self.ask("DELETE", f"/v1/jobs/{job}", begun=begun) is not None:
            self.ledger.acknowledge(*begun)

    # ---- results ----

    def read(self):
        found = self.pick(self.random.choice(["map", "compile"]))
        if found is None:
            return False
        (kind, result), value = found
        path = f"/v1/mappings/{result}/content" if kind == "map" else f"/v1/programs/{result}/report"
        reply = self.ask("GET", path)
        if reply is not None and value == "?":
            self.ledger.note(self.name, found[0], hashlib.sha256(reply.body).hexdigest())

    def delete_result(self):
        kind = self.random.choice(["map", "compile"])
        found = self.pick(kind, least=3)
        if found is None:
            return False
        begun = self.ledger.begin(self.name, found[0], None)
        path = "mappings" if kind == "map" else "programs"
        if self.ask("DELETE", f"/v1/{path}/{found[0][1]}", begun=[begun]) is not None:
            self.ledger.acknowledge(begun)
