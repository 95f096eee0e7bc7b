#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of nodes are Realm files as any other: after random writes, changes of schemas and indexes, deletions, moves and kills the file
of a realm is copied out of its node, and a server by itself tells the same of it as the cluster. Every other realm is encrypted.

Each copy is verified, those of nodes that had a realm before as well, and what the log makes of the newest version is compared, too. With
--inspector a program that is not ours reads and checks all of them. With --keep the copies stay in a folder."""

import argparse
import collections
import http.client
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "System" / "Leaks"))

from cost import Alone
from fleet import Fleet
from fuzz import World
from nodes import call, until
from writers import owner


class Realm:
    """One realm with a random schema, and what is known of it."""

    def __init__(self, fleet, seed, key):
        self.fleet, self.name, self.world, self.random = fleet, f"copy{seed}", World(seed), random.Random(seed)
        self.keys, self.statuses = {name: [] for name in self.world.names}, collections.Counter()
        # Properties that migrations have added, by class, and how many there have been.
        self.added, self.version, self.serial = {name: [] for name in self.world.names}, 1, 0
        body = {"name": self.name, "schema": self.world.schema(), **({"encryptionKey": key} if key else {})}
        self.key = key
        until(lambda: self.ask("POST", "", body, path="/v1/realms")[0] in (201, 409),
              f"{self.name} is made")

    def ask(self, method, rest, body=None, path=None):
        """Asks the node that has the realm. Returns the status and the body."""
        status, answer = 0, b""
        for node in self.random.sample(self.fleet.nodes, len(self.fleet.nodes)):
            status, answer, _ = call(node, method, path or f"/v1/realms/{self.name}{rest}", body, seconds=20)
            if status != 421:
                break
        return status, answer

    def write(self, rest, body):
        """Sends a write until it is answered by the owner; a node that was killed is missed for some seconds."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                status, answer = self.ask("POST", rest, body)
            except (OSError, http.client.HTTPException):
                continue
            if status not in (421, 503):
                self.statuses[status] += 1
                return status, json.loads(answer)
            time.sleep(0.05)
        raise SystemExit(f"{self.name} cannot be written")

    def step(self):
        self.random.choices([self.batch, self.remove, self.migrate], [12, 3, 2])[0]()

    def batch(self):
        """Creates and changes some objects."""
        operations = [self.operation() for _ in range(self.random.randint(1, 8))]
        status, answer = self.write("/batch", {"ops": operations})
        if status == 200:
            for operation, result in zip(operations, answer["results"]):
                if "create" in operation:
                    self.keys[operation["create"]["class"]].append(result["key"])

    def operation(self):
        rnd, name = self.random, self.random.choice(self.world.names)
        self.world.random = rnd
        if not self.keys[name] or rnd.random() < 0.5:
            body = self.world.body(name, self.keys)
            if self.world.key_kinds[name]:
                self.serial += 1
                body["_id"] = self.serial if self.world.key_kinds[name] == "int" else f"k{self.serial}"
            return {"create": {"class": name, "body": {**body, **{one: self.text() for one in self.added[name]}}}}
        key = rnd.choice(self.keys[name])
        lists = [one for one in self.world.properties[name] if one.collection == "list" and one.kind in ("int", "string")]
        if lists and rnd.random() < 0.4:
            one = rnd.choice(lists)
            changes = [{"add": self.world.value(one.kind, self.keys)} for _ in range(rnd.randint(1, 9))]
            return {"list": {"class": name, "key": key, "property": one.name,
                             "ops": ([{"clear": True}] if rnd.random() < 0.1 else []) + changes}}
        members = self.world.body(name, self.keys)
        chosen = rnd.sample(sorted(members), rnd.randint(1, len(members)))
        return {"patch": {"class": name, "key": key, "body": {
            **{one: members[one] for one in chosen}, **{one: self.text() for one in self.added[name] if rnd.random() < 0.5}}}}

    def text(self):
        return "x" * self.random.choice([0, 3, 20, 200, 9000])

    def remove(self):
        name = self.random.choice(self.world.names)
        if len(self.keys[name]) < 5:
            return
        chosen = self.random.sample(self.keys[name], self.random.randint(1, 3))
        operations = [{"delete": {"class": name, "key": key}} for key in chosen]
        if self.write("/batch", {"ops": operations})[0] == 200:
            self.keys[name] = [key for key in self.keys[name] if key not in chosen]

    def migrate(self):
        """Adds, renames or removes a property, or changes an index."""
        rnd, name = self.random, self.random.choice(self.world.names)
        self.serial += 1
        fresh, added = f"x{self.serial}", self.added[name]
        kind = rnd.choice(["add", "add", "rename", "remove", "index", "index", "class"])
        if kind == "class":
            step = {"addClass": {"name": f"X{self.serial}", "properties": [
                {"name": "a", "type": "int"}, {"name": "b", "type": "object", "objectType": name, "optional": True}]}}
        elif kind == "index":
            step = {"setIndex": {"class": name, "name": rnd.choice(["n", "owner", *added]), "indexed": rnd.choice([None, "general"])}}
        elif kind == "add" or not added:
            kind = "add"
            step = {"addProperty": {"class": name, "property": {"name": fresh, "type": "string", "indexed": rnd.choice([None, "general"])},
                                    "value": rnd.choice(["", "word", "y" * 100])}}
        elif kind == "rename":
            step = {"renameProperty": {"class": name, "name": added[0], "to": fresh}}
        else:
            step = {"removeProperty": {"class": name, "name": added[0]}}
        status, answer = self.write(
            "/migrations", {"fromVersion": self.version, "toVersion": self.version + 1, "allowDataLoss": True, "steps": [step]})
        if status != 200:
            print(f"{self.name}: {status} {answer.get('code')} {answer.get('detail')} {step}", flush=True)
            return
        self.version += 1
        if kind in ("rename", "remove"):
            added.pop(0)
        if kind in ("rename", "add"):
            added.append(fresh)


