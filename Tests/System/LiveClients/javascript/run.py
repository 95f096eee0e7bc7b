#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the live client of JavaScript, by itself and against a server.

    python3 Tests/System/LiveClients/javascript/run.py --server .build-release/release/realm-rest [--quick] [--only WORD] [--seed N]

Needs Node 18 or later; types are checked where tsc is installed, and the browser is tried where Python has Playwright and the
machine has Chromium (with --quick as well, in a few seconds). Exit status 0: everything that could run has passed; what
could not is named.
"""

import argparse
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT = os.path.normpath(os.path.join(HERE, "..", "..", "..", "..", "clients", "javascript"))
TSC = ["tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom,dom.iterable"]


class Skipped(Exception):
    """A test cannot run on this machine."""


def run(options, *command, cwd=HERE, seconds=3600):
    """Runs a command and shows what it prints, indented."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, "SEED": str(options.seed)}, capture_output=True, text=True, timeout=seconds)
    output = (done.stdout + done.stderr).strip()
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{output[-4000:]}")
    return output


def node(options, script, **arguments):
    flags = [part for name, value in arguments.items() for part in ([f"--{name}"] if value is True else [f"--{name}", str(value)])]
    print(run(options, "node", "--expose-gc", script, "--server", os.path.abspath(options.server), *flags))


def test_types(options):
    """The module by its comments, and a program by the declarations."""
    if not shutil.which("tsc"):
        raise Skipped("tsc is not installed")
    run(options, "tsc", "-p", CLIENT)
    run(options, *TSC, "types.ts")


def test_units(options):
    output = run(options, "node", "--test", HERE)
    print("  " + " ".join(re.findall(r"# (pass \d+|fail \d+)", output)))


def test_package(options):
    """What npm would publish, and its size."""
    path = os.path.join(CLIENT, "realm-rest.js")
    with open(path, "rb") as source:
        body = source.read()
    bare = re.sub(rb"(?m)^\s*//.*\n|^[ \t]*/\*\*.*?\*/[ \t]*\n", b"", re.sub(rb"(?ms)^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n", b"", body))
    print(f"  realm-rest.js: {len(body) / 1024:.1f} KiB, {len(bare) / 1024:.1f} KiB without comments, {len(gzip.compress(body, 9)) / 1024:.1f} KiB as gzip, {len(gzip.compress(bare, 9)) / 1024:.1f} KiB both")
    assert len(gzip.compress(bare, 9)) < 30 * 1024, "the module has become large"
    if not shutil.which("npm"):
        raise Skipped("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        run(options, "npm", "pack", "--silent", "--offline", "--pack-destination", folder, cwd=CLIENT)
        (packed,) = os.listdir(folder)
        names = run(options, "tar", "tzf", os.path.join(folder, packed)).split()
    assert sorted(names) == ["package/README.md", "package/package.json", "package/realm-rest.d.ts", "package/realm-rest.js"], names


def test_readme(options):
    """The examples of the page, one after the other, against the sample realm."""
    node(options, "readme.mjs")


def test_behaviour(options):
    """One thing after the other: values, keys, conditions, optimistic writes, transactions, migrations, credentials."""
    os.environ["REALM_REST_SERVER"] = os.path.abspath(options.server)
    print("  " + " ".join(re.findall(r"# (pass \d+|fail \d+)", run(options, "node", "--test", "behaviour.mjs"))))


def test_replay(options):
    node(options, "replay.mjs", commits=300 if options.quick else 10_000, restarts=1 if options.quick else 8, checks=3 if options.quick else 10)


def test_forgetful(options):
    """A server that keeps little for those who are away, and sends little ahead."""
    node(options, "replay.mjs", tight=True, commits=100 if options.quick else 2000, restarts=1 if options.quick else 2, checks=3)


def test_polling(options):
    node(options, "replay.mjs", transport="poll", commits=100 if options.quick else 2000, restarts=1 if options.quick else 3, checks=3)


def test_blocked(options):
    """Streams whose bytes something in between keeps."""
    node(options, "replay.mjs", swallow=True, commits=100 if options.quick else 1000, restarts=1 if options.quick else 3, checks=3)


def test_many(options):
    node(options, "many.mjs", commits=20 if options.quick else 200, queries=1000)


def test_browser(options):
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Skipped("Playwright is not installed") from None
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        raise Skipped("Chromium is not installed")
    commits, restarts = (100, 1) if options.quick else (10_000, 8)
    command = ["node", "pages.mjs", "--server", os.path.abspath(options.server), "--commits", str(commits), "--restarts", str(restarts)]
    stage = subprocess.Popen(command, cwd=HERE, env={**os.environ, "SEED": str(options.seed)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = next(line.split()[1] for line in stage.stdout if line.startswith("page "))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--js-flags=--expose-gc", "--enable-precise-memory-info"])
            page = browser.new_page()
            page.on("pageerror", lambda error: print(f"  page: {error}"))
            page.goto(address)
            page.wait_for_function("window.result", timeout=3_600_000)
            result = page.evaluate("window.result")
            browser.close()
    finally:
        rest = stage.communicate("", timeout=60)[0]
    print("\n".join(result["lines"]))
    assert "error" not in result, result.get("error")
    print(f"{result['text']}, {rest.strip().splitlines()[-1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the program that serves")
    parser.add_argument("--quick", action="store_true", help="less of everything, within a minute")
    parser.add_argument("--only", default="", help="only the tests with this word in their name")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 1_000_000), help="brings back the random numbers of another run")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    failed = []
    for name, test in [(name, value) for name, value in globals().items() if name.startswith("test_") and options.only in name]:
        began = time.monotonic()
        try:
            test(options)
            print(f"passed  {name} ({time.monotonic() - began:.1f} s)", flush=True)
        except Skipped as reason:
            print(f"skipped {name}: {reason}", flush=True)
        except Exception as error:  # noqa: BLE001
            failed.append(name)
            print(f"FAILED  {name}: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
