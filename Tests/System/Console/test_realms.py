# SPDX-License-Identifier: Apache-2.0
"""The screen Realms: the facts of realms, and its actions."""

import base64
import gzip
import json
import os
import re
import tempfile
import urllib.parse

KEY = bytes(range(64)).hex()


def realm(console, name="store"):
    return console.api("GET", f"/v1/realms/{name}")


def card(page, name="store"):
    return page.get_by_role("region", name=name, exact=True)


def fact(page, label, name="store"):
    return card(page, name).locator(f"dt:text-is('{label}') + dd").inner_text()


def encrypted(console, folder):
    """A copy of the sample under a key."""
    status, _, body = console.raw("POST", "/v1/realms/store/backup", {"encryptionKey": KEY})
    assert status == 200
    path = os.path.join(folder, "secret.realm")
    with open(path, "wb") as file:
        file.write(body)
    return path


def chosen(page, button, path):
    with page.expect_file_chooser() as chooser:
        button.click()
    chooser.value.set_files(path)


def drop(page, files):
    """Drops files of these names, with contents as base64; returns what each event was answered: false when the browser is kept from opening them."""
    return page.evaluate("""async (files) => {
      const data = new DataTransfer();
      for (const [name, text] of Object.entries(files)) data.items.add(new File([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))], name));
      return ["dragover", "drop"].map((kind) => document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })));
    }""", files)


def test_facts_follow_the_realm(console):
    page = console.page("#/-/realms")
    assert fact(page, "Mode") == "read and write"
    assert fact(page, "Schema version") == "1"
    assert fact(page, "Live versions") == str(realm(console)["liveVersions"])
    assert fact(page, "Pending writes") == "0"
    first = fact(page, "Version")
    assert first == realm(console)["version"]
    console.api("PATCH", "/v1/realms/store/objects/Category/1", {"name": "Kitchen"})
    console.eventually(lambda: fact(page, "Version") == realm(console)["version"] != first)
    snapshot = console.api("POST", "/v1/realms/store/snapshots", {})
    console.api("PATCH", "/v1/realms/store/objects/Category/1", {"name": "Cooking"})
    console.eventually(lambda: fact(page, "Live versions") == str(realm(console)["liveVersions"]) != "1")
    console.api("DELETE", f"/v1/realms/store/snapshots/{snapshot['id']}")
    console.screenshot(page, "realms")


def test_streams_of_each_realm_are_counted(console):
    page = console.page("#/-/realms")
    console.eventually(lambda: fact(page, "Streams") == "0")
    other = console.page("#/store/rows/Product", context=console.context())
    console.eventually(lambda: fact(page, "Streams") == "1")
    lease = console.api("GET", "/admin/leases")["items"]
    assert [one["realm"] for one in lease if one["kind"] == "stream"] == ["store"]
    other.close()


def test_read_only_realms_say_so(console):
    console.realm_server(options=["--read-only"])
    page = console.page("#/-/realms")
    assert fact(page, "Mode") == "read only"


def test_what_is_only_read_does_not_look_editable(console):
    console.realm_server(options=["--read-only"])
    page = console.page("#/store/object/Category/1")
    page.locator("[data-name=name]").wait_for()
    # It is said once what to do about it.
    assert page.get_by_role("note").inner_text() == "Read only. To change it, ask the administrator of the server to serve it for writing, or to serve a private copy of it."
    assert page.locator("main").get_by_role("textbox").count() == 0
    for name in ("Save", "Duplicate", "Delete…", "Set to null"):
        assert page.get_by_text(name, exact=True).count() == 0, name
    page.goto(console.url + "/#/store/rows/Category")
    page.get_by_role("link", name="Export", exact=True).wait_for()
    for name in ("New", "Edit…", "Delete…"):
        assert page.get_by_text(name, exact=True).count() == 0, name
    page.goto(console.url + "/#/store/transfer")
    page.get_by_role("heading", name="Export").wait_for()
    assert page.get_by_role("heading", name="Import", exact=True).count() == 0
    page.goto(console.url + "/#/store/classes")
    page.get_by_role("tab", name="History").wait_for()
    assert page.get_by_role("tab", name="Migrate").count() == 0
    # On screens of no realm there is nothing to be said.
    page.goto(console.url + "/#/-/server")
    page.get_by_role("note").wait_for(state="detached")


