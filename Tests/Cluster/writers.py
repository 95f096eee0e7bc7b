# SPDX-License-Identifier: Apache-2.0
"""Clients that write objects of their own, and what has to be there afterwards: all that was acknowledged, nothing that was refused."""

import http.client
import json
import threading
import time

from fleet import REFUSED
from nodes import call, until


class Writer(threading.Thread):
    """Makes objects at one node, and at the next one when that does not have the realm."""

    def __init__(self, nodes, realm, name):
        super().__init__(daemon=True)
        self.nodes, self.realm, self.name, self.stopped = nodes, realm, name, False
        self.acknowledged, self.refused, self.unknown, self.codes = set(), set(), set(), {}

    def run(self):
        count, place = 0, 0
        while not self.stopped:
            count += 1
            key = f"{self.name}-{count}"
            outcome = self.write(self.nodes[place], key)
            getattr(self, outcome).add(key)
            if outcome != "acknowledged":
                place = (place + 1) % len(self.nodes)
                time.sleep(0.01)

    def write(self, node, key):
        """Makes one object, and returns what is known of that."""
        try:
            status, answer, _ = call(
                node, "POST", f"/v1/realms/{self.realm}/objects/Item", {"_id": key, "value": "", "list": []}, seconds=4)
        except (OSError, http.client.HTTPException):
            return "unknown"
        code = "written" if status == 201 else json.loads(answer).get("code")
        self.codes[code] = self.codes.get(code, 0) + 1
        return "acknowledged" if status == 201 else "refused" if code in REFUSED else "unknown"


def stop(writers):
    for writer in writers:
        writer.stopped = True
    for writer in writers:
        writer.join(30)


def role(node, realm):
    """What a node is for a realm, which it opens for that: owner or replica; nothing when it has not opened it."""
    call(node, "GET", f"/v1/realms/{realm}/schema", seconds=2)
    status, body, _ = call(node, "GET", f"/v1/realms/{realm}", seconds=2)
    return json.loads(body).get("cluster", {}).get("role") if status == 200 else None


def owner(nodes, realm):
    """The node that writes a realm; the nodes are asked anew until one does."""
    found = []

    def is_found():
        found[:] = [node for node in nodes if node.process and role(node, realm) == "owner"]
        return len(found) == 1
    until(is_found, f"one node has {realm}")
    return found[0]


def keys(nodes, realm):
    """The keys of all objects, page by page, as the log has them."""
    found, after = [], ""

    def read():
        nonlocal after
        status, body, _ = call(owner(nodes, realm), "GET", f"/v1/realms/{realm}/objects/Item?limit=1000&fields=_id{after}", None,
                               {"Realm-Read": "linear"})
        if status != 200:
            return False
        page = json.loads(body)
        found.extend(row["_id"] for row in page["items"])
        after = "&after=" + page["next"] if page["next"] else None
        return True
    while after is not None:
        until(read, f"{realm} can be read")
    return found


def judge(fleet, realm, writers):
    """Compares a realm with what its writers know. Returns whether it is right, and a sentence about it."""
    def of_all(name):
        return set().union(*(getattr(writer, name) for writer in writers))
    there, codes = keys(fleet.nodes, realm), {}
    acknowledged, unknown = of_all("acknowledged"), of_all("unknown")
    lost, uninvited, twice = acknowledged - set(there), set(there) - acknowledged - unknown, len(there) - len(set(there))
    for writer in writers:
        for code, count in writer.codes.items():
            codes[code] = codes.get(code, 0) + count
    is_sound = "is sound" in fleet.tell("verify", realm)
    text = (f"{len(acknowledged)} writes acknowledged, {len(lost)} of them lost; {len(of_all('refused'))} refused, {len(uninvited)} of them "
            f"there; {len(unknown)} unknown, {len(unknown & set(there))} of them there; {twice} there twice; the log is "
            f"{'' if is_sound else 'NOT '}sound; {codes}")
    return not lost and not uninvited and not twice and is_sound and len(acknowledged) > 0, text
