#!/usr/bin/env python3
"""The worst single requests: each is sent alone to a server with a large realm, and measured from outside.

    python3 Tests/System/Trials/worst.py [--only WORD] [--read-seconds 10] [--write-seconds 5] [--objects 300000]

Each answer has to come within the deadline of its kind plus a second (a stream: each piece of it), take less than 200 MB
beyond what the server had before, and leave the point reads of another client below 50 ms in 99 of 100 cases.
"""
import argparse
import gzip
import http.client
import json
import threading
import time
from urllib.parse import urlencode

import trial

REALM = "/v1/realms/worst"
MEMORY_BAR = 200 << 20
POINT_READ_BAR = 0.050
WORKED_ON_AT_LEAST = 2.0
PATIENCE = 40


def a_property(name, kind, **more):
    return {"name": name, "type": kind, **more}


def a_class(name, *properties, **more):
    return {"name": name, "properties": list(properties), **more}


SCHEMA = {"schemaVersion": 1, "classes": [
    a_class("Item", a_property("id", "int"), a_property("number", "int"), a_property("name", "string"), a_property("price", "double"),
            a_property("big", "object", objectType="Big", optional=True), a_property("hub", "object", objectType="Hub", optional=True), primaryKey="id"),
    a_class("Hub", a_property("id", "int"), a_property("name", "string"), primaryKey="id"),
    a_class("Big", a_property("id", "int"), a_property("text", "string", optional=True), a_property("words", "string", optional=True, indexed="fulltext"),
            a_property("numbers", "int", collection="list"), a_property("others", "int", collection="list"), a_property("names", "string", collection="list"),
            a_property("more", "string", collection="list"), a_property("chosen", "int", collection="set"), a_property("entries", "int", collection="dictionary"),
            a_property("items", "object", objectType="Item", collection="list"), a_property("mixed", "mixed", optional=True),
            a_property("pieces", "object", objectType="Piece", collection="list"), primaryKey="id"),
    a_class("Piece", a_property("name", "string"), type="embedded"),
    a_class("Node", a_property("id", "int"), a_property("next", "object", objectType="Node", collection="list"), primaryKey="id"),
    a_class("Place", a_property("id", "int"), a_property("at", "object", objectType="Spot", optional=True), primaryKey="id"),
    a_class("Spot", a_property("type", "string"), a_property("coordinates", "double", collection="list"), type="embedded"),
]}


class Builder:
    """Fills the realm through the interface."""

    def __init__(self, server, objects):
        self.server, self.objects = server, objects

    def send(self, method, path, body, **options):
        status, _, answer = self.server.request(method, path, body, timeout=600, **options)
        trial.require(status in (200, 201, 204), f"{method} {path}: {status} {answer[:300]!r}")

    def add(self, name, rows, part=4000):
        for start in range(0, len(rows), part):
            self.send("POST", f"{REALM}/objects/{name}", rows[start:start + part], headers={"Prefer": "return=minimal"})

    def build(self):
        self.send("POST", "/v1/realms", {"name": "worst", "schema": SCHEMA})
        self.add("Hub", [{"id": number, "name": f"hub {number}"} for number in range(10)])
        text = "a" * (7 << 20)
        self.add("Big", [{"id": number, "text": text, "numbers": [], "mixed": None} for number in range(4)], part=1)
        self.add("Item", [{"id": number, "number": number * 7919 % 1000003, "name": f"item {number % 997}", "price": number / 7, "big": number % 2, "hub": 0}
                          for number in range(self.objects)])
        self.add("Node", [{"id": number, "next": []} for number in range(1000)])
        for number in range(0, 1000, 50):
            ops = [{"patch": {"class": "Node", "key": str(key), "body": {"next": [(key * 31 + step) % 1000 for step in range(300)]}}} for key in range(number, number + 50)]
            self.send("POST", REALM + "/batch", {"ops": ops})
        many = min(self.objects, 200_000)
        self.send("PATCH", REALM + "/objects/Big/0", {"numbers": list(range(many)), "items": list(range(100_000))})
        self.send("PATCH", REALM + "/objects/Big/0", {"others": list(range(many, 2 * many - 1))})
        self.send("PATCH", REALM + "/objects/Big/0", {"names": ["a" * 40] * 100_000})
        self.send("PATCH", REALM + "/objects/Big/0", {"more": ["a" * 40] * 90_000 + ["b"] * 10_000})
        self.send("PATCH", REALM + "/objects/Big/0", {"chosen": list(range(100_000))})
        self.send("PATCH", REALM + "/objects/Big/0", {"entries": {f"k{number}": number for number in range(100_000)}})
        self.send("PATCH", REALM + "/objects/Big/1", {"pieces": [{"name": f"piece {number}"} for number in range(100_000)]})
        self.send("PATCH", REALM + "/objects/Big/2", {"mixed": {"deep": [[list(range(300)) for _ in range(30)] for _ in range(30)]}})
        self.send("PATCH", REALM + "/objects/Big/3", {"words": " ".join(f"w{number}" for number in range(200_000))})
        self.add("Place", [{"id": number, "at": {"type": "Point", "coordinates": [number % 360 - 180 + .5, number % 170 - 85 + .5]}} for number in range(20_000)])
        self.send("POST", "/v1/realms", {"name": "wide", "schema": {"schemaVersion": 1, "classes": [
            a_class(f"C{one}", *[a_property(f"p{two}", "int") for two in range(100)]) for one in range(400)]}})


