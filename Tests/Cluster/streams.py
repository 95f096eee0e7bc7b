#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many streams of one realm, spread over the three nodes, of which one owns it and two follow it: how long after a write has been accepted
the last of them has the change, and how much memory a stream takes.

    streams.py --server PATH --streams 50000
"""

import argparse
import os
import resource
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fleet import SCHEMA, Fleet
from nodes import call, until
from scale import memory
from writers import owner

REQUEST = ("GET /v1/realms/hot/changes?class=Item&where=value%20%3D%3D%20%27hot%27&include=keys HTTP/1.1\r\nHost: 127.0.0.1\r\n"
           "Accept: text/event-stream\r\n\r\n").encode()


class Streams:
    """The streams of one node, which one process reads."""

    def __init__(self, port, count):
        self.poll, self.sockets, self.ready = select.epoll(), {}, set()
        for number in range(count):
            one = socket.create_connection(("127.0.0.1", port), timeout=30)
            one.sendall(REQUEST)
            one.setblocking(False)
            self.sockets[one.fileno()] = one
            self.poll.register(one.fileno(), select.EPOLLIN)
            # What has arrived is read now and then, so that no queue is full.
            if number % 500 == 499:
                self.read(self.note, 0)
        end = time.monotonic() + 120
        while len(self.ready) < count and time.monotonic() < end:
            self.read(self.note, 1)
        if len(self.ready) < count:
            raise SystemExit(f"{count - len(self.ready)} streams are not ready")

    def note(self, file, data):
        """Notes that a stream has everything from now on."""
        if b"event: ready" in data:
            self.ready.add(file)
        elif not data.startswith(b"HTTP/1.1 200 ") and file not in self.ready and b"HTTP/1.1" in data:
            raise SystemExit(data.decode())

    def read(self, take, seconds):
        """Reads what there is within some seconds; false when that was nothing."""
        ready = self.poll.poll(seconds, maxevents=4096)
        for file, _ in ready:
            data = self.sockets[file].recv(1 << 16)
            if not data:
                raise SystemExit("a stream has ended")
            take(file, data)
        return bool(ready)

    def events(self):
        """Waits until each stream has got a change, and returns the times of the first, the middle and the last."""
        rest, times = set(self.sockets), []

        def take(file, data):
            if b"event: changes" in data and file in rest:
                rest.remove(file)
                times.append(time.monotonic())
        end = time.monotonic() + 60
        while rest and time.monotonic() < end:
            self.read(take, 1)
        if rest:
            raise SystemExit(f"{len(rest)} streams have got nothing")
        return times[0], times[len(times) // 2], times[-1]


def serve(port, count):
    """What a process for one node does: it opens the streams, and for each line reports when they have got a change."""
    streams = Streams(port, count)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(*streams.events(), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server")
    parser.add_argument("--streams", type=int, default=50_000)
    parser.add_argument("--commits", type=int, default=10)
    parser.add_argument("--reader", nargs=2, type=int)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    if options.reader:
        return serve(*options.reader)
    each = options.streams // 3
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    folder.chmod(0o755)
    limits = [f"{name}={each + 100}" for name in ("connections", "connections-per-address", "streams", "streams-per-principal")]
    fleet, readers = None, []
    try:
        fleet = Fleet(str(Path(options.server).resolve()), folder, 0, [part for limit in limits for part in ("--limit", limit)] +
                      ["--limit", "rate=1000000"])
        for node in fleet.nodes:
            # Without the link between, which is slower than what it stands for.
            node.kill()
            node.address = fleet.primary.address
            node.start()
        until(lambda: any(call(node, "POST", "/v1/realms", {"name": "hot", "schema": SCHEMA})[0] == 201 for node in fleet.nodes), "the realm is made")
        source = owner(fleet.nodes, "hot")
        until(lambda: all(call(node, "GET", "/v1/realms/hot/objects/Item?limit=1")[0] == 200 for node in fleet.nodes), "all nodes have the realm")
        before = [memory(node)[0] for node in fleet.nodes]
        begin = time.monotonic()
        for node in fleet.nodes:
            readers.append(subprocess.Popen([sys.executable, os.path.abspath(__file__), "--reader", str(node.port), str(each)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for reader in readers:
            if reader.stdout.readline() != "ready\n":
                raise SystemExit("the streams are not open")
        added = [after - one for one, after in zip(before, [memory(node)[0] for node in fleet.nodes])]
        print(f"{3 * each} streams over 3 nodes open after {time.monotonic() - begin:.0f} s; "
              f"{statistics.mean(added) * 1024 / each:.1f} KiB of memory each", flush=True)
        found = []
        for number in range(options.commits):
            for reader in readers:
                reader.stdin.write("\n")
                reader.stdin.flush()
            time.sleep(0.5)
            begin = time.monotonic()
            status, _, _ = call(source, "POST", "/v1/realms/hot/objects/Item", {"_id": f"{number}", "value": "hot", "list": []}, seconds=30)
            accepted = time.monotonic()
            lines = [reader.stdout.readline().split() for reader in readers]
            if status != 201 or not all(lines):
                raise SystemExit(f"commit {number}: {status}, {lines}")
            last = {node.name: round(1000 * (float(line[2]) - accepted)) for node, line in zip(fleet.nodes, lines)}
            found.append(max(last.values()))
            print(f"commit {number}: accepted after {1000 * (accepted - begin):.1f} ms, the last stream of each node has it {last} ms later"
                  f" ({source.name} owns the realm)", flush=True)
        print(f"{3 * each} streams: the last event {sorted(found)[len(found) // 2]} ms after the write was accepted "
              f"(median of {len(found)}; greatest {max(found)} ms)", flush=True)
    finally:
        for reader in readers:
            reader.kill()
        if fleet is not None:
            fleet.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
