"""What users do with what they have: pins, the bin, who sees it, tokens; and what an administrator does: users, tokens, quotas,
rules."""
import hashlib

from clients import PATHS, SHARED_CHIP, Asker, ClientThread
from lab import ADMIN
from ledger import Common

COMMONS = 4  # networks of several users
MEMBERS = ("role", "group", "share", "disabled")  # of a user
SHOWN = ["lab", "group", "private"]
SCOPES = [("read",), ("read", "submit"), ("read", "reserve"), ("read", "submit", "reserve", "admin")]


def text_of(pins):
    """The bytes of a network that was made at random."""
    return "".join(f"{a},{b},{int(w)}\n" for (a, b), w in pins.items()).encode()


class TokenMaker(Asker):
    """Makes and revokes tokens."""

    def make_token(self, user):
        name, scopes = self.fresh(), self.random.choice(SCOPES)
        key = ("token", name)
        begun = self.ledger.begin(self.name, key, ("?", user, scopes))
        reply = self.ask("POST", "/v1/tokens", {"user": user, "name": name, "scopes": scopes}, begun=[begun])
        if reply is None:
            return False
        self.ledger.known[key] = reply.json["token"]
        self.ledger.acknowledge(begun, value=(reply.json["id"], user, scopes))
        return True

    def revoke_token(self):
        found = self.pick("token", least=2)
        if found is None:
            return False
        return self.change("DELETE", f"/v1/tokens/{found[1][0]}", [(found[0], None)])


class UserThread(ClientThread, TokenMaker):
    def more_actions(self):
        return [(self.pin, 4), (self.show, 4), (self.restore, 3), (self.purge, 2), (self.empty, 1), (self.upload_again, 2),
                (self.add_token, 2), (self.revoke_token, 1), (self.commit, 2), (self.show_lease, 1), (self.show_chip, 1),
                (self.change_common, 8), (self.leave_result, 1)]

    def any_thing(self, kinds):
        held = {key: thing for kind in kinds for key, thing in (self.ended() if kind == "job" else self.held(kind)).items()}
        return self.choose(held)

    def pin(self):
        found = self.any_thing(["network", "map", "compile"])
        if found is None:
            return False
        key, thing = found
        to = not thing.pinned if thing.pinned != "?" else True
        return self.change("PUT" if to else "DELETE", f"/v1/{PATHS[key[0]]}/{thing.id}/pin", [(key, thing._replace(pinned=to))])

    def show(self):
        """A network that others have seen stays theirs (409)."""
        found = self.any_thing(PATHS)
        if found is None:
            return False
        key, thing = found
        to = self.random.choice(SHOWN)
        return self.show_as(f"/v1/{PATHS[key[0]]}/{thing.id}", to, key, thing._replace(visible=to))

    def show_as(self, path, to, key, value):
        return self.change("PUT", path + "/access", [(key, value)], {"visibility": to}, refused=[409])

    def show_chip(self):
        found = self.pick("chip")
        if found is None:
            return False
        to = self.random.choice(SHOWN)
        return self.show_as(f"/v1/chips/{found[0][1]}", to, found[0], (found[1][0], to))

    def show_lease(self):
        found = self.pick("lease")
        if found is None:
            return False
        to = self.random.choice(SHOWN)
        return self.show_as(f"/v1/chips/{SHARED_CHIP}/reservations/{found[1][0]}", to, found[0], (*found[1][:2], to))

    # ---- the bin ----

    def empty(self):
        """With what is several users' and was thrown away by him, the last."""
        binned = self.binned()
        common = [key for key in self.ledger.keys("common")
                  if any(value is not None and value.place == "bin" for value in self.ledger.allowed(key))]
        if len(binned) <= 2 or (common and not self.may_empty(common)):
            return False
        gone = [*binned, *(key for key in common if self.is_in_my_bin(key))]
        done = self.change("DELETE", "/v1/bin", [(key, None) for key in gone])
        for key in common:
            self.ledger.give_back(key)
        return done

    def is_in_my_bin(self, key):
        return self.ledger.allowed(key)[0] == Common("bin", frozenset([(self.name, False)]))

    def may_empty(self, common):
        """Nobody else changes any of these meanwhile, and it is known where they are."""
        taken = []
        for key in common:
            if not self.ledger.take(key):
                break
            taken.append(key)
            if len(self.ledger.allowed(key)) > 1:
                break
        else:
            return True
        for key in taken:
            self.ledger.give_back(key)
        return False

    def upload_again(self):
        """A network of the lab whose bytes come again leaves the bin."""
        found = self.choose({key: thing for key, thing in self.held("network", "bin").items()
                             if thing.id == key[1] and not isinstance(self.ledger.known[key], bytes)})
        if found is None:
            return False
        key, thing = found
        body = text_of(self.ledger.known[key])
        back = thing._replace(place="here", visible="lab", pinned=False)
        return self.change("POST", "/v1/networks?visibility=lab", [(key, back)], body)

    # ---- what is several users' ----

    def change_common(self):
        """One of the networks that all may own is uploaded, pinned, left, thrown away by the last, brought back or purged."""
        keys = sorted(self.ledger.keys("common"))
        if len(keys) < COMMONS:
            body, pins = self.random_network()
            key = ("common", hashlib.sha256(body).hexdigest())
            self.ledger.commons.add(key[1])
        else:
            key = self.random.choice(keys)
            pins = self.ledger.known[key]
            body = text_of(pins)
        if not self.ledger.take(key):
            return False
        values = self.ledger.allowed(key)
        self.ledger.known[key] = pins
        done = len(values) == 1 and self.next_of_common(key, values[0], body)
        self.ledger.give_back(key)  # not when the server goes away: its state is in doubt then
        return done

    def next_of_common(self, key, now, body):
        me = next((owner for owner in now.owners if owner[0] == self.name), None) if now is not None else None
        others = now.owners - {me} if now is not None else frozenset()
        joined = Common("here", (others if now is not None and now.place == "here" else frozenset()) | {(self.name, False)})
        if me is None:
            return self.change("POST", "/v1/networks?visibility=lab", [(key, joined)], body)
        if now.place == "bin":
            ways = [("POST", f"/v1/bin/{key[1]}/restore", now._replace(place="here")), ("DELETE", f"/v1/bin/{key[1]}", None),
                    ("POST", "/v1/networks?visibility=lab", joined)]
            method, path, after = self.random.choice(ways)
            return self.change(method, path, [(key, after)], body if "networks" in path else None)
        path = f"/v1/networks/{key[1]}"
        if me[1] or self.random.random() < 0.5:
            after = Common("here", others | {(self.name, not me[1])})
            return self.change("DELETE" if me[1] else "PUT", path + "/pin", [(key, after)])
        return self.change("DELETE", path, [(key, Common("here", others) if others else now._replace(place="bin"))], refused=[409])

    def submit_common(self):
        """Equal jobs of several users are given one result, which is all theirs."""
        found = self.choose({key: values[0] for key in self.ledger.keys("common") for values in [self.ledger.allowed(key)]
                             if len(values) == 1 and values[0] is not None and values[0].place == "here"})
        if found is None:
            return False
        name = self.fresh()
        return self.send_job(name, {"network": found[0][1], "name": name, "chip": SHARED_CHIP, "visibility": "lab",
                                    "options": {"seed": self.random.randint(1, 2), "max_part_size": 4, "preset": "fast"}})

    def leave_result(self):
        found = self.pick("part")
        return found is not None and self.change("DELETE", f"/v1/mappings/{found[0][1]}", [(found[0], None)], refused=[409])

    # ---- tokens, cores ----

    def add_token(self):
        return len(self.mine("token")) < 3 and self.make_token(self.name)

    def commit(self):
        """Leases the cores of a mapping; whose job has not leased them already."""
        found = self.choose(self.held("map"))
        if found is None or len(self.mine("lease")) >= 4:
            return False
        return self.take(f"/v1/mappings/{found[1].id}/commit", {"visibility": "private"})


