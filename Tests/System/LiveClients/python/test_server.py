"""The client against a server: the examples of the README, values, writes, and what ends or hinders live objects."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import unittest
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

from realm_rest import (Conflict, ConnectionLost, Float32, Invalid, LiveEnded, NotFound, ObjectId, Options, PreconditionFailed,
                        Problem, Timestamp, Unauthenticated, connect, same)
from serving import Proxy, Serving

BINARY = os.environ.get("REALM_REST", "realm-rest")
ROOT = Path(__file__).resolve().parents[4]
NAN = float("nan")

ALL_TYPES = {"schemaVersion": 1, "classes": [
    {"name": "All", "primaryKey": "id", "properties": [{"name": "id", "type": "string"}] + [
        {"name": name, "type": name, "optional": True} for name in
        ("int", "bool", "data", "date", "float", "double", "decimal128", "objectId", "uuid")] + [
        {"name": "mixed", "type": "mixed"}, {"name": "link", "type": "object", "objectType": "All"},
        {"name": "inner", "type": "object", "objectType": "Inner"},
        {"name": "dates", "type": "date", "collection": "list", "optional": True},
        {"name": "ids", "type": "uuid", "collection": "set"},
        {"name": "sums", "type": "decimal128", "collection": "dictionary"}]},
    {"name": "Inner", "type": "embedded", "properties": [{"name": "at", "type": "date"}]}]}


class WithServer(unittest.IsolatedAsyncioTestCase):
    limits: tuple[str, ...] = ()

    def setUp(self) -> None:
        self.serving = Serving(BINARY, *self.limits)
        self.addCleanup(self.serving.close)
        self.prepare()
        self.serving.start()

    def prepare(self) -> None:
        pass


class Examples(WithServer):
    def prepare(self) -> None:
        subprocess.run([self.serving._binary, "import", str(ROOT / "demo/store.ndjson.gz"),
                        str(self.serving.folder / "data/store.realm")], check=True, capture_output=True)

    async def test_the_examples_of_the_readme_run(self) -> None:
        text = (ROOT / "clients/python/README.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.S)
        self.assertEqual(len(blocks), 3)
        code = "\n".join(blocks).replace("http://127.0.0.1:8080", self.serving.url).replace("asyncio.run(main())", "")
        names: dict[str, Any] = {"anext": lambda feed: feed.__anext__()}
        exec(compile(code, "README.md", "exec"), names)  # noqa: S102
        await names["main"]()
        async with connect(self.serving.url) as server:
            await names["shop"](server.realm("store"))
            await names["follow"](server.realm("store"))


class Data(WithServer):
    def setUp(self) -> None:
        super().setUp()
        self.serving.create_realm("all", ALL_TYPES)

    async def test_values_come_back_exactly(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            values: dict[str, Any] = {
                "id": "a/b %ü", "int": 2 ** 63 - 1, "bool": True, "data": b"\x00\xff", "date": Timestamp(1, 1), "float": NAN,
                "double": -0.0, "decimal128": Decimal("12.50"), "objectId": ObjectId.generate(), "uuid": uuid.uuid4(),
                "mixed": [Float32(1.5), {"a": Timestamp(-5, 999_999_999)}, NAN, Decimal("-Infinity"), uuid.uuid4(), b"x", 1, 1.0],
                "link": None, "inner": {"at": Timestamp(10 ** 12, 7)}, "dates": [None, Timestamp(-1, 1), Timestamp(-10 ** 13, 3)],
                "ids": sorted([uuid.uuid4(), uuid.uuid4()], key=lambda value: value.bytes), "sums": {"é": Decimal("1E+3")}}
            written = await realm.create("All", values)
            self.assertTrue(same(dict(written), values), f"\n{dict(written)}\n{values}")
            other = await realm.create("All", {"id": "@x", "link": written})
            self.assertEqual(other["link"], written.link)
            self.assertEqual(await realm.follow(other["link"]), written)
            self.assertTrue(same(dict(await realm.get("All", written.key)), values))
            expanded = await realm.get("All", other.key, expand=["link"])
            self.assertEqual(expanded["link"], written)
            rewritten = await realm.put(written, written)
            self.assertEqual(rewritten, written)
            found = await realm.objects("All").where("date == $0 AND uuid == $1 AND decimal128 == $2", values["date"],
                                                     values["uuid"], values["decimal128"]).all()
            self.assertEqual(found, [written])
            self.assertEqual(await realm.objects("All").aggregate("count", "max:decimal128", "max:date"),
                             {"count": 2, "max:decimal128": Decimal("12.50"), "max:date": values["date"]})
            live = await realm.object("All", written.key).live_dict("sums")
            await realm.object("All", written.key).patch({"sums": {"z": Decimal("0.10")}})
            await live.until(lambda: "z" in live, 5)
            self.assertTrue(same(dict(live), {"z": Decimal("0.10"), "é": Decimal("1E+3")}))

    async def test_writes_and_what_hinders_them(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            one = await realm.create("All", {"id": "1", "int": 1})
            with self.assertRaises(Conflict):
                await realm.create("All", {"id": "1"})
            await realm.patch(one, {"int": 2}, if_match=True)
            with self.assertRaises(PreconditionFailed) as caught:
                await realm.patch(one, {"int": 3}, if_match=True)
            self.assertEqual((caught.exception.current or {})["int"], 2)
            with self.assertRaises(Invalid) as wrong:
                await realm.patch(one, {"imt": 3})
            self.assertEqual((wrong.exception.code, wrong.exception.pointer), ("unknown_property", "/imt"))
            self.assertEqual(await realm.create_many("All", [{"id": str(number), "int": number} for number in range(2, 6)]),
                             ["2", "3", "4", "5"])
            self.assertEqual(await realm.objects("All").where("int > 2").update({"bool": True}), 3)
            with self.assertRaises(Conflict):
                await realm.objects("All").delete(max_affected=2)
            self.assertEqual(await realm.objects("All").where("int > $0", 3).delete(), 2)
            with self.assertRaises(Conflict):
                async with realm.batch() as batch:
                    made = batch.create("All", {"id": "new"})
                    batch.patch(one, {"link": made})
                    batch.check(one, "int == $0", 77)
            with self.assertRaises(ZeroDivisionError):
                async with realm.transaction() as transaction:
                    await transaction.delete(one)
                    raise ZeroDivisionError
            self.assertEqual(await realm.objects("All").count(), 3)
            most = realm.objects("All").where("$K0 > $1", "int", 0).sort("-int", "id").limit(2)
            self.assertEqual(await most.where("int > $0", 0).aggregate("count", "max:int"), {"count": 2, "max:int": 3})
            self.assertEqual(await realm.objects("All").distinct("int").count(), 2)
            self.assertEqual(await most.update({"bool": False}), 2)
            self.assertEqual({row["id"] for row in await realm.objects("All").where("bool == false").all()}, {"1", "3"})
            with self.assertRaises(NotFound):
                await realm.get("All", "nothing")
            self.assertEqual([line[:8] async for line in realm.export()][0], b'{"$begin')

    async def test_optimistic_writes_show_at_once_and_are_taken_back(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            await realm.create_many("All", [{"id": str(number), "int": number} for number in range(5)])
            live = await realm.objects("All").sort("int").live()
            mirror, feed = list(live), live.changes()

            async def follow() -> None:
                async for change in feed:
                    change.apply(mirror)

            follower = asyncio.ensure_future(follow())
            write = asyncio.ensure_future(live.update(live[0], {"int": 10}))
            await asyncio.sleep(0)
            self.assertEqual([row["int"] for row in live], [10, 1, 2, 3, 4])
            await live.at((await write).meta["version"])
            self.assertEqual([row["int"] for row in live], [1, 2, 3, 4, 10])
            write = asyncio.ensure_future(live.update(live[0], {"int": "ten"}))
            await asyncio.sleep(0)
            self.assertEqual(live[0]["int"], "ten")
            with self.assertRaises(Invalid):
                await write
            self.assertEqual(live[0]["int"], 1)
            creation = asyncio.ensure_future(live.create({"id": "new", "int": 0}))
            deletion = asyncio.ensure_future(live.delete(live[1]))
            await asyncio.sleep(0)
            self.assertEqual([row["int"] for row in live], [1, 3, 4, 10, 0])
            await asyncio.gather(creation, deletion)
            await live.at((await realm.objects("All").page(1)).version)
            self.assertEqual([row["int"] for row in live], [0, 1, 3, 4, 10])
            self.assertEqual(list(live), await realm.objects("All").sort("int").all())
            await asyncio.sleep(0.05)
            self.assertEqual(mirror, list(live))
            await live.close()
            await follower

    async def test_a_cancelled_beginning_leaves_nothing(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            for delay in (0.0, 0.004, 0.006, 0.01, 0.02):
                task = asyncio.ensure_future(realm.objects("All").live())
                await asyncio.sleep(delay)
                task.cancel()
                outcome, = await asyncio.gather(task, return_exceptions=True)
                if not isinstance(outcome, BaseException):
                    # It had begun before it could be cancelled.
                    await outcome.close()
            await asyncio.sleep(0.2)
            self.assertEqual(realm.hub.channels, [])
            self.assertEqual(self.serving.metric("streams"), 0)

    async def test_a_deleted_object_ends_what_followed_it(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            one = await realm.create("All", {"id": "1", "dates": [Timestamp(1)]})
            live, dates = await asyncio.gather(realm.object("All", "1").live(), realm.object("All", "1").live_list("dates"))
            changes = live.changes()
            await realm.delete(one)
            self.assertTrue((await changes.__anext__()).deleted)
            with self.assertRaises(StopAsyncIteration):
                await changes.__anext__()
            await dates.until(lambda: dates.deleted or dates.state == "ended", 5)
            self.assertEqual((live.value, list(dates), live.state, dates.state), (None, [], "ended", "ended"))
            with self.assertRaises(NotFound):
                await realm.object("All", "1").live()

    async def test_one_wrong_query_does_not_hinder_those_beside_it(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            right, wrong = await asyncio.gather(realm.objects("All").live(), realm.objects("All").where("imt > 3").live(),
                                                return_exceptions=True)
            self.assertIsInstance(wrong, Problem)
            await realm.create("All", {"id": "1"})
            await right.until(lambda: len(right) == 1, 5)  # type: ignore[union-attr,arg-type]

    async def test_a_registration_that_is_deleted_ends_its_lists(self) -> None:
        async with connect(self.serving.url) as server:
            realm = server.realm("all")
            live = await realm.objects("All").live()
            changes = live.changes()
            await realm.send("DELETE", f"/subscriptions/{realm.hub.channels[0].registration}")
            with self.assertRaises(LiveEnded):
                await changes.__anext__()

    async def test_a_whole_realm_tells_what_was_written(self) -> None:
        for number, transport in enumerate(("stream", "poll")):
            async with connect(self.serving.url, options=Options(transport=transport, poll_wait=1)) as server:
                realm = server.realm("all")
                changes = realm.changes()
                await changes.ready()
                await realm.create("All", {"id": transport})
                change = await changes.__aiter__().__anext__()
                self.assertEqual((change.classes, change.schema, change.reset), (("All",), False, False))
                added = {"name": f"more{number}", "type": "int", "optional": True}
                steps = [{"addProperty": {"class": "All", "property": added}}]
                body = {"fromVersion": number + 1, "toVersion": number + 2, "steps": steps}
                await realm.send("POST", "/migrations", body=body)
                change = await changes.__aiter__().__anext__()
                self.assertEqual((change.classes, change.schema), ((), True))

    async def test_a_server_that_comes_back_is_found_within_the_longest_pause(self) -> None:
        async with connect(self.serving.url, options=Options(longest_pause=0.2)) as server:
            live = await server.realm("all").objects("All").live()
            self.serving.stop()
            await live.until(lambda: live.state == "offline", 10)
            await asyncio.sleep(3)
            self.serving.start()
            await live.until(lambda: live.state == "live", 2)

    async def test_streams_that_a_proxy_holds_back_become_polls(self) -> None:
        proxy = Proxy(self.serving.port, 1)
        await proxy.start()
        proxy.swallow_streams = True
        async with connect(proxy.url, options=Options(silence=0.3, poll_wait=1)) as server:
            realm = server.realm("all")
            live = await realm.objects("All").live(timeout=15)
            self.assertTrue(realm.hub.channels[0].polling)
            written = await realm.create("All", {"id": "1"})
            await live.at(written.meta["version"], 5)
            self.assertEqual(list(live), [written])
        await proxy.close()

    async def test_a_stream_that_fell_silent_is_made_again(self) -> None:
        proxy = Proxy(self.serving.port, 1)
        await proxy.start()
        async with connect(proxy.url, options=Options(silence=1, transport="stream")) as server:
            realm = server.realm("all")
            live = await realm.objects("All").live()
            for connection in list(proxy._connections):
                connection._open.clear()
            async with connect(self.serving.url) as other:
                await other.realm("all").create("All", {"id": "1"})
            await live.until(lambda: len(live) == 1, 8)
            self.assertEqual(live.resets, 0)
        await proxy.close()

    async def test_a_server_that_is_not_there(self) -> None:
        self.serving.stop()
        async with connect(self.serving.url) as server:
            with self.assertRaises(ConnectionLost):
                await server.realm("all").objects("All").live(timeout=1)
            with self.assertRaises(ConnectionLost):
                await server.realms()


class Keys(WithServer):
    def prepare(self) -> None:
        command = [self.serving._binary, "keys", "add", "test", "--role", "admin", "--data", str(self.serving.folder / "data")]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        match = re.search(r"rr_\S+", text)
        assert match
        self.key = match.group(0)

    async def test_keys_and_their_renewal(self) -> None:
        async with connect(self.serving.url, key="rr_wrong") as server:
            with self.assertRaises(Unauthenticated):
                await server.realm("all").objects("All").live()
        given = iter(["rr_wrong"])

        async def key() -> str:
            return next(given, self.key)

        async with connect(self.serving.url, key=self.key) as server:
            await server.transport.request("POST", "/v1/realms", body={"name": "all", "schema": ALL_TYPES})
        async with connect(self.serving.url, key=key) as server:
            live = await server.realm("all").objects("All").live()
            self.assertEqual((await server.me())["roles"], ["admin"])
            self.assertEqual(list(live), [])


if __name__ == "__main__":
    unittest.main()
