# SPDX-License-Identifier: Apache-2.0
"""The screen of one collection: lists, sets and dictionaries of every type, each edit one element operation, undone, live."""

import json

import every_type
from every_type import KINDS, TYPED, in_mixed, stored

BATCH = "/v1/realms/types/batch"


def opened(console, property, values=None, **options):
    path = every_type.realm(console)
    if values is not None:
        console.api("PATCH", path, {property: values})
    page = console.page(f"#/types/collection/All/1/{property}", **options)
    page.get_by_role("heading", name="All 1").wait_for()
    return path, page


def go(page, property):
    page.evaluate("(name) => { location.hash = '#/types/collection/All/1/' + encodeURIComponent(name); }", property)
    page.get_by_role("heading", name=property).wait_for()


def dialog(page):
    return page.get_by_role("dialog")


def saved(page):
    dialog(page).get_by_role("button", name="Save").click()
    dialog(page).wait_for(state="detached")


def add(page, text, key=None, optional=False, kind=None):
    """Adds a value by the dialog."""
    page.get_by_role("button", name="Add…", exact=True).click()
    if key is not None:
        dialog(page).get_by_label("Key").fill(key)
    if kind:
        dialog(page).get_by_label("Value: type").select_option(kind)
    if optional:
        dialog(page).get_by_role("button", name="Value: set", exact=True).click()
    if text is not None:
        field = dialog(page).locator("input.mono, textarea:not([readonly])").first
        field.fill(text)
    saved(page)


def operations(page):
    """The bodies of the batches that the page sends from now on."""
    sent = []
    page.on("request", lambda request: sent.append(json.loads(request.post_data)["ops"]) if request.url.endswith("/batch") else None)
    return sent


def one_type_in_every_collection(console, kind):
    path, page = opened(console, kind + "List")
    for collection in KINDS:
        for optional in (False, True):
            name = f"{kind}{collection.capitalize()}{'Optional' if optional else ''}"
            go(page, name)
            values = TYPED[kind]
            for index, (typed, _) in enumerate(values):
                add(page, typed, key=f"k{index}" if collection == "dictionary" else None, optional=optional)
                page.locator(".elements li").nth(index).wait_for()
            if optional:
                add(page, None, key="null" if collection == "dictionary" else None)
                page.locator(".elements .null").wait_for()
            expected = [answer for _, answer in values] + (["null"] if optional else [])
            answer = stored(console, path, name)
            if collection == "list":
                assert answer == f"[{','.join(expected)}]", (name, answer)
            elif collection == "dictionary":
                entries = dict(zip([f"k{index}" for index in range(len(values))] + ["null"], expected))
                assert answer == "{" + ",".join(f'"{key}":{value}' for key, value in entries.items()) + "}", (name, answer)
            else:
                assert len(json.loads(answer)) == len(expected) and all(one in answer for one in expected), (name, answer)
            assert page.locator(".elements li").count() == len(expected)
            # What is shown for editing is what was typed.
            if collection != "set":
                page.get_by_role("button", name="Edit " + ("k0" if collection == "dictionary" else "0"), exact=True).click()
                assert dialog(page).locator("input.mono, textarea").first.input_value() == values[0][0]
                page.keyboard.press("Escape")


def test_collections_of_int(console):
    one_type_in_every_collection(console, "int")


def test_collections_of_string(console):
    one_type_in_every_collection(console, "string")


def test_collections_of_date(console):
    one_type_in_every_collection(console, "date")


def test_collections_of_float(console):
    one_type_in_every_collection(console, "float")


def test_collections_of_double(console):
    one_type_in_every_collection(console, "double")


def test_collections_of_decimal128(console):
    one_type_in_every_collection(console, "decimal128")


def test_collections_of_ids(console):
    one_type_in_every_collection(console, "objectId")
    one_type_in_every_collection(console, "uuid")


def test_collections_of_bool_and_data(console):
    path, page = opened(console, "boolList")
    for collection in KINDS:
        for optional in ("", "Optional"):
            key = "k" if collection == "dictionary" else None
            name = collection.capitalize() + optional
            go(page, "bool" + name)
            page.get_by_role("button", name="Add…", exact=True).click()
            if key:
                dialog(page).get_by_label("Key").fill(key)
            if optional:
                dialog(page).get_by_role("button", name="Value: set", exact=True).click()
            dialog(page).get_by_role("checkbox").check()
            saved(page)
            go(page, "data" + name)
            add(page, "00ff", key=key, optional=bool(optional))
            for kind, value in (("bool", True), ("data", "AP8=")):
                assert json.loads(stored(console, path, kind + name)) == ({"k": value} if key else [value])