def test_how_a_realm_is_served_is_asked_once_for_each_opening(console):
    server = console.realm_server()
    context, asked = console.context(), []
    context.on("request", lambda one: asked.append(one.url) if re.search(r"/v1/realms/store(\?|$)", one.url) else None)
    page = console.page("#/store/rows/Category", context=context)
    page.get_by_role("link", name="Export", exact=True).wait_for()
    for _ in range(2):
        page.evaluate("location.hash = '#/store/classes'")
        page.get_by_role("tab", name="History").wait_for()
        page.evaluate("location.hash = '#/store/rows/Category'")
        page.get_by_role("link", name="Export", exact=True).wait_for()
    assert len(asked) == 1, asked
    console.expect("ERR_", "answered 503", "answered 404: GET .*ticket=", "answered 410")
    server.kill()
    server.options.append("--read-only")
    server.start()
    page.get_by_role("note").get_by_text("Read only.").wait_for(timeout=30000)
    assert len(asked) > 1


def test_the_reason_why_a_realm_is_only_read_is_reported(console):
    console.server
    context = console.context()
    reason = {"code": "file_format_unsupported", "title": "File format unsupported", "status": 422, "detail": "file format 11 can be read, but only format 24 is written"}
    context.route(re.compile(r"/v1/realms/store(\?|$)"), lambda route: route.fulfill(json=realm(console) | {"mode": "ro", "readOnlyReason": reason}))
    page = console.page("#/store/object/Category/1", context=context)
    page.get_by_role("note").get_by_text("only format 24 is written. To change it, ask the administrator of the server to upgrade the file (--upgrade in-place), or").wait_for()
    page.locator("[data-name=name]").wait_for()
    assert page.locator("main").get_by_role("textbox").count() == 0


def test_private_copies_say_where_changes_stay(console):
    server = console.realm_server(data=True)
    path = os.path.join(server.folder, "store.realm")
    console.api("DELETE", "/v1/realms/store")
    console.api("POST", "/v1/realms", {"path": path, "mode": "copy"})
    page = console.page("#/store/rows/Category")
    page.get_by_role("note").get_by_text("This is a private copy. Changes are not written to the file.").wait_for()
    page.goto(console.url + "/#/store/object/Category/1")
    page.locator("main").get_by_label("name", exact=True).fill("Only here")
    page.get_by_role("note").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".toast", has_text="Saved. In the private copy only.").wait_for()
    page.goto(console.url + "/#/-/realms")
    card(page).get_by_role("button", name="Detach…").click()
    page.get_by_text("The file stays where it is, unchanged.").wait_for()
    page.get_by_role("button", name="Detach", exact=True).click()
    page.get_by_text("No realm is served yet").wait_for()
    console.api("POST", "/v1/realms", {"path": path})
    assert console.api("GET", "/v1/realms/store/objects/Category/1")["name"] != "Only here"


def test_create_by_schema_and_in_memory(console):
    console.realm_server(data=True)
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Create…").click()
    page.get_by_label("Name", exact=True).fill("dogs")
    page.get_by_label("Schema").fill(json.dumps({"classes": [{"name": "Dog", "primaryKey": "id", "properties": [{"name": "id", "type": "int"}]}]}))
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/#/dogs/classes")
    assert [one["name"] for one in console.api("GET", "/v1/realms/dogs/schema")["classes"]] == ["Dog"]
    assert os.path.exists(os.path.join(console.server.folder, "dogs.realm"))
    page.goto(console.url + "/#/-/realms")
    page.get_by_role("button", name="Create…").click()
    page.get_by_label("Name", exact=True).fill("scratch")
    page.get_by_label("Begin with").select_option("empty")
    page.get_by_label("In memory only").check()
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/#/scratch/classes")
    assert realm(console, "scratch")["inMemory"]


def test_sample_data(console):
    console.realm_server(data=True)
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Create…").click()
    page.get_by_label("Name", exact=True).fill("sample")
    page.get_by_label("Begin with").select_option("sample")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/#/sample/classes", timeout=30000)
    assert console.api("GET", "/v1/realms/sample/objects/Product?limit=0&count=exact")["count"] > 100


