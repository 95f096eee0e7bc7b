"""What the tests of several clients have alike: their command line, the environment they run in, and the play of commits and troubles."""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Protocol

from serving import Proxy, Serving


class Follower(Protocol):
    """The live copies of a client, and fresh reads beside them."""

    async def compare(self, version: str) -> int:
        """Waits for a version, compares everything with fresh reads, and answers the bytes of the client in memory."""

    def figures(self) -> dict[str, int]: ...

    async def close(self) -> None: ...


class Beginner(Protocol):
    """Begins to follow through a proxy."""

    async def __call__(self, proxy: Proxy, serving: Serving) -> Follower: ...


async def replay(begin: Beginner, server: str, *, commits: int, seed: int, restarts: int, growth: int) -> dict[str, Any]:
    """Commits while connections break and the server restarts: the copies equal fresh reads whenever it is quiet.

    `growth` is what the memory may grow by, in MiB, between a quarter of the quiet moments and the last.
    """
    from commits import Commits

    draw = random.Random(seed)
    serving = Serving(server, "heartbeat=5")
    serving.start()
    serving.create_realm("app")
    proxy = Proxy(serving.port, seed)
    await proxy.start()
    writer = Commits(serving.url, "app", seed)
    await writer.begin()
    follower = await begin(proxy, serving)
    began, memory = time.monotonic(), []
    at_restarts = {round(commits * (step + 1) / (restarts + 1)) for step in range(restarts)}
    until_quiet = draw.randrange(50, 300)
    for number in range(1, commits + 1):
        await writer.one()
        if draw.random() < 0.02:
            proxy.cut_some()
        if draw.random() < 0.02:
            await asyncio.sleep(draw.random() * 0.05)
        if number in at_restarts:
            serving.stop(kill=draw.random() < 0.5)
            await asyncio.sleep(draw.random() * 0.3)
            serving.start()
            await writer.reconnect()
            # So that there is a version of the new life of the file to wait for.
            await writer.one()
        until_quiet -= 1
        if until_quiet == 0 or number == commits:
            try:
                memory.append(await follower.compare(writer.version))
            except Exception as error:
                raise AssertionError(f"seed {seed}, commit {number}: {error}") from error
            until_quiet = draw.randrange(50, commits // 24 + 60)
    figures = {
        "commits": writer.count, "seconds": round(time.monotonic() - began, 1), "cuts": proxy.cuts, "restarts": restarts,
        "quiet points": len(memory), **follower.figures(),
        **carried(serving),
        "memory MiB": [round(value / 2 ** 20, 1) for value in (memory[len(memory) // 4], memory[-1])],
    }
    await follower.close()
    await writer.close()
    await proxy.close()
    serving.close()
    grown = (memory[-1] - memory[len(memory) // 4]) / 2 ** 20
    assert grown < growth, f"memory grew by {grown:.1f} MiB"
    return figures


async def filled(server: str, *limits: str) -> tuple[Serving, Any]:
    """A server with some objects, for a crowd of queries, and what writes to it."""
    from commits import Commits

    serving = Serving(server, *limits)
    serving.start()
    serving.create_realm("app")
    writer = Commits(serving.url, "app", 1)
    await writer.begin()
    for _ in range(60):
        await writer.one()
    return serving, writer


def carried(serving: Serving) -> dict[str, Any]:
    """By what a server is followed at this moment."""
    return {"streams": int(serving.metric("streams")), "registrations": int(serving.metric("registrations"))}


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that all have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the realm-rest to test against", type=lambda text: str(Path(text).resolve()))
    parser.add_argument("--quick", action="store_true", help="at most a minute, after building")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "realm-rest-live-python")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser


def scales(options: argparse.Namespace) -> list[tuple[str, int, int]]:
    """The replays: how changes come, how many commits, how many restarts."""
    commits = 800 if options.quick else options.commits
    return [("auto", commits, 2 if options.quick else 6), ("poll", commits // 4, 2 if options.quick else 6)]


def environment(folder: Path, **packages: str) -> Path:
    """The Python of a virtual environment that has some packages, by the modules and what is asked of the index."""
    python = folder / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if subprocess.run([python, "-c", "import " + ", ".join(packages)], capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages.values()], check=True)
    return python


def run_inside(python: Path, script: str, seed: int) -> int:
    """Runs a script again with another Python."""
    return subprocess.run([python, "-B", script, "--inside", *sys.argv[1:], "--seed", str(seed)]).returncode
