#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures requests over HTTP beside PocketBase, over the same rows, in rounds that take turns.

    python3 Tests/System/Bench/pocketbase.py --server .build-release/release/realm-rest --pocketbase .venv-bench/bin/pocketbase

Both have one class of so many rows with six properties, a primary key and indexes on two of them, on loopback and without
credentials, logs of requests and limits of rates. Reads are measured twice for this server: as it comes, and without answers
that are kept for the same request. Answers are compared before anything is measured, rows that are written are counted
afterwards, and a request that fails ends the benchmark. The figures are medians of rounds, as a table.
"""
import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

from serving import UNKEPT, Client, Server
from harness import free_port  # noqa: E402

CITIES, AGES, SYLLABLES = 1000, 90, [first + second for first in "bdfgklmnprstvwz" for second in "aeiou"]
PROPERTIES = {"id": "string", "name": "string", "age": "int", "score": "double", "active": "bool", "city": "string"}
INDEXED = ["name", "city"]
SCHEMA = {"classes": [{"name": "Item", "primaryKey": "id", "properties": [
    {"name": name, "type": kind, **({"indexed": "general"} if name in INDEXED else {})} for name, kind in PROPERTIES.items()]}]}
BATCH = 1000
# How many seconds one measurement of slow requests may take.
LONGEST = 30


def row(number, count):
    """The same row for a number each time; no two have the same score."""
    dice = random.Random(number)
    name = " ".join("".join(dice.choice(SYLLABLES) for _ in range(3)) for _ in range(2))
    return {"id": f"item{number:011d}", "name": name, "age": dice.randrange(AGES), "score": (number * 7919 % count) / 8,
            "active": dice.random() < 0.5, "city": f"city{dice.randrange(CITIES):04d}"}


class Ours:
    """The server, with one realm for reads and one that is made anew for writes."""

    def __init__(self, binary, folder, arguments):
        self.server = Server(binary, folder, arguments)
        self.port, self.process = self.server.port, self.server.process

    def send(self, method, target, *body):
        """Sends a request by a connection of its own, because between measurements one would be idle for too long."""
        return Client(self.port).send(method, target, *body)

    def fill(self, count):
        self.make("items")
        lines = "\n".join(json.dumps(row(number, count)) for number in range(count))
        self.send("POST", "/v1/realms/items/import?class=Item", lines, "application/x-ndjson")

    def make(self, name):
        self.send("POST", "/v1/realms", json.dumps({"name": name, "schema": SCHEMA}))

    def renew(self):
        if any(realm["name"] == "made" for realm in self.ask("/v1/realms")["items"]):
            self.send("DELETE", "/v1/realms/made?files=true")
        self.make("made")

    def ask(self, target):
        return json.loads(self.send("GET", target))

    def rows(self, target):
        """The rows of an answer, without what describes them, or the number of rows."""
        answer = self.ask(target)
        if "count" in answer:
            return answer["count"]
        return [{name: one[name] for name in PROPERTIES} for one in answer.get("items", [answer])]

    def made(self):
        return self.ask("/v1/realms/made/aggregate/Item?ops=count")["count"]

    def end(self):
        self.server.end()


# Its pragma is that of its one connection that writes, so a hook can set it where the program has no option.
HOOK = """
routerAdd("POST", "/synchronous/{level}", (event) => {
  const level = event.request.pathValue("level")
  if (level != "as-it-is") $app.nonconcurrentDB().newQuery("PRAGMA synchronous = " + level).execute()
  const found = new DynamicModel({"synchronous": 0, "journal_mode": ""})
  $app.nonconcurrentDB().newQuery("SELECT * FROM pragma_synchronous, pragma_journal_mode").one(found)
  return event.json(200, found)
})
"""


class Theirs:
    """PocketBase, with one collection for reads and one that is made anew for writes."""

    def __init__(self, binary, folder):
        hooks, self.port = Path(folder) / "hooks", free_port()
        hooks.mkdir()
        (hooks / "synchronous.pb.js").write_text(HOOK)
        common = ["--dir", f"{folder}/data", "--hooksDir", str(hooks), "--publicDir", f"{folder}/public", "--migrationsDir",
                  f"{folder}/migrations", "--automigrate=0"]
        self.identity, self.fields = {"identity": "bench@example.com", "password": "only for this run"}, {}
        subprocess.run([binary, "superuser", "upsert", *self.identity.values(), *common], check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen([binary, "serve", "--http", f"127.0.0.1:{self.port}", *common],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def set_up(self):
        """Logs in as the administrator, and switches logs and limits of rates off and batches on."""
        wait_for(self.port)
        answer = self.send("POST", "/api/collections/_superusers/auth-with-password", self.identity)
        self.fields = {"Authorization": answer["token"]}
        self.send("PATCH", "/api/settings", {
            "logs": {"maxDays": 0}, "rateLimits": {"enabled": False},
            "batch": {"enabled": True, "maxRequests": BATCH, "timeout": 600, "maxBodySize": 1 << 30}})

    def send(self, method, target, body=None):
        text = Client(self.port, self.fields).send(method, target, None if body is None else json.dumps(body))
        return json.loads(text) if text else None

    def fill(self, count):
        self.set_up()
        self.make("items")
        for first in range(0, count, BATCH):
            self.send("POST", "/api/batch", {"requests": [
                {"method": "POST", "url": "/api/collections/items/records", "body": row(number, count)}
                for number in range(first, min(count, first + BATCH))]})

    def make(self, name):
        kinds = {"string": "text", "int": "number", "double": "number", "bool": "bool"}
        fields = [{"name": "id", "type": "text", "primaryKey": True, "required": True, "min": 15, "max": 15, "pattern": "^[a-z0-9]+$"}]
        fields += [{"name": one, "type": kinds[kind], **({"onlyInt": True} if kind == "int" else {})}
                   for one, kind in PROPERTIES.items() if one != "id"]
        self.send("POST", "/api/collections", {
            "name": name, "type": "base", "fields": fields, "listRule": "", "viewRule": "", "createRule": "", "updateRule": "",
            "deleteRule": "", "indexes": [f"CREATE INDEX `{name}_{one}` ON `{name}` (`{one}`)" for one in INDEXED]})

    def renew(self):
        if any(one["name"] == "made" for one in self.send("GET", "/api/collections?perPage=500")["items"]):
            self.send("DELETE", "/api/collections/made")
        self.make("made")

    def rows(self, target):
        """The rows of an answer, without what describes them, or the number of rows."""
        answer = self.send("GET", target)
        if answer.get("totalItems", -1) >= 0:
            return answer["totalItems"]
        return [{name: one[name] for name in PROPERTIES} for one in answer.get("items", [answer])]

    def made(self):
        return self.send("GET", "/api/collections/made/records?perPage=1")["totalItems"]

    def synchronous(self, level):
        """Sets how its writes are synchronized, unless the level is as-it-is, and returns the level as a number and the journal's mode."""
        return self.send("POST", f"/synchronous/{level}")

    def end(self):
        self.process.terminate()
        self.process.wait()


