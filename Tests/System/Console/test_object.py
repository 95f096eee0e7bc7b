# SPDX-License-Identifier: Apache-2.0
"""The screen of one object: every type edited and read back, conflicts, undo, create, duplicate, delete, links, bulk."""

import json
import os
import tempfile

import every_type
import test_access
from every_type import SCALARS, TYPED, stored

ALL = "#/types/object/All/1"
OBJECTS = "/v1/realms/types/objects"


def open_all(console, **options):
    path = every_type.realm(console)
    page = console.page(ALL, **options)
    page.get_by_role("heading", name="All 1").wait_for()
    return path, page


def row(page, name):
    return page.locator(f'.property[data-name="{name}"]')


def save(page):
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".toast", has_text="Saved.").get_by_role("button", name="Dismiss").click()


def test_every_scalar_is_edited_and_read_back(console):
    path, page = open_all(console)
    rounds = max(len(values) for values in TYPED.values())
    for turn in range(rounds):
        for name in ("", "Optional"):
            for kind, values in TYPED.items():
                if name and turn == 0:
                    row(page, kind + name).get_by_role("button", name="set", exact=False).first.click()
                row(page, kind + name).locator("input.mono, textarea").first.fill(values[turn % len(values)][0])
        save(page)
        for name in ("", "Optional"):
            for kind, values in TYPED.items():
                typed, answer = values[turn % len(values)]
                assert stored(console, path, kind + name) == answer, (kind + name, stored(console, path, kind + name), answer)
                shown = row(page, kind + name).locator("input.mono, textarea").first.input_value()
                assert shown == typed, (kind, shown, typed)
    row(page, "bool").get_by_role("checkbox").check()
    for kind in TYPED:
        row(page, kind + "Optional").get_by_role("button", name="set to null").click()
    save(page)
    assert stored(console, path, "bool") == "true"
    assert all(stored(console, path, kind + "Optional") == "null" for kind in TYPED)


def test_every_type_in_mixed_is_edited_and_read_back(console):
    path, page = open_all(console)
    for kind, values in TYPED.items():
        for typed, answer in values:
            page.get_by_label("mixed: type").select_option("null")
            page.get_by_label("mixed: type").select_option(kind)
            row(page, "mixed").locator("input.mono, textarea").first.fill(typed)
            save(page)
            assert stored(console, path, "mixed") == every_type.in_mixed(kind, answer), (kind, typed, stored(console, path, "mixed"))
            assert page.get_by_label("mixed: type").input_value() == kind
            assert row(page, "mixed").locator("input.mono, textarea").first.input_value() == typed
    page.get_by_label("mixed: type").select_option("bool")
    row(page, "mixed").get_by_role("checkbox").check()
    save(page)
    assert stored(console, path, "mixed") == "true"
    page.get_by_label("mixed: type").select_option("object")
    page.get_by_role("button", name="mixed: choose").click()
    page.get_by_label("Class", exact=True).select_option("Target")
    page.get_by_role("button", name="@@c/d").click()
    save(page)
    assert stored(console, path, "mixed") == '{"$link":{"class":"Target","key":"@@c/d"}}'
    page.get_by_label("mixed: type").select_option("list")
    save(page)
    row(page, "mixed").get_by_role("link", name="mixed: open").click()
    page.get_by_text("Nothing is in here").wait_for()


def test_values_that_do_not_fit_are_told_at_the_property(console):
    path, page = open_all(console)
    for kind, text in (("int", "9223372036854775808"), ("double", "1,5"), ("date", "yesterday"), ("uuid", "x"), ("objectId", "x"), ("decimal128", "one")):
        field = row(page, kind).locator("input.mono").first
        field.fill(text)
        assert "Expected" in row(page, kind).get_by_role("alert").inner_text()
        assert field.get_attribute("aria-invalid") == "true"
        row(page, kind).locator("input.mono").first.fill(TYPED[kind][0][0])
        assert row(page, kind).get_by_role("alert").count() == 0
    console.expect("answered 422")
    row(page, "decimal128").locator("input.mono").fill("1e9999")
    page.keyboard.press("Control+s")
    row(page, "decimal128").get_by_role("alert").wait_for()
    assert stored(console, path, "int") == "0"
    # Inside an embedded object it is told at the part.
    row(page, "decimal128").locator("input.mono").fill("1")
    row(page, "child").get_by_role("button", name="set").click()
    row(page, "child").get_by_role("button", name="child.inner: set", exact=True).click()
    row(page, "child").get_by_label("child.inner.weight").fill("1e999")
    page.keyboard.press("Control+s")
    page.locator(".part .part").filter(has_text="weight").get_by_role("alert").wait_for()