def test_every_type_in_collections_of_mixed(console):
    path, page = opened(console, "mixedList")
    for collection in KINDS:
        go(page, "mixed" + collection.capitalize())
        expected = []
        for kind, values in TYPED.items():
            # A set holds equal numbers only once, whatever their types are.
            for typed, answer in values[-1:] if collection == "set" else values[:2]:
                add(page, typed, key=f"k{len(expected):02}" if collection == "dictionary" else None, kind=kind)
                expected.append(in_mixed(kind, answer))
                page.locator(".elements li").nth(len(expected) - 1).wait_for()
        answer = stored(console, path, "mixed" + collection.capitalize())
        if collection == "list":
            assert answer == f"[{','.join(expected)}]", answer
        elif collection == "dictionary":
            assert answer == "{" + ",".join(f'"k{index:02}":{value}' for index, value in enumerate(expected)) + "}", answer
        else:
            assert len(json.loads(answer)) == len(expected) and all(one in answer for one in expected), answer


def test_a_list_is_edited_by_element_operations(console):
    path, page = opened(console, "stringList", ["a", "b", "c"])
    sent = operations(page)
    state = lambda: json.loads(stored(console, path, "stringList"))
    row = lambda index: page.locator(".elements li").nth(index)
    row(2).wait_for()
    # Moved by keys; the focus goes along.
    row(0).focus()
    page.keyboard.press("Alt+ArrowDown")
    console.eventually(lambda: state() == ["b", "a", "c"])
    console.eventually(lambda: page.evaluate("document.activeElement.textContent").startswith("1a"))
    page.keyboard.press("Alt+ArrowDown")
    console.eventually(lambda: state() == ["b", "c", "a"])
    # By drag.
    console.eventually(lambda: row(2).locator(".value").inner_text() == "a")
    row(2).drag_to(row(0))
    console.eventually(lambda: state() == ["a", "b", "c"])
    console.eventually(lambda: row(2).locator(".value").inner_text() == "c")
    # Inserted, set, removed by keys.
    row(1).focus()
    page.keyboard.press("Insert")
    dialog(page).locator("textarea").fill("new")
    page.keyboard.press("Control+Enter")
    console.eventually(lambda: state() == ["a", "new", "b", "c"])
    console.eventually(lambda: row(1).locator(".value").inner_text() == "new")
    row(1).focus()
    page.keyboard.press("Enter")
    dialog(page).locator("textarea").fill("changed")
    saved(page)
    console.eventually(lambda: state() == ["a", "changed", "b", "c"])
    console.eventually(lambda: row(1).locator(".value").inner_text() == "changed")
    row(0).focus()
    page.keyboard.press("Delete")
    console.eventually(lambda: state() == ["changed", "b", "c"])
    console.eventually(lambda: page.evaluate("document.activeElement.textContent").startswith("0changed"))
    kinds = [list(one[0]["list"]["ops"][0].items())[0] for one in sent]
    assert kinds == [("move", [0, 1]), ("move", [1, 2]), ("move", [2, 0]), ("insert", [1, "new"]), ("set", [1, "changed"]), ("remove", 0)], kinds
    assert all(len(one) == 1 and len(one[0]["list"]["ops"]) == 1 and one[0]["list"]["ifMatch"] for one in sent)
    console.eventually(lambda: row(0).locator(".value").inner_text() == "changed")
    page.locator(".toast", has_text="Removed.").get_by_role("button", name="Undo").click()
    console.eventually(lambda: state() == ["a", "changed", "b", "c"])
    # Removed altogether, and restored.
    console.eventually(lambda: page.locator(".elements li").count() == 4)
    page.get_by_role("button", name="Remove all…").click()
    dialog(page).get_by_role("button", name="Remove all").click()
    page.get_by_text("Nothing is in here").wait_for()
    assert state() == []
    page.locator(".toast", has_text="Removed all.").get_by_role("button", name="Undo").click()
    console.eventually(lambda: state() == ["a", "changed", "b", "c"])


def test_sets_and_dictionaries(console):
    path, page = opened(console, "intSet", [1, 2])
    page.get_by_role("button", name="Edit 0", exact=True).click()
    dialog(page).locator("input.mono").fill("-5")
    saved(page)
    console.eventually(lambda: json.loads(stored(console, path, "intSet")) == [-5, 2])
    page.locator(".elements li").filter(has_text="-5").focus()
    page.keyboard.press("Delete")
    console.eventually(lambda: json.loads(stored(console, path, "intSet")) == [2])
    console.api("PATCH", path, {"stringDictionary": {"a b": "x", "\u00e9[": "y"}})
    go(page, "stringDictionary")
    page.get_by_role("button", name="Edit a b").click()
    dialog(page).get_by_label("Key").fill("renamed")
    saved(page)
    console.eventually(lambda: json.loads(stored(console, path, "stringDictionary")) == {"\u00e9[": "y", "renamed": "x"})
    page.locator(".toast", has_text="Changed.").last.get_by_role("button", name="Undo").click()
    console.eventually(lambda: json.loads(stored(console, path, "stringDictionary")) == {"\u00e9[": "y", "a b": "x"})
    page.get_by_role("button", name="Edit a b").wait_for()
    page.get_by_role("button", name="Remove \u00e9[").click()
    console.eventually(lambda: json.loads(stored(console, path, "stringDictionary")) == {"a b": "x"})
    # A key that exists is not overwritten by adding, and the server refuses some keys.
    page.get_by_role("button", name="Add…", exact=True).click()
    dialog(page).get_by_label("Key").fill("a b")
    dialog(page).get_by_role("button", name="Save").click()
    page.get_by_text("There is such a key already").wait_for()
    console.expect("answered 422")
    dialog(page).get_by_label("Key").fill("a.b")
    dialog(page).get_by_role("button", name="Save").click()
    dialog(page).locator(".bad").wait_for()
    assert json.loads(stored(console, path, "stringDictionary")) == {"a b": "x"}


