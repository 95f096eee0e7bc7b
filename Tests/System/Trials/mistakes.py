#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first mistakes of newcomers, and what each is answered with, as a table.

    python3 Tests/System/Trials/mistakes.py --server PROGRAM [--write]

The mistakes over HTTP are those of Tests/RealmHTTPTests/Routes/Vectors/mistakes.txt, the others commands that are run here. Which of
them a newcomer made first, and what was said then, is in first-mistakes.tsv. The exit status is 1 when an answer is not the expected
one, or when the tables are not those of mistakes.md, which `--write` makes anew.
"""
import argparse
import difflib
import gzip
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import json

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from harness import ROOT, Program  # noqa: E402

VECTORS = ROOT / "Tests/RealmHTTPTests/Routes/Vectors/mistakes.txt"
FIRST = ROOT / "Tests/System/Trials/first-mistakes.tsv"
EXPECTED = ROOT / "Tests/System/Trials/mistakes.md"
failures = []
rows = []


def row(mistake, answer, is_right):
    """Keeps a line of the table."""
    rows.append([text.strip().replace("|", "\\|").replace("\n", " ⏎ ") for text in (mistake, answer)])
    if not is_right:
        failures.append(f"{mistake}: {answer}")


def first_table():
    """The mistakes of the first newcomer, with what was said then and what is said now."""
    lines = ["| Mistake | Said then | Says now |", "|---|---|---|"]
    for line in FIRST.read_text().splitlines():
        mistake, then, *titles = line.split("\t")
        now = []
        for title in titles:
            found = [answer for made, answer in rows if made.strip("`").startswith(title)]
            if not found:
                failures.append(f"no row begins with {title!r}")
            now += found[:1]
        lines.append(f"| {mistake} | {then} | {' ⏎ '.join(now)} |")
    return lines


def report():
    """Both tables as one document."""
    title = ["# First mistakes", "", "Made by `make test-system ONLY=mistakes`, which compares every answer. The first table has those that left a newcomer alone.", ""]
    return "\n".join(title + first_table() + ["", "All of them:", "", "| Mistake | Answer |", "|---|---|"]
                     + [f"| {mistake} | {answer} |" for mistake, answer in rows]) + "\n"


# MARK: HTTP

def encoded(target):
    """The target as it is sent: percent escapes stay, what a URL cannot have is escaped."""
    target = target if target.startswith("/") else "/v1/realms/store/" + target
    return "".join(chr(b) if 0x20 < b < 0x7F and chr(b) not in "\"'<>\\^`{|}#[]" else f"%{b:02x}" for b in target.encode())


def vectors():
    for block in VECTORS.read_text().split("\n\n"):
        one = {"headers": {}, "body": None}
        for line in block.splitlines():
            if line.startswith("# "):
                one["title"] = line[2:]
            elif line.startswith("> "):
                one["body"] = line[2:] if one["body"] is None else one["body"] + "\n" + line[2:]
            elif line.startswith("= "):
                one["code"], one["detail"] = line[2:].split(" ", 1)
            elif "method" not in one:
                one["method"], one["target"] = line.split(" ", 1)
            else:
                name, value = line.split(": ", 1)
                one["headers"][name] = value
        if "method" in one:
            yield one


class Plain(urllib.request.Request):
    """A request without the type of forms that urllib adds."""

    def add_unredirected_header(self, name, value):
        if name != "Content-type":
            super().add_unredirected_header(name, value)


def send(base, one):
    body = None if one["body"] is None else one["body"].encode()
    request = Plain(base + encoded(one["target"]), data=body, headers=one["headers"], method=one["method"])
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return json.loads(error.read() or b"{}")


def over_http(binary, folder):
    with Program([binary, "serve", "--data", folder, "--port", "0"]) as server:
        send(server.url, {"target": "/v1/realms", "method": "POST", "headers": {"Content-Type": "application/json"},
                          "body": '{"name":"store","sample":"store"}'})
        for one in vectors():
            answer = send(server.url, one)
            if one["code"] == "plan":
                row(one["title"], one["detail"], one["detail"] in answer.get("plan", []))
                continue
            shown = f"{one['method']} {one['target']}" + (f" {one['body']}" if one["body"] else "")
            is_right = (answer.get("code"), answer.get("detail")) == (one["code"], one["detail"])
            row(f"{one['title']}: `{shown}`", f"{answer.get('status')} `{answer.get('code')}` {answer.get('detail')}", is_right)


# MARK: commands

def commands(binary, folder):
    """Rows of the command line: the arguments, the exit status, and what its output has in it."""
    realm = folder / "store.realm"
    data = realm.read_bytes()
    made = {
        "cut.realm": data[:100_000], "zip.realm": None, "gz.realm": gzip.compress(data[:5000]), "text.realm": b"hello, world\n" * 100,
        "empty.realm": b"", "random.realm": os.urandom(40960), "my shop.realm": data, "bad.ndjson": b'{"class":"X"}\n',
        "key.hex": b"ab" * 64, "names.json": b'{"Product":{"orders":"Order.items"}}', "typo.yaml": b"prt: 8080\n", "limits.yaml": b"limits: {body-byte: 3}\n",
        "roles.yaml": b"roles: {r: {realm: {a: read}}}\n", "class.yaml": b"roles: {r: {realms: {a: {classes: {C: {alow: [read]}}}}}}\n",
    }
    for name, content in made.items():
        if content is not None:
            (folder / name).write_bytes(content)
    with zipfile.ZipFile(folder / "zip.realm", "w") as archive:
        archive.writestr("a", "b" * 100)
    with sqlite3.connect(folder / "shop.realm") as database:
        database.execute("create table a(b)")
    rows = [
        (["srve"], 64, "there is no command 'srve'; did you mean 'serve'?"),
        (["start", "store.realm"], 64, "did you mean 'serve'?"),
        (["store.realm"], 64, "did you mean 'realm-rest serve store.realm'?"),
        (["serve", "--prt", "1"], 64, "Did you mean '--port'?"),
        (["serve", "cut.realm"], 1, "the file is cut short: it has 100000 bytes, and more than"),
        (["serve", "shop.realm"], 1, "no Realm signature: the file is an SQLite database"),
        (["serve", "zip.realm"], 1, "no Realm signature: the file is a ZIP archive"),
        (["serve", "gz.realm"], 1, "no Realm signature: the file is packed with gzip"),
        (["serve", "text.realm"], 1, "no Realm signature: the file is a text"),
        (["serve", "empty.realm"], 1, "a file of 0 bytes is no Realm file; it may be an interrupted copy"),
        (["serve", "random.realm"], 1, "the file is encrypted and no key was given, or it is no Realm file; --key random=FILE gives its key"),
        (["serve", "random.realm", "--key", "randm=key.hex"], 1, "the given name differs"),
        (["query", "random.realm", "A", "a == 1"], 2, "--key-file FILE gives its key"),
        (["serve", "my shop.realm"], 1, "a configuration file gives it one: realms: {NAME: {path: …}}"),
        (["serve", "--limit", "foo=1", "store.realm"], 64, "there is no limit 'foo'; there are admin-connections, answer-bytes"),
        (["serve", "--limit", "body-byte=1", "store.realm"], 64, "there is no limit 'body-byte'; did you mean 'body-bytes'?"),
        (["serve", "--allow-origin", "example.com", "store.realm"], 64, "--allow-origin: an origin begins with http:// or https://"),
        (["serve", "--backlink-names", "stor=names.json", "store.realm"], 1,
         "backlink names for 'stor': there is no realm of this name; did you mean 'store'?"),
        (["query", "store.realm", "Product", "prce > 1"], 64, "'Product' has no property 'prce'; did you mean 'price'?"),
        (["query", "store.realm", "Product", "price >"], 64, "the query ends too early, expected a value"),
        (["query", "store.realm", "Prodct", "price > 1"], 64, "the file has no class 'Prodct'; did you mean 'Product'?"),
        (["schema", "store.realm", "--format", "java"], 64, "json-schema"),
        (["import", "bad.ndjson", "new.realm"], 1, "the line does not name the class of its object"),
        (["import", "new.realm", "bad.ndjson"], 64, "cannot read 'new.realm': no such file"),
        (["config", "check", "typo.yaml"], 1, "typo.yaml:1: there is no setting 'prt'; did you mean 'port'?"),
        (["config", "check", "limits.yaml"], 1, "there is no setting 'limits.body-byte'; did you mean 'body-bytes'?"),
        (["config", "check", "roles.yaml"], 1, "there is no 'realm' here; did you mean 'realms'?"),
        (["config", "check", "class.yaml"], 1, "there is no 'alow' here; did you mean 'allow'?"),
        (["watch", "localhost:8080/x"], 64, "the URL must begin with http:// or https://"),
    ]
    for arguments, status, text in rows:
        before = set(os.listdir(folder))
        run = subprocess.run([binary, *arguments], capture_output=True, text=True, cwd=folder, timeout=60)
        output = run.stdout + run.stderr
        lines = [line for line in output.splitlines() if text[:30] in line and " info " not in line and " error " not in line]
        is_right = status in (None, run.returncode) and text in output and set(os.listdir(folder)) == before
        # A wrong value is no reason to explain how the command is used.
        if status == 64 and arguments[0] == "query" and "Usage:" in output:
            is_right = False
        shown = re.sub(r"(more than )\d+( are needed)", r"\1N\2", (lines or output.splitlines() or [""])[0])
        row("`realm-rest " + " ".join(arguments) + "`", shown[:200], is_right)


def starts(binary, folder):
    """Rows about servers that start, and say something before."""
    for name, arguments, env, text in [
        ("key for a realm that is not served", ["serve", "store.realm", "--key", "stor=key.hex"], {},
         "the key for 'stor' is not used: no realm has this name; did you mean 'store'?"),
        ("REALM_REST_KEY_STOR", ["serve", "store.realm"], {"REALM_REST_KEY_STOR": "x"},
         "REALM_REST_KEY_STOR is not used: no realm has this name; did you mean 'REALM_REST_KEY_STORE'?"),
        ("REALM_REST_ADMIN_KEYFILE", ["serve", "store.realm"], {"REALM_REST_ADMIN_KEYFILE": "x"},
         "the environment's REALM_REST_ADMIN_KEYFILE means nothing here; did you mean 'REALM_REST_ADMIN_KEY_FILE'?"),
        ("--limit 'body-bytes=1 MiB' is taken", ["serve", "store.realm", "--limit", "body-bytes=1 MiB"], {}, ""),
    ]:
        os.chdir(folder)
        with Program([binary, *arguments, "--port", "0"], env={**os.environ, **env}) as server:
            found = [line.strip() for line in server.lines if text and text in line]
            row(name, (found or [""])[0], bool(found) or not text)
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = str(taken.getsockname()[1])
    run = subprocess.run([binary, "serve", "store.realm", "--port", port], capture_output=True, text=True, cwd=folder, timeout=60)
    said = [line for line in run.stderr.splitlines() if line.startswith("cannot listen")]
    row("port in use", (said or [""])[0].replace(port, "PORT"), run.returncode == 1 and "--port N takes another port" in run.stderr)


def watching(binary, folder):
    """Rows of `watch`: it ends with the text of the problem."""
    os.chdir(folder)
    with Program([binary, "serve", "store.realm", "--port", "0"]) as server:
        for target, text in [
            ("/v1/realms/store/changes?class=Prodct", "404 class_not_found: there is no class of this name; did you mean 'Product'?"),
            ("/v1/realms/stor/changes", "404 realm_not_found: there is no realm of this name; did you mean 'store'?"),
            ("/v1/realms/store/objects/Product", "this is not a stream of changes"),
        ]:
            run = subprocess.run([binary, "watch", server.url + target], capture_output=True, text=True, timeout=30)
            row(f"`realm-rest watch http://…{target}`", run.stderr.strip(), run.returncode == 1 and text in run.stderr)


def demonstration(binary, folder):
    """`demo` works in any folder, and keeps what was changed."""
    place = folder / "anywhere"
    place.mkdir()
    os.chdir(place)
    body = '{"id":7777,"name":"kept"}'
    with Program([binary, "demo", "--port", "0"]) as server:
        send(server.url, {"target": "/v1/realms/store/objects/Category", "method": "POST", "body": body,
                          "headers": {"Content-Type": "application/json"}})
    with Program([binary, "demo", "--port", "0"]) as server:
        kept = send(server.url, {"target": "/v1/realms/store/objects/Category/7777", "method": "GET", "body": None, "headers": {}})
        row("`realm-rest demo` a second time, in another folder than the repository", "".join(server.lines).splitlines()[0], kept.get("name") == "kept")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the program")
    parser.add_argument("--write", action="store_true", help="makes the tables anew")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.server).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        over_http(binary, folder)
        time.sleep(0.5)
        commands(binary, folder)
        starts(binary, folder)
        watching(binary, folder)
        demonstration(binary, folder)
        os.chdir("/")
    text = report()
    print(text)
    if options.write:
        EXPECTED.write_text(text)
    elif text != EXPECTED.read_text():
        failures.append(f"the tables are not those of {EXPECTED.name}:\n" + "\n".join(
            difflib.unified_diff(EXPECTED.read_text().splitlines(), text.splitlines(), lineterm="", n=0)))
    print(f"{len(failures)} answers are not as expected" + "".join(f"\n- {one}" for one in failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
