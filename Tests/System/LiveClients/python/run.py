#!/usr/bin/env python3
"""Tests the Python client against a server binary.

    python3 Tests/System/LiveClients/python/run.py --server .build-release/release/realm-rest [--quick] [--seed N]

Makes a virtual environment (in --venv, kept for the next run), checks the types, builds the wheel, and runs the tests with the
installed wheel: units, scenarios and README, then the replays. `--quick` replays fewer commits.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import driver
from driver import arguments, environment, run_inside, scales

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[3] / "clients/python"


def prepare(folder: Path) -> Path:
    """A Python with the client and what checks it."""
    python = environment(folder, mypy="mypy", build="build", setuptools="setuptools>=61", wheel="wheel", aiohttp="aiohttp>=3.9,<4")
    with tempfile.TemporaryDirectory() as scratch:
        # Built from a copy, so that building leaves nothing in the sources.
        source = Path(scratch) / "source"
        subprocess.run(["cp", "-r", CLIENT, source], check=True)
        subprocess.run([python, "-m", "build", "--wheel", "--no-isolation", "--outdir", scratch, source], check=True,
                       stdout=subprocess.DEVNULL)
        wheel, = Path(scratch).glob("*.whl")
        print("built", wheel.name, flush=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps", wheel],
                       check=True)
    return python


def inside(options: argparse.Namespace) -> None:
    """What runs with the prepared Python."""
    import unittest

    import replay

    os.environ["REALM_REST"] = options.server
    os.environ["SEED"] = str(options.seed)
    suite = unittest.defaultTestLoader.discover(str(HERE), pattern="test_*.py")
    if not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful():
        raise SystemExit(1)
    for transport, commits, restarts in scales(options):
        figures = asyncio.run(driver.replay(partial(replay.follow, transport=transport), options.server, commits=commits, seed=options.seed,
                                            restarts=restarts, growth=16))
        print(transport, figures, flush=True)
    for limits in (("registration-names=1000",), ()):
        print(limits, asyncio.run(replay.crowd(options.server, 1000, *limits)), flush=True)


def main() -> None:
    options = arguments(__doc__).parse_args()
    if options.inside:
        inside(options)
        return
    print(f"seed {options.seed}", flush=True)
    python = prepare(options.venv)
    began = time.monotonic()
    subprocess.run([python, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", os.devnull, "src"], cwd=CLIENT, check=True)
    subprocess.run([python, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", os.devnull, "serving.py",
                    "commits.py", "driver.py", "replay.py", "test_units.py", "test_server.py"], cwd=HERE, check=True)
    status = run_inside(python, __file__, options.seed)
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
