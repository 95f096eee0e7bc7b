#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of every screen: 1440 px wide in light and dark, and 360 px wide.

    python3 Tests/System/Console/pictures.py --server .build-release/release/realm-rest --to docs/images [--only rows] [--folder]

Where Pillow is installed the pictures get a palette of their own, which makes them a third as large. Exit status 0: no page
had a fault, and no picture is larger than 120 KB.
"""

import argparse
import itertools
import os
import shutil
import sys

from playwright.sync_api import sync_playwright

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from console import Console, Run  # noqa: E402
from test_access import address, settled  # noqa: E402

MOST = 120_000
LOOKS = {"light": (1440, 900, False), "dark": (1440, 900, True), "360": (360, 740, False)}
TURNS = itertools.count(1)
STORE = "/v1/realms/store"
CSV = "id,name,sortOrder\n101,Lamps,1\n102,\"Chairs, oak\",2\n103,Shelves,3\n"


def prepared(console):
    """A server with the sample realm and some more, on which something goes on."""
    console.realm_server(data=True)
    console.api("GET", f"{STORE}/schema")
    console.api("POST", "/v1/realms", {"name": "scratch", "inMemory": "scratch"})
    console.api("POST", "/v1/realms", {"name": "notes", "schema": {"classes": [{"name": "Note", "primaryKey": "id", "properties": [{"name": "id", "type": "int"}, {"name": "text", "type": "string"}]}]}})
    console.api("POST", "/v1/realms/notes/objects/Note", [{"id": 1, "text": "Buy milk"}])


def requests_go_on(console, seconds):
    """Asks and writes for some time, so that charts and logs have something to show."""
    for round in range(seconds * 2):
        for _ in range(3 + round * 7 % 20):
            console.raw("GET", f"{STORE}/objects/Product?limit=5&offset={round}")
        console.api("PATCH", f"{STORE}/objects/Category/1", {"sortOrder": round})
        console.pause(0.5)


def realms(console, page):
    page.get_by_role("heading", name="scratch").wait_for()


def rows(console, page):
    page.get_by_role("button", name="Groups").wait_for()
    page.locator(".canvas .row input").first.wait_for(state="attached")
    page.locator(".groups li").first.wait_for()


def time_screen(console, page):
    turn = next(TURNS)
    for one in console.api("GET", f"{STORE}/snapshots")["items"]:
        console.api("DELETE", f"{STORE}/snapshots/{one['id']}")
    page.get_by_role("button", name="Pin now").click()
    page.get_by_label("Class", exact=True).select_option("Product")
    page.get_by_text("There is no difference").wait_for()
    key, other = [one["$meta"]["key"] for one in console.api("GET", f"{STORE}/objects/Product?limit=2")["items"]]
    console.api("PATCH", f"{STORE}/objects/Product/{key}", {"stock": 100 + turn, "price": f"{20 + turn}.99"})
    console.api("PATCH", f"{STORE}/objects/Product/{other}", {"name": f"Renamed {turn}", "discontinued": True})
    console.api("PATCH", f"{STORE}/objects/Category/1", {"name": f"Kitchen {turn}"})
    page.locator(".pairs tr").nth(2).wait_for()
    page.locator(".commits li").nth(2).wait_for()
    page.locator("main").evaluate("main => main.scrollTop = 0")


def transfer(console, page):
    page.get_by_label("Pasted text").fill(CSV)
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_text("It fits").or_(page.locator(".problem")).first.wait_for()


def server(console, page):
    requests_go_on(console, 14)


def api(console, page):
    page.goto(f"{console.url}/{address('rows', 'Product', where='price > 100')}")
    page.locator(".canvas .row input").first.wait_for(state="attached")
    page.goto(f"{console.url}/#/-/api")
    page.get_by_label("Find").fill("product")
    settled(console, page)
    page.locator("summary:visible").first.click()
    page.get_by_role("button", name="Try it").first.wait_for()
    page.locator("main").evaluate("main => main.scrollTop = 0")


def sign_in(console, page):
    page.get_by_label("API key or token").wait_for()


def shots(console):
    """The address of each screen, and what is done there first."""
    product = console.api("GET", f"{STORE}/objects/Product?limit=1")["items"][0]["$meta"]["key"]
    customer = console.api("GET", f"{STORE}/objects/Customer?limit=1&where=tags.@count%20%3E%201")["items"][0]["$meta"]["key"]
    return {
        "realms": (address("realms", realm="-"), realms), "classes": (address("classes"), None),
        "rows": (address("rows", "Product", where="price > 100", sort="-rating", group="category.name"), rows),
        "object": (address("object", "Product", product), None), "collection": (address("collection", "Customer", customer, "tags"), None),
        "time": (address("time"), time_screen), "transfer": (address("transfer"), transfer), "server": (address("server", realm="-"), server), "api": (address("api", realm="-"), api),
    }


def picture(console, page, path):
    console.pause(1.3)
    page.screenshot(path=path)
    try:
        from PIL import Image
    except ImportError:
        return
    image = Image.open(path).convert("RGB")
    # Those that occur most, and rare ones that are no grey, are kept exactly: they are the colours of the style sheet.
    weight = lambda one: one[0] * (8 + max(one[1]) - min(one[1]))
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in sorted(image.getcolors(1 << 24), key=weight, reverse=True)[:256] for part in colour])
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


def taken(console, places, folder):
    """Takes the pictures of these places and returns what is wrong with them."""
    faults = []
    for name, (where, act) in places.items():
        for look, (width, height, dark) in LOOKS.items():
            page = console.page(where, dark=dark, width=width, height=height)
            if act != sign_in:
                settled(console, page)
            if act:
                act(console, page)
            path = os.path.join(folder, f"{name}-{look}.png")
            picture(console, page, path)
            page.close()
            size = os.path.getsize(path)
            print(f"{size:8} {name}-{look}.png", flush=True)
            faults += [f"{name}-{look}.png is too large"] if size > MOST else []
    return faults + console.faults


def locked(console):
    """A server that demands a key."""
    console.expect("answered 401")
    console.realm_server(data=True)
    console.api("POST", "/admin/keys", {"name": "boss", "roles": ["admin"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--only", action="append", help="screens; all without it")
    parser.add_argument("--folder", action="store_true", help="serves the files of the console from their folder")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    arguments = parser.parse_args()
    os.makedirs(arguments.to, exist_ok=True)
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        run = Run(browser, arguments.server, folder=arguments.folder)
        wanted = lambda name: not arguments.only or name in arguments.only
        for prepare, places in ((prepared, shots), (locked, lambda _: {"sign-in": ("", sign_in)})):
            console = Console(run, "pictures")
            try:
                prepare(console)
                faults += taken(console, {name: place for name, place in places(console).items() if wanted(name)}, arguments.to)
            finally:
                console.end(False)
        run.end()
        browser.close()
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
