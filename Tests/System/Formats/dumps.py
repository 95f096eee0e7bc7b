#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports every fixture in each format and compares each value with the expected dump.

SQLite is read by Python. PostgreSQL runs in a folder of its own on a socket, as an unprivileged user; without it that part is left
out. Workbooks are read by openpyxl, and all their sheets by LibreOffice, where these are installed. CSV is imported again, and the
objects compared with those that it was made of. A table of what was compared comes at the end.

    dumps.py --server .build/debug/realm-rest --fixtures FOLDER [--only sqlite,postgresql,xlsx,office,csv] [NAME…]
"""
import argparse
import datetime
import gzip
import importlib.util
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import office
import postgres
import reimport
import values

FORMATS = ("sqlite", "postgresql", "xlsx", "office", "csv")
LISTS = ("list", "set")


class Tables:
    """The rows of a database by the names of its tables."""

    def __init__(self, rows, exact_zero):
        self.rows, self.exact_zero = rows, exact_zero


class Comparison:
    """Compares the tables of one fixture with its dump."""

    def __init__(self, dump, tables):
        self.schema = values.Schema(dump["classes"])
        self.tables = tables
        # PostgreSQL has no U+0000 in texts; docs/formats.md says what stands there.
        self.replaces_zero = tables.exact_zero
        self.replaced = 0
        self.count, self.failures = 0, []

    def fail(self, place, found, wanted):
        if len(self.failures) < 5:
            self.failures.append(f"{place}: {found!r:.200} instead of {wanted!r:.200}")

    def stored(self, wanted):
        """What a database can hold of a text."""
        if not self.replaces_zero or not isinstance(wanted, str) or "\0" not in wanted:
            return wanted
        self.replaced += 1
        return wanted.replace("\0", "\ufffd")

    def check(self, found, wanted, kind, place):
        self.count += 1
        if kind != "mixed":
            wanted = self.stored(wanted)
        if not values.same(found, wanted, kind, self.tables.exact_zero):
            self.fail(place, found, wanted)

    def run(self):
        for name, form in self.schema.classes.items():
            if form["objects"] is None:
                continue
            rows = self.tables.rows.get(name, [])
            found = {row[next(iter(row))]: row for row in rows}
            if len(rows) != len(form["objects"]) or len(found) != len(rows):
                self.fail(name, len(rows), len(form["objects"]))
            for item in form["objects"]:
                primary = item["values"].get(form["primaryKey"]) if form["primaryKey"] else None
                key = self.stored(self.schema.key(name, item["key"], primary))
                if key not in found:
                    self.fail(f"{name} {key!r}", None, "a row")
                    continue
                self.object(name, item["values"], found[key], key, f"{name} {key!r}")
        return self

    def object(self, name, wanted, row, key, place):
        columns = iter(list(row)[0 if self.schema.key_kind(name) == "primary" else 1:])
        form = self.schema.classes[name]
        if self.schema.key_kind(name) == "primary":
            next(columns)
        for p in form["properties"]:
            value, where = wanted[p["name"]], f"{place}.{p['name']}"
            if p["collection"] is None:
                if self.schema.key_kind(name) == "primary" and p["name"] == form["primaryKey"]:
                    self.check(row[next(iter(row))], values.scalar(value), p["type"], where)
                else:
                    self.value(row[next(columns)], value, p, where)
                continue
            table = self.collection(name, p["name"])
            elements = table.get(key, {})
            wanted_elements = dict(enumerate(value)) if p["collection"] in LISTS else {self.stored(at): each for at, each in value.items()}
            if elements.keys() != wanted_elements.keys():
                self.fail(where, sorted(elements, key=str)[:9], sorted(wanted_elements, key=str)[:9])
                continue
            for at, element in wanted_elements.items():
                self.value(elements[at], element, p, f"{where}[{at!r}]")

    def collection(self, name, property):
        """The elements of all objects: by owner, then by position or key."""
        # Long names are cut.
        wanted = f"{name}_{property}"
        found = next((t for t in self.tables.rows if t == wanted), None)
        if found is None:
            found = next(t for t in self.tables.rows if wanted.startswith(re.sub(r"_\d+$", "", t)) and t not in self.schema.classes
                         and len(t.encode()) > 55)
        cache = self.__dict__.setdefault("collections", {})
        if found not in cache:
            cache[found] = {}
            for row in self.tables.rows[found]:
                owner, at, value = list(row.values())
                cache[found].setdefault(owner, {})[at] = value
        return cache[found]

    def value(self, found, wanted, p, place):
        if isinstance(wanted, dict) and "$embedded" in wanted:
            inner = wanted["$embedded"]
            cache = self.__dict__.setdefault("embedded", {})
            if inner["class"] not in cache:
                cache[inner["class"]] = {row[next(iter(row))]: row for row in self.tables.rows[inner["class"]]}
            row = cache[inner["class"]].get(found)
            if row is None:
                return self.fail(place, found, "an embedded object")
            self.count += 1
            return self.object(inner["class"], inner["values"], row, found, place)
        if isinstance(wanted, dict) and "$link" in wanted and p["type"] == "object":
            inner = wanted["$link"]
            wanted = self.schema.key(inner["class"], inner["key"], inner.get("primaryKey"))
            return self.check(found, wanted, "key", place)
        if p["type"] == "mixed":
            wanted = values.mixed(wanted, self.schema)
        else:
            wanted = values.scalar(wanted)
        self.check(found, wanted, p["type"], place)


# SQLite


def read_sqlite(path):
    """Returns all tables, after the checks of SQLite itself."""
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    # Text that is not UTF-8 would have been stored as bytes.
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity"
    assert database.execute("PRAGMA foreign_key_check").fetchall() == [], "foreign keys"
    tables = {}
    for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        cursor = database.execute('SELECT * FROM "%s"' % name.replace('"', '""'))
        names = [column[0] for column in cursor.description]
        tables[name] = [dict(zip(names, row)) for row in cursor]
    database.close()
    return Tables(tables, exact_zero=False)


# Excel


def read_xlsx(path, dump):
    """Compares the cells of a workbook that are numbers, texts and truth values; returns the number of them and the failures."""
    import openpyxl
    book = openpyxl.load_workbook(path, read_only=True)
    count, failures = 0, []
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    for form in dump["classes"]:
        if form["objects"] is None or form["name"][:31] not in sheets:
            continue
        rows = list(sheets[form["name"][:31]].iter_rows(values_only=True))
        assert len(rows) == len(form["objects"]) + 1, (form["name"], len(rows), len(form["objects"]))
        shift = 0 if form["primaryKey"] else 1
        for row, item in zip(rows[1:], form["objects"]):
            for index, p in enumerate(form["properties"]):
                wanted = item["values"][p["name"]]
                found = row[index + shift] if index + shift < len(row) else None
                if p["collection"] or p["type"] not in ("int", "bool", "string", "double", "date") or isinstance(wanted, dict) and "$string" in wanted:
                    continue
                count += 1
                if not same_cell(found, wanted, p["type"]):
                    failures.append(f"{form['name']}.{p['name']} {item['key']}: {found!r:.100} instead of {wanted!r:.100}")
    return count, failures[:5]


def same_cell(found, wanted, kind):
    if wanted is None or wanted == "":
        return found is None or found == ""
    if kind == "date":
        if not isinstance(found, datetime.datetime):
            return found == values.scalar(wanted)
        # Rounded down, as a date at the end of 9999 has no later one.
        exact = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=wanted["$date"]["seconds"], microseconds=wanted["$date"]["nanoseconds"] // 1000)
        return abs(found - exact) < datetime.timedelta(milliseconds=2)
    if kind == "int":
        return int(found) == wanted and isinstance(found, str) == (abs(wanted) > 999_999_999_999_999)
    if kind == "double":
        return str(found).lower().startswith(str(wanted).lower()) if isinstance(wanted, str) else abs(float(found) - wanted) <= abs(wanted) * 1e-15
    if kind == "string":
        # openpyxl leaves the escapes of characters that XML cannot hold, and line ends are those of XML.
        text = re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), str(found))
        clean = lambda each: re.sub(r"[\0\ufffd\ufffe\uffff]", "?", each.replace("\r\n", "\n").replace("\r", "\n"))
        return clean(text) == clean(re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), wanted))
    return found == wanted


class Results:
    """What was compared, for the table at the end."""

    def __init__(self):
        self.rows, self.failed = {}, 0

    def add(self, name, format, count, failures, note=""):
        self.rows.setdefault(name, {})[format] = ("**" + str(len(failures)) + " wrong**" if failures else f"{count:,}") + note
        for failure in failures:
            print(f"{name} {format}: {failure}", flush=True)
        self.failed += bool(failures)

    def show(self, formats):
        titles = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "xlsx": "openpyxl", "office": "LibreOffice", "csv": "CSV and back"}
        print("| Fixture | " + " | ".join(titles[each] for each in formats) + " |")
        print("|---" * (len(formats) + 1) + "|")
        for name, found in sorted(self.rows.items()):
            print(f"| {name} | " + " | ".join(found.get(each, "") for each in formats) + " |")
        totals = [sum(int(re.sub(r"\D.*", "", row.get(each, "0").replace(",", "")) or 0) for row in self.rows.values()) for each in formats]
        print("| all values | " + " | ".join(f"{total:,}" for total in totals) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=".build/debug/realm-rest")
    parser.add_argument("--fixtures", default=reimport.harness.FIXTURES)
    parser.add_argument("--only", default=",".join(FORMATS))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.server = str(pathlib.Path(options.server).resolve())
    folder = pathlib.Path(options.fixtures)
    formats = [each for each in options.only.split(",") if is_there(each)]
    results, cluster = Results(), None
    try:
        with tempfile.TemporaryDirectory() as scratch:
            os.chmod(scratch, 0o755)
            scratch = pathlib.Path(scratch)
            (scratch / "key").write_text(bytes(range(64)).hex())
            if "postgresql" in formats:
                cluster = postgres.Cluster()
            again = reimport.Server(options.server, scratch / "data") if "csv" in formats else None
            books = {}
            for expected in sorted(folder.glob("*.expected.json*")):
                name = expected.name.split(".")[0]
                if not options.names or name in options.names:
                    one(name, expected, scratch, formats, options.server, cluster, again, books, results)
            if books:
                for name, (count, failures) in office.compare(books, scratch).items():
                    results.add(name, "office", count, failures)
            if again:
                again.end()
    finally:
        if cluster:
            cluster.stop()
    results.show(formats)
    return 1 if results.failed else 0


def is_there(format):
    """Whether the program is installed that reads a format; says so if not."""
    needed = {
        "postgresql": postgres.binaries(),
        "xlsx": importlib.util.find_spec("openpyxl"), "office": shutil.which("soffice"),
    }
    if needed.get(format, True):
        return True
    print(f"what reads {format} is not installed: it is left out")
    return False


def one(name, expected, scratch, formats, server, cluster, again, books, results):
    """Exports one fixture in all formats and compares them with its dump."""
    file = expected.parent / f"{name}.realm"
    if not file.exists():
        file = scratch / f"{name}.realm"
        with gzip.open(expected.parent / f"{name}.realm.gz") as packed, open(file, "wb") as plain:
            shutil.copyfileobj(packed, plain)
    dump = values.dump(expected)
    key = ["--key-file", scratch / "key"] if name.startswith("encrypted") else []

    def export(format):
        output = scratch / f"{name}.{format}"
        with open(output, "wb") as target:
            done = subprocess.run([server, "export", file, *key, "--format", format], stdout=target, stderr=subprocess.PIPE)
        if done.returncode:
            results.add(name, format, 0, [done.stderr.decode()[:500]])
            return None
        os.chmod(output, 0o644)
        return output

    for format in ("sqlite", "postgresql", "xlsx"):
        if format not in formats and not (format == "xlsx" and "office" in formats):
            continue
        output = export(format)
        if output is None:
            continue
        if format in formats:
            note, count, failures = "", 0, []
            try:
                count, failures, replaced = compare(format, output, dump, cluster, name)
                note = f" ({replaced} texts with U+FFFD)" if replaced else ""
            except AssertionError as refused:
                failures = [str(refused)[:500]]
            results.add(name, format, count, failures, note)
        if format == "xlsx" and "office" in formats:
            books[name] = (output, dump)
        else:
            output.unlink()
    if again:
        count, failures, left_out = again.compare(name, server, file, key, dump)
        results.add(name, "csv", count, failures, f" (without {', '.join(left_out)})" if left_out else "")


def compare(format, output, dump, cluster, name):
    """Compares an export with its dump; returns the numbers of values, the failures, and how many texts had a U+0000."""
    if format == "xlsx":
        return *read_xlsx(output, dump), 0
    tables = read_sqlite(output) if format == "sqlite" else Tables(cluster.load(output, "t_" + re.sub(r"\W", "_", name)), exact_zero=True)
    comparison = Comparison(dump, tables).run()
    return comparison.count, comparison.failures, comparison.replaced


if __name__ == "__main__":
    sys.exit(main())
