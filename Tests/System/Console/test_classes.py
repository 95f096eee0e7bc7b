# SPDX-License-Identifier: Apache-2.0
"""The screen of classes: list, schema, diagram, source, migrations."""

import os
import re
import tempfile
import xml.etree.ElementTree

SCHEMA = "/v1/realms/store/schema"
HOSTILE = ["<img src=x onerror=alert(1)>", "javascript:alert(1)", "a\u202eb \"quoted\" 'x' {y}", "Ärger & 名前"]


def properties(console, name):
    return {one["name"]: one for one in console.api("GET", f"{SCHEMA}/{name}")["properties"]}


def add_step(page, kind, **values):
    page.get_by_label("Kind of step").select_option(kind)
    page.get_by_role("button", name="Add the step").click()
    step = page.locator("fieldset").last
    for name, value in values.items():
        control = step.get_by_label(re.compile(rf"^{name}( \*)?$"))
        control.select_option(value) if control.evaluate("one => one.localName") == "select" else control.fill(value)
    return step


def migrate_page(console, **options):
    page = console.page("#/store/classes?view=migrate", **options)
    page.get_by_role("button", name="Add the step").wait_for()
    return page


def test_counts_follow_changes_and_classes_are_found(console):
    page = console.page("#/store/classes")
    row = page.locator(".split nav li", has_text="Category")
    row.locator(".number", has_text="30").wait_for()
    console.api("POST", "/v1/realms/store/objects/Category", {"id": 4711, "name": "New"})
    row.locator(".number", has_text="31").wait_for()
    console.api("DELETE", "/v1/realms/store/objects/Category/4711")
    row.locator(".number", has_text="30").wait_for()
    embedded = page.locator(".split nav h2", has_text="Embedded").locator("xpath=following-sibling::ul")
    assert embedded.get_by_role("link").all_inner_texts() == ["Address", "GeoPoint", "LineItem"]
    page.get_by_label("Find a class").fill("pro")
    assert page.locator(".split nav li:visible").all_inner_texts()[0].startswith("Product")
    assert page.locator(".split nav li:visible").count() == 1


def test_the_schema_of_a_class_is_linked_to_others(console):
    page = console.page("#/store/classes?class=Product")
    page.get_by_role("heading", name="Product", exact=True).wait_for()
    known = console.api("GET", f"{SCHEMA}/Product")
    cells = page.locator("tbody tr").evaluate_all("rows => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")
    assert len(cells) == len(known["properties"])
    assert cells[0][0].startswith("sku") and "primary key" in cells[0][0]
    assert [cell[2] for cell in cells] == [one["indexed"] or "" for one in known["properties"]]
    assert page.locator(".tab ul li").count() == len(known["backlinks"])
    assert page.locator("tbody").get_by_role("link", name="rows").first.get_attribute("href") == "#/store/rows/Category"
    page.locator("tbody").get_by_role("link", name="Category", exact=True).click()
    page.get_by_role("heading", name="Category", exact=True).wait_for()
    assert page.get_by_role("link", name="Rows", exact=True).last.get_attribute("href") == "#/store/rows/Category"


def test_the_diagram_does_not_overlap_and_can_be_moved(console):
    page = console.page("#/store/classes")
    boxes = page.locator(".diagram [role=link]")
    boxes.first.wait_for()
    assert boxes.count() == len(console.api("GET", SCHEMA)["classes"])
    edges = page.locator(".diagram rect").evaluate_all("all => all.map((one) => { const { left, top, right, bottom } = one.getBoundingClientRect(); return [left, top, right, bottom]; })")
    for index, (left, top, right, bottom) in enumerate(edges):
        for other in edges[index + 1:]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top, "two boxes overlap"
    content = page.locator(".diagram > g")
    console.eventually(lambda: "scale(0." in content.get_attribute("transform"))
    shown = content.get_attribute("transform")
    for act in (lambda: page.get_by_role("button", name="Zoom in").click(), lambda: page.locator(".diagram").press("-"), lambda: page.locator(".diagram").press("ArrowLeft"),
                lambda: (page.locator(".diagram").hover(), page.mouse.wheel(0, -300)), lambda: (page.mouse.down(), page.mouse.move(600, 500, steps=4), page.mouse.up())):
        before = content.get_attribute("transform")
        act()
        console.eventually(lambda: content.get_attribute("transform") != before)
    page.get_by_role("button", name="Show all").click()
    console.eventually(lambda: content.get_attribute("transform") == shown)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").click()
    with open(download.value.path(), encoding="utf-8") as file:
        text = file.read()
    assert download.value.suggested_filename == "store.svg" and "var(" not in text
    assert len(xml.etree.ElementTree.fromstring(text).findall(".//{http://www.w3.org/2000/svg}rect")) == len(edges)
    boxes.filter(has_text="Category").last.focus()
    page.keyboard.press("Enter")
    console.eventually(lambda: "class=" in page.url)


