#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the console in real Chromium, headless.

    python3 Tests/System/Console/run.py --server .build-release/release/realm-rest [--only WORD] [--screenshots DIR]

A binary that holds the console serves it; `--folder` serves the files from their folder in front of it instead, as is done
for a binary without them. `--web http://…` uses a server that runs already, for tests that need none of their own.
Exit status 0: every test has passed.
"""

import argparse
import importlib
import os
import shutil
import signal
import sys
import time
import traceback

from playwright.sync_api import sync_playwright

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from console import Console, Run  # noqa: E402


def tests(words, quick=False):
    """The tests whose file or name has one of the words; `quick` leaves those out that say they are slow."""
    for file in sorted(os.listdir(HERE)):
        if file.startswith("test_") and file.endswith(".py"):
            module = importlib.import_module(file[:-3])
            for name, function in vars(module).items():
                if name.startswith("test_") and callable(function) and any(word in f"{file[:-3]}.{name}" for word in words or [""]):
                    if quick and getattr(function, "slow", False):
                        continue
                    yield file[:-3], name, function


def outcome(run, name, function):
    """Runs a test; returns why it failed, as lines."""
    console = Console(run, name)
    lines = []
    try:
        function(console)
    except Exception as error:
        # Only where the test was is of interest, not what is below or above it.
        places = [place for place in traceback.extract_tb(error.__traceback__) if place.filename.startswith(HERE) and not place.filename.endswith("run.py")]
        lines = [f"{os.path.basename(place.filename)}:{place.lineno}: {place.line}" for place in places] + f"{type(error).__name__}: {error}".splitlines()[:15]
    if lines or console.faults:
        lines += console.faults[:20]
    try:
        console.end(bool(lines))
    except Exception:
        lines += traceback.format_exc().strip().splitlines()
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", help="the binary")
    parser.add_argument("--web", help="a server that runs already, by its address")
    parser.add_argument("--folder", action="store_true", help="serves the files of the console from their folder")
    parser.add_argument("--only", action="append", help="tests whose file or name holds this word; may be repeated")
    parser.add_argument("--screenshots", help="a folder for pictures")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--quick", action="store_true", help="leaves out the tests with a million rows")
    parser.add_argument("--again", action="store_true", help="tries a test that fails once more, as a busy machine may be too slow for a page")
    parser.add_argument("--list", action="store_true", help="names the tests and runs none")
    arguments = parser.parse_args()
    chosen = list(tests(arguments.only, arguments.quick))
    if arguments.list:
        print("\n".join(f"{file}.{name}" for file, name, _ in chosen))
        return 0
    if not arguments.server and not arguments.web:
        parser.error("--server or --web is needed")
    # Whoever ends the tests ends the browser and the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed, begin = [], time.monotonic()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"])
        run = Run(browser, arguments.server, arguments.web, arguments.folder, arguments.screenshots)
        try:
            for file, name, function in chosen:
                start = time.monotonic()
                lines = outcome(run, name, function)
                print(f"{'FAILED' if lines else 'ok':6} {time.monotonic() - start:6.1f} s  {file}.{name}", flush=True)
                for line in lines:
                    print("       " + line, flush=True)
                if lines and arguments.again:
                    lines = outcome(run, name, function)
                    print("       " + ("fails again" if lines else "passes when it is tried again"), flush=True)
                failed += [f"{file}.{name}"] if lines else []
        finally:
            run.end()
            browser.close()
    print(f"{len(chosen) - len(failed)} of {len(chosen)} tests passed in {time.monotonic() - begin:.0f} s")
    for name in failed:
        print(f"  failed: {name}")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
