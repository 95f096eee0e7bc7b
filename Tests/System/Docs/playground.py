# SPDX-License-Identifier: Apache-2.0
"""A temporary folder with a server of the sample realm, and a shell in which the commands of one document run."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

SYSTEM = Path(__file__).resolve().parents[1]
sys.path += [str(SYSTEM), str(SYSTEM / "Formats")]

import postgres  # noqa: E402: it is beside the other tests of formats
from harness import ROOT, SAMPLE as DATA, Program, free_port  # noqa: E402

# Says on standard error which status each request of a command was answered with.
CURL = """#!/bin/sh
exec {curl} -sS -w '%{{stderr}}@@status %{{http_code}}\\n' "$@"
"""

# Realms that a document has beside the sample realm.
FURTHER_REALMS = {"docs/operations.md": ["app.realm"]}

# Words in capital letters stand for a reader's own files in the commands of the program.
PLACEHOLDERS = {
    "FILE": "app.realm", "TARGET": "copy.realm", "FOLDER": "backups", "KEY": "key.hex", "DIR": "realms",
}
SERVING = re.compile(r"^\S*realm-rest (serve|open|demo)\b")


class Failure(Exception):
    """A command that did not do what the document says."""


class Files:
    """Files of which each playground gets copies. They are made once."""

    def __init__(self, server):
        self.folder = Path(tempfile.mkdtemp(prefix="docs-files-"))
        self.server = server
        run = lambda *arguments: subprocess.run([server, *map(str, arguments)], check=True, capture_output=True)
        (self.folder / "key.hex").write_text("0123456789abcdef" * 8 + "\n")
        os.chmod(self.folder / "key.hex", 0o600)
        run("import", DATA, self.folder / "app.realm")
        run("copy", self.folder / "app.realm", self.folder / "secret.realm", "--new-key-file", self.folder / "key.hex")
        shutil.copy2(self.folder / "app.realm", self.folder / "store.realm")
        (self.folder / "realm-rest.yaml").write_text("data: realms\n")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout", "realms.key",
             "-out", "realms.pem"], cwd=self.folder, check=True, capture_output=True)
        for left in self.folder.glob("*.lock"):
            left.unlink()

    def copy(self, folder):
        for file in self.folder.iterdir():
            shutil.copy2(file, folder / file.name)
        (folder / "realms").mkdir()
        (folder / "backups").mkdir()
        (folder / "demo").mkdir()
        (folder / "demo" / DATA.name).symlink_to(DATA)
        release = folder / ".build-release" / "release"
        release.mkdir(parents=True)
        (release / "realm-rest").symlink_to(self.server)

    def remove(self):
        shutil.rmtree(self.folder)


class Playground:
    """Where the commands of one document run."""

    def __init__(self, document, server, files):
        self.folder = Path(tempfile.mkdtemp(prefix="docs-"))
        self.ports, self.servers, self.streams, self.number = {}, [], [], 0
        files.copy(self.folder)
        self.make_programs(server)
        (self.folder / ".demo").mkdir()
        for file in FURTHER_REALMS.get(document, []):
            shutil.copy2(self.folder / file, self.folder / ".demo" / file)
        self.demo = Program([server, "demo", "--folder", self.folder / ".demo", "--data", DATA, "--port", "0"], cwd=self.folder)
        self.ports["8080"] = str(self.demo.port)
        # A private PostgreSQL for the document that moves data there.
        self.cluster = postgres.Cluster() if document == "docs/moving.md" and postgres.binaries() else None
        self.begin_shell()

    def make_programs(self, server):
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "curl").write_text(CURL.format(curl=shutil.which("curl")))
        (programs / "curl").chmod(0o755)
        (programs / "realm-rest").symlink_to(server)

    def begin_shell(self):
        reading, writing = os.pipe()
        environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder), "TMPDIR": str(self.folder),
            "LC_ALL": "C.UTF-8", "no_proxy": "127.0.0.1,localhost", "DONE": str(writing), "TZ": "UTC",
            **(self.cluster.environment if self.cluster else {}),
        }
        self.shell = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, text=True, cwd=self.folder, env=environment, pass_fds=[writing],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        self.done = os.fdopen(reading)

    def real(self, text):
        """Returns a text with the ports of this run."""
        return re.sub(r"(127\.0\.0\.1:|localhost:|--port )(\d{4})\b", lambda found: found[1] + self.port(found[2]), text)

    def shown(self, text):
        """Returns a text with the ports and the folder of the document."""
        for name, port in self.ports.items():
            text = re.sub(rf"(?<=:){port}\b", name, text)
        return text.replace(str(self.folder) + "/", "").replace(str(self.folder), ".")

    def port(self, name):
        if name not in self.ports:
            self.ports[name] = str(free_port())
        return self.ports[name]

    def run(self, command):
        """Runs a command and returns what it prints and the statuses of its requests."""
        self.number += 1
        out, error = self.folder / f".out{self.number}", self.folder / f".err{self.number}"
        code = self.execute(self.prepared(command), f">{out} 2>{error}")
        text = error.read_text(errors="replace")
        statuses = [int(status) for status in re.findall(r"^@@status (\d+)$", text, re.M)]
        printed = self.shown(out.read_text(errors="replace"))
        complaint = re.sub(r"^@@status \d+\n", "", text, flags=re.M).strip()
        return printed, statuses, code, self.shown(complaint)

    def prepared(self, command):
        command = self.real(command)
        if re.match(r"^\S*realm-rest ", command):
            command = re.sub(r"(?<![\w/.=-])([A-Z]{3,})(?![\w(/])", lambda word: PLACEHOLDERS.get(word[1], word[1]), command)
        return command

    def execute(self, command, redirection):
        script = self.folder / f".command{self.number}"
        script.write_text(command + "\n")
        self.shell.stdin.write(f". {script} {redirection} </dev/null; echo $? >&$DONE\n")
        self.shell.stdin.flush()
        return int(self.done.readline() or 255)

    def begin(self, command):
        """Begins a command that goes on by itself, and returns the file with what it prints."""
        self.number += 1
        out = self.folder / f".out{self.number}"
        self.execute(f"({self.prepared(command)}\n) >{out} 2>&1 </dev/null & LAST=$!", "")
        self.execute("echo $LAST", f">{self.folder / '.pid'}")
        return out, int((self.folder / ".pid").read_text())

    def serve(self, command):
        """Starts a server. One whose port the document names stays until the next one, or to the end of the document."""
        port = re.search(r"--port (\d{4})|--listen \S*:(\d{4})", command)
        while self.servers:
            self.end(self.servers.pop())
        if not port:
            command = re.sub(r"\s*(#.*)?$", " --port 0", command, count=1)
        if " open " in command:
            command += " --no-browser"
        out, pid = self.begin(command)
        try:
            self.wait_for(out, r"http://|https://|listening on")
        except Failure:
            self.end(pid)
            raise
        if port:
            self.servers.append(pid)
        else:
            self.end(pid)

    def end(self, pid):
        """Ends a process of the shell together with its children."""
        children = Path(f"/proc/{pid}/task/{pid}/children")
        inner = children.read_text().split() if children.exists() else []
        for one in [*map(int, inner), pid]:
            try:
                os.kill(one, 15)
            except ProcessLookupError:
                pass
        for _ in range(100):
            if not any(Path(f"/proc/{one}/exe").exists() for one in [*map(int, inner), pid]):
                return
            time.sleep(0.05)

    def wait_for(self, file, pattern, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = file.read_text(errors="replace") if file.exists() else ""
            found = re.search(pattern, text)
            if found:
                return found
            time.sleep(0.05)
        raise Failure(f"the server does not start: {self.shown(text).strip()}")

    def count(self, class_name, query, arguments):
        """Returns how many objects match a query, or the code of the problem."""
        parameters = {"where": query, "limit": "0", "count": "exact"}
        if arguments:
            parameters["args"] = arguments
        url = f"http://127.0.0.1:{self.ports['8080']}/v1/realms/store/objects/{class_name}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return str(json.load(answer)["count"]), None
        except urllib.error.HTTPError as error:
            problem = json.load(error)
            return problem["code"], problem["detail"]

    def remove(self):
        for pid in [*self.servers, *(pid for _, pid, _ in self.streams)]:
            self.end(pid)
        self.shell.stdin.close()
        self.shell.wait(timeout=20)
        self.demo.end()
        if self.cluster:
            self.cluster.stop()
        shutil.rmtree(self.folder)
