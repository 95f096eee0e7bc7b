#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports every fixture as a database and compares each value with the expected dump.

SQLite is read by Python. PostgreSQL runs in a folder of its own on a socket, as an unprivileged user; without it that part is left
out. Workbooks are read by openpyxl and opened by LibreOffice where these are installed.

    dumps.py --server .build/debug/realm-rest --fixtures FOLDER [--only sqlite,postgresql,xlsx] [NAME…]
"""
import argparse
import datetime
import gzip
import importlib.util
import json
import os
import pathlib
import pwd
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import values

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


# PostgreSQL


class Cluster:
    """A private cluster of PostgreSQL on a socket in a temporary folder."""

    def __init__(self, binaries):
        self.binaries = pathlib.Path(binaries)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="realm-rest-pg-"))
        self.user = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "nobody")
        self.run("initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o",
                 f"-c listen_addresses= -k {self.folder} -c fsync=off -c timezone=UTC", "start")

    def run(self, name, *arguments):
        subprocess.run([self.binaries / name, *arguments], check=True, stdout=subprocess.DEVNULL, cwd="/", **self.user)

    def sql(self, database, *arguments, **options):
        return subprocess.run(["psql", "-X", "-q", "-h", self.folder, "-U", "tester", "-v", "ON_ERROR_STOP=1", *arguments, database],
                              capture_output=True, cwd="/", **options)

    def load(self, script, name):
        """Runs a script in a new database; returns its tables."""
        self.sql("postgres", "-c", f'CREATE DATABASE "{name}"')
        done = self.sql(name, "-f", script)
        assert done.returncode == 0, done.stderr.decode()[:2000]
        listed = self.sql(name, "-At", "-F", "\t", "-c", "SELECT table_name, column_name, data_type FROM information_schema.columns "
                          "WHERE table_schema = 'public' ORDER BY table_name, ordinal_position").stdout.decode()
        columns = {}
        for line in listed.splitlines():
            table, column, kind = line.split("\t")
            columns.setdefault(table, []).append((column, kind))
        tables = {table: [] for table in columns}
        for table, forms in columns.items():
            quoted = table.replace('"', '""')
            text = self.sql(name, "-c", f'COPY "{quoted}" TO STDOUT').stdout.decode()
            for line in text.split("\n")[:-1]:
                cells = [cell(*each) for each in zip(line.split("\t"), (kind for _, kind in forms))]
                row, index = {}, 0
                while index < len(forms):
                    column, kind = forms[index]
                    if kind == "timestamp with time zone":
                        row[column] = cells[index] if cells[index + 1] is None else cells[index + 1]
                        index += 2
                    else:
                        row[column] = cells[index]
                        index += 1
                tables[table].append(row)
        self.sql("postgres", "-c", f'DROP DATABASE "{name}"')
        return Tables(tables, exact_zero=True)

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def cell(text, kind):
    """Reads what COPY writes for a value."""
    if text == "\\N":
        return None
    text = re.sub(r"\\(.)", lambda match: ESCAPES[match[1]], text)
    if kind == "bigint":
        return int(text)
    if kind == "boolean":
        return text == "t"
    if kind in ("real", "double precision"):
        return float(text)
    if kind == "bytea":
        return bytes.fromhex(text[2:])
    if kind == "timestamp with time zone":
        return text.replace(" ", "T").replace("+00", "Z")
    return text


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
        exact = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=wanted["$date"]["seconds"], microseconds=wanted["$date"]["nanoseconds"] / 1000)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=".build/debug/realm-rest")
    parser.add_argument("--fixtures", default=str(pathlib.Path(__file__).resolve().parents[3] / "shared/fixtures"))
    parser.add_argument("--only", default="sqlite,postgresql,xlsx")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = pathlib.Path(options.fixtures)
    if not folder.is_dir():
        print("the fixtures are not here: dumps are not compared")
        return 0
    wanted = options.only.split(",")
    binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin")) if shutil.which("psql") else []
    cluster = Cluster(binaries[-1]) if "postgresql" in wanted and binaries else None
    if "postgresql" in wanted and cluster is None:
        print("PostgreSQL is not here: its dumps are not loaded")
    sheets = "xlsx" in wanted and importlib.util.find_spec("openpyxl") is not None
    totals, failed = {}, 0
    try:
        with tempfile.TemporaryDirectory() as scratch:
            os.chmod(scratch, 0o755)
            scratch = pathlib.Path(scratch)
            (scratch / "key").write_text(bytes(range(64)).hex())
            for expected in sorted(folder.glob("*.expected.json*")):
                name = expected.name.split(".")[0]
                if options.names and name not in options.names:
                    continue
                file = folder / f"{name}.realm"
                if not file.exists():
                    file = scratch / f"{name}.realm"
                    with gzip.open(folder / f"{name}.realm.gz") as packed, open(file, "wb") as plain:
                        shutil.copyfileobj(packed, plain)
                dump = values.dump(expected)
                for format in ("sqlite", "postgresql", "xlsx"):
                    if format not in wanted or format == "postgresql" and cluster is None or format == "xlsx" and not sheets:
                        continue
                    output = scratch / f"{name}.{format}"
                    key = ["--key-file", scratch / "key"] if name.startswith("encrypted") else []
                    with open(output, "wb") as target:
                        done = subprocess.run([options.server, "export", file, *key, "--format", format], stdout=target, stderr=subprocess.PIPE)
                    if done.returncode:
                        print(f"{name} {format}: {done.stderr.decode()[:500]}")
                        failed += 1
                        continue
                    os.chmod(output, 0o644)
                    try:
                        count, failures = compare(format, output, dump, cluster, name)
                    except AssertionError as refused:
                        count, failures = 0, [str(refused)[:500]]
                    files, total = totals.get(format, (0, 0))
                    totals[format] = (files + 1, total + count)
                    for failure in failures:
                        print(f"{name} {format}: {failure}")
                    failed += bool(failures)
                    output.unlink()
            if sheets and shutil.which("soffice") and not options.names:
                failed += not opens_in_office(options.server, folder, scratch)
    finally:
        if cluster:
            cluster.stop()
    for format, (files, count) in totals.items():
        print(f"{format}: {files} files, {count} values compared")
    return 1 if failed else 0


def compare(format, output, dump, cluster, name):
    """Compares an export with its dump; returns the number of values and the failures."""
    if format == "xlsx":
        return read_xlsx(output, dump)
    tables = read_sqlite(output) if format == "sqlite" else cluster.load(output, "t_" + re.sub(r"\W", "_", name))
    comparison = Comparison(dump, tables).run()
    if comparison.replaced:
        print(f"{name} {format}: U+0000 was replaced {comparison.replaced} times")
    return comparison.count, comparison.failures


def opens_in_office(server, folder, scratch):
    """Whether LibreOffice opens a workbook and finds all rows."""
    book = scratch / "Order.xlsx"
    subprocess.run([server, "export", folder / "store.realm", "--format", "xlsx", "--class", "Order", "--output", book], check=True)
    subprocess.run(["soffice", f"-env:UserInstallation=file://{scratch}/office", "--headless", "--convert-to", "csv", "--outdir", scratch, book],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=240)
    import csv
    rows = list(csv.reader(open(scratch / "Order.csv", encoding="utf-8", errors="replace")))
    wanted = next(form for form in json.load(open(folder / "store.expected.json"))["classes"] if form["name"] == "Order")["count"]
    print(f"LibreOffice: {len(rows) - 1} rows of {wanted}")
    return len(rows) - 1 == wanted


if __name__ == "__main__":
    sys.exit(main())
