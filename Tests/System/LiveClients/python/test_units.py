"""The parts of the client that need no server."""

from __future__ import annotations

import asyncio
import os
import random
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from realm_rest import ChangeSet, Feed, Float32, Link, Object, ObjectId, Schema, Timestamp, same
from realm_rest.changes import Diverged, difference, reached, replaced, spliced
from realm_rest.optimistic import Edit, EditedRows
from realm_rest.query import Query
from realm_rest.sse import EventParser, StreamTooWide
from realm_rest.values import decode_date, decode_mixed, encode

SEED = int(os.environ.get("SEED", random.randrange(10 ** 6)))


def setUpModule() -> None:
    print(f"SEED={SEED}", flush=True)


class Events(unittest.TestCase):
    STREAM = ("retry: 1500\n: note\n\nevent: changes\nid: k.1\ndata: {\"ä\":\"🐕\"}\n\n: hb\nid: k.2\n\ndata: a\ndata:b\n\n"
              "event: end\ndata: {}\n\n")
    EXPECTED = [("changes", '{"ä":"🐕"}', "k.1"), ("", "", "k.2"), ("message", "a\nb", None), ("end", "{}", None)]

    def test_any_pieces_and_any_line_ends_give_the_same_events(self) -> None:
        draw = random.Random(SEED)
        for _ in range(2000):
            end = draw.choice(["\n", "\r\n", "\r"])
            data = (draw.choice(["", "\ufeff"]) + self.STREAM.replace("\n", end)).encode()
            cuts = sorted(draw.randrange(len(data) + 1) for _ in range(draw.randrange(12)))
            parser, events = EventParser(), []
            for start, stop in zip([0, *cuts], [*cuts, len(data)]):
                events += [(event.name, event.data, event.id) for event in parser.feed(data[start:stop])]
            self.assertEqual(events, self.EXPECTED, (SEED, end, cuts))
            self.assertEqual(parser.retry_seconds, 1.5)

    def test_each_byte_alone(self) -> None:
        parser = EventParser()
        events = [event for byte in self.STREAM.replace("\n", "\r\n").encode() for event in parser.feed(bytes([byte]))]
        self.assertEqual([(event.name, event.data, event.id) for event in events], self.EXPECTED)

    def test_a_line_without_end_is_refused(self) -> None:
        parser = EventParser(maximum=1000)
        with self.assertRaises(StreamTooWide):
            for _ in range(100):
                list(parser.feed(b"data: " + b"x" * 50))


class Changes(unittest.TestCase):
    def test_a_set_is_applied_as_the_contract_says(self) -> None:
        """Against the plain form of the rule: deletions from the end, insertions from the start, then modifications."""
        draw = random.Random(SEED)
        for _ in range(3000):
            old = [f"o{number}" for number in range(draw.randrange(12))]
            deletions = tuple(sorted(draw.sample(range(len(old)), draw.randrange(len(old) + 1))))
            count = draw.randrange(5)
            size = len(old) - len(deletions) + count
            insertions = tuple(sorted(draw.sample(range(size), count)))
            new = {index: f"n{index}" for index in insertions}
            expected = list(old)
            for index in reversed(deletions):
                del expected[index]
            for index in insertions:
                expected.insert(index, new[index])
            self.assertEqual(spliced(old, deletions, insertions, new), expected, SEED)

    def test_a_move_is_a_deletion_and_an_insertion(self) -> None:
        rows = ["a", "b", "c", "d"]
        ChangeSet((3,), (1,), moves=((3, 1),), rows={1: "d"}).apply(rows)
        self.assertEqual(rows, ["a", "d", "b", "c"])

    def test_what_does_not_fit_is_noticed(self) -> None:
        for deletions, insertions in (((2,), ()), ((), (3,)), ((0, 1), (1,))):
            with self.assertRaises(Diverged):
                spliced(["a", "b"], deletions, insertions, {index: "x" for index in insertions})

    def test_differences_lead_from_one_list_to_the_other(self) -> None:
        draw = random.Random(SEED)
        for _ in range(3000):
            def rows() -> list[Any]:
                return [pool[key][draw.randrange(2)] for key in draw.sample(range(8), draw.randrange(9))]

            pool = [[(key, 0), (key, 1)] for key in range(8)]
            old, new = rows(), rows()
            mirror = list(old)
            difference(old, new, lambda row: row[0], None).apply(mirror)
            self.assertEqual(mirror, new, SEED)
            mirror = list(old)
            replaced(old, new, None).apply(mirror)
            self.assertEqual(mirror, new)

    def test_positions(self) -> None:
        self.assertTrue(reached("a.10", "a.9"))
        self.assertFalse(reached("a.9", "a.10"))
        self.assertFalse(reached("b.10", "a.9"))
        self.assertFalse(reached(None, "a.9"))

    def test_edits_on_top_of_rows(self) -> None:
        rows = [Object("C", str(number), {"n": number}) for number in range(3)]
        edits = EditedRows()
        change, gone = Edit.changing("1", {"n": 10}), Edit.deleting("0")
        edits.add(change)
        edits.add(gone)
        view = edits.applied(rows)
        self.assertEqual([row["n"] for row in view], [10, 2])
        self.assertIs(edits.applied(rows)[0], view[0])
        edits.drop(gone)
        change.confirm(Object("C", "1", {}, meta={"version": "e.5"}))
        self.assertFalse(edits.settle("e.4"))
        self.assertTrue(edits.settle("e.5"))
        self.assertEqual(edits.applied(rows), rows)


