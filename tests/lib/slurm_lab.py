"""A Slurm of this machine's own for tests and benchmarks: scripts/slurm-lab, and what may happen to the daemons in it."""
import os
import shutil
import signal
import subprocess
import time

from daemon import ROOT

LAB = os.path.join(ROOT, "scripts", "slurm-lab")
os.environ["PATH"] += ":/usr/sbin"


def fits():
    """Whether there can be one here."""
    return os.getuid() == 0 and all(shutil.which(program) for program in ("munged", "slurmctld", "slurmd", "sbatch"))


class Lab:
    """scripts/slurm-lab, and the daemons in it."""

    def __init__(self, folder):
        self.folder = folder
        self.enter = []  # what starts a daemon where the others run

    def start(self):
        said = subprocess.run([LAB, "start", self.folder], capture_output=True, text=True)
        if said.returncode != 0:
            raise RuntimeError(said.stderr)
        os.environ["SLURM_CONF"] = os.path.join(self.folder, "slurm.conf")

    def stop(self):
        subprocess.run([LAB, "stop", self.folder], check=False)

    def number(self, name):
        with open(os.path.join(self.folder, "run", f"{name}.pid"), encoding="ascii") as file:
            return int(file.read())

    def kill(self, name):
        os.kill(self.number(name), signal.SIGKILL)

    def revive(self, name):
        """Starts it again, and waits until it has written down its number."""
        program, _, node = name.partition(".")
        before = self.number(name)
        subprocess.run([*self.enter, program, "-f", os.environ["SLURM_CONF"], *(["-N", node] if node else [])], check=True, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if self.number(name) != before:
                return
            time.sleep(0.05)
        raise RuntimeError(f"{name} does not come back")

    def resume(self):
        """What an administrator does about nodes that Slurm has drained."""
        subprocess.run(["scontrol", "update", "nodename=n1,n2", "state=resume"], check=False, capture_output=True)
