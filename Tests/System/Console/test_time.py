# SPDX-License-Identifier: Apache-2.0
"""The screen Time: pinned versions beside now, and the feed of commits."""

import datetime

R = "/v1/realms/store"


def snapshots(console):
    return console.api("GET", f"{R}/snapshots")["items"]


def change(console):
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Kitchen <b>"})
    console.api("POST", f"{R}/objects/Category", {"id": 9007199254740993, "name": "New"})
    console.api("DELETE", f"{R}/objects/Category/30")


def rows(page):
    """The pairs on screen: object with its kind, property, then, now."""
    found, head = [], ""
    for row in page.locator(".pairs tr").all():
        head = row.locator("th").inner_text() if row.locator("th").count() else head
        found.append((" ".join(head.split()), *row.locator("td").all_inner_texts()))
    return found


def test_a_pinned_version_beside_now(console):
    page = console.page("#/store/time")
    page.get_by_role("heading", name="Snapshots").wait_for()
    page.get_by_text("No version is pinned").wait_for()
    page.get_by_role("button", name="Pin now").click()
    page.get_by_text("There is no difference").wait_for()
    (pinned,) = console.eventually(lambda: snapshots(console))
    change(console)
    page.get_by_text("1 added, 1 removed, 1 changed").wait_for()
    found = rows(page)
    assert ("Category 1 changed", "name", "Kitchen", "Kitchen <b>") in found
    assert ("Category 9007199254740993 added", "id", "", "9007199254740993") in found
    assert ("Category 30 removed", "name", "Comics", "") in found
    assert len([one for one in found if one[0] == "Category 1 changed"]) == 1
    page.get_by_role("cell", name="3", exact=True).first.wait_for()
    console.screenshot(page, "time")
    page.get_by_label("Equal objects too").check()
    console.eventually(lambda: any(one[0] == "Category 2 same" for one in rows(page)))
    page.get_by_label("Class", exact=True).select_option("Event")
    page.get_by_label("Equal objects too").wait_for()
    page.get_by_text("There is no difference").wait_for()
    page.get_by_role("button", name=f"Free {pinned['version']}").click()
    console.eventually(lambda: not snapshots(console))


def test_a_pin_is_renewed_while_it_is_shown(console):
    context = console.context()
    page = console.page("#/store/time", context=context)
    page.clock.install()
    page.reload()
    page.get_by_role("button", name="Pin now").click()
    (first,) = console.eventually(lambda: snapshots(console))
    console.pause(1.2)
    page.clock.run_for(125_000)
    later = console.eventually(lambda: [one for one in snapshots(console) if one["expiresAt"] > first["expiresAt"]])
    until = datetime.datetime.fromisoformat(later[0]["expiresAt"].replace("Z", "+00:00")) - datetime.datetime.now(datetime.timezone.utc)
    assert until.total_seconds() > 590


def test_many_differences_are_paged(console):
    page = console.page("#/store/time")
    page.get_by_role("button", name="Pin now").click()
    page.get_by_text("There is no difference").wait_for()
    page.get_by_label("Class", exact=True).select_option("Product")
    console.api("PATCH", f"{R}/objects/Product?where=stock%20%3E%200", {"stock": -5})
    changed = console.api("GET", f"{R}/objects/Product?where=stock%20%3D%3D%20-5&limit=0&count=exact")["count"]
    console.eventually(lambda: page.get_by_text("25 changed so far").count() == 1)
    page.get_by_role("button", name="Show more").click()
    page.get_by_text("50 changed so far").wait_for()
    assert len(rows(page)) == 50 and all(now == "-5" for _, _, _, now in rows(page))
    assert changed > 50


def test_a_class_that_was_refilled(console):
    """Nothing is on both sides: what is left of the one is removed, of the other added."""
    page = console.page("#/store/time")
    page.get_by_role("button", name="Pin now").click()
    page.get_by_text("There is no difference").wait_for()
    page.get_by_label("Class", exact=True).select_option("Event")
    before = console.api("GET", f"{R}/objects/Event?limit=0&count=exact")["count"]
    console.api("DELETE", f"{R}/objects/Event?where=TRUEPREDICATE")
    console.api("POST", f"{R}/objects/Event", [{"at": "2026-01-01T00:00:00Z", "kind": "new"}] * 3)
    page.get_by_text("25 removed").wait_for()
    page.get_by_text("25 removed").wait_for()
    console.pause(1.5)
    more = page.get_by_role("button", name="Show more")
    console.eventually(lambda: page.get_by_text(f"3 added, {before} removed, 0 changed").count() or (more.count() and more.click()), 30)


def test_commits_are_told_as_they_happen(console):
    page = console.page("#/store/time")
    page.get_by_text("Nothing was committed").wait_for()
    # The feed listens when its registration is read.
    console.eventually(lambda: "realm_rest_streams 2" in console.raw("GET", "/metrics")[2].decode())
    change(console)
    items = page.get_by_label("Commits", exact=True).get_by_role("listitem")
    items.filter(has_text="Category 1").filter(has_text="name").wait_for()
    items.filter(has_text="1 added").filter(has_text="9007199254740993").wait_for()
    items.filter(has_text="1 deleted").filter(has_text="30").wait_for()
    console.screenshot(page, "time-commits")
    # One commit with several classes is one entry.
    entries = items.count()
    key = console.api("GET", f"{R}/objects/Customer?limit=1")["items"][0]["_id"]
    version = console.api("POST", f"{R}/batch", {"ops": [
        {"patch": {"class": "Category", "key": "2", "body": {"name": "both"}}}, {"patch": {"class": "Customer", "key": key, "body": {"points": 5}}}]})["version"]
    both = items.filter(has_text=version)
    both.filter(has_text="points").filter(has_text="Category 2").wait_for()
    assert items.count() == entries + 1
    page.get_by_label("Filter").fill("points")
    console.eventually(lambda: [one for one in items.all() if one.is_visible()].__len__() == 1)
    page.get_by_label("Filter").fill("")
    page.get_by_role("button", name="Pause").click()
    console.api("PATCH", f"{R}/objects/Category/3", {"name": "while paused"})
    console.pause(1)
    assert items.count() == entries + 1
    page.get_by_role("button", name="Continue").click()
    items.filter(has_text="Category 3 name").wait_for()
    page.get_by_text("6 of 6 classes").click()
    page.get_by_label("Category", exact=True).uncheck()
    page.get_by_text("5 of 6 classes").wait_for()
    console.pause(1.5)
    page.get_by_role("button", name="Clear").click()
    console.api("PATCH", f"{R}/objects/Category/3", {"name": "not watched"})
    console.api("PATCH", f"{R}/objects/Customer/{key}", {"points": 6})
    items.filter(has_text="points").wait_for()
    assert items.count() == 1


def test_the_list_of_commits_is_bounded(console):
    page = console.page("#/store/time")
    console.eventually(lambda: "realm_rest_streams 2" in console.raw("GET", "/metrics")[2].decode())
    for number in range(330):
        console.api("PATCH", f"{R}/objects/Category/1", {"sortOrder": number})
    items = page.get_by_label("Commits", exact=True).locator("li")
    last = console.api("GET", R)["version"]
    items.filter(has_text=last).first.wait_for()
    assert 100 < items.count() <= 300