def test_a_refused_creation_keeps_the_dialog(console):
    console.realm_server(data=True)
    console.expect("answered 4")
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Create…").click()
    page.get_by_label("Name", exact=True).fill("store")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("alert").get_by_text("already_attached").wait_for()
    page.get_by_label("Name", exact=True).fill("other")
    page.get_by_label("Schema").fill("{")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("alert").get_by_text("JSON").wait_for()
    assert [one["name"] for one in console.api("GET", "/v1/realms")["items"]] == ["store"]


def test_a_file_opens_as_a_copy_and_comes_back(console):
    server = console.realm_server(data=True)
    page = console.page("#/-/realms")
    console.api("GET", "/v1/realms/store/schema")
    with page.expect_download() as download:
        card(page).get_by_role("button", name="Download").click()
    path = download.value.path()
    with open(path, "rb") as file:
        assert file.read(20)[16:] == b"T-DB"
    copy = os.path.join(tempfile.mkdtemp(), "my store.realm")
    os.rename(path, copy)
    chosen(page, page.get_by_role("button", name="Open a file…"), copy)
    page.wait_for_url("**/#/my-store/classes", timeout=20000)
    assert console.api("GET", "/v1/realms/my-store/objects/Product?limit=0&count=exact")["count"] == console.api("GET", "/v1/realms/store/objects/Product?limit=0&count=exact")["count"]
    # The copy is private: it has no file, and the other realm does not change with it.
    assert realm(console, "my-store")["mode"] == "copy"
    console.api("PATCH", "/v1/realms/my-store/objects/Category/1", {"name": "Changed"})
    assert console.api("GET", "/v1/realms/store/objects/Category/1")["name"] != "Changed"
    assert os.listdir(server.folder).count("my-store.realm") == 0


def test_a_dropped_file_opens(console):
    console.realm_server(data=True)
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Open a file…").wait_for()
    with open(console.run.sample(), "rb") as file:
        text = base64.b64encode(file.read()).decode()
    drop(page, {"dropped.realm": text})
    page.wait_for_url("**/#/dropped/classes", timeout=20000)
    assert realm(console, "dropped")["state"] == "ready"
    # What is said stays on the screen that is opened, and goes with it.
    message = page.locator(".toast", has_text="dropped.realm is open as a private copy.")
    message.wait_for()
    page.get_by_role("link", name="Realms", exact=True).click()
    message.wait_for(state="detached")


def former(name):
    """The bytes of a file of format 9."""
    with gzip.open(os.path.join(os.path.dirname(__file__), "../../RealmLegacyTests/Golden", f"{name}.realm.gz")) as file:
        return file.read()


def test_a_dropped_file_of_an_old_format_is_converted(console):
    console.realm_server(data=True)
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Open a file…").wait_for()
    drop(page, {"old.realm": base64.b64encode(former("v9-names")).decode()})
    page.wait_for_url("**/#/old/classes", timeout=20000)
    document = realm(console, "old")
    assert (document["state"], document["mode"], document["conversion"]["fromFormat"]) == ("ready", "copy", 9)
    counts = {one["name"]: one["objects"] for one in document["conversion"]["classes"]}
    assert counts and all(console.api("GET", f"/v1/realms/old/objects/{urllib.parse.quote(name, '')}?limit=0&count=exact")["count"] == count for name, count in counts.items())
    page.get_by_role("link", name="Realms", exact=True).click()
    card(page, "old").get_by_text("Converted from format 9").wait_for()
    console.screenshot(page, "realms-old")


def test_a_dropped_file_of_an_old_format_asks_for_its_key(console):
    console.realm_server(data=True)
    console.expect("answered 422")
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Open a file…").wait_for()
    drop(page, {"sealed.realm": base64.b64encode(former("v9-encrypted")).decode()})
    page.get_by_label("Encryption key").fill("00" * 64)
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("alert").wait_for()
    console.screenshot(page, "realms-old-key")
    page.get_by_label("Encryption key").fill(KEY)
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/#/sealed/classes", timeout=20000)
    document = realm(console, "sealed")
    assert document["encrypted"] and document["conversion"]["fromFormat"] == 9


