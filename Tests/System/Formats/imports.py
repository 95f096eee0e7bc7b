#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports what people and programs send by mistake or on purpose, and compares the answers with those of imports.md.

Each input goes into a realm of its own. An answer is expected to be an import, or a problem that names the place and what would be
right; never an error of the server.

    imports.py --server .build/debug/realm-rest [--write] [WORD…]
"""
import argparse
import difflib
import gzip
import json
import pathlib
import sqlite3
import sys
import tempfile
import urllib.parse

import reimport

EXPECTED = pathlib.Path(__file__).with_name("imports.md")
SCHEMA = {"schemaVersion": 0, "classes": [
    {"name": "Item", "primaryKey": "id", "properties": [
        {"name": "id", "type": "int"}, {"name": "name", "type": "string"}, {"name": "note", "type": "string", "optional": True},
        {"name": "price", "type": "double", "optional": True}, {"name": "amount", "type": "decimal128", "optional": True},
        {"name": "flag", "type": "bool"}, {"name": "made", "type": "date", "optional": True}, {"name": "blob", "type": "data", "optional": True},
        {"name": "uid", "type": "uuid", "optional": True}, {"name": "oid", "type": "objectId", "optional": True},
        {"name": "tags", "type": "string", "collection": "list"}, {"name": "any", "type": "mixed"},
        {"name": "next", "type": "object", "objectType": "Item"}]},
    {"name": "Plain", "properties": [{"name": "a", "type": "int"}, {"name": "b", "type": "string", "optional": True}]}]}
cases = []


def case(form, title, body, query, kind, is_lenient=False):
    cases.append((form, title, body if isinstance(body, bytes) else body.encode(), query, kind, is_lenient))


def csv(title, body, query="class=Item", is_lenient=False):
    case("CSV", title, body, query, "text/csv", is_lenient)


def json_(title, body, query="class=Item"):
    case("JSON", title, body, query, "application/json")


def sqlite(title, body, query="", is_lenient=False):
    case("SQLite", title, body, query, "application/vnd.sqlite3", is_lenient)


def database(*statements, changed=None):
    """The bytes of a database that statements made; `changed` damages them."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "made.db")
        made = sqlite3.connect(file)
        for each in statements:
            made.execute(*each) if isinstance(each, tuple) else made.executescript(each)
        made.commit()
        made.close()
        return changed(file.read_bytes()) if changed else file.read_bytes()


TABLE = "CREATE TABLE Item(id INTEGER PRIMARY KEY, name TEXT, flag INTEGER, note TEXT, price REAL, amount, made, blob BLOB, uid, oid, tags, any, next);"
ROWS = "INSERT INTO Item(id,name,flag) VALUES(1,'a',1),(2,'b',0);"

# CSV

