"""A server for the tests, and a proxy that breaks connections to it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

SCHEMA: dict[str, Any] = {"schemaVersion": 1, "classes": [
    {"name": "Owner", "primaryKey": "id", "properties": [
        {"name": "id", "type": "int"}, {"name": "name", "type": "string"},
        {"name": "items", "type": "object", "collection": "list", "objectType": "Item"},
        {"name": "marks", "type": "int", "collection": "dictionary"}]},
    {"name": "Item", "primaryKey": "id", "properties": [
        {"name": "id", "type": "int"}, {"name": "name", "type": "string"}, {"name": "rank", "type": "int"},
        {"name": "price", "type": "decimal128", "optional": True}, {"name": "at", "type": "date", "optional": True},
        {"name": "weight", "type": "double", "optional": True}, {"name": "note", "type": "mixed"},
        {"name": "owner", "type": "object", "objectType": "Owner"}]},
]}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Serving:
    """The server with one folder of realms, on one port, which it keeps over restarts."""

    def __init__(self, binary: str, *limits: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="live-clients-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._binary = str(Path(binary).resolve())
        self._limits = [part for limit in limits for part in ("--limit", limit)]
        self._process: subprocess.Popen[bytes] | None = None
        self._log = open(self.folder / "server.log", "wb")
        (self.folder / "data").mkdir()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [self._binary, "serve", "--data", "data", "--port", str(self.port), *self._limits], cwd=self.folder,
            stdout=self._log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(self.url + "/readyz", timeout=1):
                    return
            except OSError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.02)
        raise RuntimeError("the server did not start:\n" + (self.folder / "server.log").read_text()[-2000:])

    def stop(self, kill: bool = False) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            self._process.wait(timeout=30)
            self._process = None

    def close(self) -> None:
        self.stop()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_realm(self, name: str, schema: dict[str, Any] = SCHEMA) -> None:
        body = json.dumps({"name": name, "schema": schema}).encode()
        request = urllib.request.Request(self.url + "/v1/realms", body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=10).close()

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(self.url + "/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return sum(float(value) for value in re.findall(rf"^realm_rest_{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))

    def memory(self) -> int:
        assert self._process is not None
        return resident(self._process.pid)


def resident(process: int | None = None) -> int:
    """The bytes of a process in memory."""
    pages = int(Path(f"/proc/{process or 'self'}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Proxy:
    """Passes connections on, and cuts them: at once, in the middle of what is sent, or after a silence."""

    def __init__(self, port: int, seed: int) -> None:
        self.target = port
        self.cuts = 0
        #: Holds back answers that are streams, as some proxies do.
        self.swallow_streams = False
        self._random = random.Random(seed)
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._connections):
            connection.cut()
        await asyncio.sleep(0.05)

    def cut_some(self) -> None:
        """Breaks one connection, in one of the ways in which connections break."""
        if not self._connections:
            return
        self.cuts += 1
        connection = self._random.choice(list(self._connections))
        way = self._random.random()
        if way < 0.4:
            connection.cut()
        elif way < 0.8:
            connection.cut_within = self._random.randrange(1, 400)
        else:
            connection.stall(self._random.uniform(0.05, 0.6))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self, reader, writer)
        self._connections.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)


class Connection:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.cut_within: int | None = None
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        self._upstream: asyncio.StreamWriter | None = None
        self._open = asyncio.Event()
        self._open.set()
        self._streaming = False

    async def run(self) -> None:
        try:
            source, self._upstream = await asyncio.open_connection("127.0.0.1", self._proxy.target)
        except OSError:
            self._writer.transport.abort()
            return
        there = asyncio.ensure_future(self._pass(self._reader, self._upstream, outward=True))
        back = asyncio.ensure_future(self._pass(source, self._writer, outward=False))
        await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
        there.cancel()
        back.cancel()
        self.cut()

    def cut(self) -> None:
        self._writer.transport.abort()
        if self._upstream is not None:
            self._upstream.transport.abort()

    def stall(self, seconds: float) -> None:
        self._open.clear()
        loop = asyncio.get_running_loop()
        loop.call_later(seconds, self._open.set)
        loop.call_later(seconds + 0.01, self.cut)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, outward: bool) -> None:
        try:
            while piece := await reader.read(16384):
                if outward:
                    self._streaming = b"text/event-stream" in piece
                await self._open.wait()
                if not outward and self._streaming and self._proxy.swallow_streams:
                    continue
                if not outward and self.cut_within is not None:
                    writer.write(piece[:self.cut_within])
                    await writer.drain()
                    return
                writer.write(piece)
                await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass
