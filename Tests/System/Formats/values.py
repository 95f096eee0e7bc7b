# SPDX-License-Identifier: Apache-2.0
"""The values of a fixture as an export has to hold them, from its expected dump."""
import base64
import datetime
import decimal
import gzip
import hashlib
import json
import struct

EPOCH = datetime.datetime(1970, 1, 1)
FIRST, LAST = -62_135_596_800, 253_402_300_799


class Long:
    """A value of which the dump has only the length and the digest."""

    def __init__(self, form, value):
        self.form, self.bytes, self.sha256 = form, value["bytes"], value["sha256"]

    def __eq__(self, other):
        data = other.encode() if isinstance(other, str) else other
        return isinstance(data, bytes) and len(data) == self.bytes and hashlib.sha256(data).hexdigest() == self.sha256

    def __repr__(self):
        return f"Long({self.form}, {self.bytes})"


def dump(path):
    """Reads an expected dump, packed or not."""
    opened = gzip.open(path) if str(path).endswith(".gz") else open(path, "rb")
    with opened:
        return json.load(opened, parse_float=lambda text: Real(text))


class Real(float):
    """A number with its text, since one of 32 bits is written shorter."""

    def __new__(cls, text):
        made = super().__new__(cls, text)
        made.text = text
        return made


def date_text(seconds, nanoseconds):
    """The text of a date: RFC 3339, or JSON for years that it does not have."""
    whole, rest = seconds, nanoseconds
    if rest < 0:
        whole, rest = whole - 1, rest + 1_000_000_000
    if not FIRST <= whole <= LAST:
        return json.dumps({"$instant": {"seconds": str(seconds), "nanoseconds": nanoseconds}}, separators=(",", ":"))
    text = (EPOCH + datetime.timedelta(seconds=whole)).isoformat()
    fraction = f"{rest:09d}".rstrip("0")
    return text + ("." + fraction if fraction else "") + "Z"


def key_text(value):
    """The text of a key, as paths and stubs have it."""
    if value is None:
        return "@null"
    if isinstance(value, dict):
        return value.get("$oid") or value.get("$uuid")
    if isinstance(value, str):
        return "@empty" if value == "" else "@" + value if value.startswith("@") else value
    return str(value)


class Schema:
    """The classes of a dump, with what identifies their objects."""

    def __init__(self, classes):
        self.classes = {each["name"]: each for each in classes}

    def property(self, name, wanted):
        return next(p for p in self.classes[name]["properties"] if p["name"] == wanted)

    def key_kind(self, name):
        """How the rows of a class are identified: by the primary key, its text, the object key, or a number."""
        form = self.classes[name]
        if form["type"] == "embedded":
            return "number"
        if form["primaryKey"] is None:
            return "object"
        return "text" if self.property(name, form["primaryKey"])["optional"] else "primary"

    def key(self, name, key, primary):
        """What stands in a column that leads to an object."""
        kind = self.key_kind(name)
        if kind == "object":
            return key
        return key_text(primary) if kind == "text" else scalar(primary)

    def stub_key(self, name, key, primary):
        return key_text(primary) if self.classes[name]["primaryKey"] is not None else f"@k{key}"


def scalar(value):
    """A single value, without its wrapper."""
    if not isinstance(value, dict):
        if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
            return value
        return value
    (name, inner), = value.items()
    if name == "$string":
        return Long("text", inner)
    if name == "$binary":
        return Long("bytes", inner) if isinstance(inner, dict) else base64.b64decode(inner)
    if name == "$date":
        return date_text(inner["seconds"], inner["nanoseconds"])
    return inner


def mixed(value, schema):
    """A value of Mixed as the JSON that exports write."""
    if isinstance(value, list):
        return [mixed(each, schema) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (name, inner), = value.items()
        if name == "$string":
            return Long("text", inner)
        if name == "$binary":
            return {"$binary": {"base64": Long("base64", inner) if isinstance(inner, dict) else inner, "subType": "00"}}
        if name == "$date":
            text = date_text(inner["seconds"], inner["nanoseconds"])
            return json.loads(text) if text.startswith("{") else {"$date": text}
        if name == "$uuid":
            raw = bytes.fromhex(inner.replace("-", ""))
            return {"$binary": {"base64": base64.b64encode(raw).decode(), "subType": "04"}}
        if name == "$numberDouble":
            return {"$numberDouble": inner} if isinstance(inner, str) else inner
        if name == "$numberFloat":
            return {"$numberFloat": inner.text if isinstance(inner, Real) else inner}
        if name == "$link":
            key = schema.stub_key(inner["class"], inner["key"], inner.get("primaryKey"))
            return {"$link": {"class": inner["class"], "key": key}}
        if name in ("$oid", "$numberDecimal"):
            return value
    return {name: mixed(each, schema) for name, each in value.items()}


def same_json(found, wanted):
    """Whether JSON is what a dump says; numbers have to be of the same kind."""
    if isinstance(wanted, Long):
        return wanted == (base64.b64decode(found) if wanted.form == "base64" else found)
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(same_json(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same_json, found, wanted))
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    if isinstance(wanted, float):
        return isinstance(found, float) and struct.pack("d", found) == struct.pack("d", wanted)
    return type(found) is type(wanted) and found == wanted


def same(found, wanted, kind, exact_zero=False):
    """Whether a value of a database is that of a dump."""
    if wanted is None or found is None:
        return wanted is None and found is None
    if kind == "mixed":
        return same_json(json.loads(found), wanted)
    if isinstance(wanted, Long):
        return wanted == found
    if kind == "bool":
        return bool(found) is wanted
    if kind in ("float", "double"):
        if isinstance(wanted, str):
            return str(found).lower().replace("inf", "infinity").replace("infinityinity", "infinity") == wanted.lower()
        if kind == "float":
            return struct.pack("f", found) == struct.pack("f", wanted) or (not exact_zero and found == wanted == 0)
        return struct.pack("d", found) == struct.pack("d", wanted) or (not exact_zero and found == wanted == 0)
    if kind == "decimal128":
        left, right = decimal.Decimal(str(found)), decimal.Decimal(wanted)
        return left.is_nan() and right.is_nan() or left == right
    return type(found) is type(wanted) and found == wanted
