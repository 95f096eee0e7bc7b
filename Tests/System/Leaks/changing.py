#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for anything that outlives the rights by which it was begun.

Principals with keys, tokens and sessions read and write, and begin what outlives a request: registrations, tickets, outcomes of
asynchronous writes, idempotency keys, snapshots, transactions, page cursors, streams and polls. Meanwhile roles are changed by
reloads, tokens are renewed with the same or other roles, and keys are rotated and revoked.

Every value says whose it is, and owners never change, so it can be told of each text that the server sends whether the rights in
force show it. What was begun with the same rights has to go on, what was begun with others has to be gone. Requests with hidden
keys are sent in pairs, with one that exists and one that does not, and have to be answered alike.

    changing.py --server .build/debug/realm-rest --seeds 1-2 --reads 2000 --writes 500
"""
import argparse
import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

SECRET = b"a secret of at least thirty-two bytes"
SUBJECTS = ["ann", "bob", "cy"]
ROLES = ["r0", "r1", "r2", "r3"]
MARK = re.compile(r"z([AHP])(\d+)-(\w+)-([ksth])-(\d+)z")
ALL = ["read", "create", "update", "delete", "subscribe", "export", "import"]
OWN = "owner == $claims.sub"
REALM_RIGHTS = {"transactions": True, "import": True, "export": True}
# What a role says of each class, and what it shows: of which rows, and whether secrets, keys of P, and H.
VARIANTS = {
    "wide": {"classes": {"*": ALL}, **REALM_RIGHTS},
    "rows": {"classes": {"A": {"allow": ALL, "where": OWN}, "H": ALL, "P": ALL}, **REALM_RIGHTS},
    "bare": {"classes": {"A": {"allow": ALL, "fields": {"hide": ["secret"]}}, "P": {"allow": ALL, "fields": {"hide": ["ssn"]}}}, **REALM_RIGHTS},
    "thin": {
        "classes": {"A": {"allow": ALL, "where": OWN, "fields": {"hide": ["secret"]}}, "P": {"allow": ALL, "where": OWN, "fields": {"hide": ["ssn"]}}},
        **REALM_RIGHTS},
    "none": {"classes": {}},
}
SCHEMA = {"classes": [
    {"name": "A", "primaryKey": "id", "properties": [
        {"name": "id", "type": "string"}, {"name": "owner", "type": "string", "indexed": "general"},
        {"name": "secret", "type": "string", "optional": True}, {"name": "text", "type": "string", "optional": True},
        {"name": "n", "type": "int", "optional": True}, {"name": "friend", "type": "object", "objectType": "A"},
        {"name": "friends", "type": "object", "objectType": "A", "collection": "list"},
        {"name": "book", "type": "object", "objectType": "A", "collection": "dictionary"},
        {"name": "any", "type": "mixed"}, {"name": "h", "type": "object", "objectType": "H"}, {"name": "p", "type": "object", "objectType": "P"}]},
    {"name": "H", "primaryKey": "id", "properties": [
        {"name": "id", "type": "string"}, {"name": "owner", "type": "string"}, {"name": "text", "type": "string", "optional": True}]},
    {"name": "P", "primaryKey": "ssn", "properties": [
        {"name": "ssn", "type": "string"}, {"name": "owner", "type": "string"}, {"name": "text", "type": "string", "optional": True}]},
]}


def shows(variant, subject, mark):
    """Whether rights show a value."""
    kind, _, owner, what, _ = mark
    if variant == "wide":
        return True
    if variant in (None, "none"):
        return False
    if kind == "H":
        return variant == "rows"
    own = owner == subject
    if kind == "P":
        return variant == "rows" or (what != "k" and (variant == "bare" or own))
    if variant == "rows":
        return own
    return what != "s" and (variant == "bare" or own)


def identity(variant, subject):
    """What distinguishes rights: rows of one's own are others for everybody."""
    return (variant, subject if variant in ("rows", "thin") else None)


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(subject, role, seconds=3600):
    """Makes a token; it is accepted for a minute more than it says."""
    head = encode(b'{"alg":"HS256","typ":"JWT"}')
    claims = {"iss": "trial", "aud": "realm-rest", "sub": subject, "roles": [role], "exp": int(time.time()) + seconds, "jti": os.urandom(6).hex()}
    text = head + "." + encode(json.dumps(claims).encode())
    return text + "." + encode(hmac.new(SECRET, text.encode(), hashlib.sha256).digest())