def test_the_source_is_that_of_the_server(console):
    page = console.page("#/store/classes?view=source")
    for name in ("swift", "kotlin", "typescript", "json-schema", "mermaid"):
        page.get_by_label("Language").select_option(name)
        wanted = console.raw("GET", f"{SCHEMA}?format={name}")[2].decode()
        console.eventually(lambda: page.locator(".tab pre").inner_text().strip() == wanted.strip())


def test_a_migration_is_tried_and_applied(console):
    page = migrate_page(console)
    step = add_step(page, "addProperty", **{"class": "Product", "name": "big", "type": "int"})
    step.get_by_label("value").fill("9223372036854775807")
    step = add_step(page, "set", **{"class": "Product", "where": "stock > 3", "values": '{"big": -9223372036854775808}'})
    page.get_by_role("button", name="Try without writing").click()
    page.locator("ins", has_text="big: int").wait_for()
    assert "big" not in properties(console, "Product")
    page.reload()
    console.eventually(lambda: page.locator("fieldset").count() == 2, 10)
    assert page.get_by_role("button", name="Apply").is_disabled()
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    page.get_by_text("The schema has version 2 now").wait_for()
    assert console.api("GET", SCHEMA)["schemaVersion"] == 2
    values = {one["big"] for one in console.api("GET", "/v1/realms/store/objects/Product?limit=1000&ints=string")["items"]}
    assert values == {"9223372036854775807", "-9223372036854775808"}


def test_what_was_loaded_goes_with_its_tab(console):
    page = console.page("#/store/classes?view=source")
    page.locator("pre", has_text="class Product").wait_for()
    page.get_by_role("tab", name="Diagram").click()
    page.locator("svg").first.wait_for()
    assert page.locator("pre").count() == 0, "the source is still there"


def test_the_history_has_what_was_before_each_migration(console):
    page = migrate_page(console)
    page.get_by_role("tab", name="History").click()
    page.get_by_text("No migration since the server started").wait_for()
    console.api("POST", "/v1/realms/store/migrations", {"fromVersion": 1, "toVersion": 2, "steps": [{"removeProperty": {"class": "Product", "name": "stock"}}], "allowDataLoss": True})
    page.get_by_role("tab", name="Migrate").click()
    page.get_by_role("tab", name="History").click()
    page.locator("tbody tr", has_text="migration").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert open(download.value.path(), "rb").read(24)[16:20] == b"T-DB", "the copy is no Realm file"
    page.get_by_role("button", name="Restore one…").click()
    page.get_by_role("dialog").locator("tbody tr", has_text="migration").get_by_role("button", name="Restore…").wait_for()


def test_data_is_lost_only_when_ticked(console):
    console.expect("answered 409")
    page = migrate_page(console)
    add_step(page, "removeProperty", **{"class": "Product", "name": "stock"})
    page.get_by_role("button", name="Try without writing").click()
    page.locator("fieldset .problem", has_text="Would lose data").wait_for()
    assert page.get_by_role("button", name="Apply").is_disabled()
    page.get_by_label("Data may be lost").check()
    page.get_by_role("button", name="Try without writing").click()
    page.locator("del", has_text="stock: int").wait_for()
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("dialog").get_by_text("Data is lost.").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    console.eventually(lambda: "stock" not in properties(console, "Product"))