# The requests. Each is a word, a kind of deadline, and what is sent.

class Request:
    def __init__(self, word, kind, method, path, body=None, headers=None, once=False):
        self.word, self.kind, self.method, self.path, self.body, self.headers, self.once = word, kind, method, path, body, headers or {}, once

    def bytes(self):
        return self.body if self.body is None or isinstance(self.body, bytes) else json.dumps(self.body).encode()


def query(word, name, **parameters):
    return Request(word, "read", "POST", f"{REALM}/query/{name}", parameters)


def get(word, path, kind="read", headers=None, **parameters):
    return Request(word, kind, "GET", REALM + path + ("?" + urlencode(parameters) if parameters else ""), headers=headers)


def batch(word, ops, once=False):
    return Request(word, "write", "POST", REALM + "/batch?dryRun=true", {"ops": ops}, once=once)


def ring(count, radius=80):
    from math import cos, pi, sin
    points = [[radius * cos(2 * pi * step / count), radius * sin(2 * pi * step / count)] for step in range(count)]
    return points + points[:1]


def patterns():
    star = "*" + "a" * 15000 + "?b*"
    return [
        query("LIKE with a long part, long texts", "Item", where="big.text LIKE $0", args=[star], count="exact", limit=1),
        query("LIKE [c] with a long part, one long text", "Big", where="text LIKE[c] $0", args=["*" + "a?" * 7000 + "b*"], count="exact"),
        query("LIKE of a text with itself", "Item", where="big.text LIKE big.text", count="exact", limit=1),
        query("CONTAINS [c] in long texts", "Item", where="big.text CONTAINS[c] $0", args=["a" * 60 + "b"], count="exact", limit=1),
        query("CONTAINS a megabyte", "Item", where="big.text CONTAINS[c] $0", args=["A" * (2 << 20) + "b"], count="exact", limit=1),
        query("equal long texts", "Item", where="big.text ==[c] $0", args=["A" * (7 << 20)], count="exact", limit=1),
        query("many patterns", "Item", where=" OR ".join(f"name LIKE[c] '*{n}?x*'" for n in range(600)), count="exact", limit=1),
        query("names LIKE names", "Big", where="ALL items.name LIKE ANY items.hub.name", count="exact"),
    ]


