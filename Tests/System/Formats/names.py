#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports classes whose names and properties databases know as their own, and reads them with SQLite and PostgreSQL.

    names.py --server .build/debug/realm-rest
"""
import argparse
import json
import os
import pathlib
import sqlite3
import sys
import tempfile

import postgres
import reimport

INTS = ("oid", "ctid", "sqlite_x", "Oid", "group", "select", 'a"b', "tableoid")
CLASSES = [
    {"name": "Odd", "primaryKey": "rowid", "properties": [
        {"name": "rowid", "type": "string"}, {"name": "_rowid_", "type": "string"}, *({"name": name, "type": "int"} for name in INTS),
        {"name": "next", "type": "object", "objectType": "Odd"}]},
    {"name": "rowid", "primaryKey": "oid", "properties": [{"name": "oid", "type": "int"}, {"name": "rowid", "type": "int"}]},
    {"name": "table", "properties": [{"name": "oid", "type": "int"}]},
]
OBJECTS = {
    "Odd": [{"rowid": "a", "_rowid_": "b", **{name: index for index, name in enumerate(INTS)}, "next": {"$link": {"class": "Odd", "key": "a"}}}],
    "rowid": [{"oid": 5, "rowid": 6}, {"oid": 1, "rowid": 2}], "table": [{"oid": 9}],
}
# What both have of their own is numbered: PostgreSQL its columns, and both what differs by case alone.
COLUMNS = {"ctid": "ctid_2", "Oid": "Oid_2", "tableoid": "tableoid_2"}
EXPECTED = {
    "Odd": [{"rowid": "a", "_rowid_": "b", **{COLUMNS.get(name, name): index for index, name in enumerate(INTS)}, "next": "a"}],
    "rowid": [{"oid": 1, "rowid": 2}, {"oid": 5, "rowid": 6}], "table": [{"_key": 0, "oid": 9}],
}


def of_sqlite(data, folder):
    """The rows of all tables of a database."""
    file = folder / "odd.sqlite"
    file.write_bytes(data)
    database = sqlite3.connect(file)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    found = {}
    for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        rows = database.execute('SELECT * FROM "%s"' % name)
        found[name] = [dict(zip([column[0] for column in rows.description], row)) for row in rows]
    # The export says which column has which property.
    changed = {row["property"]: row["column"] for row in found.pop("_realm_names") if row["property"] not in (None, row["column"])}
    assert changed == COLUMNS, changed
    return found


def of_postgresql(script, folder):
    """The rows of all tables that a script makes."""
    file = folder / "odd.sql"
    file.write_bytes(script)
    os.chmod(folder, 0o755)
    os.chmod(file, 0o644)
    cluster = postgres.Cluster()
    try:
        return cluster.load(file, "odd")
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=".build/debug/realm-rest")
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        server = reimport.Server(str(pathlib.Path(options.server).resolve()), folder / "data")
        status, said = server.send("POST", "/v1/realms", json.dumps({"name": "odd", "schema": {"schemaVersion": 0, "classes": CLASSES}}).encode())
        assert status == 201, said
        for name, objects in OBJECTS.items():
            status, said = server.send("POST", f"/v1/realms/odd/objects/{name}", json.dumps(objects).encode())
            assert status in (200, 201), said
        for format, read in (("sqlite", of_sqlite), ("postgresql", of_postgresql)):
            if format == "postgresql" and postgres.binaries() is None:
                continue
            status, data = server.send("GET", f"/v1/realms/odd/export?format={format}")
            assert status == 200, data
            found = {name: sorted(rows, key=str) for name, rows in read(data, folder).items()}
            if found != EXPECTED:
                failures.append(f"{format}: {found}")
            print(f"odd names in {format}: {'kept' if found == EXPECTED else 'not as expected'}")
        server.end()
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
