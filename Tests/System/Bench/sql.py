#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares statements of SQL over a realm with the same statements of SQLite over its export.

    python3 Tests/System/Bench/sql.py --server .build-release/release/realm-rest [--objects 100000]

It makes a realm of orders and customers, exports it, and runs each statement on both: the least time of some runs, and the ratio. The
rows have to be equal.
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

SCHEMA = {"schemaVersion": 1, "classes": [
    {"name": "Customer", "primaryKey": "id", "properties": [
        {"name": "id", "type": "int"}, {"name": "name", "type": "string", "indexed": True}, {"name": "tier", "type": "int"}]},
    {"name": "Order", "primaryKey": "id", "properties": [
        {"name": "id", "type": "int"}, {"name": "customer", "type": "object", "objectType": "Customer"},
        {"name": "total", "type": "int"}, {"name": "day", "type": "int", "indexed": True}, {"name": "price", "type": "double"}]}]}

STATEMENTS = [
    ("full scan with sum", "SELECT count(*), sum(total) FROM \"Order\""),
    ("point look-up", "SELECT * FROM \"Order\" WHERE id = 4711"),
    ("indexed value", "SELECT sum(total) FROM \"Order\" WHERE day = 17"),
    ("indexed range", "SELECT count(*), sum(total) FROM \"Order\" WHERE day BETWEEN 10 AND 12"),
    ("join on a key", "SELECT c.tier, count(*), sum(o.total) FROM \"Order\" o JOIN Customer c ON o.customer = c.id GROUP BY 1 ORDER BY 1"),
    ("join on links", "SELECT c.name, count(*) FROM Customer c JOIN \"Order\" o ON o.customer = c.id WHERE c.id < 50 GROUP BY 1 ORDER BY 1"),
    ("sorted, limited", "SELECT id, total FROM \"Order\" ORDER BY total DESC LIMIT 1"),
]


def least(runs, body):
    times, result = [], None
    for _ in range(runs):
        begin = time.perf_counter()
        result = body()
        times.append(time.perf_counter() - begin)
    return min(times), result


class Server:
    def __init__(self, program, folder, port):
        self.base = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen([program, "serve", "--port", str(port), "--log-format", "none", folder],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def wait(self):
        for _ in range(200):
            try:
                return self.send("GET", "/readyz")
            except OSError:
                time.sleep(0.1)
        sys.exit("the server did not start")


def fill(server, objects, customers):
    server.send("POST", "/v1/realms", {"name": "bench", "inMemory": "bench", "schema": SCHEMA})
    server.send("POST", "/v1/realms/bench/objects/Customer",
                [{"id": i, "name": f"customer {i}", "tier": i % 7} for i in range(customers)])
    for start in range(0, objects, 20000):
        server.send("POST", "/v1/realms/bench/objects/Order", [
            {"id": i, "customer": i * 7919 % customers, "total": i * 31 % 1000, "day": i % 365, "price": i / 7}
            for i in range(start, min(start + 20000, objects))])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--customers", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--port", type=int, default=8290)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.server, folder, options.port)
        try:
            server.wait()
            fill(server, options.objects, options.customers)
            path = os.path.join(folder, "bench.db")
            with open(path, "wb") as file:
                file.write(server.send("GET", "/v1/realms/bench/export?format=sqlite"))
            database = sqlite3.connect(path)
            for name, sql in STATEMENTS:
                expected, wanted = least(options.runs, lambda: [list(row) for row in database.execute(sql)])
                taken, answer = least(options.runs, lambda: server.send("POST", "/v1/realms/bench/sql", {"sql": sql}))
                rows = json.loads(answer)["rows"]
                plan = json.loads(server.send("POST", "/v1/realms/bench/sql", {"sql": sql, "explain": True}))["rows"]
                same = "" if rows == wanted else "  ROWS DIFFER"
                print(f"{name:20} {taken * 1000:9.2f} ms, sqlite3 {expected * 1000:9.2f} ms, {expected / taken:5.2f} x{same}")
                for row in plan:
                    print(f"    {row[3]}")
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