def wait_for(port):
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    sys.exit("PocketBase did not start")


@dataclass
class Kind:
    """A kind of request: the targets of it for both with a value in the place of @, and the values in Lua and in Python.

    Of writes `body` is the body for both, with a function of Lua `rows` for the objects of it.
    """
    name: str
    ours: str
    theirs: str
    asked: int
    value: str = "nil"
    example: object = None
    ordered: bool = False
    body: tuple = ()
    each: int = 1
    clients: int = 0
    level: str = "NORMAL"


def kinds(count):
    """All kinds of requests over so many rows."""
    ours, theirs = "/v1/realms/items/objects/Item", "/api/collections/items/records"
    quote = urllib.parse.quote
    of_city = ("('city%04d'):format(math.random(0, 999))", lambda dice: f"city{dice.randrange(CITIES):04d}")
    of_score = ("math.random(0, count * 8) / 64", lambda dice: dice.randrange(count * 8) / 64)
    of_name = ("syllables[math.random(#syllables)]", lambda dice: dice.choice(SYLLABLES))
    counted, first = "/v1/realms/items/aggregate/Item?ops=count&where=", "?perPage=20&skipTotal=1&"
    like, contains = "filter=" + quote("name~'") + "@'", quote("name CONTAINS[c] '") + "@'"
    made, records = "/v1/realms/made/objects/Item", "/api/collections/made/records"
    single = ("return object(next_id())", "return object(next_id())")
    batch = ("return '[' .. objects('', '') .. ']'",
             "return '{\"requests\":[' .. objects('{\"method\":\"POST\",\"url\":\"/api/collections/made/records\",\"body\":', '}') .. ']}'")
    return [
        Kind("point read by primary key", f"{ours}/@", f"{theirs}/@", 20, "('item%011d'):format(math.random(0, count - 1))",
             lambda dice: f"item{dice.randrange(count):011d}"),
        Kind("page of 20 of an index", f"{ours}?limit=20&where=city%3D%3D'@'", f"{theirs}{first}filter=city%3D'@'", 20, *of_city),
        Kind("count by a number", f"{counted}score%3E@", f"{theirs}?perPage=1&fields=id&filter=score%3E@", 100, *of_score),
        Kind("count by a part of a text", counted + contains, f"{theirs}?perPage=1&fields=id&{like}", 100, *of_name),
        Kind("part of a text, best 20 by score", f"{ours}?limit=20&sort=-score&where={contains}", f"{theirs}{first}sort=-score&{like}", 20,
             *of_name, ordered=True),
        Kind("list of 500", f"{ours}?limit=500", f"{theirs}?perPage=500&skipTotal=1", 20),
        Kind(f"objects made, {BATCH:,} in a request", made, "/api/batch", 20, body=batch, each=BATCH, clients=4),
        Kind("objects made, one in a request", made, records, 20, body=single),
        Kind("objects made, one in a request, PocketBase with synchronous=FULL", made, records, 20, body=single, level="FULL"),
    ]