class AdminThread(TokenMaker):
    """Adds users who do nothing, changes and removes them."""

    def __init__(self, *words, **more):
        super().__init__(ADMIN, *words, **more)

    def actions(self):
        return [(self.add_user, 2), (self.change_user, 3), (self.remove_user, 1), (self.add_token, 2), (self.revoke_token, 1),
                (self.set_quota, 2), (self.set_user_quota, 2), (self.set_rule, 2)]

    def idle(self):
        """Users of whom no client is one."""
        return {key: value for key, value in self.mine("user").items() if key[1] not in self.lab.clients}

    def add_user(self):
        if len(self.idle()) >= 6:
            return False
        name = self.fresh()
        value = (*self.random_user(), False)
        return self.change("POST", "/v1/users", [(("user", name), value)], {"name": name, **dict(zip(MEMBERS[:3], value))})

    def random_user(self):
        return self.random.choice(["user", "operator", "admin"]), self.random.choice(["", "g0", "g1"]), self.random.randint(1, 1000)

    def change_user(self):
        """Whole or not at all: several of his values at once."""
        found = self.choose(self.idle())
        if found is None:
            return False
        value = (*self.random_user(), self.random.random() < 0.3)
        return self.change("PATCH", f"/v1/users/{found[0][1]}", [(found[0], value)], dict(zip(MEMBERS, value)))

    def remove_user(self):
        """With his tokens, quotas and rules."""
        found = self.choose(self.idle(), least=3)
        if found is None:
            return False
        name = found[0][1]
        gone = [found[0]] + [key for key, token in self.mine("token").items() if token[1] == name]
        gone += [key for kind in ("user quota", "rule") for key in self.mine(kind) if key[1] == name]
        return self.change("DELETE", f"/v1/users/{name}", [(key, None) for key in gone])

    def add_token(self):
        found = self.choose(self.idle())
        return found is not None and len(self.mine("token")) < 8 and self.make_token(found[0][1])

    def limit(self, kind, path, names):
        found = self.choose(self.idle())
        if found is None:
            return False
        value = tuple(self.random.choice([None, self.random.randint(1, 10**9)]) for _ in names)
        changes = [((kind, found[0][1]), None if value == (None, None) else value)]
        return self.change("PUT", f"{path}/{found[0][1]}", changes, dict(zip(names, value)))

    def set_user_quota(self):
        return self.limit("user quota", "/v1/quotas/users", ("networks", "bytes"))

    def set_rule(self):
        return self.limit("rule", "/v1/retention", ("mappings_days", "bytes"))


def threads(server, ledger, seed, number, lab):
    """All clients of a round."""
    return ([UserThread(name, server, ledger, seed, number, lab=lab) for name in lab.clients] +
            [AdminThread(server, ledger, seed, number, pause=0.01, lab=lab)])
