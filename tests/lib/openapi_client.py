"""Writes a Python client of an OpenAPI document: a dataclass for each object of the schemas, and a method for each operation, which
takes its path, query and JSON body and returns what its schema says. What a reply has that its schema has not, or the other way round,
is a TypeError. Standard library only."""
import json
import keyword
import re

RUNTIME = '''"""Generated. Do not edit."""
from __future__ import annotations
import dataclasses, http.client, json, typing, urllib.parse
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

_NAMES = {}

def read(kind: Any, value: Any, where: str = "$") -> Any:
    """A value of JSON as the type says."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if origin is Union:
        for one in inner:
            try:
                return read(one, value, where)
            except TypeError as error:
                last = error
        raise TypeError("%s: fits none of %s: %s" % (where, kind, last))
    if origin is list and isinstance(value, list):
        return [read(inner[0], one, "%s[%d]" % (where, i)) for i, one in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {name: read(inner[1], one, where + "." + name) for name, one in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        hints, told = typing.get_type_hints(kind, globals()), {}
        for field in dataclasses.fields(kind):
            name = _NAMES.get(field.name, field.name)
            if name in value:
                told[field.name] = read(hints[field.name], value[name], where + "." + name)
            elif field.default is dataclasses.MISSING:
                raise TypeError("%s: %s is missing" % (where, name))
        return kind(**told)
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if origin is None and isinstance(kind, type) and isinstance(value, kind) and (kind is bool) == isinstance(value, bool):
        return value
    raise TypeError("%s: %r is no %s" % (where, value, kind))

def plain(value: Any) -> Any:
    """What read reads, as JSON."""
    if dataclasses.is_dataclass(value):
        return {_NAMES.get(f.name, f.name): plain(getattr(value, f.name)) for f in dataclasses.fields(value) if getattr(value, f.name) is not None}
    return [plain(one) for one in value] if isinstance(value, list) else value

class Client:
    def __init__(self, host: str, port: int):
        self._connection = http.client.HTTPConnection(host, port, timeout=60)

    def _ask(self, kind: Any, method: str, path: str, query: Dict[str, Any], body: Any) -> Any:
        asked = {name: value for name, value in query.items() if value is not None}
        data = body if body is None or isinstance(body, bytes) else json.dumps(plain(body)).encode()
        self._connection.request(method, path + ("?" + urllib.parse.urlencode(asked) if asked else ""), data)
        reply = self._connection.getresponse()
        text = reply.read()
        if reply.status >= 400:
            raise RuntimeError("%d %s" % (reply.status, text.decode()))
        return read(kind, json.loads(text)) if kind is not None and text else None
'''


class Writer:
    def __init__(self, document):
        self.document, self.classes, self.names = document, {}, {}

    def safe(self, name):
        plain = re.sub(r"\W", "_", name)
        plain += "_" if keyword.iskeyword(plain) or plain in ("list", "dict") else ""
        if plain != name:
            self.names[plain] = name
        return plain

    def whole(self, schema):
        """Properties and what is required, of an object or all of several."""
        schema = self.resolve(schema)
        properties, required = dict(schema.get("properties", {})), set(schema.get("required", []))
        for one in schema.get("allOf", []):
            more, needed = self.whole(one)
            properties.update(more)
            required |= needed
        return properties, required

    def resolve(self, schema):
        while "$ref" in schema:
            thing = self.document
            for part in schema["$ref"].lstrip("#/").split("/"):
                thing = thing[part]
            schema = thing
        return schema

    def kind(self, schema, name):
        """The Python type of a schema, whose class is called so if it needs one."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            schema = self.resolve(schema)
        if "anyOf" in schema:
            return "Union[%s]" % ", ".join(self.kind(one, "%s%d" % (name, i)) for i, one in enumerate(schema["anyOf"]))
        kinds = schema.get("type", "object" if schema.keys() & {"properties", "allOf"} else None)
        if kinds is None:
            kinds = sorted({{str: "string", bool: "boolean", int: "integer"}[type(one)] for one in schema.get("enum", [schema.get("const", "")])})
        if isinstance(kinds, list):
            return "Union[%s]" % ", ".join(self.kind({**schema, "type": one}, name) for one in kinds)
        if kinds == "array":
            return "List[%s]" % self.kind(schema["items"], name + "Item") if schema.get("items") else "List[Any]"
        if kinds == "object" and not schema.keys() & {"properties", "allOf"}:
            more = schema.get("additionalProperties", True)
            return "Dict[str, %s]" % (self.kind(more, name + "Value") if isinstance(more, dict) else "Any")
        if kinds == "object":
            return self.object(schema, name)
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kinds]

    def object(self, schema, name):
        if name not in self.classes:
            self.classes[name] = ""  # it may hold some of its own
            properties, required = self.whole(schema)
            lines = []
            for field, inner in sorted(properties.items(), key=lambda one: one[0] not in required):
                kind = self.kind(inner, name + field.title().replace("_", ""))
                lines.append("    %s: %s" % (self.safe(field), kind if field in required else "Optional[%s] = None" % kind))
            self.classes[name] = "@dataclass\nclass %s:\n%s\n" % (name, "\n".join(lines) or "    pass")
        return name

    def operation(self, path, shared, method, told):
        given = [self.resolve(one) for one in shared + told.get("parameters", [])]
        needed = [one["name"] for one in given if one["in"] == "path"]
        query = [one for one in given if one["in"] == "query"]
        content = self.resolve(told.get("requestBody", {})).get("content", {})
        body = self.kind(content["application/json"]["schema"], told["operationId"] + "Body") if "application/json" in content else "bytes" if content else None
        answers = [self.resolve(told["responses"][status]).get("content", {}).get("application/json") for status in sorted(told["responses"]) if status[0] == "2"]
        schema = next((one["schema"] for one in answers if one), None)
        kind = self.kind(schema, told["operationId"][0].upper() + told["operationId"][1:] + "Reply") if schema else "None"
        words = ["self"] + ["%s: str" % self.safe(name) for name in needed] + (["body: %s" % body] if body else [])
        words += ["*"] * bool(query) + ["%s: Optional[%s] = None" % (self.safe(one["name"]), self.kind(one["schema"], "Q")) for one in query]
        at = re.sub(r"\{(\w+)\}", lambda m: "%s", path)
        fill = " %% (%s)" % "".join("urllib.parse.quote(%s, safe=''), " % self.safe(name) for name in needed) if needed else ""
        pairs = ", ".join("%r: %s" % (one["name"], self.safe(one["name"])) for one in query)
        return "    def %s(%s) -> %s:\n        return self._ask(%s, %r, %r%s, {%s}, %s)\n" % (
            told["operationId"], ", ".join(words), kind, kind, method.upper(), at, fill, pairs, "body" if body else "None")


def write(document):
    """The client's source."""
    writer = Writer(document)
    methods = [writer.operation(path, item.get("parameters", []), method, told) for path, item in document["paths"].items()
               for method, told in item.items() if method != "parameters"]
    for name, schema in document["components"]["schemas"].items():
        writer.kind({"$ref": "#/components/schemas/" + name}, name)
    return RUNTIME + "\n".join(methods) + "\n" + "\n".join(writer.classes.values()) + "\n_NAMES.update(%s)\n" % json.dumps(writer.names)
