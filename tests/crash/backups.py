"""Backups of a server under load, and what is restored from them: interrupted or not, a folder is whole, or it is refused."""
import json
import os
import random
import subprocess
import threading
import time

from daemon import BUILD, Daemon
from judge import Judge, check_data

PROGRAM = os.path.join(BUILD, "coremapd")
LONGEST = 0.12  # seconds until a backup is interrupted, at most


def end_within(words, seconds, environment=None):
    """(status, what it said); it is killed after so many seconds (None: never)."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(environment or {})}) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
        return process.returncode, said


class BackupThread(threading.Thread):
    """One backup, begun at some moment of a server's life; half of those that may be are killed."""

    def __init__(self, data, folder, seed, environment=None, killed=True):
        super().__init__(daemon=True)
        self.data, self.folder, self.environment, self.killed = data, folder, environment, killed
        self.random = random.Random(seed)
        self.begun = self.done = self.status = None
        self.said = ""

    def run(self):
        time.sleep(self.random.uniform(0, 0.1))
        seconds = self.random.choice([None, self.random.uniform(0.005, LONGEST)]) if self.killed else None
        self.begun = time.monotonic_ns()
        self.status, self.said = end_within([PROGRAM, "backup", self.folder, "--data", self.data], seconds, self.environment)
        self.done = time.monotonic_ns()

    def fault(self):
        """It ends well unless it was killed. (A folder that changes faster than it can be copied is said to.)"""
        if self.status in (0, -9) or "files that the database of" in self.said:
            return []
        return [f"the backup ended with {self.status}: {self.said}"]


def bare(folder):
    """Nothing was begun in it. (The name of a file that a kill left unnamed is nothing.)"""
    return not os.path.isdir(folder) or all(".tmp-" in name for name in os.listdir(folder))


def finished(folder):
    """It has the marker of a whole one."""
    try:
        with open(os.path.join(folder, "coremapd.json"), encoding="ascii") as file:
            return json.load(file)["format"] > 0
    except FileNotFoundError:
        return False


def refused(folder, said):
    """What is wrong with a folder that is not whole: it is empty, or nobody takes it."""
    if bare(folder):
        return []
    status, told = end_within([PROGRAM, "--data", folder, "--listen", "127.0.0.1:0"], 5)
    if status == 1 and "half of a backup" in told:
        return []
    return [f"{folder}, {said}, was taken by a server ({status}): {told[:300]}"]


class Restored:
    """Restores a backup beside and looks at it. `at`, `since`: when it was made."""

    def __init__(self, ledger, lab, seed, at, since, killed=True):
        self.ledger, self.lab, self.at, self.since, self.killed = ledger, lab, at, since, killed
        self.random = random.Random(seed)

    def look(self, backup, acknowledged):
        data = backup + "-restored"
        interrupted = self.killed and self.random.random() < 0.3
        seconds = self.random.uniform(0.005, LONGEST) if interrupted else None
        status, said = end_within([PROGRAM, "restore", backup, "--data", data], seconds)
        if status == -9 and finished(data):
            return self.judge(data)  # killed in the moment between
        if status != 0 and (interrupted or not acknowledged):
            return refused(data, "half restored") + ([] if acknowledged or interrupted else self.unfinished(backup, said))
        if status != 0:
            return [f"a backup that was done is not restored ({status}): {said}"]
        return self.judge(data)

    @staticmethod
    def unfinished(backup, said):
        """One that was killed is refused by restore as by a server."""
        if "half of a backup" in said or bare(backup):
            return refused(backup, "an interrupted backup")
        return [f"an interrupted backup is refused for another reason: {said}"]

    def judge(self, data):
        server = Daemon(data, 0, ["--workers", "1", "--threads", "1", *self.lab.flags()])
        try:
            server.start()
            judge = Judge(server, self.ledger, self.at, self.since, self.lab).look()
            judge.folder()
            faults = judge.faults
        except Exception as error:
            faults = [f"{type(error).__name__}: {error}"]
        finally:
            server.kill()
        said = check_data(data) if not faults else None
        return [f"restored: {fault}" for fault in faults + ([said] if said is not None else [])]
