#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a hostile page learns from a server on the visitor's machine, in real Chromium.

A page of each foreign origin tries everything in probes.js on pairs of addresses, one that exists or takes long and one
that does not. It learns something where it sees a difference, or where the server answers it with anything but a refusal.

    python3 trial.py --server .build-release/release/realm-rest --data store.realm

Exit status 0: it learned nothing, and pages of a listed origin, typed addresses and programs are served.
"""

import argparse
import http.server
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from devtools import Browser

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = """self.onmessage = (event) => fetch(event.data, {mode: 'no-cors'})
  .then((answer) => event.ports[0].postMessage(answer.type + answer.status), (error) => event.ports[0].postMessage(error.name));
self.onactivate = (event) => event.waitUntil(clients.claim());"""
# Milliseconds by which the medians of two addresses may differ on a busy machine.
TOLERANCE = 150


class Page(http.server.BaseHTTPRequestHandler):
    """The hostile site."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        target = urllib.parse.unquote(query)
        headers, status, body, kind = [], 200, b"", "text/html"
        if path == "/":
            body = open(os.path.join(HERE, "hostile.html"), "rb").read()
        elif path == "/probes.js":
            body, kind = open(os.path.join(HERE, "probes.js"), "rb").read(), "text/javascript"
        elif path == "/worker.js":
            body, kind = WORKER.encode(), "text/javascript"
        elif path == "/redirect":
            status = 302
            headers.append(("Location", target))
        elif path == "/reporting":
            headers.append(("Content-Security-Policy", f"img-src 'none'; report-uri {target}"))
            body = b"<img src=/x>"
        else:
            status = 404
        self.send_response(status)
        for name, value in headers + [("Content-Type", kind), ("Content-Length", str(len(body))), ("Access-Control-Allow-Origin", "*")]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class FleetingPage(Page):
    """The same without connections that outlast their answer, so that the next request goes to whoever listens by then."""

    protocol_version = "HTTP/1.0"


class Server(harness.Server):
    """realm-rest, with its log."""

    def __init__(self, executable, realm, port=0, options=()):
        self.entries = []
        super().__init__(
            executable, realm, "--read-only", "--limit", "read-seconds=2", *options, port=port, errors=subprocess.DEVNULL, heard=self.hear)

    def hear(self, line):
        try:
            entry = json.loads(line)
        except ValueError:
            return
        # Events have none.
        if "status" in entry:
            self.entries.append(entry)

    def get(self, target, **headers):
        status, _, body = self.request("GET", target, headers=headers)
        return status, body


def pairs(realm, email):
    """Addresses that differ in what a page would like to know."""
    base = f"/v1/realms/{realm}"
    # Takes long for the customers whose e-mail fits, and no time for others.
    slow = " AND ANY favourites." + "category.@links.Product.category." * 8 + "name == lastName"

    def asks(text):
        return f"{base}/objects/Customer?limit=1&where=" + urllib.parse.quote(f"email == '{text}'{slow}")

    return {
        "an e-mail": (asks(email), asks("nobody@" + email)),
        "a realm": (f"{base}/objects/Customer?limit=50", f"/v1/realms/absent/objects/Customer?limit=50"),
    }