def numbers(options):
    """The numbers of the realms, which are in their names."""
    return range(options.seed * 100, options.seed * 100 + options.realms)


def is_encrypted(name):
    """Whether a realm or a copy of it is encrypted: every other realm is."""
    return int(name.removeprefix("copy").split("-")[0]) % 2 == 1


def export(place, realm):
    """What a server tells of a realm: the schema, the number of the version, and every object."""
    status, body, _ = call(place, "GET", f"/v1/realms/{realm}/export", seconds=60)
    if status != 200:
        return None
    first, *lines = body.split(b"\n")
    begin = json.loads(first)["$begin"]
    # The beginning of a token is that of the server.
    begin["version"] = begin["version"].split(".")[1]
    return begin, lines


def check(command, what):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{what}: {done.stdout[-500:]} {done.stderr[-500:]}", flush=True)
    return done.returncode == 0


def compare(fleet, realms, options, folder):
    """Copies all files, and returns how many were made and what is wrong with them."""
    copies, wrong = folder / "copies", []
    copies.mkdir()
    expected, files = {}, []
    for realm in realms:
        node = owner(fleet.nodes, realm.name)
        expected[realm.name] = export(node, realm.name)
        for one in fleet.nodes:
            file = one.folder / f"{realm.name}.realm"
            if file.exists():
                files.append(copies / (f"{realm.name}.realm" if one is node else f"{realm.name}-{one.name}.realm"))
                shutil.copyfile(file, files[-1])
        restored = copies / f"{realm.name}-log.realm"
        version = json.loads(call(node, "GET", f"/v1/realms/{realm.name}")[1])["version"].split(".")[1]
        fleet.tell("restore", realm.name, str(restored), "--at", version, *([f"--key-file={options.key}"] if realm.key else []))
        files.append(restored)
    for file in files:
        key = is_encrypted(file.stem)
        if (file.read_bytes()[16:20] != b"T-DB") != key:
            wrong.append(f"{file.name} is {'not ' if key else ''}encrypted")
        if not check([fleet.server, "verify", str(file), *([f"--key-file={options.key}"] if key else [])], file.name):
            wrong.append(f"{file.name} is not sound")
        if options.inspector and not check(
                [sys.executable, options.inspector, "verify", str(file), *(["--key", options.key.read_text()] if key else [])], file.name):
            wrong.append(f"{file.name} is not sound for the inspector")
    single = Alone(fleet.server, folder / "alone", files, [f"--key={file.stem}={options.key}" for file in files if is_encrypted(file.stem)])
    try:
        for name, told in expected.items():
            for copy in (name, f"{name}-log"):
                if export(single.port, copy) != told:
                    wrong.append(f"{copy} tells something else than the cluster")
    finally:
        single.process.kill()
        single.process.wait()
    return len(files), wrong


def play(fleet, options, folder):
    chance = random.Random(options.seed)
    realms = [Realm(fleet, number, options.key.read_text() if is_encrypted(f"copy{number}") else None) for number in numbers(options)]
    for count in range(1, options.writes + 1):
        chance.choice(realms).step()
        if chance.random() < 0.05:
            fleet.tell("move", f"realm:{chance.choice(realms).name}", chance.choice(fleet.nodes).name)
        if count % 150 == 0:
            node = chance.choice(fleet.nodes)
            node.kill()
            node.start(60)
    statuses = sum((realm.statuses for realm in realms), collections.Counter())
    count, wrong = compare(fleet, realms, options, folder)
    objects = sum(len(keys) for realm in realms for keys in realm.keys.values())
    print(f"seed {options.seed}: {options.realms} realms, {sum(statuses.values())} writes by status {dict(statuses)}, {objects} objects, "
          f"schema versions {[realm.version for realm in realms]}; {count} copies, {len(wrong)} wrong: {wrong}", flush=True)
    return not wrong and statuses[200] > options.writes / 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--realms", type=int, default=4)
    parser.add_argument("--writes", type=int, default=500)
    parser.add_argument("--inspector", help="a program that verifies files")
    parser.add_argument("--keep", help="a folder for the copies")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="copies-"))
    folder.chmod(0o755)
    fleet, is_right = None, False
    try:
        options.key = folder / "key"
        options.key.write_text(random.Random(options.seed).randbytes(64).hex())
        keys = [f"--key=copy{number}={options.key}" for number in numbers(options) if number % 2]
        fleet = Fleet(str(Path(options.server).resolve()), folder, 0, keys)
        is_right = play(fleet, options, folder)
        if options.keep:
            shutil.copytree(folder / "copies", options.keep, dirs_exist_ok=True)
            shutil.copy(options.key, options.keep)
    finally:
        if fleet is not None:
            fleet.end()
        if is_right:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"files and logs are in {folder}", flush=True)
    return not is_right


if __name__ == "__main__":
    sys.exit(main())
