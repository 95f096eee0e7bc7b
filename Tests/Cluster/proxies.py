#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipe of docs/scale.md with real processes: two shards behind HAProxy and nginx of Debian, and a shard that moves under load.

No write that was acknowledged is lost, none is there twice, and the other shard notices nothing. How long writes were refused is
printed."""

import argparse
import functools
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
import zlib
from pathlib import Path

from nodes import call, until
from harness import free_port  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FLEET = ROOT / "docker" / "fleet"
SCHEMA = {"classes": [{"name": "Entry", "primaryKey": "_id", "properties": [
    {"name": "_id", "type": "string"}, {"name": "number", "type": "int"}]}]}
request = functools.partial(call, seconds=10)


class Shard:
    """The process of one shard. Its folder stands for the volume, which is at one process at a time."""

    def __init__(self, server, folder, key, log):
        self.server, self.folder, self.key, self.log = server, folder, key, log
        self.port, self.process = None, None

    def start(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            [self.server, "serve", "--data", str(self.folder), "--port", str(self.port), "--trusted-proxy", "127.0.0.1"],
            stdout=self.log, stderr=self.log, env={**os.environ, "REALM_REST_ADMIN_KEY_FILE": str(self.key)})
        until(lambda: request(self.port, "GET", "/healthz")[0] == 200, "a shard answers")

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(30)


class Proxy:
    """HAProxy with the configuration of docker/fleet."""

    def __init__(self, folder, shards, log):
        self.port, self.socket, self.map = free_port(), folder / "haproxy.sock", folder / "owners.map"
        shutil.copy(FLEET / "owners.map", self.map)
        environment = {"LISTEN": f"127.0.0.1:{self.port}", "SOCKET": str(self.socket), "MAP": str(self.map)}
        for name, shard in shards.items():
            environment[f"SHARD_{name.upper()}"] = f"127.0.0.1:{shard.port}"
        self.process = subprocess.Popen(
            ["haproxy", "-f", str(FLEET / "haproxy.cfg"), "-db"], stdout=log, stderr=log, env={**os.environ, **environment})
        until(lambda: request(self.port, "GET", "/healthz")[0] == 200, "HAProxy answers")

    def tell(self, command):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(self.socket))
            one.sendall(command.encode() + b"\n")
            answer = b""
            while piece := one.recv(4096):
                answer += piece
        return answer.decode()

    def address(self, name, port):
        self.tell(f"set server {name}/main addr 127.0.0.1 port {port}")
        self.tell(f"set server {name}/main health up")


class Writer(threading.Thread):
    """Writes entries to a realm as fast as they are acknowledged, each until it is."""

    def __init__(self, port, realm, number, headers):
        super().__init__(daemon=True)
        self.port, self.realm, self.number, self.headers = port, realm, number, headers
        self.acknowledged, self.refusals, self.stopped = [], 0, False
        self.longest, self.conflicts, self.statuses = 0.0, 0, {}

    def run(self):
        count, last = 0, time.monotonic()
        while not self.stopped:
            entry = {"_id": f"{self.number}-{count}", "number": count}
            headers = {**self.headers, "Idempotency-Key": f"{self.realm}-{entry['_id']}"}
            try:
                status = request(self.port, "POST", f"/v1/realms/{self.realm}/objects/Entry", entry, headers)[0]
            except (OSError, http.client.HTTPException):
                status = 0
            if status in (201, 409):
                # The answer of the first attempt was lost with its connection; the key is not known to the next process.
                self.conflicts += status == 409
                self.acknowledged.append(entry["_id"])
                now = time.monotonic()
                self.longest, last = max(self.longest, now - last), now
                count += 1
            else:
                self.refusals += 1
                self.statuses[status] = self.statuses.get(status, 0) + 1
                time.sleep(0.005)


def entries(port, realm, headers):
    """The keys of all entries, page by page."""
    keys, after = [], ""
    while after is not None:
        status, body, _ = request(
            port, "GET", f"/v1/realms/{realm}/objects/Entry?limit=1000&fields=_id" + after, None, headers)
        assert status == 200, (status, body[:300])
        page = json.loads(body)
        keys += [row["_id"] for row in page["items"]]
        after = "&after=" + page["next"] if page["next"] else None
    return keys


class Trial:
    def __init__(self, server, folder):
        self.folder, self.log = folder, open(folder / "log", "w")
        self.key = folder / "admin.key"
        self.key.write_bytes(subprocess.check_output(
            [server, "keys", "add", "first", "--role", "admin", "--data", str(self.make("keys"))]))
        self.headers = {"Authorization": "Bearer " + self.key.read_text().strip()}
        self.shards = {name: Shard(server, self.make(name), self.key, self.log) for name in "ab"}
        for shard in self.shards.values():
            shard.start()
        self.proxy = Proxy(folder, self.shards, self.log)
        self.failures = []

    def make(self, name):
        (self.folder / name).mkdir()
        return self.folder / name

    def expect(self, condition, what):
        print(("ok   " if condition else "FAIL ") + what)
        if not condition:
            self.failures.append(what)

    def owner(self, realm):
        return "a" if zlib.crc32(realm.encode()) % 1024 < 512 else "b"

    def names(self, shard, count):
        names = (f"realm-{number}" for number in range(10_000))
        return [name for name in names if self.owner(name) == shard][:count]

    def route(self):
        """Realms are made through the proxy, and are where the map says."""
        for name in self.names("a", 3) + self.names("b", 3):
            status, body, _ = request(
                self.proxy.port, "POST", "/v1/realms", {"name": name, "schema": SCHEMA}, self.headers)
            assert status == 201, (status, body)
            here = {shard: (self.shards[shard].folder / f"{name}.realm").exists() for shard in "ab"}
            self.expect(here == {shard: shard == self.owner(name) for shard in "ab"}, f"{name} is at shard {self.owner(name)}")
        name = self.names("b", 1)[0]
        quoted = "%" + f"{ord(name[0]):02x}" + name[1:]
        self.expect(
            request(self.proxy.port, "GET", f"/v1/realms/{quoted}", None, self.headers)[0] == 200, f"{quoted} is {name}")
        self.expect(request(self.proxy.port, "GET", "/metrics", None, self.headers)[0] == 404, "/metrics is not passed on")

    def move(self, how, what):
        """Moves shard a to another process while four realms of both are written."""
        realms = self.names("a", 2) + self.names("b", 2)
        writers = [
            Writer(self.proxy.port, realm, f"{what.split()[0]}-{number}", self.headers) for realm in realms for number in range(2)]
        for writer in writers:
            writer.start()
        time.sleep(1)
        begin = time.monotonic()
        old = self.shards["a"]
        old.end(how)
        ended = time.monotonic() - begin
        new = Shard(old.server, old.folder, old.key, old.log)
        new.start()
        self.proxy.address("a", new.port)
        self.shards["a"] = new
        moved = time.monotonic() - begin
        time.sleep(2)
        for writer in writers:
            writer.stopped = True
        for writer in writers:
            writer.join(30)
        lost, twice = 0, 0
        for realm in realms:
            there = entries(self.proxy.port, realm, self.headers)
            known = [key for writer in writers if writer.realm == realm for key in writer.acknowledged]
            lost += len(set(known) - set(there))
            twice += len(there) - len(set(there))
        of_a = [writer for writer in writers if self.owner(writer.realm) == "a"]
        of_b = [writer for writer in writers if self.owner(writer.realm) == "b"]
        count = sum(len(writer.acknowledged) for writer in writers)
        print(f"     {what}: {count} writes acknowledged; the old process ended after {ended * 1000:.0f} ms, the move took "
              f"{moved * 1000:.0f} ms; writes to the shard stood for {max(w.longest for w in of_a) * 1000:.0f} ms "
              f"({sum(w.refusals for w in of_a)} attempts refused, {sum(w.conflicts for w in of_a)} found done), to the other one for "
              f"{max(w.longest for w in of_b) * 1000:.0f} ms")
        self.expect(lost == 0 and twice == 0, f"{what}: no acknowledged write is lost ({lost}), none is there twice ({twice})")
        self.expect(all(writer.acknowledged for writer in writers), f"{what}: all writers went on")
        self.expect(sum(writer.refusals for writer in of_b) == 0, f"{what}: the other shard refused nothing")
        self.expect(max(writer.longest for writer in of_a) < 15, f"{what}: the shard is written again within 15 s")

    def fence(self):
        """A second process does not get the files of a shard that is served, and numbers without an owner go nowhere."""
        intruder = Shard(self.shards["a"].server, self.shards["a"].folder, self.key, self.log)
        intruder.start()
        name = self.names("a", 1)[0]
        status, body, _ = request(
            intruder.port, "POST", f"/v1/realms/{name}/objects/Entry", {"_id": "intruder", "number": 1}, self.headers)
        self.expect(status == 503, f"a second process on the same folder cannot write ({status})")
        intruder.end(signal.SIGTERM)
        number = zlib.crc32(name.encode()) % 1024
        self.proxy.tell(f"set map {self.proxy.map} {number} none")
        status, _, headers = request(self.proxy.port, "GET", f"/v1/realms/{name}", None, self.headers)
        self.expect(status == 503 and "retry-after" in {k.lower() for k in headers}, f"a number without an owner answers {status}")
        self.proxy.tell(f"set map {self.proxy.map} {number} a")
        self.expect(request(self.proxy.port, "GET", f"/v1/realms/{name}", None, self.headers)[0] == 200, "and is back with it")

    def nginx(self):
        """The map of docker/fleet/nginx.conf sends each name to one shard, however it is written."""
        port, folder = free_port(), self.make("nginx")
        text = (FLEET / "nginx.conf").read_text().replace("listen 8080;", f"listen 127.0.0.1:{port};")
        for number, shard in ((8101, "a"), (8102, "b")):
            text = text.replace(f"127.0.0.1:{number}", f"127.0.0.1:{self.shards[shard].port}")
        (folder / "fleet.conf").write_text(text)
        (folder / "nginx.conf").write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
            f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n"
            f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; include {folder}/fleet.conf; }}\n")
        nginx = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], stdout=self.log, stderr=self.log)
        try:
            until(lambda: request(port, "GET", "/healthz")[0] == 200, "nginx answers")
            seen = set()
            for number in range(24):
                name = f"n{number}"
                found = set()
                for path in (f"/v1/realms/{name}", f"/v1/realms/%6e{number}", f"/v1/realms/{name}/schema"):
                    # Neither shard has it. The one that was asked has counted it.
                    before = self.requests()
                    request(port, "GET", path, None, self.headers)
                    after = self.requests()
                    found |= {shard for shard in "ab" if after[shard] > before[shard]}
                if len(found) != 1:
                    self.expect(False, f"nginx sends {name} to {found}")
                seen |= found
            self.expect(seen == {"a", "b"}, "nginx sends each of 24 names to one shard, and both get some")
            status = request(port, "POST", "/v1/realms", {"name": "n1"}, self.headers)[0]
            self.expect(status == 403, f"nginx makes no realms ({status})")
        finally:
            nginx.send_signal(signal.SIGQUIT)
            nginx.wait(10)

    def requests(self):
        """How many requests each shard has answered with 404, which checks of health are not."""
        counts = {}
        for name, shard in self.shards.items():
            text = request(shard.port, "GET", "/metrics", None, self.headers)[1].decode()
            counts[name] = sum(float(line.rsplit(" ", 1)[1]) for line in text.split("\n")
                               if line.startswith("realm_rest_requests_total") and '"404"' in line)
        return counts

    def run(self):
        try:
            self.route()
            self.move(signal.SIGTERM, "planned move")
            self.move(signal.SIGKILL, "killed process")
            self.fence()
            if shutil.which("nginx"):
                self.nginx()
        finally:
            self.proxy.process.terminate()
            for shard in self.shards.values():
                shard.process.kill()
        return self.failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=str(ROOT / ".build-release/release/realm-rest"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="realm-rest-fleet-") as folder:
        trial = Trial(arguments.server, Path(folder))
        failures = trial.run()
        if failures:
            print((Path(folder) / "log").read_text()[-3000:])
    sys.exit(f"{len(failures)} failed" if failures else 0)


if __name__ == "__main__":
    main()
