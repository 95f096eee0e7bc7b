#!/usr/bin/env python3
"""Tests the Python client against a server binary.

    python3 Tests/LiveClients/python/run.py --server .build-release/release/realm-rest [--quick] [--seed N]

Makes a virtual environment (in --venv, kept for the next run), checks the types, builds the wheel, and runs the tests with the
installed wheel: units, scenarios and README, then the replays. `--quick` replays fewer commits.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[2] / "clients/python"


def prepare(folder: Path) -> Path:
    """A Python with the client and what checks it."""
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    known = subprocess.run([python, "-c", "import mypy, build, setuptools, aiohttp"], capture_output=True)
    if known.returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "mypy", "build", "setuptools>=61", "wheel",
                        "aiohttp>=3.9,<4"], check=True)
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


def inside(arguments: argparse.Namespace) -> None:
    """What runs with the prepared Python."""
    import unittest

    import replay

    os.environ["REALM_REST"] = arguments.server
    os.environ["SEED"] = str(arguments.seed)
    suite = unittest.defaultTestLoader.discover(str(HERE), pattern="test_*.py")
    if not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful():
        raise SystemExit(1)
    commits = 800 if arguments.quick else arguments.commits
    for transport in ("auto", "poll"):
        count = commits if transport == "auto" else commits // 4
        restarts = 2 if arguments.quick else 6
        figures = asyncio.run(replay.replay(arguments.server, commits=count, seed=arguments.seed, transport=transport,
                                            restarts=restarts))
        print(transport, figures, flush=True)
    for limits in (("registration-names=1000",), ()):
        print(limits, asyncio.run(replay.crowd(arguments.server, 1000, *limits)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the realm-rest to test against")
    parser.add_argument("--quick", action="store_true", help="at most a minute")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "realm-rest-live-python")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.server = str(Path(arguments.server).resolve())
    if arguments.inside:
        inside(arguments)
        return
    print(f"seed {arguments.seed}", flush=True)
    python = prepare(arguments.venv)
    began = time.monotonic()
    subprocess.run([python, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", os.devnull, "src"], cwd=CLIENT, check=True)
    subprocess.run([python, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", os.devnull, "serving.py",
                    "commits.py", "replay.py", "test_units.py", "test_server.py"], cwd=HERE, check=True)
    forwarded = ["--server", arguments.server, "--seed", str(arguments.seed), "--commits", str(arguments.commits)]
    forwarded += ["--quick"] if arguments.quick else []
    status = subprocess.run([python, "-B", __file__, "--inside", *forwarded]).returncode
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
