#!/usr/bin/env python3
"""Runs the root of the image as container engines do: read-only, with few rights, and with folders of other owners.

    unshare --mount --net --pid --fork --mount-proc try_image.py ROOT
"""
import errno
import os
import subprocess
import sys
import tempfile

import trial
from trial import CHOWN, SETGID, SETUID, Program, check, request, say

PROGRAM = "/usr/bin/realm-rest"
SERVE = [PROGRAM, "serve", "--data", "/data", "--host", "0.0.0.0", "--port", "8080"]
LIMIT_BYTES, LIMIT_MILLISECONDS = 60_000_000, 500


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


class Container:
    """The image with a folder of the host at /data."""

    def __init__(self, image, owner, mode=0o755):
        self.host = tempfile.mkdtemp()
        os.chmod(self.host, mode)
        os.chown(self.host, owner, owner)
        self.root = tempfile.mkdtemp()
        mount("--bind", image, self.root)
        mount("-o", "remount,bind,ro", self.root)
        mount("--bind", self.host, f"{self.root}/data")
        mount("-t", "tmpfs", "tmpfs", f"{self.root}/tmp")
        mount("-t", "proc", "proc", f"{self.root}/proc")

    def run(self, user, command=SERVE, capabilities=()):
        return Program(self.root, user, command, capabilities)


def key_in(text):
    """The key that a first start prints."""
    return next(word for word in text.split() if word.startswith("rr_"))


def serves(container, program, owner, title):
    """Checks that a server in a container answers, and writes with the rights of an owner."""
    say(f"\n== {title}")
    first = program.first_answer("http://127.0.0.1:8080/healthz")
    check(first < LIMIT_MILLISECONDS, f"first answer {first} ms after the start")
    check(program.status("Uid").split() == [str(owner)] * 4, f"it runs as user {owner}")
    check(int(program.status("CapEff"), 16) == 0 and program.status("NoNewPrivs") == "1", "it has no capabilities and gets none")
    status, _ = request("http://127.0.0.1:8080/v1/realms", {"name": "store", "sample": "store"}, key=key_in(program.said()))
    file = os.stat(f"{container.host}/store.realm")
    check(status == 201 and file.st_uid == owner, f"a realm that it makes is a file of user {file.st_uid} in the folder of the host")
    health = container.run((owner, owner), [PROGRAM, "health", "--port", "8080"])
    check(health.process.wait(60) == 0, "the health check: exit status 0")


def main():
    image = sys.argv[1]
    trial.begin_network()
    size = int(trial.run("du", "-sb", "--apparent-size", image).stdout.split()[0])
    check(size < LIMIT_BYTES, f"{size} bytes, less than {LIMIT_BYTES}")

    container = Container(image, 10001)
    program = container.run((10001, 10001))
    serves(container, program, 10001, "a folder of the image's user")
    try:
        open(f"{container.root}/usr/bin/other", "w").close()
        check(False, "the root is read-only")
    except OSError as error:
        check(error.errno == errno.EROFS, "the root is read-only")
    check(program.end() == 0, "SIGTERM ends it with exit status 0")
    check(container.run((10001, 10001), [PROGRAM, "health"]).process.wait(60) == 1, "the health check of a server that is gone: 1")

    adapting = [*SERVE, "--as-owner", "10001"]
    rights = (CHOWN, SETGID, SETUID)
    for owner, target, title in [
        (1234, 1234, "a folder of another user, as docker/compose.yaml has it"),
        (0, 10001, "a new folder of root, as docker/compose.yaml has it"),
    ]:
        container = Container(image, owner, 0o700)
        program = container.run((0, 0), adapting, rights)
        serves(container, program, target, title)
        program.end()

    say("\n== what cannot work says why")
    container = Container(image, 1234, 0o755)
    program = container.run((10001, 10001))
    check(program.process.wait(60) != 0, "a folder of another user, without adapting: " + program.said().strip())
    container = Container(image, 0)
    open(f"{container.host}/old.realm", "w").close()
    program = container.run((0, 0), adapting, rights)
    check(program.process.wait(60) != 0, "a folder of root with files: " + program.said().strip())


if __name__ == "__main__":
    main()