class Feeds(unittest.IsolatedAsyncioTestCase):
    async def test_who_falls_behind_gets_the_whole(self) -> None:
        rows: list[int] = []
        feed: Feed[ChangeSet[int]] = Feed(
            4, lambda length: ChangeSet(tuple(range(length)), tuple(range(len(rows))), rows=dict(enumerate(rows)), reset=True),
            0, lambda length, change: length + len(change.insertions) - len(change.deletions))
        mirror: list[int] = []
        for number in range(20):
            rows.append(number)
            feed.put(ChangeSet((), (number,), rows={number: number}))
            if number == 1:
                (await feed.__anext__()).apply(mirror)
        feed.close()
        changes = [change async for change in feed]
        for change in changes:
            change.apply(mirror)
        self.assertEqual((mirror, len(changes)), (rows, 1))

    async def test_an_error_comes_after_what_was_there(self) -> None:
        feed: Feed[int] = Feed(4, lambda mark: 0, None, lambda mark, change: mark)
        feed.put(1)
        feed.close(ValueError("over"))
        self.assertEqual(await feed.__anext__(), 1)
        with self.assertRaises(ValueError):
            await feed.__anext__()
        with self.assertRaises(StopAsyncIteration):
            await feed.__anext__()

    async def test_a_waiting_reader_can_be_cancelled(self) -> None:
        feed: Feed[int] = Feed(4, lambda mark: 0, None, lambda mark, change: mark)
        task = asyncio.ensure_future(feed.__anext__())
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        feed.put(7)
        self.assertEqual(await feed.__anext__(), 7)


class Values(unittest.TestCase):
    def test_moments_keep_their_nanoseconds(self) -> None:
        draw = random.Random(SEED)
        for _ in range(5000):
            moment = Timestamp(draw.randrange(-62_135_596_800, 253_402_300_800), draw.choice([0, 1, draw.randrange(10 ** 9)]))
            self.assertEqual(Timestamp.parse(str(moment)), moment, SEED)
            self.assertEqual(decode_date(encode(moment)), moment)
        self.assertEqual(Timestamp.parse("2026-01-01T02:00:00.5+02:00"), datetime(2026, 1, 1, 0, 0, 0, 500_000, timezone.utc))
        self.assertEqual(hash(Timestamp(0)), hash(datetime(1970, 1, 1, tzinfo=timezone.utc)))
        self.assertLess(Timestamp(0, 1), Timestamp(0, 1000).to_datetime())
        east = timezone(timedelta(hours=3))
        self.assertEqual(Timestamp.of(datetime(1969, 12, 31, 23, 59, 59, 1, east)), Timestamp(-10801, 1000))
        for far in (Timestamp(10 ** 12, 5), Timestamp(-10 ** 12, 5)):
            self.assertIn("$instant", encode(far))
            self.assertEqual(decode_date(encode(far)), far)
        with self.assertRaises(ValueError):
            Timestamp.of(datetime(2026, 1, 1))

    def test_wrapped_values_come_back_as_they_went(self) -> None:
        nan = float("nan")
        values = [None, True, 2 ** 63 - 1, -2 ** 63, -0.0, 1e300, nan, float("inf"), Float32(1.5), Decimal("12.50"),
                  Decimal("NaN"), Decimal("1E+30"), "é", b"\x00\xff", uuid.uuid4(), ObjectId.generate(), Link("A", "7"),
                  [1, {"a": [nan]}], {"x": Timestamp(1, 1)}]
        for value in values:
            self.assertTrue(same(decode_mixed(encode(value)), value), value)
        self.assertFalse(same(1, 1.0) or same(0.0, -0.0) or same(Decimal("1.5"), Decimal("1.50")))

    def test_types_decide_what_text_means(self) -> None:
        types = {"d": "decimal128", "t": "date", "b": "data", "u": "uuid", "o": "objectId", "f": "double", "m": "mixed"}
        schema = Schema({"classes": [{"name": "A", "type": "object", "primaryKey": None, "properties": [
            {"name": name, "type": kind, "optional": True, "collection": None, "objectType": None}
            for name, kind in types.items()]}]})
        row = schema.object({"$meta": {"class": "A", "key": "@k0", "etag": "x"}, "d": "1.50", "t": "2026-01-01T00:00:00.000000001Z",
                             "b": "AP8=", "u": "bce5bc57-1eab-416f-a488-7764ac0b8b78", "o": "0" * 24, "f": "NaN", "m": "NaN",
                             "$$odd": 1}, "A")
        expected = {"d": Decimal("1.50"), "t": Timestamp(1767225600, 1), "b": b"\x00\xff",
                    "u": uuid.UUID("bce5bc57-1eab-416f-a488-7764ac0b8b78"), "o": ObjectId("0" * 24), "f": float("nan"),
                    "m": "NaN", "$odd": 1}
        self.assertTrue(same(dict(row), expected), row)

    def test_conditions_count_their_own_arguments(self) -> None:
        query = Query(None, "A").where("a > $0 AND b == '$0'", 1).where('c == $1 OR d == "$1" OR c == $0', 2, 3)  # type: ignore[arg-type]
        self.assertEqual(query.parts["where"], """(a > $0 AND b == '$0') AND (c == $2 OR d == "$1" OR c == $1)""")
        self.assertEqual(query.parts["args"], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
