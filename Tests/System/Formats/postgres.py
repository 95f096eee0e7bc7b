# SPDX-License-Identifier: Apache-2.0
"""A private server of PostgreSQL, and what its tables hold."""
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile


def binaries():
    """The folder of the newest server of PostgreSQL; None when it or its client is not installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and shutil.which("psql") else None


class Cluster:
    """A private cluster of PostgreSQL on a socket in a temporary folder."""

    def __init__(self):
        self.binaries = binaries()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="realm-rest-pg-"))
        self.user = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "nobody")
        self.run("initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o",
                 f"-c listen_addresses= -k {self.folder} -c fsync=off -c timezone=UTC", "start")
        self.environment = {"PGHOST": str(self.folder), "PGUSER": "tester", "PGDATABASE": "postgres"}

    def run(self, name, *arguments):
        subprocess.run([self.binaries / name, *arguments], check=True, stdout=subprocess.DEVNULL, cwd="/", **self.user)

    def sql(self, database, *arguments, **options):
        return subprocess.run(["psql", "-X", "-q", "-h", self.folder, "-U", "tester", "-v", "ON_ERROR_STOP=1", *arguments, database],
                              capture_output=True, cwd="/", **options)

    def load(self, script, name):
        """Runs a script in a new database; returns its tables."""
        self.sql("postgres", "-c", f'CREATE DATABASE "{name}"')
        done = self.sql(name, "-f", script)
        assert done.returncode == 0, done.stderr.decode()[:2000]
        listed = self.sql(name, "-At", "-F", "\t", "-c", "SELECT table_name, column_name, data_type FROM information_schema.columns "
                          "WHERE table_schema = 'public' ORDER BY table_name, ordinal_position").stdout.decode()
        columns = {}
        for line in listed.splitlines():
            table, column, kind = line.split("\t")
            columns.setdefault(table, []).append((column, kind))
        tables = {table: [] for table in columns}
        for table, forms in columns.items():
            quoted = table.replace('"', '""')
            text = self.sql(name, "-c", f'COPY "{quoted}" TO STDOUT').stdout.decode()
            for line in text.split("\n")[:-1]:
                cells = [cell(*each) for each in zip(line.split("\t"), (kind for _, kind in forms))]
                row, index = {}, 0
                while index < len(forms):
                    column, kind = forms[index]
                    if kind == "timestamp with time zone":
                        row[column] = cells[index] if cells[index + 1] is None else cells[index + 1]
                        index += 2
                    else:
                        row[column] = cells[index]
                        index += 1
                tables[table].append(row)
        self.sql("postgres", "-c", f'DROP DATABASE "{name}"')
        return tables

    def stop(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def cell(text, kind):
    """Reads what COPY writes for a value."""
    if text == "\\N":
        return None
    text = re.sub(r"\\(.)", lambda match: ESCAPES[match[1]], text)
    if kind == "bigint":
        return int(text)
    if kind == "boolean":
        return text == "t"
    if kind in ("real", "double precision"):
        return float(text)
    if kind == "bytea":
        return bytes.fromhex(text[2:])
    if kind == "timestamp with time zone":
        return text.replace(" ", "T").replace("+00", "Z")
    return text
