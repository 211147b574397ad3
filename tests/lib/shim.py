"""The control page of tests/lib/interpose.c (interpose.h), seen from outside."""
import atexit
import errno
import mmap
import os
import shutil
import struct
import tempfile

from daemon import BUILD

SHIM = os.path.join(BUILD, "tests", "lib", "interpose.so")
if " " in SHIM or ":" in SHIM:  # which separate what is preloaded
    _folder = tempfile.mkdtemp(prefix="coremapd-shim-")
    atexit.register(shutil.rmtree, _folder)
    SHIM = shutil.copy(SHIM, _folder)
KINDS = {"allocation": (1, errno.ENOMEM), "write": (2, errno.ENOSPC), "sync": (3, errno.EIO), "open": (4, errno.EMFILE),
         "name": (5, errno.EIO), "map": (6, errno.ENOMEM), "thread": (7, errno.EAGAIN)}
_KIND, _ERROR, _FIRED, _AT, _EVERY, _HITS, _CALLS, _GATHER, _GATHERED, _FRAMES, _AHEAD, _FIRST = 4, 8, 12, 16, 24, 32, 48, 112, 116, 120, 124, 128
_MOST_PLACES = 16384
_PLACES = _FIRST + 8 * _MOST_PLACES
_SIZE = _PLACES + 8 * _MOST_PLACES


class Control:
    def __init__(self, path):
        self.path = path
        with open(path, "w+b") as file:
            file.truncate(_SIZE)
            self.page = mmap.mmap(file.fileno(), _SIZE)

    def environment(self):
        return {"LD_PRELOAD": SHIM, "CM_INTERPOSE": self.path}

    def arm(self, kind, at, every=0, error=None):
        """The call number `at` of a kind from now on fails, and every so many after it."""
        number, usual = KINDS[kind]
        self.disarm()
        struct.pack_into("=I", self.page, _FIRED, 0)
        struct.pack_into("=QQQ", self.page, _AT, at, every, 0)
        struct.pack_into("=I", self.page, _ERROR, usual if error is None else error)
        struct.pack_into("=I", self.page, _KIND, number)

    def disarm(self):
        """Calls go well again; how many failed since."""
        struct.pack_into("=I", self.page, _KIND, 0)
        return struct.unpack_from("=I", self.page, _FIRED)[0]

    def calls(self):
        """{kind: calls so far}"""
        counts = struct.unpack_from("=8Q", self.page, _CALLS)
        return {kind: counts[number] for kind, (number, _) in KINDS.items()}

    def gather(self, kind, run, frames=0):
        """What run() gives, and which calls of a kind are the first from their place in the program: so many innermost
        frames, or as many as there are room for."""
        struct.pack_into("=I", self.page, _FRAMES, frames)
        self.page[_PLACES:_SIZE] = bytes(_SIZE - _PLACES)
        before = self.calls()[kind]
        struct.pack_into("=II", self.page, _GATHER, KINDS[kind][0], 0)
        given = run()
        struct.pack_into("=I", self.page, _GATHER, 0)
        count = struct.unpack_from("=I", self.page, _GATHERED)[0]
        return given, sorted(number - before for number in struct.unpack_from(f"={count}Q", self.page, _FIRST))

    def set_clock(self, ahead):
        """The wall clock is so many seconds ahead from now on."""
        struct.pack_into("=i", self.page, _AHEAD, ahead)
