"""Values of a realm that Python has no type for, and the writing of all values.

Values are written in their wrapped forms, which every place accepts: in a typed property and inside Mixed alike.
"""

from __future__ import annotations

import base64
import math
import os
import re
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import total_ordering
from typing import Any, Iterator, Mapping, Sequence

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_RFC3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)")


@total_ordering
@dataclass(frozen=True, eq=False)
class Timestamp:
    """A point in time with nanoseconds, as Realm stores it. Compares with `datetime`, too."""

    seconds: int
    nanoseconds: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.nanoseconds < 1_000_000_000:
            raise ValueError("nanoseconds count from the second, 0 to 999,999,999")

    @staticmethod
    def now() -> Timestamp:
        return Timestamp(*divmod(time.time_ns(), 1_000_000_000))

    @staticmethod
    def of(moment: datetime) -> Timestamp:
        """The same moment. A `datetime` without a zone is refused, as it names no moment."""
        if moment.tzinfo is None:
            raise ValueError("a datetime needs a zone")
        elapsed = moment - _EPOCH
        return Timestamp(elapsed.days * 86_400 + elapsed.seconds, elapsed.microseconds * 1000)

    @staticmethod
    def parse(text: str) -> Timestamp:
        """Reads RFC 3339 with 0 to 9 digits of a second."""
        match = _RFC3339.fullmatch(text)
        if match is None:
            raise ValueError(f"no RFC 3339 date: {text!r}")
        year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
        zone = match.group(8)
        if zone not in "Zz":
            offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
            moment -= -offset if zone[0] == "-" else offset
        return Timestamp(Timestamp.of(moment).seconds, int((match.group(7) or "").ljust(9, "0")))

    def to_datetime(self) -> datetime:
        """As `datetime` in UTC, cut to microseconds. OverflowError outside of the years 1 to 9999."""
        return _EPOCH + timedelta(seconds=self.seconds, microseconds=self.nanoseconds // 1000)

    def __str__(self) -> str:
        try:
            text = (_EPOCH + timedelta(seconds=self.seconds)).strftime("%Y-%m-%dT%H:%M:%S")
        except OverflowError:
            return f"{self.seconds}s+{self.nanoseconds}ns"
        fraction = f".{self.nanoseconds:09}".rstrip("0") if self.nanoseconds else ""
        return f"{text.rjust(19, '0')}{fraction}Z"

    def __eq__(self, other: object) -> bool:
        moment = _moment(other)
        return NotImplemented if moment is None else (self.seconds, self.nanoseconds) == (
            moment.seconds, moment.nanoseconds)

    def __lt__(self, other: object) -> bool:
        moment = _moment(other)
        return NotImplemented if moment is None else (self.seconds, self.nanoseconds) < (
            moment.seconds, moment.nanoseconds)

    def __hash__(self) -> int:
        # Equal values have equal hashes, those of datetime included.
        if self.nanoseconds % 1000 == 0:
            try:
                return hash(self.to_datetime())
            except OverflowError:
                pass
        return hash((self.seconds, self.nanoseconds))


def _moment(value: object) -> Timestamp | None:
    if isinstance(value, Timestamp):
        return value
    return Timestamp.of(value) if isinstance(value, datetime) and value.tzinfo is not None else None


@total_ordering
@dataclass(frozen=True)
class ObjectId:
    """Twelve bytes, written as 24 hexadecimal digits."""

    hex: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{24}", self.hex):
            raise ValueError("an ObjectId has 24 lower-case hexadecimal digits")

    @staticmethod
    def generate() -> ObjectId:
        return ObjectId(f"{int(time.time()) & 0xFFFFFFFF:08x}{os.urandom(8).hex()}")

    def __str__(self) -> str:
        return self.hex

    def __lt__(self, other: object) -> bool:
        return self.hex < other.hex if isinstance(other, ObjectId) else NotImplemented


@dataclass(frozen=True)
class Link:
    """A link to an object: its class, and its key as the server writes it."""

    class_name: str
    key: str


class Float32(float):
    """A 32-bit number inside Mixed, where its width has to be kept."""


@dataclass(frozen=True)
class RawText:
    """Text of a file that is not valid UTF-8."""

    data: bytes


class Object(Mapping[str, Any]):
    """An object as it was at one version: its values by property name. It does not change."""

    __slots__ = ("class_name", "key", "etag", "meta", "_values")

    def __init__(self, class_name: str, key: str, values: Mapping[str, Any], etag: str | None = None,
                 meta: Mapping[str, Any] | None = None) -> None:
        self.class_name = class_name
        self.key = key
        self.etag = etag
        self.meta = meta or {}
        self._values = values

    @property
    def link(self) -> Link:
        return Link(self.class_name, self.key)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Object) and self.class_name == other.class_name and self.key == other.key
                and same(self._values, other._values))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.class_name}[{self.key}]({', '.join(f'{name}={value!r}' for name, value in self.items())})"


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same for Realm: NaN is itself, and types count."""
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or (one == other and math.copysign(1, one) == math.copysign(1, other))
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one.as_tuple() == other.as_tuple()
    if isinstance(one, Object) or isinstance(other, Object):
        return bool(one == other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def encode(value: Any) -> Any:
    """The JSON of a value, in the form that is unambiguous everywhere."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Float32):
        return {"$numberFloat": _number(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$numberDouble": _number(value)}
    if isinstance(value, Decimal):
        return {"$numberDecimal": _number(value)}
    return _encode_other(value)


def encode_members(values: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an object: also of one that was read, which is a link anywhere else."""
    return {"$" + name if name.startswith("$") else name: encode(value) for name, value in values.items()}


def _encode_other(value: Any) -> Any:
    if isinstance(value, datetime):
        value = Timestamp.of(value)
    if isinstance(value, Timestamp):
        text = str(value)
        if text.endswith("Z"):
            return {"$date": text}
        # Before 1970 Realm counts both parts backwards.
        seconds, nanoseconds = value.seconds, value.nanoseconds
        if seconds < 0 < nanoseconds:
            seconds, nanoseconds = seconds + 1, nanoseconds - 1_000_000_000
        return {"$instant": {"seconds": str(seconds), "nanoseconds": nanoseconds}}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$binary": {"base64": base64.b64encode(bytes(value)).decode(), "subType": "00"}}
    if isinstance(value, uuid.UUID):
        return {"$uuid": str(value)}
    if isinstance(value, ObjectId):
        return {"$oid": value.hex}
    if isinstance(value, Object):
        value = value.link
    if isinstance(value, Link):
        return {"$link": {"class": value.class_name, "key": value.key}}
    if isinstance(value, Mapping):
        return {str(name): encode(part) for name, part in value.items()}
    if isinstance(value, (set, frozenset)) or (isinstance(value, Sequence)):
        return [encode(part) for part in value]
    raise TypeError(f"{type(value).__name__} is no value of a realm")


def _number(value: float | Decimal) -> str:
    if value != value:
        return "NaN"
    if value in (math.inf, -math.inf):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value)) if isinstance(value, float) else str(value)


def decode_mixed(value: Any) -> Any:
    """The value that JSON describes where the type is not known: inside Mixed."""
    if isinstance(value, list):
        return [decode_mixed(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (name, body), = value.items()
        reader = _WRAPPERS.get(name)
        if reader is not None:
            return reader(body)
    return {name: decode_mixed(part) for name, part in value.items()}


def decode_date(value: Any) -> Timestamp:
    """A date in any of its forms."""
    if isinstance(value, str):
        return Timestamp.parse(value)
    if "$instant" in value:
        return _instant(value["$instant"])
    return _date(value["$date"])


def _instant(body: Any) -> Timestamp:
    seconds, nanoseconds = int(body["seconds"]), int(body["nanoseconds"])
    # Before 1970 Realm counts both parts backwards.
    return Timestamp(*divmod(seconds * 1_000_000_000 + nanoseconds, 1_000_000_000))


def _date(body: Any) -> Timestamp:
    if isinstance(body, str):
        return Timestamp.parse(body)
    seconds, milliseconds = divmod(int(body["$numberLong"]), 1000)
    return Timestamp(seconds, milliseconds * 1_000_000)


def _binary(body: Any) -> Any:
    data = base64.b64decode(body["base64"], validate=True)
    return uuid.UUID(bytes=data) if body["subType"] == "04" else data


_WRAPPERS: dict[str, Any] = {
    "$numberLong": int, "$numberInt": int, "$numberDouble": float, "$numberFloat": Float32, "$numberDecimal": Decimal,
    "$date": _date, "$instant": _instant, "$binary": _binary, "$oid": ObjectId, "$uuid": uuid.UUID,
    "$link": lambda body: Link(body["class"], body["key"]), "$bytes": lambda body: RawText(base64.b64decode(body)),
}


def key_text(key: Any) -> str:
    """The text of a key: of a primary key's value, or text as `Object.key` has it, which stays as it is."""
    if isinstance(key, str):
        return key
    if key is None:
        return "@null"
    if isinstance(key, (uuid.UUID, ObjectId)) or (isinstance(key, int) and not isinstance(key, bool)):
        return str(key)
    raise TypeError(f"{type(key).__name__} is no primary key")


def string_key(value: str) -> str:
    """The key text of any string that is a primary key, also an empty one and one that begins with @."""
    if value == "":
        return "@empty"
    return "@" + value if value.startswith("@") else value
