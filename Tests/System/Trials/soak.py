#!/usr/bin/env python3
"""Hours of ordinary work with storms of clients that vanish: everything the server holds has to stay level.

    python3 Tests/System/Trials/soak.py [--minutes 120] [--seed 1]

Prints a line a minute. Live versions, memory, descriptors, threads and disk, each at its lowest, are compared between the
second quarter of the time and the last.
"""
import argparse
import json
import random
import re
import socket
import statistics
import struct
import threading
import time

import trial

SCHEMA = {"schemaVersion": 1, "classes": [
    {"name": "Item", "primaryKey": "id", "properties": [
        {"name": "id", "type": "int"}, {"name": "name", "type": "string"}, {"name": "price", "type": "double"}, {"name": "stock", "type": "int", "indexed": "general"},
        {"name": "tags", "type": "string", "collection": "list"}, {"name": "owner", "type": "object", "objectType": "Owner", "optional": True}, {"name": "data", "type": "data", "optional": True}]},
    {"name": "Owner", "primaryKey": "id", "properties": [{"name": "id", "type": "int"}, {"name": "items", "type": "object", "objectType": "Item", "collection": "list"}]}]}
BASE = "/v1/realms/soak"
CEILING = 4000


class Workload:
    def __init__(self, server, seed):
        self.server, self.seed, self.ends, self.counts = server, seed, False, {}
        self.lock = threading.Lock()

    def count(self, word, status):
        with self.lock:
            self.counts[word, status] = self.counts.get((word, status), 0) + 1

    def send(self, word, *request, **options):
        status, fields, body = self.server.request(*request, **options)
        self.count(word, status)
        return status, fields, body

    def item(self, chance, key):
        return {"id": key, "name": chance.choice("abcdefgh") * chance.randrange(1, 60), "price": chance.random() * 100, "stock": chance.randrange(50),
                "tags": ["t" * chance.randrange(1, 9) for _ in range(chance.randrange(6))], "owner": chance.randrange(20)}

    # Each of these runs on a thread of its own until the end.

    def write(self, number):
        chance = random.Random(f"{self.seed}:write:{number}")
        while not self.ends:
            key, kind = chance.randrange(CEILING), chance.randrange(10)
            if kind < 4:
                self.send("upsert", "POST", BASE + "/objects/Item?upsert=modified", self.item(chance, key))
            elif kind < 6:
                self.send("patch", "PATCH", f"{BASE}/objects/Item/{key}", {"stock": chance.randrange(50)})
            elif kind < 7:
                self.send("delete", "DELETE", f"{BASE}/objects/Item/{key}")
            elif kind < 8:
                ops = [{"patch": {"class": "Owner", "key": str(chance.randrange(20)), "body": {"items": [chance.randrange(CEILING) for _ in range(5)]}}}]
                self.send("batch", "POST", BASE + "/batch", {"ops": ops})
            elif kind < 9:
                self.send("many", "PATCH", f"{BASE}/objects/Item?where=stock%20%3D%3D%20{chance.randrange(50)}", {"price": chance.random()})
            else:
                self.send("async", "POST", BASE + "/objects/Item?upsert=all", self.item(chance, key), headers={"Prefer": "respond-async"})
            time.sleep(chance.random() * .02)

    def read(self, number):
        chance = random.Random(f"{self.seed}:read:{number}")
        paths = ["/objects/Item?limit=50", "/objects/Item?where=stock%20%3E%2025&sort=-price&limit=20", "/objects/Owner?expand=items&limit=5", "/aggregate/Item?ops=count,avg:price",
                 "/objects/Item?format=ndjson", "/export", "/schema", "/openapi.json", "/objects/Item?sectionBy=stock&limit=30", "/objects/Item?where=name%20CONTAINS%20'cc'%20AND%20owner.id%20%3C%2010&count=exact"]
        while not self.ends:
            self.send("read", "GET", BASE + chance.choice(paths), headers={"Accept-Encoding": chance.choice(["gzip", "identity"])})
            time.sleep(chance.random() * .05)

    def hold(self):
        """Transactions, snapshots, realms in memory, imports."""
        chance = random.Random(f"{self.seed}:hold")
        while not self.ends:
            kind = chance.randrange(5)
            if kind == 0:
                status, fields, _ = self.send("begin", "POST", BASE + "/transactions", {})
                if status == 201:
                    location = fields.get("location", "")
                    self.send("inside", "PATCH", f"{BASE}/objects/Item/{chance.randrange(CEILING)}", {"stock": 1}, headers={"Realm-Transaction": location.rsplit("/", 1)[-1]})
                    self.send("end", *chance.choice([("POST", location + "/commit", {}), ("DELETE", location), ("GET", location)]))
            elif kind == 1:
                self.send("snapshot", "POST", BASE + "/snapshots", {"ttl": "5s"})
            elif kind == 2:
                self.send("attach", "POST", "/v1/realms", {"name": "m", "inMemory": "m", "schema": SCHEMA})
                self.send("detach", "DELETE", "/v1/realms/m")
            elif kind == 3:
                # Long enough now and then to be kept in a file.
                lines = "\n".join(json.dumps(self.item(chance, chance.randrange(CEILING))) for _ in range(chance.choice([20, 4000])))
                self.send("import", "POST", BASE + "/import?class=Item&mode=upsert", lines.encode(), {"Content-Type": "application/x-ndjson"})
            else:
                self.send("register", "POST", BASE + "/subscriptions", {"subscriptions": {"a": {"class": "Item", "where": "stock > 40"}}})
            time.sleep(1)

    def follow(self):
        """Streams that are read, for a while each."""
        chance = random.Random(f"{self.seed}:follow")
        while not self.ends:
            try:
                connection = self.server.connect(timeout=20)
                connection.sendall(f"GET {BASE}/changes?class=Item&where=stock%20%3E%20{chance.randrange(50)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
                end = time.monotonic() + chance.randrange(5, 60)
                while time.monotonic() < end and not self.ends and connection.recv(1 << 16):
                    pass
                connection.close()
                self.count("stream", 200)
            except OSError:
                self.count("stream", 0)

    def storm(self):
        """Clients that ask for something, and vanish at once or in the middle of the answer."""
        chance = random.Random(f"{self.seed}:storm")
        asked = [f"GET {BASE}/changes?class=Item HTTP/1.1\r\nAccept: text/event-stream\r\n", f"GET {BASE}/changes?class=Owner&wait=30s&since=now HTTP/1.1\r\n", f"GET {BASE}/export HTTP/1.1\r\n",
                 f"GET {BASE}/objects/Item?limit=1000&expand=owner HTTP/1.1\r\n", f"POST {BASE}/objects/Item HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n",
                 f"POST {BASE}/import HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: 900000\r\n", f"POST {BASE}/transactions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n",
                 f"GET {BASE}/changes?class=Item&sort=-price HTTP/1.1\r\n"]
        while not self.ends:
            sockets = []
            for number in range(150):
                try:
                    connection = self.server.connect(source=f"127.0.1.{number % 40 + 1}", timeout=5)
                    connection.sendall((chance.choice(asked) + "Host: 127.0.0.1\r\n\r\n").encode() + b"{}")
                    sockets.append(connection)
                except OSError:
                    self.count("storm", 0)
            time.sleep(chance.random() * 3)
            for connection in sockets:
                if chance.random() < .5:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            self.count("storm", 200)
            time.sleep(15)

    def start(self):
        jobs = [(self.write, number) for number in range(3)] + [(self.read, number) for number in range(3)] + [(self.hold,), (self.follow,), (self.follow,), (self.storm,)]
        self.threads = [threading.Thread(target=job[0], args=job[1:], daemon=True) for job in jobs]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ends = True
        for thread in self.threads:
            thread.join(40)


def floor(values):
    """The lowest tenth ends here: what is held whatever goes on. More comes and goes with the load of the moment."""
    return statistics.quantiles(values, n=10)[0] if len(values) > 1 else values[0]


def figures(server):
    text = server.request("GET", "/metrics")[2].decode()
    metric = lambda name: float(found.group(1)) if (found := re.search(rf'^realm_rest_{name}(?:{{realm="soak"}})? (\S+)$', text, re.M)) else 0.0
    return {"versions": metric("live_versions"), "resident": server.resident(), "descriptors": server.descriptors(), "threads": server.threads(), "disk": server.disk(),
            "registrations": metric("registrations"), "streams": metric("streams"), "connections": metric("connections"), "commits": metric("commits_total")}


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--minutes", type=float, default=120)
    reader.add_argument("--seed", default="1")
    given = trial.arguments(reader)
    with trial.Server("--limit", "live-versions=1000") as server:
        trial.require(server.request("POST", "/v1/realms", {"name": "soak", "schema": SCHEMA})[0] == 201, "no realm")
        work = Workload(server, given.seed)
        server.request("POST", BASE + "/objects/Owner", [{"id": number} for number in range(20)])
        for part in range(0, CEILING, 500):
            server.request("POST", BASE + "/objects/Item", [work.item(random.Random(key), key) for key in range(part, part + 500)])
        work.start()
        rows, begin = [], time.monotonic()
        while (passed := time.monotonic() - begin) < given.minutes * 60:
            time.sleep(min(10, given.minutes * 60 / 40))
            rows.append(figures(server))
            trial.require(server.is_alive, "the server ended\n" + server.crash_report())
            if len(rows) % 6 == 0:
                row = rows[-1]
                print(f"{passed / 60:.0f} min: versions {row['versions']:.0f}, {trial.megabytes(row['resident'])}, {row['descriptors']} descriptors, {row['threads']} threads, "
                      f"disk {trial.megabytes(row['disk'])}, {row['streams']:.0f} streams, {row['registrations']:.0f} registrations, {row['connections']:.0f} connections, {row['commits']:.0f} commits", flush=True)
        work.stop()
        print(dict(sorted((f"{word} {status}", count) for (word, status), count in work.counts.items())))
        quarter = len(rows) // 4
        for name, slack in (("versions", 20), ("resident", 40 << 20), ("descriptors", 100), ("threads", 2), ("disk", 16 << 20)):
            early, late = (floor([row[name] for row in part]) for part in (rows[quarter:2 * quarter], rows[-quarter:]))
            print(f"{name}: floor of the second quarter {early:.0f}, of the last {late:.0f}")
            trial.require(late <= early * 1.1 + slack, f"{name} grew")
        trial.require(not any(status in (500, 0) and word not in ("storm", "stream") for word, status in work.counts), "a request failed")
        print("end of the server:", server.stop())


if __name__ == "__main__":
    main()
