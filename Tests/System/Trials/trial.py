# SPDX-License-Identifier: Apache-2.0
"""A server under trial, watched from outside.

Standard library only.
"""
import http.client
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


def arguments(parser):
    """The options of a trial, of which the program that serves is one."""
    parser.add_argument("--server", default=harness.RELEASE, help="the program that serves; a release build without it")
    options = parser.parse_args()
    Server.program = Path(options.server).resolve()
    return options



class Server(harness.Server):
    """One server process with a data folder of its own, removed when the trial ends."""

    program = harness.RELEASE

    def __init__(self, *arguments, fixtures=()):
        self.folder = Path(tempfile.mkdtemp(prefix="realm-rest-trial-"))
        for name in fixtures:
            harness.fixture(name, self.folder)
        self.log = open(self.folder.with_suffix(".stderr"), "w+b")
        super().__init__(self.program, "--data", self.folder, "--log-format", "none", *arguments, errors=self.log)

    def __exit__(self, *_):
        self.stop()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_suffix(".stderr").unlink(missing_ok=True)

    def stop(self):
        """Ends the server as an operator would, and returns its exit status."""
        return self.end(seconds=30)

    def crash_report(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read().decode("utf8", "replace")[-6000:]

    # What the operating system says of the process.

    def resident(self):
        return self._status("VmRSS")

    def peak(self):
        return self._status("VmHWM")

    def reset_peak(self):
        try:
            Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        except OSError:
            pass

    def _status(self, field):
        try:
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith(field + ":"):
                    return int(line.split()[1]) << 10
        except OSError:
            pass
        return 0

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd")) if self.is_alive else 0

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task")) if self.is_alive else 0

    def disk(self):
        return sum(path.stat().st_blocks * 512 for path in self.folder.rglob("*") if path.is_file())

    # Requests.

    def request(self, method, path, body=None, headers=None, timeout=30, source=None):
        """Status, header fields by lower-case name and body; status 0 when there was no answer."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        try:
            status, fields, answer = super().request(method, path, body, headers, timeout, source)
            return status, {name.lower(): value for name, value in fields.items()}, answer
        except (OSError, http.client.HTTPException):
            return 0, {}, b""

    def connect(self, source=None, timeout=10):
        return socket.create_connection(("127.0.0.1", self.port), timeout, (source, 0) if source else None)


class Probe:
    """Asks one path over and over from an address of its own, and keeps how long each answer took."""

    def __init__(self, server, path="/healthz", every=0.02, source="127.0.0.9"):
        self.server, self.path, self.every, self.source = server, path, every, source
        self.seconds, self.failures, self._ends = [], 0, False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._ends:
            begin = time.monotonic()
            status, _, _ = self.server.request("GET", self.path, timeout=20, source=self.source)
            self.seconds.append(time.monotonic() - begin)
            if status != 200:
                self.failures += 1
            time.sleep(self.every)

    def stop(self):
        self._ends = True
        self._thread.join(25)
        return self

    def __str__(self):
        times = sorted(self.seconds) or [0]
        at = lambda share: 1000 * times[min(len(times) - 1, int(len(times) * share))]
        return (f"{self.path}: {len(times)} answers, {self.failures} failed, median {at(.5):.1f} ms, "
                f"p99 {at(.99):.1f} ms, worst {1000 * times[-1]:.1f} ms")


def require(condition, sentence):
    """Ends the trial with a sentence when a condition does not hold."""
    if not condition:
        print("FAILED:", sentence, flush=True)
        sys.exit(1)


def megabytes(count):
    return f"{count / (1 << 20):.0f} MB"
