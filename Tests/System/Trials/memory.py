#!/usr/bin/env python3
"""The requests that take the most memory: all candidates alone, then the twenty worst at the same time.

    python3 Tests/System/Trials/memory.py [--only "WORD|WORD"] [--objects 200000] [--skip-together]

The search is systematic: every operation of the route table that reads a body, keeps something or makes a file is sent with
each shape that makes its bookkeeping large against its payload (nothing but separators, the shortest records, the deepest and the widest
values, the longest texts, packed bodies), as one request or as the sequence that leaves the most behind. Memory is RssAnon of
/proc: pages of the process itself, without those of mapped files. Each candidate has to stay below 200 MB above what the
server had before, the twenty worst together below 500 MB; another client's point read has to take less than 100 ms in 99 of 100 cases,
and `/healthz` less than 50 ms.
"""
import argparse
import gzip
import json
import sqlite3
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import trial
from worst import Memory

REALM = "/v1/realms/m"
ALONE, TOGETHER = 200 << 20, 500 << 20
NDJSON, CSV, JSON, SQLITE = "application/x-ndjson", "text/csv", "application/json", "application/vnd.sqlite3"


def properties():
    plain = [("id", "int"), ("n", "int"), ("t", "string"), ("d", "double"), ("m", "mixed")]
    result = [{"name": name, "type": kind, "optional": name != "id"} for name, kind in plain]
    result += [{"name": "l", "type": "int", "collection": "list"}, {"name": "ts", "type": "string", "collection": "list"},
               {"name": "link", "type": "object", "objectType": "A"}]
    return result


SCHEMA = {"schemaVersion": 1, "classes": [
    {"name": name, "primaryKey": "id", "properties": properties()} for name in ("A", "B", "L")
] + [{"name": "W", "primaryKey": "id", "properties": [{"name": "id", "type": "int"}] + [
    {"name": f"p{n}", "type": "int", "optional": True} for n in range(900)]}]}


class Candidate:
    """One request, or a sequence of them, from a client of its own."""

    def __init__(self, word, steps, kind="read"):
        self.word, self.steps, self.kind = word, steps, kind

    def send(self, server, source, timeout=90):
        status, code = 0, ""
        for method, path, body, headers in self.steps() if callable(self.steps) else self.steps:
            status, _, answer = server.request(method, path, body, headers, timeout=timeout, source=source)
            try:
                code = json.loads(answer).get("code", "") if status >= 400 else ""
            except ValueError:
                code = "?"
        return status, code


def packed(data):
    return gzip.compress(data, 1)


def import_of(word, body, kind, query="mode=create&class=B&dryRun=true", is_packed=True, headers=()):
    fields = {"Content-Type": kind, **dict(headers)}
    if is_packed:
        body, fields["Content-Encoding"] = packed(body), "gzip"
    return Candidate("import " + word, [("POST", f"{REALM}/import?{query}", body, fields)])


def table(statements):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        database = sqlite3.connect(path)
        database.executescript(f"begin; {statements} commit;")
        database.close()
        return path.read_bytes()


def imports():
    lines = lambda count, line: b"".join(line(n) for n in range(count))
    wide = b"id," + b",".join(b"c%d" % n for n in range(60_000)) + b"\n"
    yield import_of("of 200 M line feeds", b"id,t\n" + b"\n" * 200_000_000, CSV)
    yield import_of("of 200 M line feeds, lines", b"\n" * 200_000_000, NDJSON)
    yield import_of("of 50 M carriage returns", b"id,t\n" + b"\r" * 50_000_000, CSV)
    yield import_of("of 50 M lines of a blank", b" \n" * 50_000_000, NDJSON)
    yield import_of("of lines of commas", b"id,t,n,d\n" + b",,,\n" * 5_000_000, CSV)
    yield import_of("of 3 M keys in one commit", b"id\n" + lines(3_000_000, lambda n: b"%d\n" % (n + 10_000_000)), CSV)
    yield import_of("of 3 M short lines in one commit", lines(3_000_000, lambda n: b'{"id":%d}\n' % (n + 10_000_000)), NDJSON)
    yield import_of("of 1 M links to later lines", b"id,link\n" + lines(1_000_000, lambda n: b"%d,%d\n" % (n + 10_000_000, n + 10_000_001)), CSV)
    yield import_of("of 3 M keys in parts", b"id\n" + lines(3_000_000, lambda n: b"%d\n" % (n + 20_000_000)), CSV, "mode=upsert&class=L&atomic=false")
    yield import_of("of 1 M links to later lines in parts", b"id,link\n" + lines(1_000_000, lambda n: b"%d,%d\n" % (n + 30_000_000, n + 30_000_001)), CSV, "mode=upsert&class=L&atomic=false")
    yield import_of("of lines of 390,000 values", lines(12, lambda n: b'{"id":%d,"l":[' % (n + 10_000_000) + b",".join([b"1"] * 390_000) + b"]}\n"), NDJSON)
    yield import_of("of lines of 20 MB", lines(10, lambda n: b'{"id":%d,"t":"' % (n + 10_000_000) + b"x" * 20_000_000 + b'"}\n'), NDJSON)
    yield import_of("of 5 M numbers as an array", b"[" + b"1," * 5_000_000 + b"1]", JSON)
    yield import_of("of 2 M objects as an array", b"[" + b",".join(b'{"id":%d}' % (n + 10_000_000) for n in range(2_000_000)) + b"]", JSON)
    yield import_of("of 60,000 columns", wide + (b"1" + b"," * 60_000 + b"\n") * 300, CSV, headers={"Prefer": "handling=lenient"}.items())
    yield import_of("of rows of a class of 900 properties", lines(200_000, lambda n: b'{"id":%d}\n' % n), NDJSON, "mode=create&class=W&dryRun=true")
    yield import_of("of a million objects upserted twice", lines(1_000_000, lambda n: b'{"id":%d,"n":1}\n' % (n % 1000)), NDJSON, "mode=upsert&class=B&dryRun=true")
    yield import_of("of tables", table("create table B(id integer primary key, t text); with recursive r(x) as (select 1 union all select x+1 from r where x<400000) insert into B select x+10000000, 'text '||x from r;"), SQLITE, "tables=B:B&dryRun=true", False)
    yield import_of("of a database of 20,000 tables", table("".join(f"create table t{n}({','.join('c%d' % c for c in range(40))});" for n in range(20_000)) + "create table B(id integer);"), SQLITE, "tables=B:B&dryRun=true", False)
    yield import_of("of a row of 20 MB", table("create table B(id integer primary key, t text); insert into B values(10000000, replace(hex(zeroblob(10000000)), '00', char(1)||char(2)));"), SQLITE, "tables=B:B&dryRun=true", False)