csv("empty body", "")
csv("header only", "id,name,flag\n")
csv("BOM and CRLF", "\ufeffid,name,flag\r\n1,a,true\r\n2,b,false\r\n")
csv("UTF-16 with BOM", "id,name,flag\n1,a,true\n".encode("utf-16"))
csv("Latin-1", "id,name,flag\n1,M\u00fcller,true\n".encode("latin-1"))
csv("CR alone", "id,name,flag\r1,a,true\r2,b,false\r")
csv("text in an int", "id,name,flag\n1,a,true\nx2,b,true\n")
csv("int with blanks", "id,name,flag\n 1 ,a,true\n")
csv("float in an int", "id,name,flag\n1.0,a,true\n")
csv("int beyond 64 bits", "id,name,flag\n9223372036854775808,a,true\n")
csv("TRUE and 1 for true", "id,name,flag\n1,a,TRUE\n2,b,1\n")
csv("missing column name", "id,flag\n1,true\n")
csv("NULL in required", "id,name,flag\n1,,true\n")
csv("unknown column", "id,nme,flag\n1,a,true\n")
csv("unknown column, lenient", "id,nme,name,flag\n1,x,a,true\n", is_lenient=True)
csv("duplicate header", "id,name,name,flag\n1,a,b,true\n")
csv("duplicate header by mapping", "id,name,title,flag\n1,a,b,true\n", query="class=Item&columns=title:name")
csv("duplicate unknown header, lenient", "id,name,x,x,flag\n1,a,,,true\n", is_lenient=True)
csv("empty header name", "id,name,,flag\n1,a,,true\n")
csv("empty header name, lenient", "id,name,,,flag\n1,a,,,true\n", is_lenient=True)
csv("too many cells", "id,name,flag\n1,a,true,zz\n")
csv("too few cells", "id,name,flag\n1,a\n")
csv("quote not closed", "id,name,flag\n1,\"a,true\n2,b,true\n")
csv("quote in the middle", "id,name,flag\n1,a\"b,true\n")
csv("text after a quote", "id,name,flag\n1,\"a\"b,true\n")
csv("line ends in a quoted cell", "id,name,flag\n1,\"a\r\nb\",true\n")
csv("blanks around header names", "id, name, flag\n1,a,true\n")
csv("semicolons, decimal comma", "id;name;flag;price\n1;a;true;1,5\n")
csv("tabs", "id\tname\tflag\n1\ta\ttrue\n")
csv("pipes", "id|name|flag\n1|a|true\n")
csv("sep= of Excel", "sep=;\nid;name;flag\n1;a;true\n")
csv("NUL byte", "id,name,flag\n1,a\0b,true\n")
csv("huge field 2 MiB", "id,name,flag\n1," + "x" * (2 << 20) + ",true\n")
csv("huge field 20 MiB", "id,name,flag\n1," + "x" * (20 << 20) + ",true\n")
csv("date without zone", "id,name,flag,made\n1,a,true,2024-01-02 03:04:05\n")
csv("date of Excel", "id,name,flag,made\n1,a,true,02/01/2024\n")
csv("bad base64", "id,name,flag,blob\n1,a,true,###\n")
csv("bad uuid", "id,name,flag,uid\n1,a,true,123\n")
csv("list not JSON", "id,name,flag,tags\n1,a,true,red\n")
csv("mixed not JSON", "id,name,flag,any\n1,a,true,red\n")
csv("mixed number", "id,name,flag,any\n1,a,true,5\n")
csv("link to nothing", "id,name,flag,next\n1,a,true,99\n")
csv("duplicate key in file", "id,name,flag\n1,a,true\n1,b,true\n")
csv("class missing", "id,name,flag\n1,a,true\n", query="")
csv("mapping of an absent column", "id,name,flag\n1,a,true\n", query="class=Item&columns=Nr:id")
csv("mapping to an unknown property", "Nr,name,flag\n1,a,true\n", query="class=Item&columns=Nr:idd")
csv("mapping malformed", "id,name,flag\n1,a,true\n", query="class=Item&columns=Nr")
csv("only blank lines", "\n\n\n")
csv("JSON sent as CSV", '[{"id":1,"name":"a","flag":true}]')
csv("a zip sent as CSV", b"PK\x03\x04" + bytes(range(256)))
csv("70000 columns", ",".join(f"c{i}" for i in range(70000)) + "\n1\n")
csv("decimal", "id,name,flag,amount\n1,a,true,1.50\n2,b,true,\"1,50\"\n")
csv("NaN price", "id,name,flag,price\n1,a,true,NaN\n2,b,true,inf\n")

# JSON

json_("empty body", "")
json_("empty array", "[]")
json_("object, not array", '{"id":1,"name":"a","flag":true}')
json_("BOM", '\ufeff[{"id":1,"name":"a","flag":true}]')
json_("UTF-16", '[{"id":1,"name":"a","flag":true}]'.encode("utf-16"))
json_("CRLF inside", '[\r\n{"id":1,\r\n"name":"a","flag":true}\r\n,\r\n{"id":2,"name":"b","flag":"x"}]\r\n')
json_("trailing comma", '[{"id":1,"name":"a","flag":true},]')
json_("no comma", '[{"id":1,"name":"a","flag":true} {"id":2,"name":"b","flag":true}]')
json_("not closed", '[{"id":1,"name":"a","flag":true}')
json_("cut in a text", '[{"id":1,"name":"a')
json_("text after", '[{"id":1,"name":"a","flag":true}] x')
json_("two arrays", '[{"id":1,"name":"a","flag":true}][{"id":2,"name":"b","flag":true}]')
json_("array of numbers", '[1,2]')
json_("array of arrays", '[[{"id":1}]]')
json_("null element", '[null]')
json_("wrong type", '[{"id":"1x","name":"a","flag":true}]')
json_("number for text", '[{"id":1,"name":5,"flag":true}]')
json_("float for int", '[{"id":1.5,"name":"a","flag":true}]')
json_("null in required", '[{"id":1,"name":null,"flag":true}]')
json_("missing required", '[{"id":1,"flag":true}]')
json_("unknown member", '[{"id":1,"nme":"a","flag":true}]')
json_("duplicate member", '[{"id":1,"name":"a","name":"b","flag":true}]')
json_("single quotes", "[{'id':1}]")
json_("comment", '[/* x */{"id":1,"name":"a","flag":true}]')
json_("NaN", '[{"id":1,"name":"a","flag":true,"price":NaN}]')
json_("deep nesting", '[' * 100000)
json_("deep value", '[{"id":1,"name":"a","flag":true,"any":' + '[' * 5000 + ']' * 5000 + '}]')
json_("huge number", '[{"id":1,"name":"a","flag":true,"price":1e999}]')
json_("lone surrogate", '[{"id":1,"name":"\\ud800","flag":true}]')
json_("bad UTF-8", b'[{"id":1,"name":"\xff","flag":true}]')
json_("NUL in text", '[{"id":1,"name":"a\\u0000b","flag":true}]')
json_("huge text 20 MiB", '[{"id":1,"name":"' + "x" * (20 << 20) + '","flag":true}]')
json_("one of the elements another class", '[{"$meta":{"class":"Plain"},"a":1}]')
json_("class not named", '[{"id":1,"name":"a","flag":true}]', query="")
json_("columns with JSON", '[{"Nr":1,"name":"a","flag":true}]', query="class=Item&columns=Nr:id")
json_("lines in the place of an array", '{"id":1,"name":"a","flag":true}\n{"id":2,"name":"b","flag":true}\n')
json_("wrapped array", '{"items":[{"id":1,"name":"a","flag":true}]}')

