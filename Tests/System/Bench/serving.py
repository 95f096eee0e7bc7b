# SPDX-License-Identifier: Apache-2.0
"""A server that is measured, or that makes a realm, and a client of it."""
import http.client
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


# No answers are kept for the same request.
UNKEPT = ["--limit=answer-cache-bytes=0"]


class Client:
    def __init__(self, port, fields=None):
        self.connection, self.fields = http.client.HTTPConnection("127.0.0.1", port, timeout=3600), fields or {}

    def send(self, method, target, body=None, media="application/json"):
        self.connection.request(method, target, body, {**self.fields, **({"Content-Type": media} if body is not None else {})})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            sys.exit(f"{method} {target}: {answer.status} {text[:300]}")
        return text


class Server(harness.Server):
    """Serves a folder; without other arguments it keeps no answers and has time for anything."""

    def __init__(self, binary, folder, arguments=("--log-format", "none", *UNKEPT, "--limit=write-seconds=3600", "--limit=read-seconds=3600")):
        begin = time.monotonic()
        super().__init__(binary, "--data", folder, *arguments, errors=subprocess.DEVNULL)
        self.started = time.monotonic() - begin

    def resident(self):
        """Memory that is not that of mapped files, and all of it, in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return [int(sizes[name].split()[0]) / 1024 for name in ("RssAnon", "VmRSS")]

    def end(self):
        return super().end(seconds=600)