def test_bytes_up_to_megabytes(console):
    path, page = open_all(console)
    page.get_by_label("data: hexadecimal").fill("00 ff 10")
    save(page)
    assert stored(console, path, "data") == '"AP8Q"'
    content = os.urandom(1 << 20)
    for size in (1000, 1 << 20):
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="data: upload").click()
        chooser.value.set_files({"name": "x.bin", "mimeType": "application/octet-stream", "buffer": content[:size]})
        save(page)
        status, _, answer = console.raw("GET", path + "/data", headers={"Accept": "application/octet-stream"})
        assert status == 200 and answer == content[:size]
        with page.expect_download() as download:
            page.get_by_role("button", name="data: download").click()
        with open(download.value.path(), "rb") as file:
            assert file.read() == content[:size]
    # A picture is shown.
    pixel = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000" "1f15c4890000000d49444154789c6360f8cf500f00030101005e9fa2b60000000049454e44ae426082")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="dataOptional: set").click()
        page.get_by_role("button", name="dataOptional: upload").click()
    chooser.value.set_files({"name": "x.png", "mimeType": "image/png", "buffer": pixel})
    save(page)
    assert page.get_by_label("dataOptional: hexadecimal").input_value().startswith("89 50 4e 47")


def test_invisible_characters_keep_their_place(console):
    path, page = open_all(console)
    text = "a\r\nb\u202e\u0000c\"\\"
    console.api("PATCH", path, {"string": text})
    area = row(page, "string").locator("textarea")
    console.eventually(lambda: "\\u202e" in area.input_value())
    area.fill(area.input_value() + "!")
    save(page)
    assert json.loads(stored(console, path, "string")) == text + "!"


def test_dates_by_the_local_control(console):
    path, page = open_all(console)
    page.get_by_label("date: local time", exact=True).fill("2020-02-29T12:34:56")
    save(page)
    expected = page.evaluate("new Date('2020-02-29T12:34:56').toISOString()").replace(".000Z", "Z")
    assert json.loads(stored(console, path, "date")) == expected


def test_links_and_embedded_objects(console):
    path, page = open_all(console)
    page.get_by_role("button", name="link: set").click()
    page.get_by_label("Search").fill("BEE")
    page.get_by_role("button", name="b bee").click()
    row(page, "child").get_by_role("button", name="child: set", exact=True).click()
    row(page, "child").get_by_label("child.label").fill("first")
    row(page, "child").get_by_role("button", name="child.count: set", exact=True).click()
    row(page, "child").get_by_label("child.count", exact=True).fill("9223372036854775807")
    row(page, "child").get_by_role("button", name="child.inner: set", exact=True).click()
    row(page, "child").get_by_label("child.inner.weight").fill("-0.0")
    row(page, "child").get_by_label("child.any: type").select_option("int")
    row(page, "child").get_by_label("child.any", exact=True).fill("9007199254740993")
    save(page)
    assert stored(console, path, "link") == '{"$link":{"class":"Target","key":"b"}}'
    assert stored(console, path, "child") == '{"label":"first","count":9223372036854775807,"tags":[],"friend":null,"inner":{"weight":-0.0,"points":[]},"any":9007199254740993}'
    # One member changes alone: the collections inside stay.
    console.api("POST", "/v1/realms/types/batch", {"ops": [{"list": {"class": "All", "key": "1", "property": "child.tags", "ops": [{"add": "t"}]}}]})
    row(page, "child").get_by_text("[1]").wait_for()
    row(page, "child").get_by_label("child.label").fill("second")
    save(page)
    assert json.loads(stored(console, path, "child"))["tags"] == ["t"]
    row(page, "child").get_by_role("link", name="child.tags: open").click()
    page.locator(".elements li").filter(has_text="t").wait_for()
    page.go_back()
    row(page, "child").get_by_role("button", name="child: set to null").click()
    row(page, "link").get_by_role("button", name="link: set to null").click()
    save(page)
    assert stored(console, path, "child") == "null" and stored(console, path, "link") == "null"


