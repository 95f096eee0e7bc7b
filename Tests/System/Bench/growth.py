#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how the cost of requests grows with the number of objects and with the number of clients, and draws charts of it.

    python3 Tests/System/Bench/growth.py --server .build-release/release/realm-rest [--objects 10000,100000,1000000] [--clients 1,2,4,8,16,32]

A server is started for each size, over a realm of so many objects with six properties that it imports first, and is asked over HTTP
by one client; then the largest realm of up to a million objects is asked by several connections of `wrk`.
Answers are not kept between requests. The charts go to the folder `--images`, the figures to standard output.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

from chart import chart
from serving import Client, Server

CITIES = ["zeta", "kappa", "gamma", "delta", "alpha", "beta", "epsilon", "theta"]
SCHEMA = {"classes": [{"name": "Item", "primaryKey": "id", "properties": [
    {"name": "id", "type": "int"}, {"name": "name", "type": "string"}, {"name": "age", "type": "int", "indexed": "general"},
    {"name": "score", "type": "double"}, {"name": "city", "type": "string"}, {"name": "active", "type": "bool"}]}]}
IMPORTED = 500_000


def rows(first, last):
    """Lines of NDJSON; a key makes the same row each time."""
    lines = []
    for key in range(first, last):
        dice = key * 2654435761 & 0xffffffff
        lines.append('{"id":%d,"name":"name of %d","age":%d,"score":%.3f,"city":"%s","active":%s}' % (
            key, key, dice % 90, (dice >> 8) / 1e5, CITIES[dice >> 29], "true" if dice & 1 else "false"))
    return "\n".join(lines)


ITEMS = "/v1/realms/app/objects/Item"


def kinds(count, dice):
    """The requests of each kind by name: how often they are sent, and what the n-th is."""
    def patch(name, value):
        return lambda n: ("PATCH", f"{ITEMS}/{dice.randrange(count)}", json.dumps({name: value()}))

    return {
        "point read": (400, lambda n: ("GET", f"{ITEMS}/{dice.randrange(count)}")),
        "page of an index": (200, lambda n: ("GET", f"{ITEMS}?where=age%3D%3D{n % 90}&limit=20")),
        "page at an offset": (200, lambda n: ("GET", f"{ITEMS}?limit=20&offset={dice.randrange(count)}")),
        "best 20 of all": (5, lambda n: ("GET", f"{ITEMS}?sort=-score&limit=20&where=id%3E%3D{n}")),
        "count by a scan": (5, lambda n: ("GET", f"/v1/realms/app/aggregate/Item?ops=count&where=score%3E{30 + n}")),
        "change of one value": (100, patch("score", lambda: dice.random() * 100)),
        "change of an indexed value": (100, patch("age", lambda: dice.randrange(90))),
        "one object made": (100, lambda n: ("POST", ITEMS, json.dumps(
            {"id": count + dice.randrange(1 << 40), "name": "new", "age": 5, "score": 1.5, "city": "zeta", "active": True}))),
    }


def times(client, kind):
    number, request = kind
    found = []
    for index in range(number):
        asked = request(index)
        begin = time.perf_counter()
        client.send(*asked)
        found.append((time.perf_counter() - begin) * 1e3)
    return found


def fill(client, count):
    client.send("POST", "/v1/realms", json.dumps({"name": "app", "schema": SCHEMA}))
    for first in range(0, count, IMPORTED):
        client.send("POST", "/v1/realms/app/import?class=Item", rows(first, min(count, first + IMPORTED)), "application/x-ndjson")


# What each kind of request is for wrk, which is fast enough not to be what is measured.
LUA = {
    "point read": 'return wrk.format("GET", items .. "/" .. math.random(0, count - 1))',
    "page of an index": 'return wrk.format("GET", items .. "?limit=20&where=age%3D%3D" .. math.random(0, 89))',
    "change of one value": 'return wrk.format("PATCH", items .. "/" .. math.random(0, count - 1), json, '
                           '\'{"score":\' .. math.random() * 100 .. "}")',
    "count by a scan": 'return wrk.format("GET", "/v1/realms/app/aggregate/Item?ops=count&where=score%3E" .. math.random() * 100)',
    "one object made": 'made = made + 1; return wrk.format("POST", items, json, \'{"id":\' .. string.format("%d", made) .. '
                       '\',"name":"new","age":5,"score":1.5,"city":"zeta","active":true}\')',
}


