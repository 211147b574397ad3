"""What clients were told, and so what must be there after a crash.

A fact is one change of one thing: it begins when the request is sent and ends when it is acknowledged. After a crash at
time T a thing has the value of its last fact acknowledged by T, or of one that was under way at T; nothing else.
A value of None means that the thing is not there. A value that is a tuple may have "?" in places that only the server knows.
Facts of one request carry its mark: after a crash all of them hold or none does, and so does its line of the audit trail."""
import threading
import time
from collections import namedtuple

# What can lie in a bin: a network, a mapping, a program, the record of a job. `place`: "here" or "bin".
Thing = namedtuple("Thing", "id place visible pinned")
# A network of several users: (who, whether he has pinned it) of each.
Common = namedtuple("Common", "place owners")
Mark = namedtuple("Mark", "client begin end")  # of a request that changes something


def fits(allowed, value):
    """Whether a value is what is allowed: "?" in a tuple stands for anything."""
    if isinstance(allowed, tuple) and isinstance(value, tuple) and len(allowed) == len(value):
        return all("?" in (a, v) or a == v for a, v in zip(allowed, value))
    return allowed == value


def known(allowed, value):
    """What is known of a thing from both."""
    if not isinstance(value, tuple) or not isinstance(allowed, tuple):
        return value
    both = [a if v == "?" else v for a, v in zip(allowed, value)]
    return type(value)(*both) if hasattr(value, "_fields") else tuple(both)


class Fact:
    __slots__ = ("begin", "end", "value", "mark")

    def __init__(self, begin, end, value):
        self.begin, self.end, self.value, self.mark = begin, end, value, None


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.facts = {}   # key -> [Fact], in the order of the requests; one client at a time changes a thing
        self.owner = {}   # key -> the client whose thing it is
        self.known = {}   # key -> what the thing's bytes must say (a network's pins, a model's bytes, ...)
        self.marks = {}   # mark -> Mark
        self.gone = set()    # parts that somebody had
        self.commons = set() # ids of networks of several users, all that there ever were
        self.busy = set()    # of them, those that somebody changes
        self.refused = set() # marks of what the server said no to
        self.audited = {} # mark -> client, of all that the audit trail told of at an earlier look
        self.marked_from = time.time() - 1
        self.acknowledged = 0
        self.stories = {} # key -> what was asked of it lately, for who looks into a fault

    def tell(self, key, text):
        self.stories[key] = (self.stories.get(key, "") + f" | {text}")[-1200:]

    def begin(self, client, key, value):
        fact = Fact(time.monotonic_ns(), None, value)
        with self.lock:
            self.facts.setdefault(key, []).append(fact)
            self.tell(key, f"asked {value}")
            self.owner[key] = client
        return key, fact

    def send(self, mark, client, begun):
        """A request that changes something goes out."""
        with self.lock:
            self.marks[mark] = Mark(client, time.monotonic_ns(), None)
            for _, fact in begun:
                fact.mark = mark
            for key, _ in begun:
                self.tell(key, mark)

    def answered(self, mark):
        """It was done."""
        with self.lock:
            self.marks[mark] = self.marks[mark]._replace(end=time.monotonic_ns())

    def denied(self, mark):
        with self.lock:
            del self.marks[mark]
            self.refused.add(mark)
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
                self.tell(key, "refused")
                if not self.facts[key]:
                    del self.facts[key]

    def note(self, client, key, value):
        """Something that was read: it may not be forgotten either."""
        self.acknowledge(self.begin(client, key, value))

    def settle_marks(self, told):
        """After a look: what is `told` must be told for ever."""
        with self.lock:
            self.audited.update((mark, m.client) for mark, m in self.marks.items() if mark in told)
            self.marks.clear()
            self.refused.clear()
            self.busy.clear()
            self.marked_from = time.time() - 1

    def settle(self, key, value):
        """After a look at the restarted server: this is the value from now on; what is gone is forgotten."""
        with self.lock:
            self.tell(key, f"was {value}")
            if value is None:
                self.stories.pop(key)
                if key[0] == "part":
                    self.gone.add(key)
                self.facts.pop(key, None)
                self.owner.pop(key, None)
                self.known.pop(key, None)
            else:
                self.facts[key] = [Fact(0, 0, value)]

    def allowed(self, key, at=None, since=None):
        """The values that the thing may have after a crash at time `at` (None: now), or in a copy that was begun at `since`
        and done at `at`."""
        return [fact.value if fact is not None else None for fact in self.may(key, at, since)]

    def may(self, key, at=None, since=None):
        """The same as facts; None: what was before all of them."""
        facts = [None]
        upto = at if since is None else since
        for fact in self.facts.get(key, ()):
            if at is not None and fact.begin > at:
                break
            if fact.end is not None and (upto is None or fact.end <= upto):
                facts = [fact]
            else:
                facts.append(fact)
        return facts

    def shared(self):
        """Ids of all that several users have had."""
        return self.commons | {key[1] for key in self.gone} | {key[1] for key in self.keys("part")}

    def take(self, key):
        """Whether nobody else changes it; he who has it gives it back."""
        with self.lock:
            if key in self.busy:
                return False
            self.busy.add(key)
            return True

    def knew(self, key):
        """Whether there ever was a fact of it."""
        return key in self.facts or key in self.gone

    def give_back(self, key):
        with self.lock:
            self.busy.discard(key)

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
