# SPDX-License-Identifier: Apache-2.0
"""The screen In and out: exports by the browser's own download, and imports with a preview."""

import csv
import gzip
import io
import json
import os
import re
import sqlite3
import zipfile

R = "/v1/realms/store"


def exported(page):
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    with open(download.value.path(), "rb") as file:
        return file.read()


def formats(page):
    return page.get_by_label("Format").evaluate("list => [...list.options].map((one) => one.value)")


def choose(page, name, data):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file…").click()
    chooser.value.set_files([{"name": name, "mimeType": "application/octet-stream", "buffer": data}] if isinstance(data, bytes) else data)


def database(console, script):
    """The bytes of a database of SQLite that a script makes."""
    path = os.path.join(console.server.folder, "made.sqlite")
    made = sqlite3.connect(path)
    made.executescript(script)
    made.commit()
    made.close()
    with open(path, "rb") as file:
        return file.read()


def count(console, name, where="TRUEPREDICATE"):
    return console.api("POST", f"{R}/query/{name}", {"where": where, "limit": 0, "count": "exact"})["count"]


def paste(page, text):
    page.get_by_label("Pasted text").fill(text)


def said(page, text):
    page.get_by_role("status").filter(has_text=text).last.wait_for()


def test_the_realm_is_exported_and_comes_back(console):
    page = console.page("#/store/transfer")
    data = exported(page)
    lines = data.decode().splitlines()
    assert json.loads(lines[-1])["$end"]["objects"] == len(lines) - 2
    page.get_by_label("Format").select_option("realm")
    assert exported(page)[16:20] == b"T-DB"
    # The export goes into an empty realm as it is.
    console.realm_server(data=True)
    console.api("POST", "/v1/realms", {"name": "fresh"})
    page = console.page("#/fresh/transfer")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file…").click()
    chooser.value.set_files([{"name": "store.ndjson", "mimeType": "text/plain", "buffer": data}])
    page.get_by_text("an export with its classes").wait_for()
    page.get_by_role("button", name="Import", exact=True).click()
    console.eventually(lambda: len(console.api("GET", "/v1/realms/fresh/schema")["classes"]) > 0, 30)
    said(page, "created")
    assert console.api("GET", "/v1/realms/fresh/objects/Product?limit=0&count=exact")["count"] == console.api("GET", f"{R}/objects/Product?limit=0&count=exact")["count"]


def test_a_changed_schema_takes_nothing_away(console):
    """The page once began anew with each schema, also with the one that an import brings: what it had said was gone then."""
    page = console.page("#/store/transfer")
    page.get_by_label("Pasted text").fill("id,label\n901,a\n")
    page.get_by_label("Class", exact=True).select_option("Category")
    page.get_by_label("Property for label").select_option("name")
    page.get_by_role("button", name="Try without writing").click()
    said(page, "It fits")
    page.get_by_text("Live", exact=True).wait_for()
    added = {"name": "since", "type": "date", "optional": True}
    console.api("POST", f"{R}/migrations", {"fromVersion": 1, "toVersion": 2, "steps": [{"addProperty": {"class": "Category", "property": added}}]})
    page.get_by_label("Property for label").locator("option", has_text="since").wait_for(state="attached")
    assert page.get_by_label("Pasted text").input_value() == "id,label\n901,a\n"
    assert page.get_by_label("Property for label").input_value() == "name"
    said(page, "It fits")


def test_a_query_is_exported_as_csv(console):
    page = console.page("#/store/transfer/Product?where=price%20%3E%20100")
    expected = count(console, "Product", "price > 100")
    page.get_by_text(f"{expected:,} objects").wait_for()
    page.get_by_label("Format").select_option("csv")
    rows = list(csv.reader(io.StringIO(exported(page).decode())))
    assert len(rows) == expected + 1 and rows[0][0] == "sku"
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "=1+1"})
    page.get_by_label("What").select_option("Category")
    page.get_by_label("Only objects that match").fill("id == 1")
    page.get_by_text("1 object", exact=True).wait_for()
    page.get_by_label("Format").select_option("excel")
    assert b"'=1+1" in exported(page)


def test_a_wrong_query_is_told_before_the_download(console):
    console.expect("answered 400")
    page = console.page("#/store/transfer/Product")
    page.get_by_label("Only objects that match").fill("nonsense >")
    page.get_by_role("alert").get_by_text("invalid_query").wait_for()
    assert page.get_by_role("button", name="Export").is_disabled()


