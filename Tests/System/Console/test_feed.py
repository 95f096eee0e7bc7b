# SPDX-License-Identifier: Apache-2.0
"""What changes: one stream for all pages of a browser, followed by the client that the server gives away."""

import os
import tempfile

R = "/v1/realms/store"


def cell(page, text):
    return page.get_by_role("gridcell", name=text, exact=True)


def live(page):
    page.get_by_text("Live", exact=True).wait_for()


def test_all_pages_of_a_browser_share_a_stream(console):
    pages = [console.page("#/store/rows/Category") for _ in range(8)]
    for page in pages:
        live(page)
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "For all"})
    for page in pages:
        cell(page, "For all").wait_for()
    streams = [one for one in console.api("GET", "/admin/leases")["items"] if one["kind"] == "stream"]
    assert len(streams) == 1, streams
    for page in pages:
        page.goto("about:blank")
    # What serves the files from their folder learns that a page is gone when it has something to pass on: a heartbeat.
    console.eventually(lambda: not [one for one in console.api("GET", "/admin/leases")["items"] if one["kind"] == "stream"], 40)


def test_the_first_screen_does_not_wait_for_the_client(console):
    """What follows changes is loaded by the worker, after the page has what it shows."""
    page = console.page("#/store/rows/Category")
    cell(page, "Kitchen").wait_for()
    live(page)
    own = page.evaluate("performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)")
    assert "/console/core/feed.js" in own
    assert "/client.js" not in own, "the page itself has no use for it"
    schemas = [path for path in own if path.endswith("/schema")]
    assert len(schemas) == 1, own


def test_who_signed_in_follows(console):
    """The session's cookie goes with each request, and its token with those that change something, such as registrations."""
    console.expect("answered 401")
    console.realm_server(options=["--data", tempfile.mkdtemp()])
    key = console.api("POST", "/admin/keys", {"name": "boss", "roles": ["admin"]})["key"]
    page = console.page("#/store/rows/Category")
    page.get_by_label("API key or token").fill(key)
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    live(page)
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Signed in"}, {"Authorization": f"Bearer {key}"})
    cell(page, "Signed in").wait_for()
    # Without the session the page asks for a key, and begins anew with another one.
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("API key or token").fill(key)
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    live(page)
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Once more"}, {"Authorization": f"Bearer {key}"})
    cell(page, "Once more").wait_for()


def test_a_realm_that_was_away_is_followed_again(console):
    server = console.realm_server(data=True)
    page = console.page("#/store/rows/Category")
    live(page)
    console.expect("answered 404")
    console.api("DELETE", R)
    page.get_by_text("Not connected").wait_for()
    console.api("POST", "/v1/realms", {"path": os.path.join(server.folder, "store.realm")})
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Back again"})
    cell(page, "Back again").wait_for()
    live(page)


def test_what_was_written_before_the_stream_began_is_shown(console):
    """The stream begins long after the page has read what it shows, and nobody tells of what was written in between."""
    context = console.context()
    context.add_init_script("""const post = MessagePort.prototype.postMessage;
      MessagePort.prototype.postMessage = function (message) { setTimeout(() => post.call(this, message), message.follow ? 3000 : 0); };""")
    page = console.page("#/store/rows/Category", context=context)
    cell(page, "Kitchen").wait_for()
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "In between"})
    cell(page, "In between").wait_for()


def test_a_schema_that_is_changed_is_read_anew(console):
    page = console.page("#/store/rows/Category")
    live(page)
    added = {"name": "since", "type": "date", "optional": True}
    console.api("POST", f"{R}/migrations", {"fromVersion": 1, "toVersion": 2, "steps": [{"addProperty": {"class": "Category", "property": added}}]})
    page.get_by_role("columnheader", name="since").wait_for()
