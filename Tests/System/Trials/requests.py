#!/usr/bin/env python3
"""A crowd of clients sends random and hostile requests; the server has to answer each of them, stay quick and give its memory back.

    python3 Tests/System/Trials/requests.py [--count 1000000] [--seed 1] [--clients 6]

Nothing may end the process, no answer may have status 500, memory has to come back to what it was plus 50 MB, and `/healthz`
has to answer within 50 ms in 99 of 100 cases throughout.
"""
import argparse
import collections
import json
import multiprocessing
import random
import socket
import time

import grammar
import trial

FIXTURES = ["store", "links", "lists", "mixed", "embedded", "types-single", "types-list", "types-set", "types-dictionary", "primary-keys", "strings",
            "indexes"]
RAW = [b"GET / HTTP/1.1\r\n\r\n", b"\r\n\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
       b"POST /v1/realms/store/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", b"GET " + b"/" * 70000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
       b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 3000 + b"\r\n", b"GET /v1/realms?" + b"&" * 5000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
       b"POST /v1/realms HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"GET\t/healthz\tHTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"]


class Client:
    """One connection of one client, reopened when the server or the trial closes it."""

    def __init__(self, port, source):
        self.port, self.source, self.socket, self.buffer = port, source, None, b""

    def open(self):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), 30, (self.source, 0))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.buffer = b""

    def close(self):
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def message(self, method, target, fields, body):
        lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1"] + [f"{name}: {value}" for name, value in fields.items()]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (body or b"")

    def receive(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("closed")
        self.buffer += data

    def take(self, count):
        while len(self.buffer) < count:
            self.receive()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def line(self):
        while b"\r\n" not in self.buffer:
            self.receive()
        found, self.buffer = self.buffer.split(b"\r\n", 1)
        return found

    def answer(self, method, most=4 << 20):
        """Status, fields and at most so many bytes of the body; what goes on longer is left by closing the connection."""
        while True:
            status = int(self.line().split()[1])
            fields = {}
            while line := self.line():
                name, _, value = line.partition(b":")
                fields[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
            if status >= 200:
                break
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif "chunked" in fields.get("transfer-encoding", ""):
            body = self.chunks(most, fields)
        else:
            length = int(fields.get("content-length", 0))
            body = self.take(min(length, most))
            if length > most:
                self.close()
        if fields.get("connection", "").lower() == "close":
            self.close()
        return status, fields, body

    def chunks(self, most, fields):
        body = b""
        isStream = "event-stream" in fields.get("content-type", "")
        while True:
            size = int(self.line().split(b";")[0], 16)
            if size == 0:
                self.line()
                return body
            body += self.take(size)
            self.take(2)
            if len(body) > most or isStream:
                self.close()
                return body


def run(number, seed, count, port, schemas, results):
    """Sends `count` requests, and puts what came of them into `results`."""
    chance = random.Random(f"{seed}:{number}")
    words = grammar.Grammar(chance, schemas)
    client = Client(port, f"127.0.0.{20 + number}")
    statuses, bad, silent, slowest = collections.Counter(), [], [], (0, "")
    for index in range(count):
        kind = chance.random()
        method, target, fields, body, (realm, class_name) = words.request()
        if fields.get("Content-Encoding"):
            body = grammar.packed(body)
        begin = time.monotonic()
        try:
            client.open()
            message = client.message(method, target, fields, body)
            if kind < .02:
                # Left half-way: somewhere in the request, or before the answer is read.
                client.socket.sendall(message[:chance.randrange(len(message) + 1)])
                client.close()
                statuses["left"] += 1
                continue
            if kind < .025:
                client.socket.settimeout(20)
                method, target = "raw", repr(raw := words.pick(RAW))[:80]
                client.socket.sendall(raw)
                client.socket.shutdown(socket.SHUT_WR)
                while client.socket.recv(1 << 16):
                    pass
                client.close()
                statuses["raw"] += 1
                continue
            client.socket.sendall(message)
            status, got, data = client.answer(method)
        except socket.timeout:
            silent.append((index, method, target[:300]))
            client.close()
            continue
        except (OSError, ValueError, IndexError) as error:
            statuses[type(error).__name__] += 1
            client.close()
            if isinstance(error, ConnectionRefusedError):
                break
            continue
        seconds = time.monotonic() - begin
        if seconds > slowest[0]:
            slowest = (seconds, f"{method} {target[:200]}")
        statuses[status] += 1
        if status == 500 and b"file_corrupt" not in data:
            bad.append((index, method, target[:600], (body or b"")[:600].decode("latin-1"), data[:300].decode("latin-1")))
        words.learn(realm, class_name, got, data)
    client.close()
    results.put((statuses, bad, silent, slowest))


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--count", type=int, default=1_000_000)
    reader.add_argument("--seed", default="1")
    reader.add_argument("--clients", type=int, default=6)
    reader.add_argument("--rounds", type=int, default=10)
    given = trial.arguments(reader)
    totals, bad, silent, slowest = collections.Counter(), [], [], (0, "")
    with trial.Server("--limit", "connections-per-address=1000", fixtures=FIXTURES) as server:
        server.request("POST", "/v1/realms", {"name": "fresh", "schema": {"schemaVersion": 1, "classes": [{"name": "Node", "primaryKey": "id", "properties": [
            {"name": "id", "type": "int"}, {"name": "next", "type": "object", "objectType": "Node", "optional": True}, {"name": "all", "type": "object", "objectType": "Node", "collection": "list"},
            {"name": "m", "type": "mixed"}]}]}})
        names = [item["name"] for item in json.loads(server.request("GET", "/v1/realms")[2])["items"]]
        schemas = {name: json.loads(server.request("GET", f"/v1/realms/{name}/schema")[2]) for name in names}
        trial.require(schemas, "there are no realms to ask")
        # What the server needs once it has been busy for a while is what it is held to.
        crowd(server, given, schemas, "warm", given.count // 100)
        time.sleep(15)
        rest = server.resident()
        probe = trial.Probe(server)
        for part in range(given.rounds):
            for statuses, more, unanswered, slow in crowd(server, given, schemas, f"{given.seed}.{part}", given.count // given.rounds):
                totals += statuses
                bad += more
                silent += unanswered
                slowest = max(slowest, slow)
            print(f"{sum(totals.values())} requests, resident {trial.megabytes(server.resident())}, peak {trial.megabytes(server.peak())}, "
                  f"{server.descriptors()} descriptors, {server.threads()} threads", flush=True)
            trial.require(server.is_alive, "the server ended\n" + server.crash_report())
            restock(server, FIXTURES)
        probe.stop()
        time.sleep(30)
        print(dict(totals.most_common()))
        print("slowest:", round(slowest[0], 2), "s", slowest[1])
        print(probe)
        print(f"resident before {trial.megabytes(rest)}, after {trial.megabytes(server.resident())}, peak {trial.megabytes(server.peak())}")
        for case in (bad + silent)[:20]:
            print(case)
        trial.require(server.is_alive, "the server ended\n" + server.crash_report())
        trial.require(not bad, f"{len(bad)} answers with status 500")
        trial.require(not silent, f"{len(silent)} requests without an answer")
        trial.require(server.resident() < rest + (50 << 20), "memory did not come back")
        times = sorted(probe.seconds)
        trial.require(times[int(len(times) * .99)] < .05 and not probe.failures, "/healthz was slow")
        print("end of the server:", server.stop())


def crowd(server, given, schemas, seed, count):
    results = multiprocessing.Queue()
    clients = [multiprocessing.Process(target=run, args=(number, seed, count // given.clients, server.port, schemas, results)) for number in range(given.clients)]
    for client in clients:
        client.start()
    found = [results.get() for _ in clients]
    for client in clients:
        client.join()
    return found


def restock(server, fixtures):
    """Puts the realms back to what they were: random deletions would leave nothing to ask for."""
    for name in fixtures:
        server.request("DELETE", f"/v1/realms/{name}?files=true")
        (server.folder / f"{name}.realm").unlink(missing_ok=True)
        if file := trial.harness.fixture(name, server.folder):
            server.request("POST", "/v1/realms", {"name": name, "path": str(file)})


if __name__ == "__main__":
    main()
