"""Server-sent events: bytes in pieces of any size become events."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Iterator


@dataclass(frozen=True)
class ServerEvent:
    """One block of a stream. A block without data, such as a heartbeat with the position, has an empty name."""

    name: str
    data: str
    id: str | None


class StreamTooWide(ValueError):
    """A line or an event that is longer than any that the server sends."""


class EventParser:
    """Reads a stream by the rules of the HTML standard, for lines that end with LF, CR LF or CR."""

    def __init__(self, maximum: int = 256 << 20) -> None:
        self.retry_seconds: float | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._maximum = maximum
        self._line: list[str] = []
        self._held = 0
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[str] = []
        self._id: str | None = None
        self._has_data = False

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """The events that this piece completes."""
        text = self._decoder.decode(piece)
        if self._first and text:
            self._first = False
            text = text.removeprefix("\ufeff")
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        if text.endswith("\r"):
            self._after_cr = True
        start = 0
        while (end := _line_end(text, start)) >= 0:
            self._line.append(text[start:end])
            line = "".join(self._line)
            self._line.clear()
            event = self._take(line)
            if event is not None:
                yield event
            start = end + (2 if text[end:end + 2] == "\r\n" else 1)
        if start < len(text):
            self._line.append(text[start:])
            self._hold(len(text) - start)

    def _hold(self, count: int) -> None:
        self._held += count
        if self._held > self._maximum:
            raise StreamTooWide(f"an event of more than {self._maximum} characters")

    def _take(self, line: str) -> ServerEvent | None:
        if line == "":
            return self._dispatch()
        if line.startswith(":"):
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._has_data = True
            self._data.append(value)
            self._hold(len(value))
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_seconds = int(value) / 1000
        return None

    def _dispatch(self) -> ServerEvent | None:
        name, data, identity, has_data = self._name, "\n".join(self._data), self._id, self._has_data
        self._name, self._id, self._has_data, self._held = "", None, False, 0
        self._data.clear()
        if has_data:
            return ServerEvent(name or "message", data, identity)
        return ServerEvent("", "", identity) if identity is not None else None


def _line_end(text: str, start: int) -> int:
    feed, carriage = text.find("\n", start), text.find("\r", start)
    if feed < 0 or carriage < 0:
        return max(feed, carriage)
    return min(feed, carriage)
