"""Data folders as each earlier release left them: the steps of the schema up to its own, and after each step rows and files in what
that step has brought. A folder of format N has been through all steps before, as one that was upgraded release by release."""
import functools
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess

from daemon import BUILD, ROOT

DATA = os.path.join(ROOT, "tests", "data")
RELEASED = (2, 7, 11)  # of which there are folders that a release has written
FAR = 4102444800.0     # 2100
PROBLEM = '{"code": "infeasible", "title": "no", "detail": "no"}'
RING = "e436169eee9425d2bea8d9409aa22556092a0b2ec872f0d7ad005a43a41b2ed1"
RING_JOB, RING_MAPPING = "cf38bd8125cf980a9f76", "6fb3662fa0591edf6dc7"  # of data-folder-2
SMALL_MAPPING = "f9a2b623555a1a1f84d9"                                   # of data-folder-7


@functools.cache
def steps():
    """The texts of all steps."""
    told = subprocess.run([os.path.join(BUILD, "tests", "crash", "steps")], stdout=subprocess.PIPE, check=True).stdout
    return [text.decode() for text in told.split(b"\0")[:-1]]


def unpack(number, folder):
    """One that a release has written."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["tar", "-xzf", os.path.join(DATA, f"data-folder-{number}.tar.gz"), "-C", folder], check=True)
    return os.path.join(folder, f"data-folder-{number}")


def name(text):
    """An id of a job or mapping."""
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class Folder:
    """One that is being made. `spare`: a folder for what is only looked into."""

    def __init__(self, path, spare, pack):
        self.path, self.pack, self.version = path, pack, 0
        self.base = unpack(2, spare)
        for part in ("networks", "mappings", "cache", "incoming"):
            os.makedirs(os.path.join(path, part))
        self.db = sqlite3.connect(os.path.join(path, "coremapd.db"), isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.execute("PRAGMA journal_mode = WAL")

    def close(self):
        self.db.close()

    def add(self, table, **values):
        marks = ",".join("?" * len(values))
        self.db.execute(f"INSERT INTO {table}({','.join(values)}) VALUES({marks})", list(values.values()))

    def row(self, table, key):
        return dict(self.db.execute(f"SELECT * FROM {table} WHERE id = ?", (key,)).fetchone())

    def like(self, table, key, **changes):
        """A row like that of `key`, but for some columns."""
        values = {**self.row(table, key), **changes}
        values.pop("sequence", None)
        self.add(table, **values)

    # ---- files ----

    def note(self, path):
        if self.version >= 7:
            with open(os.path.join(self.path, path), "rb") as file:
                body = file.read()
            self.db.execute("INSERT OR REPLACE INTO blobs VALUES(?, ?, ?)", (path, len(body), hashlib.sha256(body).hexdigest()))

    def note_all(self):
        for part in ("networks", "mappings"):
            for where, _, files in os.walk(os.path.join(self.path, part)):
                for file in files:
                    self.note(os.path.relpath(os.path.join(where, file), self.path))

    def network_file(self, key):
        shutil.copy(os.path.join(self.base, "networks", f"{RING}.zip"), os.path.join(self.path, "networks", f"{key}.zip"))
        self.note(f"networks/{key}.zip")

    def mapping_files(self, key):
        shutil.copytree(os.path.join(self.base, "mappings", RING_MAPPING), os.path.join(self.path, "mappings", key))
        self.note_all()

    # ---- things ----

    def network(self, key, **changes):
        self.like("networks", RING, id=key, **changes)
        self.network_file(key)

    def job(self, text, **changes):
        self.like("jobs", RING_JOB, id=name(text), name=text, idempotency_key=None, **changes)

    def mapping(self, text, **changes):
        self.like("mappings", RING_MAPPING, id=name(text), job=name(text), fingerprint=None, **changes)
        self.mapping_files(name(text))


# ---- what each step has brought ----

def base(folder):
    """The folder of a release, in the columns that there were in the first."""
    folder.db.execute("ATTACH ? AS old", (os.path.join(folder.base, "coremapd.db"),))
    for table in ("networks", "chips", "occupancy", "leases", "jobs", "mappings", "uploads"):
        columns = ",".join(column["name"] for column in folder.db.execute(f"PRAGMA main.table_info({table})"))
        folder.db.execute(f"INSERT INTO main.{table}({columns}) SELECT {columns} FROM old.{table}")
    folder.db.execute("DETACH old")
    for part in ("networks", "mappings", "incoming"):
        shutil.copytree(os.path.join(folder.base, part), os.path.join(folder.path, part), dirs_exist_ok=True)
    folder.job("failed", state="failed", mapping=None, problem=PROBLEM)
    folder.job("cancelled", state="cancelled", mapping=None, cancel_requested=1, log="1.0 began\n")
    folder.add("meta", name="touched", value=3)


def models(folder):
    folder.network(hashlib.sha256(b"model").hexdigest(), name="model", operators=7)
    folder.job("compiled", kind="compile", chip="", network=hashlib.sha256(b"model").hexdigest(), mapping=name("compiled"))
    folder.mapping("compiled", kind="compile", chip="", network=hashlib.sha256(b"model").hexdigest())


def identity(folder):
    folder.add("folder", id="0123456789abcdef0123")
    with open(os.path.join(folder.path, "coremapd.json"), "w", encoding="ascii") as file:
        file.write('{"about": "data folder of coremapd 0.1.0", "format": 1, "id": "0123456789abcdef0123"}\n')


def people(folder):
    for user, role, team, disabled in (("ann", "admin", "vision", 0), ("bob", "user", "vision", 0), ("eve", "user", "", 1)):
        folder.add("users", name=user, role=role, team=team, disabled=disabled, created=1.0)
    for user, scopes in (("ann", 15), ("bob", 3)):
        folder.add("tokens", id=name(user)[:12], user=user, name="of " + user, scopes=scopes, hash=name(user) * 3, created=1.0,
                   expires=FAR, used=2.0)


def owned(folder):
    folder.network(hashlib.sha256(b"private").hexdigest(), user="ann", visibility="private", sha256=RING)
    folder.network(hashlib.sha256(b"group").hexdigest(), user="bob", visibility="group", team="vision", sha256=RING)
    folder.job("hers", user="ann", visibility="private", network=hashlib.sha256(b"private").hexdigest(), mapping=name("hers"))
    folder.mapping("hers", user="ann", visibility="private", network=hashlib.sha256(b"private").hexdigest())
    folder.add("chips", name="mine", user="bob", description='{"name": "mine", "cores": [2, 2], "limits": {"neurons": 9}}',
               created=3.0, visibility="group", team="vision")


def used(folder):
    folder.add("usage", user="ann", amount_ms=12345.0, at=5.0)
    folder.add("job_times", **{"class": "map fast", "likeness": "alike", "chip": "toy", "size": 4.0, "seconds": 0.5})
    folder.db.execute("UPDATE users SET share = 7 WHERE name = 'ann'")
    folder.job("short", user="ann", state="queued", mapping=None, finished=None, lane=0, retry_at=FAR)


def limited(folder):
    folder.add("quotas", is_group=0, name="bob", quota="networks", most=9.0)
    folder.add("quotas", is_group=1, name="vision", quota="bytes", most=1e9)
    folder.add("cpu_use", user="bob", hour=10**6, seconds=3.5)
    folder.add("lease_use", lease=name("lease"), user="bob", cores=3, began=1.0, ends=FAR)


def audited(folder, **more):
    folder.add("audit", at=7.0 + folder.version, user="ann", address="127.0.0.1", action="putUserQuota",
               object=f"/v1/quotas/users/{folder.version}", **more)


def requested(folder):
    audited(folder, request="fedcba9876543210")
    folder.db.execute("UPDATE jobs SET request = 'fedcba9876543210' WHERE id = ?", (RING_JOB,))


def packed(folder):
    """One that a server has packed, and one that is too large for it."""
    folder.like("mappings", RING_MAPPING, id=SMALL_MAPPING, fingerprint=None, form=2)
    folder.add("packs", mapping=SMALL_MAPPING, sha256=folder.pack[0], content=folder.pack[1])
    folder.job("large", mapping=name("large"))
    folder.mapping("large", form=1)


def deleted(folder):
    def bin_row(table, kind, key, user):
        content = json.dumps(folder.row(table, key))
        folder.add("bin", id=key, kind=kind, user=user, team="", visibility="private", name=kind, bytes=10, deleted=FAR, content=content)
        folder.db.execute(f"DELETE FROM {table} WHERE id = ?", (key,))
    thrown = hashlib.sha256(b"thrown").hexdigest()
    folder.network(thrown, user="ann", sha256=thrown)
    bin_row("networks", "network", thrown, "ann")
    folder.mapping("thrown", user="bob")
    bin_row("mappings", "mapping", name("thrown"), "bob")
    folder.job("forgotten", user="bob", mapping=name("thrown"))
    bin_row("jobs", "job", name("forgotten"), "bob")
    folder.db.execute("UPDATE networks SET pinned = 1, user = 'ann' WHERE id = ?", (RING,))
    folder.db.execute("UPDATE mappings SET pinned = 1 WHERE id = ?", (RING_MAPPING,))
    folder.add("retention", name="*", what="mappings_days", most=1e6)
    folder.add("network_owners", network=RING, user="bob")
    folder.mapping("shared", user="ann")  # and he is given it by an equal job
    folder.job("shared", user="ann", mapping=name("shared"))
    folder.job("reused", user="bob", mapping=name("shared"), reused=1)


def shared(folder):
    """Beside those that the step itself finds."""
    folder.add("owners", thing=name("large"), user="bob", team="vision", visibility="group", pinned=1, created=8.0)
    folder.db.execute("UPDATE mappings SET user = 'ann' WHERE id = ?", (name("large"),))


def nothing(_):
    """The step brings indexes, or what triggers keep of rows that are there."""


def running_twin(folder):
    folder.job("waits", state="queued", mapping=None, finished=None, waits_for="7d3a55486fc453be2a04")


def swept(folder):
    spec = '{"kind":"sweep","network":"%s","chip":"loihi1","axes":{"seed":[1,2]},"by":["energy_pj"],"better":[-1],"keep":"all"}' % RING
    folder.job("sweep", kind="sweep", options=spec, report='{"jobs":1,"done":1,"failed":0,"cancelled":0,"reused":0,"cpu_seconds":0.5,"without_gain":0,"kept":[]}')
    folder.job("point", sweep=name("sweep"))


def listed(folder):
    """Beside what the step finds: labels of a thing of two owners, a batch, a point of a Pareto set."""
    folder.db.execute("UPDATE networks SET label_set = ',paper=fig3,' WHERE operators = 0")
    folder.db.execute("UPDATE owners SET label_set = ',mine=yes,'")
    folder.job("first", label_set=",paper=fig3,", batch=name("first"), preset="fast", objective="auto", seed=7)
    folder.mapping("front", pareto=RING_MAPPING, point=2, label_set=",paper=fig3,")


def under_way(folder):
    """A job whose folder the server left behind, and nobody carries on."""
    folder.job("left", state="running", mapping=None, finished=None, attempt=1, folder=name("left's folder"))
    os.makedirs(os.path.join(folder.path, "incoming", name("left's folder") + ".job", "out.1"))


# By the version that a step leads to. A step that is not here is not tested: say what a folder of its release has.
FILL = {
    1: base,
    2: models,
    3: identity,
    4: lambda folder: folder.job("tried", state="queued", mapping=None, finished=None, retries=2, retry_at=FAR, fault="no memory"),
    5: running_twin,
    6: lambda folder: folder.add("clock", offset=1795364878.5),
    7: Folder.note_all,
    8: people,
    9: lambda folder: folder.db.execute("UPDATE networks SET zeros = 1, inputs = 2, inhibitory = 3, populations = 4, delays = 1"
                                        " WHERE operators > 0"),
    10: owned,
    11: lambda folder: folder.db.execute("UPDATE networks SET read_as = '{\"columns\":\"a,b\"}' WHERE user = 'bob'"),
    12: used,
    13: limited,
    14: audited,
    15: requested,
    16: nothing,
    17: packed,
    18: deleted,
    19: nothing,
    20: shared,
    21: lambda folder: audited(folder, effect="networks none -> 9"),
    22: lambda folder: folder.add("ledger", user="bob", month="2025-03", core_seconds=7200.0, cpu_seconds=30.5, bytes=4096),
    23: lambda folder: folder.db.execute("UPDATE jobs SET widened = 1 WHERE finished IS NOT NULL"),
    24: lambda folder: folder.db.execute("UPDATE networks SET reading = '{\"why\":\"a header\",\"first\":[]}' WHERE operators = 0"),
    25: swept,
    26: listed,
    27: lambda folder: folder.db.execute("""UPDATE jobs SET history = '[{"seconds":0.5,"phase":"load","fraction":0.1,"remaining_seconds":4.5}]'"""
                                         " WHERE finished IS NOT NULL"),
    28: under_way,
    29: lambda folder: folder.db.execute("UPDATE job_times SET bytes = 2e6"),
    30: nothing,
}


def make(version, path, spare, pack):
    """A filled folder of a format."""
    folder = Folder(path, spare, pack)
    try:
        for number, text in enumerate(steps()[:version], 1):
            if number not in FILL:
                raise LookupError(f"step {number} of storage/schema.c has no filling: say in FILL of tests/crash/formats.py which rows "
                                  "and files a folder of its release has (or that it brings nothing of its own)")
            folder.db.executescript(text)
            folder.db.execute(f"PRAGMA user_version = {number}")
            folder.version = number
            FILL[number](folder)
    finally:
        folder.close()
