"""Random commits to the realm of `serving.SCHEMA`, one request each."""

from __future__ import annotations

import json
import random
from typing import Any

import aiohttp

OWNERS = 12
NAMES = ["Ada", "Anne", "Bo", "Cleo", "Dan", "Eva", "Finn", "Ada", "Åse", "zoë", "Ömer", ""]


class Commits:
    """Creates, changes, deletions, moves in sort order, and operations on a list and a dictionary of links."""

    def __init__(self, url: str, realm: str, seed: int, size: int = 120) -> None:
        self.base = f"{url}/v1/realms/{realm}"
        self.count = 0
        self.version = ""
        self._random = random.Random(seed)
        self._size = size
        self._items: list[int] = []
        self._listed: list[int] = []
        self._next = 1
        self._session: aiohttp.ClientSession | None = None

    async def begin(self) -> None:
        self._session = aiohttp.ClientSession()
        owners = [{"id": number, "name": NAMES[number % len(NAMES)]} for number in range(OWNERS)]
        await self._send("POST", "/objects/Owner", owners)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def reconnect(self) -> None:
        """After a restart of the server, whose old connections are of no use."""
        await self.close()
        self._session = aiohttp.ClientSession()

    async def one(self) -> None:
        """One commit."""
        self.count += 1
        draw = self._random.random()
        if len(self._items) < 20 or (draw < 0.25 and len(self._items) < self._size):
            await self._create()
        elif draw < 0.45:
            await self._delete()
        elif draw < 0.85:
            await self._change()
        elif draw < 0.95:
            await self._relist()
        else:
            owner = self._random.randrange(OWNERS)
            await self._send("PATCH", f"/objects/Owner/{owner}", {"name": self._random.choice(NAMES)})

    async def _create(self) -> None:
        identity = self._next
        self._next += 1
        self._items.append(identity)
        await self._send("POST", "/objects/Item", {"id": identity, **self._values(5)})

    async def _delete(self) -> None:
        identity = self._items.pop(self._random.randrange(len(self._items)))
        # A deleted object leaves the lists that hold it.
        self._listed = [entry for entry in self._listed if entry != identity]
        await self._send("DELETE", f"/objects/Item/{identity}", None)

    async def _change(self) -> None:
        identity = self._random.choice(self._items)
        await self._send("PATCH", f"/objects/Item/{identity}", self._values(self._random.randrange(1, 3)))

    def _values(self, count: int) -> dict[str, Any]:
        draw = self._random
        every: dict[str, Any] = {
            "rank": draw.choice([draw.randrange(1000), draw.randrange(10), 9007199254740993]),
            "name": draw.choice(NAMES) + str(draw.randrange(40)),
            "price": draw.choice([None, f"{draw.randrange(9999)}.{draw.randrange(10)}0", "NaN", "1E+30"]),
            "at": draw.choice([None, f"2026-01-01T00:00:00.{draw.randrange(10 ** 9):09}Z", "0001-01-01T00:00:00Z"]),
            "weight": draw.choice([None, "NaN", -0.0, draw.random(), 1e300]),
            "note": draw.choice([None, 1, 1.0, "é", {"$numberDecimal": "1.50"}, [1, {"a": {"$oid": "0" * 24}}]]),
            "owner": draw.choice([None, draw.randrange(OWNERS)]),
        }
        required = ["rank", "name"] if count == 5 else []
        return {name: every[name] for name in {*required, *draw.sample(sorted(every), count)}}

    async def _relist(self) -> None:
        draw, length = self._random, len(self._listed)
        if draw.random() < 0.2:
            entry: dict[str, Any] = draw.choice([{"set": [draw.choice("abcdefé"), draw.randrange(9)]},
                                                 {"remove": draw.choice("abcdefé")}, {"clear": True}])
            await self._batch({"dictionary": {"class": "Owner", "key": "0", "property": "marks", "ops": [entry]}})
            return
        if length < 5 or draw.random() < 0.35:
            item = draw.choice(self._items)
            place = draw.randrange(length + 1)
            self._listed.insert(place, item)
            change: dict[str, Any] = {"insert": [place, {"$link": {"class": "Item", "key": str(item)}}]}
        elif draw.random() < 0.5:
            start, end = draw.randrange(length), draw.randrange(length)
            self._listed.insert(end, self._listed.pop(start))
            change = {"move": [start, end]}
        else:
            start = draw.randrange(length)
            del self._listed[start]
            change = {"remove": start}
        await self._batch({"list": {"class": "Owner", "key": "0", "property": "items", "ops": [change]}})

    async def _batch(self, operation: dict[str, Any]) -> None:
        await self._send("POST", "/batch", {"ops": [operation]})

    async def _send(self, method: str, path: str, body: Any) -> None:
        assert self._session is not None
        data = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        async with self._session.request(method, self.base + path, data=data, headers=headers) as answer:
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path} {body}: {answer.status} {await answer.text()}")
            self.version = answer.headers["Realm-Version"]
