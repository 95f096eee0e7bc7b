#!/usr/bin/env python3
"""Runs the program of the tarball in a root that has no Swift.

    unshare --mount --net --pid --fork --mount-proc try_tarball.py ROOT FOLDER
"""
import sys

import trial
from trial import Program, check, request

root, folder = sys.argv[1:]
trial.begin_network()
trial.mount_system(root)
swift = trial.run("find", root, "-xdev", "-name", "libswift*", "-o", "-xdev", "-name", "libFoundation*").stdout
check(not swift, "there is no library of Swift in this root")
nobody = trial.user_of(root, "nobody")
demo = Program(root, nobody, [f"{folder}/bin/realm-rest", "demo", "--folder", "/tmp/other", "--port", "8091"])
first = demo.first_answer("http://127.0.0.1:8091/v1/realms/store")
status, answer = request("http://127.0.0.1:8091/v1/realms/store/objects/Product?where=price%20%3E%20100&limit=1&fields=name")
check(status == 200, f"the program of the tarball answers after {first} ms with making its realm: {answer['items'][0]['name']!r}")
check(demo.end() == 0, "it ends")
