# SPDX-License-Identifier: Apache-2.0
"""Servers of PostgreSQL for tests: one, or a primary with standbys that it waits for."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "System"))
from harness import free_port  # noqa: E402

BINARIES = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1]


def as_user():
    """The beginning of a command that may not run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.geteuid() == 0 else []


def descendants(process):
    """The processes that a process has started, and those that they have."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                pass
    found = set()
    while more := {one for one, parent in parents.items() if parent in found | {process}} - found:
        found |= more
    return found


class Postgres:
    """One server, on a port of loopback or of its machine, and on a socket in its folder."""

    def __init__(self, folder, name="p1", primary=None, settings=(), machine=None):
        self.folder, self.name, self.process, self.machine = folder / name, name, None, machine
        self.host, self.port = (machine.address, 5432) if machine else ("127.0.0.1", free_port())
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.settings = [f"listen_addresses={self.host}", f"unix_socket_directories={self.folder}", f"port={self.port}",
                         "max_connections=100", "max_wal_senders=8", "hot_standby=on", "wal_sender_timeout=3s",
                         "wal_receiver_timeout=3s", *settings]
        if primary is None:
            self.tool("initdb", "-D", self.data, "-U", "realm", "-A", "trust", "-E", "UTF8", "--locale=C")
            if machine:
                with open(self.folder / "data" / "pg_hba.conf", "a") as file:
                    file.write("host all,replication all samenet trust\n")
        else:
            place = primary.network_address if machine else primary.address
            self.tool("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d", f"{place} application_name={name}")

    @property
    def data(self):
        return str(self.folder / "data")

    @property
    def address(self):
        return f"host={self.folder} port={self.port} user=realm dbname=postgres"

    @property
    def network_address(self):
        return f"host={self.host} port={self.port} user=realm dbname=postgres connect_timeout=3"

    @property
    def command(self):
        """The beginning of a command that runs where the server does."""
        return [*(self.machine.command if self.machine else []), *as_user()]

    def tool(self, name, *arguments):
        done = subprocess.run([*self.command, f"{BINARIES}/{name}", *arguments], check=False, cwd="/", capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{name} of {self.name}: {done.stderr.strip()}")

    def start(self):
        options = [part for setting in self.settings for part in ("-c", setting)]
        log = open(self.folder / "log", "ab")
        environment = {**os.environ, **(self.machine.environment if self.machine else {})}
        self.process = subprocess.Popen([*self.command, f"{BINARIES}/postgres", "-D", self.data, *options], cwd="/", stdout=log,
                                        stderr=log, start_new_session=True, env=environment)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if subprocess.run([f"{BINARIES}/pg_isready", "-q", "-h", str(self.folder), "-p", str(self.port)], check=False,
                              stdout=subprocess.DEVNULL).returncode == 0:
                return self
            time.sleep(0.05)
        raise SystemExit(f"PostgreSQL does not start: {self.folder}/log")

    def signal(self, how):
        """Sends a signal to the server and all its processes, each of which is in a group of its own."""
        told, found = set(), {self.process.pid} | descendants(self.process.pid)
        while found - told:
            for process in found - told:
                told.add(process)
                try:
                    os.kill(process, how)
                except ProcessLookupError:
                    pass
            # One that was not stopped yet may have started another.
            found |= descendants(self.process.pid)

    def kill(self):
        """Ends the server as a crash of the machine would, but for its disk."""
        if self.process is None:
            return
        try:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(30)
        self.process = None
        lock = self.folder / "data" / "postmaster.pid"
        if lock.exists():
            lock.unlink()

    def promote(self):
        self.tool("pg_ctl", "promote", "-w", "-s", "-D", self.data)

    def sql(self, statement):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-d", self.address, "-c", statement], check=True, text=True,
                              capture_output=True)
        return done.stdout.strip()

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