def test_links(console):
    link = lambda key: {"$link": {"class": "Target", "key": key}}
    path, page = opened(console, "linkList")
    for collection in ("linkList", "linkSet"):
        go(page, collection)
        for key in ("a", "@@c/d"):
            page.get_by_role("button", name="Add…", exact=True).click()
            dialog(page).get_by_role("button", name=key).first.click()
            page.locator(".elements").get_by_role("link", name=f"Target {key}").wait_for()
        assert json.loads(stored(console, path, collection)) == [link("a"), link("@@c/d")]
    go(page, "linkDictionary")
    page.get_by_role("button", name="Add…", exact=True).click()
    dialog(page).get_by_label("Key").fill("first")
    dialog(page).get_by_role("button", name="Value: set", exact=True).click()
    page.get_by_role("dialog", name="Choose an object").get_by_role("button", name="bee").click()
    saved(page)
    console.eventually(lambda: json.loads(stored(console, path, "linkDictionary")) == {"first": link("b")})
    page.locator(".elements").get_by_role("link", name="Target b").click()
    page.get_by_role("heading", name="Target b").wait_for()


def test_embedded_objects(console):
    path, page = opened(console, "childList", [{"label": "one", "tags": ["t"], "inner": {"weight": 1, "points": [1]}}, {"label": "two"}])
    sent = operations(page)
    page.get_by_role("button", name="Edit 0", exact=True).click()
    dialog(page).get_by_label("Value.inner.weight").fill("Infinity")
    saved(page)
    console.eventually(lambda: json.loads(stored(console, path, "childList"))[0] == {"label": "one", "count": None, "tags": ["t"], "friend": None, "inner": {"weight": "Infinity", "points": [1]}, "any": None})
    assert sent[0][0]["patch"]["body"] == [{"op": "replace", "path": "/childList/0/inner/weight", "value": {"$numberDouble": "Infinity"}}]
    # A collection inside one.
    page.get_by_role("button", name="Edit 0", exact=True).click()
    dialog(page).get_by_role("link", name="Value.inner.points: open").click()
    page.get_by_role("heading", name="points").wait_for()
    add(page, "9223372036854775807")
    console.eventually(lambda: '"points":[1,9223372036854775807]' in stored(console, path, "childList"))
    go(page, "childDictionary")
    page.get_by_role("button", name="Add…", exact=True).click()
    dialog(page).get_by_label("Key").fill("x")
    dialog(page).get_by_role("button", name="Value: set", exact=True).click() if dialog(page).get_by_role("button", name="Value: set", exact=True).count() else None
    dialog(page).get_by_label("Value.label").fill("made")
    saved(page)
    console.eventually(lambda: json.loads(stored(console, path, "childDictionary"))["x"]["label"] == "made")


def test_nested_mixed(console):
    path, page = opened(console, "mixed", {"list": [1, ["deep", {"key": "1"}]], "odd[key": 2})
    page.get_by_role("link", name="Open list").click()
    page.get_by_role("heading", name="All 1 › mixed.list").wait_for()
    page.get_by_role("link", name="Open 1").click()
    page.get_by_role("heading", name="[1]").wait_for()
    add(page, "9007199254740993", kind="int")
    console.eventually(lambda: stored(console, path, "mixed") == '{"list":[1,["deep",{"key":"1"},9007199254740993]],"odd[key":2}')
    page.get_by_role("link", name="Open 1").click()
    page.get_by_role("button", name="Edit key").wait_for()
    add(page, "1.0", key="double", kind="double")
    console.eventually(lambda: '{"key":"1","double":1.0}' in stored(console, path, "mixed") or '{"double":1.0,"key":"1"}' in stored(console, path, "mixed"))
    # Back by the path at the top.
    page.get_by_role("heading").get_by_role("link", name=".list").click()
    page.get_by_role("button", name="Move down 0").click()
    console.eventually(lambda: stored(console, path, "mixed").startswith('{"list":[["deep"'))


