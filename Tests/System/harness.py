# SPDX-License-Identifier: Apache-2.0
"""What the programs of Tests/System and Tests/Cluster share: a server that they start, watch and end, and requests to it.

Standard library only. Servers listen on loopback, on ports that the system chooses, and only what was started here is ended.
"""
import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / ".build-release" / "release" / "realm-rest"
# The data of the sample realm.
SAMPLE = ROOT / "demo" / "store.ndjson.gz"
# Files of the reference engine: all of them where they are beside the checkout, else those that are kept with the tests.
SHARED_FIXTURES = ROOT.parent / "shared" / "fixtures"
FIXTURES = SHARED_FIXTURES if SHARED_FIXTURES.is_dir() else ROOT / "Tests" / "RealmStorageTests" / "Golden"
OLD_FIXTURES = SHARED_FIXTURES / "legacy" if SHARED_FIXTURES.is_dir() else ROOT / "Tests" / "RealmLegacyTests" / "Golden"


def fixture(name, folder):
    """Copies a fixture into a folder, and returns its path there; None when a lone clone has no such fixture."""
    plain, packed, copy = FIXTURES / f"{name}.realm", FIXTURES / f"{name}.realm.gz", Path(folder) / f"{name}.realm"
    if not plain.exists() and not packed.exists():
        return None
    copy.write_bytes(plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes()))
    return copy


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def request(port, method, path, body=None, headers=None, seconds=30, host="127.0.0.1", source=None):
    """Sends one request on a connection of its own; returns status, header fields and bytes. A body that is no text is sent as JSON."""
    connection = http.client.HTTPConnection(host, port, timeout=seconds, source_address=(source, 0) if source else None)
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body.encode() if isinstance(body, str) else body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def until(condition, what, seconds=60):
    """Waits for a condition, which may fail as long as servers are away."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (OSError, http.client.HTTPException, subprocess.CalledProcessError):
            pass
        time.sleep(0.05)
    raise SystemExit(f"not met: {what}")


def end(process, how=signal.SIGTERM, seconds=20):
    """Ends a process that was started here, by its id, and returns its exit status."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode


class Program:
    """A program that prints `listening on URL` when it is ready, and serves until it is ended.

    Its errors come among its lines, unless `errors` names another place. `heard` is called with each line after that.
    """

    def __init__(self, command, errors=subprocess.STDOUT, heard=None, **options):
        self.command, self.errors, self.heard, self.options = [str(part) for part in command], errors, heard, options
        self.start()

    def start(self):
        """Starts the process, which has ended or was never started."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.errors, text=True, **self.options)
        # What it has said before it listened.
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"listening on (https?://\S+)", line):
                self.url = found[1]
                self.port = int(self.url.rsplit(":", 1)[1])
                break
        else:
            end(self.process)
            raise RuntimeError(f"{self.command[0]} does not start: {''.join(self.lines)[-2000:]}")
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def _read(self, output):
        for line in output:
            if self.heard:
                self.heard(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def is_alive(self):
        return self.process.poll() is None

    def end(self, how=signal.SIGTERM, seconds=20):
        return end(self.process, how, seconds)

    def request(self, method, path, body=None, headers=None, seconds=30, source=None):
        return request(self.port, method, path, body, headers, seconds, source=source)


class Server(Program):
    """`realm-rest serve`."""

    def __init__(self, program, *arguments, port=0, **options):
        super().__init__([program, "serve", *arguments, "--port", port], **options)