def definition(number, sort=None, sections=None):
    members = {"class": "A", "where": f"n != {-1 - number}", "include": "none"}
    if sort:
        members["sort"] = [sort]
    if sections:
        members["sectionBy"] = sections
    return members


def observations():
    registration = lambda first, **more: ("POST", REALM + "/subscriptions", {"subscriptions": {f"d{n}": definition(first + n, **more) for n in range(50)}}, None)
    yield Candidate("100 registrations of all rows", [registration(50 * n) for n in range(100)])
    yield Candidate("20 registrations of sections", [registration(10_000 + 50 * n, sort="n", sections="n") for n in range(20)])
    yield Candidate("20 registrations of few sections", [registration(20_000 + 50 * n, sort="t", sections="t") for n in range(20)])
    yield Candidate("600 polls that are not repeated", [("GET", REALM + "/changes?" + urlencode({"class": "A", "where": f"id != {-9 - n}", "include": "none"}), None, None) for n in range(600)])
    yield Candidate("polls for all objects", [("GET", REALM + "/changes?" + urlencode({"class": "A", "where": f"id != {-9 - n}"}), None, None) for n in range(6)])


def reads():
    get = lambda word, path, **more: Candidate(word, [("GET", REALM + path + "?" + urlencode(more), None, None)])
    query = lambda word, **body: Candidate(word, [("POST", REALM + "/query/A", body, None)])
    yield get("groups of every object", "/aggregate/A", groupBy="n", ops="count,max:t", where="id < 99000", limit=1)
    yield get("groups of long texts", "/aggregate/B", groupBy="t", ops="count", limit=1)
    yield get("facets of long texts", "/objects/B", facets="t", limit=0)
    yield get("distinct long texts", "/objects/B", distinct="t", limit=1, fields="id")
    yield get("a sort of long texts", "/objects/B", sort="t", limit=1, fields="id")
    yield get("sections of every object", "/objects/A", sectionBy="t", sort="t", limit=1)
    yield get("sections of long texts", "/objects/B", sectionBy="t", limit=1, fields="id")
    yield get("a page of long texts", "/objects/B", limit=1000)
    for form in ("ndjson", "json", "sqlite", "xlsx", "postgresql"):
        yield get("an export as " + form, "/export", format=form)
    yield get("a backup", "/backup")
    yield get("a description of wide classes", "/openapi.json")
    yield query("400,000 values as an argument", where="n IN $0", args=[list(range(390_000))], limit=1)
    yield query("a long list at many places", where=" OR ".join(["n IN $0"] * 400), args=[list(range(1000))], limit=1)
    yield query("a long text as an argument many times", where=" OR ".join(["t == $0"] * 1000), args=["a" * (7 << 20)], limit=1)


