"""Clients that use a server as a lab does, and write into the ledger what they asked and what they were told."""
import hashlib
import json
import os
import random
import threading

from daemon import ROOT, Gone
from ledger import Thing

SHARED_CHIP = "shared"      # where all clients take leases
MODELS = [os.path.join(ROOT, "tests", "data", "onnx", "shuffle.onnx")]
PASSING = ("no-memory", "disk-full", "disk-low", "io", "not-writable", "busy", "too-many", "draining")
PATHS = {"network": "networks", "map": "mappings", "compile": "programs", "job": "jobs"}  # of what can lie in a bin
BINNED_MOST = 20  # of one client
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


class Asker(threading.Thread):
    """Asks until it is told to stop or the server goes away."""

    def __init__(self, name, server, ledger, seed, round_number, pause=0.0, doubtful=False, lab=None):
        """`doubtful`: the machine is failing, so that a 5xx or a lost connection may come after what was asked was done.
        `lab`: its users, of whom this is one; None: there are none."""
        super().__init__(name=name, daemon=True)
        self.server, self.doubtful, self.lab = server, doubtful, lab
        self.http = server.client() if lab is None else lab.client(server, name)
        self.ledger, self.pause = ledger, pause
        self.random = random.Random(f"{seed} {name} {round_number}")
        self.prefix = f"{name}-{round_number}"
        self.stopping = threading.Event()
        self.counter = 0
        self.fault = None
        self.done = {}

    # ---- the loop ----

    def actions(self):
        """[(what it may ask, how often)]"""
        raise NotImplementedError

    def run(self):
        calls = [call for call, weight in self.actions() for _ in range(weight)]
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

    def ask(self, method, path, body=None, headers=None, refused=(), begun=(), audited=True):
        """One request. A refusal with a status in `refused`, or for want of room, is taken back from the ledger
        and gives None; any other failure is a fault of the server. `audited`: it changes what the audit trail tells of."""
        mark = f"{self.fresh()}-r" if self.lab is not None and method != "GET" and audited else None
        if mark is not None:
            self.ledger.send(mark, self.name, begun)
            headers = {**(headers or {}), "X-Request-Id": mark}
        reply = self.http.ask(method, path, body, headers)
        if reply.status < 300:
            if mark is not None:
                self.ledger.answered(mark)
            return reply
        if self.doubtful and reply.status >= 500 and reply.json["code"] in PASSING:
            raise Gone(str(reply))
        if mark is not None:
            self.ledger.denied(mark)
        if reply.status in refused or reply.status in (503, 507):
            self.ledger.refuse(*begun)
            return None
        raise Unexpected(f"{method} {path}: {reply}")

    def change(self, method, path, changes, body=None, refused=()):
        """Asks for [(key, new value)]; whether it was done."""
        begun = [self.ledger.begin(self.name, key, value) for key, value in changes]
        if self.ask(method, path, body, refused=refused, begun=begun) is None:
            return False
        self.ledger.acknowledge(*begun)
        return True

    def mine(self, kind):
        return self.ledger.mine(self.name, kind)

    def held(self, kind, place="here"):
        """Those of my things of a kind that are here, or in my bin."""
        return {key: thing for key, thing in self.mine(kind).items() if thing.place == place}

    def choose(self, held, least=1):
        """One of them, with its key; None when there are fewer."""
        return self.random.choice(sorted(held.items(), key=str)) if len(held) >= max(least, 1) else None

    def pick(self, kind, least=1):
        return self.choose(self.mine(kind), least)

    # ---- what groups may have ----

    def set_quota(self):
        group, most = f"of-{self.name}".lower(), self.random.randint(1, 10**6)
        return self.change("PUT", f"/v1/quotas/groups/{group}", [(("quota", group), most)], {"networks": most})


