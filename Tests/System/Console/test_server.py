# SPDX-License-Identifier: Apache-2.0
"""The screen of the server: charts, leases, keys, configuration."""

import os
import re
import tempfile


def server_page(console, **options):
    # A server without a log to look at answers so.
    console.expect("answered 404: GET .*/admin/log")
    page = console.page("#/-/server", **options)
    page.locator("figure").first.wait_for()
    return page


def test_charts_follow_what_happens(console):
    page = server_page(console)
    console.eventually(lambda: page.locator("figure path[d*=M]").count() > 3)
    for index in range(40):
        console.api("PUT", f"/v1/realms/store/objects/Category/{9000 + index % 3}", {"id": 9000 + index % 3, "name": f"n {index}"})
    charts = {title: page.locator("figure", has_text=title) for title in ("Requests per second", "Latency in 10 s", "Commits per second", "Live versions")}
    number = lambda title: float(charts[title].locator("small").inner_text().split()[-1])
    console.eventually(lambda: number("Commits per second") >= 5 and number("Requests per second") >= 5)
    assert "99 %" in charts["Latency in 10 s"].inner_text() and "s" in charts["Latency in 10 s"].locator("span").last.inner_text()
    memory = page.locator("figure", has_text="Memory").locator("span").inner_text()
    assert re.search(r"\d ?[kKMG]i?B", memory), memory
    assert charts["Live versions"].locator("svg").get_attribute("aria-label").startswith("Live versions: ")
    assert page.locator("figure path").first.get_attribute("d").count("M") == 1


def test_a_lease_is_ended(console):
    page = server_page(console)
    made = console.api("POST", "/v1/realms/store/snapshots", {})
    row = page.locator("tbody tr", has_text="snapshot")
    row.get_by_role("button", name="End").focus()
    page.wait_for_timeout(2500)
    assert page.evaluate("document.activeElement.textContent") == "End…", "the focus is lost when leases are read again"
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="End").click()
    row.wait_for(state="detached")
    status, _, _ = console.raw("GET", f"/v1/realms/store/objects/Category?snapshot={made['id']}")
    assert status == 410, status


def test_the_configuration_is_shown(console):
    page = server_page(console)
    known = console.api("GET", "/admin/config")
    page.get_by_text("logLevel").wait_for()
    page.get_by_text("Limits", exact=True).click()
    assert page.locator("details dd").count() == len(known["limits"])
    assert page.locator("dl").first.locator("dd").first.inner_text() == known["version"]


def test_keys_are_made_rotated_and_revoked(console):
    console.expect("answered 401", "answered 422")
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as file:
        file.write('roles:\n  viewer: {realms: {"*": {classes: {"*": [read]}}}}\n  clerk: {realms: {store: {classes: {"*": [read, update]}}}}\n')
    console.realm_server(options=["--data", folder, "--config", os.path.join(folder, "config.yaml")])
    page = server_page(console)
    known = lambda key: console.raw("GET", "/v1/me", headers={"Authorization": f"Bearer {key}"})[0] == 200

    def make(name, roles, **others):
        page.get_by_role("button", name="Create a key").click()
        dialog = page.get_by_role("dialog")
        for label, value in {"Name": name, "Roles": roles, **others}.items():
            dialog.get_by_label(label).fill(value)
        dialog.get_by_role("button", name="Create").click()
        return secret()

    def secret():
        dialog = page.get_by_role("dialog", name="Key of")
        value = dialog.get_by_label("Key", exact=True).input_value()
        dialog.get_by_role("button", name="Close").click()
        dialog.wait_for(state="detached")
        return value

    boss = make("boss <b>", "admin")
    assert known(boss)
    # The page is asked for a key from now on, as everybody is.
    page.get_by_label("API key or token").fill(boss)
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    page.locator("td", has_text="boss <b>").wait_for()
    # A role that does not exist makes no key, and the form keeps what was typed.
    page.get_by_role("button", name="Create a key").click()
    refused = page.get_by_role("dialog")
    refused.get_by_label("Name").fill("other")
    refused.get_by_label("Roles").fill("viewr")
    refused.get_by_role("button", name="Create").click()
    refused.get_by_text("viewr").wait_for()
    assert refused.get_by_label("Name").input_value() == "other"
    refused.get_by_role("button", name="Cancel").click()
    other = make("other", "viewer, clerk", Expires="90d", From="10.0.0.0/8", Only="store")
    row = page.locator("tr", has_text="other")
    listed = console.api("GET", "/admin/keys", headers={"Authorization": f"Bearer {boss}"})["items"]
    made = next(one for one in listed if one["name"] == "other")
    assert (made["roles"], made["realm"], made["from"]) == (["viewer", "clerk"], "store", ["10.0.0.0/8"]) and made["expires"]
    row.get_by_role("button", name="Rotate").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    assert secret() not in (other, boss)
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    row.wait_for(state="detached")
    assert [one["name"] for one in console.api("GET", "/admin/keys", headers={"Authorization": f"Bearer {boss}"})["items"]] == ["boss <b>"]