class Trial:
    def __init__(self, arguments):
        self.arguments = arguments
        self.learned = []
        self.rows = []

    def fail(self, text):
        self.learned.append(text)

    def attack(self, tab, page_origin, server, target_host, pairs, skipped=()):
        """Runs every probe from a page of `page_origin` on the server as `target_host`."""
        base = f"http://{target_host}:{server.port}"
        for name in json.loads(tab.run("JSON.stringify(Object.keys(probes))")):
            if (self.arguments.only and self.arguments.only not in name) or any(word in name for word in skipped):
                continue
            if self.arguments.verbose:
                print(f"{page_origin} on {target_host}: {name}", file=sys.stderr, flush=True)
            for what, addresses in pairs.items():
                before = len(server.entries)
                seen, gap = self.compare(tab, name, [base + address for address in addresses])
                time.sleep(0.05)
                answers = sorted({line.get("status") for line in server.entries[before:]})
                lesson = []
                if seen[0] != seen[1]:
                    lesson.append(f"sees {sorted(seen[0])} or {sorted(seen[1])}")
                if abs(gap) > TOLERANCE:
                    lesson.append(f"{gap:+.0f} ms")
                if set(answers) - {403, 421}:
                    lesson.append(f"answers {answers}")
                row = (page_origin, target_host, name, what, answers, "; ".join(sorted(seen[0] | seen[1]))[:60], gap, "; ".join(lesson))
                self.rows.append(row)
                if lesson:
                    self.fail(f"{page_origin} on {target_host}, {name}, {what}: {row[-1]}")

    def compare(self, tab, name, addresses):
        """What the page sees of each address, and the difference of the times."""
        seen, times = (set(), set()), ([], [])
        # What looks like a difference is looked at again: the machine has other things to do.
        for attempt in range(self.arguments.rounds + 4):
            for index, address in enumerate(addresses):
                answer = tab.run(f"probe({json.dumps(name)}, {json.dumps(address)})")
                seen[index].add(answer["seen"])
                times[index].append(answer["milliseconds"])
            gap = statistics.median(times[0]) - statistics.median(times[1])
            if attempt + 1 >= self.arguments.rounds and abs(gap) <= TOLERANCE and seen[0] == seen[1]:
                break
        return seen, gap

    def expect(self, what, is_so):
        self.rows.append(("", "", what, "", [], "yes" if is_so else "NO", 0.0, "" if is_so else "does not work"))
        if not is_so:
            self.fail(what + ": does not work")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--data", help="the sample store, as a .realm file; without it one is made")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", help="probes whose name holds this text")
    parser.add_argument("--quick", action="store_true", help="one foreign origin")
    parser.add_argument("--old", action="store_true", help="the server is one that lets pages ask: shows that the probes see it")
    parser.add_argument("--verbose", action="store_true", help="names each probe as it begins")
    parser.add_argument("--table", help="writes all rows to this file")
    arguments = parser.parse_args()
    # Whoever ends the trial ends the browser and the server too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="realm-rest-trial-")
    if arguments.data:
        shutil.copy(arguments.data, os.path.join(folder, "store.realm"))
    else:
        subprocess.run([arguments.server, "import", harness.SAMPLE, os.path.join(folder, "store.realm")], check=True, stdout=subprocess.DEVNULL)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    page_port = site.server_address[1]
    trial = Trial(arguments)
    friend = f"http://friend.test:{page_port}"
    options = [] if arguments.old else ["--allow-origin", friend]
    server = Server(arguments.server, os.path.join(folder, "store.realm"), options=["--allow-host", "lan.test", *options])
    browser = Browser(arguments.chromium, ["evil.test", "friend.test", "lan.test", "rebound.test", "*.evil.test"])
    try:
        run(trial, browser, server, page_port, friend, folder)
    finally:
        browser.end()
        server.end()
        site.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    report(trial)


def run(trial, browser, server, page_port, friend, folder):
    arguments = trial.arguments
    status, body = server.get("/v1/realms/store/objects/Customer?limit=1&fields=email")
    email = json.loads(body)["items"][0]["email"]
    known = pairs("store", email)
    # Names of this machine of which a page on another port is the same site, and such of which it is another; `lan.test` is
    # no loopback name, so the browser does not say which page a request comes from.
    attacks = [
        (f"http://localhost:{page_port}", "localhost"),
        (f"http://127.0.0.1:{page_port}", "localhost"),
        (f"http://evil.test:{page_port}", "127.0.0.1"),
        (f"http://evil.test:{page_port}", "lan.test"),
    ]
    if arguments.quick or arguments.old:
        attacks = [attacks[int(os.environ.get("ATTACK", 2))]]
    for origin, host in attacks:
        tab = browser.tab()
        tab.open(origin + "/")
        trial.attack(tab, origin, server, host, known)
        browser.close(tab)
    if arguments.old:
        return
    rebind(trial, browser, folder, known)
    people(trial, browser, server, friend)


