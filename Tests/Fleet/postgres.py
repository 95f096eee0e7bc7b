# SPDX-License-Identifier: Apache-2.0
"""Servers of PostgreSQL for tests: one, or a primary with standbys that it waits for."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

BINARIES = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1]


def as_user():
    """The beginning of a command that may not run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.geteuid() == 0 else []


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Postgres:
    """One server, on a port of loopback and on a socket in its folder."""

    def __init__(self, folder, name="p1", primary=None, settings=()):
        self.folder, self.name, self.port, self.process = folder / name, name, free_port(), None
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.settings = ["listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", f"port={self.port}",
                         "max_connections=100", "max_wal_senders=8", "hot_standby=on", "wal_sender_timeout=3s",
                         "wal_receiver_timeout=3s", *settings]
        if primary is None:
            self.tool("initdb", "-D", self.data, "-U", "realm", "-A", "trust", "-E", "UTF8", "--locale=C")
        else:
            self.tool("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d",
                      f"{primary.address} application_name={name}")

    @property
    def data(self):
        return str(self.folder / "data")

    @property
    def address(self):
        return f"host={self.folder} port={self.port} user=realm dbname=postgres"

    def tool(self, name, *arguments):
        subprocess.run([*as_user(), f"{BINARIES}/{name}", *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def start(self):
        options = [part for setting in self.settings for part in ("-c", setting)]
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen([*as_user(), f"{BINARIES}/postgres", "-D", self.data, *options], cwd="/", stdout=log,
                                        stderr=log, start_new_session=True)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if subprocess.run([f"{BINARIES}/pg_isready", "-q", "-h", str(self.folder), "-p", str(self.port)], check=False,
                              stdout=subprocess.DEVNULL).returncode == 0:
                return self
            time.sleep(0.05)
        raise SystemExit(f"PostgreSQL does not start: {self.folder}/log")

    def signal(self, how):
        """Sends a signal to the server and all its processes."""
        os.killpg(self.process.pid, how)

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