def test_a_restart_is_survived(console):
    console.expect("answered 5..", "failed net::")
    page = server_page(console)
    console.server.kill()
    page.get_by_text("The server does not answer").wait_for()
    console.server.start()
    page.get_by_text("The server does not answer").wait_for(state="detached")


def test_the_log_is_followed(console):
    page = server_page(console)
    if console.raw("GET", "/admin/log")[0] == 404:
        # A server of before: the page is what is tried.
        lines = [{"number": 1, "line": "GET /v1/realms/store 200 \u202e<b>"}, {"number": 2, "line": "GET /admin/leases 200"}]
        page.route("**/admin/log*", lambda route: route.fulfill(json={"items": [one for one in lines if one["number"] > int(route.request.url.partition("since=")[2] or 0)], "next": lines[-1]["number"]}))
        page.reload()
        page.locator("pre", has_text="GET /v1/realms/store 200 ‹U+202E›<b>").wait_for()
        lines.append({"number": 3, "line": "PUT /v1/realms/store/objects/Category/1 200"})
        page.locator("pre", has_text="PUT").wait_for()
        assert page.locator("pre").inner_text().count("\n") <= 2 and "leases" not in page.locator("pre").inner_text()
    else:
        console.api("GET", "/v1/realms/store/objects/Review?limit=1")
        page.locator("pre", has_text="Review").or_(page.locator("pre", has_text="{class}")).wait_for()
        assert "/admin/leases" not in page.locator("pre").inner_text()


def test_figures_are_those_of_the_metrics(console):
    page = console.page("#/-/api")
    text = lambda fast, all_, commits: "\n".join([
        '# TYPE realm_rest_request_seconds histogram', f'realm_rest_request_seconds_bucket{{route="/v1/a",le="0.001"}} {fast}', f'realm_rest_request_seconds_bucket{{route="/v1/a",le="0.01"}} {all_}',
        f'realm_rest_request_seconds_bucket{{route="/v1/a",le="+Inf"}} {all_}', f'realm_rest_request_seconds_bucket{{route="/metrics",le="+Inf"}} {9 * all_}',
        f'realm_rest_commits_total{{realm="a \\"}}"}} {commits}', f'realm_rest_commits_total{{realm="b"}} {commits}', "realm_rest_streams 3", "process_resident_memory_bytes 1.5e+07", ""])
    found = page.evaluate("""async (texts) => {
      const { sampled, rate, latency } = await import('/console/screens/server/metrics.js');
      const all = texts.map((text, index) => ({ ...sampled(text), time: 2 * index }));
      return [latency(0.25)(all, 1), latency(0.5)(all, 1), latency(0.75)(all, 1), rate('commits_total')(all, 1), rate('commits_total')(all, 2), latency(0.5)([all[0], all[0]], 1), all[0].sums.streams, all[0].sums.process_resident_memory_bytes];
    }""", [text(10, 20, 5), text(60, 120, 9), text(0, 0, 1)])
    assert [round(one, 6) if one is not None else None for one in found] == [0.0005, 0.001, 0.0055, 4, 1, None, 3, 15_000_000], found