def check(kind, ours, theirs):
    """Ends the benchmark when two servers answer a kind of request differently."""
    if kind.body:
        return
    dice = random.Random(7)
    for _ in range(5):
        value = str(kind.example(dice)) if kind.example else ""
        found = [one.rows(target.replace("@", value)) for one, target in ((ours, kind.ours), (theirs, kind.theirs))]
        if not kind.ordered and isinstance(found[0], list):
            found = [sorted(one, key=lambda row: row["id"]) if isinstance(one, list) else one for one in found]
        if found[0] != found[1] or not found[0]:
            sys.exit(f"{kind.name} of {value}: {str(found[0])[:300]} is not {str(found[1])[:300]}")


SCRIPT = """
local count, syllables, run, headers = @COUNT, {@SYLLABLES}, "@RUN", {["Content-Type"] = "application/json"}
local threads, sent = 0, 0
function setup(thread) thread:set("number", threads) threads = threads + 1 end
function init() math.randomseed(@SEED + number) end
function next_id() sent = sent + 1 return ("%s%d%09d"):format(run, number, sent) end
function object(id)
  local city = sent % 1000
  return ('{"id":"%s","name":"%s%s %s","age":%d,"score":%d.25,"active":%s,"city":"city%04d"}'):format(id, syllables[sent % 75 + 1],
    syllables[sent % 73 + 1], syllables[sent % 71 + 1], sent % 90, sent, sent % 2 == 0 and "true" or "false", city)
end
function objects(before, after)
  local parts = {}
  for one = 1, @BATCH do parts[one] = before .. object(next_id()) .. after end
  return table.concat(parts, ",")
end
local function body() @BODY end
local function value() return @VALUE end
local before, after = @TARGET
function request()
  if "@METHOD" == "POST" then return wrk.format("POST", before, headers, body()) end
  return wrk.format("GET", after and before .. value() .. after or before)
end
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(("RESULT %d %d %d\\n"):format(summary.requests, summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
"""


def script(kind, is_ours, count):
    """What wrk sends, in Lua."""
    target = kind.ours if is_ours else kind.theirs
    parts = ", ".join(f'"{one}"' for one in target.split("@"))
    body = kind.body[0 if is_ours else 1] if kind.body else "return nil"
    values = {"COUNT": count, "SYLLABLES": ", ".join(f'"{one}"' for one in SYLLABLES), "RUN": "m%04d" % random.randrange(10000),
              "SEED": random.randrange(1 << 30), "BATCH": BATCH, "BODY": body, "VALUE": kind.value, "TARGET": parts,
              "METHOD": "POST" if kind.body else "GET"}
    text = SCRIPT
    for name, one in values.items():
        text = text.replace("@" + name, str(one))
    return text


def processor_time(process):
    """The seconds of processors that a program has used."""
    with open(f"/proc/{process.pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def send(kind, one, count, clients, seconds):
    """Sends requests for so long; returns how many were answered, the microseconds it took, and the seconds of processors."""
    if kind.body:
        one.renew()
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script(kind, isinstance(one, Ours), count))
        file.flush()
        command = ["wrk", "-t2", f"-c{clients}", f"-d{seconds}s", "--timeout", f"{2 * LONGEST}s", "-s", file.name, f"http://127.0.0.1:{one.port}"]
        before = processor_time(one.process)
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        used = processor_time(one.process) - before
    requests, duration, errors = map(int, out.split("RESULT ")[1].split())
    if errors:
        sys.exit(f"{kind.name}, {type(one).__name__}: {out}")
    if kind.body:
        written(kind, one, requests)
    return requests, duration, used


