"""A realm of a server: reads, writes, transactions, snapshots, and what is live in it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence, Union

from .batch import Batch
from .errors import ConnectionLost, Problem, RealmRestError
from .http import Answer, Transport, segment
from .hub import Hub, Options
from .query import Page, Query
from .schema import Schema
from .values import Link, Object, encode_members, key_text

if TYPE_CHECKING:
    from .follow import LiveDict, LiveObject, RealmChanges
    from .live import LiveList

Target = Union[Object, Link, "ObjectRef"]


class Access:
    """What a realm, a transaction and a snapshot have in common: requests about its contents."""

    realm: Realm

    def _context(self) -> tuple[dict[str, str], dict[str, Any]]:
        """Header fields and parameters that say which state of the realm is meant."""
        return {}, {}

    async def send(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None,
                   data: Any = None, headers: Mapping[str, str] | None = None, safe: bool = False,
                   timeout: float | None = None) -> Answer:
        """A request below the realm's path; for what this package has no method for."""
        fields, parameters = self._context()
        if body is not None and isinstance(body, dict) and "snapshot" in parameters:
            body = {**body, **parameters}
            parameters = {}
        return await self.realm.transport.request(
            method, self.realm.path + path, query={**parameters, **(query or {})}, body=body, data=data,
            headers={**fields, **(headers or {})}, safe=safe, timeout=timeout)

    async def schema(self) -> Schema:
        return await self.realm.known_schema()

    def objects(self, class_name: str) -> Query:
        """All objects of a class, to be narrowed and read."""
        return Query(self, class_name)

    def object(self, class_name: str, key: Any) -> ObjectRef:
        """One object by its primary key, or by its key's text; nothing is read yet."""
        return ObjectRef(self, class_name, key_text(key))

    async def get(self, class_name: str, key: Any, *, expand: Sequence[str] = (), fields: Sequence[str] = ()) -> Object:
        """One object. NotFound if there is none."""
        return await self.object(class_name, key).get(expand=expand, fields=fields)

    async def follow(self, link: Link | None) -> Object | None:
        """The object that a link leads to."""
        return None if link is None else await self.get(link.class_name, link.key)

    async def create(self, class_name: str, values: Mapping[str, Any], *, upsert: bool = False,
                     nested: bool = False, idempotency_key: str | None = None) -> Object:
        """A new object; with `upsert`, an existing one gets the values that differ."""
        query = {**({"upsert": "modified"} if upsert else {}), **({"nested": "upsert"} if nested else {})}
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        answer = await self.send("POST", f"/objects/{segment(class_name)}", query=query, body=encode_members(values), headers=headers)
        return await self._written(answer, class_name)

    async def create_many(self, class_name: str, values: Iterable[Mapping[str, Any]], *, upsert: bool = False) -> list[str]:
        """New objects, all or none; their keys."""
        query = {"upsert": "modified"} if upsert else {}
        answer = await self.send("POST", f"/objects/{segment(class_name)}", query=query,
                                 body=[encode_members(entry) for entry in values])
        return list(answer.json()["keys"])

    async def put(self, target: Target, values: Mapping[str, Any], *, if_match: bool | str = False) -> Object:
        """Creates the object, or replaces all of it."""
        return await self._write("PUT", target, values, if_match)

    async def patch(self, target: Target, values: Mapping[str, Any], *, if_match: bool | str = False) -> Object:
        """Writes some values. With `if_match` only if the object is still as `target` has it: else PreconditionFailed."""
        return await self._write("PATCH", target, values, if_match)

    async def delete(self, target: Target, *, if_match: bool | str = False) -> None:
        """Deletes one object."""
        await self.send("DELETE", _path(target), headers=_condition(target, if_match))

    def batch(self) -> Batch:
        """Operations that are written together, or not at all."""
        return Batch(self)

    async def operations(self, entries: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None) -> list[Any]:
        """A batch as the server's interface has it; the result of each operation."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        answer = await self.send("POST", "/batch", body={"ops": list(entries)}, headers=headers)
        return list(answer.json()["results"])

    async def _write(self, method: str, target: Target, values: Mapping[str, Any], if_match: bool | str) -> Object:
        answer = await self.send(method, _path(target), body=encode_members(values), headers=_condition(target, if_match))
        return await self._written(answer, target.class_name)

    async def _written(self, answer: Answer, class_name: str) -> Object:
        written = (await self.schema()).object(answer.json(), class_name)
        # The version of the commit: a live list waits for it to replace what it shows in advance.
        meta = {**written.meta, "version": answer.version}
        return Object(written.class_name, written.key, dict(written), written.etag, meta)


class ObjectRef:
    """One object by class and key."""

    def __init__(self, access: Access, class_name: str, key: str) -> None:
        self.access = access
        self.class_name = class_name
        self.key = key

    @property
    def path(self) -> str:
        return _path(self)

    async def get(self, *, expand: Sequence[str] = (), fields: Sequence[str] = ()) -> Object:
        """The object as it is now. NotFound if there is none."""
        query = {name: ",".join(paths) for name, paths in (("expand", expand), ("fields", fields)) if paths}
        schema = await self.access.schema()
        answer = await self.access.send("GET", self.path, query=query, safe=True)
        return schema.object(answer.json(), self.class_name)

    async def patch(self, values: Mapping[str, Any], *, if_match: str | bool = False) -> Object:
        return await self.access.patch(self, values, if_match=if_match)

    async def put(self, values: Mapping[str, Any], *, if_match: str | bool = False) -> Object:
        return await self.access.put(self, values, if_match=if_match)

    async def delete(self) -> None:
        await self.access.delete(self)

    async def page(self, property: str, limit: int = 100, after: str | None = None) -> Page[Any]:
        """A page of a list, set or linking objects."""
        query: dict[str, Any] = {"limit": limit, **({} if after is None else {"after": after})}
        schema = await self.access.schema()
        answer = (await self.access.send("GET", f"{self.path}/{_property(property)}", query=query, safe=True)).json()
        read = schema.reader(self.class_name, property)
        items = [schema.object(item, "") if isinstance(item, dict) and "$meta" in item
                 else None if item is None else read(item) for item in answer["items"]]
        return Page(items, answer["next"], answer["version"], answer.get("count"))

    async def data(self, property: str) -> bytes | None:
        """The bytes of a data property, as they are."""
        answer = await self.access.send("GET", f"{self.path}/{_property(property)}", safe=True,
                                        headers={"Accept": "application/octet-stream"})
        return None if answer.status == 204 else answer.body

    async def set_data(self, property: str, data: bytes) -> None:
        await self.access.send("PUT", f"{self.path}/{_property(property)}", data=data,
                               headers={"Content-Type": "application/octet-stream"})

    async def live(self, *, key_paths: Sequence[str] = (), timeout: float = 30) -> LiveObject:
        """The object, kept current."""
        definition: dict[str, Any] = {"class": self.class_name, "key": self.key}
        if key_paths:
            definition["keyPaths"] = list(key_paths)
        return await self.access.realm.hub.object(self.class_name, definition, timeout)

    async def live_list(self, property: str, *, timeout: float = 30) -> LiveList[Any]:
        """A list, a set or linking objects (`@links.Class.property`), kept current."""
        definition = {"class": self.class_name, "key": self.key, "property": property}
        return await self.access.realm.hub.list(self.class_name, definition, property, timeout)

    async def live_dict(self, property: str, *, timeout: float = 30) -> LiveDict:
        """A dictionary, kept current."""
        definition = {"class": self.class_name, "key": self.key, "property": property}
        return await self.access.realm.hub.dictionary(self.class_name, definition, property, timeout)


class Realm(Access):
    """One realm of a server."""

    def __init__(self, transport: Transport, name: str, options: Options) -> None:
        self.realm = self
        self.transport = transport
        self.name = name
        self.path = f"/v1/realms/{segment(name)}"
        self.hub = Hub(self, options)
        self._schema: Schema | None = None
        self._schema_lock = asyncio.Lock()

    async def known_schema(self) -> Schema:
        """The schema, read once and again when a live object was told that it changed."""
        while (schema := self._schema) is None:
            # One request for all that wait.
            async with self._schema_lock:
                if self._schema is None:
                    self._schema = Schema((await self.transport.request("GET", self.path + "/schema", safe=True)).json())
        return schema

    def forget_schema(self) -> None:
        """Has the next read ask for the schema again."""
        self._schema = None

    def transaction(self, *, wait: str = "2s") -> Transaction:
        """An interactive transaction: committed at the end of the block, rolled back by an exception.

        It holds the only writer of the realm, so it should be short, and a batch is better where it is enough.
        """
        return Transaction(self, wait)

    def snapshot(self, *, ttl: str = "60s") -> Snapshot:
        """One version, held for a series of reads."""
        return Snapshot(self, ttl)

    def changes(self) -> RealmChanges:
        """Which classes were written, as it happens; the changes are collected from the first turn of the loop on."""
        return self.hub.realm_changes()

    async def export(self, class_name: str | None = None) -> AsyncIterator[bytes]:
        """The realm, or a class, as lines of JSON, from one version. ConnectionLost if the end is missing."""
        query = {"class": class_name} if class_name else {}
        response = await self.transport.open("GET", self.path + "/export", query=query, pause=60)
        held, last = b"", b""
        try:
            async for piece in self.transport.lines(response):
                *complete, held = (held + piece).split(b"\n")
                for line in complete:
                    last = line
                    yield line
        finally:
            response.close()
        if held or not last.startswith(b'{"$end"'):
            raise ConnectionLost("the export was cut off")

    async def import_lines(self, lines: bytes | AsyncIterable[bytes], *, upsert: bool = False, atomic: bool = True,
                           timeout: float = 3600) -> dict[str, Any]:
        """Lines that an export had, or objects with `$meta`; how many were created and updated."""
        query = {"mode": "upsert" if upsert else "create", "atomic": "true" if atomic else "false"}
        data: Any = lines if isinstance(lines, bytes) else _with_newlines(lines)
        answer = await self.send("POST", "/import", query=query, data=data, timeout=timeout,
                                 headers={"Content-Type": "application/x-ndjson"})
        return dict(answer.json())

    async def close(self) -> None:
        await self.hub.close()


class Transaction(Access):
    """An interactive transaction; an asynchronous context manager."""

    def __init__(self, realm: Realm, wait: str) -> None:
        self.realm = realm
        self.id: str | None = None
        self.version: str | None = None
        self._wait = wait

    def _context(self) -> tuple[dict[str, str], dict[str, Any]]:
        if self.id is None:
            raise RealmRestError("the transaction is not open")
        return {"Realm-Transaction": self.id}, {}

    async def __aenter__(self) -> Transaction:
        answer = await self.realm.send("POST", "/transactions", body={"wait": self._wait})
        self.id = answer.json()["id"]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        identity, self.id = self.id, None
        if identity is None:
            return
        if error is None:
            answer = await self.realm.send("POST", f"/transactions/{identity}/commit")
            self.version = answer.json()["version"]
            return
        try:
            # Also when the task is cancelled: the writer must not stay held until the lease ends.
            await asyncio.shield(self.realm.send("DELETE", f"/transactions/{identity}"))
        except (Problem, ConnectionLost):
            pass

    async def rollback(self) -> None:
        """Undoes everything; the block goes on without the transaction."""
        identity, self.id = self.id, None
        if identity is not None:
            await self.realm.send("DELETE", f"/transactions/{identity}")


class Snapshot(Access):
    """One version of a realm; an asynchronous context manager."""

    def __init__(self, realm: Realm, ttl: str) -> None:
        self.realm = realm
        self.id: str | None = None
        self.version: str | None = None
        self._ttl = ttl

    def _context(self) -> tuple[dict[str, str], dict[str, Any]]:
        if self.id is None:
            raise RealmRestError("the snapshot is not open")
        return {}, {"snapshot": self.id}

    async def __aenter__(self) -> Snapshot:
        document = (await self.realm.send("POST", "/snapshots", body={"ttl": self._ttl})).json()
        self.id, self.version = document["id"], document["version"]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        identity, self.id = self.id, None
        try:
            await asyncio.shield(self.realm.send("DELETE", f"/snapshots/{identity}"))
        except (Problem, ConnectionLost):
            pass


def _path(target: Target) -> str:
    return f"/objects/{segment(target.class_name)}/{segment(target.key)}"


def _property(path: str) -> str:
    if path.startswith("@links."):
        return "@links/" + "/".join(segment(part) for part in path.split(".")[1:])
    return segment(path)


def _condition(target: Target, if_match: bool | str) -> dict[str, str]:
    if isinstance(if_match, str):
        return {"If-Match": if_match}
    if not if_match:
        return {}
    if not isinstance(target, Object) or target.etag is None:
        raise ValueError("if_match=True needs an object that was read")
    return {"If-Match": target.etag}


async def _with_newlines(lines: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n"


__all__ = ["Access", "ObjectRef", "Realm", "Snapshot", "Transaction"]
