"""The way in: a server, by its address."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Any

from .hub import Options
from .http import Key, Transport
from .realm import Realm


def connect(url: str, *, key: Key = None, timeout: float = 30.0, attempts: int = 3, tls: ssl.SSLContext | bool = True,
            connections: int = 50, options: Options | None = None) -> Server:
    """A client of the server at `url`; nothing is sent yet.

    `key` is an API key or a token, or a function that answers one, which is asked before each request. `timeout` is
    that of one request in seconds, `attempts` how often reads are tried when no answer comes. `tls` is a context for
    own authorities, or False to trust any certificate. `options` are those of live objects.
    """
    return Server(Transport(url, key, timeout=timeout, attempts=attempts, tls=tls, connections=connections),
                  options or Options())


class Server:
    """A server; an asynchronous context manager that ends all that is live and closes all connections."""

    def __init__(self, transport: Transport, options: Options) -> None:
        self.transport = transport
        self.options = options
        self._realms: dict[str, Realm] = {}

    def realm(self, name: str) -> Realm:
        """A realm by name. The same name is the same object, so that its live objects share streams."""
        if name not in self._realms:
            self._realms[name] = Realm(self.transport, name, self.options)
        return self._realms[name]

    async def realms(self) -> list[dict[str, Any]]:
        """The documents of all realms that are visible."""
        items: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            query = {"after": after} if after else {}
            body = (await self.transport.request("GET", "/v1/realms", query=query, safe=True)).json()
            items += body["items"]
            after = body["next"]
            if after is None:
                return items

    async def me(self) -> dict[str, Any]:
        """Who the server takes this client for, and what it may do."""
        return dict((await self.transport.request("GET", "/v1/me", safe=True)).json())

    async def close(self) -> None:
        for realm in self._realms.values():
            await realm.close()
        await self.transport.close()

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()
