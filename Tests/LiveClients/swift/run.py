#!/usr/bin/env python3
"""Tests the Swift client against a server binary.

    python3 Tests/LiveClients/swift/run.py --server .build-release/release/realm-rest [--quick] [--seed N]

Builds the package and the programs in Harness, runs the unit tests and the examples of the README, and the replays: a program in
Swift follows through a proxy that breaks connections, while this script writes and restarts the server. It needs Python 3.10 with
aiohttp, which `--venv` gets. `--quick` replays fewer commits; building takes its own time.
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
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CLIENT = ROOT / "clients/swift"
sys.path.insert(0, str(HERE.parent / "python"))


def build(scratch: Path, configuration: str) -> Path:
    """Builds the programs, and answers the folder they are in."""
    command = ["swift", "build", "--package-path", str(HERE / "Harness"), "--scratch-path", str(scratch), "-c", configuration]
    subprocess.run([*command, "-Xswiftc", "-warnings-as-errors"], check=True)
    return Path(subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip())


def examples_of_the_readme(binaries: Path, server: str) -> None:
    """Each example of the README stands in the program of examples, which is run."""
    from serving import Serving

    program = (HERE / "Harness/Sources/Examples/main.swift").read_text()
    blocks = (CLIENT / "README.md").read_text().split("```swift\n")[1:]
    examples = [block.split("```")[0] for block in blocks]
    examples = [text for text in examples if ".package(" not in text]
    assert len(examples) >= 4, "the README has fewer examples than it had"
    for text in examples:
        assert text.strip() in program, f"an example that is not in Examples/main.swift:\n{text}"
    serving = Serving(server)
    try:
        data = serving.folder / "data/store.realm"
        subprocess.run([server, "import", str(ROOT / "demo/store.ndjson.gz"), str(data)], check=True, capture_output=True)
        serving.start()
        subprocess.run([binaries / "Examples", serving.url], check=True, timeout=60)
    finally:
        serving.close()


async def scenarios(binary: Path, server: str) -> None:
    """Values, writes, endings, and a proxy that holds streams back."""
    from serving import Proxy, Serving
    from test_server import ALL_TYPES

    serving = Serving(server)
    serving.start()
    serving.create_realm("all", ALL_TYPES)
    proxy = Proxy(serving.port, 1)
    await proxy.start()
    proxy.swallow_streams = True
    process = await asyncio.create_subprocess_exec(binary, serving.url, proxy.url)
    try:
        status = await asyncio.wait_for(process.wait(), 60)
        assert status == 0, f"the scenarios ended with {status}"
        assert serving.metric("streams") == 0, "a stream is still open"
    finally:
        if process.returncode is None:
            process.kill()
        await proxy.close()
        serving.close()


class Follower:
    """The program in Swift, told by lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, *arguments: str) -> Follower:
        return cls(await asyncio.create_subprocess_exec(
            *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 24))

    async def hear(self, timeout: float = 60) -> list[str]:
        assert self.process.stdout
        line = await asyncio.wait_for(self.process.stdout.readline(), timeout)
        if not line:
            raise AssertionError(f"the program has ended: {await self.process.wait()}")
        return line.decode().split()

    async def tell(self, *words: str) -> list[str]:
        assert self.process.stdin
        self.process.stdin.write((" ".join(words) + "\n").encode())
        await self.process.stdin.drain()
        return await self.hear()

    async def stop(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return await asyncio.wait_for(self.process.wait(), 30)


async def replay(binary: Path, server: str, *, commits: int, seed: int, transport: str, restarts: int) -> dict[str, Any]:
    """The whole test; its figures."""
    from commits import Commits
    from serving import Proxy, Serving

    draw = random.Random(seed)
    serving = Serving(server, "heartbeat=5")
    serving.start()
    serving.create_realm("app")
    proxy = Proxy(serving.port, seed)
    # An answer that ends within its head ends the process in Foundation on Linux ("Transfer completed, but there's no
    # response"), whatever the delegate does.
    proxy.spare_heads = True
    await proxy.start()
    writer = Commits(serving.url, "app", seed)
    await writer.begin()
    follower = await Follower.start(str(binary), "follow", proxy.url, serving.url, transport)
    assert await follower.hear() == ["ready"]
    at_restarts = {round(commits * (step + 1) / (restarts + 1)) for step in range(restarts)}
    began, memory, answer = time.monotonic(), [], ["", "0", "0", "0"]
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
            answer = await follower.tell("compare", writer.version)
            assert answer[0] == "equal", f"seed {seed}, commit {number}: copies differ"
            memory.append(int(answer[1]))
            until_quiet = draw.randrange(50, commits // 24 + 60)
    figures = {
        "commits": writer.count, "seconds": round(time.monotonic() - began, 1), "cuts": proxy.cuts, "restarts": restarts,
        "quiet points": len(memory), "change sets": int(answer[2]), "resets": int(answer[3]),
        "streams": int(serving.metric("streams")), "registrations": int(serving.metric("registrations")),
        "memory MiB": [round(value / 2 ** 20, 1) for value in (memory[len(memory) // 4], memory[-1])],
    }
    status = await follower.stop()
    await writer.close()
    await proxy.close()
    serving.close()
    assert status == 0, f"the program ended with {status}"
    growth = memory[-1] - memory[len(memory) // 4]
    assert growth < 24 * 2 ** 20, f"memory grew by {growth / 2 ** 20:.1f} MiB"
    return figures


async def crowd(binary: Path, server: str, count: int, *limits: str) -> dict[str, Any]:
    """Many live queries at once: how many streams carry them, and when all have heard of a commit."""
    from commits import Commits
    from serving import Serving

    serving = Serving(server, *limits)
    serving.start()
    serving.create_realm("app")
    writer = Commits(serving.url, "app", 1)
    await writer.begin()
    for _ in range(60):
        await writer.one()
    follower = await Follower.start(str(binary), "crowd", serving.url, str(count))
    opened = await follower.hear(90)
    figures = {"live queries": count, "streams": int(serving.metric("streams")),
               "registrations": int(serving.metric("registrations")), "opened s": float(opened[1])}
    heard = await follower.tell("go")
    figures["one commit reached all after s"] = float(heard[1])
    await follower.stop()
    await writer.close()
    serving.close()
    return figures


def inside(arguments: argparse.Namespace) -> None:
    binaries = build(arguments.scratch, arguments.configuration)
    began = time.monotonic()
    examples_of_the_readme(binaries, arguments.server)
    asyncio.run(scenarios(binaries / "Scenarios", arguments.server))
    commits = 800 if arguments.quick else arguments.commits
    restarts = 2 if arguments.quick else 6
    for transport in ("auto", "poll"):
        count = commits if transport == "auto" else commits // 4
        print(transport, asyncio.run(replay(binaries / "Replay", arguments.server, commits=count, seed=arguments.seed,
                                            transport=transport, restarts=restarts)), flush=True)
    for limits in (("registration-names=1000",), ()):
        print(limits, asyncio.run(crowd(binaries / "Replay", arguments.server, 1000, *limits)), flush=True)
    print(f"{time.monotonic() - began:.0f} s after building", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the realm-rest to test against")
    parser.add_argument("--quick", action="store_true", help="at most a minute, after building")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--configuration", default="debug", choices=["debug", "release"])
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "realm-rest-live-swift")
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "realm-rest-live-python")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.server = str(Path(arguments.server).resolve())
    if arguments.inside:
        inside(arguments)
        return
    print(f"seed {arguments.seed}", flush=True)
    python = arguments.venv / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", arguments.venv], check=True)
    if subprocess.run([python, "-c", "import aiohttp"], capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "aiohttp>=3.9,<4"], check=True)
    subprocess.run(["swift", "test", "--package-path", str(CLIENT), "--scratch-path", str(arguments.scratch) + "-units"], check=True,
                   env={**os.environ, "SEED": str(arguments.seed)}, stdout=subprocess.DEVNULL)
    raise SystemExit(subprocess.run([python, "-B", __file__, "--inside", *sys.argv[1:], "--seed", str(arguments.seed)]).returncode)


if __name__ == "__main__":
    main()
