# SPDX-License-Identifier: Apache-2.0
"""Logs that keep a realm, with one seam: how an owner claims a realm, appends to it, and prunes it.

A head is what an owner knows of the end of a log. Each claim and each append that a log takes makes the next head of the one before it;
a log keeps its promise when no head has two next ones.
"""

import hashlib
import os
import re
from pathlib import Path

import psycopg2

from nats import NatsClient

STATEMENTS = Path(__file__).resolve().parents[2] / "Sources" / "RealmReplica" / "PostgreSQL" / "PostgresStatement.swift"


def statement(name):
    """The text of a statement of the server."""
    text = STATEMENTS.read_text()
    columns = re.search(r'headColumns = "([^"]*)"', text).group(1)
    found = re.search(rf'\n        case \.{name}:\s+return ("""\n(.*?)\n\s*"""|"([^"\n]*)")', text, re.DOTALL)
    return (found.group(2) or found.group(3)).replace("\\(PostgresStatement.headColumns)", columns)


class PostgresRealms:
    """An owner's connection to a log in PostgreSQL, with the statements of the server. A head is a version and an epoch."""

    TYPES = {"head": "text", "create": "text, text, bigint, bytea, bigint, text, text", "claim": "text, text, text, bigint",
             "append": "text, bigint, bytea, bigint, text, bigint, bytea, bytea", "prune": "text, text, bigint"}

    def __init__(self, address, name):
        self.connection, self.name = psycopg2.connect(address), name
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("set synchronous_commit = on")
        for one, types in self.TYPES.items():
            self.cursor.execute(f"prepare realm_{one} ({types}) as {statement(one)}")
        # What this owner knows of each realm: lineage, version, checksum, epoch and its token.
        self.known = {}

    def run(self, name, *values):
        """The rows of a statement, or the number of those that it has changed."""
        self.cursor.execute(f"execute realm_{name} ({', '.join(['%s'] * len(values))})", values)
        return self.cursor.fetchall() if self.cursor.description else self.cursor.rowcount

    def create(self, realm):
        self.run("create", realm, "lineage", 1, bytes(32), 1, "", "")

    def look(self, realm):
        """The head of a realm."""
        _, version, _, epoch, *_ = self.run("head", realm)[0]
        return version, epoch

    def claim(self, realm):
        """Takes a realm over. Returns the head before that and the one after it, or nothing when another owner was faster."""
        epoch, token = self.look(realm)[1], os.urandom(8).hex()
        rows = self.run("claim", realm, self.name, token, epoch)
        if not rows:
            return None
        lineage, version, checksum, epoch, *_ = rows[0]
        self.known[realm] = lineage, version, bytes(checksum), epoch, token
        return (version, epoch - 1), (version, epoch)

    def force(self, realm, owner):
        """Believes what another owner knows of a realm: two owners by hand."""
        self.known[realm] = owner.known[realm]

    def head(self, realm):
        _, version, _, epoch, _ = self.known[realm]
        return version, epoch

    def append(self, realm):
        """Appends a record after the head that is known. Returns `stored`, `fenced` or `unknown`."""
        lineage, version, checksum, epoch, token = self.known[realm]
        data = os.urandom(200)
        after = hashlib.sha256(checksum + data).digest()
        try:
            count = self.run("append", realm, version, checksum, epoch, token, version + 1, after, data)
        except psycopg2.OperationalError:
            return "unknown"
        if count == 0:
            return "fenced"
        self.known[realm] = lineage, version + 1, after, epoch, token
        return "stored"

    def prune(self, realm):
        """Removes all records but for the newest."""
        self.run("prune", realm, "lineage", self.look(realm)[0] - 1)

    def close(self):
        self.connection.close()


class NatsRealms:
    """An owner's connection to a log in JetStream, with a subject for each realm. A head is the number of the last message of the
    subject, and a claim is a message, too."""

    WRONG_SEQUENCE = 10071

    def __init__(self, port, name, stream="log"):
        self.client, self.name, self.stream, self.known = NatsClient(port), name, stream, {}

    def create(self, realm):
        answer = self.client.ask(f"{self.stream}.{realm}", b"first")
        assert "error" not in answer, answer

    def look(self, realm):
        answer = self.client.ask(f"$JS.API.STREAM.MSG.GET.{self.stream}", b'{"last_by_subj":"%s.%s"}' % (self.stream.encode(), realm.encode()))
        return answer["message"]["seq"]

    def publish(self, realm, after, data):
        """Appends a message if the last one is `after`. Returns the outcome and the number of the message."""
        try:
            answer = self.client.ask(f"{self.stream}.{realm}", data, {"Nats-Expected-Last-Subject-Sequence": after})
        except OSError:
            return "unknown", None
        if "error" not in answer:
            return "stored", answer["seq"]
        return ("fenced" if answer["error"].get("err_code") == self.WRONG_SEQUENCE else "unknown"), None

    def claim(self, realm):
        before = self.look(realm)
        outcome, number = self.publish(realm, before, self.name.encode())
        if outcome != "stored":
            return None
        self.known[realm] = number
        return before, number

    def force(self, realm, owner):
        self.known[realm] = owner.known[realm]

    def head(self, realm):
        return self.known[realm]

    def append(self, realm):
        outcome, number = self.publish(realm, self.known[realm], os.urandom(200))
        if outcome == "stored":
            self.known[realm] = number
        return outcome

    def prune(self, realm):
        self.client.ask(f"$JS.API.STREAM.PURGE.{self.stream}", b'{"filter":"%s.%s","keep":1}' % (self.stream.encode(), realm.encode()))

    def close(self):
        self.client.close()