def orders():
    return [
        query("sort by a long text behind a link", "Item", sort=["big.text", "-id"], limit=1000, offset=200_000, fields=["id"]),
        query("distinct by a long text behind a link", "Item", distinct=["big.text"], fields=["id"]),
        query("distinct, then sorted, in the text", "Item", where="TRUEPREDICATE DISTINCT(name, price, number) SORT(big.text ASC, hub.name DESC) DISTINCT(id) SORT(number DESC)", fields=["id"]),
        query("sort by 13 properties", "Item", sort=["hub.name", "hub.id", "name", "-hub.name"] * 3 + ["id"], limit=1, fields=["id"]),
        query("a deep page of a sort", "Item", sort=["name", "-price"], offset=290_000, limit=1000, expand=["big", "hub"], fields=["id", "hub.name"]),
        query("sections by a name", "Item", sort=["name"], sectionBy="name:first", limit=1000),
        query("sections without end", "Item", sort=["price"], sectionBy="price", limit=1000),
        query("sections by a long text", "Item", sort=["id"], sectionBy="big.text", limit=10),
        query("the place of an object", "Item", sort=["name", "price"], indexOf="299999"),
        query("a place with a condition", "Item", sort=["name"], indexOfWhere="big.text ENDSWITH 'b'"),
    ]


def paths():
    node = ".".join(["next"] * 6)
    return [
        query("links of links of links", "Node", where=f"ANY {node}.id == -1", count="exact"),
        query("count over many paths", "Node", where=f"{node}.@count == 5", count="exact"),
        query("sum over many paths", "Node", where=f"{node}.@sum.id == 5", count="exact"),
        query("backlinks of backlinks", "Hub", where="ANY @links.Item.hub.hub.@links.Item.hub.number == -1", count="exact"),
        query("nested subqueries", "Node", where="SUBQUERY(next, $a, SUBQUERY($a.next, $b, SUBQUERY($b.next, $c, $c.id > 2000).@count > 0).@count > 0).@count > 0", count="exact"),
        query("subquery over every link", "Item", where="SUBQUERY(hub.@links.Item.hub, $x, $x.name LIKE '*q?q*').@count > 1", count="exact", limit=1),
        query("two long lists of numbers", "Item", where="NONE big.items.name == ANY big.items.hub.name", count="exact", limit=1),
        query("pairs of two long lists", "Big", where="NONE items.name BEGINSWITH ANY items.hub.name OR NONE items.price == ALL items.number", count="exact"),
        query("long lists of every row", "Item", where="big.numbers.@sum == 1 OR big.entries.@avg == 2 OR ALL big.names == 'x'", count="exact", limit=1),
        query("maximum of long lists of every row", "Item", where="big.entries.@max == 1 OR big.names.@count == 2 OR big.names.length == 2", count="exact", limit=1),
        query("keys of long dictionaries of every row", "Item", where="ANY big.entries.@keys == 'x'", count="exact", limit=1),
        query("nested mixed values of every row", "Big", where=" OR ".join(f"ANY mixed['deep'][*][*][*] == -{n}" for n in range(1, 200)), count="exact"),
        query("one long argument many times", "Item", where=" OR ".join(["name == $0"] * 1000), args=["a" * (7 << 20)], count="exact", limit=1),
        query("one long list many times", "Item", where=" OR ".join(["name IN $0"] * 1000), args=[[f"x{n}" for n in range(60_000)]], count="exact", limit=1),
        query("IN with many arguments", "Item", where="name IN $0", args=[[f"x{n}" for n in range(60_000)]], count="exact", limit=1),
        query("numbers IN many arguments", "Item", where="ANY big.numbers IN $0", args=[[-n for n in range(1, 60_000)]], count="exact", limit=1),
        query("arithmetic of long lists", "Item", where="ANY big.numbers * 3 + 4 - number * 7 / 5 == -1", count="exact", limit=1),
        query("filter a long list of objects", "Item", where="id IN $0", args=[list(range(20_000))], sort=["-number"], limit=1),
        get("filter a list by a path", "/objects/Big/0/items", where="ANY hub.@links.Item.hub.number == -1", count="exact"),
        get("sort a long list of texts", "/objects/Big/0/names", sort="self", distinct="self", count="exact"),
        get("filter a long list by another", "/objects/Big/0/numbers", where="self > 5 AND self != 77", count="exact", sort="-self", distinct="self"),
        get("page through backlinks", "/objects/Hub/0/@links/Item/hub", where="name LIKE '*9?9*' OR hub.name LIKE '*x'", sort="name,-number", count="exact"),
    ]


