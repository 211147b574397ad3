"""What is not a mutated request: shapes that two parties read differently, clients that take their time, sockets without a
word, ways out of the folder, little that unpacks to much. Each function gives (what, fault or None)."""
import os
import random
import select
import socket
import time

from mutate import bombs
from wire import Broken, Silent, Wire

HOST = b"Host: localhost\r\n"
NEXT = b"GET /v1/smuggled HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


def _post(head, body=b""):
    return b"POST /v1/jobs HTTP/1.1\r\n" + HOST + head + b"\r\n" + body


# (what, bytes, statuses it may have; None: closed without a reply)
SHAPES = [
    ("Content-Length and Transfer-Encoding", _post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"), {400}),
    ("Transfer-Encoding and Content-Length", _post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"), {400}),
    ("two lengths", _post(b"Content-Length: 0\r\nContent-Length: 5\r\n", b"hello"), {400}),
    ("the same length twice", _post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"{}"), {400}),
    ("a list of lengths", _post(b"Content-Length: 2, 2\r\n", b"{}"), {400}),
    ("a signed length", _post(b"Content-Length: +2\r\n", b"{}"), {400}),
    ("a negative length", _post(b"Content-Length: -1\r\n"), {400}),
    ("a hexadecimal length", _post(b"Content-Length: 0x2\r\n", b"{}"), {400}),
    ("a length with a space", _post(b"Content-Length: 1 2\r\n", b"{}"), {400}),
    ("no length in the header", _post(b"Content-Length:\r\n"), {400}),
    ("a length beyond 64 bits", _post(b"Content-Length: 18446744073709551617\r\n", b"{}"), {400, 413}),
    ("a length of 2^63", _post(b"Content-Length: 9223372036854775808\r\n", b"{}"), {400, 413}),
    ("a space before the colon", _post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"), {400}),
    ("a tab before the colon", _post(b"Content-Length\t: 2\r\n", b"{}"), {400}),
    ("Transfer-Encoding twice", _post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n"), {400}),
    ("gzip as the transfer coding", _post(b"Transfer-Encoding: gzip\r\n", b"xx"), {501}),
    ("identity as the transfer coding", _post(b"Transfer-Encoding: identity\r\n", b"xx"), {501}),
    ("chunked, but not last", _post(b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n"), {501}),
    ("chunked in quotes", _post(b'Transfer-Encoding: "chunked"\r\n', b"0\r\n\r\n"), {501}),
    ("xchunked", _post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"), {501}),
    ("chunked with a vertical tab", _post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n"), {400}),
    ("chunked after a NUL", _post(b"Transfer-Encoding: \0chunked\r\n", b"0\r\n\r\n"), {400, 501}),
    ("chunked in HTTP/1.0", b"POST /v1/jobs HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    ("a chunk of no size", _post(b"Transfer-Encoding: chunked\r\n", b"\r\n\r\n"), {400}),
    ("a chunk of -1", _post(b"Transfer-Encoding: chunked\r\n", b"-1\r\n\r\n"), {400}),
    ("a chunk of 0x5", _post(b"Transfer-Encoding: chunked\r\n", b"0x5\r\nhello\r\n0\r\n\r\n"), {400}),
    ("a chunk of 2^64", _post(b"Transfer-Encoding: chunked\r\n", b"10000000000000000\r\n\r\n"), {400, 413}),
    ("a chunk that goes on", _post(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}XX\r\n0\r\n\r\n"), {400}),
    ("no Host", b"GET /healthz HTTP/1.1\r\n\r\n", {400}),
    ("two Hosts", b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n", {400}),
    ("a space in the target", b"GET /healthz /x HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    ("a control character in a value", b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\x01\r\n\r\n", {400}),
    ("a header without a colon", b"GET /healthz HTTP/1.1\r\n" + HOST + b"Transfer-Encoding\r\n\r\n", {400}),
    ("HTTP/9.9", b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n", {505}),
    ("HTTP/1.2345", b"GET /healthz HTTP/1.2345\r\n" + HOST + b"\r\n", {400, 505}),
    ("a preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}),
    ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64 + b"\r\n\r\n", None),
    ("a head of 40 kB", b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"x" * 40000 + b"\r\n\r\n", {431}),
    ("3000 headers", b"GET /healthz HTTP/1.1\r\n" + HOST + b"A: b\r\n" * 3000 + b"\r\n", {431}),
    ("200 headers", b"GET /healthz HTTP/1.1\r\n" + HOST + b"A: b\r\n" * 200 + b"\r\n", {431}),
    ("a head of 25 kB with a body", _post(b"A: " + b"b" * 25000 + b"\r\nContent-Length: 2\r\n", b"{}"), {431}),
    ("2000 arguments", b"GET /healthz?" + b"&".join([b"a1234"] * 2000) + b" HTTP/1.1\r\n" + HOST + b"\r\n", {431}),
    ("4000 arguments", b"GET /healthz?" + b"&".join([b"a1234"] * 4000) + b" HTTP/1.1\r\n" + HOST + b"\r\n", {414}),
    ("a target of 40 kB", b"GET /" + b"x" * 40000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", {414}),
]


def _signed(data, header):
    """The bytes of a request with a header after its first Host."""
    return data.replace(HOST, HOST + b"%s: %s\r\n" % header, 1)


def shapes(port, header):
    for what, data, statuses in SHAPES:
        wire = Wire(port, timeout=30)
        wire.send(_signed(data, header) + _signed(NEXT, header))
        try:
            reply = wire.reply()
            if statuses is None:
                fault = f"answered {reply} instead of nothing"
            elif reply.status not in statuses:
                fault = f"answered {reply}, wanted {sorted(statuses)}"
            elif not reply.closes:
                fault = "the connection stays open after it"
            elif reply.headers.get("content-type") != "application/problem+json":
                fault = f"content type {reply.headers.get('content-type')}"
            elif wire.rest:
                fault = f"bytes follow the reply: {wire.rest[:80]!r}"
            else:
                fault = None
        except Broken as error:
            fault = str(error)
        except Silent as error:
            fault = f"no reply: {error}" if statuses is not None or "time" in str(error) else None
        wire.close()
        yield what, fault


TRAVERSALS = [prefix + path for prefix in (b"/", b"/v1/networks/", b"/v1/mappings/", b"/v1/chips/", b"/v1/uploads/") for path in (
    b"../secret", b"..%2fsecret", b"%2e%2e/secret", b"%2e%2e%2fsecret", b"..%5csecret", b"..\\secret", b"....//secret",
    b"%252e%252e%252fsecret", b"..%c0%afsecret", b"..%00/secret", b"./../secret", b"//secret", b"%2fsecret", b"..;/secret",
    b"../" * 12 + b"etc/passwd", b"%2e%2e%2f" * 12 + b"etc%2fpasswd", b"../data/coremapd.db", b"secret%00.html")]


def traversal(port, header):
    """Ways to a file beside the viewer's and the data folder, and to the machine's."""
    for target in TRAVERSALS:
        wire, fault = Wire(port, timeout=30), None
        wire.send(_signed(b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n", header))
        try:
            reply = wire.reply()
            if reply.status not in (400, 404, 405) or b"canary" in reply.body or b"root:" in reply.body:
                fault = f"answered {reply}"
        except (Broken, Silent) as error:
            fault = str(error)
        wire.close()
        yield target.decode("latin-1"), fault


def unpacking(port, header, server, scale):
    """Bombs are refused or read, within seconds and without the memory that they ask for."""
    for what, data in bombs(scale):
        wire, fault, began = Wire(port, timeout=120, always=[header]), None, time.monotonic()
        try:
            reply = wire.ask("POST", "/v1/networks", [], data)
            if reply.status >= 500 and reply.status not in (503, 507):
                fault = f"answered {reply}"
        except (Broken, Silent) as error:
            fault = str(error)
        took, peak = time.monotonic() - began, server.peak()
        if fault is None and took > 30:
            fault = f"took {took:.0f} s"
        if fault is None and peak > 3 << 30:
            fault = f"the server has used {peak >> 20} MiB"
        wire.close()
        yield what, fault


def slow(port, header, count, seconds):
    """Clients that drip heads and bodies and that do not read: the server lets go of all of them within `seconds`."""
    kinds = {
        "heads a byte at a time": (b"GET /healthz HTTP/1.1\r\nX-Slow: ", b"x"),
        "bodies a byte at a time": (b"POST /v1/networks HTTP/1.1\r\n" + HOST + b"Content-Length: 100000\r\n\r\n", b"1"),
        "chunks a byte at a time": (b"POST /v1/networks HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n1\r\n"),
        "replies that nobody reads": (b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n", b""),
    }
    clients = {}
    for what, (start, _) in kinds.items():
        clients[what] = []
        for _ in range(count):
            wire = Wire(port)
            wire.connect().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            wire.send(_signed(start, header) * (200 if not kinds[what][1] else 1))
            clients[what].append(wire)
    until = time.monotonic() + seconds
    gone = {what: set() for what in kinds}
    while time.monotonic() < until and any(len(gone[what]) < count for what in kinds):
        for what, (_, drip) in kinds.items():
            for i, wire in enumerate(clients[what]):
                if i in gone[what]:
                    continue
                poll = select.poll()
                poll.register(wire.socket, select.POLLRDHUP)
                if poll.poll(0) or drip and not wire.send(drip):
                    gone[what].add(i)
        time.sleep(0.2)
    for what in kinds:
        left = count - len(gone[what])
        for wire in clients[what]:
            wire.close()
        yield f"{count} clients: {what}", f"{left} are connected after {seconds} s" if left else None


def idle(port, count, seconds, seed):
    """Sockets without a word, from several addresses; and the server goes on."""
    sockets, r = [], random.Random(seed)
    fault = None
    try:
        for _ in range(count):
            made = socket.socket()
            sockets.append(made)
            made.settimeout(30)
            made.bind((f"127.0.0.{r.randrange(2, 250)}", 0))
            made.connect(("127.0.0.1", port))
    except OSError as error:
        fault = f"socket {len(sockets)}: {error}" if len(sockets) < count // 2 else None
    time.sleep(seconds)
    wire = Wire(port, timeout=30)
    try:
        reply = wire.ask("GET", "/readyz")
        if reply.status != 200:
            fault = f"/readyz says {reply}"
    except (Broken, Silent) as error:
        fault = str(error)
    for made in sockets:
        made.close()
    wire.close()
    yield f"{len(sockets)} sockets without a word", fault


def open_files():
    """As many as this process may have."""
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard - len(os.listdir("/proc/self/fd")) - 100
