# SPDX-License-Identifier: Apache-2.0
"""Every screen without data, without rights, with a wrong address, and with the server away: each says what to do next."""

import os
import urllib.parse

ROLES = """roles:
  blind: {realms: {store: {classes: {Nothing: [read]}}}}
  nobody: {}
  reader: {realms: {store: {classes: {Category: [read]}}}}
"""


def address(realm, screen, *rest, **query):
    path = "/".join(urllib.parse.quote(part, safe="") for part in (realm, screen, *rest))
    return f"#/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")


def says(console, page, where, *texts, link=None, button=None):
    """Opens an address in a page and waits for the words, and for what leads on."""
    page.evaluate("(hash) => { location.hash = hash; }", where)
    try:
        for text in texts:
            page.locator("main").get_by_text(text).first.wait_for()
        if link:
            page.locator("main").get_by_role("link", name=link, exact=True).first.wait_for()
        if button:
            page.locator("main").get_by_role("button", name=button, exact=True).first.wait_for()
    except Exception as error:
        raise AssertionError(f"{where} says {page.locator('main').inner_text()[:400]!r}") from error


def test_a_server_without_realms(console):
    console.realm_server(data=True, sample=False)
    page = console.page()
    says(console, page, "#/-/realms", "No realm is served yet", "Create one, open a .realm file", button="Create…")
    says(console, page, "#/-/server", "There is no transaction", "There are no keys", button="Create a key…")
    says(console, page, "#/-/api", "Nothing was asked yet", "Open another screen and come back")
    page.get_by_label("Find").fill("no such operation")
    page.get_by_text("No operation has this").wait_for()


def test_a_realm_without_classes(console):
    console.realm_server(data=True, sample=False)
    console.api("POST", "/v1/realms", {"name": "bare"})
    page = console.page()
    for screen in ("classes", "rows", "time"):
        says(console, page, address("bare", screen), "There is no class yet", link="Add a class")
    says(console, page, address("bare", "transfer"), "Drop it here, or paste it", button="Choose a file…")
    # What is said leads to where it can be done.
    says(console, page, address("bare", "rows"), link="Add a class")
    page.get_by_role("link", name="Add a class").click()
    page.get_by_text("Add its steps, try them without writing").wait_for()


def test_a_class_without_objects(console):
    console.realm_server(data=True, sample=False)
    properties = [{"name": "id", "type": "int"}, {"name": "tags", "type": "string", "collection": "list"}]
    console.api("POST", "/v1/realms", {"name": "one", "schema": {"classes": [{"name": "Dog", "primaryKey": "id", "properties": properties}]}})
    page = console.page()
    says(console, page, address("one", "rows", "Dog"), "No objects yet", "Make the first one, or import some.", link="Import")
    says(console, page, address("one", "rows", "Dog", group="id"), "0 groups")
    says(console, page, address("one", "transfer", "Dog"), "There is nothing to export", "import some below")
    says(console, page, address("one", "time"), "No version is pinned.", "Nothing was committed since this page was opened.", button="Pin now")
    console.api("POST", "/v1/realms/one/objects/Dog", {"id": 7})
    says(console, page, address("one", "rows", "Dog", where="id == 8"), "Nothing matches", "Change the query, or show all objects.", button="Show all")
    says(console, page, address("one", "transfer", "Dog", where="id == 8"), "There is nothing to export", "change the condition")
    says(console, page, address("one", "collection", "Dog", "7", "tags"), "Nothing is in here", "Add the first element.", button="Add…")
    says(console, page, address("one", "classes"), "Dog")
    page.get_by_label("Find a class").fill("cat")
    page.get_by_text("No class has this in its name.").wait_for()
    says(console, page, address("one", "rows", "Dog"), "1 object")
    page.get_by_role("button", name="Queries…").click()
    page.get_by_text("Queries that you run are listed here.").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Columns…").click()
    page.get_by_label("Search columns").fill("cat")
    page.get_by_text("No property has this in its name.").wait_for()


def test_addresses_of_what_is_not_there(console):
    console.expect("answered 404")
    page = console.page()
    for screen in ("classes", "rows", "time", "transfer"):
        says(console, page, address("nix", screen), "Realm not found", link="All realms", button="Try again")
    for screen in (("object", "Product", "x"), ("collection", "Product", "x", "tags")):
        says(console, page, address("nix", *screen), "Realm not found", link="All realms")
    says(console, page, address("store", "classes", **{"class": "Nix"}), "There is no such class", link="All classes")
    says(console, page, address("store", "rows", "Nix"), "There is no such class", "choose another one")
    says(console, page, address("store", "object", "Nix", "1"), "There is no such class", link="All classes")
    says(console, page, address("store", "object", "Category", "99999"), "Object not found", "It may have been deleted.", link="The objects of Category")
    key = console.api("GET", "/v1/realms/store/objects/Customer?limit=1")["items"][0]["_id"]
    says(console, page, address("store", "collection", "Customer", "0" * 24, "tags"), "Object not found")
    says(console, page, address("store", "collection", "Customer", key, "nix"), "There is no such collection", link="The object")
    says(console, page, address("store", "nix"), "There is no such page", link="All realms")


