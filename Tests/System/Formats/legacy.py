#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves every file of formats 2 to 11 as a private copy and upgraded in place, and compares each value with the expected dump.

The objects are read in pages, links are followed, and numbers are counted and sorted by the server as well as here. The copy leaves the
bytes of the file as they are, and makes no file beside it.

    legacy.py --server .build/debug/realm-rest --fixtures FOLDER [NAME…]
"""
import argparse
import base64
import gzip
import json
import pathlib
import sys
import tempfile
import urllib.parse

import reimport
import values

DEFAULT_KEY = bytes(range(64)).hex()


class Comparison:
    """Compares a realm of a server with a dump."""

    def __init__(self, server, realm, dump):
        self.server, self.realm, self.dump = server, realm, dump
        self.schema = values.Schema(dump["classes"])
        self.count, self.failures = 0, []

    def check(self, equal, place, found, wanted):
        self.count += 1
        if not equal and len(self.failures) < 5:
            self.failures.append(f"{place}: {found!r:.150} instead of {wanted!r:.150}")

    def get(self, path, **params):
        text = "?" + urllib.parse.urlencode(params) if params else ""
        status, body = self.server.send("GET", f"/v1/realms/{self.realm}/{path}{text}")
        if status != 200:
            raise ValueError(f"{status} {path}{text}: {body[:300]!r}")
        return json.loads(body)

    def run(self):
        schema = {each["name"]: each for each in self.get("schema")["classes"]}
        self.check(set(schema) == set(self.schema.classes), "classes", sorted(schema), sorted(self.schema.classes))
        self.check(self.get("schema").get("schemaVersion") == self.dump["schemaVersion"], "schema version", "", self.dump["schemaVersion"])
        for name, form in self.schema.classes.items():
            self.check(schema[name].get("primaryKey") == form["primaryKey"], f"{name}: primary key", schema[name].get("primaryKey"), form["primaryKey"])
            found = [(p["name"], p["type"], p.get("collection"), bool(p.get("optional"))) for p in schema[name]["properties"]]
            wanted = [(p["name"], p["type"], p.get("collection"), bool(p.get("optional"))) for p in form["properties"]]
            self.check(found == wanted, f"{name}: properties", found, wanted)
            if form["objects"] is not None:
                self.objects(name, form)
                self.queries(name, form)

    def objects(self, name, form):
        items, after = [], {}
        while True:
            page = self.get(f"objects/{urllib.parse.quote(name, safe='')}", limit=500, count="exact", **after)
            items += page["items"]
            if not page.get("next"):
                break
            after = {"after": page["next"]}
        self.check(page["count"] == len(items) == form["count"], f"{name}: objects", (page["count"], len(items)), form["count"])
        for item, wanted in zip(items, form["objects"]):
            primary = wanted["values"].get(form["primaryKey"]) if form["primaryKey"] else None
            place = f"{name} {wanted['key']}"
            self.check(item["$meta"]["key"] == self.schema.stub_key(name, wanted["key"], primary), f"{place}: key", item["$meta"]["key"], primary)
            for each in form["properties"]:
                self.value(item.get("$" * each["name"].startswith("$") + each["name"]), wanted["values"][each["name"]], each, f"{place}.{each['name']}")

    def value(self, found, wanted, form, place):
        if form.get("collection") == "list":
            if not isinstance(found, list) or len(found) != len(wanted):
                return self.check(False, place, found, wanted)
            for index, (one, other) in enumerate(zip(found, wanted)):
                self.single(one, other, form, f"{place}[{index}]")
        else:
            self.single(found, wanted, form, place)

    def single(self, found, wanted, form, place):
        if wanted is None or found is None:
            return self.check(wanted is None and found is None, place, found, wanted)
        if form["type"] in ("mixed", "object"):
            expected = values.mixed(wanted, self.schema)
            return self.check(values.same_json(found, expected), place, found, expected)
        expected = values.scalar(wanted)
        if form["type"] == "data":
            found = base64.b64decode(found)
        if form["type"] == "date" and isinstance(found, dict):
            found = json.dumps(found, separators=(",", ":"))
        if form["type"] in ("float", "double") and isinstance(expected, str):
            return self.check(str(found).strip() in (expected, expected.replace("inity", "")), place, found, expected)
        self.check(values.same(found, expected, form["type"], True), place, found, expected)

    def queries(self, name, form):
        """Counts and sorts by each property of whole numbers and of texts."""
        path = f"objects/{urllib.parse.quote(name, safe='')}"
        for each in form["properties"]:
            if each.get("collection") or each["type"] not in ("int", "string") or not form["objects"]:
                continue
            if not all(c.isalnum() or c == "_" for c in each["name"]) or not each["name"].isascii() or not each["name"][0].isalpha():
                continue
            column = [one["values"][each["name"]] for one in form["objects"]]
            if any(isinstance(value, dict) or isinstance(value, str) and len(value) > 500 for value in column):
                continue
            for value in {column[0], column[len(column) // 2], column[-1]}:
                page = self.get(path, where=f"{each['name']} == $0", args=json.dumps([value]), limit=0, count="exact")
                self.check(page["count"] == column.count(value), f"{name}.{each['name']} == {value!r:.40}", page["count"], column.count(value))
            if each["type"] == "int" and len(column) <= 1000:
                page = self.get(path, sort=each["name"], limit=1000, fields=each["name"], meta="none")
                wanted = sorted(column, key=lambda value: (value is not None, value or 0))
                found = [one[each["name"]] for one in page["items"]]
                self.check(found == wanted, f"{name}: sorted by {each['name']}", found, wanted)


def trial(server, folder, path, keys):
    """Compares a file in both ways; returns the number of values and what differs."""
    name = path.name.removesuffix(".gz").removesuffix(".realm")
    dump = values.dump(next(one for one in (path.parent / f"{name}.expected.json", path.parent / f"{name}.expected.json.gz") if one.exists()))
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    key = {"encryptionKey": keys.get(name, DEFAULT_KEY)} if "encrypted" in name else {}
    count, failures = 0, []
    for number, options in enumerate(({"mode": "copy"}, {"upgrade": "in-place"})):
        place = folder / str(number)
        place.mkdir()
        file = place / "old.realm"
        file.write_bytes(data)
        body = {"name": "old", "path": str(file), **key, **options}
        status, answer = server.send("POST", "/v1/realms", json.dumps(body).encode())
        if status == 422 and "upgrade" in options and b"synchronized" in answer:
            if file.read_bytes() != data:
                failures.append("a synchronized file was changed")
        elif status != 201:
            failures.append(f"{options}: {status} {answer[:200]!r}")
        else:
            document = json.loads(answer)
            comparison = Comparison(server, "old", dump)
            try:
                comparison.run()
            except (ValueError, KeyError) as error:
                comparison.failures.append(repr(error)[:300])
            failures += [f"{options}: {each}" for each in comparison.failures]
            count += comparison.count
            server.send("DELETE", "/v1/realms/old")
            if "mode" in options or document["mode"] == "ro":
                if file.read_bytes() != data or ("mode" in options and [each.name for each in place.iterdir()] != ["old.realm"]):
                    failures.append(f"{options}: the file was changed, or others made")
            elif dump["fileFormat"] and (place / document.get("backup", "?")).read_bytes() != data:
                failures.append("the copy before the upgrade differs")
        for each in place.iterdir():
            each.unlink()
        place.rmdir()
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--fixtures", default=reimport.harness.OLD_FIXTURES, type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    keyfile = options.fixtures / "keys.json"
    keys = json.loads(keyfile.read_text()) if keyfile.exists() else {}
    files = sorted(path for path in options.fixtures.iterdir() if path.name.endswith((".realm", ".realm.gz")))
    files = [path for path in files if not options.names or any(path.name.startswith(name) for name in options.names)]
    total, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="realm-rest-legacy-") as name:
        folder = pathlib.Path(name)
        server = reimport.Server(options.server, folder / "data")
        try:
            (folder / "data" / "files").mkdir()
            for path in files:
                count, failures = trial(server, folder / "data" / "files", path, keys)
                total += count
                failed += bool(failures)
                for each in failures:
                    print(f"{path.name}: {each}")
        finally:
            server.end()
    print(f"{len(files)} files, {total} values and counts compared, {failed} files differ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
