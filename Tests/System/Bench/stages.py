#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that a server spends on requests, stage by stage.

Counts repeat from run to run on a busy machine, which times do not, so they show what a change of a few percent does. The
server runs under callgrind (Debian's valgrind), a realm of 20,000 objects is made first, and each kind of request is sent a
number of times on one connection. A stage is what a function costs together with all that it calls.

docs/performance.md has the results and says what the stages are.
"""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile

from serving import Client
import harness  # noqa: E402

OBJECTS = 20_000
SCHEMA = {"classes": [{"name": "Item", "primaryKey": "id", "properties": [
    {"name": "id", "type": "int"}, {"name": "name", "type": "string"},
    {"name": "age", "type": "int", "indexed": "general"}, {"name": "score", "type": "double"},
    {"name": "city", "type": "string"}, {"name": "active", "type": "bool"}]}]}

# What a stage is called, and a pattern for the function that it is. The counts are inclusive: what a function costs together with
# all that it calls. A stage in brackets is a part of the one before it.
STAGES = {
    "read": [
        ("memory of the connection cleared by libmicrohttpd", r"^__memset"),
        ("head read, checked and routed", r"^Exchange\.beginBody"),
        ("endpoint", r"ReadDispatcher\.briefReply|^closure #1 in static Reply\.reading"),
        ("(objects as JSON)", r"^ObjectEncoder\.write\("),
        ("answer kept for the same request", r"^AnswerCache\.note"),
        ("response made and queued", r"^Exchange\.sendSoon"),
    ],
    "write": [
        ("memory of the connection cleared by libmicrohttpd", r"^__memset"),
        ("head read, checked and routed", r"^Exchange\.beginBody"),
        ("JSON parsed", r"static JSONParser\.parse\("),
        ("(by simdjson)", r"^realm_rest_tape_read"),
        ("(by jansson)", r"^json_loadb"),
        ("inputs made of it", r"^InputReader\.object"),
        ("objects made, or lines read and written", r"^WriteSession\.(make|createTogether)\(|^WriteSession\.createTogether"),
        ("(values read by type)", r"^WriteSession\.gather|^ObjectDraft\.read"),
        ("(primary keys looked up)", r"hasAnyPrimaryKey|^WriteTransaction\.findByPrimaryKey"),
        ("(leaves and indexes)", r"^WriteTransaction\.createObjects?\("),
        ("(of these, indexes)", r"^WriteTransaction\.fileInIndexes"),
        ("answer made", r"^WriteContext\.draft|^ObjectMaker\.draft"),
        ("commit", r"Committer\.commit|^WriteTransaction\.commit"),
        ("response made and queued", r"^Exchange\.sendOutcome"),
    ],
}

def row(key):
    random.seed(key)
    return {"id": key, "name": f"name of {key}", "age": key % 90, "score": random.random() * 100,
            "city": random.choice(["zeta", "kappa", "gamma", "delta"]), "active": key % 2 == 0}


def kinds(count):
    """The requests of each kind: method, target, body, media type."""
    lines = lambda first, number: "\n".join(json.dumps(row(key)) for key in range(first, first + number))
    return {
        "point read": ("read", count, lambda i: ("GET", f"objects/Item/{i * 7919 % OBJECTS}", None, None)),
        "list of 20": ("read", count, lambda i: ("GET", f"objects/Item?limit=20&offset={i % 100}", None, None)),
        "indexed page of 20": ("read", count, lambda i: (
            "GET", f"objects/Item?where=age%3D%3D{i % 90}&limit=20&offset={i // 90 % 9}", None, None)),
        "one object made": ("write", count // 2, lambda i: (
            "POST", "objects/Item", json.dumps(row(1_000_000 + i)), "application/json")),
        "1,000 objects made": ("write", 5, lambda i: (
            "POST", "objects/Item", "[" + lines(2_000_000 + i * 1000, 1000).replace("\n", ",") + "]", "application/json")),
        "10,000 lines imported": ("write", 2, lambda i: (
            "POST", "import?class=Item", lines(3_000_000 + i * 10_000, 10_000), "application/x-ndjson")),
    }


class Server(harness.Program):
    """A server under callgrind, which counts only while it is told to."""

    def __init__(self, binary, folder):
        self.out = os.path.join(folder, "callgrind")
        # Valgrind 3.19 gives up on debug information that newer compilers write. The names of functions are elsewhere.
        program = os.path.join(folder, "realm-rest")
        subprocess.run(["objcopy", "--strip-debug", binary, program], check=True)
        # Valgrind says on its errors what it does, line by line.
        super().__init__(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self.out}", program, "serve",
             "--port", "0", "--data", folder, "--log-format", "none", "--limit", "read-seconds=3600", "--limit", "write-seconds=3600"],
            errors=subprocess.DEVNULL, env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
        self.client = Client(self.port)

    def send(self, method, target, body=None, media="application/json"):
        self.client.send(method, "/v1/realms" + ("/app/" + target if target else ""), body, media)

    def control(self, *words):
        subprocess.run(["callgrind_control", *words, str(self.process.pid)], stdout=subprocess.DEVNULL, check=True)

    def count(self, requests):
        """The instructions of all requests, by function."""
        self.control("-z")
        self.control("-i", "on")
        for request in requests:
            self.send(*request)
        self.control("-i", "off")
        self.control("-d")
        files = sorted(os.path.join(os.path.dirname(self.out), name) for name in os.listdir(os.path.dirname(self.out))
                       if name.startswith("callgrind."))
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=99.9", files[-1]],
                              capture_output=True, text=True).stdout
        return subprocess.run(["swift", "demangle", "--simplified"], input=text, capture_output=True, text=True).stdout

    def end(self):
        return super().end(seconds=600)


def costs(text):
    """The inclusive cost of each function, and the total."""
    total, functions = 0, []
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+(.*)", line)
        if not match:
            continue
        number = int(match[1].replace(",", ""))
        if "PROGRAM TOTALS" in match[2]:
            total = number
        else:
            functions.append((number, re.sub(r"^(\S*?:)?(specialized |protocol witness for )?", "", match[2])))
    return total, functions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--count", type=int, default=400, help="requests of each kind of read")
    parser.add_argument("--only", help="a word of the kinds that are wanted")
    parser.add_argument("--functions", type=int, default=0, help="so many functions of each kind are printed, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stages-") as folder:
        server = Server(options.server, folder)
        try:
            server.send("POST", "", json.dumps({"name": "app", "schema": SCHEMA}), "application/json")
            server.send("POST", "import?class=Item", "\n".join(json.dumps(row(key)) for key in range(OBJECTS)),
                        "application/x-ndjson")
            for name, (form, count, request) in kinds(options.count).items():
                if options.only and options.only not in name:
                    continue
                for index in range(min(count, 50) if form == "read" else 0):
                    server.send(*request(index + 7))
                total, functions = costs(server.count([request(index) for index in range(count)]))
                per = {"1,000 objects made": 1000, "10,000 lines imported": 10_000}.get(name, 1)
                unit = "object" if per > 1 else "request"
                print(f"{name}: {total // count // per:,} instructions per {unit}")
                for stage, pattern in STAGES[form]:
                    found = [number for number, function in functions if pattern and re.search(pattern, function)]
                    if found:
                        print(f"    {max(found) // count // per:>9,}  {stage}")
                for number, function in functions[:options.functions]:
                    print(f"        {number // count // per:>9,}  {function[:150]}")
        finally:
            server.end()


if __name__ == "__main__":
    main()