def test_every_format_is_offered_where_it_fits(console):
    page = console.page("#/store/transfer")
    page.get_by_label("Format").wait_for()
    assert formats(page) == ["ndjson", "json", "xlsx", "sqlite", "postgresql", "realm"]
    page.get_by_label("What").select_option("Product")
    console.eventually(lambda: formats(page) == ["ndjson", "json", "csv", "excel", "semicolons", "xlsx", "sqlite", "postgresql", "ejson"])
    page.get_by_label("What").select_option("Customer")
    # Only who has places on a map is GeoJSON.
    console.eventually(lambda: formats(page)[-1] == "geojson")
    assert page.get_by_label("Place").count() == 0


def test_each_format_is_what_it_says(console):
    page = console.page("#/store/transfer/Customer")
    total = count(console, "Customer")
    page.get_by_text(f"{total:,} objects").wait_for()

    def made(name):
        page.get_by_label("Format").select_option(name)
        return exported(page)

    workbook = zipfile.ZipFile(io.BytesIO(made("xlsx")))
    assert "xl/workbook.xml" in workbook.namelist()
    path = os.path.join(console.server.folder, "out.sqlite")
    with open(path, "wb") as file:
        file.write(made("sqlite"))
    assert sqlite3.connect(path).execute("SELECT count(*) FROM Customer").fetchone() == (total,)
    assert b"COPY " in made("postgresql")
    lines = made("ejson").decode().splitlines()
    assert len(lines) == total and "$oid" in json.loads(lines[0])["_id"]
    assert len(json.loads(made("geojson"))["features"]) == total
    assert [len(objects) for objects in json.loads(made("json"))["objects"].values()] == [total]
    semicolons = made("semicolons").decode()
    assert semicolons.startswith("\ufeff") and semicolons.splitlines()[0].count(";") > 5


def test_a_place_is_chosen_where_there_are_several(console):
    console.realm_server(data=True)
    point = {"name": "Point", "type": "embedded", "properties": [{"name": "type", "type": "string"}, {"name": "coordinates", "type": "double", "collection": "list"}]}
    home = {"name": "Home", "type": "embedded", "properties": [{"name": "at", "type": "object", "objectType": "Point", "optional": True}]}
    place = {"name": "Shop", "primaryKey": "id", "properties": [{"name": "id", "type": "int"}, {"name": "home", "type": "object", "objectType": "Home", "optional": True},
        {"name": "seat", "type": "object", "objectType": "Point", "optional": True}]}
    console.api("POST", "/v1/realms", {"name": "map", "schema": {"classes": [point, home, place]}})
    console.api("POST", "/v1/realms/map/objects/Shop", {"id": 1, "home": {"at": {"type": "Point", "coordinates": [1, 2]}}, "seat": {"type": "Point", "coordinates": [3, 4]}})
    page = console.page("#/map/transfer/Shop")
    page.get_by_label("Format").select_option("geojson")
    assert page.get_by_label("Place").input_value() == "seat"
    assert json.loads(exported(page))["features"][0]["geometry"]["coordinates"] == [3, 4]
    page.get_by_label("Place").select_option("home.at")
    assert json.loads(exported(page))["features"][0]["geometry"]["coordinates"] == [1, 2]


def test_what_the_rows_show_is_exported(console):
    page = console.page("#/store/rows/Product?where=price%20%3E%20%240&args=%5B%22100%22%5D&sort=-price")
    page.locator(".canvas .row input").first.wait_for(state="attached")
    page.get_by_role("link", name="Export").click()
    page.get_by_text("sorted by -price").wait_for()
    page.get_by_label("Format").select_option("csv")
    rows = list(csv.DictReader(io.StringIO(exported(page).decode())))
    assert len(rows) == count(console, "Product", "price > 100")
    prices = [float(row["price"]) for row in rows]
    assert prices == sorted(prices, reverse=True)


def test_json_and_packed_files_come_in(console):
    page = console.page("#/store/transfer")
    text = json.dumps([{"id": {"$numberInt": "901"}, "name": "a", "more": 1}, {"id": 902, "name": "b", "sortOrder": 3}])
    choose(page, "categories.json.gz", gzip.compress(text.encode()))
    page.get_by_text("categories.json: a JSON array").wait_for()
    assert page.get_by_label("Class", exact=True).input_value() == "Category"
    console.expect("answered 422")
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_role("alert").get_by_text("unknown_property").wait_for()
    page.get_by_label("Leave out what the class does not have").check()
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "Done: 2 created")
    assert console.api("GET", f"{R}/objects/Category/902")["sortOrder"] == 3