def shapes_and_words():
    polygon = {"$geoPolygon": [ring(100_000)]}
    holes = {"$geoPolygon": [ring(4, 85)] + [[[x + dx, y + dy] for dx, dy in ((0, 0), (.1, 0), (.1, .1), (0, .1), (0, 0))] for x in range(-30, 30) for y in range(-30, 30)]}
    return [
        query("a polygon of 100,000 corners", "Place", where="at geoWithin $0", args=[polygon], count="exact", limit=1),
        query("a polygon of 30,000 corners", "Place", where="at geoWithin $0", args=[{"$geoPolygon": [ring(30_000)]}], count="exact", limit=1),
        query("a polygon of 2,000 corners", "Place", where="at geoWithin $0", args=[{"$geoPolygon": [ring(2_000)]}], count="exact", limit=1),
        query("a polygon with 3,600 holes", "Place", where="at geoWithin $0", args=[holes], count="exact", limit=1),
        query("a polygon with holes many times", "Place", where=" OR ".join(["at geoWithin $0"] * 600), args=[holes], count="exact", limit=1),
        query("all words", "Big", where="words TEXT $0", args=["w* " + " ".join(f"w{n}*" for n in range(10, 99)) + " -x"], count="exact"),
        query("200,000 words to look for", "Big", where="words TEXT $0", args=[" ".join(f"x{n}" for n in range(200_000))], count="exact"),
        query("200,000 words to leave out", "Big", where="words TEXT $0", args=[" ".join(f"-x{n}" for n in range(200_000))], count="exact"),
    ]


def answers():
    return [
        get("everything as NDJSON", "/objects/Item", kind="stream", format="ndjson", expand="hub"),
        get("everything as CSV, sorted by long texts", "/objects/Item", kind="stream", format="csv", sort="big.text", fields="id"),
        get("long texts as NDJSON", "/objects/Item", format="ndjson", fields="id,big.text", kind="part"),
        get("a page with expanded long texts", "/objects/Item", limit=1000, expand="big", fields="id,big.text"),
        get("a page with expanded long lists", "/objects/Item", limit=1000, expand="big.items.hub", fields="id,big.items"),
        get("expanded graph", "/objects/Node", limit=1000, expand="next.next.next"),
        get("one giant object", "/objects/Big/0"),
        get("one giant object with everything", "/objects/Big/0", expand="items.big.items"),
        get("one giant object, gzipped", "/objects/Big/0", headers={"Accept-Encoding": "gzip"}),
        get("many embedded objects", "/objects/Big/1/pieces", limit=1000, offset=99_000),
        get("the last elements of many embedded ones", "/objects/Piece", limit=1000),
        query("embedded objects from their end", "Piece", limit=1000, offset=98_000),
        query("aggregates of everything", "Item", where="TRUEPREDICATE", fields=["id"]),
        Request("100 aggregates", "read", "POST", REALM + "/aggregate/Item", {"where": "name LIKE '*7?*'", "ops": ["count"] + [f"{op}:{path}" for op in ("min", "max", "sum", "avg") for path in ("big.id", "hub.id", "number", "price")] * 6}),
        Request("the description of a wide realm", "read", "GET", "/v1/realms/wide/openapi.json"),
        Request("the schema of a wide realm in Swift", "read", "GET", "/v1/realms/wide/schema?format=swift"),
        get("everything exported", "/export", kind="stream", format="ndjson"),
        get("a poll with a snapshot that is too long", "/changes", kind="poll", **{"class": "Big", "wait": 1, "expand": "items"}),
        get("a poll for all items", "/changes", kind="poll", **{"class": "Item", "wait": 1, "where": "big.text LIKE '*" + "a" * 3000 + "?b*'"}),
        get("a poll for sections", "/changes", kind="poll", **{"class": "Item", "wait": 1, "sectionBy": "big.text", "sort": "big.text"}),
        get("a poll for long texts", "/changes", kind="poll", **{"class": "Item", "wait": 1, "expand": "big", "fields": "big.text"}),
        get("thousands of tags", "/objects/Item/7", headers={"If-None-Match": ", ".join(f'"x{n}"' for n in range(1500))}),
        get("thousands of media types", "/objects/Item/7", headers={"Accept": ", ".join(f"a/b{n};q=0.5" for n in range(900))}),
        get("thousands of parameters", "/objects/Item/7", **{f"x{n}": "%" for n in range(700)}),
        get("a giant cursor", "/objects/Item", after="A" * 7000, sort="name"),
    ]


