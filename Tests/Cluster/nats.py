# SPDX-License-Identifier: Apache-2.0
"""Servers of NATS with JetStream for tests, three that replicate, and a client that waits for each answer."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "System"))
from harness import free_port  # noqa: E402


class Nats:
    """Three servers on ports of loopback."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.ports, routes = [free_port() for _ in range(3)], [free_port() for _ in range(3)]
        for number, (port, route) in enumerate(zip(self.ports, routes), 1):
            place = folder / f"nats{number}"
            place.mkdir(parents=True)
            others = ", ".join(f'"nats://127.0.0.1:{other}"' for other in routes if other != route)
            (place / "conf").write_text(
                f'server_name: s{number}\nlisten: "127.0.0.1:{port}"\njetstream {{ store_dir: "{place}/js" }}\n'
                f'cluster {{ name: fence, listen: "127.0.0.1:{route}", routes: [{others}] }}\n')
            self.processes.append(subprocess.Popen(["nats-server", "-c", str(place / "conf"), "-l", str(place / "log")]))

    @staticmethod
    def version():
        return subprocess.check_output(["nats-server", "--version"], text=True).strip()

    def make_stream(self, name, replicas=3, seconds=60):
        """Makes a stream of the subjects under its name, as soon as the servers have found each other."""
        body = json.dumps({"name": name, "subjects": [f"{name}.>"], "num_replicas": replicas, "storage": "file", "retention": "limits",
                           "discard": "old", "max_age": 0, "allow_direct": False}).encode()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                client = NatsClient(self.ports[0])
                answer = client.ask(f"$JS.API.STREAM.CREATE.{name}", body, seconds=5)
                client.close()
                if "error" not in answer:
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise SystemExit("NATS makes no stream")

    def end(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


class NatsClient:
    """One connection, by which one thread at a time asks."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader, self.inbox, self.count = self.socket.makefile("rb"), "_INBOX." + os.urandom(8).hex(), 0
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "protocol": 1, "lang": "python"}
        self.socket.sendall(f"CONNECT {json.dumps(options)}\r\nSUB {self.inbox}.* 1\r\nPING\r\n".encode())
        while not self.line().startswith(b"PONG"):
            pass

    def line(self):
        line = self.reader.readline()
        if not line:
            raise OSError("the server has closed the connection")
        if line.startswith(b"PING"):
            self.socket.sendall(b"PONG\r\n")
        if line.startswith(b"-ERR"):
            raise OSError(line.decode())
        return line

    def ask(self, subject, body=b"", fields=None, seconds=5):
        """Sends one message, and returns the answer as JSON. Raises OSError when there is none in time."""
        self.count += 1
        reply = f"{self.inbox}.{self.count}"
        self.socket.settimeout(seconds)
        if fields is None:
            self.socket.sendall(f"PUB {subject} {reply} {len(body)}\r\n".encode() + body + b"\r\n")
        else:
            head = b"NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode() + b"\r\n"
            self.socket.sendall(f"HPUB {subject} {reply} {len(head)} {len(head) + len(body)}\r\n".encode() + head + body + b"\r\n")
        while True:
            words = self.line().split()
            if words[0] not in (b"MSG", b"HMSG"):
                continue
            data = self.reader.read(int(words[-1]) + 2)[:-2]
            if words[1] != reply.encode():
                continue
            if words[0] == b"HMSG":
                data = data[int(words[-2]):]
            if not data:
                raise OSError("nobody answers")
            return json.loads(data)

    def close(self):
        self.reader.close()
        self.socket.close()