def test_every_kind_of_step_is_understood(console):
    console.expect("answered 422", "answered 409")
    page = migrate_page(console)
    add_step(page, "addClass", **{"name": "Shelf", "primaryKey": "id", "properties": '[{"name": "id", "type": "int"}, {"name": "n", "type": "int", "optional": true}]'})
    add_step(page, "addProperty", **{"class": "Shelf", "name": "label", "type": "string"})
    add_step(page, "create", **{"class": "Shelf", "body": '{"id": 1, "label": "a"}'})
    add_step(page, "set", **{"class": "Shelf", "where": "id == 1", "values": '{"label": {"$expr": "label + \'b\'"}}'})
    add_step(page, "forEach", **{"class": "Shelf", "as": "s", "steps": '[{"set": {"object": "s", "values": {"n": 7}}}]'})
    add_step(page, "changeProperty", **{"class": "Shelf", "name": "n", "type": "string", "conversion": "int-to-string"})
    add_step(page, "setIndex", **{"class": "Shelf", "name": "label", "indexed": "fulltext"})
    add_step(page, "renameProperty", **{"class": "Shelf", "name": "label", "to": "title"})
    add_step(page, "renameClass", **{"name": "Shelf", "to": "Rack"})
    add_step(page, "setPrimaryKey", **{"class": "Rack"})
    add_step(page, "setType", **{"class": "Rack", "type": "object"})
    add_step(page, "delete", **{"class": "Rack", "where": "title == 'none'"})
    add_step(page, "addClass", **{"name": "Gone", "properties": '[{"name": "x", "type": "int"}]'})
    add_step(page, "removeProperty", **{"class": "Rack", "name": "id"})
    add_step(page, "removeClass", **{"name": "Gone"})
    page.get_by_role("button", name="Try without writing").click()
    page.get_by_label("Data may be lost").check()
    page.get_by_role("button", name="Try without writing").click()
    page.locator("ins", has_text="title: string, index: fulltext").wait_for()
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    page.get_by_text("The schema has version 2 now").wait_for()
    found = console.api("GET", "/v1/realms/store/objects/Rack")["items"]
    assert len(found) == 1 and found[0]["title"] == "ab" and found[0]["n"] == "7", found


def test_a_faulty_step_says_so_where_it_is(console):
    console.expect("answered 422")
    page = migrate_page(console)
    add_step(page, "removeClass", **{"name": "Review"})
    add_step(page, "setIndex", **{"class": "Product", "name": "nothing", "indexed": "general"})
    add_step(page, "set", **{"class": "Product", "where": "TRUEPREDICATE", "values": "{broken"})
    page.get_by_role("button", name="Try without writing").click()
    page.locator("fieldset").nth(2).get_by_text("values is not JSON").wait_for()
    page.locator("fieldset").nth(2).get_by_role("button", name="Remove").click()
    page.locator("fieldset").nth(0).get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Try without writing").click()
    page.locator("fieldset").nth(0).get_by_text("has no property 'nothing'").wait_for()


def test_hostile_names_do_nothing(console):
    console.server
    console.api("POST", "/v1/realms", {"name": "hostile", "inMemory": "hostile", "schema": {"classes": [
        {"name": name, "properties": [{"name": f"p {name}"[:60], "type": "object", "objectType": name}]} for name in HOSTILE]}})
    page = console.page("#/hostile/classes")
    page.locator(".diagram [role=link]").first.wait_for()
    assert page.locator("main img").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()
    page.locator(".split nav li a", has_text="javascript:").click()
    page.locator("tbody tr").wait_for()
    assert "class=javascript%3Aalert" in page.url
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("a")
    page.locator("details").first.wait_for()
    page.locator("details summary", has_text="GET").first.click()
    page.locator("details pre").first.wait_for()
    assert page.locator("main img").count() == 0 and "\u202e" not in page.locator("main").inner_text()
    page.get_by_label("Document").select_option("")


def test_only_administrators_migrate(console):
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as file:
        file.write('roles:\n  viewer: {realms: {"*": {classes: {"*": [read, subscribe]}}}}\n')
    console.realm_server(options=["--data", folder, "--config", os.path.join(folder, "config.yaml")])
    admin = {"Authorization": f"Bearer {console.api('POST', '/admin/keys', {'name': 'boss', 'roles': ['admin']})['key']}"}
    key = console.api("POST", "/admin/keys", {"name": "reader", "roles": ["viewer"]}, admin)["key"]
    console.expect("answered 401")
    page = console.page("#/store/classes")
    page.get_by_label("API key or token").fill(key)
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    page.get_by_role("tab", name="Source").wait_for()
    assert page.get_by_role("tab", name="Migrate").count() == 0
    page.locator(".split nav li", has_text="Category").locator(".number", has_text="30").wait_for()
    assert page.get_by_role("link", name="Server").count() == 0
    page.keyboard.press("s")
    page.get_by_role("heading", name="There is no such page").wait_for()
