"""Looks at a restarted server and says where it is not what the ledger allows."""
import hashlib
import json
import os
import sqlite3
import subprocess
import time

import topology
from clients import PATHS, SHARED_CHIP, cells_of, state_of
from daemon import BUILD
from lab import ADMIN
from ledger import Common, Thing, fits, known

ENDED = ("done", "failed", "cancelled")


class Judge:
    def __init__(self, server, ledger, at=None, since=None, lab=None):
        """`at`: the moment of the crash (time.monotonic_ns) when the ledger goes on beyond it; None: now. `since`: of a backup, which
        is of one moment from there to `at`."""
        self.server, self.ledger, self.at, self.since, self.lab = server, ledger, at, since, lab
        self.http = server.client() if lab is None else lab.client(server, ADMIN)
        self.faults, self.seen = [], {}
        self.jobs = {}     # name -> job
        self.binned = {}   # id -> entry
        self.told = set()  # marks of which the audit trail tells
        self.happened = {} # mark -> {whether it was done: by what this is seen}

    def fault(self, text):
        self.faults.append(text)

    def get(self, path):
        """The reply's body, None for 404."""
        reply = self.http.get(path)
        if reply.status == 404:
            return None
        if reply.status != 200:
            raise RuntimeError(f"GET {path}: {reply}")
        return reply.body

    def allowed(self, key):
        return self.ledger.allowed(key, self.at, self.since)

    def must(self, key, value):
        """Notes what a thing is now, and whether that is allowed."""
        facts = self.ledger.may(key, self.at, self.since)
        fitting = [fact for fact in facts if fits(fact and fact.value, value)]
        self.seen[key] = known(fitting[-1] and fitting[-1].value, value) if fitting else value
        if not fitting:
            allowed = " or ".join(str(fact and fact.value) for fact in facts)
            self.fault(f"{' '.join(map(str, key))}: is {value}, and may be {allowed}; so far{self.ledger.stories.get(key)}")
        elif self.since is None and len(facts) == 2 and len(fitting) == 1:  # one request under way
            self.saw(facts[1].mark, fitting[0] is facts[1], " ".join(map(str, key)))
        return bool(fitting)

    def saw(self, mark, done, what):
        """Whether a request was done, by what is seen of it."""
        if mark is not None:
            self.happened.setdefault(mark, {}).setdefault(done, what)

    def keys(self, kind):
        """The things of a kind that may be there."""
        return [key for key in self.ledger.keys(kind)
                if any(value is not None for value in self.allowed(key)) or self.at is None]

    # ---- what is there ----

    def look(self):
        self.binned = {entry["id"]: entry for entry in json.loads(self.get("/v1/bin?user=*"))["entries"]}
        self.networks()
        self.uploads()
        self.chips()
        self.list_jobs()
        self.leases()
        self.job_facts()
        self.results()
        self.quotas()
        if self.lab is not None:
            self.common()
        things = {value.id for kind in PATHS for key in self.ledger.keys(kind) for value in self.allowed(key) if value}
        for name in self.binned.keys() - things - self.ledger.shared():
            self.fault(f"the bin has {self.binned[name]}, which nobody put there")
        if self.lab is not None:
            self.people()
            self.rules()
            self.audit()
        return self

    def thing(self, kind, key, found):
        """What became of something that can lie in a bin. `found`: as its list has it; None."""
        ids = {value.id for value in self.allowed(key) if value is not None} & self.binned.keys()
        if found is None:
            return Thing(ids.pop(), "bin", "?", "?") if ids else None
        if ids:
            self.fault(f"{' '.join(key)} is here and in the bin")
        pinned = kind != "job" and json.loads(self.get(f"/v1/{PATHS[kind]}/{found['id']}/access"))["pinned"]
        return Thing(found["id"], "here", found["visibility"], pinned)

    def networks(self):
        listed = {n["sha256"]: n for n in json.loads(self.get("/v1/networks?limit=1000"))["networks"]}
        for key in self.keys("network"):
            thing = self.thing("network", key, listed.get(key[1]))
            if self.must(key, thing) and thing is not None and thing.place == "here":
                self.network_bytes(key, thing.id)
        for unknown in listed.keys() - {key[1] for key in self.ledger.keys("network")} - self.ledger.commons:
            self.fault(f"network {unknown}: nobody uploaded it")

    def network_bytes(self, key, name):
        sent, content = self.ledger.known[key], self.get(f"/v1/networks/{name}/content")
        try:
            same = content == sent if isinstance(sent, bytes) else topology.pins(content) == sent
        except Exception as error:
            self.fault(f"network {key[1]}: its bytes are damaged: {error!r}")
            return
        if not same:
            self.fault(f"network {key[1]}: its bytes are others than were uploaded")

    def uploads(self):
        for key in self.keys("upload") if self.since is None else ():  # a backup has none
            reply = self.http.ask("HEAD", f"/v1/uploads/{key[1]}")
            value = (int(reply.headers["Upload-Offset"]),) if reply.status == 200 else None
            allowed = self.allowed(key)
            numbers = [one[0] for one in allowed if one is not None]
            body = self.ledger.known[key][0]
            if None in allowed and numbers:  # the last piece: its whole is kept until the network is there
                numbers.append(len(body))
            self.seen[key] = value
            if value is None and None not in allowed or value and not min(numbers, default=1) <= value[0] <= max(numbers, default=0):
                self.fault(f"upload {key[1]}: stands at {value}, and may stand at {allowed}")
            elif value:
                with open(os.path.join(self.server.data, "incoming", key[1]), "rb") as file:
                    if file.read() != body[:value[0]]:
                        self.fault(f"upload {key[1]}: its bytes are others than were sent")
            elif len(allowed) > 1:
                network = ("network", hashlib.sha256(body).hexdigest())
                if any(self.allowed(network)) and self.seen.get(network) is None:
                    self.fault(f"upload {key[1]}: complete, then gone, and its network is not there")

    def quotas(self):
        """The number, and the newest entry of the audit trail that tells of it: one is not there without the other."""
        groups = {row["name"]: row["quotas"] for row in json.loads(self.get("/v1/quotas"))["quotas"] if row["of"] == "group"}
        told = {}
        for line in self.get("/v1/audit?action=putGroupQuota&format=ndjson").splitlines():
            entry = json.loads(line)
            told.setdefault(entry["object"].split("/")[-1], entry["effect"])
        for key in self.keys("quota"):
            value = groups.get(key[1], {}).get("networks")
            self.must(key, value)
            if value is not None and not told.get(key[1], "").endswith(f"-> {value:.15g}"):
                self.fault(f"quota {key[1]}: is {value}, and the audit trail tells {told.get(key[1])}")

    # ---- what is several users' ----

    def common(self):
        """Each asks for himself what is his."""
        asking = {name: self.lab.client(self.server, name) for name in self.lab.clients}
        bins = {name: {entry["id"] for entry in asking[name].get("/v1/bin").json["entries"]} for name in asking}

        def owner(name, path):
            """His word on it; None when it is not his, or not here."""
            reply = asking[name].get(path)
            return reply.json if reply.status == 200 and reply.json["user"] == name else None
        for key in self.keys("common"):
            words = {name: owner(name, f"/v1/networks/{key[1]}/access") for name in asking}
            here = frozenset((name, word["pinned"]) for name, word in words.items() if word is not None)
            binned = frozenset((name, False) for name in asking if key[1] in bins[name])
            if here and binned:
                self.fault(f"network {key[1]} of several users is here for {here} and in the bin of {binned}")
            if self.must(key, Common("here", here) if here else Common("bin", binned) if binned else None) and here:
                self.network_bytes(key, key[1])
        for key in self.keys("part"):
            self.must(key, owner(key[2], f"/v1/mappings/{key[1]}/access") and True)
        for job in self.jobs.values():  # nobody leaves what he has not seen
            part = ("part", job.get("mapping"), job["user"])
            if job["state"] == "done" and job["network"] in self.ledger.commons and not self.ledger.knew(part):
                if owner(job["user"], f"/v1/mappings/{job['mapping']}/access") is None:
                    self.fault(f"job {job['name']} of {job['user']} is done, and {job['mapping']} is not his: {job}")
        for http in asking.values():
            http.close()

    # ---- users, and what they did ----

    def people(self):
        users = {user["name"]: user for user in json.loads(self.get("/v1/users"))["users"]}
        tokens = {token["name"]: token for name in users for token in json.loads(self.get(f"/v1/tokens?user={name}"))["tokens"]}
        for key in self.keys("user"):
            user = users.get(key[1])
            self.must(key, user and (user["role"], user["group"], user["share"], user["disabled"]))
        for key in self.keys("token"):
            token = tokens.get(key[1])
            self.must(key, token and (token["id"], token["user"], tuple(token["scopes"])))
        for unknown in users.keys() - {key[1] for key in self.ledger.keys("user")} - {ADMIN}:
            self.fault(f"user {unknown}: nobody added him")
        self.doors()

    def doors(self):
        """A token that is there opens, one that is not does not: of each the newest. (Wrong ones are held up, each longer.)"""
        tried = set()
        for key in reversed(self.keys("token")):
            token = self.seen[key]
            user = token and self.seen.get(("user", token[1]))
            right = bool(user) and not user[3]
            if key not in self.ledger.known or right in tried:
                continue
            tried.add(right)
            http = self.lab.client(self.server, None, self.ledger.known[key])
            status = http.get("/v1/me").status
            http.close()
            if status != (200 if right else 401):
                self.fault(f"token {key[1]} of {user}: GET /v1/me with it is answered {status}")

    def rules(self):
        rows = {row["user"]: row for row in json.loads(self.get("/v1/retention"))["rules"]}
        for key in self.keys("rule"):
            row = rows.get(key[1], {})
            value = tuple(row.get(name) for name in ("mappings_days", "bytes"))
            self.must(key, None if value == (None, None) else value)
        rows = {row["name"]: row["quotas"] for row in json.loads(self.get("/v1/quotas"))["quotas"] if row["of"] == "user"}
        for key in self.keys("user quota"):
            value = tuple(rows.get(key[1], {}).get(name) for name in ("networks", "bytes"))
            self.must(key, None if value == (None, None) else value)

    def audit(self):
        """Each request that was acknowledged has its line, once; one that was refused has none that says otherwise; one that was
        under way has it if, and only if, it was done."""
        told = self.trail(self.ledger.marked_from)
        for mark, m in list(self.ledger.marks.items()):
            if self.at is not None and m.begin > self.at:
                continue
            if mark in told and told[mark]["user"] != m.client:
                self.fault(f"the audit trail says that {told[mark]['user']} did what {m.client} did: {told[mark]}")
            upto = self.at if self.since is None else self.since
            if m.end is not None and (upto is None or m.end <= upto):
                if mark not in told:
                    self.fault(f"the audit trail does not tell of {mark}, which was acknowledged")
            elif self.since is None:
                self.saw(mark, mark in told, "its line of the audit trail")
        for mark in self.ledger.refused & told.keys():
            self.fault(f"the audit trail says that what was refused was done: {told[mark]}")
        for mark, seen in self.happened.items():
            if len(seen) == 2:
                self.fault(f"half of {mark} was done: {seen[True]} says that it was, {seen[False]} that it was not")
        self.told = told.keys()

    def trail(self, since):
        """{mark: entry} of what was done."""
        told, effects = {}, set()
        for line in self.get(f"/v1/audit?format=ndjson&since={int(since)}").splitlines():
            entry = json.loads(line)
            if entry["effect"].startswith("refused") or not entry["request"] or entry["action"] == "job":
                continue  # what a job makes is told later, beside the request that asked for it
            if (entry["request"], entry["effect"]) in effects:  # each write of a request has its own
                self.fault(f"the audit trail tells twice of {entry['request']}: {entry}")
            effects.add((entry["request"], entry["effect"]))
            told[entry["request"]] = entry
        return told

    def whole_trail(self, made, interrupted):
        """Nothing is forgotten that was told before an earlier look; it tells of each backup, and of no other."""
        told = len(self.get("/v1/audit?action=backup&format=ndjson").splitlines())
        if not made <= told <= made + interrupted:
            self.fault(f"the audit trail tells of {told} backups; {made} were made and {interrupted} interrupted")
        for mark in self.ledger.audited.keys() - self.trail(0).keys():
            self.fault(f"the audit trail has forgotten {mark}")
        return self

    # ---- chips ----

    def chips(self):
        listed = {chip["name"]: chip for chip in json.loads(self.get("/v1/chips"))["chips"]}
        for key in self.keys("chip"):
            body = self.get(f"/v1/chips/{key[1]}")
            self.must(key, (json.loads(body)["description"], listed[key[1]]["visibility"]) if body is not None else None)
        for key in self.keys("occupancy"):
            if self.seen.get(("chip", key[1])) is None:
                self.seen[key] = None
                continue
            taken, broken = state_of(json.loads(self.get(f"/v1/chips/{key[1]}/occupancy")))
            mine = taken.pop("me", frozenset())
            if taken:
                self.fault(f"occupancy of {key[1]}: cores of {sorted(taken)}, whom nobody named")
            allowed = [one or (frozenset(), frozenset()) for one in self.allowed(key)]
            self.seen[key] = (mine, broken)
            if (mine, broken) not in allowed:
                self.fault(f"occupancy of {key[1]}: is {(mine, broken)}, and may be {allowed}")

    def leases(self):
        before, body, occupancy = None, None, b""
        while occupancy is not None and before != occupancy:  # a job that ends may take a lease between the two
            before = occupancy
            body = self.get(f"/v1/chips/{SHARED_CHIP}/reservations")
            occupancy = self.get(f"/v1/chips/{SHARED_CHIP}/occupancy")
        if occupancy is None:
            return
        taken, _ = state_of(json.loads(occupancy))
        ids = {job["id"] for job in self.jobs.values()} | self.binned.keys()
        listed, held = {}, {}
        for lease in json.loads(body)["reservations"]:
            name = lease["owner"] if ("lease", lease["owner"]) in self.ledger.facts or "job" not in lease else f"job:{lease['job']}"
            cores = frozenset(cells_of(lease["cores"]))
            listed[name] = (lease["id"], cores, lease["visibility"])
            for core in cores:
                if core in held:
                    self.fault(f"core {core} is leased twice: {held[core]} and {name}")
                held[core] = name
            if taken.pop(f"lease:{lease['id']}", frozenset()) != cores or not cores:
                self.fault(f"lease {lease['id']}: its cores are not what the occupancy says")
            if ("lease", name) not in self.ledger.facts and lease.get("job") not in ids:
                self.fault(f"lease {lease['id']} of {name}: nobody took it")
        for name in taken:
            self.fault(f"the occupancy has cores of {name}, which is no lease")
        for key in self.keys("lease"):
            if not (key[1].startswith("job:") and self.runs_again(key)):
                self.must(key, listed.get(key[1]))

    # ---- jobs ----

    def list_jobs(self):
        cursor = ""
        while True:
            page = json.loads(self.get(f"/v1/jobs?limit=1000{cursor}"))
            for job in page["jobs"]:
                if job["name"] in self.jobs:
                    self.fault(f"job {job['name']} is there twice")
                self.jobs[job["name"]] = job
            if "next" not in page:
                return
            cursor = f"&cursor={page['next']}"

    def job_facts(self):
        for name in self.jobs:
            if ("job", name) not in self.ledger.facts:
                self.fault(f"job {name}: nobody submitted it")
        for key in self.keys("job"):
            self.must(key, self.thing("job", key, self.jobs.get(key[1])))
        for key in self.keys("outcome"):
            job = self.jobs.get(key[1])
            if self.runs_again(key):
                continue
            if job is not None:
                self.must(key, (job["state"], job.get("mapping") or job.get("program") or ""))
            elif all(thing is not None and thing.place == "here" for thing in self.allowed(("job", key[1]))):
                self.fault(f"job {key[1]} has ended and is not there")
        for key in self.keys("cancel"):
            job = self.jobs.get(key[1])
            if job and self.allowed(key) == [True] and job["state"] not in ("cancelled", "done", "failed"):
                if not job["cancel_requested"]:
                    self.fault(f"job {key[1]}: its cancelling is forgotten")

    def runs_again(self, key):
        """What a job has made since a backup: it runs again there, and may end otherwise."""
        return self.since is not None and None in self.allowed(key)

    def results(self):
        for kind, content in (("map", "content"), ("compile", "report")):
            listed = {row["id"]: row for row in json.loads(self.get(f"/v1/{PATHS[kind]}?limit=1000"))[PATHS[kind]]}
            for key in self.keys(kind):
                thing = self.thing(kind, key, listed.get(key[1]))
                if self.must(key, thing) and thing is not None and thing.place == "here":
                    self.result_bytes(key, self.get(f"/v1/{PATHS[kind]}/{thing.id}/{content}"))

    def result_bytes(self, key, body):
        """What was read once is read at all times."""
        digest, value = ("digest", *key), hashlib.sha256(body).hexdigest()
        if digest in self.ledger.facts:
            self.seen[digest] = value
            if any(fact.value != value for fact in self.ledger.facts[digest]):
                self.fault(f"{key[0]} {key[1]}: its bytes are others than were read")
        read = json.loads(body)
        if key[0] == "map":
            self.mapping(key[1], read)

    def mapping(self, name, mapping):
        """Every neuron in a part, every part on a core of its own, no part too large."""
        parts, sizes = mapping["parts"], {}
        for part in mapping["neurons"]:
            sizes[part] = sizes.get(part, 0) + 1
        cores = {(core["x"], core["y"]) for core in mapping["cores"]}
        if (len(mapping["neurons"]) != mapping["network"]["neurons"] or len(cores) != len(mapping["cores"]) or
                len(cores) != parts or not all(0 <= part < parts for part in sizes) or
                max(sizes.values()) > mapping["options"]["max_part_size"]):
            self.fault(f"mapping {name} is not a mapping of its network")

    # ---- later ----

    def wait(self, seconds=120, kills=None):
        """All jobs end. kills(name): how often the server died since the job was submitted."""
        until = time.monotonic() + seconds
        for name, job in self.jobs.items():
            while job["state"] not in ENDED:
                if time.monotonic() > until:
                    self.fault(f"job {name} does not end: {job['state']}")
                    break
                job = json.loads(self.get(f"/v1/jobs/{job['id']}?wait=5s"))
            self.jobs[name] = job
            if job["state"] != "failed":
                continue
            code = job["problem"]["code"]
            if code == "killed-server" and kills is not None and kills(name) >= 3:
                continue
            if code not in ("no-room", "conflict"):
                self.fault(f"job {name} failed: {json.dumps(job['problem'])}")
        return self

    def settle(self):
        """The ledger goes on from what was seen."""
        for key, value in self.seen.items():
            self.ledger.settle(key, value)
        for kind in ("cancel", "outcome"):
            for key in self.ledger.keys(kind):
                if ("job", key[1]) not in self.ledger.facts:
                    self.ledger.settle(key, None)
        for key in self.ledger.keys("digest"):
            if key[1:] not in self.ledger.facts:
                self.ledger.settle(key, None)
        self.ledger.settle_marks(self.told)
        self.http.close()

    def folder(self):
        """To be called when no job runs and nobody asks: no file without a row, no row without its file."""
        database = sqlite3.connect(f"file:{self.server.data}/coremapd.db?mode=ro", uri=True)
        try:
            until = time.monotonic() + 3  # a job's last step, after its end is written, is to remove its scratch folder
            incoming = os.path.join(self.server.data, "incoming")
            while any(name.endswith(".job") for name in os.listdir(incoming)) and time.monotonic() < until:
                time.sleep(0.02)
            for folder, suffix, table in (("networks", ".zip", "networks"), ("mappings", "", "mappings WHERE form <> 2"),
                                          ("incoming", "", "uploads")):
                rows = {row[0] + suffix for row in database.execute(f"SELECT id FROM {table}")}
                binned = {row[0] + suffix for row in database.execute("SELECT id FROM bin")}
                files = set(os.listdir(os.path.join(self.server.data, folder)))
                for name in sorted(files - rows - binned):
                    self.fault(f"{folder}/{name} is there and nothing knows it")
                for name in sorted(rows - files):
                    if table != "uploads":  # an upload that was imported at the crash: a row that answers 404
                        self.fault(f"{folder}/{name} is known and not there")
            for kind, name in database.execute("SELECT kind, id FROM bin WHERE kind <> 'job' AND id NOT IN"
                                               " (SELECT mapping FROM packs)"):
                path = f"networks/{name}.zip" if kind == "network" else f"mappings/{name}"
                if not os.path.exists(os.path.join(self.server.data, path)):
                    self.fault(f"{path} lies in the bin and is not there")
            for (name,) in database.execute("SELECT id FROM mappings WHERE form = 2 EXCEPT SELECT mapping FROM packs"):
                self.fault(f"mapping {name} is known and not there")
            for (name,) in database.execute("SELECT mapping FROM packs EXCEPT SELECT id FROM mappings EXCEPT SELECT id FROM bin"):
                self.fault(f"the files of mapping {name} are there and nothing knows them")
            self.books(database)
            answer = database.execute("PRAGMA integrity_check").fetchone()[0]
            if answer != "ok":
                self.fault(f"the database is damaged: {answer}")
        finally:
            database.close()

    def books(self, database):
        """The audit trail tells of every network, job and result; the usage by month adds up to what jobs used and is stored."""
        for table, words in (("networks", "network "), ("jobs", "job "), ("mappings", "")):
            for (name,) in database.execute(f"SELECT id FROM {table} WHERE NOT EXISTS"
                                            f" (SELECT 1 FROM audit WHERE instr(effect, ? || id) > 0)", (words,)):
                self.fault(f"{table}/{name} is there, and the audit trail does not tell who made it")
        stored, noted = database.execute(
            "SELECT (SELECT total(bytes) FROM stored_totals), (SELECT total(bytes) FROM ledger l WHERE month = (SELECT max(month)"
            " FROM ledger WHERE user = l.user AND bytes IS NOT NULL))").fetchone()
        if stored != noted:
            self.fault(f"{stored} bytes are stored, and the usage by month says {noted}")
        used, noted = database.execute("SELECT (SELECT total(cpu_seconds) FROM jobs), (SELECT total(cpu_seconds) FROM ledger)").fetchone()
        if used > noted + 1e-6:
            self.fault(f"jobs have used {used} s of processors, and the usage by month says {noted}")


def check_data(data):
    """What coremapd --check-data finds wrong in a data folder that no server uses; None when all is well."""
    program = os.path.join(BUILD, "coremapd")
    help_text = subprocess.run([program, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    if "--check-data" not in help_text:
        return None
    said = subprocess.run([program, "--check-data", "--data", data], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return None if said.returncode == 0 else f"--check-data ends with {said.returncode}: {said.stdout.strip()[-400:]}"
