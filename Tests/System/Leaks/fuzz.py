#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for anything that a restricted principal learns of what it may not see.

For each seed a realm with a random schema, random data and random rules is made twice. From the copy everything is removed that
the rules hide: objects, properties and classes. Then random requests go to the realm as the restricted principal, and to the copy
as the administrator. Each pair of answers has to be equal but for tokens: versions, entity tags, cursors and ids.

    fuzz.py --server .build/debug/realm-rest --seeds 1-4 --reads 500
"""
import argparse
import csv
import http.client
import io
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

WORDS = ["ann", "bob", "cy", "Ulm", "Bonn", "", "äö", "a%b", "x y"]


def text_of(headers, body):
    """Returns what an answer holds as text: the statements that make a database, the sheets of a workbook."""
    kind = headers.get("Content-Type", "")
    if kind == "application/vnd.sqlite3":
        database = sqlite3.connect(":memory:")
        database.deserialize(body)
        return "\n".join(database.iterdump())
    if "spreadsheetml" in kind:
        book = zipfile.ZipFile(io.BytesIO(body))
        return "\n".join(book.read(name).decode() for name in sorted(book.namelist()) if name.startswith(("xl/worksheets/", "xl/workbook")))
    return body.decode("utf-8", "replace")


class Client:
    """A connection of one principal."""

    def __init__(self, port, key):
        self.port, self.key = port, key
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, path, body=None, headers=None):
        """Sends a request; returns the status, the header fields and the text."""
        fields = {"Authorization": "Bearer " + self.key, **(headers or {})}
        if body is not None and "Content-Type" not in fields:
            fields["Content-Type"] = "application/json"
        for attempt in range(2):
            try:
                self.connection.request(method, path, body.encode() if body is not None else None, fields)
                answer = self.connection.getresponse()
                return answer.status, answer.headers, text_of(answer.headers, answer.read())
            except (http.client.HTTPException, ConnectionError):
                self.connection.close()
                if attempt:
                    raise

    def must(self, method, path, body=None, headers=None):
        """Sends a request that has to succeed; returns the document."""
        status, _, text = self.ask(method, path, body, headers)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {text[:500]}")
        return json.loads(text) if text else None


class Property:
    """A property of the schema."""

    def __init__(self, name, kind, collection=None, target=None, optional=True, indexed=None):
        self.name, self.kind, self.collection, self.target = name, kind, collection, target
        self.optional, self.indexed = optional, indexed

    def schema(self):
        form = {"name": self.name, "type": self.kind}
        if self.collection:
            form["collection"] = self.collection
        if self.target:
            form["objectType"] = self.target
        elif self.optional and self.kind != "mixed":
            form["optional"] = True
        if self.indexed:
            form["indexed"] = self.indexed
        return form


class World:
    """A random schema with data, and the rules of a role."""

    def __init__(self, seed):
        self.seed = seed
        # Every other world is one to write in: objects that are written show and hide no others there.
        self.writes = seed % 2 == 0
        self.random = random.Random(seed)
        rnd = self.random
        self.names = ["C%d" % i for i in range(rnd.randint(3, 5))]
        self.embedded = ["E%d" % i for i in range(rnd.randint(0, 2))]
        self.properties = {name: self.make_properties(name) for name in self.names + self.embedded}
        self.key_kinds = {name: rnd.choice(["int", "string", None]) for name in self.names}
        self.hidden_classes = [name for name in self.names[1:] if rnd.random() < 0.2]
        self.hidden = {
            name: [p.name for p in self.properties[name] if p.name not in ("n", "owner") and rnd.random() < 0.15]
            for name in self.names + self.embedded
        }
        self.rules = {name: self.make_rule(name) for name in self.names if name not in self.hidden_classes and rnd.random() < 0.8}

    def make_properties(self, name):
        rnd = self.random
        if name in self.embedded:
            inner = [Property("n", "int", optional=False), Property("city", "string")]
            return inner + [Property("ref", "object", target=rnd.choice(self.names))]
        properties = [Property("n", "int", optional=False, indexed=rnd.choice([None, "general"]))]
        properties.append(Property("owner", "string", optional=False, indexed=rnd.choice([None, "general"])))
        for index in range(rnd.randint(2, 4)):
            kind = rnd.choice(["int", "string", "bool", "double", "date", "mixed", "decimal128", "uuid"])
            collection = rnd.choice([None, None, "list", "set", "dictionary"]) if kind in ("int", "string", "mixed") else None
            if self.writes and kind == "mixed" and collection == "dictionary":
                collection = "list"
            properties.append(Property("v%d" % index, kind, collection))
        for index in range(rnd.randint(2, 4)):
            # An entry whose value is hidden stays when a dictionary is assigned, which a copy without it cannot show.
            collection = rnd.choice([None, None, "list", "list", "set", "list" if self.writes else "dictionary"])
            properties.append(Property("r%d" % index, "object", collection, rnd.choice(self.names)))
        for index, target in enumerate(self.embedded):
            properties.append(Property("e%d" % index, "object", rnd.choice([None, "list", "dictionary"]), target))
        return properties

    def make_rule(self, name):
        """Returns a rule that shows some of the objects of a class."""
        rnd = self.random
        simple = [
            "n >= %d" % rnd.randint(0, 9), "owner == $claims.sub", "owner != $claims.sub", "n IN {1, 2, 3, 5, 7}",
            "NOT (n == %d)" % rnd.randint(0, 5), "owner BEGINSWITH 'a' OR n < 4", "n BETWEEN {2, 7} AND owner != 'cy'",
        ]
        for p in self.properties[name]:
            if not self.writes and p.kind == "object" and p.target in self.names:
                simple += (
                    ["%s.n > %d" % (p.name, rnd.randint(0, 5)), "%s == nil" % p.name, "%s.owner == $claims.sub" % p.name]
                    if p.collection is None else
                    ["ANY %s.n > %d" % (p.name, rnd.randint(0, 7)), "%s.@count < %d" % (p.name, rnd.randint(1, 3))])
        return rnd.choice(simple)

    def schema(self):
        classes = []
        for name in self.names:
            properties = [p.schema() for p in self.properties[name]]
            form = {"name": name, "properties": properties}
            if self.key_kinds[name]:
                form["primaryKey"] = "_id"
                properties.insert(0, {"name": "_id", "type": self.key_kinds[name]})
            classes.append(form)
        for name in self.embedded:
            classes.append({"name": name, "type": "embedded", "properties": [p.schema() for p in self.properties[name]]})
        return {"schemaVersion": 1, "classes": classes}

    def role(self, realm):
        """Returns the role of the restricted principal as the configuration has it."""
        actions = ["read", "create", "update", "delete", "subscribe", "export"]
        classes = {}
        for name in self.names:
            if name in self.hidden_classes:
                continue
            classes[name] = {"allow": actions}
            if name in self.rules:
                classes[name]["where"] = self.rules[name]
            if self.hidden[name]:
                classes[name]["fields"] = {"hide": self.hidden[name]}
        for name in self.embedded:
            if self.hidden[name]:
                classes[name] = {"allow": [], "fields": {"hide": self.hidden[name]}}
        return {"realms": {realm: {"classes": classes, "export": True}}}

    def value(self, kind, keys, target=None, depth=0):
        rnd = self.random
        if kind == "object":
            if target in self.embedded:
                members = {}
                for p in self.properties[target]:
                    members[p.name] = self.value(p.kind, keys, p.target, depth + 1)
                return members
            return {"$link": {"class": target, "key": rnd.choice(keys[target])}} if keys.get(target) else None
        if kind == "mixed":
            kinds = ["int", "string", "bool", "double", "link", "link", "null"] + (["list", "dictionary"] if depth < 2 else [])
            kind = rnd.choice(kinds)
            if kind == "link":
                return self.value("object", keys, rnd.choice(self.names))
            if kind == "list":
                return [self.value("mixed", keys, depth=depth + 1) for _ in range(rnd.randint(0, 3))]
            if kind == "dictionary":
                return {"k%d" % i: self.value("mixed", keys, depth=depth + 1) for i in range(rnd.randint(0, 2))}
        return {
            "int": lambda: rnd.randint(0, 9), "string": lambda: rnd.choice(WORDS), "bool": lambda: rnd.random() < 0.5,
            "double": lambda: rnd.randint(0, 8) / 4, "date": lambda: "2024-0%d-01T00:00:00Z" % rnd.randint(1, 9),
            "decimal128": lambda: "%d.5" % rnd.randint(0, 9), "null": lambda: None,
            "uuid": lambda: "00000000-0000-0000-0000-00000000000%d" % rnd.randint(0, 9),
        }[kind]()

    def property_value(self, p, keys):
        if p.collection is None:
            return None if p.optional and self.random.random() < 0.2 else self.value(p.kind, keys, p.target)
        depth = 2 if p.collection == "set" else 0
        elements = [self.value(p.kind, keys, p.target, depth) for _ in range(self.random.randint(0, 4))]
        if p.collection != "dictionary":
            return [e for e in elements if e is not None or p.kind == "mixed"]
        return {"k%d" % i: e for i, e in enumerate(elements) if e is not None or not (p.target in self.embedded)}

    def body(self, name, keys, links=True):
        """Returns the members of a random object without its primary key."""
        members = {}
        for p in self.properties[name]:
            if p.kind in ("object", "mixed") and not links:
                continue
            members[p.name] = self.property_value(p, keys)
        return members


class Trial:
    """One world on a server, as its administrator and the restricted principal use it."""

    def __init__(self, world, admin, restricted, writes):
        self.world, self.admin, self.restricted, self.writes = world, admin, restricted, writes
        self.full, self.copy = "full%d" % world.seed, "copy%d" % world.seed
        self.failures, self.reads, self.statuses = [], 0, {}
        # The path of the request at hand.
        self.path = ""

    # Making both realms

    def make(self, realm):
        """Makes a realm with the data of the world. The random numbers are the same for both."""
        world = self.world
        world.random.seed(world.seed * 7 + 1)
        base = "/v1/realms/" + realm
        self.admin.must("POST", "/v1/realms", json.dumps({"name": realm, "inMemory": realm, "schema": world.schema()}))
        keys = {}
        for name in world.names:
            bodies = []
            for number in range(world.random.randint(6, 14)):
                body = world.body(name, {}, links=False)
                if world.key_kinds[name]:
                    body["_id"] = number if world.key_kinds[name] == "int" else "key %d" % number
                bodies.append(body)
            keys[name] = self.admin.must("POST", f"{base}/objects/{name}", json.dumps(bodies))["keys"]
        for name in world.names:
            for key in keys[name]:
                body = {k: v for k, v in world.body(name, keys).items() if k not in ("n", "owner")}
                self.admin.must("PATCH", f"{base}/objects/{name}/{urllib.parse.quote(key)}", json.dumps(body))
        return keys

    def prepare(self):
        self.keys = self.make(self.full)
        if self.make(self.copy) != self.keys:
            raise SystemExit("the two realms differ")
        world = self.world
        self.visible = {}
        for name in world.names:
            rule = world.rules.get(name, "TRUEPREDICATE").replace("$claims.sub", "'ann'")
            if name in world.hidden_classes:
                rule = "FALSEPREDICATE"
            path = f"/v1/realms/{self.full}/objects/{name}?limit=1000&where=" + urllib.parse.quote(rule)
            self.visible[name] = [item["$meta"]["key"] for item in self.admin.must("GET", path)["items"]]
        deletes = [
            {"delete": {"class": name, "key": key}} for name in world.names for key in self.keys[name]
            if key not in self.visible[name]
        ]
        self.hidden_count = len(deletes)
        self.admin.must("POST", f"/v1/realms/{self.copy}/batch", json.dumps({"ops": deletes}))
        self.remove_hidden()

    def remove_hidden(self):
        """Takes hidden classes and properties out of the copy, and embedded classes that nothing leads to any more."""
        world = self.world
        kept, waiting = set(), [name for name in world.names if name not in world.hidden_classes]
        while waiting:
            name = waiting.pop()
            if name in kept:
                continue
            kept.add(name)
            for p in world.properties[name]:
                if p.target in world.embedded and p.name not in world.hidden[name]:
                    waiting.append(p.target)
        steps = []
        gone = [name for name in world.names + world.embedded if name not in kept]
        for name in world.names + world.embedded:
            for p in world.properties[name]:
                if name in gone and p.target or name in kept and (p.name in world.hidden[name] or p.target in gone):
                    steps.append({"removeProperty": {"class": name, "name": p.name}})
        steps += [{"removeClass": {"name": name}} for name in gone]
        if steps:
            body = {"fromVersion": 1, "toVersion": 2, "allowDataLoss": True, "steps": steps}
            self.admin.must("POST", f"/v1/realms/{self.copy}/migrations", json.dumps(body))

    # Requests

    def path_of(self, name, rnd, single=False):
        """Returns a random key path that begins at a class; mostly one to a single value if asked for."""
        path, steps = [], rnd.randint(1, 3)
        while steps:
            steps -= 1
            choices = self.world.properties[name]
            if single and rnd.random() < 0.9:
                choices = [p for p in choices if p.collection is None and (steps or p.kind not in ("object", "mixed"))]
            p = self.last = rnd.choice(choices)
            if rnd.random() < 0.08:
                origin = rnd.choice(self.world.names)
                links = [q for q in self.world.properties[origin] if q.kind == "object" and q.target == name]
                if links:
                    path += ["@links", origin, rnd.choice(links).name]
                    name = origin
                    continue
            path.append(p.name)
            if p.kind != "object":
                break
            name = p.target
        return ".".join(path)

    def predicate(self, name, rnd, depth=0):
        """Returns a random predicate, which need not fit."""
        if depth < 2 and rnd.random() < 0.3:
            parts = [self.predicate(name, rnd, depth + 1) for _ in range(2)]
            return "(%s %s %s)" % (parts[0], rnd.choice(["AND", "OR"]), parts[1])
        if rnd.random() < 0.1:
            return "NOT (%s)" % self.predicate(name, rnd, depth + 1)
        path = self.path_of(name, rnd)
        if rnd.random() < 0.7:
            return self.fitting(path, self.last, rnd)
        quantifier = rnd.choice(["", "", "", "ANY ", "ALL ", "NONE "])
        suffix = rnd.choice(["", "", "", "", ".@count", ".@size", ".@max.n", ".@sum.n", ".@links.@count", ".@type"])
        operator = rnd.choice(["==", "!=", ">", "<=", "BEGINSWITH", "CONTAINS", "LIKE", "IN"])
        target = rnd.choice(self.world.names)
        link = "obj('%s', %s)" % (target, rnd.choice(["1", "'key 2'", "3"]))
        value = {
            "IN": "{1, 2, 'ann'}", "LIKE": "'*n*'", "BEGINSWITH": "'a'", "CONTAINS": "'o'",
        }.get(operator) or rnd.choice(["1", "5", "'ann'", "nil", "true", "'Ulm'", "2.5", "1", link, "@links.@count"])
        if rnd.random() < 0.06:
            return "SUBQUERY(%s, $x, $x.n > %d).@count > %d" % (path, rnd.randint(0, 5), rnd.randint(0, 1))
        return "%s%s%s %s %s" % (quantifier, path, suffix, operator, value)

    def fitting(self, path, p, rnd):
        """Returns a predicate that fits the last property of a path."""
        if p.kind == "object":
            if p.collection and rnd.random() < 0.6:
                return rnd.choice(["%s.@count > %d", "ANY %s.n > %d", "ALL %s.n != %d", "NONE %s.n == %d"]) % (path, rnd.randint(0, 5))
            return "%s%s %s nil" % ("ANY " if p.collection else "", path, rnd.choice(["==", "!="]))
        operator = rnd.choice(["==", "!=", ">", "<=", ">="])
        value = {
            "int": "%d" % rnd.randint(0, 9), "string": "'%s'" % rnd.choice(WORDS), "bool": "true", "double": "1.25",
            "date": "2024-0%d-01@00:00:00" % rnd.randint(1, 9), "mixed": rnd.choice(["3", "'ann'", "nil", "true"]),
            "decimal128": "4.5", "uuid": "uuid(00000000-0000-0000-0000-000000000003)",
        }[p.kind]
        if p.kind in ("bool", "uuid", "mixed"):
            operator = rnd.choice(["==", "!="])
        if p.kind == "string" and rnd.random() < 0.3:
            operator = rnd.choice(["BEGINSWITH", "CONTAINS[c]", "ENDSWITH", "LIKE"])
        return "%s%s %s %s" % (rnd.choice(["ANY ", "NONE ", "ALL "]) if p.collection else "", path, operator, value)

    def any_key(self, name, rnd):
        key = rnd.choice(self.keys.get(name) or ["1"]) if rnd.random() < 0.92 else rnd.choice(["@k0", "@k3", "nobody", "99"])
        return urllib.parse.quote(key, safe="@")

    def list_parameters(self, name, rnd):
        parameters = {}
        if rnd.random() < 0.6:
            parameters["where"] = self.predicate(name, rnd)
        if rnd.random() < 0.4:
            parameters["sort"] = ",".join(rnd.choice(["", "-"]) + self.path_of(name, rnd, single=True) for _ in range(rnd.randint(1, 2)))
        if rnd.random() < 0.15:
            parameters["distinct"] = self.path_of(name, rnd, single=True)
        if rnd.random() < 0.5:
            parameters["limit"] = str(rnd.randint(1, 6))
        if rnd.random() < 0.2:
            parameters["offset"] = str(rnd.randint(0, 5))
        if rnd.random() < 0.25:
            parameters["count"] = "exact"
        if rnd.random() < 0.3:
            parameters["expand"] = rnd.choice([p.name for p in self.world.properties[name]])
        if rnd.random() < 0.25:
            parameters["fields"] = ",".join(self.path_of(name, rnd) for _ in range(2))
        extra = rnd.random()
        if extra < 0.06:
            parameters["indexOf"] = rnd.choice(self.keys.get(name) or ["1"])
        elif extra < 0.1:
            parameters["indexOfWhere"] = self.predicate(name, rnd)
        elif extra < 0.16:
            parameters["sectionBy"] = self.path_of(name, rnd, single=True)
        elif extra < 0.22:
            parameters["facets"] = self.path_of(name, rnd, single=True)
        elif extra < 0.26:
            parameters["at"] = str(rnd.randint(0, 8))
        if rnd.random() < 0.15:
            parameters["format"] = rnd.choice(["ejson", "ndjson", "csv"])
        return parameters

    def request(self, rnd):
        """Returns a random read: method, path below the realm, parameters, body."""
        world = self.world
        name = rnd.choice(world.names + world.embedded + ["Nothing"]) if rnd.random() < 0.2 else rnd.choice(world.names)
        fields = name if name in world.properties else world.names[0]
        p = rnd.choice(world.properties[fields]).name
        origin = rnd.choice(world.names)
        through = rnd.choice(world.properties[origin]).name
        kind = rnd.random()
        if kind < 0.34:
            return "GET", f"/objects/{name}", self.list_parameters(fields, rnd), None
        if kind < 0.42:
            return "POST", f"/query/{name}", {}, json.dumps(self.list_parameters(fields, rnd))
        if kind < 0.56:
            parameters = {k: v for k, v in self.list_parameters(fields, rnd).items() if k in ("expand", "fields")}
            return "GET", f"/objects/{name}/{self.any_key(name, rnd)}", parameters, None
        if kind < 0.66:
            return "GET", f"/objects/{name}/{self.any_key(name, rnd)}/{p}", self.list_parameters(fields, rnd), None
        if kind < 0.74:
            path = f"/objects/{name}/{self.any_key(name, rnd)}/@links/{origin}/{through}"
            return "GET", path, self.in_a_certain_order(origin, self.list_parameters(origin, rnd)), None
        if kind < 0.88:
            ops = ",".join(rnd.choice(["count", "sum:", "avg:", "min:", "max:"]) for _ in range(2)).split(",")
            parameters = {"ops": ",".join(op + self.path_of(fields, rnd, single=True) if op.endswith(":") else op for op in sorted(set(ops)))}
            if rnd.random() < 0.5:
                parameters["where"] = self.predicate(fields, rnd)
            if rnd.random() < 0.4:
                parameters["groupBy"] = self.path_of(fields, rnd, single=True)
            where = rnd.choice(["class", "class", "property", "links"])
            if where == "class":
                return "GET", f"/aggregate/{name}", parameters, None
            base = f"/objects/{name}/{self.any_key(name, rnd)}"
            inner = p if where == "property" else f"@links/{origin}/{through}"
            return "GET", f"{base}/{inner}/@aggregate", parameters, None
        if kind < 0.92:
            parameters = {"class": name, "format": rnd.choice(["ndjson", "json", "csv", "ejson", "geojson", "sqlite", "postgresql", "xlsx"])}
            if rnd.random() < 0.3:
                parameters["where"] = self.predicate(fields, rnd)
            return "GET", "/export", parameters, None
        if kind < 0.94:
            return "GET", "/export", {"format": rnd.choice(["ndjson", "ndjson", "json", "sqlite", "postgresql", "xlsx"])}, None
        if kind < 0.97:
            return "GET", rnd.choice(["/schema", f"/schema/{name}", f"/schema/{name}?format=jsonschema"]), {}, None
        parameters = {"class": name, "initial": "true", "wait": "0"}
        if rnd.random() < 0.5:
            parameters["where"] = self.predicate(fields, rnd)
        if rnd.random() < 0.3:
            parameters["sort"] = self.path_of(fields, rnd, single=True)
        if rnd.random() < 0.2:
            parameters["keyPaths"] = self.path_of(fields, rnd)
        return "GET", "/changes", parameters, None

    def in_a_certain_order(self, origin, parameters):
        """Returns parameters of a list of incoming links that do not depend on the order of these, which means nothing."""
        dependent = ("limit", "offset", "distinct", "indexOf", "indexOfWhere", "at", "sectionBy")
        if not any(name in parameters for name in dependent):
            return parameters
        if self.world.key_kinds[origin]:
            return {**parameters, "sort": "_id"}
        return {name: value for name, value in parameters.items() if name not in dependent}

    # Comparing

    def normal(self, text, realm):
        """Returns an answer without tokens, and without what says that something is hidden."""
        text = text.replace(realm, "REALM")
        if not text.startswith(("{", "[")):
            if "@links" in text or "/@links/" in self.path:
                return self.normal_table(text)
            # In CSV quotes are doubled.
            text = text.replace('""', '"')
        text = self.without_tokens(text)
        if "@links" not in text and "/@links/" not in self.path:
            return text
        try:
            return json.dumps(self.unordered(json.loads(text)))
        except ValueError:
            pass
        try:
            lines = [json.dumps(self.unordered(json.loads(line))) for line in text.splitlines() if line]
        except ValueError:
            return text
        return sorted(lines) if "/@links/" in self.path else lines

    def without_tokens(self, text):
        """Returns a text without tokens, and without what says that something is hidden."""
        text = re.sub(r'"(version|instance|next|previous|etag|epoch|cursor|requestId|since|id|snapshot)":"(?:[^"\\]|\\.)*"', r'"\1":"*"', text)
        text = re.sub(r"(?m)^-- Version .*$", "-- Version *", text)
        text = re.sub(r'"schemaVersion":\d+', '"schemaVersion":0', text)
        text = text.replace(',"partial":true', "")
        return re.sub(r',"hidden":\{[^}]*\}', "", text)

    def normal_table(self, text):
        """Returns the cells of CSV with columns of incoming links, which are sorted within each cell."""
        rows = [[self.without_tokens(cell) for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
        for row in rows[1:]:
            for index, cell in enumerate(row):
                if cell.startswith(("[", "{")) and "@links" in rows[0][index] + cell:
                    row[index] = json.dumps(self.unordered(json.loads(cell), self.is_unordered(rows[0][index])))
        return rows[:1] + sorted(rows[1:]) if "/@links/" in self.path else rows

    def is_unordered(self, name):
        """Whether a member lists incoming links, or what comes in their order."""
        return name.startswith("@links") or name in ("items", "groups") and "/@links/" in self.path

    def unordered(self, value, sorts=False):
        """Returns a document with sorted incoming links: deletes change their order, which means nothing."""
        if isinstance(value, dict):
            return {name: self.unordered(inner, self.is_unordered(name)) for name, inner in value.items()}
        if not isinstance(value, list):
            return value
        elements = [self.unordered(inner) for inner in value]
        return sorted(elements, key=json.dumps) if sorts else elements

    def compare(self, method, path, parameters, body, seen_extra=None, copy_extra=None):
        """Sends one request to both, and notes a difference; returns both documents."""
        answers = []
        self.path = path
        for client, realm, extra in ((self.restricted, self.full, seen_extra), (self.admin, self.copy, copy_extra)):
            query = urllib.parse.urlencode({**parameters, **(extra or {})})
            target = f"/v1/realms/{realm}{path}" + (("&" if "?" in path else "?") + query if query else "")
            headers = {"Accept": "application/json"} if path == "/changes" else {}
            status, _, text = client.ask(method, target, body, headers)
            answers.append((status, self.normal(text, realm), text))
        self.reads += 1
        self.statuses[answers[0][0]] = self.statuses.get(answers[0][0], 0) + 1
        if answers[0][:2] != answers[1][:2]:
            self.failures.append(
                f"seed {self.world.seed}: {method} {path} {json.dumps(parameters)} {body or ''}\n"
                f"   seen {answers[0][0]} {str(answers[0][1])[:700]}\n   copy {answers[1][0]} {str(answers[1][1])[:700]}")
        return [answer[2] for answer in answers]

    def read(self, count):
        rnd = random.Random(self.world.seed * 13 + 5)
        snapshots = None
        while self.reads < count and len(self.failures) < 5:
            method, path, parameters, body = self.request(rnd)
            extras = (None, None)
            if snapshots and method == "GET" and path.startswith(("/objects", "/aggregate")) and rnd.random() < 0.1:
                extras = snapshots
            elif not snapshots:
                snapshots = tuple(
                    {"snapshot": client.must("POST", f"/v1/realms/{realm}/snapshots", "{}")["id"]}
                    for client, realm in ((self.restricted, self.full), (self.admin, self.copy)))
            texts = self.compare(method, path, parameters, body, *extras)
            self.turn_pages(method, path, parameters, texts, rnd)

    def turn_pages(self, method, path, parameters, texts, rnd):
        """Follows the cursors of a list, each its own."""
        for _ in range(rnd.randint(0, 4)):
            cursors = []
            for text in texts:
                found = re.search(r'"next":"([^"]+)"', text)
                cursors.append({"after": found.group(1)} if found else None)
            if method != "GET" or not all(cursors):
                return
            texts = self.compare(method, path, parameters, None, *cursors)

    # Writing

    def invisible(self):
        """Returns what the administrator sees of all that the principal does not see: whole objects, and hidden properties."""
        world, result = self.world, {}
        for name in world.names:
            items = self.admin.must("GET", f"/v1/realms/{self.full}/objects/{name}?limit=1000&meta=full")["items"]
            for item in items:
                key = item.pop("$meta")["key"]
                seen = key in self.visible[name]
                result[name, key] = {
                    p.name: item[p.name] for p in world.properties[name]
                    if p.kind not in ("object", "mixed") and (not seen or p.name in world.hidden[name])
                }
                if not seen:
                    result[name, key]["exists"] = True
        return result

    def write_request(self, rnd):
        world = self.world
        name = rnd.choice(world.names)
        world.random = rnd
        targets = self.visible if rnd.random() < 0.8 else self.keys
        body = world.body(name, targets)
        for key in list(body):
            if rnd.random() < 0.6 and key not in ("n", "owner"):
                del body[key]
        kind, key = rnd.random(), self.any_key(name, rnd)
        if self.visible[name] and rnd.random() < 0.75:
            key = urllib.parse.quote(rnd.choice(self.visible[name]), safe="@")
        hidden = world.hidden[name] + [p.name for p in world.properties[name] if p.target in world.hidden_classes]
        if rnd.random() < 0.8:
            body = {k: v for k, v in body.items() if k not in hidden}
        p = rnd.choice(world.properties[name])
        if kind < 0.2:
            if world.key_kinds[name]:
                body["_id"] = rnd.randint(0, 30) if world.key_kinds[name] == "int" else "key %d" % rnd.randint(0, 30)
            return "POST", f"/objects/{name}" + rnd.choice(["", "?upsert=all", "?upsert=modified"]), body, None
        if kind < 0.45:
            for k in ("n", "owner"):
                if rnd.random() < 0.7:
                    body.pop(k, None)
            return "PATCH", f"/objects/{name}/{key}", body, None
        if kind < 0.55:
            return "PUT", f"/objects/{name}/{key}", body, None
        if kind < 0.62:
            return "DELETE", f"/objects/{name}/{key}", None, None
        if kind < 0.67:
            where = urllib.parse.quote(self.predicate(name, rnd))
            return rnd.choice(["PATCH", "DELETE"]), f"/objects/{name}?where={where}", {"n": rnd.randint(0, 9)}, None
        lists = [p for p in world.properties[name] if p.collection == "list" and p.name not in hidden]
        if lists and rnd.random() < 0.8:
            p = rnd.choice(lists)
        if kind < 0.8:
            index = rnd.randint(0, 3)
            value = world.value(p.kind, targets, p.target)
            operation = rnd.choice([
                {"op": "add", "path": f"/{p.name}/{index}", "value": value}, {"op": "remove", "path": f"/{p.name}/{index}"},
                {"op": "replace", "path": f"/{p.name}/{index}", "value": value}, {"op": "test", "path": f"/{p.name}", "value": None},
                {"op": "move", "from": f"/{p.name}/{index}", "path": f"/{p.name}/0"}, {"op": "add", "path": f"/{p.name}/-", "value": value},
                {"op": "copy", "from": f"/{p.name}/{index}", "path": f"/{p.name}/-"},
            ])
            return "PATCH", f"/objects/{name}/{key}", [operation], {"Content-Type": "application/json-patch+json"}
        step = rnd.choice([
            {"add": world.value(p.kind, targets, p.target)}, {"remove": rnd.randint(0, 2)}, {"clear": True},
            {"move": [rnd.randint(0, 2), 0]}, {"swap": [0, rnd.randint(0, 2)]}])
        operations = [{"list": {"class": name, "key": urllib.parse.unquote(key), "property": p.name, "ops": [step]}}]
        if rnd.random() < 0.3:
            operations.append({"assert": {"class": name, "where": self.predicate(name, rnd)}})
        return "POST", "/batch", {"ops": operations}, None

    def write(self, count):
        """Writes to both as long as the principal may, and checks that nothing invisible changes."""
        rnd = random.Random(self.world.seed * 17 + 3)
        before, done = self.invisible(), 0
        for number in range(count):
            method, path, body, headers = self.write_request(rnd)
            text = json.dumps(body) if body is not None else None
            status, _, seen = self.restricted.ask(method, f"/v1/realms/{self.full}{path}", text, headers)
            separator = "&" if "?" in path else "?"
            dry = "" if status < 300 else separator + "dryRun=true"
            other, _, copied = self.admin.ask(method, f"/v1/realms/{self.copy}{path}{dry}", text, headers)
            if dry and other == 200 and '"status":' in copied:
                other = json.loads(copied).get("status", other)
            self.writes[status] = self.writes.get(status, 0) + 1
            # What a write leaves has to be visible, and invisible keys are taken. An object that is made invisible by a write
            # cannot be linked to by it.
            if status == 403 or status == 409 and "duplicate_key" in seen:
                continue
            if "link_target_missing" in seen and self.hides_its_target(method, path + separator + "dryRun=true", body, headers):
                continue
            if (status, self.normal(seen, self.full)) != (other, self.normal(copied, self.copy)) and not (dry and other == status):
                self.failures.append(
                    f"seed {self.world.seed}, write {number}: {method} {path} {text}\n   seen {status} {seen[:900]}\n   copy {other} {copied[:900]}")
            if status < 300:
                done += 1
                self.refresh()
            if len(self.failures) >= 5:
                return
            after = self.invisible()
            if any(after.get(place) != values for place, values in before.items() if values.get("exists")):
                self.failures.append(f"seed {self.world.seed}, write {number}: {method} {path} {text} changed something invisible")
            before = after
        self.reads = 0
        self.read(60)

    def hides_its_target(self, method, path, body, headers):
        """Whether a write is refused without its links to the object that it is for, because it makes this invisible."""
        if not isinstance(body, dict):
            return False
        key = str(body.get("_id", urllib.parse.unquote(path.split("?")[0].split("/")[-1])))
        without = self.without_links_to(key, body)
        if without == body:
            return False
        return self.restricted.ask(method, f"/v1/realms/{self.full}{path}", json.dumps(without), headers)[0] == 403

    def without_links_to(self, key, value):
        """Returns a body with null in place of links to an object, which lists go without."""
        if isinstance(value, list):
            return [self.without_links_to(key, element) for element in value if not self.is_link_to(key, element)]
        if isinstance(value, dict):
            return None if self.is_link_to(key, value) else {name: self.without_links_to(key, inner) for name, inner in value.items()}
        return value

    def is_link_to(self, key, value):
        """Whether a value in a body is a link to an object."""
        return isinstance(value, dict) and isinstance(value.get("$link"), dict) and value["$link"].get("key") == key

    def refresh(self):
        """Finds out again which objects there are and which are seen, after a write."""
        for name in self.world.names:
            items = self.admin.must("GET", f"/v1/realms/{self.full}/objects/{name}?limit=1000&fields=n")["items"]
            self.keys[name] = [item["$meta"]["key"] for item in items]
            if name not in self.world.hidden_classes:
                items = self.restricted.must("GET", f"/v1/realms/{self.full}/objects/{name}?limit=1000&fields=n")["items"]
                self.visible[name] = [item["$meta"]["key"] for item in items]


class Server(harness.Server):
    """A server with a role for each world, on a free port."""

    def __init__(self, program, worlds):
        self.folder = tempfile.mkdtemp(prefix="realm-rest-leaks-")
        roles = {"role%d" % world.seed: world.role("full%d" % world.seed) for world in worlds}
        configuration = {"data": self.folder, "roles": roles}
        self.file = os.path.join(self.folder, "realm-rest.yaml")
        with open(self.file, "w") as file:
            json.dump(configuration, file)
        self.program = program
        self.admin_key = self.key("boss", "admin")
        super().__init__(program, "--config", self.file, "--log-format", "none")

    def key(self, name, role):
        made = subprocess.run(
            [self.program, "keys", "add", name, "--role", role, "--config", self.file], capture_output=True, text=True)
        if made.returncode:
            raise SystemExit(made.stderr)
        return made.stdout.strip()

    def end(self):
        super().end()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the program")
    parser.add_argument("--seeds", default="1-4", help="the worlds, as FIRST-LAST")
    parser.add_argument("--reads", type=int, default=500, help="the reads in each world")
    parser.add_argument("--writes", type=int, default=60, help="the writes in each world whose rules allow for them")
    options = parser.parse_args()
    first, last = (int(part) for part in (options.seeds.split("-") * 2)[:2])
    worlds = [World(seed) for seed in range(first, last + 1)]
    server = Server(options.server, worlds)
    reads = hidden = 0
    statuses, writes, failures, begin = {}, {}, [], time.time()
    try:
        keys = {world.seed: server.key("ann", "role%d" % world.seed) for world in worlds}
        time.sleep(1.5)
        for world in worlds:
            trial = Trial(world, Client(server.port, server.admin_key), Client(server.port, keys[world.seed]), writes)
            trial.prepare()
            trial.read(options.reads)
            reads += trial.reads
            hidden += trial.hidden_count
            if world.writes and not trial.failures:
                trial.write(options.writes)
            failures += trial.failures
            for status, count in trial.statuses.items():
                statuses[status] = statuses.get(status, 0) + count
            for realm in (trial.full, trial.copy):
                trial.admin.ask("DELETE", "/v1/realms/" + realm)
    finally:
        server.end()
    for failure in failures[:6]:
        print(failure)
    print(
        f"{len(worlds)} worlds, {hidden} hidden objects, {reads} reads by status {dict(sorted(statuses.items()))}, "
        f"writes {dict(sorted(writes.items()))}, {len(failures)} differences, {time.time() - begin:.0f} s")
    sys.exit(1 if failures or not hidden else 0)


if __name__ == "__main__":
    main()
