# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster as processes, each with a link to the log that can be cut."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "System"))
from harness import free_port, request, until  # noqa: E402, F401


class Link:
    """Passes bytes between a node and its log, until it is told otherwise: `hold` passes nothing, `deaf` nothing that the log says,
    `mute` nothing that the node says, and `refuse` ends connections."""

    def __init__(self, target):
        self.target, self.mode, self.port = target, "pass", free_port()
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.pairs, self.lock = [], threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(one,), daemon=True).start()

    def serve(self, one):
        try:
            if self.mode == "refuse":
                return one.close()
            other = socket.create_connection(("127.0.0.1", self.target()), timeout=3)
        except OSError:
            return one.close()
        other.settimeout(None)
        with self.lock:
            self.pairs.append((one, other))
        ways = {one: other, other: one}
        try:
            while True:
                wanted = [side for side in ways if self.passes(side is one)]
                ready, _, _ = select.select(wanted, [], [], 0.05)
                for side in ready:
                    data = side.recv(1 << 16)
                    if not data:
                        return
                    # What was read while the link was cut waits, as it would in a network that comes back.
                    while not self.passes(side is one):
                        time.sleep(0.02)
                    ways[side].sendall(data)
        except OSError:
            pass
        finally:
            one.close()
            other.close()
            with self.lock:
                self.pairs = [pair for pair in self.pairs if pair[0] is not one]

    def passes(self, is_node):
        mode = self.mode
        if mode == "refuse":
            raise OSError("the link is cut")
        return mode == "pass" or mode == ("deaf" if is_node else "mute")

    def close(self):
        self.mode = "refuse"
        self.listener.close()


class Node:
    """One node. Its folder is its disk. Without a machine it reaches the log by a link."""

    # The size of the disk of a machine.
    DISK = 64 << 20

    def __init__(self, server, folder, name, log, options=(), environment=None, machine=None):
        """`log` is the address of the log for a node on a machine, and else what returns the port of the log."""
        self.server, self.folder, self.name, self.machine, self.process = server, folder / name, name, machine, None
        self.folder.mkdir(parents=True, exist_ok=True)
        # What processes ended with that nobody has ended.
        self.crashes = []
        # What goes with each request.
        self.headers = {}
        if machine:
            machine.mount_disk(self.folder, Node.DISK)
            self.host, self.port, self.link, self.address = machine.address, 8080, None, log
            self.options, self.environment = [*options, "--host", self.host, "--insecure"], {**(environment or {}), **machine.environment}
        else:
            self.host, self.port, self.link = "127.0.0.1", free_port(), Link(log)
            self.options, self.environment = options, environment or {}
            self.address = f"host=127.0.0.1 port={self.link.port} user=realm dbname=postgres"

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def start(self, seconds=30):
        log = open(self.folder.parent / f"{self.name}.log", "ab")
        end = time.monotonic() + seconds
        while True:
            self.process = subprocess.Popen(
                [*(self.machine.command if self.machine else []), self.server, "serve", "--data", str(self.folder), "--port", str(self.port), "--cluster", self.address, "--node",
                 self.name, "--url", self.url, "--log-level", "error", *self.options], stdout=log, stderr=log,
                env={**os.environ, **self.environment})
            while self.process.poll() is None and time.monotonic() < end:
                try:
                    if call(self, "GET", "/healthz", seconds=2)[0] == 200:
                        return self
                except OSError:
                    pass
                time.sleep(0.02)
            if time.monotonic() > end:
                raise OSError(f"{self.name} does not start")
            # A process of the same name may count as living for a moment.
            time.sleep(0.2)

    def kill(self, how=signal.SIGKILL):
        self.look()
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        self.process.wait(60)
        self.process = None

    def look(self):
        """Notes whether the process has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            self.crashes.append(self.process.returncode)
            self.process = None

    def pause(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)


def call(place, method, path, body=None, headers=None, seconds=8):
    """Sends one request to a node or a port of loopback, on a connection of its own, and returns status, body and header fields."""
    host, port, own = (place.host, place.port, place.headers) if isinstance(place, Node) else ("127.0.0.1", place, {})
    headers = {"Content-Type": "application/json", **own, **(headers or {})}
    status, fields, answer = request(port, method, path, None if body is None else json.dumps(body), headers, seconds, host)
    return status, answer, fields