def test_pages_and_live_changes(console):
    path, page = opened(console, "intList", list(range(250)))
    page.get_by_text("1 to 100 of 250").wait_for()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("201 to 250 of 250").wait_for()
    console.api("POST", BATCH, {"ops": [{"list": {"class": "All", "key": "1", "property": "intList", "ops": [{"add": "9223372036854775807"}]}}]})
    page.get_by_text("201 to 251 of 251").wait_for()
    page.locator(".elements .value").filter(has_text="9223372036854775807").wait_for()
    page.get_by_role("button", name="Move up 250").click()
    console.eventually(lambda: json.loads(stored(console, path, "intList"))[-2:] == [9223372036854775807, 249])


def test_an_edit_of_what_has_changed_is_told(console):
    path, page = opened(console, "stringList", ["a", "b"])
    page.get_by_role("button", name="Edit 1", exact=True).click()
    dialog(page).locator("textarea").fill("mine")
    console.api("POST", BATCH, {"ops": [{"list": {"class": "All", "key": "1", "property": "stringList", "ops": [{"insert": [0, "first"]}]}}]})
    page.locator(".elements li").nth(2).wait_for()
    dialog(page).get_by_role("button", name="Save").click()
    page.get_by_text("This element has changed").wait_for()
    assert json.loads(stored(console, path, "stringList")) == ["first", "a", "b"]
    page.keyboard.press("Escape")
    # What is changed elsewhere in the object does no harm: the condition is renewed.
    console.expect("answered 412")
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    console.api("PATCH", path, {"int": 5})
    page.get_by_role("button", name="Remove 0", exact=True).click()
    console.eventually(lambda: json.loads(stored(console, path, "stringList")) == ["a", "b"])
    console.eventually(lambda: page.locator(".elements li").count() == 2)
    # A change of the list that the page has not been told of stops the edit.
    console.api("PATCH", path, {"stringList": ["x", "a", "b"]})
    page.get_by_role("button", name="Remove 0", exact=True).click()
    page.get_by_text("This collection has changed").wait_for()
    assert json.loads(stored(console, path, "stringList")) == ["x", "a", "b"]


def test_screenshots(console):
    path, page = opened(console, "mixedList", [1, 1.5, "text " * 60, None, [1], {"a": 1}, {"$link": {"class": "Target", "key": "a"}}, {"$date": "2026-11-21T10:00:00.000000001Z"}])
    for dark in (False, True):
        for width in (1440, 360):
            shown = console.page("#/types/collection/All/1/mixedList", dark=dark, width=width, height=900)
            shown.locator(".elements li").nth(7).wait_for()
            assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            console.screenshot(shown, f"collection-{'dark' if dark else 'light'}-{width}")
            shown.close()


def test_elements_are_moved_beyond_the_edge_of_the_page(console):
    key = console.api("GET", "/v1/realms/store/objects/Product?limit=1")["items"][0]["$meta"]["key"]
    product = f"/v1/realms/store/objects/Product/{key}"
    console.api("PATCH", product, {"weights": [float(number) for number in range(150)]})
    state = lambda: console.api("GET", f"{product}/weights?limit=200")["items"]
    page = console.page(f"#/store/collection/Product/{key}/weights", height=600)
    element = lambda index: page.locator(".elements li").nth(index)
    element(99).wait_for(state="attached")
    # The page scrolls while an element is held at its edge.
    box = element(1).bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 8)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(box["x"] + 200 + step % 2, 590 + step % 3)
        console.pause(0.03)
        if page.evaluate("document.querySelector('main').scrollTop") > 400:
            break
    scrolled = page.evaluate("document.querySelector('main').scrollTop")
    for step in range(5):
        page.mouse.move(box["x"] + 200, 300 + step)
        console.pause(0.1)
    page.mouse.up()
    assert scrolled > 100, scrolled
    console.eventually(lambda: state()[1] != 1.0)
    console.api("PATCH", product, {"weights": [float(number) for number in range(150)]})
    console.eventually(lambda: element(1).locator(".value").inner_text() == "1.0")
    # What is dropped on the next page becomes its first element, and is followed.
    element(97).drag_to(page.get_by_role("button", name="Next"))
    console.eventually(lambda: state()[100] == 97.0 and state()[97] == 98.0)
    page.get_by_text("101 to 150 of 150").wait_for()
    console.eventually(lambda: page.evaluate("document.activeElement.textContent").startswith("10097"))
    # So it is by the keys.
    page.keyboard.press("Alt+ArrowUp")
    page.get_by_text("1 to 100 of 150").wait_for()
    console.eventually(lambda: state()[99] == 97.0)
    console.eventually(lambda: page.evaluate("document.activeElement.textContent").startswith("9997"))