def rate(kind, one, count, options):
    """Requests per second of a kind, or objects per second of writes, and the microseconds of processors that each took.

    What is under way at the end is not counted, so slow requests are sent again for longer.
    """
    clients, seconds = kind.clients or options.clients, options.seconds
    while True:
        requests, duration, used = send(kind, one, count, clients, seconds)
        if requests >= 10 * clients or requests and seconds >= LONGEST:
            return requests * kind.each / (duration / 1e6), used * 1e6 / (requests * kind.each)
        if seconds >= LONGEST:
            sys.exit(f"{kind.name}, {type(one).__name__}: no answer within {seconds} s")
        seconds = min(LONGEST, max(2 * seconds, 12 * clients * seconds // max(requests, 1)))


def written(kind, one, requests):
    """Waits until what was under way has ended, and ends the benchmark when fewer rows are there than were confirmed."""
    before, now = -1, one.made()
    while now != before:
        time.sleep(0.5)
        before, now = now, one.made()
    if now < requests * kind.each or now % kind.each:
        sys.exit(f"{kind.name}, {type(one).__name__}: {now} rows of {requests} requests")


def measure(kind, servers, count, options):
    """The median rate of each server, and its median processor time, over rounds in which they take turns."""
    found = {name: [] for name in servers}
    theirs = servers["PocketBase"]
    state = theirs.synchronous(kind.level)
    for _ in range(options.rounds):
        for name, one in servers.items():
            if not (kind.body and name == "unkept"):
                found[name].append(rate(kind, one, count, options))
    if theirs.synchronous("as-it-is") != state:
        sys.exit(f"{kind.name}: PocketBase has forgotten {state}")
    if kind.body:
        print(f"{kind.name}: PocketBase had journal_mode={state['journal_mode']}, synchronous={state['synchronous']}", file=sys.stderr)
    return [{name: statistics.median(figures[which] for figures in one) if one else None for name, one in found.items()} for which in (0, 1)]


def line(name, found, ratio, *more):
    """A line of a table: the figures of the servers, and how many times better ours are."""
    figures = ["–" if one is None else f"{one:,.0f}" if one >= 100 else f"{one:,.1f}" for one in found.values()]
    ratios = ["–" if found[one] is None else f"{ratio(found[one], found['PocketBase']):,.1f}" for one in ("ours", "unkept")]
    return "| " + " | ".join([name, *figures, *ratios, *more]) + " |"


def table(title, lines, *more):
    columns = [title, "ours", "without kept answers", "PocketBase", "ratio", "ratio without", *more]
    print("\n| " + " | ".join(columns) + " |\n|---" + "|--:" * (len(columns) - 1) + "|")
    print("\n".join(lines))


def load():
    return " ".join(f"{one:.2f}" for one in os.getloadavg())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--pocketbase", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--only", default="", help="measures kinds with this word in their name")
    parser.add_argument("--folder", help="where the data is; a folder for temporary files without it")
    options = parser.parse_args()
    quiet, servers = ["--log-level", "error"], {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        places = [os.path.join(folder, name) for name in ("ours", "unkept", "theirs")]
        for place in places:
            os.mkdir(place)
        try:
            servers["ours"] = Ours(options.server, places[0], quiet)
            servers["unkept"] = Ours(options.server, places[1], [*quiet, *UNKEPT])
            servers["PocketBase"] = Theirs(str(Path(options.pocketbase).resolve()), places[2])
            for one in servers.values():
                one.fill(options.rows)
            print(f"{options.rows:,} rows, {options.clients} clients, medians of {options.rounds} rounds of {options.seconds} s, "
                  f"{os.cpu_count()} processors, load before {load()}", flush=True)
            rates, times = [], []
            for kind in kinds(options.rows):
                if options.only in kind.name:
                    check(kind, servers["ours"], servers["PocketBase"])
                    check(kind, servers["unkept"], servers["PocketBase"])
                    found = measure(kind, servers, options.rows, options)
                    rates.append(line(kind.name, found[0], lambda ours, theirs: ours / theirs, str(kind.asked)))
                    times.append(line(kind.name, found[1], lambda ours, theirs: theirs / max(ours, 0.01)))
                    print(rates[-1], file=sys.stderr, flush=True)
            table("Per second", rates, "asked")
            table("Microseconds of processors", times)
            print(f"\nload after {load()}")
        finally:
            for one in servers.values():
                one.end()


if __name__ == "__main__":
    main()
