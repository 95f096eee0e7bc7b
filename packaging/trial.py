"""What the trials of packages and images share: programs that run in another root, and requests to them.

The trials run in namespaces of their own, so no port is taken, and no process is left behind.
"""
import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def say(text):
    """Prints one line at once."""
    print(text, flush=True)


def check(is_so, text):
    """Prints what was checked; ends the trial when it is not so."""
    say(("ok   " if is_so else "FAIL ") + text)
    if not is_so:
        sys.exit(1)


def run(*command, **options):
    """Runs a command and returns its outcome with its output."""
    return subprocess.run(command, capture_output=True, text=True, **options)


def begin_network():
    """Brings up loopback, which a new namespace has not."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def mount_system(root):
    """Gives a root the files of processes and the devices that every program expects."""
    subprocess.run(["mount", "-t", "proc", "proc", f"{root}/proc"], check=True)
    for name in ("null", "urandom"):
        with contextlib.suppress(FileExistsError):
            os.mknod(f"{root}/dev/{name}", 0o666 | 0o020000, os.stat(f"/dev/{name}").st_rdev)


def user_of(root, name):
    """The numbers of a user and its group, as a root names them."""
    with open(f"{root}/etc/passwd") as lines:
        fields = next(line.split(":") for line in lines if line.startswith(name + ":"))
    return int(fields[2]), int(fields[3])


LIBC = ctypes.CDLL(None, use_errno=True)
DROP_CAPABILITY, NO_NEW_PRIVILEGES = 24, 38
CHOWN, SETGID, SETUID = 0, 6, 7


class Program:
    """A program that runs in another root as another user, with few rights and without a way to more, as services do."""

    def __init__(self, root, user, command, capabilities=(), umask=0o022, environment=None):
        def confine():
            os.chroot(root)
            os.chdir("/")
            for number in range(64):
                if number not in capabilities:
                    LIBC.prctl(DROP_CAPABILITY, number, 0, 0, 0)
            LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            os.setgroups([])
            os.setresgid(user[1], user[1], user[1])
            os.setresuid(user[0], user[0], user[0])

        self.errors = tempfile.TemporaryFile("w+")
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=self.errors, umask=umask, preexec_fn=confine,
            env={"PATH": "/usr/bin:/bin", **(environment or {})})

    def milliseconds(self):
        """The time since the start."""
        return round((time.monotonic() - self.started) * 1000)

    def first_answer(self, url, seconds=60):
        """Asks until there is an answer, and returns after how many milliseconds that was."""
        while time.monotonic() - self.started < seconds and self.process.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url, timeout=5).read()
                return self.milliseconds()
            time.sleep(0.002)
        say(self.said())
        sys.exit("the program gave no answer")

    def said(self):
        """What was written to standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def status(self, name):
        """A line of what the system tells of the process."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(line.split(None, 1)[1].strip() for line in lines if line.startswith(name + ":"))

    def end(self):
        """Ends the program as a supervisor does, and returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


class Notifications:
    """The socket at which a service tells its state."""

    def __init__(self, path, owner):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        os.chown(path, *owner)
        self.socket.settimeout(120)

    def wait(self, text):
        """Waits for a state."""
        while text not in self.socket.recv(4096).decode().split("\n"):
            pass


def request(url, body=None, method=None, key=None):
    """Sends a request, and returns the status and the JSON of the answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=120) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")
