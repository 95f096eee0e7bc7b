"""What stays current besides lists: objects, dictionaries, sections, and the realm as a whole."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union, overload

from .changes import Diverged
from .feed import Feed
from .live import Live
from .schema import Schema
from .values import Object

if TYPE_CHECKING:
    from .hub import Hub


@dataclass(frozen=True)
class PropertyChange:
    """One property that was written. Collections and linking objects have no values here."""

    name: str
    old: Any = None
    new: Any = None


@dataclass(frozen=True)
class ObjectChange:
    """What happened to an object."""

    properties: tuple[PropertyChange, ...] = ()
    object: Object | None = None
    version: str | None = None
    deleted: bool = False
    reset: bool = False


class LiveObject(Live[ObjectChange]):
    """An object that stays current in `value`; None once it is deleted."""

    value: Object | None = None

    def _make_feed(self) -> Feed[ObjectChange]:
        return Feed(self._hub.options.queue,
                    lambda _: ObjectChange(object=self.value, version=self.version, reset=True,
                                           deleted=self.value is None), None, lambda mark, _: mark)

    def _load(self, parts: Sequence[Mapping[str, Any]], schema: Schema) -> ObjectChange | None:
        self.value = schema.object(parts[-1]["object"], self.class_name)
        return ObjectChange(object=self.value, version=parts[-1]["version"], reset=True)

    def _update(self, body: Mapping[str, Any], schema: Schema) -> ObjectChange | None:
        if body.get("deleted"):
            self.value, self.deleted = None, True
            return ObjectChange(version=body["to"], deleted=True)
        self.value = schema.object(body["object"], self.class_name)
        return ObjectChange(tuple(self._property(entry, schema) for entry in body["properties"]), self.value, body["to"])

    def _property(self, entry: Mapping[str, Any], schema: Schema) -> PropertyChange:
        name = entry["name"]
        values = [schema.members({name: entry.get(side)}, self.class_name).get(name) for side in ("oldValue", "newValue")]
        return PropertyChange(name, *values)

    def vanish(self) -> None:
        self.value, self.deleted = None, True
        self._publish(ObjectChange(version=self.version, deleted=True))
        self._end(None)


@dataclass(frozen=True)
class DictChange:
    """What happened to a dictionary: keys, and the new values of those inserted and modified."""

    deletions: tuple[str, ...] = ()
    insertions: tuple[str, ...] = ()
    modifications: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    reset: bool = False
    deleted: bool = False


class LiveDict(Live[DictChange], Mapping[str, Any]):
    """A dictionary that stays current."""

    def __init__(self, hub: "Hub", class_name: str, definition: Mapping[str, Any], property: str) -> None:
        super().__init__(hub, class_name, definition)
        self._property = property
        self._entries: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    __hash__ = object.__hash__

    def _make_feed(self) -> Feed[DictChange]:
        return Feed(self._hub.options.queue, self._whole, tuple(self._entries), _known_entries)

    def _whole(self, known: tuple[str, ...]) -> DictChange:
        return DictChange(known, tuple(self._entries), values=dict(self._entries), version=self.version, reset=True)

    def _load(self, parts: Sequence[Mapping[str, Any]], schema: Schema) -> DictChange | None:
        before = tuple(self._entries)
        self._entries = {row["entry"]: self._value(row, schema) for part in parts for row in part["items"]}
        return DictChange(before, tuple(self._entries), values=dict(self._entries), version=parts[-1]["version"], reset=True)

    def _update(self, body: Mapping[str, Any], schema: Schema) -> DictChange | None:
        deleted, inserted, modified = (tuple(row["entry"] for row in body[name])
                                       for name in ("deletions", "insertions", "modifications"))
        values = {row["entry"]: self._value(row, schema) for name in ("insertions", "modifications") for row in body[name]}
        entries = {name: value for name, value in self._entries.items() if name not in deleted}
        entries.update(values)
        if len(entries) != body["count"]:
            raise Diverged(f"{len(entries)} entries where the server has {body['count']}")
        # Entries stand in the order of their bytes, as the server has them.
        self._entries = dict(sorted(entries.items(), key=lambda entry: entry[0].encode()))
        self.deleted = bool(body.get("deleted"))
        return DictChange(deleted, inserted, modified, values, body["to"], deleted=self.deleted)

    def _value(self, row: Mapping[str, Any], schema: Schema) -> Any:
        if "object" in row:
            return schema.object(row["object"], "")
        value = row.get("value")
        return None if value is None else schema.reader(self.class_name, self._property)(value)

    def vanish(self) -> None:
        change = DictChange(tuple(self._entries), version=self.version, deleted=True)
        self._entries, self.deleted = {}, True
        self._publish(change)
        self._end(None)


def _known_entries(known: tuple[str, ...], change: DictChange) -> tuple[str, ...]:
    return (*(name for name in known if name not in change.deletions), *change.insertions)


@dataclass(frozen=True)
class Section:
    """Rows that have a key in common. The key is as the server wrote it."""

    key: Any
    items: tuple[Object, ...]


@dataclass(frozen=True)
class SectionChange:
    """What happened to sections; places are (section, row), before in deletions, after in insertions and modifications."""

    sections_deleted: tuple[int, ...] = ()
    sections_inserted: tuple[int, ...] = ()
    deletions: tuple[tuple[int, int], ...] = ()
    insertions: tuple[tuple[int, int], ...] = ()
    modifications: tuple[tuple[int, int], ...] = ()
    version: str | None = None
    reset: bool = False


class LiveSections(Live[SectionChange], Sequence[Section]):
    """A result in sections that stays current."""

    def __init__(self, hub: "Hub", class_name: str, definition: Mapping[str, Any]) -> None:
        super().__init__(hub, class_name, definition)
        self._sections: list[Section] = []

    @overload
    def __getitem__(self, index: int) -> Section: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Section]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Section, Sequence[Section]]:
        return self._sections[index]

    def __len__(self) -> int:
        return len(self._sections)

    def _make_feed(self) -> Feed[SectionChange]:
        return Feed(self._hub.options.queue, lambda _: SectionChange(version=self.version, reset=True), None,
                    lambda mark, _: mark)

    def _load(self, parts: Sequence[Mapping[str, Any]], schema: Schema) -> SectionChange | None:
        gathered: list[tuple[Any, list[Object]]] = []
        for section in (section for part in parts for section in part["sections"]):
            rows = [schema.object(row["object"], self.class_name) for row in section["items"]]
            # A section that the border of two parts cuts goes on under its key.
            if gathered and gathered[-1][0] == section["key"]:
                gathered[-1][1].extend(rows)
            else:
                gathered.append((section["key"], rows))
        self._sections = [Section(key, tuple(rows)) for key, rows in gathered]
        return SectionChange(version=parts[-1]["version"], reset=True)

    def _update(self, body: Mapping[str, Any], schema: Schema) -> SectionChange | None:
        sections = [(section.key, list(section.items)) for section in self._sections]
        try:
            for entry in reversed(body["deletions"]):
                del sections[entry["section"]][1][entry["index"]]
            for entry in reversed(body["sectionsToDelete"]):
                del sections[entry["section"]]
            for entry in body["sectionsToInsert"]:
                sections.insert(entry["section"], (entry["key"], []))
            for entry in body["insertions"]:
                sections[entry["section"]][1].insert(entry["index"], schema.object(entry["object"], self.class_name))
            for entry in body["modifications"]:
                sections[entry["section"]][1][entry["index"]] = schema.object(entry["object"], self.class_name)
        except IndexError as error:
            raise Diverged("a place that does not exist") from error
        if sum(len(rows) for _, rows in sections) != body["count"]:
            raise Diverged("another number of rows than the server has")
        self._sections = [Section(key, tuple(rows)) for key, rows in sections]
        deleted, inserted = (tuple(entry["section"] for entry in body[name])
                             for name in ("sectionsToDelete", "sectionsToInsert"))
        places = {name: tuple((entry["section"], entry["index"]) for entry in body[name])
                  for name in ("deletions", "insertions", "modifications")}
        return SectionChange(deleted, inserted, places["deletions"], places["insertions"], places["modifications"],
                             body["to"])


@dataclass(frozen=True)
class RealmChange:
    """The classes that were written up to a version; with `schema` their properties too, with `reset` anything."""

    version: str
    classes: tuple[str, ...] = ()
    reset: bool = False
    schema: bool = False


class RealmChanges(Live[RealmChange]):
    """Which classes of a realm are written; an asynchronous iterator."""

    has_snapshot = False

    def __init__(self, hub: "Hub") -> None:
        super().__init__(hub, "", {})
        self._feed = self.changes()

    def __aiter__(self) -> Feed[RealmChange]:
        return self._feed

    async def ready(self) -> None:
        """Waits until changes are followed."""
        await asyncio.shield(self._ready)

    def begin(self) -> None:
        """The contents may be any, as after a reset."""
        if self._loaded:
            self.resets += 1
            self._publish(RealmChange(self.version or "", reset=True))
        self._loaded = True

    def rebase(self, version: str) -> None:
        self.version = self._link = version

    def _make_feed(self) -> Feed[RealmChange]:
        return Feed(self._hub.options.queue, lambda _: RealmChange(self.version or "", reset=True), None,
                    lambda mark, _: mark)

    def _update(self, body: Mapping[str, Any], schema: Schema) -> RealmChange | None:
        return RealmChange(body["to"], tuple(body["classes"]), schema=body["schema"])