def test_a_dropped_file_of_an_old_format_that_is_damaged_says_where(console):
    console.realm_server(data=True)
    console.expect("answered 422")
    damaged = bytearray(former("v9-names"))
    # Both top refs lead behind the end.
    damaged[0:16] = (len(damaged) + 4096).to_bytes(8, "little") * 2
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Open a file…").wait_for()
    drop(page, {"damaged.realm": base64.b64encode(damaged).decode()})
    message = page.locator(".toast", has_text="damaged.realm")
    message.get_by_text("file_corrupt").wait_for()
    console.screenshot(page, "realms-old-damaged")
    # What could not be opened leaves no realm behind.
    console.eventually(lambda: [one["name"] for one in console.api("GET", "/v1/realms")["items"]] == ["store"])
    assert page.locator("dialog").count() == 0


def test_each_of_several_dropped_files_has_a_line(console):
    console.realm_server(data=True)
    console.expect("answered 422")
    page = console.page("#/-/realms")
    page.get_by_role("button", name="Open a file…").wait_for()
    with open(console.run.sample(), "rb") as file:
        text = base64.b64encode(file.read()).decode()
    drop(page, {"notes.realm": base64.b64encode(b"no realm").decode()})
    page.locator(".toast", has_text="notes.realm").get_by_text("not_a_realm").wait_for()
    drop(page, {"one.realm": text, "notes.txt": base64.b64encode(b"no realm").decode(), "store.realm": text})
    message = page.locator(".toast", has_text="one.realm is open as a private copy.")
    message.wait_for(timeout=20000)
    assert "store.realm is open as a private copy, store-2." in message.inner_text()
    assert message.locator("strong").first.inner_text() == "notes.txt" and message.get_by_text("not_a_realm").count() == 1
    # A key that nothing opens with is not asked for, and the former message is gone.
    assert page.locator("dialog").count() == 0 and page.locator(".toast").count() == 1
    assert page.url.endswith("#/-/realms")
    assert sorted(one["name"] for one in console.api("GET", "/v1/realms")["items"]) == ["one", "store", "store-2"]
    page.get_by_role("link", name="Server", exact=True).click()
    message.wait_for(state="detached")


def test_a_dropped_file_never_replaces_the_page(console):
    for address in ("#/store/object/Category/1", "#/store/rows/Product", "#/-/server"):
        page = console.page(address)
        assert drop(page, {"some.txt": ""}) == [False, False], address
        # Texts are dropped into fields as ever.
        assert page.evaluate("""() => {
          const data = new DataTransfer();
          data.setData("text/plain", "words");
          return document.body.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""")
        page.close()


def test_what_shows_where_files_are_dropped_covers_nothing(console):
    page = console.page("#/-/realms")
    card(page).wait_for()
    before = page.get_by_text("Drop .realm files here").bounding_box()
    page.evaluate("""() => {
      const data = new DataTransfer();
      data.items.add(new File([], "some.realm"));
      document.body.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
    }""")
    page.locator(".drop.held").wait_for()
    assert page.get_by_text("Drop .realm files here").bounding_box() == before


def test_no_key_is_asked_for_when_the_file_is_no_realm(console):
    console.realm_server(data=True)
    console.expect("answered 422")
    context = console.context()
    problem = lambda code: {"code": code, "title": "Refused", "detail": code, "status": 422}  # noqa: E731

    def refuse(route):
        code = "not_a_realm" if route.request.headers.get("realm-encryption-key") else "encryption_key_required"
        route.fulfill(status=422, json=problem(code))

    context.route(re.compile(r"/v1/uploads"), refuse)
    page = console.page("#/-/realms", context=context)
    path = os.path.join(tempfile.mkdtemp(), "odd.realm")
    with open(path, "wb") as file:
        file.write(os.urandom(4096))
    chosen(page, page.get_by_role("button", name="Open a file…"), path)
    key = page.get_by_label("Encryption key")
    key.wait_for()
    # The field has the focus.
    assert key.evaluate("one => one === document.activeElement")
    page.keyboard.type(KEY)
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator("body > .messages .toast", has_text="odd.realm").get_by_text("not_a_realm").first.wait_for()
    assert page.locator("dialog").count() == 0


