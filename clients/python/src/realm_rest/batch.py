"""Operations that are written together."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Mapping, Union

from .values import Link, Object, encode, key_text

if TYPE_CHECKING:
    from .realm import Access, ObjectRef


class Made:
    """An object that an earlier operation of the same batch creates; usable as a target and as a value."""

    def __init__(self, name: str, class_name: str) -> None:
        self.name = name
        self.class_name = class_name


Target = Union[Object, Link, "ObjectRef", Made]


class Batch:
    """Collects operations. Leaving the block writes them; an exception leaves them unwritten."""

    def __init__(self, access: "Access") -> None:
        self._access = access
        self.entries: list[dict[str, Any]] = []
        self.results: list[Any] = []

    async def __aenter__(self) -> Batch:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        if error is None:
            await self.commit()

    async def commit(self, *, idempotency_key: str | None = None) -> list[Any]:
        """Writes everything in one transaction; the result of each operation."""
        self.results = await self._access.operations(self.entries, idempotency_key=idempotency_key)
        return self.results

    def create(self, class_name: str, values: Mapping[str, Any], *, upsert: bool = False) -> Made:
        made = Made(f"o{len(self.entries)}", class_name)
        body: dict[str, Any] = {"as": made.name, "class": class_name, "body": _body(values)}
        if upsert:
            body["upsert"] = "modified"
        self.entries.append({"create": body})
        return made

    def put(self, target: Target, values: Mapping[str, Any]) -> None:
        self.entries.append({"put": {**_place(target), "body": _body(values)}})

    def patch(self, target: Target, values: Mapping[str, Any], *, if_match: bool | str = False) -> None:
        body = {**_place(target), "body": _body(values)}
        etag = if_match if isinstance(if_match, str) else getattr(target, "etag", None) if if_match else None
        if etag is not None:
            body["ifMatch"] = etag
        self.entries.append({"patch": body})

    def delete(self, target: Target) -> None:
        self.entries.append({"delete": _place(target)})

    def increment(self, target: Target, property: str, by: Any) -> None:
        self.entries.append({"increment": {**_place(target), "property": property, "by": encode(by)}})

    def check(self, target: Target, where: str | None = None, *args: Any) -> None:
        """The object exists and matches; else nothing is written (Conflict)."""
        body = _place(target)
        if where is not None:
            body.update(where=where, args=[encode(value) for value in args])
        self.entries.append({"assert": body})

    def list(self, target: Target, property: str, *operations: Mapping[str, Any]) -> None:
        """Operations on elements of a list: `{"add": v}`, `{"insert": [i, v]}`, `{"move": [from, to]}` …"""
        self._elements("list", target, property, operations)

    def set(self, target: Target, property: str, *operations: Mapping[str, Any]) -> None:
        """Operations on elements of a set: `{"insert": v}`, `{"remove": v}` …"""
        self._elements("set", target, property, operations)

    def dictionary(self, target: Target, property: str, *operations: Mapping[str, Any]) -> None:
        """Operations on entries of a dictionary: `{"set": ["k", v]}`, `{"remove": "k"}` …"""
        self._elements("dictionary", target, property, operations)

    def _elements(self, kind: str, target: Target, property: str, operations: tuple[Mapping[str, Any], ...]) -> None:
        body = {**_place(target), "property": property, "ops": [_encoded(entry) for entry in operations]}
        self.entries.append({kind: body})


def _place(target: Target) -> dict[str, Any]:
    key: Any = {"ref": target.name} if isinstance(target, Made) else key_text(target.key)
    return {"class": target.class_name, "key": key}


def _body(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"$" + name if name.startswith("$") else name: _encoded(value) for name, value in values.items()}


def _encoded(value: Any) -> Any:
    if isinstance(value, Made):
        return {"$link": {"ref": value.name}}
    if isinstance(value, Mapping) and not isinstance(value, Object):
        return {name: _encoded(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(part) for part in value]
    return encode(value)