def writes():
    batch = lambda operations: [("POST", REALM + "/batch?dryRun=true", {"ops": operations}, {"Prefer": "return=minimal"})]
    yield Candidate("an array of objects", [("POST", REALM + "/objects/B?dryRun=true", packed(b"[" + b",".join(b'{"id":%d}' % (n + 10_000_000) for n in range(390_000 // 2)) + b"]"), {"Content-Type": JSON, "Content-Encoding": "gzip"})])
    yield Candidate("a batch of creations", batch([{"create": {"class": "B", "body": {"id": 10_000_000 + n}}} for n in range(10_000)]))
    yield Candidate("a long text for every object", batch([{"patchWhere": {"class": "A", "where": "TRUEPREDICATE", "body": {"t": "x" * 4000}}}]))
    yield Candidate("a list of 390,000 numbers", [("PUT", REALM + "/objects/B/77?dryRun=true", {"l": list(range(390_000))}, None)])
    yield Candidate("a migration of every object", [("POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "steps": [{"addProperty": {"class": "A", "property": {"name": "x", "type": "string"}, "value": "x" * 1000}}]}, None)])
    yield Candidate("an index for every object", [("POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "steps": [{"setIndex": {"class": "A", "name": "n", "indexed": "general"}}, {"setIndex": {"class": "A", "name": "t", "indexed": "fulltext"}}]}, None)])


def candidates():
    yield from imports()
    yield from observations()
    yield from reads()
    yield from writes()


def fill(server, objects):
    status, _, answer = server.request("POST", "/v1/realms", {"name": "m", "schema": SCHEMA})
    trial.require(status == 201, answer[:200])
    rows = b"".join(b'{"id":%d,"n":%d,"t":"t%d","d":%d.5}\n' % (n, n * 7919 % objects, n % 1000, n) for n in range(objects))
    texts = b"".join(b'{"id":%d,"t":"%d%s"}\n' % (n, n, b"z" * 100_000) for n in range(400))
    for name, body in (("A", rows), ("B", texts)):
        status, _, answer = server.request("POST", f"{REALM}/import?mode=create&class={name}&atomic=false", body, {"Content-Type": NDJSON}, timeout=300)
        trial.require(status == 200, answer[:200])


def rest(server, seconds=12):
    """Waits until the memory that is free was given back, and no registration is left."""
    end, last = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        now = Memory.now(server)
        if abs(now - last) < 1 << 20 and time.monotonic() > end - seconds + 3:
            return
        last = now
        time.sleep(.5)


def measure(server, work):
    probes = [trial.Probe(server, "/healthz", every=.01), trial.Probe(server, REALM + "/objects/A/5", every=.01, source="127.0.0.8")]
    memory, begin = Memory(server), time.monotonic()
    outcome = work()
    seconds, taken = time.monotonic() - begin, memory.stop()
    quantiles = []
    for probe in probes:
        times = sorted(probe.stop().seconds) or [0]
        quantiles.append(1000 * times[min(len(times) - 1, int(len(times) * .99))])
    return outcome, seconds, taken, quantiles


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--objects", type=int, default=200_000)
    parser.add_argument("--skip-together", action="store_true")
    options = trial.arguments(parser)
    results, is_good = [], True
    make = lambda: trial.Server("--limit", "registration-seconds=5", "--limit", "retention-seconds=5")
    with make() as server:
        fill(server, options.objects)
        _, _, _, (health, point) = measure(server, lambda: time.sleep(5))
        print(f"without work: healthz p99 {health:.1f} ms, point read p99 {point:.1f} ms", flush=True)
        for number, candidate in enumerate(candidate for candidate in candidates() if any(word in candidate.word for word in options.only.split("|"))):
            rest(server)
            (status, code), seconds, taken, (health, point) = measure(server, lambda: candidate.send(server, f"127.0.1.{number % 200 + 1}"))
            fits = server.is_alive and taken < ALONE and health < 50 and point < 100
            is_good = is_good and fits
            results.append((taken, candidate))
            print(f"{'good' if fits else 'BAD '} {candidate.word[:48]:48} {status:3} {code[:20]:20} {seconds:6.1f} s {taken >> 20:5} MB  "
                  f"healthz p99 {health:5.1f} ms  point read p99 {point:6.1f} ms", flush=True)
            if not server.is_alive:
                print(server.crash_report())
                return 1
    if options.skip_together:
        return 0 if is_good else 1
    worst = [candidate for _, candidate in sorted(results, key=lambda result: -result[0])[:20]]
    print("\nthe twenty worst:", ", ".join(candidate.word for candidate in worst))
    with make() as server:
        fill(server, options.objects)
        rest(server)

        def together():
            threads = [threading.Thread(target=candidate.send, args=(server, f"127.0.2.{number + 1}")) for number, candidate in enumerate(worst)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        _, seconds, taken, (health, point) = measure(server, together)
        fits = server.is_alive and taken < TOGETHER and health < 50 and point < 100
        print(f"{'good' if fits else 'BAD '} all together: {seconds:.1f} s, {taken >> 20} MB, healthz p99 {health:.1f} ms, point read p99 {point:.1f} ms")
        is_good = is_good and fits
    return 0 if is_good else 1


if __name__ == "__main__":
    raise SystemExit(main())