def test_an_encrypted_file_asks_for_its_key(console):
    console.realm_server(data=True)
    console.expect("answered 422")
    path = encrypted(console, tempfile.mkdtemp())
    page, keys = console.page("#/-/realms"), []
    page.on("request", lambda one: keys.append(one.headers.get("realm-encryption-key")) if "/v1/uploads" in one.url else None)
    chosen(page, page.get_by_role("button", name="Open a file…"), path)
    page.get_by_label("Encryption key").wait_for()
    assert keys == []
    page.get_by_label("Encryption key").fill("00" * 64)
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("alert").wait_for()
    # What could not be opened leaves no realm behind.
    console.eventually(lambda: [one["name"] for one in console.api("GET", "/v1/realms")["items"]] == ["store"])
    page.get_by_label("Encryption key").fill(KEY)
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/#/secret/classes", timeout=20000)
    assert realm(console, "secret")["encrypted"]
    # It is sent with each key, and never without one.
    assert keys == ["00" * 64, KEY]


def test_a_file_of_whole_pages_and_another_kind_asks_for_no_key(console):
    console.realm_server(data=True)
    console.expect("answered 422")
    page = console.page("#/-/realms")
    for name, beginning in {"picture.png": b"\x89PNG\r\n\x1a\n", "base.sqlite": b"SQLite format 3\0", "notes.txt": b"some notes of mine" * 9, "zeros.realm": bytes(20)}.items():
        path = os.path.join(tempfile.mkdtemp(), name)
        with open(path, "wb") as file:
            file.write(beginning.ljust(8192, b"\0"))
        chosen(page, page.get_by_role("button", name="Open a file…"), path)
        page.locator(".toast", has_text=name).get_by_text("not_a_realm").first.wait_for()
        assert page.locator("dialog").count() == 0


def test_a_realm_that_lacks_its_key_is_given_it(console):
    console.realm_server()
    folder = tempfile.mkdtemp()
    path = encrypted(console, folder)
    console.realm_server(files=[path], data=True)
    # Files of the folder are opened when they are used.
    status, _, _ = console.raw("GET", "/v1/realms/secret/schema")
    assert status in (422, 503)
    page = console.page("#/-/realms")
    card(page, "secret").get_by_role("button", name="Give the key…").click()
    page.get_by_label("Encryption key").fill(KEY)
    page.get_by_role("button", name="Open", exact=True).click()
    console.eventually(lambda: realm(console, "secret")["state"] == "ready")
    card(page, "secret").get_by_text("ready").wait_for()


def test_a_realm_that_lacks_its_key_asks_for_it_wherever_it_is_opened(console):
    console.expect("answered 422", "answered 503", "answered 409")
    path = encrypted(console, tempfile.mkdtemp())
    for screen in ("rows", "classes", "rows/Order", "transfer", "time"):
        console.realm_server(files=[path], data=True)
        page = console.page(f"#/secret/{screen}")
        field = page.get_by_label("The key of secret")
        field.wait_for()
        assert page.get_by_text("Connecting…").count() == 0 and page.get_by_role("button", name="Try again").count() == 0
        page.get_by_text("Not open").wait_for()
        if screen == "rows":
            console.screenshot(page, "realms-locked")
            field.fill("00" * 64)
            page.get_by_role("button", name="Open", exact=True).click()
            page.get_by_text("encryption_key_wrong").wait_for()
        field.fill(KEY)
        page.get_by_role("button", name="Open", exact=True).click()
        field.wait_for(state="detached")
        console.eventually(lambda: realm(console, "secret")["state"] == "ready")
        page.close()


def test_a_damaged_file_says_so_where_it_is_opened(console):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "broken.realm")
    with open(path, "wb") as file:
        file.write((1 << 40).to_bytes(8, "little") * 2 + b"T-DB" + bytes([24, 24, 0, 0]) + bytes(8168))
    console.realm_server(files=[path], data=True)
    console.expect("answered 422", "answered 503")
    page = console.page("#/broken/rows")
    page.get_by_role("alert").wait_for()
    console.eventually(lambda: "could not be opened" not in page.locator("main").inner_text())
    assert page.get_by_text("Connecting…").count() == 0
    # It stays as it is: neither the page nor a button tries again.
    page.get_by_text("Not open").wait_for()
    assert page.get_by_text("trying again").count() == 0 and page.get_by_role("button", name="Try again").count() == 0
    console.screenshot(page, "realms-broken")


