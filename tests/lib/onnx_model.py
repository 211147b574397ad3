"""Writes small ONNX models, with nothing but the standard library."""
import struct

FLOAT, INT64, INT, INTS = 1, 7, 2, 7  # types of elements, and kinds of attributes


def varint(value):
    value %= 1 << 64
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value >> 7)


def number(field, value):
    return varint(field * 8) + varint(value)


def message(field, *parts):
    body = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field * 8 + 2) + varint(len(body)) + body


def attribute(name, value):
    if isinstance(value, int):
        return message(5, message(1, name), number(3, value), number(20, INT))
    return message(5, message(1, name), *[number(8, one) for one in value], number(20, INTS))


def node(operator, inputs, outputs, **attributes):
    return message(1, *[message(1, name) for name in inputs], *[message(2, name) for name in outputs], message(3, outputs[0]),
                   message(4, operator), *[attribute(*one) for one in attributes.items()])


def constant(name, dims, values):
    """Floats, or integers of 64 bits where all values are."""
    floats = any(isinstance(value, float) for value in values)
    return message(5, *[number(1, dim) for dim in dims], number(2, FLOAT if floats else INT64), message(8, name),
                   message(9, struct.pack("<%d%s" % (len(values), "f" if floats else "q"), *values)))


def value(field, name, dims):
    return message(field, message(1, name), message(2, message(1, number(1, FLOAT), message(2, *[message(1, number(1, dim)) for dim in dims]))))


def model(parts, inputs, outputs):
    """Nodes and constants; inputs and outputs of float32 as {name: dims}."""
    graph = message(7, *parts, message(2, "g"), *[value(11, *one) for one in inputs.items()], *[value(12, *one) for one in outputs.items()])
    return number(1, 8) + graph + message(8, number(2, 13))