class Credential:
    """A way to send requests: a key, a token, or the cookie of a session that was begun with one of these."""

    def __init__(self, owner, subject, role, fields, key_id=None):
        self.owner, self.subject, self.role, self.fields, self.key_id = owner, subject, role, fields, key_id
        self.isOver = False


class Thing:
    """Something that outlives the request that began it."""

    def __init__(self, kind, credential, rights, use):
        self.kind, self.owner, self.credential, self.rights, self.use = kind, credential.owner, credential, rights, use
        self.mayBeGone = False


class Stream(threading.Thread):
    """An open stream of events, which collects what it is told."""

    def __init__(self, port, target, fields, rights, number):
        super().__init__(daemon=True)
        self.text, self.hasEnded = "", False
        # The rights from each write on.
        self.periods = [(number, rights)]
        self.opened = number
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{head}\r\n".encode())
        self.start()
        # The rights are those at the time of the answer.
        until = time.monotonic() + 30
        while not self.text and not self.hasEnded and time.monotonic() < until:
            time.sleep(0.002)

    def run(self):
        pieces = []
        try:
            while True:
                data = self.socket.recv(65536)
                if not data:
                    break
                pieces.append(data)
                # Chunks may cut a value, so their lines are left out.
                self.text = re.sub(r"\r\n[0-9a-f]+\r\n", "", b"".join(pieces).decode("utf-8", "replace"))
        except OSError:
            pass
        self.hasEnded = True

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(5)
        self.socket.close()

    def rights(self, number):
        """The rights that were in force when something was written, or when the stream was opened."""
        found = None
        for begin, rights in self.periods:
            if begin <= max(number, self.opened):
                found = rights
        return found