def test_compact_tells_before_and_after(console):
    page = console.page("#/-/realms")
    console.api("DELETE", "/v1/realms/store/objects/Order?where=TRUEPREDICATE")
    before = realm(console)["fileBytes"]
    card(page).get_by_role("button", name="Compact").click()
    page.get_by_text("before").wait_for()
    assert realm(console)["fileBytes"] < before
    console.eventually(lambda: fact(page, "Size").startswith(f"{realm(console)['fileBytes'] / 2 ** 20:.1f}".removesuffix(".0")) or "KiB" in fact(page, "Size"))


def test_backups_are_made_restored_and_deleted(console):
    page = console.page("#/-/realms")
    card(page).get_by_role("button", name="Backups…").click()
    page.get_by_text("There is no backup yet").wait_for()
    page.get_by_role("button", name="Back up now").click()
    page.get_by_role("cell", name="request", exact=True).wait_for()
    (backup,) = console.api("GET", "/v1/realms/store/backups")["items"]
    with page.expect_download() as download:
        page.locator("dialog").get_by_role("button", name="Download").click()
    assert os.path.getsize(download.value.path()) == backup["bytes"]
    name = console.api("GET", "/v1/realms/store/objects/Category/1")["name"]
    console.api("PATCH", "/v1/realms/store/objects/Category/1", {"name": "Wrong"})
    page.get_by_role("button", name="Restore…", exact=True).click()
    page.get_by_role("button", name="Restore", exact=True).click()
    console.eventually(lambda: console.api("GET", "/v1/realms/store/objects/Category/1")["name"] == name)
    page.get_by_role("cell", name="replaced", exact=True).wait_for()
    console.screenshot(page, "realms-backups")
    page.get_by_role("row").filter(has_text="request").get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    console.eventually(lambda: [one["kind"] for one in console.api("GET", "/v1/realms/store/backups")["items"]] == ["replaced"])


def test_restore_from_a_file_asks_first(console):
    console.realm_server(data=True)
    count = console.api("GET", "/v1/realms/store/objects/Category?limit=0&count=exact")["count"]
    page = console.page("#/-/realms")
    card(page).get_by_role("button", name="Backups…").click()
    console.api("DELETE", "/v1/realms/store/objects/Category?where=TRUEPREDICATE")
    chosen(page, page.get_by_role("button", name="Restore from a file…"), console.run.sample())
    page.get_by_role("button", name="Cancel").click()
    assert console.api("GET", "/v1/realms/store/objects/Category?limit=0&count=exact")["count"] == 0
    chosen(page, page.get_by_role("button", name="Restore from a file…"), console.run.sample())
    page.get_by_role("button", name="Restore", exact=True).click()
    console.eventually(lambda: console.api("GET", "/v1/realms/store/objects/Category?limit=0&count=exact")["count"] == count, 20)


def test_attach_and_detach(console):
    server = console.realm_server(data=True)
    page = console.page("#/-/realms")
    card(page).get_by_role("button", name="Detach…").click()
    page.get_by_role("button", name="Cancel").click()
    assert realm(console)["name"] == "store"
    card(page).get_by_role("button", name="Detach…").click()
    page.get_by_role("button", name="Detach", exact=True).click()
    page.get_by_text("No realm is served yet").wait_for()
    assert console.api("GET", "/v1/realms")["items"] == []
    path = os.path.join(server.folder, "store.realm")
    assert os.path.exists(path)
    page.get_by_role("button", name="Attach…").click()
    page.get_by_label("Path").fill(path)
    page.get_by_label("Mode").select_option("ro")
    page.get_by_role("button", name="Attach", exact=True).click()
    page.wait_for_url("**/#/store/classes")
    assert realm(console)["mode"] == "ro"


