"""Requests for every operation of the document: one that should work, and what a hostile client makes of it."""
import gzip
import io
import json
import os
import random
import zipfile
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from world import SMALL_NEURONS, bearer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")

NUMBERS = [0, -1, 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -2**63, 10**30, 0.5, -0.0, 1e-320, 1e300]
TEXTS = ["", " ", "\0", "a" * 300, "é" * 200, "\u202e", "../../etc/passwd", "%2e%2e/", "'; drop table jobs; --",
         "\ud800", "lease:x", "\r\nX: y", "{}", "true", "\x7f", "loihi1", "*", "queued"]
PATHS = ["..%2f..%2fetc%2fpasswd", "%2e%2e", ".", "%00", "a%2fb", "%c0%ae%c0%ae", "%ff", "%", "%zz", "*", "0", "-1",
         "a" * 200, "a" * 5000, "%e2%80%ae", "x;y", "x:y", "~", "..\\..", "lock", "coremapd.db", "%0d%0aX: y"]
RAW = [b"", b"{", b"[]", b"null", b"\xef\xbb\xbf{}", b'{"a":1}{"a":2}', b'{"a":1,"a":2}', b"[" * 5000, b'{"a":' * 3000,
       b'{"n":1e999}', b'{"n":-}', b'"\\ud800"', b'{"x":"\\u0000"}', b"\0" * 100, b"\xff\xfe", b"NaN", b"a=b&c=d", b" " * 70000]


def _read(name):
    with open(os.path.join(DATA, name), "rb") as file:
        return file.read()


def bombs(scale):
    """(what, bytes): little to send, much to unpack; `scale` 10 is ten times as much."""
    zeros = io.BytesIO()
    with gzip.GzipFile(fileobj=zeros, mode="wb", mtime=0) as file:
        for _ in range(100 * scale):
            file.write(b"0" * (1 << 20))
    rows = gzip.compress(b"0,1,1\n" * (scale << 19), mtime=0)
    yield f"{100 * scale} MiB of one line, gzipped", zeros.getvalue()
    yield "a gzip within a gzip within a gzip", gzip.compress(gzip.compress(zeros.getvalue(), mtime=0), mtime=0)
    yield f"{scale << 19} rows of one synapse, gzipped", rows
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", b" " * (64 << 20))
    yield "a zip with a manifest of 64 MiB of spaces", archive.getvalue()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for i in range(2000 * scale):
            file.writestr(f"edges/{i}", b"")
    yield f"a zip of {2000 * scale} members", archive.getvalue()
    yield "a graph that promises four thousand million vertices", b"4000000000 4000000000\n1 2\n"
    yield "a matrix that promises as many", b"%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 9\n1 1 1\n"
    yield "an .snn header alone", _read("small.snn")[:16]


@dataclass(frozen=True)
class Request:
    """`signer`: the headers that say who asks; `unsigned`: what is wrong with them, if anything."""
    method: str
    path: str
    headers: list
    body: bytes | None
    signer: list
    unsigned: str | None = None
    address: str = field(default="127.0.0.1")

    def __str__(self):
        return f"{self.method} {self.path[:200]} {self.signer + self.headers} {str(self.body)[:300]} from {self.address}"


