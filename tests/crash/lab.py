"""The users of a server under a harness: an administrator, and one for each client, each with a token. They ask through a trusted
proxy, as it were, so that each request has the id under which the audit trail tells of it."""
import os
import secrets
import subprocess
import time

from daemon import BUILD

ADMIN = "root"
GROUPS = 2


class Lab:
    def __init__(self, folder, clients):
        self.clients, self.tokens = list(clients), {}
        self.settled = None  # when all were there
        self.secret = secrets.token_hex(16)
        self.path = os.path.join(folder, "proxy-secret")
        with open(self.path, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(self.secret)

    def flags(self):
        """For the server."""
        return ["--trusted-proxy", "127.0.0.1", "--proxy-secret", self.path]

    def found(self, data, environment=None):
        """Makes the administrator, on a folder that no server works on."""
        def run(*words):
            return subprocess.run([os.path.join(BUILD, "coremapd"), *words, "--data", data], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True,
                                  env={**os.environ, **(environment or {})}).stdout
        run("user", "add", ADMIN, "--role", "admin")
        self.tokens[ADMIN] = run("token", "add", "--user", ADMIN, "--scope", "admin").strip()

    def settle_in(self, server, ledger):
        """The administrator makes the others."""
        admin = self.client(server, ADMIN)
        for i, name in enumerate(self.clients):
            group = f"g{i % GROUPS}"
            for path, body in (("/v1/users", {"name": name, "group": group}),
                               ("/v1/tokens", {"user": name, "name": f"of-{name}", "scopes": ["admin"]})):
                reply = admin.ask("POST", path, body)
                if reply.status != 201:
                    raise RuntimeError(f"no user {name}: {reply}")
            self.tokens[name] = reply.json["token"]
            ledger.note(ADMIN, ("user", name), ("user", group, 1, False))
        admin.close()
        self.settled = time.monotonic_ns()

    def client(self, server, user, token=None):
        client = server.client()
        client.headers = {"Authorization": f"Bearer {token or self.tokens[user]}", "X-Proxy-Secret": self.secret}
        return client