def bodies():
    return [
        Request("a bomb of zeros", "read", "POST", REALM + "/query/Item", gzip.compress(b" " * (1 << 30), 9), {"Content-Encoding": "gzip", "Content-Type": "application/json"}),
        Request("a bomb as an import", "import", "POST", REALM + "/import", gzip.compress(b"a" * (1 << 30), 9), {"Content-Encoding": "gzip", "Content-Type": "application/x-ndjson"}),
        Request("an import of one giant line", "import", "POST", REALM + "/import", b'{"Big":{"id":900,"numbers":[' + b"1," * 9_000_000 + b"1]}}", {"Content-Type": "application/x-ndjson"}),
        Request("8 MiB of arrays", "read", "POST", REALM + "/query/Item", b'{"args":[' + b"[]," * 390_000 + b"[]]}", {"Content-Type": "application/json"}),
        Request("8 MiB of members", "write", "POST", REALM + "/objects/Item?dryRun=true", b'{"id":1' + b"".join(b',"x%d":1' % n for n in range(390_000)) + b"}", {"Content-Type": "application/json"}),
    ]


def writes():
    address = {"class": "Big", "key": "0", "property": "numbers"}
    patch = lambda word, operations: Request(word, "write", "PATCH", REALM + "/objects/Big/0?dryRun=true", operations, {"Content-Type": "application/json-patch+json"})
    return [
        patch("thousands of patches at the front of a list", [{"op": "add", "path": "/numbers/0", "value": n} for n in range(60_000)]),
        patch("thousands of tests of a long list", [{"op": "test", "path": "/numbers", "value": list(range(50_000))} for n in range(7)] + [{"op": "copy", "from": "/numbers", "path": "/others"}] * 4000),
        patch("thousands of copies of a long list", [{"op": "copy", "from": "/numbers", "path": "/others"}] * 60_000),
        patch("thousands of copies of a long text", [{"op": "copy", "from": "/text", "path": "/words"}] * 60_000),
        patch("thousands of moves of a text", [{"op": "test", "path": "/text", "value": "a"}] + [{"op": "move", "from": "/text", "path": "/words"}, {"op": "move", "from": "/words", "path": "/text"}] * 30_000),
        batch("thousands of moves in a list", [{"list": dict(address, ops=[{"move": [0, 199_998]}] * 60_000)}]),
        batch("thousands of inserts at the front", [{"list": dict(address, ops=[{"insert": [0, 1]}] * 60_000)}]),
        batch("clearing and adding a list", [{"list": dict(address, ops=[{"clear": True}])}, {"list": {"class": "Big", "key": "0", "property": "items", "ops": [{"clear": True}]}}]),
        batch("deleting through a list", [{"list": {"class": "Big", "key": "0", "property": "items", "ops": [{"deleteAll": True}]}}]),
        batch("set operations", [{"set": {"class": "Big", "key": "0", "property": "chosen", "ops": [{"union": list(range(60_000, 120_000))}, {"minus": list(range(50_000))}, {"intersect": [1]}] * 2}}]),
        batch("thousands of increments", [{"increment": {"class": "Item", "key": str(n), "property": "number", "by": 1}} for n in range(10_000)]),
        batch("thousands of assertions", [{"assert": {"class": "Item", "key": "1", "where": "ANY hub.@links.Item.hub.number == -1"}}] + [{"assert": {"class": "Item", "where": "name LIKE '*zz?'", "count": 0}}] * 2000),
        batch("thousands of conditions", [{"patchWhere": {"class": "Item", "where": "name LIKE '*zz?'", "body": {"number": 1}}}] * 2000),
        batch("deleting an object with a million backlinks", [{"delete": {"class": "Hub", "key": "0"}}]),
        batch("deleting many embedded objects", [{"delete": {"class": "Big", "key": "1"}}]),
        batch("pointing all at one", [{"patchWhere": {"class": "Item", "where": "TRUEPREDICATE", "body": {"hub": 1, "name": "n" * 3000}}}]),
        batch("a long text into every object", [{"patchWhere": {"class": "Item", "where": "TRUEPREDICATE", "body": {"name": "n" * (1 << 20)}}}]),
        Request("a property with a long text in every object", "write", "POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "steps": [
            {"addProperty": {"class": "Item", "property": {"name": "note", "type": "string"}, "value": "n" * (1 << 20)}}]}),
        Request("a condition over long texts for a patch", "write", "PATCH", REALM + "/objects/Item?dryRun=true&" + urlencode({"where": "big.text LIKE '*" + "a" * 4000 + "b*'"}), {"number": 1}, {"Content-Type": "application/merge-patch+json"}),
        Request("deleting all of a class", "write", "DELETE", REALM + "/objects/Item?dryRun=true&where=TRUEPREDICATE"),
        Request("deleting all", "write", "DELETE", REALM + "/objects?dryRun=true&confirm=all"),
        Request("a migration that joins long texts", "write", "POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "steps": [{"set": {"class": "Big", "where": "TRUEPREDICATE", "values": {"text": {"$expr": "+".join(["text"] * 400)}}}}]}),
        Request("a migration of all objects", "write", "POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "steps": [{"set": {"class": "Item", "where": "TRUEPREDICATE", "values": {"number": {"$expr": "+".join(["id"] * 400)}}}}]}),
        Request("a migration of types", "write", "POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "allowDataLoss": True, "steps": [
            {"changeProperty": {"class": "Item", "name": "number", "type": "string", "conversion": "int-to-string"}}, {"setIndex": {"class": "Item", "name": "name", "indexed": "fulltext"}},
            {"setIndex": {"class": "Item", "name": "price", "indexed": "general"}}, {"setPrimaryKey": {"class": "Item", "name": "number"}}]}),
        Request("an index over long texts", "write", "POST", REALM + "/migrations?dryRun=true", {"fromVersion": 1, "toVersion": 2, "steps": [{"setIndex": {"class": "Big", "name": "text", "indexed": "general"}}]}),
        Request("a set of a giant object", "write", "PUT", REALM + "/objects/Big/0?dryRun=true", {"numbers": list(range(390_000))}),
        Request("an entity tag of a giant object", "write", "PATCH", REALM + "/objects/Big/0?dryRun=true", {"text": "x"}, {"If-Match": '"x~j1"', "Content-Type": "application/merge-patch+json"}),
        # These stay, so they come last.
        Request("pointing all at one for good", "write", "PATCH", REALM + "/objects/Item?where=TRUEPREDICATE", {"hub": 1}, {"Content-Type": "application/merge-patch+json"}, once=True),
        Request("deleting all for good", "write", "DELETE", REALM + "/objects?confirm=all", once=True),
    ]


