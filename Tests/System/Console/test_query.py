# SPDX-License-Identifier: Apache-2.0
"""The query bar: completion, errors at their place, arguments, groups; and that the address holds what is on screen."""

import urllib.parse

from test_rows import is_right, settled

CUSTOMERS = "/v1/realms/store/objects/Customer"


def proposals(page):
    return page.get_by_role("listbox", name="Completions").get_by_role("option")


def texts(page):
    return [one.split("\n")[0] for one in proposals(page).all_inner_texts()]


def total(page):
    return page.locator(".tools [role=status]").inner_text()


def counted(console, where, args=None):
    parameters = {"where": where, "limit": 0, "count": "exact", **({"args": args} if args else {})}
    return console.api("GET", f"{CUSTOMERS}?{urllib.parse.urlencode(parameters)}")["count"]


def test_query_is_completed_by_keys_and_run(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    page.keyboard.press("/")
    page.keyboard.type("ti")
    assert texts(page)[0] == "tier", texts(page)
    page.keyboard.press("Tab")
    assert "==" in texts(page) and "BEGINSWITH" in texts(page)
    page.keyboard.type("== ")
    console.eventually(lambda: "'gold'" in texts(page))
    page.keyboard.type("'g")
    console.eventually(lambda: texts(page)[:1] == ["'gold'"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.get_by_label("Query", exact=True).input_value() == "tier == 'gold' "
    assert texts(page)[:2] == ["AND", "OR"]
    page.keyboard.type("AND addr")
    page.keyboard.press("Tab")
    page.get_by_label("Query", exact=True).press("Backspace")
    page.keyboard.type(".ci")
    assert texts(page)[:1] == ["address.city"], texts(page)
    page.keyboard.press("Tab")
    page.keyboard.type("!= null")
    page.keyboard.press("Enter")
    where = "tier == 'gold' AND address.city != null"
    number = counted(console, where)
    console.eventually(lambda: total(page).startswith(f"{number} object"))
    assert is_right(console, settled(console, page), f"{CUSTOMERS}?where={urllib.parse.quote(where)}", "_id", "firstName")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
    page.reload()
    settled(console, page)
    assert page.get_by_label("Query", exact=True).input_value() == where and total(page).startswith(f"{number} object")


def test_query_proposes_what_may_follow(console):
    page = console.page("#/store/rows/Order")
    settled(console, page)
    area = page.get_by_label("Query", exact=True)
    for text, expected, unexpected in (
            ("gift == ", ["true", "false"], ["'"]), ("customer.", ["customer.firstName", "customer.@links."], ["number"]), ("items.", ["items.quantity", "items.@count"], []),
            ("number > 3 ", ["AND", "OR", "SORT()"], ["=="]), ("status ", ["==", "CONTAINS[c]", "IN"], []), ("gift ", ["==", "!="], ["<"]),
            ("number == 1 SORT(num", ["number"], []), ("number == 1 SORT(number ", ["ASC", "DESC"], []), ("SUBQUERY(items, $x, $x.quan", ["$x.quantity"], [])):
        area.fill("")
        area.focus()
        page.keyboard.type(text)
        console.eventually(lambda: set(expected) <= set(texts(page)) or (_ for _ in ()).throw(AssertionError(f"{text}: {texts(page)[:20]}")), 3)
        assert not set(unexpected) & set(texts(page)), (text, texts(page))


def test_query_errors_stand_at_their_place(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    console.expect("answered 400")
    area = page.get_by_label("Query", exact=True)
    area.fill("firstName == '😀' AND nme == 3")
    area.press("Enter")
    page.locator(".fault mark").wait_for()
    assert page.locator(".fault mark").inner_text() == "nme"
    assert "has no property 'nme'" in page.locator(".fault").inner_text()
    assert area.get_attribute("aria-invalid") == "true"
    area.fill("points > 10")
    area.press("Enter")
    console.eventually(lambda: not page.locator(".fault").count() and total(page).startswith(f"{counted(console, 'points > 10')} object"))


def test_query_arguments_are_typed_fields(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    area = page.get_by_label("Query", exact=True)
    area.fill("points > $0 AND birthDate < $1")
    assert page.get_by_label("Type of $0").input_value() == "int" and page.get_by_label("Type of $1").input_value() == "date"
    page.get_by_label("Value of $0").fill("many")
    assert page.get_by_label("Value of $0").get_attribute("aria-invalid") == "true"
    page.get_by_label("Value of $0").fill("3000")
    page.get_by_label("Value of $1").fill("1990-01-01T00:00:00Z")
    page.get_by_label("Value of $1").press("Enter")
    number = counted(console, "points > $0 AND birthDate < $1", '["3000","1990-01-01T00:00:00Z"]')
    assert number
    console.eventually(lambda: total(page).startswith(f"{number} object"))
    page.reload()
    settled(console, page)
    assert page.get_by_label("Value of $0").input_value() == "3000" and page.get_by_label("Type of $0").input_value() == "int" and total(page).startswith(f"{number} object")


def test_query_groups_add_conditions(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    page.get_by_role("button", name="Groups").click()
    page.get_by_label("Group by").select_option("tier")
    bar = page.locator(".groups li").filter(has_text="gold")
    number = counted(console, "tier == 'gold'")
    assert str(number) in bar.inner_text()
    bar.get_by_role("button").click()
    console.eventually(lambda: total(page).startswith(f"{number} object"))
    assert page.get_by_label("Query", exact=True).input_value() == "tier == 'gold'"
    page.get_by_label("Group by").select_option("active")
    page.get_by_label("Measure").select_option("sum:points")
    page.locator(".groups li").filter(has_text="true").get_by_role("button").click()
    number = counted(console, "tier == 'gold' AND active == true")
    console.eventually(lambda: total(page).startswith(f"{number} object"))


def test_query_sort_distinct_limit_and_plan(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    page.get_by_text("Sort, distinct, limit").click()
    page.get_by_label("distinct", exact=True).fill("tier")
    page.get_by_label("distinct", exact=True).press("Enter")
    console.eventually(lambda: total(page).startswith("3 objects"))
    page.get_by_label("distinct", exact=True).fill("")
    page.get_by_label("distinct", exact=True).press("Enter")
    console.eventually(lambda: total(page).startswith("888 objects"))
    page.get_by_label("sort", exact=True).fill("-points, firstName")
    page.get_by_label("limit", exact=True).fill("25")
    page.get_by_label("limit", exact=True).press("Enter")
    console.eventually(lambda: total(page).startswith("25 objects"))
    assert is_right(console, settled(console, page)[:20], f"{CUSTOMERS}?sort=-points,firstName", "_id", "firstName")
    page.get_by_role("button", name="Explain").click()
    page.get_by_role("dialog").get_by_text("'Customer'").wait_for()


def test_query_history_and_saved_queries(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    area = page.get_by_label("Query", exact=True)
    for where in ("points > 4000", "points > 4500"):
        area.fill(where)
        area.press("Enter")
    page.get_by_role("button", name="Queries").click()
    page.get_by_label("Name").fill("Many points")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="points > 4000").click()
    number = counted(console, "points > 4000")
    console.eventually(lambda: total(page).startswith(f"{number} object"))
    other = console.page("#/store/rows/Customer")
    settled(console, other)
    other.get_by_role("button", name="Queries").click()
    other.get_by_role("button", name="Many points", exact=True).click()
    number = counted(console, "points > 4500")
    console.eventually(lambda: total(other).startswith(f"{number} object"))
    assert other.get_by_label("Query", exact=True).input_value() == "points > 4500"


def test_arguments_that_are_none_are_told(console):
    console.expect("answered 400")
    for args in ("%7B%22a%22%3A1%7D", "%5B1", "7"):
        page = console.page("#/store/rows/Product?where=price%20%3E%20%240&args=" + args)
        page.locator(".problem").first.wait_for()
        assert page.get_by_label("Query").input_value() == "price > $0"
        page.close()


def left(console, name="Order"):
    return console.api("GET", f"/v1/realms/store/objects/{name}?limit=0&count=exact")["count"]


def test_query_that_is_written_is_what_delete_and_edit_mean(console):
    page = console.page("#/store/rows/Order")
    settled(console, page)
    before = left(console)
    cancelled = console.api("GET", "/v1/realms/store/objects/Order?limit=0&count=exact&where=status%20%3D%3D%20'cancelled'")["count"]
    query = page.get_by_label("Query", exact=True)
    # Written, and not run.
    query.fill("status == 'cancelled'")
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("All objects that status == 'cancelled' finds.").wait_for()
    assert f"Delete {cancelled:,} objects" in dialog.inner_text()
    console.screenshot(page, "query-delete")
    page.keyboard.press("Escape")
    assert total(page).startswith(f"{cancelled:,} object")
    # All of a class is said in words, and above 100 objects their number is typed.
    query.fill("")
    page.get_by_role("button", name="Delete…").click()
    dialog.get_by_text("All objects of Order.").wait_for()
    assert "TRUEPREDICATE" not in dialog.inner_text()
    dialog.get_by_text("A dry run has done this").wait_for()
    delete = dialog.get_by_role("button", name=f"Delete {before:,} objects")
    assert delete.is_disabled()
    dialog.get_by_label("to delete so many objects").fill(str(before))
    assert delete.is_enabled()
    console.screenshot(page, "query-delete-all")
    page.keyboard.press("Escape")
    # A query that cannot be run leaves everything as it is.
    console.expect("answered 400")
    query.fill("status ==")
    page.get_by_role("button", name="Edit…").click()
    page.locator(".fault").wait_for()
    assert page.get_by_role("dialog").count() == 0 and left(console) == before


def test_query_whose_rows_are_cut_deletes_none_that_are_not_shown(console):
    page = console.page("#/store/rows/Order?limit=3")
    settled(console, page)
    before = left(console)
    page.get_by_role("button", name="Delete…").click()
    page.get_by_text("The rows are cut by limit").wait_for()
    assert page.get_by_role("dialog").count() == 0 and left(console) == before


def test_query_that_is_written_is_exported_grouped_and_explained(console):
    page = console.page("#/store/rows/Customer")
    settled(console, page)
    query = page.get_by_label("Query", exact=True)
    query.fill("tier == 'gold'")
    page.get_by_role("link", name="Export").click()
    page.wait_for_url("**/transfer/Customer**")
    assert "tier" in urllib.parse.unquote(page.url)
    page.go_back()
    settled(console, page)
    query.fill("tier == 'silver'")
    page.get_by_role("button", name="Groups").click()
    console.eventually(lambda: "silver" in urllib.parse.unquote(page.url) and "group=" in page.url)
