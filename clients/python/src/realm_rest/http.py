"""Requests to the server: credentials, time-outs, problems and retries of reads."""

from __future__ import annotations

import asyncio
import inspect
import json
import ssl
from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping, Union
from urllib.parse import quote, urlencode

import aiohttp
from yarl import URL

from .backoff import Backoff
from .errors import ConnectionLost, Problem, RequestTimeout

Key = Union[str, Callable[[], Union[str, Awaitable[str]]], None]


@dataclass(frozen=True)
class Answer:
    """A complete answer below 400."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def version(self) -> str | None:
        return self.headers.get("Realm-Version")

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


class Transport:
    """One pool of connections to one server."""

    def __init__(self, url: str, key: Key, *, timeout: float, attempts: int, tls: ssl.SSLContext | bool,
                 connections: int) -> None:
        self.base = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._attempts = attempts
        self._tls = tls
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    @property
    def renewable(self) -> bool:
        """Whether another credential can be had."""
        return callable(self._key)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None,
                      data: Any = None, headers: Mapping[str, str] | None = None, safe: bool = False,
                      timeout: float | None = None) -> Answer:
        """One answer. Only what is `safe`, because it reads, is tried again when the answer does not come."""
        backoff = Backoff()
        while True:
            try:
                return await self._once(method, path, query, body, data, headers, timeout)
            except (ConnectionLost, Problem) as error:
                passing = not isinstance(error, Problem) or error.retryable
                if not safe or not passing or backoff.failures + 1 >= self._attempts:
                    raise
                wait = error.retry_after if isinstance(error, Problem) else None
                await asyncio.sleep(backoff.next(wait))

    async def open(self, method: str, path: str, *, query: Mapping[str, Any] | None = None,
                   headers: Mapping[str, str] | None = None, pause: float | None = None) -> aiohttp.ClientResponse:
        """An answer whose body is read as it comes; `pause` is the longest time without a byte."""
        limits = aiohttp.ClientTimeout(total=None, sock_connect=self._timeout, sock_read=pause)
        response = await self._send(method, path, query, None, headers, limits)
        if response.status >= 400:
            async with response:
                raise _problem(response.status, response.headers, await response.read())
        return response

    async def lines(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """The pieces of a body; an end before its time is an error."""
        try:
            async for piece in response.content.iter_any():
                yield piece
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error

    async def _once(self, method: str, path: str, query: Mapping[str, Any] | None, body: Any, data: Any,
                    headers: Mapping[str, str] | None, timeout: float | None) -> Answer:
        fields = dict(headers or {})
        if body is not None:
            data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
            fields.setdefault("Content-Type", "application/json")
        limits = aiohttp.ClientTimeout(total=timeout or self._timeout)
        response = await self._send(method, path, query, data, fields, limits)
        try:
            async with response:
                content = await response.read()
        except asyncio.TimeoutError as error:
            raise RequestTimeout(f"{method} {path}: no answer in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"{method} {path}: {error}") from error
        if response.status >= 400:
            raise _problem(response.status, response.headers, content)
        return Answer(response.status, response.headers, content)

    async def _send(self, method: str, path: str, query: Mapping[str, Any] | None, data: Any,
                    headers: Mapping[str, str] | None, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._connections)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=True)
        fields = dict(headers or {})
        token = await self._credential()
        if token:
            fields["Authorization"] = f"Bearer {token}"
        target = self.base + path + ("?" + urlencode(query, quote_via=quote) if query else "")
        try:
            # The path is encoded already; encoding it again would change keys with '%'.
            return await self._session.request(method, URL(target, encoded=True), data=data, headers=fields,
                                               timeout=limits, allow_redirects=False, ssl=self._tls)
        except asyncio.TimeoutError as error:
            raise RequestTimeout(f"{method} {path}: no answer in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"{method} {path}: {error}") from error

    async def _credential(self) -> str | None:
        if not callable(self._key):
            return self._key
        token = self._key()
        return await token if inspect.isawaitable(token) else token


def _problem(status: int, headers: Mapping[str, str], content: bytes) -> Problem:
    try:
        body = json.loads(content)
    except ValueError:
        body = {"detail": content[:200].decode("utf-8", "replace")}
    try:
        wait = float(headers.get("Retry-After", ""))
    except ValueError:
        wait = None
    return Problem.make(status, body if isinstance(body, dict) else {}, wait)


def segment(text: str) -> str:
    """One part of a path: everything but unreserved characters encoded, so that '/' in a key stays data."""
    return quote(text, safe="")