# The measurement.

class Memory:
    """Follows what the process has for itself, apart from mapped files."""

    def __init__(self, server):
        self.server, self.rest, self.peak, self._ends = server, self.now(server), 0, False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @staticmethod
    def now(server):
        return server._status("RssAnon")

    def _run(self):
        while not self._ends:
            self.peak = max(self.peak, self.now(self.server))
            time.sleep(.01)

    def stop(self):
        self._ends = True
        self._thread.join(5)
        return max(self.peak - self.rest, 0)


class Outcome:
    def __init__(self, request, status, code, seconds, pause, memory, reads, bound):
        self.request, self.status, self.code, self.seconds, self.pause, self.memory, self.reads, self.bound = request, status, code, seconds, pause, memory, reads, bound
        ordered = sorted(reads) or [0]
        self.point_read = ordered[min(len(ordered) - 1, int(len(ordered) * .99))]

    @property
    def shares(self):
        """How much of each bar is used: time, memory, point reads of others."""
        return self.pause / self.bound, self.memory / MEMORY_BAR, self.point_read / POINT_READ_BAR

    @property
    def is_good(self):
        return self.status != 0 and self.status != 500 and max(self.shares) <= 1

    def __str__(self):
        return (f"{'good' if self.is_good else 'BAD '} {self.request.word[:52]:52} {self.status:3} {self.code[:22]:22} {self.seconds:6.2f} s  longest wait {self.pause:6.2f} s  "
                f"{self.memory >> 20:5} MB  point reads p99 {1000 * self.point_read:6.1f} ms of {len(self.reads)}")


