"""Queries: built step by step, read in pages, counted, aggregated, changed, and followed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, AsyncIterator, Generic, Mapping, TypeVar

from .http import segment
from .values import Object, encode, encode_members, key_text

if TYPE_CHECKING:
    from .follow import LiveSections
    from .live import LiveList
    from .realm import Access

T = TypeVar("T")

# Texts are passed over, so that a dollar sign in one is no argument.
_ARGUMENT = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\$(K?)(\d+)""")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows of a result. `next` is the cursor of the following page, None on the last one."""

    items: list[T]
    next: str | None
    version: str
    count: int | None = None


@dataclass(frozen=True)
class Query:
    """Objects of a class. Each step answers a new query and leaves this one as it is."""

    access: "Access"
    class_name: str
    parts: Mapping[str, Any] = field(default_factory=dict)

    def where(self, text: str, *args: Any) -> Query:
        """Only objects that match. Several conditions hold together; each counts its arguments from `$0`."""
        known = list(self.parts.get("args", []))
        shift = len(known)

        def renumber(match: re.Match[str]) -> str:
            return match.group(0) if match.group(2) is None else f"${match.group(1)}{int(match.group(2)) + shift}"

        if shift:
            text = _ARGUMENT.sub(renumber, text)
        if "where" in self.parts:
            text = f"({self.parts['where']}) AND ({text})"
        return self._with(where=text, args=known + [encode(value) for value in args])

    def sort(self, *paths: str) -> Query:
        """Ordered by key paths; `-age` is descending."""
        return self._with(sort=list(paths))

    def distinct(self, *paths: str) -> Query:
        return self._with(distinct=list(paths))

    def limit(self, count: int) -> Query:
        """Only the first rows of the result."""
        return self._with(limit=count)

    def fields(self, *paths: str) -> Query:
        """Only these properties; a dotted path crosses a link."""
        return self._with(fields=list(paths))

    def expand(self, *paths: str) -> Query:
        """Objects in the place of these links."""
        return self._with(expand=list(paths))

    def key_paths(self, *paths: str) -> Query:
        """In a live list, only changes of these properties count as modifications."""
        return self._with(keyPaths=list(paths))

    def shallow(self) -> Query:
        """In a live list, no modifications at all: only insertions and deletions."""
        return self._with(shallow=True)

    def section_by(self, path: str) -> Query:
        """In sections: by a key path, or a function of one such as `name:first`."""
        return self._with(sectionBy=path)

    def _with(self, **parts: Any) -> Query:
        return replace(self, parts={**self.parts, **parts})

    # Reading

    async def page(self, limit: int = 100, after: str | None = None, *, count: bool = False) -> Page[Object]:
        """One page. `after` is the `next` of the page before."""
        body = {**self._read_parts(), "limit": min(limit, self.parts.get("limit", limit))}
        if after is not None:
            body["after"] = after
        if count:
            body["count"] = "exact"
        schema = await self.access.schema()
        answer = (await self.access.send("POST", f"/query/{segment(self.class_name)}", body=body, safe=True)).json()
        items = [schema.object(row, self.class_name) for row in answer["items"]]
        return Page(items, answer["next"], answer["version"], answer.get("count"))

    async def __aiter__(self) -> AsyncIterator[Object]:
        """All objects, read page by page. Commits in between are seen, as in any paging; a snapshot shows one version."""
        left: int | None = self.parts.get("limit")
        after: str | None = None
        while left is None or left > 0:
            page = await self.page(1000 if left is None else min(left, 1000), after)
            for item in page.items:
                yield item
            left = None if left is None else left - len(page.items)
            after = page.next
            if after is None:
                return

    async def all(self) -> list[Object]:
        """All objects. A result of more than a thousand is read in several pages."""
        return [item async for item in self]

    async def first(self) -> Object | None:
        items = (await self.page(1)).items
        return items[0] if items else None

    async def count(self) -> int:
        return int((await self.aggregate("count"))["count"])

    async def aggregate(self, *operations: str) -> dict[str, Any]:
        """`count`, `min:age`, `max:age`, `sum:age`, `avg:age`: the answers by the same names, in the types of a realm."""
        body = {**self._selection(), "ops": list(operations)}
        schema = await self.access.schema()
        answer = (await self.access.send("POST", f"/aggregate/{segment(self.class_name)}", body=body, safe=True)).json()
        return {name: self._aggregated(schema, name, answer[name]) for name in operations}

    async def index_of(self, key: Any) -> int | None:
        """The place of an object in the result; None if it is not in it."""
        body = {**self._read_parts(), "indexOf": key_text(key.key if isinstance(key, Object) else key)}
        answer = await self.access.send("POST", f"/query/{segment(self.class_name)}", body=body, safe=True)
        index: int | None = answer.json()["index"]
        return index

    async def explain(self) -> list[str]:
        body = {**self._read_parts(), "explain": True}
        answer = await self.access.send("POST", f"/query/{segment(self.class_name)}", body=body, safe=True)
        return list(answer.json()["plan"])

    # Writing

    async def update(self, values: Mapping[str, Any], *, max_affected: int | None = None) -> int:
        """Writes these values in every match, in one transaction; how many there were."""
        return await self._write_matches("patchWhere", {"body": encode_members(values)}, max_affected)

    async def delete(self, *, max_affected: int | None = None) -> int:
        """Deletes every match, in one transaction; how many there were."""
        return await self._write_matches("deleteWhere", {}, max_affected)

    # Following

    async def live(self, *, timeout: float = 30) -> "LiveList[Object]":
        """The result as a list that stays current."""
        return await self.access.realm.hub.list(self.class_name, self.definition(), None, timeout)

    async def live_sections(self, *, timeout: float = 30) -> "LiveSections":
        """The result in sections that stay current; needs `section_by`."""
        return await self.access.realm.hub.sections(self.class_name, self.definition(), timeout)

    def definition(self) -> dict[str, Any]:
        """What a subscription to this query consists of."""
        return {"class": self.class_name, **self.parts}

    def _read_parts(self) -> dict[str, Any]:
        return {name: part for name, part in self.parts.items() if name not in ("keyPaths", "shallow", "limit", "deep")}

    async def _write_matches(self, operation: str, extra: Mapping[str, Any], maximum: int | None) -> int:
        body: dict[str, Any] = {"class": self.class_name, **self._selection(), **extra}
        if maximum is not None:
            body["maxAffected"] = maximum
        results = await self.access.operations([{operation: body}])
        return int(results[0]["matched"])

    def _selection(self) -> dict[str, Any]:
        """The condition and its arguments.

        What concerns a whole selection has no parameters for the order, for what is distinct and for the limit, but all of them can stand in
        the text.
        """
        text = [self.parts.get("where", "TRUEPREDICATE")]
        if "distinct" in self.parts or "limit" in self.parts:
            order = [path.removeprefix("-") + (" DESC" if path.startswith("-") else " ASC") for path in self.parts.get("sort", [])]
            distinct = self.parts.get("distinct", [])
            text += [f"SORT({', '.join(order)})"] if order else []
            text += [f"DISTINCT({', '.join(distinct)})"] if distinct else []
            text += [f"LIMIT({self.parts['limit']})"] if "limit" in self.parts else []
        return {"where": " ".join(text), "args": self.parts.get("args", [])}

    def _aggregated(self, schema: Any, name: str, value: Any) -> Any:
        function, _, path = name.partition(":")
        if value is None or function == "count":
            return value
        kind = schema.type_of(self.class_name, path)
        if kind == "int" and function == "avg":
            return float(value)
        return schema.value(kind, value)
