"""Pauses between attempts."""

from __future__ import annotations

import random


class Backoff:
    """Growing pauses with full jitter, so that clients of a server that comes back do not come all at once."""

    def __init__(self, first: float = 0.25, longest: float = 30.0) -> None:
        self._first = first
        self._longest = longest
        self.failures = 0

    def reset(self) -> None:
        self.failures = 0

    def next(self, at_least: float | None = None) -> float:
        """The next pause in seconds; not below what the server asked for."""
        ceiling = min(self._longest, self._first * 2 ** min(self.failures, 20))
        self.failures += 1
        pause = random.uniform(ceiling / 4, ceiling)
        return pause if at_least is None else at_least + pause
