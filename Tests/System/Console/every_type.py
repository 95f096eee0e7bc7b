# SPDX-License-Identifier: Apache-2.0
"""A realm with every type of property, single, optional and in every collection, and with values at their extremes."""

import json
import re

SCALARS = ["int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid"]
KINDS = ["list", "set", "dictionary"]
# By type: texts as they are typed into the page, each with the JSON that the server answers then.
TYPED = {
    "int": [("-9223372036854775808", "-9223372036854775808"), ("9223372036854775807", "9223372036854775807"), ("9007199254740993", "9007199254740993")],
    "string": [("two\nlines\tand “quotes” \\ ", '"two\\nlines\\tand “quotes” \\\\ "'), ("<img src=x onerror=alert(1)>", '"<img src=x onerror=alert(1)>"')],
    "date": [("2026-11-21T10:00:00.000000001Z", '"2026-11-21T10:00:00.000000001Z"'), ("-99999999999999 s -5 ns", '{"$instant":{"seconds":"-99999999999999","nanoseconds":-5}}'),
             ("0001-01-01T00:00:00Z", '"0001-01-01T00:00:00Z"')],
    "float": [("0.1", "0.1"), ("NaN", '"NaN"'), ("-0.0", "-0.0"), ("3.4028235e+38", "3.4028235e+38")],
    "double": [("NaN", '"NaN"'), ("-Infinity", '"-Infinity"'), ("-0.0", "-0.0"), ("5e-324", "5e-324"), ("0.30000000000000004", "0.30000000000000004")],
    "decimal128": [("12.50", '"12.50"'), ("1234567890123456789012345678901234", '"1234567890123456789012345678901234"'), ("1.000E-6100", '"1.000E-6100"')],
    "objectId": [("0123456789abcdef01234567", '"0123456789abcdef01234567"')],
    "uuid": [("01234567-89ab-cdef-0123-456789abcdef", '"01234567-89ab-cdef-0123-456789abcdef"')],
}
MIXED = {
    "int": "{}", "string": "{}", "date": '{{"$date":{}}}', "float": '{{"$numberFloat":"{}"}}', "double": "{}", "decimal128": '{{"$numberDecimal":{}}}',
    "objectId": '{{"$oid":{}}}', "uuid": '{{"$binary":{{"base64":"ASNFZ4mrze8BI0VniavN7w==","subType":"04"}}}}',
}
ZERO = {"int": 0, "bool": False, "string": "", "data": "", "date": "1970-01-01T00:00:00Z", "float": 0, "double": 0, "decimal128": "0",
        "objectId": "0" * 24, "uuid": "00000000-0000-0000-0000-000000000000"}


def in_mixed(kind, answer):
    """What the server answers for a value in Mixed, from what it answers for one whose type is declared."""
    if answer.startswith('{"$instant"'):
        return answer
    if kind in ("float", "double") and answer.startswith('"'):
        return '{"$number%s":%s}' % (kind.capitalize(), answer)
    return MIXED[kind].format(answer)


def schema():
    properties = [{"name": "_id", "type": "int"}]
    for kind in SCALARS:
        properties += [{"name": kind, "type": kind}, {"name": kind + "Optional", "type": kind, "optional": True}]
        for collection in KINDS:
            for optional in (False, True):
                properties.append({"name": f"{kind}{collection.capitalize()}{'Optional' if optional else ''}", "type": kind, "collection": collection, "optional": optional})
    for name, kind, target in (("mixed", "mixed", None), ("link", "object", "Target"), ("child", "object", "Child")):
        for collection in [None] + KINDS:
            if not (name == "child" and collection == "set"):
                properties.append({"name": name + (collection or "").capitalize(), "type": kind, "objectType": target, "collection": collection})
    return {"schemaVersion": 1, "classes": [
        {"name": "All", "type": "object", "primaryKey": "_id", "properties": properties},
        {"name": "Target", "type": "object", "primaryKey": "name", "properties": [{"name": "name", "type": "string"}, {"name": "note", "type": "string", "optional": True}]},
        {"name": "NoKey", "type": "object", "properties": [{"name": "title", "type": "string"}, {"name": "all", "type": "object", "objectType": "All"},
                                                            {"name": "alls", "type": "object", "objectType": "All", "collection": "list"}]},
        {"name": "Child", "type": "embedded", "properties": [
            {"name": "label", "type": "string"}, {"name": "count", "type": "int", "optional": True}, {"name": "tags", "type": "string", "collection": "list"},
            {"name": "friend", "type": "object", "objectType": "Target"}, {"name": "inner", "type": "object", "objectType": "Inner"}, {"name": "any", "type": "mixed"}]},
        {"name": "Inner", "type": "embedded", "properties": [{"name": "weight", "type": "double"}, {"name": "points", "type": "int", "collection": "list"}]},
    ]}


def realm(console):
    """Makes the realm `types` with one object of the class `All`, whose key is 1, and three of `Target`."""
    console.realm_server(sample=False)
    console.api("POST", "/v1/realms", {"name": "types", "schema": schema()})
    console.api("POST", "/v1/realms/types/objects/Target", [{"name": "a"}, {"name": "b", "note": "bee"}, {"name": "@c/d"}])
    console.api("POST", "/v1/realms/types/objects/All", {"_id": 1, **ZERO})
    return "/v1/realms/types/objects/All/1"


def stored(console, path, property):
    """The JSON text of a property as the server writes it, every digit as it is."""
    text = console.raw("GET", f"{path}?fields={property}&meta=none")[2].decode()
    return re.fullmatch(r'\{"[^"]+":(.*)\}', text, re.S).group(1)


def same(first, second):
    return json.loads(first) == json.loads(second)