# SQLite

sqlite("empty body", b"")
sqlite("no database", b"hello" * 1000)
sqlite("only the magic", b"SQLite format 3\0")
sqlite("empty database", database("CREATE TABLE x(y); DROP TABLE x;"))
sqlite("good", database(TABLE, ROWS))
sqlite("truncated half", database(TABLE, ROWS, *[("INSERT INTO Item(id,name,flag) VALUES(?,?,1)", (i, "x" * 500)) for i in range(3, 500)], changed=lambda b: b[:len(b) // 2]))
sqlite("truncated by a page", database(TABLE, ROWS, *[("INSERT INTO Item(id,name,flag) VALUES(?,?,1)", (i, "x" * 500)) for i in range(3, 500)], changed=lambda b: b[:-4096]))
sqlite("schema page zeroed", database(TABLE, ROWS, changed=lambda b: b[:100] + bytes(3996) + b[4096:]))
sqlite("bytes turned in a leaf", database(TABLE, ROWS, changed=lambda b: b[:4096] + bytes(x ^ 0x55 for x in b[4096:])))
sqlite("WAL mode", database("PRAGMA journal_mode=WAL;", TABLE, ROWS))
sqlite("UTF-16 database", database("PRAGMA encoding='UTF-16';", TABLE, "INSERT INTO Item(id,name,flag) VALUES(1,'M\u00fcller',1);"))
sqlite("view called like a class", database("CREATE TABLE z(id,name,flag); INSERT INTO z VALUES(1,'a',1); CREATE VIEW Item AS SELECT * FROM z;"))
sqlite("view named", database(TABLE, ROWS, "CREATE VIEW v AS SELECT id,name,flag FROM Item;"), query="tables=v:Item")
sqlite("trigger", database(TABLE, ROWS, "CREATE TRIGGER t AFTER INSERT ON Item BEGIN DELETE FROM Item; END;"))
sqlite("generated columns", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name TEXT, flag INTEGER, note TEXT GENERATED ALWAYS AS (name || '!') VIRTUAL, tags AS ('[\"x\"]') STORED);", "INSERT INTO Item(id,name,flag) VALUES(1,'a',1);"))
sqlite("generated by a costly function", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name TEXT, flag INTEGER, note TEXT AS (hex(zeroblob(100000000))) VIRTUAL);", "INSERT INTO Item(id,name,flag) VALUES(1,'a',1);"))
sqlite("WITHOUT ROWID", database("CREATE TABLE Item(name TEXT, flag, id INTEGER PRIMARY KEY) WITHOUT ROWID;", "INSERT INTO Item VALUES('a',1,1);"))
sqlite("STRICT", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name TEXT, flag INT) STRICT;", "INSERT INTO Item VALUES(1,'a',1);"))
sqlite("virtual table fts5", database("CREATE VIRTUAL TABLE Item USING fts5(id,name,flag);", "INSERT INTO Item VALUES(1,'a',1);"))
sqlite("blob in text, UTF-8", database(TABLE, ("INSERT INTO Item(id,name,flag) VALUES(1,?,1)", (b"abc",))))
sqlite("blob in text, not UTF-8", database(TABLE, ("INSERT INTO Item(id,name,flag) VALUES(1,?,1)", (b"\xff\xfe",))))
sqlite("text not UTF-8", database(TABLE, "INSERT INTO Item(id,name,flag) VALUES(1,CAST(x'fffe41' AS TEXT),1);"))
sqlite("NULL in required", database(TABLE, "INSERT INTO Item(id,name,flag) VALUES(1,NULL,1);"))
sqlite("NULL in the key", database("CREATE TABLE Item(id, name, flag);", "INSERT INTO Item VALUES(NULL,'a',1);"))
sqlite("text in an int", database("CREATE TABLE Item(id, name, flag);", "INSERT INTO Item VALUES('x','a',1);"))
sqlite("number as text in an int", database("CREATE TABLE Item(id TEXT, name, flag);", "INSERT INTO Item VALUES('17','a',1);"))
sqlite("real in an int", database("CREATE TABLE Item(id REAL, name, flag);", "INSERT INTO Item VALUES(1.5,'a',1);"))
sqlite("2 for a truth value", database(TABLE, "INSERT INTO Item(id,name,flag) VALUES(1,'a',2);"))
sqlite("infinity", database(TABLE, "INSERT INTO Item(id,name,flag,price) VALUES(1,'a',1,9e999);"))
sqlite("missing column", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, flag);", "INSERT INTO Item VALUES(1,1);"))
sqlite("unknown column", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, flag, weight);", "INSERT INTO Item VALUES(1,'a',1,3);"))
sqlite("unknown column, lenient", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, flag, weight);", "INSERT INTO Item VALUES(1,'a',1,3);"), is_lenient=True)
sqlite("columns that differ by case", database('CREATE TABLE Item(ID INTEGER PRIMARY KEY, NAME, Flag);', "INSERT INTO Item VALUES(1,'a',1);"))
sqlite("two columns mapped to one", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, title, flag);", "INSERT INTO Item VALUES(1,'a','b',1);"), query="columns=title:name")
sqlite("table not there", database(TABLE, ROWS), query="tables=Itm:Item")
sqlite("class not there", database(TABLE, ROWS), query="tables=Item:Itm")
sqlite("no table like a class", database("CREATE TABLE items(id);"))
sqlite("table name with quotes", database('CREATE TABLE "we""ird; DROP"(id INTEGER PRIMARY KEY, name, flag);', 'INSERT INTO "we""ird; DROP" VALUES(1,\'a\',1);'), query="tables=" + urllib.parse.quote('{"we\\"ird; DROP":"Item"}'))
sqlite("dates", database(TABLE, "INSERT INTO Item(id,name,flag,made) VALUES(1,'a',1,'2024-01-02 03:04:05'),(2,'a',1,'2024-01-02'),(3,'a',1,1700000000),(4,'a',1,'2024-01-02T03:04:05.123Z');"))
sqlite("date as Julian day", database(TABLE, "INSERT INTO Item(id,name,flag,made) VALUES(1,'a',1,2460310.5);"))
sqlite("bad date", database(TABLE, "INSERT INTO Item(id,name,flag,made) VALUES(1,'a',1,'yesterday');"))
sqlite("milliseconds as date", database(TABLE, "INSERT INTO Item(id,name,flag,made) VALUES(1,'a',1,1700000000000);"))
sqlite("uuid bytes of 15", database(TABLE, ("INSERT INTO Item(id,name,flag,uid) VALUES(1,'a',1,?)", (b"x" * 15,))))
sqlite("uuid bytes of 16", database(TABLE, ("INSERT INTO Item(id,name,flag,uid) VALUES(1,'a',1,?)", (b"x" * 16,))))
sqlite("list not JSON", database(TABLE, "INSERT INTO Item(id,name,flag,tags) VALUES(1,'a',1,'red');"))
sqlite("mixed text", database(TABLE, "INSERT INTO Item(id,name,flag,any) VALUES(1,'a',1,'red'),(2,'a',1,'\"red\"'),(3,'a',1,'[1,');"))
sqlite("link to nothing", database(TABLE, "INSERT INTO Item(id,name,flag,next) VALUES(1,'a',1,77);"))
sqlite("link later", database(TABLE, "INSERT INTO Item(id,name,flag,next) VALUES(1,'a',1,2),(2,'b',1,NULL);"))
sqlite("huge value 20 MiB", database(TABLE, ("INSERT INTO Item(id,name,flag) VALUES(1,?,1)", ("x" * (20 << 20),))))
sqlite("line end in a text", database(TABLE, ("INSERT INTO Item(id,name,flag,any) VALUES(1,?,1,?)", ("a\nb\r\nc\u2028", '{"x":\n1}'))))
sqlite("NUL in a text", database(TABLE, ("INSERT INTO Item(id,name,flag) VALUES(1,?,1)", ("a\0b",))))
sqlite("check constraint", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, flag, CHECK(id > 0));", "INSERT INTO Item VALUES(1,'a',1);"))
sqlite("default value", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, flag, note DEFAULT (1 + 1));", "INSERT INTO Item(id,name,flag) VALUES(1,'a',1);"))
sqlite("column oid", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, flag, oid TEXT);", "INSERT INTO Item VALUES(1,'a',1,'507f1f77bcf86cd799439011');"))
sqlite("table of a class without a key", database("CREATE TABLE Plain(a, b);", "INSERT INTO Plain VALUES(1,'x'),(2,NULL);"))
sqlite("2000 columns", database("CREATE TABLE Item(id INTEGER PRIMARY KEY, name, flag," + ",".join(f"c{i}" for i in range(1990)) + ");", ROWS))
sqlite("attached name", database(TABLE, ROWS), query="tables=sqlite_master:Item")
sqlite("gzip of a database", gzip.compress(database(TABLE, ROWS)))
sqlite("SQL text", b"CREATE TABLE Item(id);\nINSERT INTO Item VALUES(1);\n")
sqlite("virtual shadow fts", database("CREATE VIRTUAL TABLE f USING fts5(a);", TABLE, ROWS))
sqlite("corrupt schema text", database(TABLE, ROWS, changed=lambda b: b.replace(b"CREATE TABLE Item(id", b"CREATE TABLE Item(id(")))


def answer(server, number, form, title, body, query, kind, is_lenient):
    """Imports one body into a new realm; returns what is said, and the first objects."""
    realm = f"/v1/realms/r{number}"
    status, made = server.send("POST", "/v1/realms", json.dumps({"name": f"r{number}", "schema": SCHEMA}).encode())
    assert status == 201, made
    status, said = server.send("POST", f"{realm}/import?{query}", body, kind, {"Prefer": "handling=lenient"} if is_lenient else {})
    found = json.loads(said)
    if status < 300:
        name = "Plain" if "without a key" in title else "Item"
        objects = json.loads(server.send("GET", f"{realm}/objects/{name}?meta=none&limit=4")[1])["items"]
        plain = [{key: value for key, value in each.items() if value not in (None, [])} for each in objects]
        text = f"{found['created']} created: {json.dumps(plain, ensure_ascii=False)[:200]}"
    else:
        place = ", ".join(f"{key} {found[key]}" for key in ("line", "pointer", "parameter") if key in found)
        text = f"`{found['code']}` {found['detail']}" + (f" ({place})" if place else "")
    server.send("DELETE", f"{realm}?files=true&confirm=r{number}")
    return status, "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text).replace("|", "\\|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", default=".build/debug/realm-rest")
    parser.add_argument("--write", action="store_true", help="make imports.md anew")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    lines = ["# Odd imports", "", "Made by `make test-system ONLY=formats`, which compares every answer.", "", "| | Input | | Answer |", "|---|---|---|---|"]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        server = reimport.Server(str(pathlib.Path(options.server).resolve()), pathlib.Path(folder, "data"))
        for number, each in enumerate(cases):
            if options.words and not any(word in " ".join(each[:2]) for word in options.words):
                continue
            status, text = answer(server, number, *each)
            lines.append(f"| {each[0]} | {each[1]} | {status} | {text} |")
            if status >= 500:
                failed.append(lines[-1])
        is_alive = server.process.poll() is None
        server.end()
    text = "\n".join(lines) + "\n"
    if options.words:
        print(text)
    elif options.write:
        EXPECTED.write_text(text)
    elif text != EXPECTED.read_text():
        failed += difflib.unified_diff(EXPECTED.read_text().splitlines(), text.splitlines(), lineterm="", n=0)
    print("\n".join(failed + [] if is_alive else failed + ["the server ended"]))
    print(f"{len(cases)} odd imports, {'as expected' if is_alive and not failed else 'not as expected'}")
    return 0 if is_alive and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