def exchange(server, request):
    """Status, code of the problem, seconds to the end, and the longest time without a byte."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE, source_address=("127.0.0.2", 0))
    begin = last = time.monotonic()
    pause, head, status, received = 0.0, b"", 0, 0
    fields = dict(request.headers)
    if request.body is not None and "Content-Type" not in fields:
        fields["Content-Type"] = "application/json"
    try:
        connection.request(request.method, request.path, request.bytes(), fields)
        answer = connection.getresponse()
        status = answer.status
        while True:
            now = time.monotonic()
            pause, last = max(pause, now - last), now
            data = answer.read1(1 << 20)
            if not data:
                break
            received += len(data)
            head = head or data[:4000]
            if now - begin > PATIENCE:
                return status, f"left after {received >> 20} MB", now - begin, pause
    except (OSError, http.client.HTTPException) as error:
        if status == 0:
            return 0, type(error).__name__, time.monotonic() - begin, time.monotonic() - last
        return status, f"cut after {received >> 20} MB", time.monotonic() - begin, max(pause, time.monotonic() - last)
    finally:
        connection.close()
    code = ""
    if status >= 400:
        try:
            code = json.loads(head).get("code", "")
        except ValueError:
            code = "?"
    return status, code or f"{received >> 10} KiB", time.monotonic() - begin, max(pause, time.monotonic() - last)


def measure(server, request, bounds):
    memory = Memory(server)
    probe = trial.Probe(server, REALM + "/objects/Item/17", every=.005)
    begin, seconds, pause = time.monotonic(), 0, 0
    while True:
        status, code, took, waited = exchange(server, request)
        seconds, pause = max(seconds, took), max(pause, waited)
        if request.once or time.monotonic() - begin > WORKED_ON_AT_LEAST or not server.is_alive:
            break
    probe.stop()
    outcome = Outcome(request, status, code, seconds, pause, memory.stop(), probe.seconds[1:], bounds[request.kind])
    print(outcome, flush=True)
    return outcome


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    options.add_argument("--objects", type=int, default=300_000)
    options.add_argument("--read-seconds", type=int, default=10)
    options.add_argument("--write-seconds", type=int, default=5)
    options = trial.arguments(options)
    bounds = {"read": options.read_seconds + 1, "stream": options.read_seconds + 1, "part": options.read_seconds + 1,
              "poll": options.read_seconds + 2,
              # The body of an import may take as long as its bytes do: it is unpacked into a file first.
              "import": 60, "write": options.write_seconds + 1}
    chosen = [request for group in (patterns, orders, paths, shapes_and_words, answers, bodies, writes) for request in group() if options.only in request.word]
    with trial.Server("--limit", f"read-seconds={options.read_seconds}", "--limit", f"write-seconds={options.write_seconds}", "--limit", "import-record-bytes=25165824") as server:
        begin = time.monotonic()
        Builder(server, options.objects).build()
        print(f"built in {time.monotonic() - begin:.0f} s: {trial.megabytes(server.disk())} on disk, {trial.megabytes(server.resident())} resident", flush=True)
        idle = measure(server, get("a point read", "/objects/Item/7"), bounds)
        outcomes = []
        for request in chosen:
            outcomes.append(measure(server, request, bounds))
            trial.require(server.is_alive, f"the server ended: {request.word}\n{server.crash_report()}")
            if outcomes[-1].status == 0:
                # It still works on what nobody waits for; the next request is to be measured by itself.
                server.process.kill()
                server.process.wait()
                server.start()
                exchange(server, get("warming", "/objects/Item", where="number == -1"))
            time.sleep(.3)
    outcomes.sort(key=lambda one: -max(one.shares))
    print(f"\nThe worst of {len(outcomes)}, by the share of the bar that is used most; with point reads alone: {1000 * idle.point_read:.1f} ms\n")
    for outcome in outcomes[:40]:
        print(outcome)
    bad = [outcome for outcome in outcomes if not outcome.is_good]
    trial.require(not bad, f"{len(bad)} requests are beyond a bar")
    print("every answer was in time, small enough, and at nobody's cost")


if __name__ == "__main__":
    main()
