"""Reads the topology file (docs/reference/topology-file.md) on its own, as the judge of what the server keeps."""
import io
import json
import zipfile
from hashlib import blake2b


def _numbers(data):
    """The integers of a member: 7 bits a byte, most significant group first, the high bit says that more follow."""
    value = 0
    for byte in data:
        value = value << 7 | byte & 127
        if byte < 128:
            yield value
            value = 0


def _rows(member, count, first, directed, pins):
    numbers = _numbers(member)
    size, weight, rate = 1, 1, None
    for vertex in range(first, first + count):
        other = 0
        for _ in range(next(numbers)):
            flags = next(numbers)
            other = next(numbers) + (other if flags & 4 else 0)
            if flags & 1:
                size = next(numbers)
            if flags & 2:
                weight = next(numbers)
            if flags & 8:
                rate = next(numbers)
                if not flags & 2:
                    weight = rate
            pins[vertex, other] = weight
    if next(numbers, None) is not None:
        raise ValueError("bytes follow the last vertex")


def pins(content):
    """{(source's name, target's name): weight on the file's scale} of a topology file's bytes; raises on any damage."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if archive.testzip() is not None:
            raise ValueError("a member's checksum does not match")
        manifest = json.loads(archive.read("manifest.json"))
        found = {}
        for member in manifest["members"]:
            data = archive.read(member["name"])
            if len(data) != member["bytes"] or blake2b(data, digest_size=32).hexdigest() != member["blake2b"]:
                raise ValueError(f"member {member['name']} is not what the manifest says")
            if member["name"].startswith("edges/"):
                _rows(data, member["vertices"], member["first_vertex"], manifest["directed"], found)
        names = [str(i) for i in range(manifest["vertices"])]
        if manifest["has_labels"]:
            names = archive.read("labels").decode().split("\0")[:-1]
    return {(names[a], names[b]): w / manifest["weight_scale"] for (a, b), w in found.items()}
