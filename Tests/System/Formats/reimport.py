# SPDX-License-Identifier: Apache-2.0
"""Imports the CSV of every class again, and compares the objects with those that it was made of."""
import json
import subprocess
import sys
import urllib.parse
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


class Server(harness.Server):
    """A server whose realms take the objects."""

    def __init__(self, binary, folder):
        folder.mkdir()
        super().__init__(binary, "--data", folder)

    def send(self, method, path, body=None, kind="application/json", headers=None):
        """Sends a request; returns the status and the text of the answer."""
        typed = {"Content-Type": kind} if body is not None else {}
        status, _, answer = self.request(method, path, body, {**typed, **(headers or {})}, seconds=300)
        return status, answer

    def compare(self, name, binary, file, key, dump):
        """Compares the classes of one file; returns the number of values, the failures, and the classes that cannot come back."""
        schema = json.loads(subprocess.run([binary, "schema", file, *key], check=True, capture_output=True).stdout)
        for each in schema["classes"]:
            each.pop("backlinks", None)
            if each["type"] == "embedded":
                # An index that a file has there is not made anew.
                for p in each["properties"]:
                    p["indexed"] = None
        realm = "/v1/realms/" + name
        status, answer = self.send("POST", "/v1/realms", json.dumps({"name": name, "schema": schema}).encode())
        if status != 201:
            return 0, [answer.decode()[:500]], []
        count, failures, left_out = 0, [], []
        forms = {each["name"]: each for each in dump["classes"]}
        order, never = order_of(forms)
        for title in order:
            export = lambda format: subprocess.run([binary, "export", file, *key, "--format", format, "--class", title], capture_output=True)
            table = export("csv")
            if table.returncode:
                failures.append(f"{title}: {table.stderr.decode()[:300]}")
                continue
            wanted = export("ndjson").stdout.splitlines()
            query = "?class=" + urllib.parse.quote(title)
            status, answer = self.send("POST", f"{realm}/import{query}", table.stdout, "text/csv")
            if status != 200:
                failures.append(f"{title}: {answer.decode()[:300]}")
                continue
            _, answer = self.send("GET", f"{realm}/export{query}")
            found = answer.splitlines()
            if len(found) != len(wanted):
                failures.append(f"{title}: {len(found)} lines instead of {len(wanted)}")
            for left, right in zip(found[1:-1], wanted[1:-1]):
                left, right = plain(left), plain(right)
                count += len(right)
                if left != right:
                    failures.append(f"{title}: {str(left):.200} instead of {str(right):.200}")
        self.send("DELETE", f"{realm}?files=true&confirm={urllib.parse.quote(name)}")
        return count, failures[:5], never


def plain(line):
    """An object of an export without its key, which a class without primary key chooses anew."""
    return {name: value for name, value in json.loads(line, parse_float=str).items() if name != "$meta"}


def order_of(forms):
    """The classes in an order in which targets of links come first, and those of which CSV alone cannot make equal objects."""
    targets = {name: {target for target in links(form, forms) if target != name} for name, form in forms.items() if form["objects"] is not None}
    never = {name for name, form in forms.items() if form["objects"] is not None and is_bound(form, forms)}
    order = []
    while ready := [name for name in targets if name not in order and name not in never and targets[name] <= set(order)]:
        order += ready
    return order, [name for name in targets if name not in order]


def links(form, forms):
    """The classes that the links of a class lead to, also from inside embedded objects."""
    seen, waiting = set(), [form["name"]]
    found = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for p in forms[name]["properties"]:
            target = p.get("objectType")
            if target is None:
                continue
            if forms[target]["type"] == "embedded":
                waiting += [target] if target not in seen else []
            else:
                found.add(target)
        for item in forms[name]["objects"] or []:
            found |= in_mixed(item["values"])
    return found


def in_mixed(value):
    """The classes that links in any values lead to."""
    if isinstance(value, list):
        return set().union(*map(in_mixed, value), set())
    if not isinstance(value, dict):
        return set()
    if isinstance(value.get("$link"), dict):
        return {value["$link"]["class"]}
    return set().union(*map(in_mixed, value.values()), set())


def is_bound(form, forms):
    """Whether objects lead to others without primary key, whose keys are chosen anew."""
    return any(forms[target]["primaryKey"] is None for target in links(form, forms))
