#!/usr/bin/env python3
"""Runs the service of the installed package by hand, as its unit says, and the demonstration beside it.

    unshare --mount --net --pid --fork --mount-proc try_service.py ROOT
"""
import os
import signal
import sys

import trial
from trial import Notifications, Program, check, request, say

root = sys.argv[1]
trial.begin_network()
trial.mount_system(root)


def unit():
    """The settings of the unit; of those with several values, the last."""
    with open(f"{root}/lib/systemd/system/realm-rest.service") as lines:
        return dict(line.strip().split("=", 1) for line in lines if "=" in line and line[0] not in "#;")


settings = unit()
say(f"ExecStart={settings['ExecStart']}  User={settings['User']}  UMask={settings['UMask']}")
user = trial.user_of(root, settings["User"])
states = Notifications(f"{root}/run/trial.sock", user)
service = Program(
    root, user, settings["ExecStart"].split(), umask=int(settings["UMask"], 8), environment={"NOTIFY_SOCKET": "/run/trial.sock"})
first = service.first_answer("http://127.0.0.1:8080/healthz")
states.wait("READY=1")
check(True, f"the service answers {first} ms after its start, and told READY=1")
check(service.status("Uid").split() == [str(user[0])] * 4, f"it runs as user {user[0]}, capabilities {service.status('CapEff')}")
base = "http://127.0.0.1:8080/v1"
status, made = request(base + "/realms", {"name": "store", "sample": "store"})
check(status == 201, "POST /v1/realms with the sample: 201")
status, page = request(base + "/realms/store/objects/Category?limit=1")
check(status == 200 and page["items"][0]["name"], f"a request for objects: {page['items'][0]['name']!r}")
file = os.stat(f"{root}/var/lib/realm-rest/store.realm")
check(file.st_uid == user[0] and file.st_mode & 0o077 == 0, f"store.realm is of user {file.st_uid}, mode {file.st_mode & 0o777:o}")
health = Program(root, user, ["/usr/bin/realm-rest", "health"])
check(health.process.wait(60) == 0, "realm-rest health: exit status 0")
service.process.send_signal(signal.SIGHUP)
states.wait("READY=1")
check(True, "SIGHUP reads the configuration again")
check(request(base + "/version")[1]["version"], f"GET /v1/version: {request(base + '/version')[1]}")
check(service.end() == 0, "SIGTERM ends it with exit status 0")

nobody = trial.user_of(root, "nobody")
demo = Program(root, nobody, ["/usr/bin/realm-rest", "demo", "--folder", "/tmp/demo", "--port", "8090"])
first = demo.first_answer("http://127.0.0.1:8090/v1/realms/store")
status, answer = request("http://127.0.0.1:8090/v1/realms/store/aggregate/Product?ops=count,max:price")
check(status == 200, f"realm-rest demo as nobody: first answer after {first} ms with making its realm; {answer}")
check(demo.end() == 0, "it ends")