def test_messages_are_reached_while_a_dialog_is_open(console):
    page = console.page("#/-/realms")
    card(page).get_by_role("button", name="Backups…").click()
    page.get_by_role("button", name="Back up now").click()
    page.get_by_role("cell", name="request", exact=True).wait_for()
    (backup,) = console.api("GET", "/v1/realms/store/backups")["items"]
    console.api("DELETE", f"/v1/realms/store/backups/{backup['id']}")
    console.expect("answered 404")
    page.locator("dialog").get_by_role("button", name="Download").click()
    page.get_by_role("alert").wait_for()
    page.get_by_role("button", name="Dismiss").click()
    page.get_by_role("alert").wait_for(state="detached")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert page.locator("body > .messages").count() == 1


SHORT = {"fromFormat": 9, "lossless": False, "noteCount": 3}
OLD = {**SHORT, "writtenBy": "realm-core 4.0 to 5.23 (2017 to 2020): Swift 3.0 to 4.4",
       "classes": [{"name": "Dog", "objects": 12}, {"name": "Cat", "objects": 3}],
       "notes": [{"kind": "tableLeftOut", "class": None, "property": None, "count": 7, "text": "the table 'odd' is not a class"},
                 {"kind": "oldDates", "class": "Dog", "property": "born", "count": 12, "text": "dates of whole seconds"},
                 {"kind": "somethingNew", "class": "Dog", "property": None, "count": 1, "text": "<b>not markup</b>"}]}


def test_what_became_of_an_old_file_is_listed(console):
    """The member is there only for realms of formats 2 to 9. The list has its short form; the document of the realm has it whole."""
    console.server
    context = console.context()

    def converted(route):
        listed = console.api("GET", "/v1/realms")
        listed["items"][0] |= {"mode": "copy", "conversion": SHORT}
        route.fulfill(json=listed)

    def whole(route):
        route.fulfill(json=realm(console) | {"mode": "copy", "conversion": OLD, "backups": [{"name": "store.realm.v9.backup", "bytes": 8, "fileFormat": 9}]})

    page = console.page("#/-/realms", context=context)
    assert fact(page, "Format") == "24"
    assert card(page).locator("details").count() == 0
    context.route(re.compile(r"/v1/realms/store(\?|$)"), whole)
    context.route(re.compile(r"/v1/realms(\?|$)"), converted)
    report = card(page).locator("details.conversion")
    console.eventually(lambda: report.count() == 1)
    assert report.locator("summary").inner_text() == "Converted from format 9, 3 notes, with losses"
    notes = report.locator("li")
    console.eventually(lambda: notes.count() == 3)
    assert "Swift 3.0 to 4.4" in report.inner_text() and "15 objects of 2 classes" in report.inner_text()
    assert "The old file is kept as store.realm.v9.backup." in report.inner_text()
    assert [one.inner_text().split("\n")[0] for one in notes.all()] == ["Table left out (7)", "Dates without nanoseconds: Dog.born (12)", "somethingNew: Dog (1)"]
    assert [one.locator("p").inner_text() for one in notes.all()] == ["the table 'odd' is not a class", "dates of whole seconds", "<b>not markup</b>"]
    # The served format, and that of the file.
    assert fact(page, "Format") == "24, from format 9"
    assert card(page).get_by_role("button", name="Backups…").count() == 0
    # What the reader closes stays closed while the list is read again.
    report.locator("summary").click()
    console.pause(2)
    assert not report.evaluate("one => one.open")
    console.screenshot(page, "realms-converted")


def listed(console, context, changes):
    """Has the list of realms tell something else of the sample."""
    def other(route):
        found = console.api("GET", "/v1/realms")
        found["items"][0] |= changes
        route.fulfill(json=found)

    context.route(re.compile(r"/v1/realms(\?|$)"), other)


