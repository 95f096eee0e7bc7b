"""A server under trial: starts `realm-rest serve` on loopback, watches it from outside, and ends only what it started.

Standard library only. `RR` names the binary (the release build of this checkout by default).
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("RR", ROOT / ".build-release/release/realm-rest"))
FIXTURES = next((folder for folder in (ROOT.parent / "shared/fixtures",) if folder.is_dir()), None)


class Server:
    """One server process with a data folder of its own, removed when the trial ends."""

    def __init__(self, *arguments, fixtures=(), address_space=None):
        self.folder = Path(tempfile.mkdtemp(prefix="realm-rest-trial-"))
        for name in fixtures:
            if FIXTURES is not None:
                shutil.copy(FIXTURES / name, self.folder)
        self.errors = open(self.folder.with_suffix(".stderr"), "w+b")
        self.command = [str(BINARY), "serve", "--data", str(self.folder), "--port", "0", "--log-format", "none", *arguments]
        self.start()

    def start(self):
        """Starts the process, which has ended or was never started, on the data folder as it is."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.errors)
        line = self.process.stdout.readline().decode()
        if not line.startswith("listening on"):
            self.errors.seek(0)
            raise RuntimeError(f"the server did not start: {line!r} {self.errors.read()[-2000:]!r}")
        self.port = int(line.split()[-1].rsplit(":", 1)[1])
        output = self.process.stdout
        threading.Thread(target=lambda: [None for _ in output], daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_suffix(".stderr").unlink(missing_ok=True)

    @property
    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends the server as an operator would, and returns its exit status."""
        if self.is_alive:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def crash_report(self):
        self.errors.flush()
        self.errors.seek(0)
        return self.errors.read().decode("utf8", "replace")[-6000:]

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
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=timeout, source_address=(source, 0) if source else None)
        fields = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            fields.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, {}, b""
        finally:
            connection.close()

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