def test_undo_takes_back_the_last_write(console):
    path, page = open_all(console)
    row(page, "int").locator("input").fill("7")
    page.get_by_role("button", name="Save", exact=True).click()
    console.eventually(lambda: stored(console, path, "int") == "7")
    page.get_by_role("button", name="Undo").click()
    console.eventually(lambda: stored(console, path, "int") == "0")
    console.eventually(lambda: row(page, "int").locator("input").input_value() == "0")
    # Not when somebody has written since.
    row(page, "int").locator("input").fill("8")
    page.get_by_role("button", name="Save", exact=True).click()
    console.eventually(lambda: stored(console, path, "int") == "8")
    console.api("PATCH", path, {"string": "other"})
    console.expect("answered 412")
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Precondition failed").wait_for()
    assert stored(console, path, "int") == "8"


def test_two_browsers_edit_one_object(console):
    path, first = open_all(console)
    second = console.page(ALL, context=console.context())
    row(second, "int").locator("input").fill("2")
    row(second, "double").locator("input").fill("2.5")
    row(first, "int").locator("input").fill("1")
    row(first, "string").locator("textarea").fill("first")
    save(first)
    # It is shown at once at the properties concerned, and the edit stays.
    row(second, "int").get_by_text("Changed meanwhile to 1").wait_for()
    console.eventually(lambda: row(second, "string").locator("textarea").input_value() == "first")
    assert row(second, "int").locator("input").input_value() == "2"
    second.get_by_role("button", name="Save", exact=True).click()
    dialog = second.get_by_role("dialog", name="This object has changed")
    cells = dialog.locator("tbody tr").locator("th, td").all_inner_texts()
    assert [cell.strip() for cell in cells] == ["int", "0", "1", "2"], cells
    assert dialog.get_by_role("button", name="Save the chosen").is_disabled()
    dialog.get_by_role("radio").nth(1).check()
    dialog.get_by_role("button", name="Save the chosen").click()
    console.eventually(lambda: stored(console, path, "int") == "2" and stored(console, path, "double") == "2.5")
    assert stored(console, path, "string") == '"first"'


def test_a_choice_is_made_inside_embedded_objects(console):
    one = console.api("GET", "/v1/realms/store/objects/Customer?limit=1&where=address%20!%3D%20null")["items"][0]
    path = f"/v1/realms/store/objects/Customer/{one['_id']}"
    console.api("PATCH", path, {"address": {"street": "Street 0", "city": "City 0", "postalCode": "0"}})
    page = console.page(f"#/store/object/Customer/{one['_id']}")
    address = row(page, "address")
    address.get_by_label("address.street", exact=True).or_(address.get_by_label("street", exact=True)).first.fill("Street mine")
    address.get_by_label("address.postalCode", exact=True).or_(address.get_by_label("postalCode", exact=True)).first.fill("1 mine")
    console.api("PATCH", path, {"address": {"street": "Street theirs", "city": "City theirs"}})
    address.get_by_text("Changed meanwhile to").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="This object has changed")
    cells = dialog.locator("tbody tr").locator("th, td").all_inner_texts()
    # Only what both have changed is asked.
    assert [cell.strip() for cell in cells] == ["address.street", "Street 0", "Street theirs", "Street mine"], cells
    dialog.get_by_text("Also changed, and not touched by you: address.city").wait_for()
    dialog.get_by_role("radio").nth(1).check()
    dialog.get_by_role("button", name="Save the chosen").click()
    page.locator(".toast", has_text="Saved.").wait_for()
    kept = console.api("GET", path)["address"]
    assert (kept["street"], kept["city"], kept["postalCode"]) == ("Street mine", "City theirs", "1 mine"), kept
    # Without a property that both have changed there is nothing to choose.
    address.get_by_label("address.street", exact=True).or_(address.get_by_label("street", exact=True)).first.fill("Street 2")
    console.api("PATCH", path, {"address": {"city": "City 2"}})
    address.get_by_text("Changed meanwhile to").wait_for()
    address.get_by_role("button", name="Keep mine").click()
    page.get_by_role("button", name="Save", exact=True).click()
    console.eventually(lambda: (lambda now: (now["street"], now["city"]) == ("Street 2", "City 2"))(console.api("GET", path)["address"]))


