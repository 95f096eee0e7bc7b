"""Random requests from the schema of the realms that are served: most are sound, many are nearly so, some are hostile.

Everything is decided by the `random.Random` that is handed in, so a seed is a reproduction.
"""
import base64
import gzip
import json
from urllib.parse import quote, urlencode

HOSTILE = ["", "@null", "@empty", "@k0", "@k-1", "@k99999999999999999999", "@b64.", "@b64.####", "@@x", "..", ".", "%", "%zz", "\0", "a/b",
           "é", "\U0001F600", "x" * 300, "0", "-0", "1e9", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
           "null", "true", "{}", "[]", "NaN", "'", '"', "$0", "self", "__proto__", "@links", "@links.Order.customer", "@count", "@type"]
WORDS = ["Lamp", "a", "Oslo", "foo bar", "x*y?z", "ß", "İ", "tester"]


class Grammar:
    def __init__(self, random, realms):
        """`realms` maps names to the documents of `GET /v1/realms/{realm}/schema`."""
        self.random = random
        self.realms = realms
        self.cursors, self.tags, self.tokens, self.ids, self.keys = ["b64.AQ"], ['"x~j1"'], ["0.1"], ["0"], {}

    # What answers have taught.

    def learn(self, realm, class_name, headers, body):
        if "etag" in headers:
            self._keep(self.tags, headers["etag"])
        if "realm-version" in headers:
            self._keep(self.tokens, headers["realm-version"])
        if body[:1] != b"{" or len(body) > 20000:
            return
        try:
            document = json.loads(body)
        except ValueError:
            return
        if isinstance(document.get("next"), str):
            self._keep(self.cursors, document["next"])
        if isinstance(document.get("id"), str):
            self._keep(self.ids, document["id"])
        for item in document.get("items") or []:
            key = isinstance(item, dict) and isinstance(item.get("$meta"), dict) and item["$meta"].get("key")
            if key:
                self._keep(self.keys.setdefault((realm, class_name), []), key)

    def _keep(self, pool, value):
        if len(pool) < 50:
            pool.append(value)
        else:
            pool[self.random.randrange(50)] = value

    # Small choices.

    def chance(self, share):
        return self.random.random() < share

    def pick(self, choices):
        return choices[int(self.random.random() * len(choices))]

    def hostile(self):
        return self.pick(HOSTILE)

    def word(self):
        return self.hostile() if self.chance(.1) else self.pick(WORDS)

    def integer(self):
        return self.pick([0, 1, 2, 5, 7, 20, 100, 1000, 1001, -1, 1 << 31, 1 << 53, (1 << 63) - 1, -(1 << 63), 1 << 64, self.random.randrange(500)])

    # Names.

    def realm(self):
        return self.hostile() if self.chance(.02) else self.pick(list(self.realms))

    def classes(self, realm):
        return (self.realms.get(realm) or next(iter(self.realms.values())))["classes"]

    def a_class(self, realm):
        return self.pick(self.classes(realm))

    def key(self, realm, class_name):
        known = self.keys.get((realm, class_name))
        if known and self.chance(.6):
            return self.pick(known)
        return self.pick([str(self.random.randrange(60)), f"@k{self.random.randrange(40)}", self.hostile(), self.pick(WORDS)])

    def path(self, realm, a_class, depth=0):
        """A key path that usually exists."""
        if self.chance(.05):
            return ".".join(self.pick(["a", a_class["name"], self.hostile()]) for _ in range(self.pick([1, 2, 130, 500])))
        if self.chance(.1):
            origin = self.a_class(realm)
            return f"@links.{origin['name']}.{self.a_property(origin)['name']}" + (".@count" if self.chance(.5) else "")
        chosen = self.a_property(a_class)
        target = next((c for c in self.classes(realm) if c["name"] == chosen.get("objectType")), None)
        if target and depth < 6 and self.chance(.7):
            return chosen["name"] + "." + self.path(realm, target, depth + 1)
        return chosen["name"] + self.pick(["", "", "", "", ".@count", ".@size", ".@keys", ".@values", ".@type", "[0]", "[FIRST]", "['a']", ".@max", ".@sum"])

    def a_property(self, a_class):
        return self.pick(a_class["properties"]) if a_class["properties"] else {"name": "x", "type": "int"}

    # Values.

    def value(self, a_property, depth=0):
        if self.chance(.06):
            return self.json(3)
        if self.chance(.05):
            return None
        collection = a_property.get("collection")
        if collection and depth == 0:
            count = self.pick([0, 1, 2, 5, 60])
            if collection == "dictionary":
                return {self.pick(["a", "b", self.word(), "$x", "x.y"]): self.value(a_property, 1) for _ in range(count)}
            return [self.value(a_property, 1) for _ in range(count)]
        kind = a_property.get("type")
        if kind == "int":
            return self.integer()
        if kind == "bool":
            return self.chance(.5)
        if kind in ("double", "float"):
            return self.pick([0.0, -0.0, 1.5, 1e308, 1e-320, "NaN", "Infinity", self.random.random()])
        if kind == "string":
            return self.word()
        if kind == "data":
            return base64.b64encode(bytes(self.random.randrange(256) for _ in range(self.pick([0, 1, 3, 100])))).decode()
        if kind == "date":
            return self.pick(["2024-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2024-02-30T00:00:00Z", "2024-01-01"])
        if kind in ("decimal128", "decimal"):
            return self.pick(["0", "-0", "1.50", "1E+6144", "1E-6176", "NaN", "9" * 34, "9" * 35, "1e99999"])
        if kind == "objectId":
            return self.pick(["0" * 24, "652196ca3fe67ca7cabde606", "f" * 24, "f" * 23])
        if kind == "uuid":
            return self.pick(["00000000-0000-0000-0000-000000000000", "3b241101-e2bb-4255-8caf-4136c566a962", "3b241101"])
        if kind == "object":
            return self.pick([None, 1, "1", {"$link": {"class": a_property.get("objectType") or "x", "key": "1"}}, {"name": "x"}, {"$link": {"ref": "r"}}])
        return self.json(2)

    def json(self, depth):
        """Any JSON, wrappers of Extended JSON among it."""
        kind = self.random.randrange(12 if depth else 8)
        if kind < 3:
            return self.integer()
        if kind < 6:
            return self.word()
        if kind == 6:
            return self.pick([None, True, False, 1.5, -0.0])
        if kind == 7:
            name = self.pick(["$oid", "$date", "$uuid", "$numberLong", "$numberDouble", "$numberDecimal", "$numberFloat", "$binary", "$link", "$instant", "$bytes",
                              "$geoBox", "$geoCircle", "$geoPolygon", "$geoPoint", "$expr", "$where", "$meta"])
            return {name: self.pick([self.integer(), self.word(), "652196ca3fe67ca7cabde606", {"base64": "AA==", "subType": "04"}, [[0, 0], [1, 1]],
                                     {"center": [0, 0], "radius": .1}, [[[0, 0], [0, 1], [1, 1], [0, 0]]], {"class": "A", "key": "1"}])}
        if kind < 10:
            return [self.json(depth - 1) for _ in range(self.pick([0, 1, 3, 9]))]
        return {self.word(): self.json(depth - 1) for _ in range(self.pick([0, 1, 3]))}

    def arguments(self):
        return [self.json(2) for _ in range(self.pick([0, 1, 1, 2, 5, 40]))]

    # Queries.

    def literal(self):
        return self.pick(["1", "-5", "0.5", "null", "'a'", '"Oslo"', "true", "NaN", "infinity", "$0", "$1", "$99", "2024-01-01@00:00:00", "T5:0", "oid(652196ca3fe67ca7cabde606)",
                          "uuid(3b241101-e2bb-4255-8caf-4136c566a962)", "B64\"AAAA\"", "{1,2,3}", "{'a','b'}", "{}", "9223372036854775807", "1e400", "geoBox([0.0,0.0],[1.0,1.0])",
                          "geoCircle([0.0,0.0],0.5)", "'" + "a*" * 30 + "'"])

    def predicate(self, realm, a_class, depth=0):
        if self.chance(.03):
            return self.pick(["(" * 2000, "NOT " * 500 + "TRUEPREDICATE", "a" * 9000, "\0", "id > " + "1+" * 900 + "1", "{" * 900, "x IN {" + "1," * 3000 + "1}"])
        kind = self.random.randrange(10)
        if depth < 4 and kind < 3:
            word = self.pick([" AND ", " OR ", " && ", " || "])
            return "(" + word.join(self.predicate(realm, a_class, depth + 1) for _ in range(self.pick([2, 2, 3, 8]))) + ")"
        if depth < 4 and kind == 3:
            return self.pick(["NOT ", "!"]) + "(" + self.predicate(realm, a_class, depth + 1) + ")"
        if depth < 3 and kind == 4:
            links = [p for p in a_class["properties"] if p.get("collection") and p.get("objectType")]
            if links:
                chosen = self.pick(links)
                target = next((c for c in self.classes(realm) if c["name"] == chosen["objectType"]), a_class)
                inside = "$x." + self.a_property(target)["name"] + " == " + self.literal()
                return f"SUBQUERY({chosen['name']}, $x, {inside}).@count {self.operator()} {self.literal()}"
        if kind == 5:
            return self.pick(["TRUEPREDICATE", "FALSEPREDICATE"])
        left = self.pick(["", "", "", "ANY ", "ALL ", "NONE "]) + self.path(realm, a_class)
        right = self.literal() if self.chance(.8) else self.path(realm, a_class)
        if self.chance(.1):
            left += self.pick([" + ", " * ", " / ", " - "]) + self.literal()
        return f"{left} {self.operator()} {right}"

    def operator(self):
        return self.pick(["==", "!=", "<", ">", "<=", ">=", "=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "TEXT", "IN", "BETWEEN", "==[c]", "CONTAINS[c]", "LIKE[c]", "geoWithin"])

    def where(self, realm, a_class):
        text = self.predicate(realm, a_class)
        if self.chance(.08):
            text += self.pick([" SORT({0} ASC)", " DISTINCT({0})", " LIMIT(3)", " SORT({0} DESC) LIMIT(2)"]).format(self.path(realm, a_class))
        return text

    # Parameters of reads.

    def parameters(self, realm, a_class, in_body=False):
        paths = lambda most: [self.path(realm, a_class) for _ in range(self.random.randrange(1, most))]
        choices = {
            "where": lambda: self.where(realm, a_class),
            "args": lambda: self.arguments() if in_body else json.dumps(self.arguments()),
            "sort": lambda: [self.pick(["", "-"]) + path for path in paths(4)],
            "distinct": lambda: paths(3), "fields": lambda: paths(5), "expand": lambda: paths(4),
            "limit": lambda: self.integer(), "offset": lambda: self.integer(), "after": lambda: self.mutated(self.pick(self.cursors)),
            "count": lambda: self.pick(["exact", "none", "x"]), "meta": lambda: self.pick(["none", "x"]), "ints": lambda: self.pick(["string", "number"]),
            "format": lambda: self.pick(["json", "ejson", "ndjson", "csv", "java"]), "explain": lambda: self.pick(["true", "false"]),
            "at": lambda: [self.integer() for _ in range(self.pick([1, 2, 50]))], "indexOf": lambda: self.key(realm, a_class["name"]),
            "indexOfWhere": lambda: self.predicate(realm, a_class), "sectionBy": lambda: self.path(realm, a_class) + self.pick(["", ":first", ":firstLetter", ":year", ":mod(3)", ":floor(0)"]),
            "section": lambda: self.word(), "snapshot": lambda: self.pick(self.ids), "ops": lambda: [self.pick(["count", "min:", "max:", "sum:", "avg:"]) + path for path in paths(6)],
            self.word(): lambda: self.word(),
        }
        weights = {"where": 9, "limit": 6, "sort": 4, "fields": 3, "expand": 3}
        names = self.random.choices(list(choices), [weights.get(name, 1) for name in choices], k=self.pick([0, 1, 1, 2, 2, 3, 5]))
        found = {name: choices[name]() for name in names}
        if in_body:
            return found
        return {name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in found.items()}

    def mutated(self, text):
        if self.chance(.5) or not text:
            return text
        place = self.random.randrange(len(text))
        return text[:place] + self.pick(["A", "_", "", "=", "%", text]) + text[place + 1:]

    # Bodies.

    def object(self, a_class):
        body = {p["name"]: self.value(p) for p in a_class["properties"] if self.chance(.7)}
        if self.chance(.05):
            body[self.word()] = self.json(2)
        return body

    def json_patch(self, a_class):
        place = lambda: "/" + self.a_property(a_class)["name"] + self.pick(["", "", "/0", "/-", "/a", "/0/" + self.word(), "/" * 50])
        return [{"op": self.pick(["add", "remove", "replace", "move", "copy", "test", "x"]), "path": place(), "from": place(), "value": self.json(2)}
                for _ in range(self.pick([1, 2, 5, 60]))]

    def operation(self, realm):
        a_class = self.a_class(realm)
        name, key = a_class["name"], self.key(realm, a_class["name"])
        target = {"class": name, "key": key}
        steps = [self.pick([{"add": 1}, {"insert": [0, None]}, {"set": [self.integer(), 1]}, {"remove": self.integer()}, {"move": [0, self.integer()]}, {"swap": [0, 1]},
                            {"clear": True}, {"addAll": [1, 2]}, {"put": {"a": 1}}, {"deleteAll": True}, {"union": [1]}]) for _ in range(self.pick([1, 2, 9]))]
        address = dict(target, property=self.a_property(a_class)["name"], ops=steps)
        return self.pick([
            {"create": {"class": name, "body": self.object(a_class), "as": self.pick(["r", "s"])}}, {"put": dict(target, body=self.object(a_class))},
            {"patch": dict(target, body=self.object(a_class))}, {"delete": target}, {"patchWhere": {"class": name, "where": self.where(realm, a_class), "body": self.object(a_class), "maxAffected": 50}},
            {"deleteWhere": {"class": name, "where": self.where(realm, a_class), "maxAffected": 3}}, {"increment": dict(target, property=self.a_property(a_class)["name"], by=self.integer())},
            {"assert": dict(target, where=self.where(realm, a_class), args=self.arguments())}, {"assert": {"class": name, "count": self.integer()}},
            {"list": address}, {"set": address}, {"dictionary": address}, self.json(2)])

    def step(self, realm):
        a_class = self.a_class(realm)
        chosen = self.a_property(a_class)
        new = {"name": self.word(), "type": self.pick(["int", "string", "mixed", "object", "x"]), "optional": self.chance(.5), "objectType": a_class["name"]}
        return self.pick([{"addClass": {"name": self.word(), "properties": [new]}}, {"removeClass": {"name": a_class["name"]}}, {"addProperty": {"class": a_class["name"], **new}},
                          {"removeProperty": {"class": a_class["name"], "name": chosen["name"]}}, {"renameProperty": {"class": a_class["name"], "name": chosen["name"], "to": self.word()}},
                          {"set": {"class": a_class["name"], "where": self.where(realm, a_class), "values": {chosen["name"]: {"$expr": self.word() + " + 1"}}}}, self.json(2)])

    def definition(self, realm):
        a_class = self.a_class(realm)
        found = {"class": a_class["name"], **self.parameters(realm, a_class, in_body=True)}
        if self.chance(.3):
            found["keyPaths"] = [self.path(realm, a_class) for _ in range(3)]
        if self.chance(.3):
            found["key"] = self.key(realm, a_class["name"])
        return found

    def text(self, document):
        """JSON as bytes, now and then damaged, deep, wide or doubled."""
        kind = self.random.randrange(60)
        if kind == 0:
            return b"[" * self.pick([10, 63, 64, 65, 5000]) + b"]" * 20
        if kind == 1:
            return b"[" + b"{}," * self.pick([10, 1000, 60000]) + b"{}]"
        if kind == 2:
            return b'{"a":1,"a":2}'
        if kind == 3:
            return b'{"a":"\\ud800"}'
        if kind == 4:
            return b'{"a":' + b"9" * self.pick([30, 4000]) + b"}"
        if kind == 5:
            return b""
        data = json.dumps(document, ensure_ascii=self.chance(.5)).encode("utf8", "replace")
        if kind == 6 and data:
            place = self.random.randrange(len(data))
            return data[:place] + bytes([self.random.randrange(256)]) + data[place + 1:]
        if kind == 7:
            return data[:self.random.randrange(len(data) + 1)]
        return data

    # Requests.

    def request(self):
        """Method, target, header fields, body, and what the answer is about."""
        realm = self.realm()
        a_class = self.a_class(realm)
        name = self.hostile() if self.chance(.02) else a_class["name"]
        base, safe = "/v1/realms/" + quote(realm, safe=""), lambda text: quote(text, safe="")
        key = safe(self.key(realm, a_class["name"]))
        query = lambda: "?" + urlencode(self.parameters(realm, a_class)) if self.chance(.8) else ""
        prop = self.a_property(a_class)["name"]
        kind = self.pick(KINDS)
        method, target, body, media = "GET", "/", None, "application/json"
        if kind == "list":
            method, target = self.pick(["GET", "GET", "GET", "HEAD", "OPTIONS"]), f"{base}/objects/{safe(name)}{query()}"
        elif kind == "query":
            method, target, body = self.pick(["POST", "QUERY"]), f"{base}/query/{safe(name)}", self.parameters(realm, a_class, in_body=True)
            if method == "QUERY":
                target = f"{base}/objects/{safe(name)}"
        elif kind == "aggregate":
            if self.chance(.5):
                target = f"{base}/aggregate/{safe(name)}{query()}"
            else:
                method, target, body = "POST", f"{base}/aggregate/{safe(name)}", {**self.parameters(realm, a_class, in_body=True), "ops": [self.pick(["count", "sum:", "max:"]) + self.path(realm, a_class) for _ in range(self.pick([1, 3, 200]))]}
        elif kind == "object":
            target = f"{base}/objects/{safe(name)}/{key}{query()}"
        elif kind == "property":
            target = f"{base}/objects/{safe(name)}/{key}/{self.pick([safe(prop), '@links/' + safe(self.a_class(realm)['name']) + '/' + safe(prop), safe(self.path(realm, a_class))])}{query()}"
        elif kind == "create":
            method, target, body = "POST", f"{base}/objects/{safe(name)}{self.pick(['', '', '?upsert=modified', '?upsert=all', '?dryRun=true', '?nested=upsert', '?x=1'])}", self.object(a_class)
            if self.chance(.3):
                body = [self.object(a_class) for _ in range(self.pick([0, 1, 5, 100]))]
        elif kind == "change":
            method, target, body = self.pick(["PATCH", "PATCH", "PUT"]), f"{base}/objects/{safe(name)}/{key}", self.object(a_class)
            if method == "PATCH" and self.chance(.3):
                body, media = self.json_patch(a_class), "application/json-patch+json"
        elif kind == "delete":
            method, target = "DELETE", f"{base}/objects/{safe(name)}" + (f"/{key}" if self.chance(.7) else "?" + urlencode({"where": self.where(realm, a_class), "maxAffected": 3}))
        elif kind == "put":
            method, target, body = "PUT", f"{base}/objects/{safe(name)}/{key}/{safe(prop)}", self.value(self.a_property(a_class))
        elif kind == "batch":
            method, target, body = "POST", f"{base}/batch{self.pick(['', '?dryRun=true'])}", {"ops": [self.operation(realm) for _ in range(self.pick([0, 1, 3, 20]))]}
        elif kind == "schema":
            target = base + self.pick(["", "/schema", "/schema/" + safe(name), "/schema?format=" + self.pick(["typescript", "swift", "json-schema", "x"]), "/openapi.json"])
        elif kind == "migrate":
            method, target, body = "POST", f"{base}/migrations?dryRun=true", {"fromVersion": self.integer(), "toVersion": self.integer(), "steps": [self.step(realm) for _ in range(self.pick([0, 1, 4]))]}
        elif kind == "changes":
            given = {"class": a_class["name"], **self.parameters(realm, a_class)}
            if self.chance(.5):
                given["since"] = self.pick(self.tokens + ["now", "x"])
            target = f"{base}/changes?{urlencode(given)}"
        elif kind == "subscription":
            method, target, body = "POST", f"{base}/subscriptions", {"subscriptions": {self.pick(["a", "b", self.word()]): self.definition(realm) for _ in range(self.pick([1, 1, 3, 60]))}}
        elif kind == "snapshot":
            method, target, body = self.pick([("POST", "/snapshots", {"ttl": self.pick(["1s", "5s", "x", 3])}), ("GET", "/snapshots", None), ("GET", "/snapshots/" + safe(self.pick(self.ids)), None),
                                              ("DELETE", "/snapshots/" + safe(self.pick(self.ids)), None), ("PATCH", "/snapshots/" + safe(self.pick(self.ids)), {"ttl": "2s"})])
            target = base + target
        elif kind == "transaction":
            method, target, body = self.pick([("POST", "/transactions", {"idle": "1s"}), ("GET", "/transactions/" + safe(self.pick(self.ids)), None),
                                              ("DELETE", "/transactions/" + safe(self.pick(self.ids)), None), ("POST", f"/transactions/{safe(self.pick(self.ids))}/commit", {})])
            target = base + target
        elif kind == "transfer":
            method, target, body = self.pick([("GET", "/export?format=" + self.pick(["ndjson", "json", "csv", "x"]), None), ("GET", "/export?class=" + safe(name), None), ("POST", "/import", "lines"), ("POST", "/import?class=" + safe(name), "csv")])
            target = base + target
            if body == "lines":
                media, body = "application/x-ndjson", "\n".join(json.dumps({a_class["name"]: self.object(a_class)}) for _ in range(self.pick([1, 5, 60]))).encode("utf8", "replace")
            elif body == "csv":
                media, body = "text/csv", "\n".join(",".join(self.word() for _ in range(4)) for _ in range(20)).encode("utf8", "replace")
        elif kind == "realm":
            method, target, body = self.pick([("GET", "/v1/realms", None), ("POST", "/v1/realms?dryRun=true", {"name": self.word(), "inMemory": "x"}), ("POST", "/v1/realms", {"name": self.hostile(), "path": self.hostile()}),
                                              ("POST", "/v1/realms", {"name": "m" + str(self.random.randrange(5)), "inMemory": "m"}), ("DELETE", "/v1/realms/m" + str(self.random.randrange(5)), None), ("POST", "/v1/realms", self.json(3)), ("GET", "/v1/openapi.json", None)])
        elif kind == "operations":
            target = self.pick(["/healthz", "/readyz", "/metrics", "/admin/leases", "/admin/config", "/", "/v1", "//", "*", "/v1/realms/", base + "/writes/" + safe(self.pick(self.ids))])
        if isinstance(body, (dict, list, str, int, float, bool)) or (body is None and kind == "put"):
            body = self.text(body)
        return method, target, self.headers(body, media), body, (realm, name)

    def headers(self, body, media):
        fields = {}
        if body is not None:
            fields["Content-Type"] = media if not self.chance(.03) else self.pick(["text/plain", "application/ejson", "application/x-ndjson", "", "a/b; charset=x"])
        for name, values, share in (("Accept", ["application/json", "application/ejson", "application/x-ndjson", "text/csv", "*/*;q=0", "application/octet-stream", "text/event-stream", "x"], .08),
                                    ("Accept-Encoding", ["gzip", "gzip;q=0", "br"], .2), ("If-Match", self.tags, .08), ("If-None-Match", self.tags + ["*"], .08),
                                    ("Prefer", ["return=minimal", "respond-async", "handling=lenient", "wait=1", "x" * 500], .08), ("Realm-Min-Version", self.tokens, .04), ("Idempotency-Key", ["a", "b", "c" * 300], .03),
                                    ("Realm-Transaction", self.ids, .03), ("Realm-Skip", self.ids, .02), ("X-Request-Id", ["a", "\t", "x" * 300], .02), ("Last-Event-ID", self.tokens, .02), ("Expect", ["100-continue", "x"], .01)):
            if self.chance(share):
                fields[name] = self.pick(values)
        if body and self.chance(.03):
            fields["Content-Encoding"] = "gzip"
        return fields


KINDS = (["list"] * 12 + ["query"] * 8 + ["aggregate"] * 4 + ["object"] * 8 + ["property"] * 5 + ["create"] * 7 + ["change"] * 6 + ["delete"] * 2 + ["put"] * 2 + ["batch"] * 5
         + ["schema"] * 3 + ["migrate"] * 2 + ["changes"] * 3 + ["subscription"] * 2 + ["snapshot"] * 2 + ["transaction"] + ["transfer"] + ["realm"] * 2 + ["operations"] * 2)


def packed(body):
    return gzip.compress(body, 1)
