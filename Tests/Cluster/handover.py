#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster behind nginx with the configuration of docker/fleet/nginx-cluster.conf: every request gets to the node of its realm with
method and body, whichever node it came to first, also when nodes end and come back."""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fleet import SCHEMA, Fleet
from nodes import call, until
from harness import free_port  # noqa: E402

FLEET = Path(__file__).resolve().parents[2] / "docker" / "fleet"


def expect(holds, what):
    print(("ok: " if holds else "NOT MET: ") + what, flush=True)
    if not holds:
        raise SystemExit(1)


def start_nginx(folder, fleet):
    port, text = free_port(), (FLEET / "nginx-cluster.conf").read_text()
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    for number, node in enumerate(fleet.nodes, 1):
        text = text.replace(f"127.0.0.1:810{number}", f"127.0.0.1:{node.port}")
    place = folder / "nginx"
    (place / "logs").mkdir(parents=True)
    (place / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {place}/pid; error_log {place}/error.log; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/a; "
        f"uwsgi_temp_path {place}/b; scgi_temp_path {place}/c;\n{text}}}\n")
    process = subprocess.Popen(["nginx", "-p", str(place), "-c", str(place / "nginx.conf")], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    until(lambda: call(port, "GET", "/healthz")[0] == 200, "nginx answers")
    return port, process


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    folder.chmod(0o755)
    fleet, nginx = None, None
    try:
        server, key = str(Path(options.server).resolve()), folder / "admin.key"
        key.write_bytes(subprocess.check_output([server, "keys", "add", "admin", "--role", "admin", "--data", str(folder)]))
        headers = {"Authorization": "Bearer " + key.read_text().strip()}
        fleet = Fleet(server, folder, 0, ["--hand-over", "accel", "--trusted-proxy", "127.0.0.1"],
                      {"REALM_REST_ADMIN_KEY_FILE": str(key)})
        port, nginx = start_nginx(folder, fleet)

        def send(method, path, body=None, version=None):
            return call(port, method, path, body, headers | ({"Realm-Min-Version": version} if version else {}))
        realms = [f"store{number}" for number in range(12)]
        statuses = [send("POST", "/v1/realms", {"name": realm, "schema": SCHEMA})[0] for realm in realms]
        expect(set(statuses) == {201}, f"twelve realms are made through any node: {statuses}")
        value, arrived = "x" * 300_000, []
        for realm in realms:
            for number in range(6):
                path = f"/v1/realms/{realm}/objects/Item"
                status, _, fields = send("POST", path, {"_id": str(number), "value": value, "list": []})
                arrived.append(status == 201)
                # Any node answers, once it has the version.
                arrived.append(json.loads(send("GET", f"{path}/{number}", version=fields["Realm-Version"])[1]).get("value") == value)
        owners = {node.name for node in fleet.nodes for realm in realms
                  if (node.folder / f"{realm}.realm").exists()}
        expect(all(arrived) and owners == {"n1", "n2", "n3"}, "72 bodies of 300 kB arrived at the nodes of their realms, all three of them")
        fleet.nodes[1].kill()
        numbers = iter(range(1000, 100000))

        def is_written(realm):
            return send("POST", f"/v1/realms/{realm}/objects/Item", {"_id": f"{next(numbers)}", "value": "", "list": []})[0] == 201
        until(lambda: all(is_written(realm) for realm in realms), "all realms are written again without one node", 30)
        expect(True, "all realms are written again without one node")
    finally:
        if nginx is not None:
            nginx.terminate()
            nginx.wait()
        if fleet is not None:
            fleet.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
