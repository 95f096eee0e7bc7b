#!/usr/bin/env python3
"""Crowds that only take up room: idle connections, slow bodies, half-closed connections, readers that do not read.

    python3 Tests/System/Trials/crowd.py

While each crowd is there, and all of them together, a client of another address asks for one object: within 100 ms, every time.
"""
import argparse
import resource
import socket
import time

import trial

SCHEMA = {"schemaVersion": 1, "classes": [{"name": "Item", "primaryKey": "id", "properties": [
    {"name": "id", "type": "int"}, {"name": "text", "type": "string", "optional": True}]}]}
HEAD = "Host: 127.0.0.1\r\nContent-Type: application/json\r\n"


def idle(server, count=3000):
    """Connections that never say anything, all from one address."""
    return [open_quietly(server, "127.0.0.30") for _ in range(count)]


def slow_bodies(server, count=200):
    """Bodies that were announced, and of which a byte comes now and then (see `drip`)."""
    sockets = []
    for number in range(count):
        if connection := open_quietly(server, f"127.0.0.{40 + number // 20}"):
            send(connection, f"POST /v1/realms/r/objects/Item HTTP/1.1\r\n{HEAD}Content-Length: 100000\r\n\r\n[".encode())
            sockets.append(connection)
    return sockets


def half_closed(server, count=500):
    """Clients that ask, and say that they will say no more."""
    sockets = []
    for number in range(count):
        if connection := open_quietly(server, f"127.0.0.{60 + number // 50}"):
            send(connection, f"GET /v1/realms/r/objects/Item/1 HTTP/1.1\r\n{HEAD}\r\n".encode())
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            sockets.append(connection)
    return sockets


def deaf_readers(server, count=24):
    """Clients that ask for a page of many megabytes and do not read it."""
    sockets = []
    for number in range(count):
        if connection := open_quietly(server, f"127.0.0.{80 + number}", small=True):
            send(connection, f"GET /v1/realms/r/objects/Item?limit=1000 HTTP/1.1\r\n{HEAD}\r\n".encode())
            sockets.append(connection)
    return sockets


def open_quietly(server, source, small=False):
    try:
        connection = socket.socket()
        if small:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(5)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", server.port))
        return connection
    except OSError:
        return None


def send(connection, data):
    try:
        connection.sendall(data)
    except OSError:
        pass


def drip(sockets):
    for connection in sockets:
        send(connection, b" ")


def measure(server, name, seconds=6, during=lambda: None):
    probe, health = trial.Probe(server, "/v1/realms/r/objects/Item/1", 0.03), trial.Probe(server, "/healthz", 0.03, "127.0.0.10")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        during()
        time.sleep(0.5)
    probe.stop()
    health.stop()
    print(f"{name}: {probe}; {health}; {server.descriptors()} descriptors, {server.threads()} threads, {trial.megabytes(server.resident())}", flush=True)
    trial.require(server.is_alive, "the server ended\n" + server.crash_report())
    trial.require(not probe.failures and max(probe.seconds) < 0.1, f"{name}: a fresh client had to wait")


def main():
    trial.arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20000), hard))
    with trial.Server() as server:
        trial.require(server.request("POST", "/v1/realms", {"name": "r", "schema": SCHEMA})[0] == 201, "no realm")
        for part in range(10):
            rows = [{"id": part * 100 + number, "text": "x" * 20000} for number in range(100)]
            trial.require(server.request("POST", "/v1/realms/r/objects/Item", rows)[0] == 201, "no objects")
        measure(server, "nobody")
        held = []
        for name, make in (("3,000 idle", idle), ("200 slow bodies", slow_bodies), ("500 half-closed", half_closed), ("24 deaf readers", deaf_readers)):
            sockets = [connection for connection in make(server) if connection]
            measure(server, name, during=(lambda: drip(sockets)) if make is slow_bodies else lambda: None)
            held += sockets
        measure(server, "all together")
        for connection in held:
            connection.close()
        time.sleep(3)
        measure(server, "nobody again")
        print("end of the server:", server.stop())


if __name__ == "__main__":
    main()