def test_tables_of_sqlite_are_chosen(console):
    data = database(console, """
        PRAGMA page_size = 512;
        CREATE TABLE kinds (nr INTEGER PRIMARY KEY, "the, name" TEXT DEFAULT '(x', rank INT, CONSTRAINT one UNIQUE ("the, name"));
        CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT /* a comment, */, sortOrder INT, more TEXT);
        CREATE VIEW seen AS SELECT * FROM kinds;
        CREATE TABLE [] (a);
        INSERT INTO kinds VALUES (901, 'one', 5), (902, 'two', 6);
        INSERT INTO category VALUES (903, 'three', 7, 'x');
        """ + "".join(f"CREATE TABLE filler{number} (a_column_with_a_long_name_{'x' * 700} TEXT);" for number in range(40)))
    page = console.page("#/store/transfer")
    choose(page, "made.sqlite", data)
    page.get_by_text("SQLite with 43 tables").wait_for()
    assert page.get_by_label("Class for category").input_value() == "Category"
    assert page.get_by_label("Class for kinds").input_value() == "" and page.get_by_label("Class for seen").count() == 0
    # One table: its columns are mapped, and what has no property is left out.
    assert page.get_by_label("Property for id").input_value() == "id" and page.get_by_label("Property for more").input_value() == ""
    page.get_by_label("Class for category").select_option("")
    assert page.get_by_role("button", name="Import", exact=True).is_disabled()
    page.get_by_label("Class for kinds").select_option("Category")
    page.get_by_label("Property for nr").select_option("id")
    page.get_by_label("Property for the, name").select_option("name")
    console.screenshot(page, "transfer-sqlite")
    page.get_by_role("button", name="Try without writing").click()
    said(page, "this would be 2 created")
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "Done: 2 created")
    one = console.api("GET", f"{R}/objects/Category/901")
    assert (one["name"], one["sortOrder"]) == ("one", None), one
    # Both: by the names of their columns.
    page.get_by_label("Class for category").select_option("Category")
    console.expect("answered 422")
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_text(re.compile("^Row ")).wait_for()


def test_an_export_as_sqlite_comes_in_again(console):
    page = console.page("#/store/transfer/Category")
    page.get_by_label("Format").select_option("sqlite")
    data = exported(page)
    total = count(console, "Category")
    for key in ("1", "2"):
        console.api("DELETE", f"{R}/objects/Category/{key}")
    choose(page, "store.sqlite", data)
    # The table that names the classes is none of them.
    assert page.get_by_label("Class for Category").input_value() == "Category" and page.get_by_label("Class for _realm_names").count() == 0
    page.get_by_label("Change objects that exist already").check()
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, f"Done: 2 created, {total - 2} changed")


def test_an_export_says_what_its_tables_are(console):
    console.realm_server(data=True)
    classes = [{"name": name, "primaryKey": "id", "properties": [{"name": "id", "type": "int"}, *({"name": one, "type": "int"} for one in ("x", "X")), {"name": "l", "type": "int", "collection": "list"}]} for name in ("A", "a")]
    for name in ("from", "to"):
        console.api("POST", "/v1/realms", {"name": name, "schema": {"classes": classes}})
    console.api("POST", "/v1/realms/from/objects/a", {"id": 1, "x": 2, "X": 3, "l": [4]})
    page = console.page("#/from/transfer")
    page.get_by_label("Format").select_option("sqlite")
    data = exported(page)
    page = console.page("#/to/transfer")
    choose(page, "from.sqlite", data)
    page.get_by_text("SQLite with 4 tables").wait_for()
    assert [page.get_by_label(f"Class for {name}", exact=True).input_value() for name in ("A", "a_2", "A_l", "a_2_l")] == ["A", "a", "", ""]
    page.get_by_label("Class for A", exact=True).select_option("")
    assert [page.get_by_label(f"Property for {name}", exact=True).input_value() for name in ("id", "x", "X_2")] == ["id", "x", "X"]
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "Done: 1 created")
    one = console.api("GET", "/v1/realms/to/objects/a/1")
    assert (one["x"], one["X"], one["l"]) == (2, 3, [4]), one


def test_files_of_other_kinds_say_what_to_do(console):
    page = console.page("#/store/transfer")
    for name, data, advice in (("a.realm", bytes(16) + b"T-DB" + bytes(100), "on the screen Realms"), ("a.xlsx", b"PK\3\4" + bytes(100), "save the sheet as CSV"),
                               ("a.sqlite", b"SQLite format 3\0" + b"\xff" * 2000, "damaged"), ("b.sqlite", b"SQLite format 3\0" + bytes(50), "damaged")):
        choose(page, name, data)
        page.get_by_role("alert").get_by_text(advice).wait_for()
        assert page.get_by_role("button", name="Import", exact=True).count() == 0


