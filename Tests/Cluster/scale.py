#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many realms on three nodes: how long they take to be made, to be written for the first time after a start, and to be written again after
a node was killed; and how much memory the nodes have meanwhile."""

import argparse
import http.client
import json
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from fleet import Fleet, SCHEMA
from nodes import until


class Client:
    """Requests to all nodes, on a connection to each that is kept."""

    def __init__(self, nodes):
        self.nodes, self.connections, self.owners = nodes, {}, {}

    def send(self, node, method, path, body=None):
        if node.process is None:
            raise OSError("the node is not there")
        connection = self.connections.get(node.name) or http.client.HTTPConnection(node.host, node.port, timeout=20)
        self.connections[node.name] = connection
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json", **node.headers})
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        except (OSError, http.client.HTTPException) as error:
            self.connections.pop(node.name).close()
            raise OSError(str(error)) from error

    def write(self, realm, path, body, seconds=60):
        """Repeats a request at the nodes until one has carried it out."""
        end, place = time.monotonic() + seconds, self.owners.get(realm)
        turn = hash(realm)
        while time.monotonic() < end:
            node = place or self.nodes[turn % len(self.nodes)]
            turn, place = turn + 1, None
            try:
                status, answer, fields = self.send(node, "POST", path, body)
            except OSError:
                continue
            if status in (200, 201):
                self.owners[realm] = node
                return True
            place = next((one for one in self.nodes if one.url == fields.get("Realm-Owner")), None)
            if status not in (421, 503):
                raise SystemExit(f"{realm}: {status} {answer}")
            if status == 503:
                time.sleep(0.05)
        return False


def for_all(fleet, realms, threads, act):
    """Calls `act` with a client and a realm for all realms, and returns how long that took and the times at which each was done."""
    begin, rest, done, failed = time.monotonic(), list(reversed(realms)), [], []
    lock = threading.Lock()

    def work():
        client = Client(fleet.nodes)
        while True:
            with lock:
                if not rest:
                    return
                realm = rest.pop()
            is_done = act(client, realm)
            with lock:
                (done if is_done else failed).append(time.monotonic() - begin)
    workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    if failed:
        raise SystemExit(f"{len(failed)} of {len(realms)} realms could not be written")
    return time.monotonic() - begin, sorted(done)


def memory(node):
    """The memory of a node in MiB: what it has alone, and with the pages of its files."""
    fields = dict(line.split(":") for line in Path(f"/proc/{node.process.pid}/status").read_text().splitlines() if ":" in line)
    return tuple(round(int(fields[name].split()[0]) / 1024) for name in ("RssAnon", "VmRSS"))


def item(number):
    return {"_id": f"{time.monotonic_ns()}-{number}", "value": "v", "list": []}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--realms", type=int, default=100_000)
    parser.add_argument("--active", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=32)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    folder.chmod(0o755)
    fleet = None
    try:
        fleet = Fleet(str(Path(options.server).resolve()), folder, 0, ["--limit", f"realms={options.active}", "--limit", "rate=1000000"])
        for node in fleet.nodes:
            # Without the link between, which is slower than what it stands for.
            node.kill()
            node.address = fleet.primary.address
            node.start()
        realms = [f"realm{number}" for number in range(options.realms)]
        active = realms[::max(1, options.realms // options.active)][:options.active]
        seconds, _ = for_all(fleet, realms, options.threads,
                             lambda client, realm: client.write(realm, "/v1/realms", {"name": realm, "schema": SCHEMA}))
        print(f"{len(realms)} realms made in {seconds:.0f} s, {len(realms) / seconds:.0f}/s; memory of the nodes (own, all) in MiB: "
              f"{[memory(node) for node in fleet.nodes]}", flush=True)
        starts = []
        for node in fleet.nodes:
            node.kill()
            begin = time.monotonic()
            # A process of its name counts as living for three seconds.
            time.sleep(3.2)
            node.start()
            starts.append(time.monotonic() - begin - 3.2)
        print(f"starts with {len(realms) // 3} files each: {[round(one, 2) for one in starts]} s", flush=True)

        def write(client, realm):
            return client.write(realm, f"/v1/realms/{realm}/objects/Item", item(0))
        seconds, _ = for_all(fleet, active, options.threads, write)
        print(f"{len(active)} realms claimed and written in {seconds:.1f} s; memory: {[memory(node) for node in fleet.nodes]}", flush=True)
        seconds, _ = for_all(fleet, active, options.threads, write)
        print(f"{len(active)} open realms written once more in {seconds:.1f} s, {len(active) / seconds:.0f}/s", flush=True)
        fleet.nodes[1].kill()
        seconds, done = for_all(fleet, active, options.threads, write)
        print(f"a node killed: all {len(active)} written again after {seconds:.1f} s (half of them after {done[len(done) // 2]:.1f} s)", flush=True)
        until(lambda: fleet.nodes[1].process is None, "the node is gone")
    finally:
        if fleet is not None:
            fleet.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
