"""ONNX files made and read without any library: as few of the fields as tests need."""
import struct

TYPES = {1: "f", 2: "B", 3: "b", 4: "H", 6: "i", 7: "q", 9: "?", 11: "d"}  # of tensors, as struct names them


# A message is pairs of a field's number, and bytes, a text or a number.

def varint(value):
    value &= (1 << 64) - 1
    made = b""
    while value > 127:
        made, value = made + bytes([value & 127 | 128]), value >> 7
    return made + bytes([value])


def message(*fields):
    made = b""
    for number, value in fields:
        if isinstance(value, int):
            made += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            made += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            value = value.encode() if isinstance(value, str) else value
            made += varint(number << 3 | 2) + varint(len(value)) + value
    return made


def unpack(data):
    """{number: [value, ...]} of a message."""
    at, made = 0, {}

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        key = number()
        if key & 7 == 2:
            size = number()
            value, at = data[at:at + size], at + size
        elif key & 7 == 5:
            value, at = struct.unpack("<f", data[at:at + 4])[0], at + 4
        else:
            value = number()
        made.setdefault(key >> 3, []).append(value)
    return made


def node(op, inputs, outputs, domain="", **attributes):
    outputs = [outputs] if isinstance(outputs, str) else outputs
    made = [(1, name) for name in inputs] + [(2, name) for name in outputs] + [(3, outputs[0]), (4, op), (7, domain)]
    for name, value in attributes.items():
        several = isinstance(value, (list, tuple))
        kind = {int: 2, float: 1, str: 3}[type((value or [0])[0] if several else value)] + 5 * several
        field = {1: 2, 2: 3, 3: 4, 6: 7, 7: 8, 8: 9}[kind]
        made.append((5, message((1, name), *[(field, v) for v in (value if several else [value])], (20, kind))))
    return (1, message(*made))


def constant(name, dims, numbers, kind=1):
    return (5, message(*[(1, d) for d in dims], (2, kind), (8, name), (9, struct.pack("<%d%s" % (len(numbers), TYPES[kind]), *numbers))))


def ends(number, name, dims, kind=1):
    """An input (11) or output (12) of a graph."""
    return (number, message((1, name), (2, message((1, message((1, kind), (2, message(*[(1, message((1, d))) for d in dims]))))))))


def model(path, opset, *fields):
    path.write_bytes(message((1, 8), (8, message((1, ""), (2, opset))), (8, message((1, "com.microsoft"), (2, 1))), (8, message((1, "ai.onnx.ml"), (2, 3))), (7, message((2, "g"), *fields))))


def graph(path):
    """Nodes as (op, inputs, outputs), and constants by name as (type, numbers)."""
    g = unpack(unpack(path.read_bytes())[7][0])
    nodes = [unpack(n) for n in g[1]]
    constants = {}
    for t in map(unpack, g.get(5, [])):
        kind, raw = t[2][0], t.get(9, [b""])[0]
        code = TYPES[kind]
        constants[t[8][0].decode()] = (kind, struct.unpack("<%d%s" % (len(raw) // struct.calcsize(code), code), raw))
    return [(n[4][0].decode(), [i.decode() for i in n.get(1, [])], [o.decode() for o in n[2]]) for n in nodes], constants