class ClientThread(Asker):
    """A user who uploads, maps, leases and deletes."""

    def actions(self):
        return [(self.upload, 3), (self.model, 1), (self.delete_network, 2), (self.begin_upload, 2),
                (self.append, 5), (self.drop_upload, 1), (self.put_chip, 2), (self.delete_chip, 1),
                (self.occupy, 4), (self.lease, 4), (self.keep, 2), (self.release, 3), (self.submit, 6),
                (self.watch, 6), (self.cancel, 1), (self.delete_job, 2), (self.read, 3), (self.delete_result, 1)] + self.more_actions()

    def more_actions(self):
        """Beside users each asks for what an administrator may, and all have one bin."""
        return [(self.set_quota, 2), (self.restore, 1), (self.purge, 1)]

    def visibility(self):
        return self.random.choice(["lab"] * 4 + ["group", "private"]) if self.lab is not None else "lab"

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

    def begin_network(self, body, known, visible="lab"):
        """What the whole lab sees goes by its hash. One that is here stays as it is: a kill may come when it is, and its upload in pieces
        still is too."""
        key = ("network", hashlib.sha256(body).hexdigest())
        thing = self.held("network").get(key, Thing(key[1] if visible == "lab" else "?", "here", visible, False))
        self.ledger.known[key] = known
        return self.ledger.begin(self.name, key, thing)

    def send_network(self, body, known, visible="lab"):
        begun = self.begin_network(body, known, visible)
        reply = self.ask("POST", f"/v1/networks?visibility={visible}", body, begun=[begun])
        if reply is not None:
            self.ledger.acknowledge(begun, value=self.made_network(begun, reply.json))

    def made_network(self, begun, network):
        thing = begun[1].value
        if network["sha256"] != begun[0][1] or thing.id not in ("?", network["id"]) or network["visibility"] != thing.visible:
            raise Unexpected(f"an upload is not what was sent: {network}")
        return thing._replace(id=network["id"])

    def upload(self):
        if len(self.held("network")) >= 6:
            return False
        self.send_network(*self.random_network(), self.visibility())

    def model(self):
        if any(isinstance(self.ledger.known.get(key), bytes) for key in self.held("network")):
            return False
        with open(self.random.choice(MODELS), "rb") as file:
            body = file.read()
        name = self.fresh().encode()  # as producer_name, so that every upload has an id of its own
        body += b"\x12" + bytes([len(name)]) + name
        self.send_network(body, body)

    def delete_network(self):
        return self.delete("network", self.held("network"), 4)

    # ---- the bin ----

    def delete(self, kind, held, least):
        """Into the bin; refused while jobs need it."""
        if len(self.binned()) >= BINNED_MOST:
            return self.purge()
        found = self.choose(held, least)
        if found is None:
            return False
        key, thing = found
        return self.change("DELETE", f"/v1/{PATHS[kind]}/{thing.id}", [(key, thing._replace(place="bin"))], refused=[409])

    def binned(self):
        return {key: thing for kind in PATHS for key, thing in self.held(kind, "bin").items()}

    def purge(self):
        found = self.choose(self.binned(), least=2)
        return found is not None and self.change("DELETE", f"/v1/bin/{found[1].id}", [(found[0], None)])

    def restore(self):
        found = self.choose(self.binned())
        if found is None:
            return False
        key, thing = found
        return self.change("POST", f"/v1/bin/{thing.id}/restore", [(key, thing._replace(place="here"))], b"")

    # ---- uploads in pieces ----

    def begin_upload(self):
        if len(self.mine("upload")) >= 2:
            return False
        body, known = self.random_network()
        reply = self.ask("POST", "/v1/uploads", {"name": self.fresh(), "size": len(body), "visibility": "lab"})
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
        reply = self.ask("PATCH", f"/v1/uploads/{key[1]}", body[offset:end], {"Upload-Offset": str(offset)}, begun=begun, audited=False)
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

    def chips(self, occupied):
        """Mine, of which cores were taken or broken at some time, or of which none were."""
        return {key: value for key, value in self.mine("chip").items() if (("occupancy", key[1]) in self.ledger.facts) == occupied}

    def put_chip(self):
        """A new one, or another description for one that is there."""
        free = self.chips(occupied=False)
        found = self.choose(free) if len(free) >= 3 or self.random.random() < 0.5 else (("chip", self.fresh()), ("", self.visibility()))
        if found is None:
            return False
        (_, name), (_, visible) = found
        description = self.fresh()
        return self.change("PUT", f"/v1/chips/{name}?visibility={visible}", [(("chip", name), (description, visible))],
                           chip_file(name, description))

    def delete_chip(self):
        found = self.choose(self.chips(occupied=False), least=2)
        return found is not None and self.change("DELETE", f"/v1/chips/{found[0][1]}", [(found[0], None)], refused=[409])

    def occupy(self):
        occupied = self.chips(occupied=True)
        found = self.choose(occupied if len(occupied) >= 2 else self.mine("chip"))
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
        return self.take(f"/v1/chips/{SHARED_CHIP}/reservations", {"count": self.random.randint(1, 5), "visibility": self.visibility()})

    def take(self, path, body):
        """A lease, by whom is said in its owner's name."""
        owner = self.fresh()
        begun = self.ledger.begin(self.name, ("lease", owner), ("?", "?", body["visibility"]))
        reply = self.ask("POST", path, {**body, "owner": owner, "ttl": 86400}, refused=[409], begun=[begun])
        if reply is None:
            return False
        self.ledger.acknowledge(begun, value=(reply.json["id"], frozenset(cells_of(reply.json["cores"])), body["visibility"]))

    def keep(self):
        found = self.pick("lease")
        if found is None:
            return False
        self.ask("PUT", f"/v1/chips/{SHARED_CHIP}/reservations/{found[1][0]}", {"ttl": 86400})

    def release(self):
        found = self.pick("lease", least=2)
        if found is None:
            return False
        return self.change("DELETE", f"/v1/chips/{SHARED_CHIP}/reservations/{found[1][0]}", [(found[0], None)])

    # ---- jobs ----

    def submit(self):
        if len(self.waiting()) >= 3:
            return False
        if len(self.held("job")) >= 13:
            return self.delete_job()
        if len(self.held("map")) + len(self.held("compile")) >= 8:
            return self.delete_result()
        if self.random.random() < 0.2:
            return self.submit_common()
        found = self.choose(self.held("network"))
        if found is None:
            return False
        name = self.fresh()
        body = {"network": found[1].id, "name": name}
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
        return self.send_job(name, body)

    def submit_common(self):
        """Beside users there is nothing common."""
        return False

    def send_job(self, name, body):
        begun = self.ledger.begin(self.name, ("job", name), Thing("?", "here", "?", False))
        reply = self.ask("POST", "/v1/jobs", body, {"Idempotency-Key": name}, refused=[404], begun=[begun])
        if reply is not None:
            self.ledger.acknowledge(begun, value=Thing(reply.json["id"], "here", "?", False))

    def waiting(self):
        """Jobs of which no end was seen."""
        ended = {key[1] for key in self.mine("outcome")}
        return {key: thing for key, thing in self.held("job").items() if key[1] not in ended}

    def watch(self):
        found = self.choose(self.waiting())
        if found is None:
            return False
        reply = self.ask("GET", f"/v1/jobs/{found[1].id}?wait=1s")
        if reply is not None and reply.json["state"] not in ("queued", "running"):
            self.see_outcome(found[0][1], reply.json)

    def see_outcome(self, name, job):
        result = job.get("mapping") or job.get("program") or ""
        if job["state"] == "failed" and job["problem"]["code"] not in ("no-room", "killed-server", "conflict"):
            raise Unexpected(f"a job failed: {json.dumps(job['problem'])}")
        self.ledger.note(self.name, ("outcome", name), (job["state"], result))
        if job.get("lease"):
            self.ledger.note(self.name, ("lease", f"job:{job['id']}"), (job["lease"], "?", "?"))
        if result and job["network"] in self.ledger.commons:
            self.ledger.note(self.name, ("part", result, self.name), True)
        elif result and not job.get("reused"):
            self.ledger.note(self.name, (job["kind"], result), Thing(result, "here", "?", False))

    def cancel(self):
        found = self.choose(self.waiting())
        if found is None:
            return False
        return self.change("POST", f"/v1/jobs/{found[1].id}/cancel", [(("cancel", found[0][1]), True)], b"", refused=[409])

    def ended(self):
        ended = {key[1] for key in self.mine("outcome")}
        return {key: thing for key, thing in self.held("job").items() if key[1] in ended}

    def delete_job(self):
        return self.delete("job", self.ended(), 4)

    # ---- results ----

    def read(self):
        kind = self.random.choice(["map", "compile"])
        found = self.choose(self.held(kind))
        if found is None:
            return False
        key, thing = found
        path = f"/v1/mappings/{thing.id}/content" if kind == "map" else f"/v1/programs/{thing.id}/report"
        reply = self.ask("GET", path)
        if reply is not None and ("digest", *key) not in self.ledger.facts:
            self.ledger.note(self.name, ("digest", *key), hashlib.sha256(reply.body).hexdigest())

    def delete_result(self):
        kind = self.random.choice(["map", "compile"])
        return self.delete(kind, self.held(kind), 3)
