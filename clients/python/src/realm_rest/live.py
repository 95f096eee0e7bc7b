"""What stays current: lists, sections, dictionaries, objects."""

from __future__ import annotations

import asyncio
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterator, Mapping, Sequence, TypeVar, Union, overload

from .changes import ChangeSet, Diverged, Modification, difference, reached, replaced, spliced
from .errors import RealmRestError
from .feed import Feed
from .optimistic import Edit, EditedRows
from .schema import Schema
from .values import Link, Object, key_text

if TYPE_CHECKING:
    from .hub import Hub

T = TypeVar("T")
S = TypeVar("S", bound="Live[Any]")
C = TypeVar("C")


class Live(Generic[C]):
    """The base of all that follows a subscription. `state` is connecting, live, offline or ended."""

    #: Whether the server sends a snapshot of it.
    has_snapshot = True

    def __init__(self, hub: "Hub", class_name: str, definition: Mapping[str, Any]) -> None:
        self.definition = dict(definition)
        self.class_name = class_name
        self.state = "connecting"
        self.error: BaseException | None = None
        #: The version that the contents are of.
        self.version: str | None = None
        # Where the next change set begins.
        self._link: str | None = None
        #: What is followed, or the owner of it, does not exist any more, so following has ended.
        self.deleted = False
        #: How often the contents had to be read anew, after the first time.
        self.resets = 0
        self._hub = hub
        self._loaded = False
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._feeds: weakref.WeakSet[Feed[C]] = weakref.WeakSet()
        self._changed = asyncio.Event()

    async def close(self) -> None:
        """Stops following. The contents stay as they are."""
        self._end(None)
        self._hub.detach(self)

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()

    def changes(self) -> Feed[C]:
        """The changes from now on. Ends with `close`, or with the error for which it cannot go on (LiveEnded)."""
        feed = self._make_feed()
        if self.state == "ended":
            feed.close(self.error)
        else:
            self._feeds.add(feed)
        return feed

    async def until(self, condition: Callable[[], bool], timeout: float | None = None) -> None:
        """Waits until a condition holds, which is tried after each change."""
        async def wait() -> None:
            while not condition():
                if self.state == "ended":
                    raise self.error or RealmRestError("closed")
                self._changed.clear()
                await self._changed.wait()

        await asyncio.wait_for(wait(), timeout)

    async def at(self, version: str, timeout: float | None = 30) -> None:
        """Waits until the contents include a version, such as that of a write.

        A stream tells of versions without changes for it only with its heartbeat, so after a moment the server is asked.
        """
        async def wait() -> None:
            pause = 0.1
            while not reached(self.version, version):
                try:
                    await self.until(lambda: reached(self.version, version), pause)
                except asyncio.TimeoutError:
                    await self._hub.nudge(self)
                    pause = min(pause * 2, 1.0)

        await asyncio.wait_for(wait(), timeout)

    # For the channel

    def _make_feed(self) -> Feed[C]:
        raise NotImplementedError

    def _load(self, parts: Sequence[Mapping[str, Any]], schema: Schema) -> C | None:
        raise NotImplementedError

    def _update(self, body: Mapping[str, Any], schema: Schema) -> C | None:
        raise NotImplementedError

    def take_snapshot(self, parts: Sequence[Mapping[str, Any]], schema: Schema) -> None:
        """The contents at one version."""
        change = self._load(parts, schema)
        self.version = self._link = parts[-1]["version"]
        if self._loaded:
            self.resets += 1
            self._publish(change)
        self._loaded = True

    def take_set(self, body: Mapping[str, Any], schema: Schema) -> None:
        """One change set; Diverged if it does not begin where this is."""
        if body["from"] != self._link:
            if body["to"] == self._link:
                return
            raise Diverged(f"a set from {body['from']} at {self._link}")
        change = None if body.get("skipped") else self._update(body, schema)
        self.version = self._link = body["to"]
        self._publish(change)

    def advance(self, position: str, *, quietly: bool = False) -> None:
        """Everything up to this position was delivered; `quietly` if the stream does not know that this is known."""
        self.version = position
        if not quietly:
            self._link = position
            self.error = None
            self.state = "live"
        if not self._ready.done():
            self._ready.set_result(None)
        self._changed.set()
        if self.deleted:
            self._end(None)
            self._hub.detach(self)

    def lose(self, error: BaseException) -> None:
        """The connection is lost; it will be made again."""
        if self.state == "live":
            self.state = "offline"
        # Raised elsewhere it must not lead to the frames of the channel, which go on.
        self.error = error.with_traceback(None)
        self._changed.set()

    def vanish(self) -> None:
        """What was observed does not exist any more."""
        self._end(None)

    def fail(self, error: BaseException) -> None:
        """It cannot go on."""
        self._end(error)

    def _publish(self, change: C | None) -> None:
        if change is not None:
            for feed in list(self._feeds):
                feed.put(change)
        self._changed.set()

    def _end(self, error: BaseException | None) -> None:
        if self.state == "ended":
            return
        self.state, self.error = "ended", error.with_traceback(None) if error else None
        if not self._ready.done():
            if error is None:
                self._ready.cancel()
            else:
                self._ready.set_exception(error)
        for feed in list(self._feeds):
            feed.close(error)
        self._changed.set()


