#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a realm for measuring queries on links and collections, through a server that it starts.

    python3 Tests/System/Bench/linked.py --server .build-release/release/realm-rest --out linked.realm [--objects 1000000]

The realm has the classes City, Person and Place. Each person lives in one of 1,000 cities, has a boss and up to three friends among those
made before, tags, scores, attributes, a mixed value, a text with a full-text index, and a place. The same seed makes the same contents.
`Tests/System/Bench/linked-queries.txt` has the queries; `RealmBenchmarks --queries` measures them.
"""
import argparse
import json
import os
import random
import shutil
import tempfile

from serving import Client, Server

CITIES = 1000
WORDS = ("harbor river mountain bridge garden window silver copper winter summer letter answer corner market castle valley island "
         "forest desert meadow engine signal thread branch harvest").split()
COLORS = ["red", "green", "blue", "black", "white", "grey"]


def has(name, type, **more):
    return dict(name=name, type=type, **more)


SCHEMA = {"classes": [
    {"name": "City", "primaryKey": "id", "properties": [has("id", "int"), has("name", "string"), has("size", "int")]},
    {"name": "Place", "type": "embedded", "properties": [has("type", "string"), has("coordinates", "double", collection="list")]},
    {"name": "Person", "primaryKey": "id", "properties": [
        has("id", "int"), has("name", "string"), has("age", "int"), has("city", "object", objectType="City"),
        has("boss", "object", objectType="Person"), has("friends", "object", objectType="Person", collection="list"),
        has("tags", "string", collection="list"), has("scores", "int", collection="list"),
        has("attributes", "string", collection="dictionary"), has("misc", "mixed"), has("about", "string", indexed="fulltext"),
        has("place", "object", objectType="Place")]}]}


def mixed(key, dice):
    return [None, dice.randrange(100), dice.random() * 100, f"text {dice.randrange(100)}", True,
            {"$date": f"2020-01-{1 + key // 6 % 28:02}T00:00:00Z"}][key % 6]


def person(key, dice):
    return {
        "id": key, "name": f"name of {key}", "age": dice.randrange(100), "city": dice.randrange(CITIES),
        "boss": dice.randrange(key) if key else None,
        "friends": [dice.randrange(key) for _ in range(dice.randrange(4))] if key else [],
        "tags": [f"tag {dice.randrange(200)}" for _ in range(dice.randrange(4))],
        "scores": [dice.randrange(100) for _ in range(dice.randrange(5))],
        "attributes": {color: f"v{dice.randrange(10)}" for color in dice.sample(COLORS, dice.randrange(3))},
        "misc": mixed(key, dice), "about": " ".join(dice.choice(WORDS) for _ in range(6)),
        "place": {"type": "Point", "coordinates": [round(dice.uniform(-180, 180), 4), round(dice.uniform(-80, 80), 4)]}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the program that makes the realm")
    parser.add_argument("--out", required=True, help="the file to make")
    parser.add_argument("--objects", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(options.out))) as folder:
        server = Server(options.server, folder)
        try:
            client = Client(server.port)

            def send(target, body, media):
                client.send("POST", "/v1/realms" + target, body, media)

            def lines(rows):
                return "\n".join(map(json.dumps, rows))

            send("", json.dumps({"name": "linked", "schema": SCHEMA}), "application/json")
            cities = ({"id": key, "name": f"city {key}", "size": key % 50} for key in range(CITIES))
            send("/linked/import?class=City", lines(cities), "application/x-ndjson")
            dice = random.Random(7)
            for first in range(0, options.objects, 100_000):
                keys = range(first, min(options.objects, first + 100_000))
                send("/linked/import?class=Person", lines(person(key, dice) for key in keys), "application/x-ndjson")
        finally:
            server.end()
        shutil.move(os.path.join(folder, "linked.realm"), options.out)


if __name__ == "__main__":
    main()
