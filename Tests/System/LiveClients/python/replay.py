"""Live copies while connections break and the server restarts: they equal fresh reads whenever it is quiet."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from typing import Any

from driver import carried, filled
from realm_rest import LiveDict, LiveList, LiveObject, LiveSections, Options, Realm, connect, same
from serving import Proxy, Serving, resident


class Copies:
    """The live queries of the test, mirrors that are made from their change sets, and how they are read afresh."""

    def __init__(self, realm: Realm, direct: Realm) -> None:
        self.realm = realm
        self.direct = direct
        self.lists: dict[str, LiveList[Any]] = {}
        self.mirrors: dict[str, list[Any]] = {}
        self.sets = 0
        self.resets = 0
        self._followers: list[asyncio.Task[None]] = []

    def queries(self, realm: Realm) -> dict[str, Any]:
        items = realm.objects("Item")
        return {
            "sorted": items.sort("-rank", "name"),
            "filtered": items.where("rank > $0", 400),
            "limited": items.sort("rank").limit(20),
            "linked": items.where("owner.name BEGINSWITH $0", "A").sort("owner.name", "-rank").expand("owner"),
            "distinct": items.sort("owner.name", "rank").distinct("owner.name"),
            "owners": realm.objects("Owner").sort("name"),
        }

    async def begin(self) -> None:
        for name, query in self.queries(self.realm).items():
            self.lists[name] = await query.live()
        self.lists["listed"] = await self.realm.object("Owner", 0).live_list("items")
        self.lists["linking"] = await self.realm.object("Owner", 1).live_list("@links.Item.owner")
        self.marks: LiveDict = await self.realm.object("Owner", 0).live_dict("marks")
        self.owner: LiveObject = await self.realm.object("Owner", 2).live()
        query = self.realm.objects("Item").section_by("name:first").sort("name")
        self.sections: LiveSections = await query.live_sections()

        for name, live in self.lists.items():
            self.mirrors[name] = list(live)
            self._followers.append(asyncio.ensure_future(self._mirror(name, live)))

    async def _mirror(self, name: str, live: LiveList[Any]) -> None:
        async for change in live.changes():
            change.apply(self.mirrors[name])
            self.sets += 1
            self.resets += change.reset

    @property
    def every(self) -> list[Any]:
        return [*self.lists.values(), self.marks, self.owner, self.sections]

    async def compare(self, version: str) -> None:
        """Waits for a version, and compares everything with fresh reads."""
        for live in self.every:
            await live.at(version, 30)
        assert len({live.version for live in self.every if live in self._first_channel()}) <= 1
        await asyncio.sleep(0.02)
        fresh: dict[str, list[Any]] = {name: await query.all() for name, query in self.queries(self.direct).items()}
        fresh["limited"] = (await self.queries(self.direct)["limited"].page(20)).items
        owner = self.direct.object("Owner", 0)
        fresh["listed"] = (await owner.page("items", 1000)).items
        fresh["linking"] = (await self.direct.object("Owner", 1).page("@links.Item.owner", 1000)).items
        for name, rows in fresh.items():
            check(name, list(self.lists[name]), rows)
            check(name + " mirrored", self.mirrors[name], rows)
        check("marks", dict(self.marks), dict(sorted((await owner.get())["marks"].items(), key=lambda e: e[0].encode())))
        assert self.owner.value == await self.direct.get("Owner", 2)
        flat = [row for section in self.sections for row in section.items]
        grouped = await self.direct.objects("Item").sort("name").all()
        check("sections", sorted(flat, key=lambda row: int(row.key)), sorted(grouped, key=lambda row: int(row.key)))
        for section in self.sections:
            assert all((row["name"][:1] or "") == section.key for row in section.items), section

    def _first_channel(self) -> list[Any]:
        channel = self.realm.hub.channels[0]
        return list(channel.members.values())

    async def close(self) -> None:
        for live in self.every:
            await live.close()
        await asyncio.gather(*self._followers)


def check(name: str, live: Any, fresh: Any) -> None:
    if not same(live, fresh):
        raise AssertionError(f"{name} differs:\n live {live}\nfresh {fresh}")


async def follow(proxy: Proxy, serving: Serving, transport: str) -> Following:
    """Begins what the play compares."""
    following = Following(proxy, serving, Options(transport=transport, silence=12, poll_wait=5))
    await following.copies.begin()
    return following


class Following:
    """The copies, with the connections that they and the fresh reads use."""

    def __init__(self, proxy: Proxy, serving: Serving, options: Options) -> None:
        self.servers = [connect(proxy.url, options=options, timeout=10), connect(serving.url)]
        self.copies = Copies(*(server.realm("app") for server in self.servers))

    async def compare(self, version: str) -> int:
        await self.copies.compare(version)
        gc.collect()
        return resident()

    def figures(self) -> dict[str, int]:
        return {"change sets": self.copies.sets, "resets": self.copies.resets}

    async def close(self) -> None:
        await self.copies.close()
        for server in self.servers:
            await server.close()


async def crowd(binary: str, count: int, *limits: str) -> dict[str, Any]:
    """Many live queries at once: how many streams carry them, and whether each hears of its change."""
    serving, writer = await filled(binary, *limits)
    async with connect(serving.url) as server:
        realm = server.realm("app")
        began = time.monotonic()
        queries = [realm.objects("Item").where("rank >= $0", number).sort("-rank") for number in range(count)]
        lives = await asyncio.gather(*(query.live() for query in queries))
        figures: dict[str, Any] = {"live queries": count, "opened s": round(time.monotonic() - began, 2), **carried(serving)}
        began = time.monotonic()
        made = await realm.create("Item", {"id": 10 ** 6, "name": "last", "rank": 10 ** 6})
        await asyncio.gather(*(live.at(made.meta["version"]) for live in lives))
        figures["one commit reached all after s"] = round(time.monotonic() - began, 2)
        assert all(live[0]["id"] == 10 ** 6 or live[0]["rank"] > 10 ** 6 for live in lives)
        assert all(any(row["id"] == 10 ** 6 for row in live) for live in lives)
        for number in random.Random(2).sample(range(count), 20):
            check(f"query {number}", list(lives[number]), await queries[number].all())
    await writer.close()
    serving.close()
    return figures