def test_a_change_that_was_not_seen_is_not_overwritten(console):
    path, page = open_all(console)
    console.expect("answered 412")
    # The event of the change never reaches this page: the condition of the write finds it.
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    row(page, "int").locator("input").fill("5")
    console.api("PATCH", path, {"int": 4, "bool": True})
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="This object has changed")
    dialog.get_by_text("Also changed, and not touched by you: bool").wait_for()
    assert stored(console, path, "int") == "4"
    dialog.get_by_role("button", name="Back to my edits").click()
    assert row(page, "int").locator("input").input_value() == "5"
    row(page, "int").get_by_role("button", name="Take it").click()
    assert row(page, "int").locator("input").input_value() == "4"


def test_edits_outlive_a_reload(console):
    path, page = open_all(console)
    row(page, "int").locator("input").fill("77")
    row(page, "child").get_by_role("button", name="child: set", exact=True).click()
    page.reload()
    console.eventually(lambda: row(page, "int").locator("input").input_value() == "77")
    page.get_by_label("child.label").wait_for()
    row(page, "int").get_by_role("button", name="int: revert").click()
    row(page, "child").get_by_role("button", name="child: revert").click()
    assert page.get_by_role("button", name="Save", exact=True).is_disabled()
    assert page.evaluate("Object.keys(sessionStorage).filter((one) => one.startsWith('rr:draft')).length") == 0


def test_create_duplicate_and_delete(console):
    path, page = open_all(console)
    page.goto(console.url + "/#/types/object/All/@new")
    row(page, "_id").locator("input").fill("9223372036854775807")
    row(page, "decimal128").locator("input").fill("1.10")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("heading", name="All 9223372036854775807").wait_for()
    assert stored(console, OBJECTS + "/All/9223372036854775807", "decimal128") == '"1.10"'
    # A duplicate has the collections too.
    console.api("PATCH", path, {"mixedList": [1, 1.0, "1", [{"$numberFloat": "2"}]], "childList": [{"label": "c", "inner": {"weight": {"$numberDouble": "-0.0"}}}], "doubleSet": [{"$numberDouble": "-0.0"}]})
    page.goto(console.url + "/" + ALL)
    page.get_by_role("link", name="Duplicate").click()
    row(page, "_id").locator("input").fill("2")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("heading", name="All 2").wait_for()
    for name in ("mixedList", "childList", "doubleSet", "date"):
        assert stored(console, OBJECTS + "/All/2", name) == stored(console, path, name)
    # A class whose keys the server makes up.
    page.goto(console.url + "/#/types/object/NoKey/@new")
    row(page, "title").locator("textarea").fill("made")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("heading", name="NoKey @k").wait_for()
    console.expect("answered 409")
    page.goto(console.url + "/#/types/object/All/@new")
    row(page, "_id").locator("input").fill("2")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("alert").filter(has_text="key").wait_for()


def test_delete_shows_what_goes_with_it_and_can_be_undone(console):
    path, page = open_all(console)
    link = {"$link": {"class": "All", "key": "1"}}
    console.api("PATCH", path, {"child": {"label": "a", "inner": {"weight": 1}}, "childList": [{"label": "b"}], "int": 5})
    first = console.api("POST", OBJECTS + "/NoKey", {"title": "one", "all": link, "alls": [link, link]})["$meta"]["key"]
    before = console.api("GET", path)
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("3 embedded objects are deleted with it.").wait_for()
    dialog.get_by_text("1 × NoKey.all: set to null").wait_for()
    dialog.get_by_text("2 × NoKey.alls: removed").wait_for()
    # The page may hear of it before it has left the object.
    console.expect("answered 404")
    dialog.get_by_role("button", name="Delete").click()
    console.eventually(lambda: console.raw("GET", path)[0] == 404)
    page.get_by_role("button", name="Undo").click()
    console.eventually(lambda: console.raw("GET", path)[0] == 200)
    after = console.api("GET", path)
    assert {**after, "$meta": 0} == {**before, "$meta": 0}
    origin = console.api("GET", f"{OBJECTS}/NoKey/{first}")
    assert origin["all"] == link and origin["alls"] == [link, link]


