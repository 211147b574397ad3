"""Starts, asks and ends a coremapd. Harnesses put tests/lib on sys.path and import this."""
import ctypes
import http.client
import json
import os
import select
import signal
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("CM_BUILD", os.path.join(ROOT, "build", "check"))
_libc = ctypes.CDLL(None)


def parse(parser):
    """What a harness is told. Beside its own: --executor, and flags for the server after --, both in `coremapd`."""
    parser.add_argument("--executor", choices=["threads", "process"], default="threads", help="of the server (threads)")
    parser.add_argument("coremapd", nargs="*", help="flags for the server, after --")
    options = parser.parse_args()
    options.coremapd += ["--executor", options.executor]
    return options


def scratch_folder(name):
    """A new folder for the files of a run: where TMPDIR says; else in memory, where syncs cost nothing and a kill leaves the
    same, if 2 GiB are free there; else with all temporary files."""
    memory = "/dev/shm"
    try:
        free = os.statvfs(memory)
        fits = os.access(memory, os.W_OK) and free.f_bavail * free.f_frsize >= 2 << 30
    except OSError:
        fits = False
    return tempfile.mkdtemp(prefix=f"coremapd-{name}-", dir=memory if fits and "TMPDIR" not in os.environ else None)


class Gone(Exception):
    """The server went away before its answer was complete: what was asked may or may not have been done."""


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __str__(self):
        return f"{self.status} {self.body[:300].decode(errors='replace')}"


class Client:
    """One kept-alive connection. A request is sent once: it is never repeated behind the caller's back."""

    def __init__(self, port, timeout=60):
        self.port, self.timeout, self.connection = port, timeout, None
        self.headers = {}  # of every request

    def ask(self, method, path, body=None, headers=None):
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        try:
            self.connection.request(method, path, body, {**self.headers, **(headers or {})})
            reply = self.connection.getresponse()
            text = reply.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Gone(f"{method} {path}: {error!r}") from error
        if reply.will_close:
            self.close()
        return Reply(reply.status, reply.headers, text)

    def get(self, path):
        return self.ask("GET", path)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _die_with_parent():
    _libc.prctl(1, signal.SIGKILL)


class Daemon:
    """A coremapd on `data`. `port` 0 lets it choose; `environment` is added to the caller's."""

    def __init__(self, data, port=0, arguments=(), environment=None):
        self.data, self.wanted_port, self.arguments = data, port, list(arguments)
        self.environment = {**os.environ, **(environment or {})}
        self.process, self.port = None, None
        self.errors = os.memfd_create("stderr")

    def start(self, within=60, patience=0):
        """Starts it and waits for its address; tries again for `patience` seconds when it ends at once."""
        until = time.monotonic() + patience
        while True:
            try:
                return self._start(within)
            except RuntimeError:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.2)

    def _start(self, within):
        os.ftruncate(self.errors, 0)
        os.lseek(self.errors, 0, os.SEEK_SET)
        words = [os.path.join(BUILD, "coremapd"), "--listen", f"127.0.0.1:{self.wanted_port}", "--data", self.data,
                 "--www", os.path.join(ROOT, "www"), *self.arguments]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=self.environment, preexec_fn=_die_with_parent)
        line, until = b"", time.monotonic() + within
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not piece:
                ended = "ended with status" if ready else f"said nothing for {within} s and was ended with"
                self.process.kill()
                status = self.process.wait()
                raise RuntimeError(f"coremapd did not start: it {ended} {status}: {self.said()}")
            line += piece
        self.port = int(line.rsplit(b":", 1)[1])
        return self

    def said(self):
        """What it wrote to standard error so far."""
        return os.pread(self.errors, 1 << 20, 0).decode(errors="replace").strip()

    def __del__(self):
        os.close(self.errors)

    def client(self, timeout=60):
        return Client(self.port, timeout)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9."""
        return self._end(signal.SIGKILL, 60)

    def stop(self, within=60):
        """SIGTERM; its exit status, or -N when signal N ended it."""
        return self._end(signal.SIGTERM, within)

    def _end(self, number, within):
        if self.process is None:
            return None
        if self.alive():
            self.process.send_signal(number)
        try:
            status = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = "hangs"
        self.process.stdout.close()
        self.process = None
        return status
