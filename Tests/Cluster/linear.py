#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cluster under bad luck, judged by a checker that is not ours.

Three nodes, a PostgreSQL with two standbys of which one has to have each commit, and five clients that write, read, swap and append in
some realms while nodes are killed, paused and cut off, shards move, and the log is killed or fails over. Every run is one history, and
porcupine says whether it could have happened on a single copy. A write whose answer did not come may have happened or not; one that
was refused must not have. Afterwards everything is read once more, and the log of each realm is verified.

Run by root, nodes and servers of the log are on machines of their own (machines.py): packets are lost one way or both, between nodes, log
and clients, wall clocks jump by an hour, disks are full, and a primary lives on when another one has taken its place. Otherwise, and with
--links, nodes are cut off by links that pass nothing.

    linear.py --server PATH --runs 1000 --first-seed 1 --seconds 20

With --plain-reads the clients read without asking the log, and the test is whether the checker notices.
"""

import argparse
import http.client
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import machines
from fleet import REFUSED, SCHEMA, Fleet
from nemesis import LogNemesis, NodeNemesis
from nodes import call, until

HERE = Path(__file__).resolve().parent
# How many items a realm has, how many of them are used at a time, and after how many unknown outcomes another one takes the place of
# one: what may have happened at any later time makes it hard to judge what comes after.
ITEMS, USED, DOUBTS = 60, 3, 8


class History:
    """What was done in one run."""

    def __init__(self, reads, realms):
        self.lines, self.lock, self.counts = [], threading.Lock(), {}
        # The header fields of reads.
        self.reads = reads
        # The keys of each realm that are used at present, those that were used, and the unknown outcomes of each.
        self.keys = {realm: [f"k{number}" for number in range(USED)] for realm in realms}
        self.used, self.doubts = {realm: list(keys) for realm, keys in self.keys.items()}, {}

    def add(self, key, client, kind, begin, end, **more):
        with self.lock:
            self.lines.append({"key": key, "client": client, "kind": kind, "call": begin, "return": end, **more})

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def doubt(self, key):
        """Notes an unknown outcome."""
        realm, name = key.split("/")[:2]
        with self.lock:
            count = self.doubts[realm, name] = self.doubts.get((realm, name), 0) + 1
            if count == DOUBTS and len(self.used[realm]) < ITEMS:
                self.keys[realm][self.keys[realm].index(name)] = fresh = f"k{len(self.used[realm])}"
                self.used[realm].append(fresh)

    def judge(self, checker):
        text = "".join(json.dumps(line) + "\n" for line in self.lines)
        return subprocess.run([checker], input=text, text=True, capture_output=True, check=False)


class Client(threading.Thread):
    """Does one thing after the other to random keys, and writes down what came of it."""

    def __init__(self, number, seed, nodes, realms, history):
        super().__init__(daemon=True)
        self.number, self.nodes, self.realms, self.history = number, nodes, realms, history
        self.random, self.stopped, self.owners, self.serial = random.Random(seed * 100 + number), False, {}, 0

    def run(self):
        while not self.stopped:
            realm = self.random.choice(self.realms)
            key = self.history.keys[realm][self.random.randrange(USED)]
            kind = self.random.choice(["write", "read", "read", "swap", "append", "list"])
            try:
                getattr(self, kind)(realm, key)
            except RefusedError:
                time.sleep(self.random.random() * 0.05)

    def send(self, realm, method, path, body=None, headers=None):
        """Sends a request where its realm was last, and follows one hint. Raises RefusedError if it has certainly done nothing, and
        OSError if that is not known."""
        for attempt in range(2):
            node = self.owners.get(realm) or self.random.choice(self.nodes)
            try:
                with socket.create_connection((node.host, node.port), timeout=2):
                    pass
            except OSError:
                self.owners.pop(realm, None)
                self.history.count("unreachable")
                raise RefusedError() from None
            try:
                status, answer, fields = call(node, method, f"/v1/realms/{realm}{path}", body, headers)
            except http.client.HTTPException as error:
                self.owners.pop(realm, None)
                raise OSError(str(error)) from None
            except OSError:
                self.owners.pop(realm, None)
                raise
            if status < 300 or status == 412:
                self.owners[realm] = node
                return status, json.loads(answer) if answer else None, fields
            code = json.loads(answer).get("code")
            self.history.count(code)
            if code == "not_owner":
                self.owners[realm] = next((one for one in self.nodes if one.url == fields.get("Realm-Owner")), None)
                if attempt == 0:
                    continue
            else:
                self.owners.pop(realm, None)
            if code in REFUSED:
                raise RefusedError()
            raise OSError(f"{status} {answer}")
        raise RefusedError()

    def attempt(self, key, kind, body, **more):
        """Notes an operation with what `body` returns, or without an end when that is not known."""
        begin = time.monotonic_ns()
        try:
            more |= body() or {}
            self.history.add(key, self.number, kind, begin, time.monotonic_ns(), **more)
            self.history.count("done")
        except RefusedError:
            raise
        except OSError:
            self.history.count("unknown")
            if kind != "read":
                self.history.add(key, self.number, kind, begin, None, **more)
                self.history.doubt(key)

    def fresh(self):
        self.serial += 1
        return f"{self.number}-{self.serial}"

    def read(self, realm, key):
        self.attempt(f"{realm}/{key}", "read", lambda: {"seen": self.look(realm, key)})

    def list(self, realm, key):
        def look():
            answer = self.send(realm, "GET", f"/objects/Item/{key}", headers=self.history.reads)[1]
            return {"seen": "".join(element + "," for element in answer["list"])}
        self.attempt(f"{realm}/{key}/list", "read", look)

    def look(self, realm, key):
        return self.send(realm, "GET", f"/objects/Item/{key}", headers=self.history.reads)[1]["value"]

    def write(self, realm, key):
        value = self.fresh()
        self.attempt(f"{realm}/{key}", "write", lambda: self.send(
            realm, "PATCH", f"/objects/Item/{key}", {"value": value}) and None, value=value)

    def swap(self, realm, key):
        # The tag covers the list, too, so a swap is a batch that asserts the value.
        value, seen = self.fresh(), None
        self.attempt(f"{realm}/{key}", "read", lambda: {"seen": self.look(realm, key)})
        with self.history.lock:
            seen = next((line["seen"] for line in reversed(self.history.lines)
                         if line["key"] == f"{realm}/{key}" and line["kind"] == "read" and line["client"] == self.number), None)
        if seen is None:
            return

        def swap():
            operations = [{"assert": {"class": "Item", "key": key, "where": "value == $0", "args": [seen]}},
                          {"patch": {"class": "Item", "key": key, "body": {"value": value}}}]
            try:
                self.send(realm, "POST", "/batch", {"ops": operations})
                return {"seen": "yes"}
            except OSError as error:
                if "assertion_failed" in str(error):
                    return {"seen": "no"}
                raise
        self.attempt(f"{realm}/{key}", "swap", swap, value=value, old=seen)

    def append(self, realm, key):
        value = self.fresh()
        operation = {"list": {"class": "Item", "key": key, "property": "list", "ops": [{"add": value}]}}
        self.attempt(f"{realm}/{key}/list", "append", lambda: self.send(
            realm, "POST", "/batch", {"ops": [operation]}) and None, value=value)


class RefusedError(Exception):
    """A request that has certainly done nothing."""


def set_up(fleet, realms):
    """Makes the realms and their items, whatever that takes."""
    items = [{"put": {"class": "Item", "key": f"k{number}", "body": {"value": "", "list": []}}} for number in range(ITEMS)]
    for realm in realms:
        said = {}

        def made(realm=realm, said=said):
            for node in fleet.nodes:
                status, answer, _ = call(node, "POST", "/v1/realms", {"name": realm, "schema": SCHEMA})
                said[node.name] = answer
                if status == 201 or json.loads(answer).get("code") == "already_attached":
                    status, said[node.name], _ = call(node, "POST", f"/v1/realms/{realm}/batch", {"ops": items})
                    if json.loads(said[node.name]).get("code") == "class_not_found":
                        # The log was away between the realm and its schema.
                        call(node, "DELETE", f"/v1/realms/{realm}?files=true")
                    return status < 300
            return False
        try:
            until(made, f"{realm} is made", 120)
        except SystemExit:
            print(said, flush=True)
            raise


def tell(node, realm):
    """Prints what a node says of a realm."""
    try:
        print(node.name, call(node, "GET", f"/v1/realms/{realm}")[:2], flush=True)
    except (OSError, http.client.HTTPException) as error:
        print(node.name, error, flush=True)


def read_all(client, realm):
    """Reads everything in a realm, whatever that takes."""
    for key in client.history.used[realm]:
        for kind in (client.read, client.list):
            def seen(kind=kind, key=key):
                count = len(client.history.lines)
                try:
                    kind(realm, key)
                except RefusedError:
                    return False
                return len(client.history.lines) > count
            try:
                until(seen, f"{realm}/{key} can be read again", 120)
            except SystemExit:
                for node in client.nodes:
                    tell(node, realm)
                raise


def run(fleet, seed, options, checker):
    realms = [f"r{seed}-{number}" for number in range(6)]
    set_up(fleet, realms)
    history = History({} if options.plain_reads else {"Realm-Read": "linear"}, realms)
    clients = [Client(number, seed, fleet.nodes, realms, history) for number in range(5)]
    nemeses = [NodeNemesis(fleet, seed, realms), LogNemesis(fleet, f"log {seed}", realms)]
    for one in [*clients, *nemeses]:
        one.start()
    time.sleep(options.seconds)
    for one in nemeses:
        one.stopped = True
    for one in nemeses:
        one.join(120)
    fleet.heal()
    for client in clients:
        client.stopped = True
    for client in clients:
        client.join(60)
    last = Client(9, seed, fleet.nodes, realms, history)
    try:
        for realm in realms:
            read_all(last, realm)
    except SystemExit:
        print(f"seed {seed}: {'; '.join(' '.join(one.done) for one in nemeses)}")
        raise
    verdict = history.judge(checker)
    crashes = [f"{node.name} ended with {code}" for node in fleet.nodes for code in node.crashes]
    for node in fleet.nodes:
        node.crashes.clear()
    broken = [realm for realm in realms if "is sound" not in fleet.tell("verify", realm)]
    for realm in realms:
        owner = last.owners.get(realm)
        if owner is not None:
            call(owner, "DELETE", f"/v1/realms/{realm}?files=true")
    counts = " ".join(f"{name}={count}" for name, count in sorted(history.counts.items(), key=lambda pair: -pair[1]))
    print(f"seed {seed}: {verdict.stdout.strip()}; {counts}; {'; '.join(' '.join(one.done) for one in nemeses)}", flush=True)
    if verdict.returncode or broken or crashes:
        place = Path(tempfile.gettempdir()) / f"history-{seed}.jsonl"
        place.write_text("".join(json.dumps(line) + "\n" for line in history.lines))
        print(f"seed {seed} FAILED, history in {place}; realms whose log is not sound: {broken}, "
              f"nodes that ended by themselves: {crashes} {verdict.stderr}", flush=True)
        return False
    return True


def build_checker(folder):
    target = folder / "checker"
    subprocess.run(["go", "build", "-mod=vendor", "-o", str(target), "."], cwd=HERE / "checker", check=True)
    return str(target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--standbys", type=int, default=2, choices=[0, 2])
    parser.add_argument("--links", action="store_true", help="cut nodes off by links also when machines are possible")
    parser.add_argument("--plain-reads", action="store_true",
                        help="read without asking the log; a node that was cut off then shows old values, and the checker has to find that")
    options = parser.parse_args()
    has_machines = not options.links and machines.enter()
    print("on machines of their own" if has_machines else "on one machine with links", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    folder.chmod(0o755)
    failed, fleet, is_done = 0, None, False
    try:
        checker = build_checker(folder)
        fleet = Fleet(str(Path(options.server).resolve()), folder, options.standbys,
                      machines=machines.Machines(folder) if has_machines else None)
        for seed in range(options.first_seed, options.first_seed + options.runs):
            failed += not run(fleet, seed, options, checker)
            if options.plain_reads and failed:
                break
        is_done = True
    finally:
        if fleet is not None:
            fleet.end()
        if is_done and (not failed or options.plain_reads):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"logs are in {folder}", flush=True)
    if options.plain_reads:
        print("the checker has found an old value" if failed else "the checker has found nothing, which it should have")
        return failed == 0
    print(f"{options.runs - failed} of {options.runs} runs are linearizable")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