class Trial:
    """A realm, its principals, and what they have begun."""

    def __init__(self, server, seed):
        self.server, self.seed, self.random = server, seed, random.Random(seed)
        self.realm = "w%d" % seed
        self.reads = self.writes = self.changes = self.refusals = self.events = 0
        self.number = 0
        self.failures, self.things, self.streams, self.credentials, self.keys = [], [], [], [], {"A": [], "H": [], "P": []}
        self.statuses = {}
        self.variants = {role: self.random.choice(["wide", "rows", "bare", "thin"]) for role in ROLES}
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.admin = Credential("boss", "boss", "admin", {"Authorization": "Bearer " + server.admin})

    # Requests

    def send(self, credential, method, path, body=None, fields=None, absolute=False, isWrite=None):
        """Sends a request, and compares what is answered with the rights in force. Returns status, header fields and text."""
        target = path if absolute else f"/v1/realms/{self.realm}{path}"
        head = {**(credential.fields if credential else {}), **(fields or {})}
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        if body is not None and "Content-Type" not in head:
            head["Content-Type"] = "application/json"
        for attempt in range(3):
            try:
                self.connection.request(method, target, body.encode() if body is not None else None, head)
                answer = self.connection.getresponse()
                text = answer.read().decode("utf-8", "replace")
                break
            except (http.client.HTTPException, ConnectionError):
                self.connection.close()
                if attempt == 2:
                    raise
        if credential is not self.admin:
            isWrite = method in ("POST", "PUT", "PATCH", "DELETE") if isWrite is None else isWrite
            self.writes += isWrite
            self.reads += not isWrite
            self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
            sent = set(MARK.findall(urllib.parse.unquote(target) + (body or "")))
            variant = self.variant(credential)
            for mark in set(MARK.findall(text)) - sent:
                if not shows(variant, credential.subject if credential else None, mark):
                    self.fail(f"{method} {target} {body or ''} as {self.describe(credential)}: {answer.status} shows {mark}: {text[:600]}")
                    break
        return answer.status, answer.headers, text

    def variant(self, credential):
        """The rights of a credential; nil without any."""
        if credential is None or credential.isOver:
            return None
        return "wide" if credential is self.admin else self.variants[credential.role]

    def rights(self, credential):
        return identity(self.variant(credential), credential.subject)

    def describe(self, credential):
        return f"{credential.owner} with {credential.role} ({self.variant(credential)})" if credential else "nobody"

    def fail(self, text):
        self.failures.append(f"seed {self.seed}, after {self.reads} reads, {self.writes} writes and {self.changes} changes: {text}")

    def expect(self, condition, text):
        if not condition:
            self.fail(text)

    # Data

    def mark(self, kind, number, owner, what):
        return f"z{kind}{number}-{owner}-{what}-{self.number}z"

    def body(self, kind, owner, number, variant="wide"):
        """Makes an object of an owner, as far as rights allow to write it."""
        self.number += 1
        rnd = self.random
        body = {"owner": owner, "text": self.mark(kind, number, owner, "t")}
        if kind != "P" or variant in ("wide", "rows"):
            body["ssn" if kind == "P" else "id"] = self.mark(kind, number, owner, "k")
        if kind == "A":
            body["n"] = rnd.randint(0, 5)
            body.update(self.links())
            if variant in ("wide", "rows"):
                body["secret"] = self.mark(kind, number, owner, "s")
        return body

    def links(self):
        """Makes links to objects, some of which are not visible to others."""
        rnd, keys = self.random, self.keys["A"]
        link = lambda: {"$link": {"class": "A", "key": rnd.choice(keys)}}
        if not keys:
            return {}
        forms = {
            "friend": link, "friends": lambda: [link() for _ in range(rnd.randint(0, 3))], "book": lambda: {"a": link(), "b": link()},
            "any": lambda: rnd.choice([link(), [link(), 1], {"x": link()}, 7]),
        }
        return {name: forms[name]() for name in rnd.sample(sorted(forms), rnd.randint(0, 2))}

    def prepare(self):
        status, _, text = self.send(self.admin, "POST", "/v1/realms", {"name": self.realm, "schema": SCHEMA}, absolute=True)
        if status >= 300:
            raise SystemExit(text)
        self.reload()
        for number in range(30):
            self.write_as_admin("create")
        for subject in SUBJECTS:
            for role in self.random.sample(ROLES, 2):
                self.add_token(subject, role)
            self.add_key(subject, self.random.choice(ROLES))

    def write_as_admin(self, what=None):
        """Changes what others see or do not see."""
        rnd = self.random
        what = what or rnd.choice(["create", "patch", "patch", "patch", "delete"])
        kind = rnd.choice(["A", "A", "A", "H", "P"])
        if what == "create" or not self.keys[kind]:
            body = self.body(kind, rnd.choice(SUBJECTS), len(self.keys[kind]) + 1000 * self.number)
            if kind == "A":
                for name, other in (("h", "H"), ("p", "P")):
                    if self.keys[other]:
                        body[name] = {"$link": {"class": other, "key": rnd.choice(self.keys[other])}}
            status, _, text = self.send(self.admin, "POST", "/objects/" + kind, body)
            self.expect(status == 201, f"the administrator's object: {status} {text[:300]}")
            return self.keys[kind].append(body["ssn" if kind == "P" else "id"])
        key = rnd.choice(self.keys[kind])
        _, number, owner, _, _ = MARK.match(key).groups()
        if what == "delete" and len(self.keys[kind]) > 40:
            self.send(self.admin, "DELETE", f"/objects/{kind}/{key}")
            return self.keys[kind].remove(key)
        body = self.body(kind, owner, number)
        for name in ("id", "ssn", "owner"):
            body.pop(name, None)
        self.send(self.admin, "PATCH", f"/objects/{kind}/{key}", body)

    # Credentials, and what changes rights

    def add_token(self, subject, role, seconds=3600):
        credential = Credential("jwt " + subject, subject, role, {"Authorization": "Bearer " + token(subject, role, seconds)})
        self.credentials.append(credential)
        return credential

    def add_key(self, subject, role):
        status, _, text = self.send(self.admin, "POST", "/admin/keys", {"name": subject, "roles": [role]}, absolute=True)
        made = json.loads(text)
        if status != 201:
            raise SystemExit(text)
        self.credentials.append(Credential("key " + made["id"], subject, role, {"Authorization": "Bearer " + made["key"]}, made["id"]))

    def reload(self, others=()):
        """Puts the variants in force."""
        self.server.configure({role: self.variants[role] for role in ROLES}, self.realm)
        status, _, text = self.send(self.admin, "POST", "/admin/reload", absolute=True)
        if status != 200:
            raise SystemExit(text)

    def turn(self, waits=True):
        """Notes from which write on streams have other rights."""
        if waits and any(not stream.hasEnded for stream in self.streams):
            # What a credential began ends within a second.
            time.sleep(1.1)
        self.number += 1
        for stream in self.streams:
            stream.periods.append((self.number, self.rights(stream.credential)))

    def change(self):
        """Changes the rights of somebody."""
        rnd = self.random
        self.changes += 1
        what = rnd.random()
        keys = [one for one in self.credentials if one.key_id]
        if what < 0.45:
            before = dict(self.variants)
            for role in rnd.sample(ROLES, rnd.randint(1, 2)):
                self.variants[role] = rnd.choice(list(VARIANTS))
            self.reload()
            for thing in self.things:
                # What a reload has ended does not come back with the rights.
                if before[thing.credential.role] != self.variants[thing.credential.role]:
                    thing.mayBeGone = True
            self.turn(waits=False)
        elif what < 0.47:
            self.expire()
        elif what < 0.75:
            tokens = [one for one in self.credentials if one.owner.startswith("jwt")]
            old = rnd.choice(tokens)
            # A token is renewed, with the same role or another one; the old one is not used any more.
            role = old.role if rnd.random() < 0.5 else rnd.choice(ROLES)
            self.add_token(old.subject, role)
            if len(tokens) > 8:
                self.credentials.remove(old)
        elif what < 0.9 and keys:
            old = rnd.choice(keys)
            _, _, text = self.send(self.admin, "POST", f"/admin/keys/{old.key_id}/rotate", absolute=True)
            self.drop(old)
            self.credentials.append(
                Credential(old.owner, old.subject, old.role, {"Authorization": "Bearer " + json.loads(text)["key"]}, old.key_id))
            self.turn()
        elif keys:
            old = rnd.choice(keys)
            self.send(self.admin, "DELETE", f"/admin/keys/{old.key_id}", absolute=True)
            self.drop(old)
            self.turn()
            self.add_key(old.subject, rnd.choice(ROLES))

    def expire(self):
        """Has a token expire while a stream and a registration of it are alive; a newer one goes on with the registration."""
        subject, role = self.random.choice(SUBJECTS), self.random.choice([one for one in ROLES if self.variants[one] != "none"] or ROLES)
        short = self.add_token(subject, role, -57)
        rights = self.rights(short)
        if rights[0] != "none":
            self.begin_stream(short, rights)
            self.begin_registration(short, rights)
            self.begin_ticket(short, rights)
        time.sleep(3.5)
        self.drop(short)
        self.turn()
        newer = self.add_token(subject, role)
        for thing in self.things:
            if thing.credential is short:
                self.use(thing, newer)

    def drop(self, old):
        """Notes that a credential is over, with the sessions that were begun with it."""
        for one in list(self.credentials):
            if one is old or getattr(one, "parent", None) is old:
                one.isOver = True
                self.credentials.remove(one)
                status, _, text = self.send(one, "GET", "/objects/A?limit=1")
                # After ten of them in a minute the address is slowed.
                self.expect(status in (401, 429), f"a credential that is over: {status} {text[:200]}")

    # What outlives a request

    def begin(self):
        """Begins something."""
        rnd = self.random
        credential = rnd.choice(self.credentials)
        rights = self.rights(credential)
        kind = rnd.choice(["registration", "ticket", "outcome", "idempotency", "snapshot", "cursor", "session", "transaction", "stream", "stream"])
        if rights[0] == "none":
            return self.expect(self.send(credential, "POST", "/snapshots", "{}")[0] == 404, "a realm without rights is there")
        getattr(self, "begin_" + kind)(credential, rights)
        if len(self.things) > 60:
            self.things.pop(rnd.randrange(30))

    def keep(self, kind, credential, rights, use):
        self.things.append(Thing(kind, credential, rights, use))

    def definition(self):
        rnd = self.random
        return rnd.choice([
            {"class": "A"}, {"class": "A", "where": "n >= 0", "sort": ["n"]}, {"class": "A", "expand": ["friend", "friends"]},
            {"class": "A", "where": "friends.@count > 0"}, {"class": "P"}, {"class": "A", "keyPaths": ["friend.n", "text"]}, {}])

    def begin_registration(self, credential, rights, isTicket=False):
        definitions = {"d%d" % index: self.definition() for index in range(self.random.randint(1, 3))}
        status, _, text = self.send(credential, "POST", "/subscriptions", {"subscriptions": definitions}, isWrite=False)
        if status == 429:
            return
        self.expect(status == 201, f"a registration of {self.describe(credential)}: {status} {text[:300]}")
        if status == 201:
            made = json.loads(text)
            if isTicket:
                return self.keep("ticket", credential, rights, lambda user: self.send(user, "GET", made["url"], absolute=True))
            self.keep(
                "registration", credential, rights, lambda user: self.send(
                    user, "GET", self.random.choice(["/changes?subscription=" + made["id"], "/subscriptions/" + made["id"]])))

    def begin_ticket(self, credential, rights):
        self.begin_registration(credential, rights, isTicket=True)

    def own_body(self, credential, rights):
        owner = credential.subject if rights[0] != "wide" or self.random.random() < 0.5 else self.random.choice(SUBJECTS)
        body = self.body("A", owner, 10_000 + self.number, rights[0])
        for name in ("friend", "friends", "book", "any"):
            body.pop(name, None)
        return body

    def begin_outcome(self, credential, rights):
        body = self.own_body(credential, rights)
        status, fields, text = self.send(credential, "POST", "/objects/A", body, {"Prefer": "respond-async"})
        self.expect(status == 202, f"an asynchronous write of {self.describe(credential)}: {status} {text[:300]}")
        if status == 202:
            self.keys["A"].append(body["id"])
            path = fields["Location"]
            for _ in range(100):
                if '"committed"' in self.send(credential, "GET", path, absolute=True)[2]:
                    break
                time.sleep(0.005)
            self.keep("outcome", credential, rights, lambda user: self.send(user, "GET", path, absolute=True))

    def begin_idempotency(self, credential, rights):
        body, key = self.own_body(credential, rights), "k" + os.urandom(6).hex()

        def use(user):
            return self.send(user, "POST", "/objects/A", body, {"Idempotency-Key": key})

        status, _, text = use(credential)
        self.expect(status == 201, f"a create of {self.describe(credential)}: {status} {text[:300]}")
        if status == 201:
            self.keys["A"].append(body["id"])
            self.keep("idempotency", credential, rights, use)

    def begin_snapshot(self, credential, rights):
        status, _, text = self.send(credential, "POST", "/snapshots", {"ttl": "300s"}, isWrite=False)
        if status == 201:
            identifier = json.loads(text)["id"]
            paths = ["/objects/A?limit=100&", "/objects/A?expand=friend,friends&", "/objects/A?sort=n&limit=20&", "/aggregate/A?ops=count&"]
            self.keep(
                "snapshot", credential, rights, lambda user: self.send(user, "GET", self.random.choice(paths) + "snapshot=" + identifier))

    def begin_cursor(self, credential, rights):
        path = self.random.choice(["/objects/A?limit=2", "/objects/A?limit=2&sort=n", "/objects/A?limit=1&sort=-text"])
        status, _, text = self.send(credential, "GET", path)
        following = json.loads(text).get("next") if status == 200 else None
        if following:
            self.keep("cursor", credential, rights, lambda user: self.send(user, "GET", path + "&after=" + urllib.parse.quote(following)))

    def begin_session(self, credential, rights):
        if "Authorization" not in credential.fields:
            return
        status, fields, text = self.send(credential, "POST", "/v1/session", absolute=True, isWrite=False)
        if status == 201:
            cookie = fields["Set-Cookie"].split(";")[0]
            session = Credential(
                credential.owner, credential.subject, credential.role, {"Cookie": cookie, "X-CSRF-Token": json.loads(text)["csrfToken"]})
            session.parent = credential
            self.credentials.append(session)
            sessions = [one for one in self.credentials if "Cookie" in one.fields]
            if len(sessions) > 6:
                self.credentials.remove(sessions[0])

    def begin_transaction(self, credential, rights):
        """Begins a transaction, has rights changed meanwhile, and ends it: it occupies the writer."""
        status, _, text = self.send(credential, "POST", "/transactions", {"wait": "5s"})
        if status != 201:
            return self.expect(status in (423, 429), f"a transaction of {self.describe(credential)}: {status} {text[:300]}")
        identifier = json.loads(text)["id"]
        body = self.own_body(credential, rights)
        inside = {"Realm-Transaction": identifier}
        status, _, text = self.send(credential, "POST", "/objects/A", body, inside)
        self.expect(status == 201, f"a create in a transaction of {self.describe(credential)}: {status} {text[:300]}")
        thing = Thing("transaction", credential, rights, lambda user: self.send(user, "GET", "/objects/A?limit=100", None, inside))
        self.things.append(thing)
        if self.random.random() < 0.5:
            self.change()
        for user in self.random.sample(self.credentials, min(3, len(self.credentials))):
            self.use(thing, user)
        self.things.remove(thing)
        others = [one for one in self.credentials if one.owner == thing.owner]
        end = self.random.choice(["commit", "delete"])
        for user in [one for one in others if self.rights(one) != rights] + [self.admin]:
            if end == "commit" and user is not self.admin:
                status, _, _ = self.send(user, "POST", f"/transactions/{identifier}/commit")
                self.expect(status in (404, 410), f"{self.describe(user)} commits a transaction of other rights {rights}: {status}")
            elif user is self.admin:
                for lease in json.loads(self.send(self.admin, "GET", "/admin/leases", absolute=True)[2])["items"]:
                    if lease["id"] == identifier:
                        self.send(self.admin, "DELETE", "/admin/leases/" + identifier, absolute=True)

    def begin_stream(self, credential, rights):
        definition = self.random.choice(["class=A", "class=A&where=" + urllib.parse.quote("n >= 0"), "class=A&expand=friends", "class=P", ""])
        stream = Stream(self.server.port, f"/v1/realms/{self.realm}/changes?" + definition, credential.fields, rights, self.number)
        stream.credential = credential
        self.streams.append(stream)
        if len(self.streams) > 6:
            self.close(self.streams.pop(0))

    def close(self, stream):
        """Ends a stream, and compares what it was told with the rights at that time."""
        if not stream.hasEnded:
            time.sleep(0.02)
        stream.close()
        self.events += stream.text.count("event: ")
        for mark in set(MARK.findall(stream.text)):
            rights = stream.rights(int(mark[4]))
            # What was written last before the rights changed may have been on its way.
            if not any(
                shows(one[0] if one else None, stream.credential.subject, mark) for one in (rights, stream.rights(int(mark[4]) - 1))):
                self.fail(f"a stream of {self.describe(stream.credential)} with rights {stream.periods} shows {mark}: {stream.text[-1500:]}")
                return

    def use(self, thing, user):
        """Uses something that was begun, and compares whether it is there with the rights."""
        status, fields, text = thing.use(user)
        isOwn = user.owner == thing.owner
        isSame = isOwn and self.rights(user) == thing.rights
        story = f"{thing.kind} of {thing.owner} begun with {thing.rights}, used by {self.describe(user)}: {status} {text[:400]}"
        if thing.kind == "cursor" or self.rights(user)[0] == "none":
            return
        if thing.kind == "idempotency":
            if isSame:
                self.expect(status in (201, 204), story)
            elif isOwn:
                self.expect(status == 204 and not text or status in (403, 404), story)
            return
        if isSame and not thing.mayBeGone:
            self.expect(status == 200, story)
        elif not isSame:
            self.refusals += 1
            self.expect(status in (401, 404, 410), story)

    def use_ticket_alone(self, thing):
        """Uses a ticket without a credential: it stands for the one that made the registration."""
        maker = thing.credential
        status, _, text = thing.use(None) if maker.isOver else thing.use(Credential(maker.owner, maker.subject, maker.role, {}))
        if maker.isOver or self.rights(maker) != thing.rights:
            self.expect(status in (401, 404, 410), f"a ticket of {self.describe(maker)} begun with {thing.rights}: {status} {text[:400]}")

    # Steps

    def reading(self):
        """Makes the begin of a request that reads."""
        rnd = self.random
        key = rnd.choice(self.keys["A"])
        return rnd.choice([
            "/objects/A?limit=100&", "/objects/A?expand=friend,friends,book&limit=50&", "/objects/A?sort=n,text&limit=20&", f"/objects/A/{key}?",
            "/objects/A?where=" + urllib.parse.quote(rnd.choice(["friend.n > 1", "ANY friends.n > 1", "n < 3", "text CONTAINS 'A'", "p != nil"])) + "&",
            "/objects/P?limit=50&", "/objects/H?limit=50&", "/objects/A?meta=full&limit=30&", "/aggregate/A?groupBy=owner&ops=count&",
            f"/objects/A/{key}/friends?", f"/objects/A/{key}/@links/A/friends?", "/objects/A?distinct=owner&", "/objects/A?sectionBy=owner&"])

    def read(self):
        rnd = self.random
        credential = rnd.choice(self.credentials)
        what = rnd.random()
        if self.things and what < 0.45:
            thing = rnd.choice(self.things)
            if thing.kind == "ticket" and rnd.random() < 0.3:
                return self.use_ticket_alone(thing)
            own = [one for one in self.credentials if one.owner == thing.owner]
            return self.use(thing, rnd.choice(own) if own and rnd.random() < 0.85 else credential)
        if what < 0.5:
            return self.compare_rows(credential)
        if what < 0.58:
            return self.guess(credential)
        if what < 0.6:
            return self.send(credential, "GET", rnd.choice(["/export?format=json", "/schema", "/objects/A?format=csv&limit=50", "/changes?class=A"]))
        self.send(credential, "GET", self.reading().rstrip("?&"))

    def compare_rows(self, credential):
        """Compares the keys of all objects that are shown with those that should be."""
        variant = self.variant(credential)
        if variant == "none":
            return self.expect(self.send(credential, "GET", "/objects/A")[0] == 404, f"{self.describe(credential)} sees a realm")
        names = lambda text: {item["id"] for item in json.loads(text)["items"]}
        shown = names(self.send(credential, "GET", "/objects/A?fields=id&limit=1000")[2])
        wanted = {key for key in names(self.send(self.admin, "GET", "/objects/A?fields=id&limit=1000")[2])
                  if shows(variant, credential.subject, MARK.match(key).groups())}
        self.expect(shown == wanted, f"{self.describe(credential)}: {len(shown - wanted)} rows too many, {len(wanted - shown)} too few")

    def guess(self, credential):
        """Sends requests with keys of P that exist and that do not."""
        if self.variant(credential) not in ("bare", "thin") or not self.keys["P"]:
            return
        rnd = self.random
        owned = [key for key in self.keys["A"] if shows(self.variant(credential), credential.subject, MARK.match(key).groups())]
        path = f"/objects/A/{rnd.choice(owned)}?dryRun=true" if owned else "/objects/A?dryRun=true"
        merge, patch = {"Content-Type": "application/merge-patch+json"}, {"Content-Type": "application/json-patch+json"}
        form = rnd.choice([
            ("PATCH", path, {"p": "KEY"}, merge), ("PATCH", path, {"p": {"$link": {"class": "P", "key": "KEY"}}}, merge),
            ("PATCH", path + "&nested=upsert", {"p": {"ssn": "KEY"}}, merge), ("PATCH", path, [{"op": "test", "path": "/p", "value": "KEY"}], patch),
            ("PUT", "/objects/P/KEY?dryRun=true", {"owner": "ann"}, None), ("POST", "/objects/P?dryRun=true&upsert=all", {"ssn": "KEY", "owner": "ann"}, None),
            ("POST", "/batch?dryRun=true", {"ops": [{"assert": {"class": "P", "key": "KEY"}}]}, None),
            ("POST", "/import?mode=upsert&class=P&dryRun=true", '{"ssn":"KEY","owner":"ann"}\n', {"Content-Type": "application/x-ndjson"}),
            ("GET", "/objects/A?where=" + urllib.parse.quote("p == obj('P','KEY')"), None, None), ("GET", "/objects/P/KEY", None, None)])
        method, target, body, fields = form
        answers = []
        for key in (rnd.choice(self.keys["P"]), "zP1-nobody-k-0z"):
            text = body if isinstance(body, (str, type(None))) else json.dumps(body)
            answer = self.send(credential, method, target.replace("KEY", key), text.replace("KEY", key) if text else None, fields, isWrite=False)
            told = re.sub(r'"(version|etag|instance|requestId)":"[^"]*"', "", answer[2].replace(key, "KEY").replace(json.dumps(key)[1:-1], "KEY"))
            answers.append((answer[0], told))
        self.expect(answers[0] == answers[1], f"{self.describe(credential)} guesses by {form}:\n   {answers[0]}\n   {answers[1]}")

    def write(self):
        """Writes to anything as somebody."""
        rnd = self.random
        credential = rnd.choice(self.credentials)
        variant = self.variant(credential)
        what = rnd.random()
        if variant == "none" or what < 0.25:
            body = self.own_body(credential, self.rights(credential))
            status, _, text = self.send(credential, "POST", "/objects/A", body)
            self.expect(status == (404 if variant == "none" else 201), f"a create of {self.describe(credential)}: {status} {text[:300]}")
            return self.keys["A"].append(body["id"]) if status == 201 else None
        key = rnd.choice(self.keys["A"])
        mark = MARK.match(key).groups()
        mine = shows(variant, credential.subject, mark)
        if what < 0.6:
            self.number += 1
            body = {"text": f"zA{mark[1]}-{mark[2]}-t-{self.number}z"}
            status, _, text = self.send(credential, "PATCH", "/objects/A/" + key, body)
        elif what < 0.7:
            status, _, text = self.send(credential, "PATCH", "/objects/A/" + key, {"friend": {"$link": {"class": "A", "key": rnd.choice(self.keys["A"])}}})
            return self.expect(status in ((200, 404, 422) if mine else (404,)), f"a link of {self.describe(credential)}: {status} {text[:300]}")
        elif what < 0.85:
            operations = [{"patch": {"class": "A", "key": key, "body": {"n": 1}}}, {"assert": {"class": "A", "key": key}}]
            status, _, text = self.send(credential, "POST", "/batch", {"ops": operations})
        elif what < 0.93:
            line = json.dumps({"id": key, "owner": mark[2], "n": 2}) + "\n"
            status, _, text = self.send(
                credential, "POST", "/import?mode=upsert&class=A", line, {"Content-Type": "application/x-ndjson"})
            return self.expect((status == 200) == mine, f"an import of {self.describe(credential)} for {key}: {status} {text[:300]}")
        else:
            if len(self.keys["A"]) < 60:
                return
            status, _, text = self.send(credential, "DELETE", "/objects/A/" + key)
            if status == 204:
                self.keys["A"].remove(key)
        self.expect((status < 300) == mine, f"a write of {self.describe(credential)} to {key}: {status} {text[:300]}")

    def run(self, reads, writes):
        self.prepare()
        rnd = self.random
        while (self.reads < reads or self.writes < writes) and len(self.failures) < 8:
            what = rnd.random()
            share = writes / max(1, reads + writes)
            if what < 0.006:
                self.change()
            elif what < 0.08:
                self.begin()
            elif what < 0.11:
                self.write_as_admin()
            elif (rnd.random() < share if self.reads < reads else True) and self.writes < writes:
                self.write()
            else:
                self.read()
            if len(self.keys["A"]) > 250:
                for key in rnd.sample(self.keys["A"], 150):
                    self.send(self.admin, "DELETE", "/objects/A/" + key)
                    self.keys["A"].remove(key)
        for stream in self.streams:
            self.close(stream)
        self.send(self.admin, "DELETE", "/v1/realms/" + self.realm, absolute=True)


