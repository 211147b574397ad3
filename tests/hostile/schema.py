"""Judges replies by the OpenAPI document. What the document may use of JSON Schema is what is checked here: a keyword
that is not known is an error of the document, never passed over."""
import gzip
import json
import re

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
_SAID = {"x-unit", "x-better", "x-label", "x-where", "description", "default", "title", "examples", "format", "$comment"}


def _is(value, kind):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool) or isinstance(value, float) and value.is_integer()
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, _TYPES[kind])


class Document:
    def __init__(self, document):
        self.document = document

    def follow(self, thing):
        while "$ref" in thing:
            place = self.document
            for part in thing["$ref"].lstrip("#/").split("/"):
                place = place[part]
            thing = place
        return thing

    def operations(self):
        """(method, path pattern, operation)"""
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method != "parameters":
                    yield method.upper(), path, operation

    # ---- values ----

    def wrong(self, value, schema, where="$"):
        """What is wrong with a value, or None."""
        schema = self.follow(schema)
        for keyword, rule in schema.items():
            if keyword in _SAID:
                if keyword == "format" and rule == "date-time" and isinstance(value, str) and not re.fullmatch(
                        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value):
                    return f"{where}: {value!r} is no date-time"
                continue
            check = getattr(self, "_" + keyword, None)
            if check is None:
                return f"{where}: the document uses {keyword!r}, which is not checked"
            found = check(value, rule, schema, where)
            if found:
                return found
        return None

    def _type(self, value, rule, schema, where):
        kinds = rule if isinstance(rule, list) else [rule]
        if not any(_is(value, kind) for kind in kinds):
            return f"{where}: {json.dumps(value)[:80]} is no {' or '.join(kinds)}"

    def _exclusiveMinimum(self, value, rule, schema, where):
        if isinstance(value, (int, float)) and value <= rule:
            return f"{where}: {value} is not above {rule}"

    def _enum(self, value, rule, schema, where):
        if value not in rule:
            return f"{where}: {value!r} is none of {rule}"

    def _const(self, value, rule, schema, where):
        if value != rule:
            return f"{where}: {value!r} is not {rule!r}"

    def _required(self, value, rule, schema, where):
        missing = [name for name in rule if isinstance(value, dict) and name not in value]
        if missing:
            return f"{where}: {missing} missing"

    def _properties(self, value, rule, schema, where):
        for name, inner in rule.items():
            if isinstance(value, dict) and name in value:
                found = self.wrong(value[name], inner, f"{where}.{name}")
                if found:
                    return found

    def _additionalProperties(self, value, rule, schema, where):
        if rule is True or not isinstance(value, dict):
            return None
        for name in value:
            if name not in schema.get("properties", {}):
                if rule is False:
                    return f"{where}: {name!r} is not documented"
                found = self.wrong(value[name], rule, f"{where}.{name}")
                if found:
                    return found

    def _items(self, value, rule, schema, where):
        for i, item in enumerate(value if isinstance(value, list) else []):
            found = self.wrong(item, rule, f"{where}[{i}]")
            if found:
                return found

    def _minItems(self, value, rule, schema, where):
        if isinstance(value, list) and len(value) < rule:
            return f"{where}: {len(value)} items, {rule} at least"

    def _maxItems(self, value, rule, schema, where):
        if isinstance(value, list) and len(value) > rule:
            return f"{where}: {len(value)} items, {rule} at most"

    def _maxLength(self, value, rule, schema, where):
        if isinstance(value, str) and len(value) > rule:
            return f"{where}: longer than {rule}"

    def _minimum(self, value, rule, schema, where):
        if _is(value, "number") and value < rule:
            return f"{where}: {value} is below {rule}"

    def _maximum(self, value, rule, schema, where):
        if _is(value, "number") and value > rule:
            return f"{where}: {value} is above {rule}"

    def _anyOf(self, value, rule, schema, where):
        wrong = [self.wrong(value, inner, where) for inner in rule]
        if all(wrong):
            return "; or ".join(wrong)

    def _allOf(self, value, rule, schema, where):
        return next(filter(None, (self.wrong(value, inner, where) for inner in rule)), None)

    def _oneOf(self, value, rule, schema, where):
        right = sum(not self.wrong(value, inner, where) for inner in rule)
        if right != 1:
            return f"{where}: fits {right} of the alternatives"

    # ---- replies ----

    def wrong_reply(self, method, operation, reply):
        """What is wrong with the reply to an operation, None when all is as documented."""
        responses = operation["responses"]
        described = responses.get(str(reply.status))
        if described is None:
            described = responses["default"]
            if reply.status < 400:
                return f"status {reply.status} is not documented"
        described = self.follow(described)
        if reply.status >= 400 and not 500 <= reply.status < 600 and "content" not in described:
            return f"status {reply.status} is documented without content"
        for name, header in described.get("headers", {}).items():
            if self.follow(header).get("required") and name.lower() not in reply.headers:
                return f"status {reply.status} without the header {name}"
        if method == "HEAD" or reply.status in (204, 304):
            return f"status {reply.status} with a body" if reply.body else None
        content = described.get("content")
        if content is None:
            return f"a body that is not documented: {reply.body[:80]!r}" if reply.body else None
        kind = reply.headers.get("content-type", "").split(";")[0].strip()
        if kind not in content:
            return f"content type {kind!r}, documented are {list(content)}"
        body = reply.body
        if reply.headers.get("content-encoding") == "gzip":
            try:
                body = gzip.decompress(body)
            except (OSError, EOFError) as error:
                return f"no gzip: {error}"
        if not kind.endswith("json") or reply.status == 206:
            return None
        try:
            value = json.loads(body)
        except (ValueError, RecursionError) as error:
            return f"no JSON: {error}"
        if kind == "application/problem+json":
            found = self.wrong_problem(value, reply.status)
            if found:
                return found
        return self.wrong(value, content[kind]["schema"])

    def wrong_problem(self, value, status):
        if value.get("status") != status:
            return f"the problem says status {value.get('status')}"
        if not value.get("code") or not value.get("title") or not value.get("detail"):
            return f"a problem without code, title or detail: {value}"
        return self.wrong(value, {"$ref": "#/components/schemas/Problem"})
