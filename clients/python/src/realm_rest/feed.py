"""Queues between what is live and those who follow its changes."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Callable, Generic, TypeVar

C = TypeVar("C")


class Feed(Generic[C]):
    """Changes in order; an asynchronous iterator.

    It holds a bounded number of them. Who falls further behind gets one change that stands for all that was dropped:
    the contents as they are now, with `reset` set.
    """

    def __init__(self, bound: int, whole: Callable[[Any], C], mark: Any, advance: Callable[[Any, C], Any]) -> None:
        self._waiting: deque[C] = deque()
        self._bound = bound
        self._whole = whole
        self._advance = advance
        # What the reader of this feed knows, as far as `whole` needs it.
        self._mark = mark
        self._overflow = False
        self._closed = False
        self._error: BaseException | None = None
        self._event = asyncio.Event()

    def put(self, change: C) -> None:
        if self._closed or self._overflow:
            return
        if len(self._waiting) >= self._bound:
            self._overflow = True
            self._waiting.clear()
        else:
            self._waiting.append(change)
        self._event.set()

    def close(self, error: BaseException | None = None) -> None:
        """Ends the feed after what is in it; with an error, the reader gets it then."""
        self._closed = True
        self._error = self._error or error
        self._event.set()

    async def aclose(self) -> None:
        self._waiting.clear()
        self.close()

    def __aiter__(self) -> Feed[C]:
        return self

    async def __anext__(self) -> C:
        while True:
            if self._overflow:
                self._overflow = False
                change = self._whole(self._mark)
                self._mark = self._advance(self._mark, change)
                return change
            if self._waiting:
                change = self._waiting.popleft()
                self._mark = self._advance(self._mark, change)
                return change
            if self._closed:
                if self._error is not None:
                    error, self._error = self._error, None
                    raise error
                raise StopAsyncIteration
            self._event.clear()
            await self._event.wait()
