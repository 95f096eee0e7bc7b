#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first run of a person, step by step: from `make demo` to rows that were found, filtered, edited and exported.

    python3 Tests/System/Console/first_run.py --server .build-release/release/realm-rest

Each step names the words, of README or of the page, that lead to it, and is done by the pointer and by typing as a person does it. Printed
are what the program takes, which is measured, and what a person takes, by the keystroke-level model: 1.35 s to decide,
1.1 s to point, 0.2 s to press, 0.28 s for each letter. The build of `make demo` is not in it.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from console import front  # noqa: E402
from harness import ROOT, Program  # noqa: E402

DECIDE, POINT, PRESS, LETTER = 1.35, 1.1, 0.2, 0.28


class Person:
    """Does steps, and adds up what they take."""

    def __init__(self):
        self.program, self.person, self.lines = 0, 0, []

    def step(self, led_by, does, run, wait, clicks=1, letters=0):
        """Does a step that was led to by some words, and waits for what it shall bring."""
        begin = time.monotonic()
        run()
        wait()
        took = time.monotonic() - begin
        needs = DECIDE + clicks * (POINT + PRESS) + letters * LETTER
        self.program += took
        self.person += needs
        self.lines.append(f"| {len(self.lines) + 1} | {led_by} | {does} | {took:.2f} s | {needs:.1f} s |")


def steps(person, page, url):
    """The run itself."""
    shown = page.locator(".canvas .row a.open").first
    person.step("README: “browsers find the console” at the address", "opens it", lambda: page.goto(url), lambda: page.get_by_role("link", name="Rows").wait_for(), letters=21)
    person.step("the card “store” has a button “Rows”", "presses it", lambda: page.get_by_role("link", name="Rows").click(), shown.wait_for)
    person.step("the list “Class” above the rows", "chooses “Product”", lambda: page.get_by_label("Class", exact=True).select_option("Product"), lambda: page.get_by_text("316 objects").wait_for(), clicks=2)
    query = page.get_by_label("Query", exact=True)
    assert "price > 30" in query.get_attribute("placeholder")
    person.step("the field says “Query, such as price > 30”", "types “price > 100”, Enter", lambda: (query.click(), page.keyboard.type("price > 100"), page.keyboard.press("Enter")),
                lambda: page.get_by_text("166 objects").wait_for(), letters=12)
    head = page.get_by_role("columnheader", name="price")
    person.step("the head of a column has the pointer of a button", "presses “price” twice", lambda: (head.click(), page.wait_for_url("**sort=price**"), head.click()),
                lambda: page.wait_for_url("**sort=-price**"), clicks=2)
    page.wait_for_timeout(300)
    person.step("“↗” at the beginning of each row", "presses it", lambda: page.locator('.canvas [aria-rowindex="2"] a.open').click(), lambda: page.get_by_label("name", exact=True).wait_for())
    name = page.get_by_label("name", exact=True)
    person.step("the fields of the object, and “Save”", "types a name, presses “Save”", lambda: (name.fill("My first edit"), page.get_by_role("button", name="Save", exact=True).click()),
                lambda: page.get_by_text("Saved.").wait_for(), clicks=2, letters=13)
    person.step("the Back of the browser", "presses it", page.go_back, lambda: page.locator(".canvas").get_by_text("My first edit").wait_for())
    person.step("“Export” above the rows", "presses it", lambda: page.get_by_role("link", name="Export").click(), lambda: page.get_by_text("166 objects, sorted by -price").wait_for())
    person.step("the list “Format”", "chooses “Excel workbook”", lambda: page.get_by_label("Format").select_option("xlsx"), lambda: None, clicks=2)

    def save():
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        assert os.path.getsize(download.value.path()) > 5000

    person.step("the button “Export”", "presses it: store.xlsx is saved", save, lambda: None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--folder", action="store_true", help="serves the files of the console from their folder")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    chosen = parser.parse_args()
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    # What the run follows has to be what README says.
    assert "make demo" in readme and "browsers find the console" in readme
    folder, person = tempfile.mkdtemp(prefix="first-run-"), Person()
    begin = time.monotonic()
    programs = [Program([os.path.abspath(chosen.server), "demo", "--port", "0", "--folder", os.path.join(folder, "demo")])]
    started = time.monotonic() - begin
    try:
        if chosen.folder:
            programs.append(front(programs[0].url))
        port = programs[-1].port
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chosen.chromium)
            page = browser.new_context(accept_downloads=True).new_page()
            steps(person, page, f"http://127.0.0.1:{port}/")
            browser.close()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/realms/store/objects/Product?where=name%20%3D%3D%20%22My%20first%20edit%22&limit=0&count=exact") as answer:
            assert b'"count":1' in answer.read()
    finally:
        for program in programs:
            program.end()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"The demo listens after {started:.1f} s. Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.\n")
    print("| | What leads there | What is done | Program | Person |\n|---|---|---|---|---|\n" + "\n".join(person.lines))
    print(f"| | | together | {person.program:.1f} s | {person.person:.0f} s |")


if __name__ == "__main__":
    main()
