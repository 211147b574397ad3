"""What there is on the server for requests to be about: users with their tokens, a network, a model, a chip, leases, a job
of each kind and what they made."""
import json
import os
import subprocess
import time

from daemon import BUILD, ROOT

ADMIN = "root"
SMALL_NEURONS = 40


def bearer(token):
    return (b"Authorization", b"Bearer " + token.encode())


def make_admin(data):
    """The first user of a data folder; his token. As docs/how-to/users.md says: on the server's machine."""
    def command(*words):
        return subprocess.run([os.path.join(BUILD, "coremapd"), *words, "--data", data], check=True, capture_output=True, text=True).stdout

    command("user", "add", ADMIN, "--role", "admin")
    return command("token", "add", "--user", ADMIN, "--scope", "admin", "--expires", "never").split()[-1]


class World(dict):
    """Names of things by what they are; asked for by `wire`, which signs in as the administrator."""

    def __init__(self, wire, token):
        super().__init__(token=token)
        self.wire, self.made_users = wire, 0

    def ask(self, method, path, body=None, headers=()):
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return self.wire.ask(method, path, list(headers), body)

    def read(self, path):
        return json.loads(self.ask("GET", path).body)

    def made(self, method, path, body, headers=()):
        reply = self.ask(method, path, body, headers)
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply}")
        return json.loads(reply.body)

    def setup(self):
        """Makes all; again when the mutations took something."""
        for part in (self.users, self.chips, self.networks, self.jobs):
            part()
        self["names"] = [value for name, value in self.items() if isinstance(value, str) and name not in ("token", "user_token", "cookie")]

    def users(self):
        """Beside the administrator: one whom requests change, with a token and a session."""
        self.made_users += 1
        self["user"] = f"user{self.made_users}"
        self.made("POST", "/v1/users", {"name": self["user"], "group": "vision"})
        token = self.made("POST", "/v1/tokens", {"user": self["user"], "ttl": 86400})
        self["user_token"], self["user_token_id"] = token["token"], token["id"]
        reply = self.ask("POST", "/v1/session", {"token": self["user_token"]})
        self["cookie"] = reply.headers["set-cookie"].split(";")[0]

    def chips(self):
        chip = self["chip_file"] = self.read("/v1/chips/loihi1")
        for name in ("spare", "hostile"):
            chip["name"] = name
            if self.ask("GET", f"/v1/chips/{name}").status == 404:
                self.made("PUT", f"/v1/chips/{name}", chip)
        for lease in self.read("/v1/chips/hostile/reservations")["reservations"]:
            self.ask("DELETE", f"/v1/chips/hostile/reservations/{lease['id']}")
        self.ask("PUT", "/v1/chips/hostile/occupancy", {"taken": [], "broken": []}, [(b"If-Match", b"*")])
        self.end_jobs()
        self["lease"] = self.made("POST", "/v1/chips/hostile/reservations", {"count": 1, "ttl": 600})["id"]
        occupancy = self.read("/v1/chips/hostile/occupancy")
        self["occupancy"] = {name: occupancy[name] for name in ("taken", "broken")}

    def networks(self):
        for name, file in (("network", "celegans_herm_chem.edges.csv"), ("model", "onnx/shuffle.onnx"), ("spiking", "nir/braille_noDelay_bias_zero.nir")):
            with open(os.path.join(ROOT, "tests", "data", file), "rb") as opened:
                self[name] = self.made("POST", "/v1/networks", opened.read())["id"]
        # Small: a Pareto set is a dozen mappings.
        rows = b"".join(b"%d,%d,1\n" % (a, (a + step) % SMALL_NEURONS) for a in range(SMALL_NEURONS) for step in (1, 2, 7))
        self["small"] = self.made("POST", "/v1/networks", rows)["id"]
        self["samples"] = self.made("POST", "/v1/uploads", {"name": "s", "size": 6144})["id"]
        self.ask("PATCH", f"/v1/uploads/{self['samples']}?of=samples", bytes(6144), [(b"Upload-Offset", b"0")])
        self["upload"] = self.made("POST", "/v1/uploads", {"name": "u", "size": 1000})["id"]

    def jobs(self):
        jobs = {"mapping": {"network": self["network"], "chip": "loihi1", "options": {"max_part_size": 16, "preset": "fast"}},
                "pareto": {"network": self["small"], "chip": "loihi1", "options": {"objective": "pareto", "preset": "fast", "parts": 5, "max_part_size": 8}},
                "program": {"kind": "compile", "network": self["model"], "chip": "npu-embedded"},
                "model_program": {"kind": "compile", "network": self["model"]},
                "pieces_program": {"kind": "compile", "network": self["model"], "chip": "npu-embedded", "options": {"stop_after": "split"}},
                "images_program": {"kind": "deploy", "network": self["spiking"], "chip": "catalyst-n1", "options": {"steps": 9, "dt": 1e-4, "poisson": 100}}}
        for name, job in jobs.items():
            job = self.made("POST", "/v1/jobs", job)["id"]
            done = self.wait(job)
            self[name] = done.get("mapping", done.get("program", "x"))
            self.setdefault("job", job)
        if self.ask("GET", f"/v1/jobs/{self['job']}").status == 404:
            self["job"] = job
        self["sweep"] = self.made("POST", "/v1/jobs", {"kind": "sweep", "network": self["small"], "chip": "loihi1", "axes": {"seed": [1, 2]},
                                                       "base": {"preset": "fast"}})["id"]
        self.wait(self["sweep"])

    def is_worn(self):
        """Whether mutations took away something that requests are made for."""
        paths = [f"/v1/mappings/{self['mapping']}", f"/v1/mappings/{self['pareto']}/pareto/1", f"/v1/jobs/{self['job']}",
                 f"/v1/sweeps/{self['sweep']}", f"/v1/networks/{self['network']}", f"/v1/networks/{self['model']}",
                 f"/v1/chips/hostile/reservations/{self['lease']}", "/v1/chips/spare", f"/v1/users/{self['user']}"]
        paths += [f"/v1/programs/{self[name]}" for name in ("program", "model_program", "pieces_program", "images_program")]
        return any(self.ask("GET", path).status != 200 for path in paths)

    def wait(self, job):
        until = time.monotonic() + 600  # jobs come after all else that the machine does
        while time.monotonic() < until:
            reply = self.read(f"/v1/jobs/{job}?wait=5s")
            if reply["state"] not in ("queued", "running"):
                return reply
        raise RuntimeError(f"job {job} does not end")

    def end_jobs(self):
        """Mutated jobs may ask for hours of work: they are cancelled."""
        for state in ("queued", "running"):
            for job in self.read(f"/v1/jobs?state={state}&limit=1000")["jobs"]:
                self.ask("POST", f"/v1/jobs/{job['id']}/cancel")

    # ---- what a single request uses up ----

    def running_job(self, seed):
        """A job that works for a while."""
        return self.made("POST", "/v1/jobs", {"network": self["network"], "chip": "loihi1", "options": {"preset": "best", "seed": seed}})["id"]

    def unused_network(self, number):
        return self.made("POST", "/v1/networks", b"a,b,%d\n" % number)["id"]

    def unused_binned(self, number):
        network = self.unused_network(number)
        self.ask("DELETE", f"/v1/networks/{network}")
        return network

    def unused_user(self, number):
        self.made("POST", "/v1/users", {"name": f"gone{number}"})
        return f"gone{number}"

    def unused_token(self):
        return self.made("POST", "/v1/tokens", {"name": "gone", "ttl": 60})["id"]