class Requests:
    """Requests on what `world` (names of things that are there) has."""

    def __init__(self, document, world, seed):
        self.document, self.world, self.random = document, world, random.Random(seed)
        self.networks = [_read("celegans_herm_chem.edges.csv"), _read("celegans_herm_chem.graph.gz"), _read("small.snn"),
                         _read("onnx/shuffle.onnx"), _read("onnx/small.onnx"), b"3 2 1\n2 1\n1 1 3 1\n2 1\n", b"2 3\n1 2\n2 3\n",
                         b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 1.5\n"]

    # ---- what should work ----

    def body(self, operation):
        w, r = self.world, self.random
        return {
            "postNetwork": lambda: r.choice(self.networks) if r.random() < 0.5 else b"a,b,%d\nb,c,1\n" % r.randrange(10**9),
            "postNetworkRates": lambda: b"".join(b"%d,%d\n" % (a, r.randrange(1, 9)) for a in range(SMALL_NEURONS)),
            "postNetworkParameters": lambda: b"neuron,model,tau,v_threshold\n" + b"".join(b"%d,LIF,0.0%d,1\n" % (a, r.randrange(1, 9)) for a in range(SMALL_NEURONS)),
            "postUpload": lambda: {"name": "in pieces", "size": r.choice([40, 1000])},
            "patchUpload": lambda: b"a,b,1\n",
            "putChip": lambda: w["chip_file"],
            "putOccupancy": lambda: w["occupancy"],
            "patchOccupancy": lambda: {"occupy": [[2, 2, 3, 3]], "owner": "group"} if r.random() < 0.5
            else {"release": [[2, 2, 3, 3]]},
            "postReservation": lambda: {"count": 1, "owner": "x", "ttl": 5},
            "putReservation": lambda: {"ttl": 60},
            "postJob": lambda: {"network": w["network"], "chip": "hostile", "name": "n", "priority": r.randrange(-100, 101),
                                "options": {"preset": "fast", "seed": r.randrange(3), "max_part_size": 64,
                                            **({"constraints": [{"kind": "pin", "of": [0, 1], "at": [0, 0, 3, 3]}]} if r.random() < 0.3 else {})}}
            if r.random() < 0.7 else [{"network": w["network"], "chip": "hostile", "labels": {"batch": "1"}, "options": {"preset": "fast"}}] * r.randrange(1, 4)
            if r.random() < 0.3 else {"kind": "compile", "network": w["model"], "options": {"verify": True}} if r.random() < 0.6
            else {"kind": "quantize", "network": w["model"], "options": {"samples": 2, "method": "percentile", "threshold": 0.5,
                                                                                  **({"data": {"upload": w["samples"]}} if r.random() < 0.5 else {})}} if r.random() < 0.3
            else {"kind": "solve", "options": {"problem": {"array": {"columns": 3, "rows": 3, "tiles": [{"nodes": 2}]}, "nodes": [{"name": "a"}, {"name": "b", "memory": 3}],
                                                           "edges": [{"from": "a", "to": "b"}], "constraints": [{"kind": "order", "of": "a", "to": "b", "is": "left_of"}]}}}
            if r.random() < 0.5 else {"kind": "deploy", "network": w["network"], "chip": "catalyst-n1", "options": {"steps": 9, "dt": 1e-3, "spikes": "0,1\n", "mapping": ""}}
            if r.random() < 0.5 else {"kind": "profile", "network": w["network"], "options": {"steps": 9, "dt": 1e-3, "spikes": "0,1\n", "semantics": "norse"}},
            "postFits": lambda: {"network": w["network"], "chips": r.choice(["all", ["loihi1", "hostile"]])},
            "commitMapping": lambda: {"owner": "x", "ttl": 2},
            "postUser": lambda: {"name": f"u{r.randrange(10**9)}", "role": "user", "group": "vision"},
            "patchUser": lambda: {"role": "operator", "group": r.choice(["vision", "motor"]), "disabled": False},
            "putUserQuota": lambda: {"networks": 10**6, "core_hours": None},
            "putGroupQuota": lambda: {"bytes": 10**12},
            "putRetention": lambda: {"jobs_days": 10**6, "bytes": None},
            "postToken": lambda: {"user": w["user"], "name": "t", "scopes": ["read", "submit"], "ttl": 60},
            "postSession": lambda: {"token": w["user_token"]},
            "putNetworkAccess": lambda: {"visibility": "lab"},
            **{f"put{thing}Labels": lambda: {"labels": {"paper": "fig3", "run": str(r.randrange(9))}} for thing in ("Network", "Mapping", "Program", "Job")},
            **{f"put{thing}Access": lambda: {"visibility": r.choice(["lab", "private"])}
               for thing in ("Chip", "Lease", "Mapping", "Program", "Job", "Upload")},
        }.get(operation, lambda: None)()

    def headers(self, operation):
        if operation in ("putOccupancy", "patchOccupancy"):
            return [(b"If-Match", b"*")]
        return [(b"Upload-Offset", b"0")] if operation == "patchUpload" else []

    def path(self, pattern):
        kind = pattern.split("/")[2] if pattern.startswith("/v1/") else ""
        name = {"networks": "network", "uploads": "upload", "chips": "chip", "jobs": "job", "sweeps": "sweep", "mappings": "mapping",
                "programs": "program", "tokens": "user_token_id"}.get(kind)
        if kind == "chips":
            pattern = pattern.replace("{name}", "hostile").replace("{id}", self.world["lease"])
        if kind in ("users", "retention") or pattern.startswith("/v1/quotas/users/"):
            pattern = pattern.replace("{name}", self.world["user"])
        if kind == "quotas":
            pattern = pattern.replace("{name}", "hostile")
        if "/pareto" in pattern:
            name, pattern = "pareto", pattern.replace("{number}", "1")
        if pattern.endswith(("/rates", "/parameters")):
            name = "small"
        if pattern.endswith("/model") or pattern.endswith("/pieces"):
            name = pattern.rsplit("/", 1)[1] + "_program"
        if kind == "programs" and pattern.rsplit("/", 1)[1] in ("images", "binary", "commands", "bench", "inputs", "expected", "spikes"):
            name = "images_program"
        return pattern.replace("{id}", self.world.get(name, "x")).replace("{file}", "index.html")

    def good(self, method, pattern, operation):
        body = self.body(operation["operationId"])
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        path = self.path(pattern)
        path = {"getEvents": "/v1/events?until=idle", "deleteChip": "/v1/chips/spare",
                "deleteNetwork": "/v1/networks/UNUSED-NETWORK", "cancelJob": "/v1/jobs/RUNNING-JOB/cancel",
                "deleteUser": "/v1/users/UNUSED-USER", "deleteToken": "/v1/tokens/UNUSED-TOKEN",
                "restoreBinned": "/v1/bin/UNUSED-BINNED/restore", "deleteBinned": "/v1/bin/UNUSED-BINNED"}.get(operation["operationId"], path)
        needed = [p for p in map(self.document.follow, operation.get("parameters", [])) if p["in"] == "query" and p.get("required")]
        asked = {"getMappingDiff": f"with={self.world.get('mapping')}", "getMappingFlows": "neuron=1", "getMappingTree": "neuron=1"}.get(operation["operationId"])
        if asked:
            path += "?" + asked
        elif needed:
            path += "?" + "&".join(f"{p['name']}={self.random.choice(self.document.follow(p['schema'])['enum'])}" for p in needed)
        return Request(method, path, self.headers(operation["operationId"]), body, [bearer(self.world["token"])])

    # ---- what a hostile client makes of it ----

    def bytes(self, data):
        r, data = self.random, bytearray(data)
        for _ in range(r.choice([1, 1, 3, 20])):
            at = r.randrange(len(data) + 1)
            choice = r.randrange(6)
            if choice == 0 and data:
                data[at % len(data)] = r.randrange(256)
            elif choice == 1:
                del data[at:]
            elif choice == 2:
                data[at:at] = r.randbytes(r.choice([1, 4, 100]))
            elif choice == 3:
                data[at:at] = data[:r.randrange(200)]
            elif choice == 4:
                data[at:at + 8] = str(r.choice(NUMBERS)).encode()
            else:
                del data[at:at + r.randrange(1, 50)]
        return bytes(data)

    def value(self, value, depth=0):
        """A JSON value with something changed in it."""
        r = self.random
        if isinstance(value, dict) and value and r.random() < 0.8:
            value = dict(value)
            name = r.choice(list(value))
            choice = r.randrange(5)
            if choice == 0:
                del value[name]
            elif choice == 1:
                value[r.choice(TEXTS + ["options", "kind", "from"])] = self.anything()
            else:
                value[name] = self.value(value[name], depth + 1)
            return value
        if isinstance(value, list) and value and r.random() < 0.8:
            value = list(value)
            at = r.randrange(len(value))
            if r.random() < 0.3:
                value += [value[at]] * r.choice([1, 3, 2000])
            else:
                value[at] = self.value(value[at], depth + 1)
            return value
        return self.anything()

    def anything(self, depth=0):
        r = self.random
        choice = r.randrange(7)
        if choice < 2:
            return r.choice(NUMBERS)
        if choice < 4:
            return r.choice(TEXTS)
        if choice == 4:
            return r.choice([True, False, None, [], {}])
        if depth > 3:
            return 1
        if choice == 5:
            return [self.anything(depth + 1) for _ in range(r.randrange(4))]
        return {r.choice(TEXTS + ["a", "b"]): self.anything(depth + 1) for _ in range(r.randrange(4))}

    def option(self):
        """A name and a value of a job's options as docs/reference/options.md has them, of any size."""
        r = self.random
        names = ["preset", "objective", "seed", "threads", "time_limit", "memory_limit", "max_part_size", "parts", "region",
                 "regions", "mapper", "routing", "traffic_model", "imbalance", "capacity_tries", "verify", "stop_after", "memory"]
        return r.choice(names), r.choice([self.anything(), "best", "learned", "edge", "axon", 1, 3, 286, 10**6])

    def query(self, operation):
        r, pairs = self.random, []
        for parameter in operation.get("parameters", []):
            parameter = self.document.follow(parameter)
            if parameter["in"] == "query" and r.random() < 0.7:
                allowed = parameter["schema"].get("enum", [1, 2, "x"])
                pairs.append((parameter["name"], r.choice([r.choice(allowed), r.choice(NUMBERS), r.choice(TEXTS), "10ms"])))
        if r.random() < 0.2:
            pairs.append((r.choice(["x", "limit", "format", ""]), r.choice(TEXTS)))
        if pairs and r.random() < 0.1:
            pairs.append(pairs[0])
        return "&".join(f"{quote(str(k), errors='replace')}={quote(str(v), errors='replace')}" for k, v in pairs)

    def header(self):
        r = self.random
        return r.choice([
            (b"If-Match", r.choice([b"*", b'"x"', b"x", b'W/"x"', b'"', b'"a", "b"', b""])),
            (b"If-None-Match", r.choice([b"*", b'"x"', b'"', b'"a",' * 500])),
            (b"Range", r.choice([b"bytes=0-", b"bytes=5-1", b"bytes=-0", b"bytes=0-0,2-3", b"bytes=99999999999999999999-", b"x"])),
            (b"If-Range", r.choice([b'"x"', b"Mon, 01 Jan 2024 00:00:00 GMT"])),
            (b"Accept", r.choice([b"text/csv", b"*/*;q=0", b"image/png", b"application/octet-stream", b"a/b;" * 300, b"application/json"])),
            (b"Accept-Encoding", r.choice([b"gzip", b"gzip;q=0", b"*", b"br", b"gzip," * 300])),
            (b"Content-Type", r.choice([b"text/plain", b"multipart/form-data; boundary=x", b"application/x-www-form-urlencoded"])),
            (b"Idempotency-Key", r.choice([b"k1", b"k2", b"k" * 2000, b"\xff\xfe", b""])),
            (b"Last-Event-ID", r.choice([b"0", b"1", b"-1", b"99999999999999999999", b"x"])),
            (b"Upload-Offset", r.choice([b"0", b"6", b"-1", b"99999999999999999999", b"x"])),
            (b"Origin", r.choice([b"http://localhost", b"http://evil.example", b"null"])),
            (b"Expect", r.choice([b"100-continue", b"200-ok"])),
            (b"Cookie", b"a=b; c=" + b"d" * r.choice([1, 3000])),
            (b"X-Long", b"x" * r.choice([10, 9000])),
        ])

    def signer(self):
        """Another way to sign in: (headers, what is wrong with them, address). Wrong tokens come from many addresses, for
        the answers to each are held up more and more."""
        w, r = self.world, self.random
        token = w["token"]
        somewhere = f"127.{r.randrange(1, 250)}.{r.randrange(250)}.{r.randrange(2, 250)}"
        user, here = bearer(w["user_token"]), "127.0.0.1"
        cookie = (b"Cookie", w["cookie"].encode())
        at = r.randrange(len(token))
        wrong = r.choice([token[:at], token[:at] + ("x" if token[at] != "x" else "y") + token[at + 1:], token + "x", "x" * 5000, "", " ",
                          token.upper(), token[::-1], token.replace("_", "-"), "coremap_000000000000_" + "A" * 43, "\xff" * 60])
        return r.choice([
            ([user], None, here),
            ([cookie, (b"Origin", r.choice([b"http://localhost", b"http://evil.example", b"null", b"http://127.0.0.1"]))], None, here),
            ([cookie], None, here),
            ([], "no token", here),
            ([(b"Authorization", b"Basic " + token.encode())], "another scheme", here),
            ([(b"Authorization", b"Bearer")], "no token", here),
            ([(b"Authorization", token.encode())], "no scheme", here),
            ([(b"Cookie", b"coremap_session=" + b"A" * r.choice([0, 43, 3000]))], "a wrong cookie", here),
            ([(b"Authorization", b"Bearer " + wrong.encode("latin-1"))], "a wrong token", somewhere),
            ([bearer(token), user], None, here),
        ])

    def bad(self, method, pattern, operation):
        r = self.random
        request = self.good(method, pattern, operation)
        method, path, headers, body = request.method, request.path, request.headers, request.body
        if r.random() < 0.15:
            signer, unsigned, address = self.signer()
            request = replace(request, signer=signer, unsigned=unsigned, address=address)
        if method == "DELETE": # what the others work on stays, mostly
            path = "/".join(r.choice(PATHS) if part in self.world["names"] and r.random() < 0.98 else part
                            for part in path.split("/")).replace(" ", "%20")
        for _ in range(r.choice([1, 1, 2, 3])):
            choice = r.randrange(8)
            if choice == 0 and "{" in pattern:
                path = pattern
                while "{" in path:
                    path = path[:path.index("{")] + r.choice(PATHS + self.world["names"]) + path[path.index("}") + 1:]
                path = path.replace(" ", "%20")
            elif choice == 1:
                path = path.split("?")[0] + "?" + self.query(operation)
            elif choice == 2:
                headers = headers + [self.header() for _ in range(r.choice([1, 1, 2, 5]))]
            elif choice == 3 and headers:
                headers = headers[1:]
            elif body is None and choice == 4 and r.random() < 0.3:
                body = r.choice(RAW)
            elif body is not None and method != "HEAD":
                try:
                    tree = json.loads(body)
                except (ValueError, RecursionError):
                    tree = None
                if isinstance(tree, dict) and r.random() < 0.75:
                    if "options" in tree and r.random() < 0.4 and isinstance(tree["options"], dict):
                        tree["options"].update([self.option()])
                    else:
                        tree = self.value(tree)
                    body = json.dumps(tree).encode()
                else:
                    body = r.choice(RAW) if r.random() < 0.2 else self.bytes(body)
        return replace(request, path=path, headers=headers, body=body)
