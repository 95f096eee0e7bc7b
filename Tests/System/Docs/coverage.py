#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the reference with the program: no path, method, parameter, body, header, code, limit, command or option is missing in
docs/*.md, and none is described that does not exist."""

import argparse
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from playground import Files, Playground, ROOT

DOCS = ROOT / "docs"
SOURCES = ROOT / "Sources"

# What stands for the variables of a path when a server is asked for its methods.
SAMPLE = {"realm": "store", "class": "Category", "className": "Category", "key": "1", "property": "name", "originClass": "Product",
          "originProperty": "category", "id": "x", "path": "core/app.js"}

# Paths whose variable is a name of something that has to be there.
SAMPLE_PATHS = {"/docs/{id}": "/docs/query", "/docs/problems/{id}": "/docs/problems/read_only"}

# Where the sources name a header of an answer.
HEADER = re.compile(
    r'(?:StaticString = |\(message, |HeaderField\(|\badd(?:ed)?\(|\.addHeader\()\s*"([A-Z][A-Za-z]*(?:-[A-Za-z]+)*)"')

# Parameters that the description of the API leaves out, because their paths are not in it.
FURTHER_PARAMETERS = {("GET", "/admin/log"): {"since", "limit"}}


class Findings:
    def __init__(self):
        self.texts, self.checked = [], {}

    def compare(self, kind, real, documented, where):
        """Notes what is only on one side."""
        self.checked[kind] = self.checked.get(kind, 0) + len(real)
        for name in sorted(set(real) - set(documented), key=str):
            self.texts.append(f"{kind} {text(name)} is not in {where}")
        for name in sorted(set(documented) - set(real), key=str):
            self.texts.append(f"{kind} {text(name)} is in {where}, and does not exist")

    def note(self, sentence):
        self.texts.append(sentence)


def text(name):
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


class Table:
    """The tables of a document: rows of cells, with the heading that they stand under."""

    def __init__(self, name):
        self.rows, heading, fenced = [], "", False
        for line in (DOCS / name).read_text().split("\n"):
            fenced ^= line.startswith("```")
            if fenced:
                continue
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif line.startswith("|"):
                self.rows.append((heading, [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]))

    def under(self, *headings):
        return [cells for heading, cells in self.rows if heading in headings]


def code(cell):
    """Returns the pieces of code in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def names(tables, *headings):
    """Returns the names in the first cells of the tables under some headings."""
    return {name for cells in tables.under(*headings) for name in code(cells[0])}


# Paths, methods, parameters and bodies

def operations(description):
    """Returns the operations of the API description: their parameters, and the media types of their bodies."""
    shared = description["components"]["parameters"]
    resolve = lambda one: shared[one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one
    found = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            parameters = [resolve(one) for one in operation.get("parameters", []) + methods.get("parameters", [])]
            if method in ("get", "put", "post", "patch", "delete"):
                found[method.upper(), path.replace("{className}", "{class}")] = (operation, parameters)
    return found


def check_paths(findings, description, server, api):
    documented = documented_operations(api)
    described = operations(description)
    paths = {path for _, path in described} | routes()
    real = {(method, path) for path in paths for method in methods(server, path)}
    findings.compare("request", real, documented, "docs/api.md")
    for key in sorted(real & set(documented)):
        parameters, bodies = documented[key]
        if key not in described:
            expected = FURTHER_PARAMETERS.get(key, set())
            if key[0] == "QUERY":
                expected = query_names(described["GET", key[1]])
            findings.compare(f"{text(key)}: parameter", expected, parameters, "docs/api.md")
            continue
        operation, _ = described[key]
        # What names the class in another way is documented with the rest.
        apart = {"class", "subscription", "ticket"} if key[1].endswith("/changes/{class}") else set()
        findings.compare(f"{text(key)}: parameter", query_names(described[key]), parameters - apart, "docs/api.md")
        content = operation.get("requestBody", {}).get("content", {})
        findings.compare(f"{text(key)}: body", set(content), bodies, "docs/api.md")


def query_names(described):
    return {one["name"] for one in described[1] if one["in"] == "query"}


def documented_operations(api):
    """Returns the parameters and media types that the tables of paths state for each request. Groups of parameters are links."""
    groups = {
        heading: {name for cells in api.under(heading) for name in code(cells[0])}
        for heading in ("List parameters", "Aggregate parameters", "SQL parameters", "Changes parameters")
    }
    groups["Write parameters"] = {"dryRun", "format", "ints", "meta"}
    short = {code(cells[0])[0]: code(cells[1])[0] for cells in api.under("Media types") if code(cells[0])}
    found = {}
    for _, cells in api.rows:
        request = re.fullmatch(r"`([A-Z]+)` `(/[^`]*)`", cells[0])
        if not request:
            continue
        parameters = set(code(cells[2]))
        for anchor in re.findall(r"\]\(#([\w-]+)\)", cells[2]):
            parameters |= next(names for heading, names in groups.items() if heading.lower().replace(" ", "-") == anchor)
        found[request[1], request[2]] = (parameters, {short[name] for name in code(cells[3])})
    return found


def routes():
    """Returns the paths in the table of routes, among them those that the API description leaves out."""
    found = set()
    for file in (SOURCES / "RealmHTTP" / "Routes").glob("RouteTable*.swift"):
        found |= set(re.findall(r'Route\(\s*"(/[^"]*)"', file.read_text()))
        found |= set(re.findall(r'\b(?:page|client)\("(/[^"]*)"', file.read_text()))
    # A path without its slash leads to the one with it.
    return {path for path in found if path + "/" not in found}


def methods(server, path):
    """Returns the methods that the server says a path has."""
    target = SAMPLE_PATHS.get(path) or re.sub(r"\{(\w+)[^}]*\}", lambda name: SAMPLE[name[1]], path)
    request = urllib.request.Request(server + target, method="OPTIONS")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            allowed = answer.headers["Allow"]
    except urllib.error.HTTPError as error:
        raise SystemExit(f"OPTIONS {target}: {error.code} {error.read().decode()}")
    return set(re.split(r",\s*", allowed)) - {"HEAD", "OPTIONS"}


def check_values(findings, description, api):
    """Each value that a parameter may have stands in the row of the parameter."""
    rows = {}
    for _, cells in api.rows:
        for name in code(cells[0]):
            rows.setdefault(name, set()).update(value for cell in cells[1:] for value in code(cell))
    for _, parameters in operations(description).values():
        for one in parameters:
            for value in one["schema"].get("enum", []):
                if one["in"] == "query" and value not in rows.get(one["name"], set()):
                    findings.note(f"parameter {one['name']}: the value {value} is not in docs/api.md")


def check_members(findings, description, text):
    """Each member of the body of a request is named somewhere in the documents."""
    schemas = description["components"]["schemas"]
    pieces = [piece for line in text.split("\n") for piece in code(line)] + re.findall(r'"\w+":', text)
    words = set(re.findall(r"[A-Za-z$]\w*", " ".join(pieces)))
    count = 0
    for key, (operation, _) in operations(description).items():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            schema = content.get("schema", {})
            while "$ref" in schema:
                schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
            for member in schema.get("properties", {}):
                count += 1
                if member not in words:
                    findings.note(f"{text_of(key)}: the member {member} of the body is not in docs/*.md")
    findings.checked["member of a body"] = count


text_of = text


def check_media_types(findings, description, api):
    documented = {name for cells in api.under("Media types") for name in code(cells[1])}
    real = {kind for operation, _ in operations(description).values()
            for answer in operation["responses"].values() for kind in answer.get("content", {})}
    real |= {kind for operation, _ in operations(description).values() for kind in operation.get("requestBody", {}).get("content", {})}
    findings.compare("media type", (real | {"application/problem+json"}) - {"*/*"}, documented, "docs/api.md")


