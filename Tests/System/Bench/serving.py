# SPDX-License-Identifier: Apache-2.0
"""A server that is measured, or that makes a realm, and a client of it."""
import http.client
import subprocess
import sys
import time


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


class Server:
    """Serves a folder at a port that the system chooses; without other arguments it keeps no answers and has time for anything."""

    def __init__(self, binary, folder, arguments=("--log-format", "none", *UNKEPT, "--limit=write-seconds=3600", "--limit=read-seconds=3600")):
        begin = time.monotonic()
        self.process = subprocess.Popen([binary, "serve", "--data", folder, "--port", "0", *arguments],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening"):
            sys.exit("the server did not start: " + line)
        self.port = int(line.strip().rsplit(":", 1)[1])
        self.started = time.monotonic() - begin

    def resident(self):
        """Memory that is not that of mapped files, and all of it, in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return [int(sizes[name].split()[0]) / 1024 for name in ("RssAnon", "VmRSS")]

    def end(self):
        self.process.terminate()
        self.process.wait()
