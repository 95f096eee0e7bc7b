# SPDX-License-Identifier: Apache-2.0
"""A server that is measured, or that makes a realm, and a client of it."""
import http.client
import subprocess
import sys
import time


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)

    def send(self, method, target, body=None, media="application/json"):
        self.connection.request(method, target, body, {"Content-Type": media} if body is not None else {})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            sys.exit(f"{method} {target}: {answer.status} {text[:300]}")
        return text


class Server:
    """Serves a folder at a port that the system chooses, and keeps no answers."""

    def __init__(self, binary, folder):
        limits = [f"--limit={limit}" for limit in ("answer-cache-bytes=0", "write-seconds=3600", "read-seconds=3600")]
        begin = time.monotonic()
        self.process = subprocess.Popen([binary, "serve", "--data", folder, "--port", "0", "--log-format", "none", *limits],
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