# Headers

def check_headers(findings, description, api):
    asked = set(re.findall(r'return "([a-z-]+)"', (SOURCES / "MicroHTTP" / "Fields" / "RequestHeader.swift").read_text()))
    asked |= {one["name"].lower() for _, parameters in operations(description).values() for one in parameters if one["in"] == "header"}
    findings.compare("request header", asked, {name.lower() for name in names(api, "Request headers")}, "docs/api.md")
    sent = {name for operation, _ in operations(description).values()
            for answer in operation["responses"].values() for name in answer.get("headers", {})}
    for file in SOURCES.rglob("*.swift"):
        sent |= set(HEADER.findall(file.read_text()))
    findings.compare("answer header", {name.lower() for name in sent | {"Content-Length", "Date"}},
                     {name.lower() for name in names(api, "Answer headers")}, "docs/api.md")


# Problems and limits

def check_codes(findings, server, api):
    page = get(server + "/docs/problems/")
    real = set(re.findall(r'<td>\s*(\d{3})\s*</td>\s*<td>\s*<a href="/docs/problems/(\w+)"', page))
    if not real:
        findings.note("/docs/problems/ has no table of codes")
    documented = {(cells[0], code(cells[1])[0]) for cells in api.under("Problems") if len(cells) > 2 and cells[0].isdigit()}
    findings.compare("code", real, documented, "docs/api.md")


