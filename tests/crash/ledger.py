"""What clients were told, and so what must be there after a crash.

A fact is one change of one thing: it begins when the request is sent and ends when it is acknowledged. After a crash at
time T a thing has the value of its last fact acknowledged by T, or of one that was under way at T; nothing else.
A value of None means that the thing is not there."""
import threading
import time


class Fact:
    __slots__ = ("begin", "end", "value")

    def __init__(self, begin, end, value):
        self.begin, self.end, self.value = begin, end, value


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.facts = {}   # key -> [Fact], in the order of the requests; one client at a time changes a thing
        self.owner = {}   # key -> the client whose thing it is
        self.known = {}   # key -> what the thing's bytes must say (a network's pins, a model's bytes, ...)
        self.acknowledged = 0

    def begin(self, client, key, value):
        fact = Fact(time.monotonic_ns(), None, value)
        with self.lock:
            self.facts.setdefault(key, []).append(fact)
            self.owner[key] = client
        return key, fact

    def acknowledge(self, *begun, value=None):
        """The answer came. `value` replaces the expected one where only the server knew it."""
        now = time.monotonic_ns()
        with self.lock:
            self.acknowledged += 1
            for _, fact in begun:
                fact.end = now
                if value is not None:
                    fact.value = value

    def refuse(self, *begun):
        """The server said no: nothing may have changed."""
        with self.lock:
            for key, fact in begun:
                self.facts[key].remove(fact)
                if not self.facts[key]:
                    del self.facts[key]

    def note(self, client, key, value):
        """Something that was read: it may not be forgotten either."""
        self.acknowledge(self.begin(client, key, value))

    def settle(self, key, value):
        """After a look at the restarted server: this is the value from now on; what is gone is forgotten."""
        with self.lock:
            if value is None:
                self.facts.pop(key, None)
                self.owner.pop(key, None)
                self.known.pop(key, None)
            else:
                self.facts[key] = [Fact(0, 0, value)]

    def allowed(self, key, at=None):
        """The values that the thing may have after a crash at time `at` (None: now)."""
        values = [None]
        for fact in self.facts.get(key, ()):
            if at is not None and fact.begin > at:
                break
            if fact.end is not None and (at is None or fact.end <= at):
                values = [fact.value]
            else:
                values.append(fact.value)
        return values

    def keys(self, kind):
        with self.lock:
            return [key for key in self.facts if key[0] == kind]

    def mine(self, client, kind):
        """{key: value} of a client's things of a kind that are there for certain."""
        with self.lock:
            held = [key for key in self.facts if key[0] == kind and self.owner.get(key) == client]
        found = {}
        for key in held:
            values = self.allowed(key)
            if len(values) == 1 and values[0] is not None:
                found[key] = values[0]
        return found
