#!/usr/bin/env python3
"""Prints a free TCP port for a server that is told its port: below those that outgoing connections are given, which could
take it before the server does."""
import random
import socket


def free_port():
    with open("/proc/sys/net/ipv4/ip_local_port_range") as text:
        end = int(text.read().split()[0])
    while True:
        port = random.randrange(min(10000, end // 2), end)
        with socket.socket() as s:
            try:
                s.bind(("0.0.0.0", port))
                return port
            except OSError:
                continue


if __name__ == "__main__":
    print(free_port())