def test_incoming_links_by_class_and_property(console):
    path, page = open_all(console)
    link = {"$link": {"class": "All", "key": "1"}}
    page.get_by_text("0 objects").wait_for()
    console.api("POST", OBJECTS + "/NoKey", [{"title": str(number), "all": link} for number in range(25)])
    page.get_by_text("25 objects").wait_for()
    assert page.locator(".links .chip").count() == 20
    page.locator(".links").get_by_role("button", name="Next").click()
    console.eventually(lambda: page.locator(".links .chip").count() == 5)
    page.get_by_label("Class and property").select_option("NoKey.alls")
    page.get_by_text("0 objects").wait_for()


BULK = """(chosen) => Promise.all(['/console/screens/object/bulk.js', '/console/core/api.js'].map((one) => import(one))).then(async ([{ bulkActions }, { call }]) => {
  const schema = await call('GET', '/v1/realms/types/schema');
  const node = document.createElement('div');
  node.id = 'bulk';
  const nodes = bulkActions({ realm: 'types', className: chosen.name, schema, keys: () => chosen.keys, where: () => chosen.where, args: chosen.args });
  node.append(...nodes);
  document.querySelector('main').prepend(node);
})"""


def test_bulk_edit_and_delete(console):
    _, page = open_all(console)
    console.api("POST", OBJECTS + "/Target", [{"name": f"n{number:04}", "note": "old"} for number in range(1200)])
    notes = lambda note: console.api("GET", f"{OBJECTS}/Target?limit=0&count=exact&where=note%20%3D%3D%20%22{note}%22")["count"]

    def chosen(keys=(), where=None, args=None):
        page.evaluate("document.querySelector('#bulk')?.remove()")
        page.evaluate(BULK, {"name": "Target", "keys": list(keys), "where": where, "args": args})
        return page.locator("#bulk")

    def edit(note, count):
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="note: set", exact=True).click()
        dialog.get_by_label("note", exact=True).fill(note)
        assert dialog.get_by_role("button", name=f"Change {count}").is_disabled()
        dialog.get_by_role("button", name="Preview").click()
        dialog.get_by_text("A dry run has done this").wait_for()
        number = count.split()[0].replace(",", "")
        if int(number) > 100:
            assert dialog.get_by_role("button", name=f"Change {count}").is_disabled()
            dialog.get_by_label("Type ").fill(number)
        dialog.get_by_role("button", name=f"Change {count}").click()

    # A selection, undone.
    chosen(["n0001", "n0002", "@@c/d"]).get_by_role("button", name="Edit…").click()
    edit("new", "3 objects")
    console.eventually(lambda: notes("new") == 3)
    page.get_by_role("button", name="Undo").click()
    console.eventually(lambda: notes("new") == 0 and notes("old") == 1200)
    # What a query finds, too many to be undone.
    chosen(where="note == $0", args='["old"]').get_by_role("button", name="Edit…").click()
    edit("all", "1,200 objects")
    console.eventually(lambda: notes("all") == 1200)
    # More matches than were previewed: nothing is written.
    chosen(where="note == 'all'").get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("A dry run has done this").wait_for()
    console.api("POST", OBJECTS + "/Target", {"name": "more", "note": "all"})
    console.expect("answered 409")
    assert dialog.get_by_role("button", name="Delete 1,200").is_disabled()
    dialog.get_by_label("Type 1200 to delete").fill("120")
    assert dialog.get_by_role("button", name="Delete 1,200").is_disabled()
    dialog.get_by_label("Type 1200 to delete").fill("1,200")
    dialog.get_by_role("button", name="Delete 1,200").click()
    dialog.get_by_role("alert").wait_for()
    assert notes("all") == 1201
    page.keyboard.press("Escape")
    # Delete, undone.
    chosen(where="name BEGINSWITH 'n00'").get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_text("A dry run has done this").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Delete 100").click()
    console.eventually(lambda: notes("all") == 1101)
    page.get_by_role("button", name="Undo").last.click()
    console.eventually(lambda: notes("all") == 1201)


