#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a cluster costs: writes with the log beside those of a server by itself in alternating rounds, reads of a replica beside theirs and
how far it is behind, how long the writes of a node that is killed are missed, and for how long a shard that moves refuses them."""

import argparse
import http.client
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from fleet import SCHEMA, Fleet
from nodes import call, until
from harness import Server  # noqa: E402
from writers import owner

LOAD = """
local thread, count = 0, 0
function setup(one) one:set("number", thread) thread = thread + 1 end
function init(arguments) start = arguments[1] end
function request()
  count = count + 1
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"},
    string.format('{"_id":"%s-%d-%d","value":"v","list":[]}', start, number, count))
end
function done(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests - summary.errors.status, summary.duration, latency:percentile(50),
    latency:percentile(99)))
end
"""


class Alone(Server):
    """A server by itself."""

    def __init__(self, server, folder, files=(), more=()):
        folder.mkdir()
        for file in files:
            shutil.copy(file, folder)
        super().__init__(server, "--data", folder, "--log-level", "error", *more)


def load(port, realm, connections, seconds, script, name):
    """Writes as fast as it goes; returns writes per second and the median in milliseconds."""
    done = subprocess.run(
        ["wrk", "-t", str(min(2, connections)), "-c", str(connections), "-d", f"{seconds}s", "-s", str(script),
         f"http://127.0.0.1:{port}/v1/realms/{realm}/objects/Item", name], capture_output=True, text=True, check=True)
    found = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+)", done.stdout)
    count, duration, median, _ = map(int, found.groups())
    if not count:
        raise SystemExit(f"nothing is written: {call(port, 'POST', f'/v1/realms/{realm}/objects/Item', {'_id': name})[:2]}\n{done.stdout}")
    return count / (duration / 1e6), median / 1000


def writes(node, realm):
    """Whether a node writes a realm."""
    return call(node, "POST", f"/v1/realms/{realm}/objects/Item", {"_id": f"{time.monotonic_ns()}", "value": "", "list": []})[0] == 201


def warm_up(server):
    """Gives a new server what one that has run for a while has: files of its log that were used before, and need not be made."""
    server.sql("alter system set min_wal_size = '1GB'")
    server.sql("select pg_reload_conf()")
    for _ in range(48):
        server.sql("select pg_logical_emit_message(true, 'warm', 'up')")
        server.sql("select pg_switch_wal()")
    server.sql("checkpoint")


def missed(fleet, realm, act):
    """Writes steadily wherever the realm is, and returns the longest time without a write that was accepted, after `act`."""
    accepted, stopped = [], threading.Event()

    def write(number):
        count, place = 0, None
        while not stopped.is_set():
            count += 1
            for node in ([place] if place else []) + fleet.nodes:
                if node.process is None:
                    continue
                try:
                    status, _, _ = call(node, "POST", f"/v1/realms/{realm}/objects/Item",
                                        {"_id": f"{time.monotonic_ns()}-{number}", "value": "", "list": []}, seconds=2)
                except (OSError, http.client.HTTPException):
                    place = None
                    continue
                if status == 201:
                    accepted.append(time.monotonic())
                    place = node
                    break
                place = None
            time.sleep(0.002)
    threads = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(4)]
    for one in threads:
        one.start()
    time.sleep(1)
    begin = time.monotonic()
    act()
    until(lambda: sum(at > begin + 0.5 for at in accepted) > 50 or time.monotonic() - begin > 30, "writes go on", 60)
    time.sleep(0.5)
    stopped.set()
    for one in threads:
        one.join(10)
    times = [begin - 0.01] + sorted(at for at in accepted if at > begin - 0.01)
    return max(later - earlier for earlier, later in zip(times, times[1:]))


def reads(port, key, seconds):
    """Reads one object by its key as fast as it goes; returns reads per second."""
    done = subprocess.run(["wrk", "-t", "2", "-c", "32", "-d", f"{seconds}s", f"http://127.0.0.1:{port}/v1/realms/cost/objects/Item/{key}"],
                          capture_output=True, text=True, check=True)
    if "Non-2xx" in done.stdout:
        raise SystemExit(done.stdout)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout).group(1))


class Lag:
    """How long after the owner has shown a version a replica shows it, while others write."""

    def __init__(self, source, replica):
        self.times, self.stopped = [], threading.Event()
        self.connections = [http.client.HTTPConnection("127.0.0.1", node.port, timeout=20) for node in (source, replica)]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def get(self, connection, fields):
        connection.request("GET", "/v1/realms/cost/objects/Item?limit=1", headers=fields)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"a read was answered with {answer.status}")
        return answer.headers["Realm-Version"]

    def run(self):
        source, replica = self.connections
        while not self.stopped.is_set():
            version = self.get(source, {})
            begin = time.monotonic()
            self.get(replica, {"Realm-Min-Version": version})
            self.times.append(1000 * (time.monotonic() - begin))
            time.sleep(0.005)

    def end(self):
        self.stopped.set()
        self.thread.join()
        return sorted(self.times)


def measure_replica(fleet, alone, options, script):
    """Prints how fast a replica reads, and how far it is behind under writes."""
    source = owner(fleet.nodes, "cost")
    replica = next(node for node in fleet.nodes if node is not source)
    for place in (alone.port, source):
        call(place, "POST", "/v1/realms/cost/objects/Item", {"_id": "read", "value": "v", "list": []})
    until(lambda: call(replica, "GET", "/v1/realms/cost/objects/Item/read")[0] == 200, "the replica has the object")
    pairs = [(reads(alone.port, "read", options.seconds), reads(replica.port, "read", options.seconds)) for _ in range(options.rounds)]
    print(f"reads of one object: alone {statistics.median(one for one, _ in pairs):,.0f}/s, of a replica "
          f"{statistics.median(two for _, two in pairs):,.0f}/s, ratio {statistics.median(two / one for one, two in pairs):.2f}", flush=True)
    for connections in (1, 4, 32):
        lag = Lag(source, replica)
        rate, _ = load(source.port, "cost", connections, 2 * options.seconds, script, f"lag-{connections}")
        times = lag.end()
        print(f"a replica under {rate:,.0f} writes/s of {connections} writers: median {times[len(times) // 2]:.0f} ms behind, "
              f"p99 {times[len(times) * 99 // 100]:.0f} ms ({len(times)} looks)", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--standbys", type=int, default=0, choices=[0, 2])
    options = parser.parse_args()
    server = str(Path(options.server).resolve())
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    folder.chmod(0o755)
    script = folder / "load.lua"
    script.write_text(LOAD)
    fleet, alone = None, None
    try:
        alone = Alone(server, folder / "alone")
        fleet = Fleet(server, folder, options.standbys)
        body = {"name": "cost", "schema": SCHEMA}
        assert call(alone.port, "POST", "/v1/realms", body)[0] == 201
        until(lambda: any(call(node, "POST", "/v1/realms", body)[0] == 201 for node in fleet.nodes), "the realm is made")
        # The log is reached without the link between, which is slower than what it stands for.
        for node in fleet.nodes:
            node.kill()
            node.address = fleet.primary.address
            node.start()
        node = fleet.nodes[0]
        until(lambda: call(node, "GET", "/v1/realms/cost/objects/Item?limit=1")[0] == 200, "the node is back")
        fleet.tell("move", "realm:cost", node.name)
        until(lambda: writes(node, "cost"), "the node has the realm")
        warm_up(fleet.primary)
        print(f"standbys: {options.standbys}, processors: {os.cpu_count()}")
        for connections in (32, 1):
            rates, medians = [], []
            for number in range(options.rounds):
                pair = [load(port, "cost", connections, options.seconds, script, f"{connections}-{number}-{port}")
                        for port in (alone.port, node.port)]
                rates.append((pair[0][0], pair[1][0]))
                medians.append((pair[0][1], pair[1][1]))
            ratio = statistics.median(two / one for one, two in rates)
            print(f"{connections} writers: alone {statistics.median(one for one, _ in rates):,.0f}/s, with the log "
                  f"{statistics.median(two for _, two in rates):,.0f}/s, ratio {ratio:.2f}; median {statistics.median(one for one, _ in medians):.2f} "
                  f"and {statistics.median(two for _, two in medians):.2f} ms", flush=True)
        measure_replica(fleet, alone, options, script)
        moves, losses = [], []
        for number in range(5):
            names = [one.name for one in fleet.nodes]
            target = names[(names.index(owner(fleet.nodes, "cost").name) + 1) % 3]
            moves.append(missed(fleet, "cost", lambda target=target: fleet.tell("move", "realm:cost", target)))
        print(f"a shard that moves: no write for {sorted(round(one * 1000) for one in moves)} ms", flush=True)
        for number in range(3):
            victim = owner(fleet.nodes, "cost")
            losses.append(missed(fleet, "cost", victim.kill))
            victim.start(60)
            time.sleep(6)
        print(f"a node that is killed: no write for {[round(one, 1) for one in losses]} s", flush=True)
        print(fleet.tell("verify", "cost").strip())
    finally:
        if fleet is not None:
            fleet.end()
        if alone is not None:
            alone.process.kill()
            alone.process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