class Server(harness.Server):
    """A server whose roles change."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="realm-rest-changing-")
        self.file = os.path.join(self.folder, "realm-rest.yaml")
        secret = os.path.join(self.folder, "secret")
        with open(secret, "wb") as file:
            file.write(SECRET)
        os.chmod(secret, 0o600)
        self.secret = secret
        self.configure({role: "none" for role in ROLES}, "none")
        made = subprocess.run([program, "keys", "add", "boss", "--role", "admin", "--config", self.file], capture_output=True, text=True)
        if made.returncode:
            raise SystemExit(made.stderr)
        self.admin = made.stdout.strip()
        super().__init__(program, "--config", self.file, "--log-format", "none")

    def configure(self, variants, realm):
        """Writes the configuration."""
        many = {name: 10_000 for name in (
            "registrations", "snapshots", "snapshots-per-principal", "transactions-per-principal", "streams", "streams-per-principal")}
        configuration = {
            "data": self.folder, "roles": {role: {"realms": {realm: VARIANTS[variant]}} for role, variant in variants.items()},
            "limits": {"registration-seconds": 600, "transaction-idle-seconds": 25, "live-versions": 100_000, **many},
            "credentials": {"jwt": [{
                "issuer": "trial", "audience": "realm-rest", "secretFile": self.secret, "claims": {"roles": "roles"}}]},
        }
        with open(self.file, "w") as file:
            json.dump(configuration, file)

    def end(self):
        super().end()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the program")
    parser.add_argument("--seeds", default="1-4", help="the realms, as FIRST-LAST")
    parser.add_argument("--reads", type=int, default=4000, help="the reads in all realms together")
    parser.add_argument("--writes", type=int, default=1000, help="the writes in all realms together")
    options = parser.parse_args()
    first, last = (int(part) for part in (options.seeds.split("-") * 2)[:2])
    count = last - first + 1
    server = Server(options.server)
    trials, begin = [], time.time()
    try:
        for seed in range(first, last + 1):
            trial = Trial(server, seed)
            trials.append(trial)
            trial.run(options.reads // count, options.writes // count)
            if server.process.poll() is not None:
                trial.fail(f"the server has ended: {server.process.returncode}")
                break
    finally:
        server.end()
    failures = [failure for trial in trials for failure in trial.failures]
    for failure in failures[:12]:
        print(failure)
    total = lambda name: sum(getattr(trial, name) for trial in trials)
    statuses = {}
    for trial in trials:
        for status, number in trial.statuses.items():
            statuses[status] = statuses.get(status, 0) + number
    print(
        f"{len(trials)} realms, {total('reads')} reads, {total('writes')} writes, {total('changes')} changes of rights, {total('refusals')} uses with "
        f"other rights, {total('events')} events, by status {dict(sorted(statuses.items()))}, {len(failures)} failures, {time.time() - begin:.0f} s")
    sys.exit(1 if failures or not total("refusals") else 0)


if __name__ == "__main__":
    main()
