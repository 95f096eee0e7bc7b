#!/usr/bin/env python3
"""Tests the Swift client against a server binary.

    python3 Tests/System/LiveClients/swift/run.py --server .build-release/release/realm-rest [--quick] [--seed N]

Builds the package and the programs in Harness, runs the unit tests and the examples of the README, and the replays: a program in
Swift follows through a proxy that breaks connections, while this script writes and restarts the server. It needs Python 3.10 with
aiohttp, which `--venv` gets. `--quick` replays fewer commits; building takes its own time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
CLIENT = ROOT / "clients/swift"
sys.path.insert(0, str(HERE.parent / "python"))

import driver  # noqa: E402
from driver import arguments, carried, environment, filled, run_inside, scales  # noqa: E402
from serving import Proxy, Serving  # noqa: E402


def build(scratch: Path, configuration: str) -> Path:
    """Builds the programs, and answers the folder they are in."""
    command = ["swift", "build", "--package-path", str(HERE / "Harness"), "--scratch-path", str(scratch), "-c", configuration]
    subprocess.run([*command, "-Xswiftc", "-warnings-as-errors"], check=True)
    return Path(subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip())


def examples_of_the_readme(binaries: Path, server: str) -> None:
    """Each example of the README stands in the program of examples, which is run."""
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


async def cutting() -> asyncio.Server:
    """A server whose answers are cut, each two bytes later than the one before, until one is whole."""
    answer = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"items":[]}'
    lengths = iter([*range(0, len(answer), 2), *[len(answer)] * 9])

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer[:next(lengths)])
        await writer.drain()
        writer.close()

    return await asyncio.start_server(take, "127.0.0.1", 0)


async def scenarios(binary: Path, server: str) -> None:
    """Values, writes, endings, a proxy that holds streams back, and answers that are cut anywhere."""
    from test_server import ALL_TYPES

    serving = Serving(server)
    serving.start()
    serving.create_realm("all", ALL_TYPES)
    proxy = Proxy(serving.port, 1)
    await proxy.start()
    proxy.swallow_streams = True
    cut = await cutting()
    process = await asyncio.create_subprocess_exec(binary, serving.url, proxy.url, f"http://127.0.0.1:{cut.sockets[0].getsockname()[1]}")
    try:
        status = await asyncio.wait_for(process.wait(), 60)
        assert status == 0, f"the scenarios ended with {status}"
        assert serving.metric("streams") == 0, "a stream is still open"
    finally:
        if process.returncode is None:
            process.kill()
        cut.close()
        await proxy.close()
        serving.close()


class Program:
    """The program in Swift, told by lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, *arguments: str) -> Program:
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


class Copies:
    """The copies of the program in Swift, which compares them itself."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sets = self.resets = 0

    async def compare(self, version: str) -> int:
        word, memory, sets, resets = await self.program.tell("compare", version)
        assert word == "equal", "copies differ"
        self.sets, self.resets = int(sets), int(resets)
        return int(memory)

    def figures(self) -> dict[str, int]:
        return {"change sets": self.sets, "resets": self.resets}

    async def close(self) -> None:
        status = await self.program.stop()
        assert status == 0, f"the program ended with {status}"


async def follow(proxy: Proxy, serving: Serving, binary: Path, transport: str) -> Copies:
    program = await Program.start(str(binary), "follow", proxy.url, serving.url, transport)
    assert await program.hear() == ["ready"]
    return Copies(program)


async def crowd(binary: Path, server: str, count: int, *limits: str) -> dict[str, Any]:
    """Many live queries at once: how many streams carry them, and when all have heard of a commit."""
    serving, writer = await filled(server, *limits)
    program = await Program.start(str(binary), "crowd", serving.url, str(count))
    opened = await program.hear(90)
    figures = {"live queries": count, "opened s": round(float(opened[1]), 2), **carried(serving)}
    heard = await program.tell("go")
    figures["one commit reached all after s"] = round(float(heard[1]), 2)
    await program.stop()
    await writer.close()
    serving.close()
    return figures


def inside(options: argparse.Namespace) -> None:
    binaries = build(options.scratch, options.configuration)
    began = time.monotonic()
    examples_of_the_readme(binaries, options.server)
    asyncio.run(scenarios(binaries / "Scenarios", options.server))
    for transport, commits, restarts in scales(options):
        begin = partial(follow, binary=binaries / "Replay", transport=transport)
        figures = asyncio.run(driver.replay(begin, options.server, commits=commits, seed=options.seed, restarts=restarts, growth=24))
        print(transport, figures, flush=True)
    for limits in (("registration-names=1000",), ()):
        print(limits, asyncio.run(crowd(binaries / "Replay", options.server, 1000, *limits)), flush=True)
    print(f"{time.monotonic() - began:.0f} s after building", flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--configuration", default="debug", choices=["debug", "release"])
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "realm-rest-live-swift")
    options = parser.parse_args()
    if options.inside:
        inside(options)
        return
    print(f"seed {options.seed}", flush=True)
    python = environment(options.venv, aiohttp="aiohttp>=3.9,<4")
    subprocess.run(["swift", "test", "--package-path", str(CLIENT), "--scratch-path", str(options.scratch) + "-units"], check=True,
                   env={**os.environ, "SEED": str(options.seed)}, stdout=subprocess.DEVNULL)
    raise SystemExit(run_inside(python, __file__, options.seed))


if __name__ == "__main__":
    main()