def test_hostile_names_and_values(console):
    console.realm_server(sample=False)
    name = "<b>\u202ex & \"y\""
    console.api("POST", "/v1/realms", {"name": "types", "schema": {"classes": [{"name": "Odd", "type": "object", "primaryKey": "$id", "properties": [{"name": "$id", "type": "string"}, {"name": name, "type": "string"}]}]}})
    key = "<script>alert(1)</script>/\u202e" + "k" * 2000
    console.api("POST", "/v1/realms/types/objects/Odd", {"$$id": key, name: "<img src=x onerror=alert(1)>" * 400})
    made = console.api("GET", "/v1/realms/types/objects/Odd")["items"][0]["$meta"]["key"]
    page = console.page()
    page.evaluate("([key]) => { location.hash = '#/types/object/Odd/' + encodeURIComponent(key); }", [made])
    page.locator(".property").nth(1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("main img, main b, main script").count() == 0
    page.locator(".property textarea").fill("javascript:alert(1)")
    save(page)
    assert console.api("GET", "/v1/realms/types/objects/Odd")["items"][0][name] == "javascript:alert(1)"


def test_screenshots(console):
    path, page = open_all(console, width=1440, height=900)
    console.api("PATCH", path, {"string": "Two lines\nof text", "child": {"label": "embedded", "inner": {"weight": 1.5}}, "link": {"$link": {"class": "Target", "key": "a"}}, "mixed": [1, "x"]})
    for dark in (False, True):
        for width in (1440, 360):
            shown = console.page(ALL, dark=dark, width=width, height=900)
            shown.get_by_label("child.label").wait_for()
            console.pause(0.3)
            assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            console.screenshot(shown, f"object-{'dark' if dark else 'light'}-{width}")
            shown.close()


def test_the_rules_of_axe(console):
    script = test_access.axe()
    if script is None:
        return
    path, page = open_all(console)
    console.api("PATCH", path, {"child": {"label": "x", "inner": {"weight": 1}}, "mixed": 1, "mixedList": [1, None, [1]], "link": {"$link": {"class": "Target", "key": "a"}}})
    page.get_by_label("child.label").wait_for()
    row(page, "int").locator("input").fill("x")
    found = {"object": test_access.violations(console, page, script)}
    page.get_by_role("button", name="link: choose").click()
    page.get_by_role("button", name="b bee").wait_for()
    found["pick"] = test_access.violations(console, page, script)
    page.keyboard.press("Escape")
    row(page, "int").locator("input").fill("3")
    console.api("PATCH", path, {"int": 4})
    row(page, "int").get_by_text("Changed meanwhile to 4").wait_for()
    found["contested"] = test_access.violations(console, page, script)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("dialog").get_by_role("radio").first.wait_for()
    found["differences"] = test_access.violations(console, page, script)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").wait_for()
    found["delete"] = test_access.violations(console, page, script)
    page.keyboard.press("Escape")
    page.goto(console.url + "/#/types/collection/All/1/mixedList")
    page.locator(".elements li").nth(2).wait_for()
    found["collection"] = test_access.violations(console, page, script)
    page.get_by_role("button", name="Edit 0", exact=True).click()
    page.get_by_role("dialog").wait_for()
    found["element"] = test_access.violations(console, page, script)
    assert not any(found.values()), json.dumps(found, indent=1)


def test_what_may_not_be_done_is_not_shown(console):
    path = every_type.realm(console)
    console.api("PATCH", path, {"string": "long " * 200, "mixedList": [1, [2]], "mixed": {"x": 1}, "child": {"label": "inside", "tags": ["t"]}})
    context = console.context()
    context.route("**/v1/me", lambda route: route.fulfill(json={"principal": {"kind": "key", "id": "k", "name": "reader"}, "roles": ["reader"], "may": {"types": {"All": ["read", "subscribe"]}}}))
    page = console.page(ALL, context=context)
    row(page, "string").get_by_text("long long").wait_for()
    assert row(page, "string").inner_text().count("long") == 200
    assert page.locator("main").locator("input, textarea").count() == 0
    assert page.locator("main button:visible").all_inner_texts() == [], page.locator("main button:visible").all_inner_texts()
    row(page, "child").get_by_text("inside").wait_for()
    assert row(page, "child").get_by_role("link", name="child.tags: open").count() == 1 == row(page, "mixed").get_by_role("link", name="mixed: open").count()
    row(page, "mixedList").get_by_role("link", name="mixedList: open").click()
    page.locator(".elements li").nth(1).wait_for()
    assert page.locator("main button:visible").all_inner_texts() == []
    page.get_by_role("link", name="Open 1").click()
    page.get_by_role("heading", name="[1]").wait_for()
