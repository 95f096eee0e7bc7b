#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the lines of a realm with many simple objects, for trials of the grid.

    python3 Tests/System/Console/million.py 1000000 > million.ndjson; realm-rest import million.ndjson million.realm
"""

import json
import sys

KINDS = ("open", "packed", "sent", "delivered", "returned")
PROPERTIES = [("id", "int"), ("name", "string"), ("kind", "string"), ("amount", "double"), ("count", "int"), ("at", "date"), ("active", "bool")]


def lines(count):
    properties = [
        {"name": name, "type": kind, "collection": None, "optional": False, "indexed": "general" if name == "kind" else None, "objectType": None}
        for name, kind in PROPERTIES]
    yield json.dumps({"$begin": {"format": 1, "schema": {"schemaVersion": 1, "classes": [
        {"name": "Item", "type": "object", "primaryKey": "id", "properties": properties, "backlinks": []}]}}})
    meta = '{"$meta":{"class":"Item","key":"%d"},"id":%d,"name":"Item %07d","kind":"%s","amount":%.2f,"count":%d,"at":"2026-%02d-%02dT%02d:%02d:00Z","active":%s}'
    for i in range(count):
        mixed = (i * 2654435761) & 0xFFFFFFFF
        yield meta % (i, i, i, KINDS[mixed % 5], mixed % 1000000 / 100, mixed % 977, 1 + mixed % 12, 1 + mixed % 28, mixed % 24, mixed % 60,
                      "true" if mixed & 1024 else "false")
    yield json.dumps({"$end": {"objects": count}})


if __name__ == "__main__":
    sys.stdout.writelines(line + "\n" for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