class LiveList(Live[ChangeSet[T]], Sequence[T]):
    """A sequence that stays current. Indexing and iterating show its contents at this moment."""

    def __init__(self, hub: "Hub", class_name: str, definition: Mapping[str, Any], property: str | None) -> None:
        super().__init__(hub, class_name, definition)
        self._property = property
        self._rows: list[T] = []
        self._view: list[T] = self._rows
        self._edits = EditedRows()

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[T, Sequence[T]]:
        return self._view[index]

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[T]:
        # A copy, so that a change during an await in the loop's body neither skips nor repeats a row.
        return iter(list(self._view))

    def __repr__(self) -> str:
        return f"<LiveList of {self.class_name}, {len(self)} rows, {self.state}>"

    # Writes that show at once

    async def create(self, values: Mapping[str, Any]) -> Object:
        """Creates an object. It is shown at the end at once, and where it belongs when the server has told."""
        shown = Object(self.class_name, "", dict(values))
        written = await self._write(Edit.creating(shown), lambda: self._hub.realm.create(self.class_name, values))
        assert written is not None
        return written

    async def update(self, row: Union[Object, Any], values: Mapping[str, Any], *, if_match: bool = False) -> Object:
        """Writes values of an object, a row or a key. They are shown at once, and taken back if the write fails."""
        target = self._target(row)
        edit = Edit.changing(target.key, values)
        written = await self._write(edit, lambda: self._hub.realm.patch(target, values, if_match=if_match))
        assert written is not None
        return written

    async def delete(self, row: Union[Object, Any]) -> None:
        """Deletes an object, a row or a key. It is gone at once, and back if the write fails."""
        target = self._target(row)

        async def write() -> None:
            reference = target if isinstance(target, Object) else self._hub.realm.object(target.class_name, target.key)
            await self._hub.realm.delete(reference)

        await self._write(Edit.deleting(target.key), write)

    def _target(self, row: Any) -> Union[Object, Link]:
        return row if isinstance(row, (Object, Link)) else Link(self.class_name, key_text(row))

    async def _write(self, edit: Edit, send: Callable[[], Any]) -> Object | None:
        if self._property is not None:
            raise RealmRestError("only lists of a class write; change the property of the owner instead")
        self._edits.add(edit)
        self._show()
        try:
            written: Object | None = await send()
        except BaseException:
            self._edits.drop(edit)
            self._show()
            raise
        edit.confirm(written)
        self._show()
        # The change set that shows this write for good follows within moments; after these its word counts alone.
        asyncio.get_running_loop().call_later(2, self._expire, edit)
        return written

    def _expire(self, edit: Edit) -> None:
        if self.state == "offline" and edit in self._edits:
            asyncio.get_running_loop().call_later(2, self._expire, edit)
        elif self._edits.drop(edit):
            self._show()

    def _show(self) -> None:
        """Brings the view up to date, and publishes what that changes."""
        before, self._view = self._view, self._edits.applied(self._rows)
        change = difference(before, self._view, _identity, self.version)
        if change:
            self._publish(change)

    # For the channel

    def _make_feed(self) -> Feed[ChangeSet[T]]:
        return Feed(self._hub.options.queue, self._whole, len(self),
                    lambda length, change: length + len(change.insertions) - len(change.deletions))

    def _whole(self, length: int) -> ChangeSet[T]:
        return ChangeSet(tuple(range(length)), tuple(range(len(self))), rows=dict(enumerate(self._view)),
                         version=self.version, reset=True)

    def _load(self, parts: Sequence[Mapping[str, Any]], schema: Schema) -> ChangeSet[T] | None:
        read = self._row_reader(schema)
        return self._take([read(row) for part in parts for row in part["items"]], parts[-1]["version"], None)

    def _update(self, body: Mapping[str, Any], schema: Schema) -> ChangeSet[T] | None:
        read = self._row_reader(schema)
        rows = {entry["index"]: read(entry) for name in ("insertions", "modifications") for entry in body[name]}
        change = ChangeSet[T](
            tuple(entry["index"] for entry in body["deletions"]),
            tuple(entry["index"] for entry in body["insertions"]),
            tuple(Modification(entry["oldIndex"], entry["index"], tuple(entry.get("properties", ())))
                  for entry in body["modifications"]),
            tuple((entry["from"], entry["to"]) for entry in body.get("moves", ())),
            rows, body["to"], cleared=bool(body.get("cleared")), deleted=bool(body.get("deleted")))
        result = spliced(self._rows, change.deletions, change.insertions, rows)
        for row in change.modifications:
            if row.index >= len(result):
                raise Diverged("a modification beyond the end")
            result[row.index] = rows[row.index]
        if len(result) != body["count"]:
            raise Diverged(f"{len(result)} rows where the server has {body['count']}")
        self.deleted = change.deleted
        return self._take(result, body["to"], change)

    def _take(self, rows: list[T], version: str, change: ChangeSet[T] | None) -> ChangeSet[T] | None:
        edited = bool(self._edits)
        before, self._rows = self._view, rows
        self._edits.settle(version)
        self._view = self._edits.applied(rows)
        if change is None:
            return replaced(before, self._view, version)
        return difference(before, self._view, _identity, version) if edited else change

    def advance(self, position: str, *, quietly: bool = False) -> None:
        if self._edits.settle(position):
            self._show()
        super().advance(position, quietly=quietly)

    def vanish(self) -> None:
        change = ChangeSet[T](tuple(range(len(self))), version=self.version, deleted=True)
        self._rows = self._view = []
        self.deleted = True
        self._publish(change)
        self._end(None)

    def _row_reader(self, schema: Schema) -> Callable[[Mapping[str, Any]], Any]:
        element = schema.reader(self.class_name, self._property) if self._property else None

        def read(row: Mapping[str, Any]) -> Any:
            if "object" in row:
                return schema.object(row["object"], self.class_name)
            value = row.get("value")
            return value if value is None or element is None else element(value)

        return read


def _identity(row: Any) -> Any:
    # Objects without a key are shown in advance; each is its own.
    return (row.class_name, row.key) if isinstance(row, Object) and row.key else id(row)