def rebind(trial, browser, folder, known):
    """A name that leads to the page's own server when it is loaded, and to realm-rest afterwards."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FleetingPage)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    port = site.server_address[1]
    tab = browser.tab()
    tab.open(f"http://rebound.test:{port}/")
    site.shutdown()
    site.server_close()
    server = Server(trial.arguments.server, os.path.join(folder, "store.realm"), port=port)
    try:
        # What the page's own server would have to answer is gone with it.
        trial.attack(tab, f"http://rebound.test:{port}", server, "rebound.test", known, skipped=["redirected", "service worker", "report"])
        trial.expect("requests of a rebound page come to the server", {line.get("status") for line in server.entries} == {421})
    finally:
        browser.close(tab)
        server.end()


def people(trial, browser, server, friend):
    """What has to go on working."""
    base = f"http://127.0.0.1:{server.port}"
    address = base + "/v1/realms/store/objects/Customer?limit=1"
    tab = browser.tab()
    tab.open(address)
    trial.expect("a typed address", '"items"' in (tab.run("document.body.innerText") or ""))
    # What the browser shows there may load nothing at all.
    trial.expect("a document of the server loads nothing", tab.run("fetch('/healthz').then(() => 1, () => 0)") == 0)
    tab.open(friend + "/")
    trial.expect("fetch from a listed origin", tab.run(f"fetch('{address}').then((r) => r.json()).then((r) => r.items.length)") == 1)
    trial.expect(
        "QUERY from a listed origin",
        tab.run(f"fetch('{base}/v1/realms/store/objects/Customer', {{method: 'QUERY', body: '{{\"limit\":1}}', headers: {{'Content-Type': 'application/json'}}}}).then((r) => r.status)") == 200)
    trial.expect("EventSource from a listed origin", tab.run(
        f"new Promise((done) => {{ const s = new EventSource('{base}/v1/realms/store/changes?class=Category'); s.addEventListener('snapshot', () => {{ s.close(); done(true); }}); s.onopen = () => setTimeout(() => {{ s.close(); done(true); }}, 500); s.onerror = () => done(false); }})") is True)
    time.sleep(1)
    before = len(server.entries)
    tab.run(f"probe('image', '{address}&offset=1')")
    time.sleep(1)
    trial.expect("an image of a listed origin is refused, since it does not say so", {line.get("status") for line in server.entries[before:]} == {403})
    browser.close(tab)
    trial.expect("a program", server.get("/v1/realms")[0] == 200)


def report(trial):
    lines = []
    for origin, host, name, what, answers, seen, gap, lesson in trial.rows:
        lines.append(f"{origin:32} {host:16} {name:30} {what:10} {str(answers):12} {gap:+7.0f} ms  {lesson or 'nothing':12} {seen}")
    if trial.arguments.table:
        with open(trial.arguments.table, "w") as file:
            file.write("\n".join(lines) + "\n")
    by_page = {}
    for origin, host, name, what, answers, seen, gap, lesson in trial.rows:
        key = f"{origin} on {host}" if origin else "what has to work"
        count, bad, statuses = by_page.setdefault(key, [0, 0, set()])
        by_page[key] = [count + 1, bad + bool(lesson), statuses | set(answers)]
    for key, (count, bad, statuses) in by_page.items():
        print(f"{key}: {count} tries, {bad} {'failures' if key.startswith('what') else 'lessons'}, statuses {sorted(statuses)}")
    for text in trial.learned:
        print("  " + text)
    print("a hostile page learned nothing" if not trial.learned else f"{len(trial.learned)} faults")
    sys.exit(1 if trial.learned else 0)


if __name__ == "__main__":
    main()