def wrk(port, count, kind, clients, seconds):
    """Starts wrk, one thread of which sends requests of a kind over so many connections, and returns its process."""
    script = tempfile.NamedTemporaryFile("w", suffix=".lua")
    script.write(f'''
local items, count, json, made = "{ITEMS}", {count}, {{["Content-Type"] = "application/json"}}, {random.randrange(1 << 30, 1 << 50)}
math.randomseed({random.randrange(1 << 30)})
request = function() {LUA[kind]} end
''')
    script.flush()
    process = subprocess.Popen(["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "-s", script.name, f"http://127.0.0.1:{port}"],
                               stdout=subprocess.PIPE, text=True)
    process.script = script
    return process


def rate(port, count, kind, clients, seconds):
    """Requests per second by so many connections."""
    out = wrk(port, count, kind, clients, seconds).communicate()[0]
    if "Non-2xx" in out:
        sys.exit(f"{kind} by {clients} clients: {out}")
    return float(out.split("Requests/sec:")[1].split()[0])


def beside_scans(port, count, seconds):
    """The 99th percentile of point reads by one client, in milliseconds: alone, and while two others have the whole class scanned."""
    client, kind = Client(port), kinds(count, random.Random(6))["point read"][1]
    found = []
    for busy in (False, True):
        scans = wrk(port, count, "count by a scan", 2, 2 * seconds) if busy else None
        taken, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            taken += times(client, (50, kind))
        found.append(statistics.quantiles(taken, n=100)[98])
        if scans:
            scans.wait()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--objects", default="10000,100000,1000000")
    parser.add_argument("--clients", default="1,2,4,8,16,32")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--images", default="docs/images")
    parser.add_argument("--folder", help="where the realms are made; a folder for temporary files without it")
    options = parser.parse_args()
    sizes = [int(size) for size in options.objects.split(",")]
    over_size, memory, over_clients = {}, {"own memory": [], "with touched pages of files": []}, {}
    for count in sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            server = Server(options.server, folder)
            fill(Client(server.port), count)
            server.end()
            server = Server(options.server, folder)
            try:
                client, dice = Client(server.port), random.Random(5)
                begin = time.perf_counter()
                client.send("GET", f"{ITEMS}?limit=1")
                over_size.setdefault("first answer", []).append((count, (time.perf_counter() - begin) * 1e3))
                for name, kind in kinds(count, dice).items():
                    found = times(client, kind)
                    over_size.setdefault(name, []).append((count, statistics.median(found)))
                for name, size in zip(memory, server.resident()):
                    memory[name].append((count, size))
                print(f"{count} objects, {os.path.getsize(os.path.join(folder, 'app.realm')) / 1e6:.0f} MB")
                for name, line in over_size.items():
                    print(f"  {name:28} {line[-1][1]:10.3f} ms")
                for name, line in memory.items():
                    print(f"  {name:28} {line[-1][1]:10.1f} MB", flush=True)
                if count == max([size for size in sizes if size <= 1_000_000], default=None):
                    print("  99 of 100 point reads take up to {:.3f} ms alone, and {:.3f} ms while two clients scan the class".format(
                        *beside_scans(server.port, count, options.seconds)))
                    for kind in LUA:
                        for clients in map(int, options.clients.split(",")):
                            found = rate(server.port, count, kind, clients, options.seconds)
                            over_clients.setdefault(kind, []).append((clients, found))
                            print(f"  {kind:28} {found:10.0f} /s by {clients} clients", flush=True)
            finally:
                server.end()
    os.makedirs(options.images, exist_ok=True)
    charts = {
        "growth-times.svg": chart("Time of one request over the size of a class", "objects", "milliseconds", list(over_size.items())),
        "growth-memory.svg": chart("Memory of the server after these requests", "objects", "MB", list(memory.items())),
    }
    if over_clients:
        charts["growth-clients.svg"] = chart("Requests per second over the number of clients", "clients", "requests per second",
                                             list(over_clients.items()))
    for name, text in charts.items():
        with open(os.path.join(options.images, name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
