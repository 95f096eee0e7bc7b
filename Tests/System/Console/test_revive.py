# SPDX-License-Identifier: Apache-2.0
"""A server that ends under open pages: each is right again soon after it is back, without a reload."""

import os
import time

R = "/v1/realms/store"
# What pages cannot but meet while no server is there, or while it does not know what the one before it knew.
GONE = ["ERR_", "answered 404: GET .*ticket=", "answered 503", "answered 410"]


def marked(page, text):
    return text in page.evaluate("document.querySelector('main').innerText + [...document.querySelectorAll('main input, main textarea')].map((one) => one.value).join('\\n')")


def test_ten_pages_are_right_again_after_a_restart(console):
    key = console.api("GET", f"{R}/objects/Customer?limit=1")["items"][0]["_id"]
    pages = {
        "realms": console.page("#/-/realms"), "classes": console.page("#/store/classes"), "rows": console.page("#/store/rows/Category"),
        "sorted rows": console.page("#/store/rows/Category?sort=-id"), "a query": console.page("#/store/rows/Category?where=id%20%3D%3D%201"), "an object": console.page("#/store/object/Category/1"),
        "a collection": console.page(f"#/store/collection/Customer/{key}/tags"), "time": console.page("#/store/time"), "in and out": console.page("#/store/transfer/Category"), "the server": console.page("#/-/server"),
    }
    count = console.api("GET", f"{R}/objects/Category?limit=0&count=exact")["count"]
    for name in ("rows", "a query", "an object"):
        console.eventually(lambda: marked(pages[name], "Kitchen"), 30)
    console.eventually(lambda: marked(pages["in and out"], f"{count} objects"), 30)
    console.eventually(lambda: console.raw("GET", "/metrics")[0] == 200)
    console.expect(*GONE)
    server = console.server
    server.kill()
    console.pause(1.5)
    server.start()
    # What is written while the pages have not found it yet is what they must show.
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "After the fall"})
    console.api("POST", f"{R}/objects/Category", {"id": 31337, "name": "New one"})
    console.api("PATCH", f"{R}/objects/Customer/{key}", {"tags": ["revived"]})
    back = time.monotonic()
    version = console.api("GET", R)["version"]
    right = {
        "realms": lambda page: marked(page, version), "classes": lambda page: marked(page, str(count + 1)), "rows": lambda page: marked(page, "After the fall"),
        "sorted rows": lambda page: marked(page, "New one"), "a query": lambda page: marked(page, "After the fall"), "an object": lambda page: marked(page, "After the fall"),
        "a collection": lambda page: marked(page, "revived"), "in and out": lambda page: marked(page, f"{count + 1} objects"), "time": lambda page: marked(page, "missing"),
        "the server": lambda page: page.locator("main .problem").count() == 0,
    }
    waiting, taken = dict(right), {}
    while waiting and time.monotonic() < back + 30:
        for name in [name for name, is_right in waiting.items() if is_right(pages[name])]:
            taken[name] = time.monotonic() - back
            del waiting[name]
        console.pause(0.1)
    print("       " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in taken.items()))
    # A machine with much else to do may take longer than the five seconds that are promised.
    limit = float(os.environ.get("REVIVE_SECONDS", 5))
    assert not waiting, f"never right: {list(waiting)}"
    assert max(taken.values()) <= limit, {name: seconds for name, seconds in taken.items() if seconds > limit}
    # And they follow on: a change that comes later arrives as before.
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Later"})
    for name in ("rows", "a query", "an object"):
        console.eventually(lambda: marked(pages[name], "Later"))
    console.eventually(lambda: marked(pages["time"], "Category 1"))
    for page in pages.values():
        assert page.locator("main .problem").count() == 0, page.url


def test_a_page_that_is_opened_while_the_server_is_away_finds_it(console):
    """The frame is there already; what it asks for comes when the server is back."""
    page = console.page("#/store/rows/Category")
    console.eventually(lambda: marked(page, "Kitchen"))
    console.expect(*GONE)
    console.server.kill()
    page.get_by_text("Not connected").wait_for()
    page.evaluate("location.hash = '#/store/rows/Product'")
    console.pause(1)
    console.server.start()
    sku = console.api("GET", f"{R}/objects/Product?limit=1")["items"][0]["sku"]
    console.eventually(lambda: marked(page, sku), 15)
    page.get_by_text("Live", exact=True).wait_for()


def test_changes_are_followed_though_no_server_gave_the_scripts(console):
    """The first realm is opened while the server is away, so the worker that follows it cannot be loaded at first."""
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Create…").wait_for()
    console.expect(*GONE)
    console.server.kill_all()
    page.evaluate("location.hash = '#/store/classes/Category'")
    console.pause(3)
    console.server.start()
    page.get_by_text("Live", exact=True).wait_for()


def test_what_was_typed_survives(console):
    page = console.page("#/store/transfer")
    page.get_by_label("Pasted text").fill("id,label\n901,a\n")
    page.get_by_label("Class", exact=True).select_option("Category")
    page.get_by_label("Property for label").select_option("name")
    console.expect(*GONE)
    console.server.restart()
    console.pause(4)
    assert page.get_by_label("Pasted text").input_value() == "id,label\n901,a\n"
    assert page.get_by_label("Property for label").input_value() == "name"
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Done: 1 created").wait_for()
    assert console.api("GET", f"{R}/objects/Category/901")["name"] == "a"