def test_pasted_csv_is_mapped_tried_and_imported(console):
    page = console.page("#/store/transfer")
    paste(page, 'id;label;wrong\n9007199254740993;"a ""b"" <i>;\nc";x\n902;;y\n')
    page.get_by_label("Class", exact=True).select_option("Category")
    assert page.get_by_label("Property for id").input_value() == "id"
    assert page.get_by_label("Property for wrong").input_value() == ""
    page.get_by_label("Property for label").select_option("name")
    console.screenshot(page, "transfer-import")
    before = count(console, "Category")
    paste(page, 'id;name;wrong\n9007199254740993;"a ""b"" <i>;\nc";x\n902;d;y\n')
    page.get_by_role("button", name="Try without writing").click()
    said(page, "this would be 2 created")
    assert count(console, "Category") == before
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "Done: 2 created")
    # All digits, quotes, and the line end within a cell.
    assert console.api("GET", f"{R}/objects/Category/9007199254740993")["name"] == 'a "b" <i>;\nc'
    console.eventually(lambda: count(console, "Category") == before + 2)


def test_a_mistake_names_its_line(console):
    console.expect("answered 422", "answered 409")
    page = console.page("#/store/transfer")
    before = count(console, "Category")
    paste(page, 'id,name\n901,"two\nlines"\n\n902,ok\nx9,wrong\n')
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Line 6:").wait_for()
    page.get_by_text("x9,wrong").last.wait_for()
    assert count(console, "Category") == before
    # A line with another number of cells is found before anything is sent.
    paste(page, "id,name\n901,a\n902,b,c\n")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Line 3:").wait_for()
    # What exists is changed only if that is asked for.
    paste(page, "id,name\n1,Changed\n")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("alert").get_by_text("duplicate_key").wait_for()
    page.get_by_label("Change objects that exist already").check()
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "0 created, 1 changed")
    assert console.api("GET", f"{R}/objects/Category/1")["name"] == "Changed"


def test_what_spreadsheets_write_is_understood(console):
    page = console.page("#/store/transfer")
    paste(page, "sku\tname\tdescription\tprice\tcost\tstock\tcreatedAt\tdiscontinued\nZ-1\tA, b\t\"x\"\t12.50\t1.5\t3\t2024-02-29\tTRUE\nZ-2\tC\ty\t0.10\t2\t4\t2024-02-29 10:30\tno\n")
    assert page.get_by_label("Class", exact=True).input_value() == "Product"
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "Done: 2 created")
    first, second = (console.api("GET", f"{R}/objects/Product/{key}") for key in ("Z-1", "Z-2"))
    assert (first["name"], first["price"], first["createdAt"], first["discontinued"]) == ("A, b", "12.50", "2024-02-29T00:00:00Z", True)
    assert (second["createdAt"], second["discontinued"]) == ("2024-02-29T10:30:00Z", False)


def test_ndjson_of_one_class(console):
    page = console.page("#/store/transfer")
    paste(page, '{"id": 901, "name": "a"}\n{"id": 902, "name": null}\n')
    page.get_by_label("Class", exact=True).select_option("Category")
    console.expect("answered 422")
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_text("Line 2:").wait_for()
    page.get_by_label("Keep what was imported before a mistake").check()
    paste(page, '{"id": 901, "name": "a"}\n{"id": 902, "name": "b"}\n')
    page.get_by_label("Class", exact=True).select_option("Category")
    page.get_by_role("button", name="Import", exact=True).click()
    said(page, "Done: 2 created")
    assert count(console, "Category", "id IN {901, 902}") == 2


def test_a_long_import_shows_progress_and_ends_by_cancel(console):
    page = console.page("#/store/transfer")
    before = count(console, "Category")
    path = os.path.join(console.server.folder, "long.csv")
    with open(path, "w") as file:
        file.write("id,name\n" + "".join(f"{number},{'x' * 40} {number}\n" for number in range(10_000, 260_000)))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file…").click()
    chooser.value.set_files(path)
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator(".toast progress").wait_for()
    page.locator(".toast").get_by_role("button", name="Cancel").click()
    said(page, "Ended.")
    assert page.locator(".toast progress").count() == 0
    # Nothing of it, or all: it is one transaction.
    console.pause(3)
    assert count(console, "Category") in (before, before + 250_000)
