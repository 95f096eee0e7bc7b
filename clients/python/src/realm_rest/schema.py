"""The schema of a realm, by which values are read: the declared type says what the JSON means."""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Callable, Mapping

from .values import Link, Object, ObjectId, RawText, decode_date, decode_mixed

Reader = Callable[[Any], Any]


@dataclass(frozen=True)
class Property:
    """One property of a class."""

    name: str
    type: str
    collection: str | None
    optional: bool
    target: str | None


@dataclass(frozen=True)
class Class:
    """One class: its properties, and the name of its primary key."""

    name: str
    kind: str
    primary_key: str | None
    properties: Mapping[str, Property]


class Schema:
    """The classes of a realm at one time."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.classes: dict[str, Class] = {}
        for entry in document["classes"]:
            properties = {
                part["name"]: Property(part["name"], part["type"], part.get("collection"), part["optional"],
                                       part.get("objectType"))
                for part in entry["properties"]
            }
            self.classes[entry["name"]] = Class(entry["name"], entry["type"], entry.get("primaryKey"), properties)
        self._readers: dict[str, dict[str, Reader]] = {}

    def object(self, value: Mapping[str, Any], class_name: str) -> Object:
        """An object of its own."""
        meta = value.get("$meta") or {}
        name = meta.get("class", class_name)
        return Object(name, meta.get("key", ""), self.members(value, name), meta.get("etag"), meta)

    def members(self, value: Mapping[str, Any], class_name: str) -> dict[str, Any]:
        """The values by property name."""
        readers = self._class_readers(class_name)
        members: dict[str, Any] = {}
        for name, part in value.items():
            if name.startswith("$"):
                if not name.startswith("$$"):
                    continue
                name = name[1:]
            reader = readers.get(name)
            members[name] = part if part is None else reader(part) if reader else self._unknown(name, part)
        return members

    def reader(self, class_name: str, path: str) -> Reader:
        """Reads one element of the property at a path that may lead through embedded objects, or the value itself."""
        steps = path.replace("[", ".").split(".")
        known = self.classes.get(class_name)
        declared: Property | None = None
        for step in steps:
            if step.endswith("]") or known is None:
                continue
            declared = known.properties.get(step)
            known = self.classes.get(declared.target) if declared is not None and declared.target else None
        return self._element(declared) if declared is not None else decode_mixed

    def type_of(self, class_name: str, path: str) -> str | None:
        """The type of the property at the end of a key path."""
        known, declared = self.classes.get(class_name), None
        for step in path.split("."):
            declared = known.properties.get(step) if known else None
            known = self.classes.get(declared.target) if declared and declared.target else None
        return declared.type if declared else None

    def value(self, kind: str | None, value: Any) -> Any:
        """One value of a type."""
        return _READERS.get(kind or "mixed", decode_mixed)(value)

    def _class_readers(self, class_name: str) -> dict[str, Reader]:
        readers = self._readers.get(class_name)
        if readers is None:
            known = self.classes.get(class_name)
            readers = {name: self._whole(part) for name, part in known.properties.items()} if known else {}
            self._readers[class_name] = readers
        return readers

    def _whole(self, declared: Property) -> Reader:
        element = self._element(declared)
        if declared.collection in ("list", "set"):
            return lambda value: [None if part is None else element(part) for part in value]
        if declared.collection == "dictionary":
            return lambda value: {name: None if part is None else element(part) for name, part in value.items()}
        return element

    def _element(self, declared: Property) -> Reader:
        if declared.type == "object":
            target = declared.target or ""
            return lambda value: self._linked(value, target)
        return _READERS.get(declared.type, decode_mixed)

    def _linked(self, value: Any, target: str) -> Any:
        if "$link" in value:
            return Link(value["$link"]["class"], value["$link"]["key"])
        known = self.classes.get(target)
        if "$meta" in value or (known is not None and known.kind != "embedded"):
            return self.object(value, target)
        return self.members(value, target)

    def _unknown(self, name: str, value: Any) -> Any:
        """Members that the schema does not name: linking objects and computed ones."""
        if isinstance(value, list):
            return [self._unknown(name, part) for part in value]
        if isinstance(value, dict) and "$meta" in value:
            return self.object(value, value["$meta"].get("class", ""))
        return decode_mixed(value)


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else RawText(base64.b64decode(value["$bytes"]))


_READERS: dict[str, Reader] = {
    "int": int, "bool": bool, "string": _text, "float": float, "double": float, "decimal128": Decimal,
    "data": lambda value: base64.b64decode(value, validate=True), "date": decode_date, "objectId": ObjectId,
    "uuid": uuid.UUID, "mixed": decode_mixed,
}
