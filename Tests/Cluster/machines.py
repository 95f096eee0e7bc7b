# SPDX-License-Identifier: Apache-2.0
"""Machines of a test, without machines: each is a network namespace on one bridge, with an address, a wall clock and a disk of its own.

What goes from one to another can be dropped, one way or both; clocks jump; disks are full. All of it is inside namespaces of the test
itself, so nothing is left when it ends. It needs root."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NETWORK = "10.77.0"
MARK = "FLEET_MACHINES"
RULES = """table inet cut {
  set deaf { type ipv4_addr; }
  chain input { type filter hook input priority 0; ip saddr @deaf drop; }
}"""


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def enter(trial="ip link add fleet type bridge && nft add table inet cut", tools=("ip", "nft", "nsenter", "cc")):
    """Begins the program anew in namespaces of its own; false when that, or what the test does there, is not possible here."""
    if os.environ.get(MARK):
        run("mount", "-t", "tmpfs", "none", "/run")
        os.mkdir("/run/netns")
        run("ip", "link", "set", "lo", "up")
        return True
    if os.geteuid() != 0 or not all(shutil.which(tool) for tool in ("unshare", "mount", "ip", *tools)):
        return False
    command = ["unshare", "--net", "--mount", "--propagation", "private"]
    if subprocess.run([*command, "sh", "-c", f"mount -t tmpfs none /run && {trial}"], check=False, capture_output=True).returncode:
        return False
    os.environ[MARK] = "1"
    sys.stdout.flush()
    os.execvp("unshare", [*command, sys.executable, *sys.argv])
    return None


class Machines:
    """The bridge, and the machine at its end where the test itself runs."""

    def __init__(self, folder):
        self.folder, self.clock = folder, folder / "clock.so"
        run("cc", "-O1", "-shared", "-fPIC", "-o", str(self.clock), str(Path(__file__).with_name("clock.c")), "-ldl")
        run("ip", "link", "add", "fleet", "type", "bridge")
        run("ip", "address", "add", f"{NETWORK}.1/24", "dev", "fleet")
        run("ip", "link", "set", "fleet", "up")
        self.own = Machine.__new__(Machine)
        self.own.name, self.own.address, self.own.command = "clients", f"{NETWORK}.1", []
        self.own.tell(RULES)

    def make(self, name, number):
        return Machine(self, name, f"{NETWORK}.{number}")


class Machine:
    """One machine."""

    def __init__(self, machines, name, address):
        self.name, self.address, self.command = name, address, ["nsenter", f"--net=/run/netns/{name}", "--"]
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "wire", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "fleet", "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", f"{address}/24", "dev", "wire"], ["link", "set", "wire", "up"]):
            run("ip", "-n", name, *words)
        self.tell(RULES)
        self.offset, self.disk = machines.folder / f"{name}.clock", None
        self.set_clock(0)
        self.offset.chmod(0o644)
        self.environment = {"LD_PRELOAD": str(machines.clock), "CLOCK_OFFSET": str(self.offset)}

    def tell(self, rules):
        subprocess.run([*self.command, "nft", "-f", "-"], input=rules, text=True, check=True, capture_output=True)

    def ignore(self, other):
        """Drops what the other machine sends to this one."""
        self.tell(f"add element inet cut deaf {{ {other.address} }}")

    def listen(self):
        """Takes what anyone sends again."""
        self.tell("flush set inet cut deaf")

    def set_clock(self, seconds):
        """Moves the wall clock of programs that run, and of those to come, by so many seconds from the right time."""
        with open(self.offset, "r+b" if self.offset.exists() else "wb") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))

    def mount_disk(self, folder, size):
        """Puts a disk of so many bytes at a folder."""
        self.disk = folder
        run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder))

    def fill_disk(self, leaving):
        """Takes all room of the disk but for so many bytes."""
        with open(self.disk / "filler", "wb") as file:
            state = os.fstatvfs(file.fileno())
            room = state.f_bavail * state.f_frsize - leaving
            if room > 0:
                os.posix_fallocate(file.fileno(), 0, room)

    def free_disk(self):
        if self.disk is not None:
            (self.disk / "filler").unlink(missing_ok=True)
