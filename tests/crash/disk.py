"""A disk that forgets: replays what a program did to its files, as interpose.c logged it, and makes the states that a power
cut may leave.

strict  Nothing lasts but what was synced: bytes of a file by fsync or fdatasync of the file, a name by fsync of its
        folder. Of the rest any part may be there, in any order, torn within a write.
ext4    As ext4 does it with ordered data: names and truncations last in the order in which they were made, all of
        them up to the last sync that went to the journal; bytes as in strict.
kill    No cut at all: what a program that was killed at this moment has written.
A rename within a folder is whole or not there. Between folders the old name may stay beside the new one, but never go
before it."""
import os
import struct

RECORD = struct.Struct("<IIQQQQII")
CREATE, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, UNLINK, FOLDER, LINK = range(1, 10)


class Operation:
    __slots__ = ("kind", "time", "file", "offset", "size", "path", "other", "data")

    def __init__(self, fields, path, other, data):
        _, self.kind, self.time, self.file, self.offset, self.size, _, _ = fields
        self.path, self.other, self.data = path, other, data


def read_log(path):
    with open(path, "rb") as file:
        text = file.read()
    operations, at = [], 0
    while at < len(text):
        fields = RECORD.unpack_from(text, at)
        first = at + RECORD.size
        second = first + fields[6]
        data = second + fields[7]
        operations.append(Operation(fields, text[first:second].decode(), text[second:data].decode(), text[data:at + fields[0]]))
        at += fields[0]
    return operations


class File:
    def __init__(self):
        self.durable = b""
        self.pending = []     # (number of the operation, offset, bytes) or (number, size, None)
        self.marked = 0       # of them, before the sync under way
        self.grown = True     # since the last sync, so that an fdatasync goes to the journal too

    def sync_begin(self):
        self.marked = len(self.pending)

    def sync_end(self):
        self.durable = apply(self.durable, self.pending[:self.marked])
        del self.pending[:self.marked]
        self.marked, self.grown = 0, False


def apply(content, changes):
    content = bytearray(content)
    for _, offset, data in changes:
        if data is None:
            if len(content) > offset:
                del content[offset:]
            else:
                content.extend(bytes(offset - len(content)))
            continue
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        content[offset:offset + len(data)] = data
    return bytes(content)


class Change:
    """Of one folder: `name` becomes `node`, or goes (None). `gone`: a name of the same folder that goes with it.
    `after`: this one is there only if that one is."""
    __slots__ = ("number", "name", "node", "gone", "after", "lasts")

    def __init__(self, number, name, node, gone=None, after=None):
        self.number, self.name, self.node, self.gone, self.after = number, name, node, gone, after
        self.lasts = False


class Folder:
    def __init__(self):
        self.now, self.durable = {}, {}
        self.pending, self.marked = [], 0

    def change(self, change):
        if change.gone is not None:
            self.now.pop(change.gone, None)
        if change.node is None:
            self.now.pop(change.name, None)
        else:
            self.now[change.name] = change.node
        self.pending.append(change)

    def sync_begin(self):
        self.marked = len(self.pending)

    def sync_end(self):
        entries(self.durable, self.pending[:self.marked])
        for change in self.pending[:self.marked]:
            change.lasts = True
        del self.pending[:self.marked]
        self.marked = 0


def entries(names, changes):
    for change in changes:
        if change.gone is not None:
            names.pop(change.gone, None)
        if change.node is None:
            names.pop(change.name, None)
        else:
            names[change.name] = change.node
    return names