def check_limits(findings, server):
    real = json.loads(get(server + "/admin/config"))["limits"]
    documented = {name: cells[1] for _, cells in Table("limits.md").rows if len(cells) > 3 for name in code(cells[0])}
    findings.compare("limit", real, documented, "docs/limits.md")
    for name in sorted(set(real) & set(documented)):
        default = documented[name].removesuffix(" each")
        if "per processor" not in default and quantity(default) != real[name]:
            findings.note(f"limit {name}: the default is {real[name]}, and {default} in docs/limits.md")


def quantity(default):
    """Returns the number that a text such as `128 MiB` or `10,000` stands for."""
    number, _, unit = default.replace(",", "").partition(" ")
    return int(number) * {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


# Commands

def check_commands(findings, server):
    tree = json.loads(subprocess.run([server, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout)
    commands = dict(leaves(tree["command"], ""))
    tables = Table("commands.md")
    serving = {option for cells in tables.under("Serving") for name in code(cells[0]) for option in re.findall(r"--[\w-]+", name)}
    rows = {}
    for cells in tables.under("Commands"):
        command = re.match(r"`realm-rest ([a-z]+(?: [a-z]+)?)", cells[0])
        if command:
            rows[command[1].strip()] = set(code(cells[2])) | (serving if "#serving" in cells[2] or "[below]" in cells[2] else set())
    findings.compare("command", commands, rows, "docs/commands.md")
    for name in sorted(set(commands) & set(rows)):
        findings.compare(f"{name}: option", commands[name], rows[name], "docs/commands.md")
    told = serving | {option for cells in tables.under("Options of commands") for name in code(cells[0])
                      for option in re.findall(r"--[\w-]+", name)}
    findings.compare("option", {option for options in commands.values() for option in options}, told, "docs/commands.md")


def leaves(command, prefix):
    """Yields the commands without subcommands, and their options."""
    inner = [one for one in command.get("subcommands", []) if one["commandName"] != "help"]
    if not inner:
        yield prefix.strip(), {
            f"--{name['name']}" for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)
            for name in argument.get("names", []) if name["kind"] == "long"} - {"--help", "--version"}
    for one in inner:
        yield from leaves(one, f"{prefix} {one['commandName']}")


def get(url):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": "*/*"}), timeout=20) as answer:
        return answer.read().decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="the program")
    server = str(Path(parser.parse_args().server).resolve())
    description = json.loads(subprocess.run([server, "openapi", "--json"], check=True, capture_output=True, text=True).stdout)
    findings, api = Findings(), Table("api.md")
    documents = "\n".join(file.read_text() for file in DOCS.glob("*.md"))
    files = Files(server)
    playground = Playground("", server, files)
    try:
        address = f"http://127.0.0.1:{playground.ports['8080']}"
        check_paths(findings, description, address, api)
        check_codes(findings, address, api)
        check_limits(findings, address)
    finally:
        playground.remove()
        files.remove()
    check_values(findings, description, api)
    check_members(findings, description, documents)
    check_media_types(findings, description, api)
    check_headers(findings, description, api)
    check_commands(findings, server)
    report(findings)


def report(findings):
    totals = {}
    for kind, count in findings.checked.items():
        name = kind.rsplit(": ", 1)[-1] if ": " in kind else kind
        label = {"parameter": "parameters of requests", "body": "media types of bodies"}.get(name, name)
        if ": option" in kind:
            label = "options of commands"
        totals[label] = totals.get(label, 0) + count
    for finding in findings.texts:
        print(finding)
    print("compared: " + ", ".join(f"{count} × {name}" for name, count in sorted(totals.items())))
    print(f"{len(findings.texts)} differences" if findings.texts else "the documents have everything, and nothing else")
    sys.exit(1 if findings.texts else 0)


if __name__ == "__main__":
    main()
