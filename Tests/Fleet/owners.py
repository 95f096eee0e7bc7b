#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two nodes and one realm that is written all the time, whose owner is moved back and forth, and is paused until the other one has taken
over and then goes on.

Each write makes an object of its own. In the end every one that was acknowledged has to be there, and none that was refused."""

import argparse
import http.client
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from fleet import REFUSED, SCHEMA, Fleet
from nodes import call, until

REALM = "fence"


class Writer(threading.Thread):
    """Makes objects at one node first, and at the other one when that does not have the realm."""

    def __init__(self, fleet, number):
        super().__init__(daemon=True)
        self.nodes, self.number, self.stopped = fleet.nodes, number, False
        self.acknowledged, self.refused, self.unknown, self.codes = set(), set(), set(), {}

    def run(self):
        count, node = 0, self.nodes[self.number % len(self.nodes)]
        while not self.stopped:
            count += 1
            key = f"{self.number}-{count}"
            outcome = self.write(node, key)
            getattr(self, outcome).add(key)
            if outcome != "acknowledged":
                node = self.nodes[(self.nodes.index(node) + 1) % len(self.nodes)]
                time.sleep(0.01)

    def write(self, node, key):
        """Makes one object, and returns what is known of that."""
        try:
            status, answer, _ = call(node, "POST", f"/v1/realms/{REALM}/objects/Item", {"_id": key, "value": "", "list": []}, seconds=4)
        except (OSError, http.client.HTTPException):
            return "unknown"
        code = "written" if status == 201 else json.loads(answer).get("code")
        self.codes[code] = self.codes.get(code, 0) + 1
        return "acknowledged" if status == 201 else "refused" if code in REFUSED else "unknown"


def owner(fleet):
    """The node that has the realm; the nodes are asked anew until one has."""
    found = []

    def is_found():
        found[:] = [node for node in fleet.nodes if call(node, "GET", f"/v1/realms/{REALM}", seconds=2)[0] == 200]
        return len(found) == 1
    until(is_found, "one node has the realm")
    return found[0]


def pause_owner(fleet, seconds):
    """Stops the owner until the other node has the realm and for some time more, and lets it go on."""
    old = owner(fleet)
    new = next(node for node in fleet.nodes if node is not old)
    old.pause()
    try:
        until(lambda: call(new, "GET", f"/v1/realms/{REALM}", seconds=2)[0] == 200, "the other node has the realm", 30)
        time.sleep(seconds)
    finally:
        old.resume()


def keys(fleet):
    """The keys of all objects, page by page, as the log has them."""
    node, found, after = owner(fleet), [], ""
    while after is not None:
        status, body, _ = call(node, "GET", f"/v1/realms/{REALM}/objects/Item?limit=1000&fields=_id{after}", None, {"Realm-Read": "linear"})
        assert status == 200, (status, body[:300])
        page = json.loads(body)
        found += [row["_id"] for row in page["items"]]
        after = "&after=" + page["next"] if page["next"] else None
    return found


def play(fleet, options):
    until(lambda: any(call(node, "POST", "/v1/realms", {"name": REALM, "schema": SCHEMA})[0] == 201 for node in fleet.nodes),
          "the realm is made")
    chance, writers, moves, pauses = random.Random(options.seed), [Writer(fleet, number) for number in range(4)], 0, 0
    for writer in writers:
        writer.start()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.1, 1))
        if chance.random() < 0.8:
            old = owner(fleet)
            fleet.tell("move", f"realm:{REALM}", next(node.name for node in fleet.nodes if node is not old))
            moves += 1
        else:
            pause_owner(fleet, chance.uniform(0, 1))
            pauses += 1
    time.sleep(1)
    for writer in writers:
        writer.stopped = True
    for writer in writers:
        writer.join(30)
    return judge(fleet, writers, f"seed {options.seed}: {moves} moves, {pauses} pauses of the owner")


def judge(fleet, writers, what):
    def of_all(name):
        return set().union(*(getattr(writer, name) for writer in writers))
    there = keys(fleet)
    acknowledged, refused, unknown = of_all("acknowledged"), of_all("refused"), of_all("unknown")
    lost, uninvited, twice = acknowledged - set(there), set(there) - acknowledged - unknown, len(there) - len(set(there))
    codes = {}
    for writer in writers:
        for code, count in writer.codes.items():
            codes[code] = codes.get(code, 0) + count
    sound = "is sound" in fleet.tell("verify", REALM)
    print(f"{what}; " + ", ".join(f"{count} {code}" for code, count in sorted(codes.items(), key=lambda pair: -pair[1])))
    print(f"{len(acknowledged)} writes acknowledged, {len(lost)} of them lost; {len(refused)} refused, {len(uninvited)} of them there; "
          f"{len(unknown)} unknown, {len(unknown & set(there))} of them there; {twice} there twice; the log is {'' if sound else 'NOT '}sound",
          flush=True)
    return not lost and not uninvited and not twice and sound and len(acknowledged) > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="owners-"))
    folder.chmod(0o755)
    fleet, is_right = None, False
    try:
        fleet = Fleet(str(Path(options.server).resolve()), folder, 2, count=2)
        is_right = play(fleet, options)
    finally:
        if fleet is not None:
            fleet.end()
        if is_right:
            shutil.rmtree(folder, ignore_errors=True)
    return not is_right


if __name__ == "__main__":
    sys.exit(main())
