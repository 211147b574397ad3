"""Looks at a restarted server and says where it is not what the ledger allows."""
import hashlib
import json
import os
import sqlite3
import subprocess
import time

import topology
from clients import SHARED_CHIP, cells_of, state_of
from daemon import BUILD

ENDED = ("done", "failed", "cancelled")


class Judge:
    def __init__(self, server, ledger, at=None):
        """`at`: the moment of the crash (time.monotonic_ns) when the ledger goes on beyond it; None: now."""
        self.server, self.ledger, self.at = server, ledger, at
        self.http = server.client()
        self.faults, self.seen = [], {}
        self.jobs = {}  # name -> job

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

    def must(self, key, value, same=lambda allowed, value: allowed == value):
        """Notes what a thing is now, and whether that is allowed."""
        self.seen[key] = value
        allowed = self.ledger.allowed(key, self.at)
        for one in allowed:
            if (one is None and value is None) or (one is not None and value is not None and same(one, value)):
                return True
        self.fault(f"{' '.join(map(str, key))}: is {value}, and may be {' or '.join(map(str, allowed))}")
        return False

    def keys(self, kind):
        """The things of a kind that may be there."""
        return [key for key in self.ledger.keys(kind)
                if any(value is not None for value in self.ledger.allowed(key, self.at)) or self.at is None]

    # ---- what is there ----

    def look(self):
        self.networks()
        self.uploads()
        self.chips()
        self.list_jobs()
        self.leases()
        self.job_facts()
        self.results()
        self.quotas()
        return self

    def networks(self):
        listed = {n["id"] for n in json.loads(self.get("/v1/networks?limit=1000"))["networks"]}
        for key in self.keys("network"):
            there = key[1] in listed
            if self.must(key, True if there else None) and there:
                self.network_bytes(key)
        for unknown in listed - {key[1] for key in self.ledger.keys("network")}:
            self.fault(f"network {unknown}: nobody uploaded it")

    def network_bytes(self, key):
        known, content = self.ledger.known[key], self.get(f"/v1/networks/{key[1]}/content")
        try:
            same = content == known if isinstance(known, bytes) else topology.pins(content) == known
        except Exception as error:
            self.fault(f"network {key[1]}: its bytes are damaged: {error!r}")
            return
        if not same:
            self.fault(f"network {key[1]}: its bytes are others than were uploaded")

    def uploads(self):
        for key in self.keys("upload"):
            reply = self.http.ask("HEAD", f"/v1/uploads/{key[1]}")
            value = (int(reply.headers["Upload-Offset"]),) if reply.status == 200 else None
            allowed = self.ledger.allowed(key, self.at)
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
                if True in self.ledger.allowed(network, self.at) and self.seen.get(network) is None:
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

    def chips(self):
        for key in self.keys("chip"):
            body = self.get(f"/v1/chips/{key[1]}")
            self.must(key, json.loads(body)["description"] if body is not None else None)
        for key in self.keys("occupancy"):
            if self.seen.get(("chip", key[1])) is None:
                self.seen[key] = None
                continue
            taken, broken = state_of(json.loads(self.get(f"/v1/chips/{key[1]}/occupancy")))
            mine = taken.pop("me", frozenset())
            if taken:
                self.fault(f"occupancy of {key[1]}: cores of {sorted(taken)}, whom nobody named")
            allowed = [one or (frozenset(), frozenset()) for one in self.ledger.allowed(key, self.at)]
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
        ids = {job["id"] for job in self.jobs.values()}
        listed, held = {}, {}
        for lease in json.loads(body)["reservations"]:
            name = f"job:{lease['job']}" if "job" in lease else lease["owner"]
            cores = frozenset(cells_of(lease["cores"]))
            listed[name] = (lease["id"], cores)
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
            self.must(key, listed.get(key[1]),
                      lambda allowed, value: allowed[0] in ("?", value[0]) and allowed[1] in (frozenset(), value[1]))

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
            job = self.jobs.get(key[1])
            self.must(key, job and job["id"], lambda allowed, value: allowed in ("?", value))
        for key in self.keys("outcome"):
            job = self.jobs.get(key[1])
            if job is not None:
                self.must(key, (job["state"], job.get("mapping") or job.get("program") or ""))
            elif None not in self.ledger.allowed(("job", key[1]), self.at):
                self.fault(f"job {key[1]} has ended and is not there")
        for key in self.keys("cancel"):
            job = self.jobs.get(key[1])
            if job and self.ledger.allowed(key, self.at) == [True] and job["state"] not in ("cancelled", "done", "failed"):
                if not job["cancel_requested"]:
                    self.fault(f"job {key[1]}: its cancelling is forgotten")

    def results(self):
        for kind, path in (("map", "mappings/{}/content"), ("compile", "programs/{}/report")):
            for key in self.keys(kind):
                body = self.get("/v1/" + path.format(key[1]))
                digest = hashlib.sha256(body).hexdigest() if body is not None else None
                if self.must(key, digest, lambda allowed, value: allowed in ("?", value)) and body is not None:
                    json.loads(body)
                    if kind == "map":
                        self.mapping(key[1], json.loads(body))

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
        for key in self.ledger.keys("cancel"):
            if ("job", key[1]) not in self.ledger.facts:
                self.ledger.settle(key, None)
        for key in self.ledger.keys("outcome"):
            if ("job", key[1]) not in self.ledger.facts:
                self.ledger.settle(key, None)
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
