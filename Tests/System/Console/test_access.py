# SPDX-License-Identifier: Apache-2.0
"""Every screen is usable by everybody, whatever the data is: the rules of axe, and hostile names and values."""

import json
import os
import urllib.parse

R = "/v1/realms/store"
BIDI = "\u202e"
# Each would set a mark if it ran anywhere.
HOSTILE = [
    "<img src=x onerror=ran=1>", "<script>ran=1</script>", "javascript:ran=1", '"><svg onload=ran=1>', "=HYPERLINK(\"javascript:ran=1\")", "+ran", "@ran", "${ran=1}", "{{ran=1}}",
    f"a{BIDI}gpj.exe", "line\nline\ttab", "\u0000\u0007", "' OR 1 == 1", "x" * 10_000, "W " * 3_000, "ﷺ" * 500, "😀" * 500, "../../etc", "%2e%2f", "null", "",
]
WATCH = "globalThis.ran = 0; addEventListener('beforeunload', () => { if (ran) console.error('it ran'); });"


def axe():
    """The rules, as a script; None where they are not installed."""
    try:
        import axe_playwright_python
    except ImportError:
        return None
    with open(os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def address(screen, *rest, realm="store", **query):
    path = "/".join(urllib.parse.quote(part, safe="") for part in (realm, screen, *rest))
    return f"#/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")


def screens(console, realm="store", name="Product"):
    """The address of each screen, with something on it."""
    base = f"/v1/realms/{realm}"
    key = console.api("GET", f"{base}/objects/{urllib.parse.quote(name, safe='')}?limit=1")["items"][0]["$meta"]["key"]
    schema = {one["name"]: one for one in console.api("GET", f"{base}/schema")["classes"]}
    lists = [one["name"] for one in schema[name]["properties"] if one["collection"]]
    return {
        "realms": address("realms", realm="-"), "classes": address("classes", realm=realm), "class": address("classes", name, realm=realm), "diagram": address("classes", realm=realm, view="diagram"),
        "rows": address("rows", name, realm=realm), "object": address("object", name, key, realm=realm), "collection": address("collection", name, key, lists[0], realm=realm),
        "time": address("time", realm=realm), "transfer": address("transfer", realm=realm), "server": address("server", realm="-"), "api": address("api", realm="-"),
    }


def settled(console, page):
    """Waits until what is shown stays as it is."""
    before = None
    for _ in range(40):
        now = page.evaluate("document.querySelector('main').innerHTML.length")
        if now == before and now > 40 and page.locator("main .waiting").count() == 0:
            return
        before = now
        console.pause(0.25)


def violations(console, page, script):
    """What the rules find fault with."""
    before = len(console.faults)
    page.evaluate(script)
    found = page.evaluate("""async () => (await axe.run(document, { preload: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })).violations
      .map((one) => one.id + ": " + one.help + " " + one.nodes.slice(0, 3).map((node) => node.target + " " + node.html.slice(0, 140) + " " + node.any.map((any) => any.message).slice(0, 1)).join(" | "))""")
    console.pause(0.1)
    # The tool adds styles of its own, which the policy refuses.
    console.faults[before:] = [one for one in console.faults[before:] if "inline" not in one]
    return found


def breaches(console, dark, width=1280):
    script = axe()
    if script is None:
        print("       axe is not installed: its rules are not tried")
        return []
    console.api("POST", f"{R}/snapshots", {"ttl": "600s"})
    console.api("PATCH", f"{R}/objects/Category/1", {"name": "Kitchen"})
    found = []
    for name, where in screens(console).items():
        page = console.page(where, dark=dark, width=width)
        settled(console, page)
        if name == "time":
            page.get_by_role("button", name="Compare with now").click()
            page.get_by_text("1 changed").or_(page.get_by_text("There is no difference")).first.wait_for()
            console.api("PATCH", f"{R}/objects/Category/1", {"sortOrder": 3})
            console.pause(1)
        if name == "transfer":
            page.get_by_label("Pasted text").fill("id,name\n1,a\n")
            page.get_by_role("button", name="Try without writing").wait_for()
        found += [f"{name}: {one}" for one in violations(console, page, script)]
        console.screenshot(page, f"{name}-{'dark' if dark else 'light'}{'' if width == 1280 else f'-{width}'}")
        page.close()
    return found


def test_rules_of_axe_in_light(console):
    found = breaches(console, dark=False)
    assert not found, "\n" + "\n".join(found)


def test_rules_of_axe_in_dark(console):
    found = breaches(console, dark=True)
    assert not found, "\n" + "\n".join(found)


def test_rules_of_axe_on_a_telephone(console):
    found = breaches(console, dark=False, width=360)
    assert not found, "\n" + "\n".join(found)


