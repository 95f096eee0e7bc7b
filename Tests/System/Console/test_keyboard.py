# SPDX-License-Identifier: Apache-2.0
"""The main jobs by the keyboard alone. A pointer that is pressed or moved over the page fails the test."""

import csv
import io
import json

R = "/v1/realms/store"
# Anything that a pointer does; a button that is pressed by a key gets a click without a pointer (its detail is 0).
WATCH = """for (const kind of ['pointerdown', 'mousedown', 'wheel', 'touchstart', 'dblclick'])
  addEventListener(kind, () => console.error('a pointer was used: ' + kind), true);
addEventListener('click', (event) => { if (event.isTrusted && event.detail) console.error('a pointer has clicked'); }, true);"""
NAME = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return '';
  return (one.ariaLabel || (one.labels?.length ? one.labels[0].textContent : '') || one.textContent || one.placeholder || one.id || '').trim();
}"""
SEEN = """() => {
  const box = document.activeElement.getBoundingClientRect();
  const at = document.elementFromPoint(box.left + Math.min(box.width, innerWidth) / 2, Math.max(0, box.top) + Math.min(box.height, 20) / 2);
  return box.bottom > 0 && box.top < innerHeight && !!at && (document.activeElement.contains(at) || at.contains(document.activeElement));
}"""


class Hands:
    """Presses keys, and finds its way by what has the focus."""

    def __init__(self, page):
        self.page, self.steps = page, {}

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        self.page.keyboard.type(text)

    def focused(self):
        return self.page.evaluate(NAME)

    def to(self, name, key="Tab", most=60, begins=False):
        """Goes on until what has this name has the focus; what has it must be on screen."""
        passed = []
        for step in range(1, most + 1):
            self.press(key)
            passed.append(self.focused())
            if passed[-1] == name or begins and passed[-1].startswith(name):
                self.steps[name] = step
                assert self.page.evaluate(SEEN), f"{name} has the focus, but cannot be seen"
                return self
        raise AssertionError(f"{name} is not reached by {most} times {key}, but {passed}")

    def choose(self, name, option):
        """Chooses in a list by the first letters."""
        self.to(name)
        self.type(option)
        assert self.page.evaluate("document.activeElement.selectedOptions[0].textContent").startswith(option)

    def write(self, name, text, **how):
        # Dialogs begin in their first field.
        if self.focused() != name:
            self.to(name, **how)
        self.press("Control+a")
        self.type(text)


def by_keys(console, address=""):
    context = console.context()
    context.add_init_script(WATCH)
    page = console.page(address, context=context)
    return page, Hands(page)


def grid_at(page, text):
    page.locator(".grid .active", has_text=text).wait_for()


def rows_shown(page):
    page.locator(".canvas .row input").first.wait_for(state="attached")


def test_find_filter_sort_open_edit_and_save(console):
    page, hands = by_keys(console)
    page.get_by_role("link", name="store", exact=True).wait_for()
    hands.to("store").press("Enter")
    page.wait_for_url("**/store/classes")
    page.get_by_label("Find a class").wait_for()
    hands.write("Find a class", "prod")
    hands.to("Product").press("Enter")
    page.get_by_role("heading", name="Product").wait_for()
    hands.to("Rows").press("Enter")
    page.wait_for_url("**/rows/Product")
    rows_shown(page)
    hands.press("/")
    hands.type("price > 100")
    hands.press("Escape", "Enter")
    page.wait_for_url("**where=price**")
    rows_shown(page)
    hands.press("Escape")
    # The head of the columns is above the first row.
    hands.press("ArrowUp", "Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    grid_at(page, "price")
    hands.press("Enter", "Enter")
    page.wait_for_url("**sort=-price**")
    most = console.api("POST", f"{R}/query/Product", {"where": "price > 100", "sort": ["-price"], "limit": 1})["items"][0]
    hands.press("ArrowDown", "Home", "ArrowRight")
    grid_at(page, most["sku"])
    hands.press("Enter")
    page.wait_for_url("**/object/Product/**")
    page.get_by_label("name", exact=True).wait_for()
    hands.write("name", "By keys")
    hands.press("Control+s")
    page.get_by_text("Saved.").wait_for()
    assert console.api("GET", f"{R}/objects/Product/{most['sku']}")["name"] == "By keys"
    # The last write is taken back by a key; Escape leaves the text.
    hands.press("Escape", "u")
    page.get_by_text("Undone.").wait_for()
    assert console.api("GET", f"{R}/objects/Product/{most['sku']}")["name"] == most["name"]


def test_create_delete_and_undo(console):
    # The page may hear that the object is gone before it leaves.
    console.expect("answered 404")
    page, hands = by_keys(console, "#/store/rows/Category")
    rows_shown(page)
    hands.to("New").press("Enter")
    page.wait_for_url("**/object/Category/%40new")
    page.get_by_label("id", exact=True).wait_for()
    hands.write("id", "901")
    hands.write("name", "Made by keys")
    hands.press("Control+s")
    page.wait_for_url("**/object/Category/901")
    assert console.api("GET", f"{R}/objects/Category/901")["name"] == "Made by keys"
    page.get_by_role("button", name="Delete…").wait_for()
    hands.to("Delete…").press("Enter")
    page.get_by_role("dialog").wait_for()
    # The dialog has the focus on what does it.
    hands.press("Enter")
    page.wait_for_url("**/rows/Category")
    assert console.raw("GET", f"{R}/objects/Category/901")[0] == 404
    rows_shown(page)
    hands.press("u")
    page.get_by_text("Undone.").wait_for()
    assert console.api("GET", f"{R}/objects/Category/901")["name"] == "Made by keys"


def test_follow_a_link_and_return(console):
    page, hands = by_keys(console, "#/store/rows/Order")
    rows_shown(page)
    hands.to("Rows of Order")
    hands.press("ArrowDown", "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    page.locator(".cell.active .chip").wait_for()
    hands.press("i")
    page.locator(".peek").get_by_text("firstName").wait_for()
    hands.press("Escape")
    page.locator(".peek").wait_for(state="detached")
    hands.press("f")
    page.wait_for_url("**/object/Customer/**")
    page.get_by_role("navigation", name="Way back").get_by_role("link").wait_for()
    hands.to("Order", key="Shift+Tab", most=5)
    hands.press("Enter")
    page.wait_for_url("**/rows/Order")
    rows_shown(page)


def test_export_and_import(console):
    page, hands = by_keys(console, "#/store/rows/Category?where=id%20%3C%203")
    rows_shown(page)
    hands.to("Export").press("Enter")
    page.wait_for_url("**/transfer/Category**")
    page.get_by_text("2 objects").wait_for()
    hands.choose("Format", "CSV")
    with page.expect_download() as download:
        hands.to("Export").press("Enter")
    with open(download.value.path()) as file:
        assert len(list(csv.reader(io.StringIO(file.read())))) == 3
    hands.write("Pasted text", "id,name\n901,a\n")
    # Tab leaves the text.
    hands.to("Try without writing").press("Enter")
    page.get_by_text("this would be 1 created").wait_for()
    hands.to("Import", key="Shift+Tab").press("Enter")
    page.get_by_text("Done: 1 created").wait_for()
    assert console.api("GET", f"{R}/objects/Category/901")["name"] == "a"


def test_a_file_is_imported(console):
    page, hands = by_keys(console, "#/store/transfer")
    page.get_by_role("button", name="Choose a file…").wait_for()
    with page.expect_file_chooser() as chooser:
        hands.to("Choose a file…").press("Enter")
    chooser.value.set_files([{"name": "a.json", "mimeType": "text/plain", "buffer": json.dumps([{"id": 901, "name": "a"}]).encode()}])
    page.get_by_text("a JSON array").wait_for()
    hands.choose("Class", "Category")
    hands.to("Import").press("Enter")
    page.get_by_text("Done: 1 created").wait_for()


def test_pin_a_version_and_compare(console):
    page, hands = by_keys(console, "#/store/rows/Category")
    rows_shown(page)
    hands.press("t")
    page.get_by_role("button", name="Pin now").wait_for()
    hands.to("Pin now").press("Enter")
    page.get_by_text("There is no difference").wait_for()
    hands.choose("Class", "Category")
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Changed"})
    page.locator(".pairs").get_by_text("Changed").first.wait_for()
    hands.to("Free", key="Shift+Tab", begins=True).press("Enter")
    page.get_by_text("No version is pinned.").wait_for()


def test_try_an_operation(console):
    page, hands = by_keys(console, "#/store/rows/Category")
    rows_shown(page)
    hands.press("a")
    page.get_by_label("Find").wait_for()
    hands.write("Find", "object of category")
    page.locator("summary:visible").first.wait_for()
    names = page.locator("summary:visible").all_inner_texts()
    hands.to("GET", begins=True).press("Enter")
    page.get_by_role("button", name="Try it").first.wait_for()
    assert names
    hands.to("key", begins=True)
    hands.type("1")
    hands.to("Try it").press("Enter")
    page.locator("form [role=status] .tag.good").wait_for()


def test_make_a_key_and_sign_in(console):
    console.realm_server(data=True)
    console.expect("answered 401")
    page, hands = by_keys(console)
    page.get_by_role("link", name="store", exact=True).wait_for()
    hands.press("s")
    page.get_by_role("button", name="Create a key…").wait_for()
    hands.to("Create a key…").press("Enter")
    page.get_by_role("dialog", name="Create a key").wait_for()
    hands.write("Name", "first")
    hands.write("Roles, such as admin", "admin")
    hands.press("Enter")
    dialog = page.get_by_role("dialog", name="Key of first")
    dialog.wait_for()
    key = dialog.get_by_label("Key", exact=True).input_value()
    hands.press("Escape")
    # From now on the server demands it of this page too.
    page.get_by_label("API key or token").wait_for()
    console.eventually(lambda: hands.focused() == "API key or token")
    hands.type(key)
    hands.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()


def test_a_collection_a_column_and_a_realm(console):
    console.realm_server(data=True)
    page, hands = by_keys(console)
    page.get_by_role("button", name="Create…").wait_for()
    hands.to("Create…").press("Enter")
    page.get_by_role("dialog", name="Create a realm").wait_for()
    hands.write("Name", "mine")
    hands.choose("Begin with", "sample")
    hands.press("Enter") if hands.focused() != "Begin with" else hands.to("Create").press("Enter")
    page.wait_for_url("**/mine/classes", timeout=30_000)
    hands.press("r")
    page.wait_for_url("**/mine/rows/**")
    # The letters choose in the list, and do not open other screens.
    hands.choose("Class", "Product")
    page.wait_for_url("**/rows/Product")
    rows_shown(page)
    hands.to("Rows of Product")
    hands.press("ArrowDown", "Home")
    for _ in range(40):
        hands.press("ArrowRight")
        if page.locator(".cell.active a.count").count():
            break
    hands.press("f")
    page.wait_for_url("**/collection/Product/**")
