"""HTTP as bytes: what is sent may be anything, what comes back must be one sound reply."""
import re
import socket
import time


class Broken(Exception):
    """The reply is no sound HTTP."""


class Silent(Exception):
    """No reply: the connection was closed, or the time was up."""


class Reply:
    def __init__(self, status, headers, body, closes):
        self.status, self.headers, self.body, self.closes = status, headers, body, closes

    def __str__(self):
        return f"{self.status} {self.body[:200].decode(errors='replace')}"


class Wire:
    """One connection that is opened when needed; `address` is one of loopback's, to come from; `always` are headers that
    ask() sends each time."""

    def __init__(self, port, address="127.0.0.1", timeout=20, always=()):
        self.port, self.address, self.timeout, self.socket, self.rest = port, address, timeout, None, b""
        self.always = list(always)

    def connect(self):
        self.close()
        self.socket = socket.create_connection(("127.0.0.1", self.port), self.timeout, (self.address, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.socket

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket, self.rest = None, b""

    def send(self, data):
        """False: the server had enough before all was sent; its reply may still come."""
        if self.socket is None:
            self.connect()
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def ended(self):
        """A kept connection that the server has closed since, or none."""
        if self.socket is None:
            return True
        try:
            self.socket.setblocking(False)
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.socket.settimeout(self.timeout)

    def _more(self, until):
        left = until - time.monotonic()
        if left <= 0:
            raise Silent("the time was up")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 16)
        except socket.timeout:
            raise Silent("the time was up") from None
        except OSError as error:
            raise Silent(f"the connection ended: {error}") from None
        if not data:
            raise Silent("the connection was closed")
        self.rest += data

    def _line(self, until):
        while b"\r\n" not in self.rest:
            self._more(until)
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def _take(self, size, until):
        while len(self.rest) < size:
            self._more(until)
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def reply(self, method="GET", timeout=None, stream=False):
        """The next reply. `stream`: a body without end is cut when the time is up."""
        until = time.monotonic() + (timeout or self.timeout)
        status, headers = 100, {}
        while status == 100:
            line = self._line(until)
            found = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [ -~]*", line)
            if not found:
                raise Broken(f"status line {line[:80]!r}")
            status, headers = int(found[1]), {}
            while line := self._line(until):
                found = re.fullmatch(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)", line)
                if not found or found[1].lower() in headers and found[1].lower() in (b"content-length", b"content-type"):
                    raise Broken(f"header line {line[:80]!r}")
                headers[found[1].decode().lower()] = found[2].decode("latin-1").strip()
        closes = headers.get("connection", "").lower() == "close"
        body = self._body(method, status, headers, closes, until, stream)
        if closes:
            self.close()
        return Reply(status, headers, body, closes)

    def _body(self, method, status, headers, closes, until, stream):
        if method == "HEAD" or status in (204, 304):
            return b""
        try:
            if headers.get("transfer-encoding") == "chunked":
                body = b""
                while size := int(self._line(until), 16):
                    body += self._take(size, until)
                    if self._take(2, until) != b"\r\n":
                        raise Broken("a chunk without its end")
                self._line(until)
                return body
            if "content-length" in headers:
                return self._take(int(headers["content-length"]), until)
        except Silent:
            if stream:
                self.close()
                return b""
            raise
        body = b""
        try:
            while True:
                self._more(until)
        except Silent:
            body, self.rest = self.rest, b""
        return body

    def ask(self, method, target, headers=(), body=None, timeout=None, stream=False):
        """Sends a request of any bytes and reads its reply."""
        lines = [f"{method} {target} HTTP/1.1".encode("latin-1", "replace"), b"Host: localhost"]
        lines += [name + b": " + value for name, value in [*self.always, *headers]]
        if body is not None:
            lines.append(b"Content-Length: %d" % len(body))
        data = b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")
        if self.ended():
            self.connect()
        self.send(data)
        return self.reply(method, timeout, stream)