def test_readers_of_little_or_nothing(console):
    path = os.path.join(console.run.folder, "roles.yaml")
    with open(path, "w") as file:
        file.write(ROLES)
    console.realm_server(data=True, options=["--config", path])
    admin = {"Authorization": f"Bearer {console.api('POST', '/admin/keys', {'name': 'admin', 'roles': ['admin']})['key']}"}
    keys = {role: console.api("POST", "/admin/keys", {"name": role, "roles": [role]}, admin)["key"] for role in ("blind", "nobody", "reader")}
    console.expect("answered 401")

    def page_of(role):
        page = console.page(context=console.context())
        # A user without a key is asked for one, and reads how to get it.
        page.get_by_text("Administrators make one with").wait_for()
        page.get_by_label("API key or token").fill(keys[role])
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Sign out").wait_for()
        return page

    page = page_of("nobody")
    says(console, page, "#/-/realms", "No realm is open to you", "Ask the administrator")
    says(console, page, "#/-/server", "There is no such page", "you lack the right", link="All realms")
    page = page_of("blind")
    says(console, page, address("store", "classes"), "There is no class that you may see", "Ask the administrator", link="All realms")
    for screen in ("rows", "time", "transfer"):
        says(console, page, address("store", screen), "There is no such page", "you lack the right", link="All realms")
    page = page_of("reader")
    says(console, page, address("store", "rows", "Product"), "There is no such class", "you lack the right")
    says(console, page, address("store", "transfer"), "There is no such page", link="All realms")
    says(console, page, address("store", "time"), "No version is pinned.", "Commits need the right to subscribe")
    # What is not allowed is not in the navigation.
    assert page.get_by_role("navigation", name="Screens").get_by_role("link").all_inner_texts() == ["Realms", "Classes", "Rows", "Time", "API"]


def test_every_screen_while_the_server_is_away(console):
    key = console.api("GET", "/v1/realms/store/objects/Customer?limit=1")["items"][0]["_id"]
    page = console.page("#/-/api")
    page.get_by_label("Find").wait_for()
    console.expect("ERR_", "answered 404: GET .*ticket=", "answered 503", "answered 410")
    console.server.kill()
    screens = {
        "realms": ("#/-/realms", "read and write"), "classes": (address("store", "classes"), "Embedded"), "rows": (address("store", "rows", "Category"), "Kitchen"),
        "object": (address("store", "object", "Category", "1"), "sortOrder"), "collection": (address("store", "collection", "Customer", key, "tags"), "set<string>"),
        "time": (address("store", "time"), "No version is pinned."), "transfer": (address("store", "transfer", "Category"), "30 objects"), "server": ("#/-/server", "There are no keys"),
    }
    for where, _ in screens.values():
        says(console, page, where, "The server does not answer", "The page continues when it answers.")
    console.server.start()
    for where, text in screens.values():
        says(console, page, where, text)


def test_what_was_opened_while_the_server_was_away_goes_on(console):
    console.expect("ERR_", "answered 404: GET .*ticket=", "answered 503", "answered 410")
    key = console.api("GET", "/v1/realms/store/objects/Customer?limit=1")["items"][0]["_id"]
    screens = {
        address("-", "realms"): "read and write", address("store", "classes"): "Embedded", address("store", "rows", "Category"): "Kitchen", address("store", "object", "Category", "1"): "sortOrder",
        address("store", "collection", "Customer", key, "tags"): "set<string>", address("store", "time"): "No version is pinned.", address("store", "transfer", "Category"): "30 objects", address("-", "server"): "There are no keys",
    }
    pages = {where: console.page("#/-/api") for where in screens}
    for page in pages.values():
        page.get_by_label("Find").wait_for()
    console.server.kill()
    for where, page in pages.items():
        says(console, page, where, "The server does not answer")
    console.server.start()
    for where, page in pages.items():
        page.bring_to_front()
        try:
            page.locator("main").get_by_text(screens[where]).first.wait_for()
            page.locator("main").get_by_text("The server does not answer").wait_for(state="detached")
        except Exception as error:
            raise AssertionError(f"{where} does not go on: {page.locator('main').inner_text()[:300]!r}") from error


def test_a_screen_whose_scripts_cannot_be_loaded_goes_on(console):
    console.expect("ERR_")
    page = console.page("#/-/realms")
    page.get_by_text("read and write").wait_for()
    page.route("**/screens/time/*.js", lambda route: route.abort("connectionrefused"))
    says(console, page, address("store", "time"), "The server does not answer", "The page continues when it answers.")
    page.unroute("**/screens/time/*.js")
    says(console, page, address("store", "time"), "No version is pinned.")
