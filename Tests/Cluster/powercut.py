#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The power of all machines is cut while clients write: nodes and servers of the log find what their disks had at that moment.

Every node and every server of PostgreSQL has an ext4 of its own in a file. At the cut all processes are stopped, the files are copied,
without what the system has not written to them yet, and the copies take their place. Files of some nodes are torn as well, and sometimes
the primary does not come back. All that was acknowledged has to be there. It needs root.

    powercut.py --server PATH --rounds 10
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machines
from fleet import SCHEMA, Fleet
from nodes import call, until
from writers import Writer, judge, stop


class Disk:
    """A file system in a file."""

    def __init__(self, folder, size):
        self.folder, self.file, self.copy = folder, folder.with_suffix(".disk"), folder.with_suffix(".copy")
        folder.mkdir(parents=True)
        with open(self.file, "wb") as file:
            file.truncate(size)
        machines.run("mkfs.ext4", "-q", "-F", str(self.file))
        self.mount()

    def mount(self):
        # The journal goes to the file when somebody asks for that, not by a clock, so a copy in between is that of one moment.
        machines.run("mount", "-o", "loop,commit=900", str(self.file), str(self.folder))

    def keep(self):
        """Copies what a cut of the power would leave."""
        (self.folder / "unsynced").write_text("This is lost.")
        # The system may write while the file is copied; two copies that are equal are of one moment.
        again = self.copy.with_suffix(".again")
        machines.run("cp", "--sparse=always", str(self.file), str(self.copy))
        for _ in range(20):
            machines.run("cp", "--sparse=always", str(self.file), str(again))
            is_same = subprocess.run(["cmp", "-s", str(self.copy), str(again)], check=False).returncode == 0
            os.replace(again, self.copy)
            if is_same:
                return
        raise SystemExit(f"{self.file} changes all the time")

    def cut(self):
        """Puts the copy in the place of the disk."""
        until(lambda: subprocess.run(["umount", str(self.folder)], check=False, capture_output=True).returncode == 0, "nobody uses the disk")
        os.replace(self.copy, self.file)
        self.mount()
        if (self.folder / "unsynced").exists():
            raise SystemExit("a disk has what nobody has synced: this is no cut of the power")


class Trial:
    """A fleet whose power is cut."""

    def __init__(self, options, folder):
        self.random, self.writers = random.Random(options.seed), {}
        self.disks = [Disk(folder / name, size) for names, size in ((("n1", "n2", "n3"), 64 << 20), (("s1", "s2", "s3"), 512 << 20))
                      for name in names]
        self.fleet = Fleet(str(Path(options.server).resolve()), folder, 2)
        for realm in (f"power{number}" for number in range(4)):
            body = {"name": realm, "schema": SCHEMA}
            until(lambda body=body: any(call(node, "POST", "/v1/realms", body)[0] == 201 for node in self.fleet.nodes), f"{realm} is made")
            self.writers[realm] = []

    def round(self, number):
        """Writes for a while, cuts the power, starts everything again, and compares."""
        running = [Writer(self.fleet.nodes, realm, f"{number}-{writer}") for realm in self.writers for writer in range(2)]
        for writer in running:
            self.writers[writer.realm].append(writer)
            writer.start()
        time.sleep(self.random.uniform(1, 5))
        if self.random.random() < 0.3:
            self.fleet.tell("move", "realm:power0", self.random.choice(self.fleet.nodes).name)
        self.cut()
        stop(running)
        torn = [name for node in self.fleet.nodes for name in self.tear(node)]
        is_lost = self.random.random() < 0.3
        self.start(is_lost)
        is_right = True
        for realm, writers in self.writers.items():
            was_right, text = judge(self.fleet, realm, writers)
            is_right = is_right and was_right
            print(f"round {number}, {realm}: {text}", flush=True)
        print(f"round {number}: torn {torn}, the primary is {'lost' if is_lost else 'back'}", flush=True)
        return is_right

    def cut(self):
        """Ends everything, with the disks as they are at one moment."""
        for node in self.fleet.nodes:
            node.pause()
        for server in self.fleet.servers:
            server.signal(signal.SIGSTOP)
        for disk in self.disks:
            disk.keep()
        for one in self.fleet.nodes + self.fleet.servers:
            one.kill()
        for disk in self.disks:
            disk.cut()

    def tear(self, node):
        """Cuts off the ends of some files, and returns their names."""
        torn = []
        for file in sorted([*node.folder.glob("*.realm"), *node.folder.glob("*.logged")]):
            if self.random.random() < 0.15:
                os.truncate(file, self.random.randrange(file.stat().st_size + 1))
                torn.append(f"{node.name}/{file.name}")
        return torn

    def start(self, is_lost):
        """Starts everything again, with another primary when that is lost."""
        for server in self.fleet.servers:
            (server.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
            if not is_lost or server is not self.fleet.primary:
                server.start()
        if is_lost:
            self.fleet.fail_over()
        for node in self.fleet.nodes:
            node.start(60)

    def end(self):
        self.fleet.end()
        for disk in self.disks:
            subprocess.run(["umount", str(disk.folder)], check=False, capture_output=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # A disk that can be mounted is all that has to be possible.
    trial = "truncate -s 8M /run/disk && mkfs.ext4 -q -F /run/disk && mount -o loop /run/disk /mnt"
    if not machines.enter(trial, ("mkfs.ext4",)):
        print("disks cannot be mounted here: power cuts are not tried")
        return 0
    folder = Path(tempfile.mkdtemp(prefix="power-"))
    folder.chmod(0o755)
    trial, wrong = None, options.rounds
    try:
        trial = Trial(options, folder)
        for number in range(1, options.rounds + 1):
            wrong -= trial.round(number)
    finally:
        if trial is not None:
            trial.end()
        if not wrong:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"logs are in {folder}", flush=True)
    print(f"{options.rounds - wrong} of {options.rounds} power cuts have lost nothing")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