def test_rules_of_axe_in_dialogs(console):
    script = axe()
    if script is None:
        return
    console.realm_server(data=True)
    console.api("GET", f"{R}/schema")
    page = console.page("#/-/realms")
    found = []
    for name in ("Create…", "Attach…", "Backups…", "Detach…"):
        page.get_by_role("button", name=name).first.click()
        console.pause(0.5)
        found += [f"{name} {one}" for one in violations(console, page, script)]
        page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    found += [f"keys: {one}" for one in violations(console, page, script)]
    assert not found, "\n" + "\n".join(found)


def hostile_realm(console):
    """A realm in memory whose names and values are all hostile; returns the names of its classes."""
    names = ["<img src=x onerror=ran=1>", "javascript:ran=1", f"a{BIDI}b", "=1+1", "L" * 57, '"><svg onload=ran=1>', "a'b\"c", "x y/z?#%"]
    properties = [{"name": name, "type": "string", "optional": True} for name in names if len(name) < 64]
    classes = [{"name": name, "type": "object", "primaryKey": "id", "properties": [
        {"name": "id", "type": "string"}, *properties, {"name": "list <b>", "type": "string", "collection": "list"}, {"name": "mixed", "type": "mixed"},
        {"name": "link", "type": "object", "objectType": names[0], "optional": True}]} for name in names]
    console.api("POST", "/v1/realms", {"name": "hostile", "inMemory": "hostile", "schema": {"classes": classes}})
    for name in names:
        values = HOSTILE if name == names[0] else HOSTILE[:3]
        objects = [{"id": value[:200] + str(index), **{one["name"]: value for one in properties}, "list <b>": HOSTILE[:14], "mixed": {"<b>": value, "list": [value, {"x": value}]},
                    "link": HOSTILE[0] + "0" if name != names[0] else None} for index, value in enumerate(values)]
        console.api("POST", f"/v1/realms/hostile/objects/{urllib.parse.quote(name, safe='')}", objects)
    return names


def faults_of(page):
    """What hostile data has done to a page."""
    found = []
    if page.evaluate("globalThis.ran"):
        found.append("it ran")
    if page.locator("a[href^='javascript:' i], a[href^='data:' i], [onerror], [onload], iframe, object, embed").count():
        found.append("markup or a link of the data came in")
    if BIDI in page.evaluate("document.body.innerText"):
        found.append("a control character is shown as it is")
    wide = page.evaluate("""() => { const page = document.documentElement, main = document.querySelector("main");
      if (page.scrollWidth <= innerWidth && document.body.scrollWidth <= innerWidth && main.scrollWidth <= main.clientWidth) return null;
      const wide = [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.parentElement.closest(".scroller, pre, nav, .tabs, svg"));
      return page.scrollWidth + " " + main.scrollWidth + " " + wide.slice(0, 3).map((one) => one.tagName + "." + one.className).join(" "); }""")
    if wide:
        found.append(f"it is wider than the window: {wide}")
    return found


def test_hostile_names_and_values_on_every_screen(console):
    names = hostile_realm(console)
    context = console.context()
    context.add_init_script(WATCH)
    found = []
    for width in (360, 1440):
        for index, name in enumerate(names):
            places = screens(console, "hostile", name)
            # All screens with the worst class, and those that show a class with the others.
            for screen, where in places.items():
                if index and screen not in ("class", "rows", "object"):
                    continue
                page = console.page(where, width=width, context=context)
                page.on("dialog", lambda dialog: (found.append(f"dialog {dialog.message}"), dialog.dismiss()))
                settled(console, page)
                if screen == "rows":
                    page.locator(".canvas .row input").first.wait_for(state="attached")
                if screen == "transfer":
                    rows = [HOSTILE[:8], [one for one in HOSTILE[:8]]]
                    page.get_by_label("Pasted text").fill("\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows))
                    page.get_by_role("button", name="Import", exact=True).wait_for()
                if screen == "time":
                    page.get_by_role("button", name="Pin now").click()
                    page.get_by_label("Class", exact=True).select_option(name)
                    page.get_by_text("There is no difference").wait_for()
                    console.api("PATCH", f"/v1/realms/hostile/objects/{urllib.parse.quote(name, safe='')}?where=TRUEPREDICATE", {"a'b\"c": f"{HOSTILE[0]}{width}{HOSTILE[13]}"})
                    page.locator(".pairs").wait_for()
                    console.pause(1)
                found += [f"{screen} of {json.dumps(name)} at {width}: {one}" for one in faults_of(page)]
                if not index:
                    console.screenshot(page, f"hostile-{screen}-{width}")
                page.close()
    for snapshot in console.api("GET", "/v1/realms/hostile/snapshots")["items"]:
        console.api("DELETE", f"/v1/realms/hostile/snapshots/{snapshot['id']}")
    assert not found, "\n" + "\n".join(found)