def test_cards_say_how_an_old_file_is_served(console):
    console.server
    context = console.context()

    def described(mode, detail):
        old = {"state": "closed", "mode": mode, "fileFormat": 9, "writtenBy": "Swift 4"}
        context.unroute(re.compile(r"/v1/realms/store(\?|$)"))
        context.route(re.compile(r"/v1/realms/store(\?|$)"), lambda route: route.fulfill(json=realm(console) | old | {"file": {"opening": {"mode": mode, "detail": detail}}}))
        listed(console, context, old)

    described("rw", "upgraded in place")
    page = console.page("#/-/realms", context=context)
    # The words are those of the server.
    card(page).get_by_text("When served: upgraded in place.").wait_for()
    described("copy", "a private copy; the file is not changed")
    card(page).get_by_text("When served: a private copy; the file is not changed.").wait_for()
    listed(console, context, {"state": "closed", "mode": "rw", "fileFormat": 24})
    console.eventually(lambda: "When served" not in card(page).inner_text())
    # A private copy that was converted has the format of its original in the document.
    listed(console, context, {"mode": "copy", "fileFormat": 9, "conversion": {"fromFormat": 9, "lossless": True, "noteCount": 0}})
    console.eventually(lambda: fact(page, "Format") == "9, converted in the private copy")
    # Once it is open, the card names the copy of the old file.
    listed(console, context, {"conversion": {"fromFormat": 9, "lossless": True, "noteCount": 1}, "backups": [{"name": "store.realm.v9.backup", "bytes": 8, "fileFormat": 9}, {"name": "other", "bytes": 8}]})
    console.eventually(lambda: card(page).locator("dt:text-is('Old file')").count() == 1)
    assert fact(page, "Old file") == "store.realm.v9.backup"
    assert card(page).locator("summary").inner_text() == "Converted from format 9, 1 note"


def test_cards_offer_what_the_realm_allows(console):
    console.server
    context = console.context()
    listed(console, context, {"mode": "ro"})
    page = console.page("#/-/realms", context=context)
    console.eventually(lambda: fact(page, "Mode") == "read only")
    button = lambda name: card(page).get_by_role("button", name=name)  # noqa: E731
    assert button("Compact").count() == 0 and button("Backups…").count() == 1
    listed(console, context, {"mode": "copy", "path": "/data/store.realm"})
    console.eventually(lambda: fact(page, "Mode") == "private copy")
    assert button("Compact").count() == 1 and button("Backups…").count() == 0
    button("Detach…").click()
    page.get_by_text("The file stays where it is, unchanged. Changes to the private copy are lost.").wait_for()
    page.get_by_role("button", name="Cancel").click()
    listed(console, context, {"state": "closed", "problem": {"code": "file_corrupt", "title": "File corrupt", "detail": "cut short", "status": 422}})
    card(page).get_by_text("cut short").wait_for()
    assert "closed until" not in card(page).inner_text()


def test_the_file_of_a_realm_that_is_not_open_is_described(console):
    with tempfile.TemporaryDirectory() as folder:
        console.server
        secret = encrypted(console, folder)
        strange = os.path.join(folder, "strange.realm")
        with open(strange, "wb") as file:
            file.write(b"\0" * 16 + b"T-DB" + bytes([12, 12, 0, 0]) + b"\0" * 4072)
        console.realm_server(files=[secret, strange], data=True)
    for name in ["secret", "strange"]:
        console.raw("GET", f"/v1/realms/{name}/schema")
    page = console.page("#/-/realms")
    console.eventually(lambda: fact(page, "Format", "strange") == "12, written by betas of realm-core 10 (2020): betas of the SDKs 10")
    card(page, "secret").get_by_role("button", name="About the file…").click()
    about = page.get_by_role("dialog")
    value = lambda label: about.locator(f"dt:text-is('{label}') + dd").inner_text()  # noqa: E731
    console.eventually(lambda: value("Encrypted") == "yes")
    assert value("What") == "a Realm file" and value("Contents").startswith("unknown: ") and value("When served").startswith("refused: ")
    assert "The file has no class" not in about.inner_text()
    page.keyboard.press("Escape")
    card(page, "strange").get_by_role("button", name="About the file…").click()
    console.eventually(lambda: value("Format").startswith("12, written by"))
    page.keyboard.press("Escape")
    card(page, "store").get_by_role("button", name="About the file…").click()
    console.eventually(lambda: value("Schema version") == "1")
    assert about.locator("tbody tr").count() == 9 and value("When served") == "read and written"
    assert value("History") == console.api("GET", "/v1/realms/store")["file"]["historyText"]
    console.screenshot(page, "realms-about")