class Disk:
    """Everything below `root`, a folder that is there and lasts; `file` is its inode."""

    def __init__(self, root, file):
        self.root, self.top = root.rstrip("/"), Folder()
        self.nodes = {file: self.top}  # inode -> node
        self.number = 0            # operations so far
        self.journal = 0           # names up to this operation last under ext4

    def load(self, folder=None, path=None):
        """What is there now, and lasts."""
        folder = folder or self.top
        for entry in os.scandir(path or self.root):
            node = Folder() if entry.is_dir(follow_symlinks=False) else File()
            self.nodes[entry.inode()] = folder.now[entry.name] = folder.durable[entry.name] = node
            if isinstance(node, Folder):
                self.load(node, entry.path)
            else:
                with open(entry.path, "rb") as file:
                    node.durable = file.read()


    def find(self, path):
        """The folder and the last name of a path; (None, ..) when it is outside."""
        if not path.startswith(self.root + "/"):
            return None, ""
        *folders, name = path[len(self.root) + 1:].split("/")
        folder = self.top
        for step in folders:
            folder = folder.now.get(step)
            if not isinstance(folder, Folder):
                return None, ""
        return folder, name

    def do(self, operation):
        self.number += 1
        kind, number = operation.kind, self.number
        if kind in (WRITE, TRUNCATE):
            node = self.nodes.get(operation.file)
            if isinstance(node, File):
                node.pending.append((number, operation.offset, operation.data) if kind == WRITE else (number, operation.size, None))
                node.grown = True  # whether it did, an overwrite in place aside, is not worth a closer look
        elif kind == SYNC_BEGIN:
            node = self.nodes.get(operation.file)
            if node is not None:
                node.sync_begin()
        elif kind == SYNC_END:
            node = self.nodes.get(operation.file)
            if node is not None:
                if not isinstance(node, File) or node.grown:
                    self.journal = number
                node.sync_end()
        else:
            self.name(operation, number)

    def name(self, operation, number):
        folder, name = self.find(operation.path)
        other, new = self.find(operation.other)
        if operation.kind in (CREATE, FOLDER):
            node = Folder() if operation.kind == FOLDER else File()
            self.nodes[operation.file] = node
            if folder is not None:
                folder.change(Change(number, name, node))
        elif operation.kind == UNLINK:
            if folder is not None:
                folder.change(Change(number, name, None))
        elif operation.kind in (RENAME, LINK):
            node = folder.now.get(name) if folder is not None else None
            if node is None:
                return
            if operation.kind == RENAME and other is folder:
                folder.change(Change(number, new, node, gone=name))
                return
            arrival = Change(number, new, node)
            if other is not None:
                other.change(arrival)
            if operation.kind == RENAME:
                folder.change(Change(number, name, None, after=arrival if other is not None else None))


class Choice:
    """One way in which power may fail: decides for everything that is not synced."""

    def __init__(self, disk, rule, random):
        self.disk, self.rule, self.random = disk, rule, random
        self.names = random.choice([0, 0, 0.3, 0.7, 1])
        self.bytes = random.choice([0, 0, 0.1, 0.5, 0.9, 1])
        self.grain = random.choice([512, 4096, 4096, 1 << 30])
        if rule == "kill":
            self.names = self.bytes = 1
        self.upto = random.randint(min(disk.journal, disk.number), disk.number) if self.names else disk.journal
        self.kept = {}

    def __str__(self):
        names = f"names to {self.upto}" if self.rule == "ext4" else f"names {self.names}"
        return f"{self.rule}, {names}, bytes {self.bytes} by {self.grain}"

    def keeps(self, change):
        if change.lasts:
            return True
        if id(change) not in self.kept:
            if self.rule == "ext4":
                kept = change.number <= self.upto
            else:
                kept = self.random.random() < self.names and (change.after is None or self.keeps(change.after))
            self.kept[id(change)] = kept
        return self.kept[id(change)]

    def content(self, file):
        changes = []
        for number, offset, data in file.pending:
            if data is None:
                if number <= self.upto if self.rule == "ext4" else self.random.random() < self.names:
                    changes.append((number, offset, None))
                continue
            at = 0
            while at < len(data):
                end = min(len(data), (offset + at) // self.grain * self.grain + self.grain - offset)
                if self.random.random() < self.bytes:
                    changes.append((number, offset + at, data[at:end]))
                at = end
        return apply(file.durable, changes) if changes else file.durable

    def tree(self, folder=None, path=""):
        """Yields (path, bytes), with None for a folder."""
        folder = folder or self.disk.top
        names = entries(dict(folder.durable), [c for c in folder.pending if self.keeps(c)])
        for name, node in names.items():
            if isinstance(node, Folder):
                yield path + name, None
                yield from self.tree(node, path + name + "/")
            elif not name.endswith("-shm"):  # SQLite makes it anew
                yield path + name, self.content(node)
