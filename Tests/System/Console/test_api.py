# SPDX-License-Identifier: Apache-2.0
"""The screen of the API: requests as code, and the documents with "try it"."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import quote

# Quotes of all languages, what each of them would replace, line ends, what cannot be seen, half a character.
HOSTILE = "'; $(touch broken) `id` \"\\(1)\\\" ${1} {x} %s \\u0041 \n\r\t\b\f\u0000\u2028\u202e\ufeff😀 \\' é"


def code_of(console, language, request):
    """The code that the screen makes of a request."""
    page = console.page("#/-/api")
    page.get_by_role("heading", name="As code").wait_for()
    return page.evaluate("""async ([language, request]) => (await import('/console/screens/api/code.js')).code(language, request, false)""", [language, request])


def echo(console):
    """A request that leaves a text, in its path and its body, where it can be read back."""
    console.server
    console.api("POST", "/v1/realms", {"name": "echo", "inMemory": "echo", "schema": {"classes": [
        {"name": "Note", "primaryKey": "id", "properties": [{"name": "id", "type": "string"}, {"name": "text", "type": "string"}]}]}})
    return {"method": "PUT", "target": "/v1/realms/echo/objects/Note/" + quote(HOSTILE.replace("\u0000", ""), safe="!'()*~"), "body": {"id": HOSTILE.replace("\u0000", ""), "text": HOSTILE}}


def kept(console):
    found = console.api("GET", "/v1/realms/echo/objects/Note")["items"]
    assert len(found) == 1 and found[0]["text"] == HOSTILE and found[0]["id"] == HOSTILE.replace("\u0000", ""), found
    return True


def run(command, text=None, seconds=60):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_curl_sends_the_same(console):
    run(["bash", "-e"], code_of(console, "curl", echo(console)))
    assert kept(console)


def test_curl_sends_a_body_of_text_as_it_is(console):
    # The other way of quoting: nothing here is hidden.
    echo(console)
    text = "@it's \"a\" \\n $HOME é"
    code = code_of(console, "curl", {"method": "POST", "target": "/v1/realms/echo/objects/Note", "body": json.dumps({"id": "1", "text": text}), "headers": {"Content-Type": "application/json"}})
    run(["bash", "-e"], code)
    assert console.api("GET", "/v1/realms/echo/objects/Note/1")["text"] == text


def test_python_sends_the_same(console):
    assert run([sys.executable, "-c", code_of(console, "Python", echo(console))]).startswith("201")
    assert kept(console)


def test_swift_compiles_and_sends_the_same(console):
    # A compiler is not everywhere where a browser is.
    if not shutil.which("swiftc"):
        print("       swiftc is not installed: the Swift line is not tried")
        return
    folder = tempfile.mkdtemp(prefix="realm-rest-swift-")
    with open(os.path.join(folder, "main.swift"), "w", encoding="utf-8") as file:
        file.write(code_of(console, "Swift", echo(console)))
    run(["swiftc", "-o", os.path.join(folder, "send"), os.path.join(folder, "main.swift")], seconds=600)
    assert run([os.path.join(folder, "send")]).startswith("201")
    shutil.rmtree(folder)
    assert kept(console)


def test_javascript_sends_the_same(console):
    code = code_of(console, "JavaScript", echo(console))
    # As a module of the page, since requests of other origins are refused.
    page = console.page("#/-/api")
    page.context.route("**/console/try.js", lambda route: route.fulfill(content_type="text/javascript", body=code))
    page.evaluate("import('/console/try.js')")
    assert console.eventually(lambda: kept(console))


def test_what_was_on_screen_is_shown_as_code(console):
    page = console.page("#/store/classes?view=source")
    page.locator(".tab pre").wait_for()
    page.keyboard.press("a")
    page.get_by_label("Request").wait_for()
    assert page.get_by_role("link", name="Back to").get_attribute("href").startswith("#/store/classes")
    assert "format=swift" in page.get_by_label("Request").locator("option").first.inner_text()
    for language, word in (("Python", "urlopen"), ("Swift", "URLSession"), ("JavaScript", "await fetch"), ("curl", "curl --globoff -X GET")):
        page.get_by_label("Language").select_option(language)
        page.get_by_label("Code").get_by_text(word).wait_for()
    assert f"{console.url}/v1/realms/store/schema?format=swift" in page.get_by_label("Code").inner_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.get_by_label("Code").inner_text()


def test_the_document_is_shown_and_tried(console):
    console.expect("answered 404: GET .*/objects/Category/77", "answered 422")
    page = console.page("#/-/api")
    page.get_by_label("Find").fill("/v1/realms/{realm}/objects/{className}/{key}")
    known = console.api("GET", "/v1/openapi.json")
    page.locator("details:visible").first.wait_for()
    assert page.locator("details").count() == sum("responses" in one for item in known["paths"].values() for one in item.values())
    one = page.locator("details:visible", has=page.get_by_text("GET", exact=True)).first
    one.locator("summary").click()
    one.get_by_label("realm", exact=True).fill("store")
    one.get_by_label("className", exact=True).fill("Category")
    one.get_by_label("key", exact=True).fill("1")
    one.get_by_role("button", name="Try it").click()
    one.locator(".tag.good", has_text="200").wait_for()
    assert json.loads(one.get_by_label("Body", exact=True).inner_text())["id"] == 1
    assert "realm-version: " in one.get_by_label("Header fields").inner_text()
    one.get_by_label("key", exact=True).fill("77/../x")
    one.get_by_role("button", name="Try it").click()
    one.locator(".tag.danger", has_text="404").wait_for()


def test_a_page_of_the_reference_leads_to_its_operation(console):
    page = console.page("/docs/api")
    link = page.get_by_role("link", name="Try it").nth(20)
    operation = link.get_attribute("href").split("operation=")[1]
    link.click()
    opened = page.locator("details[open]")
    opened.wait_for()
    assert opened.count() == 1
    known = console.api("GET", "/v1/openapi.json")
    wanted = next(f"{method.upper()}{path}" for path, item in known["paths"].items() for method, one in item.items()
                  if isinstance(one, dict) and one.get("operationId") == operation)
    console.eventually(lambda: opened.locator("summary code").all_inner_texts()[0] + opened.locator("summary code").all_inner_texts()[1] == wanted)
    console.eventually(lambda: 0 <= opened.bounding_box()["y"] < page.viewport_size["height"])
    assert opened.get_by_role("button", name="Try it").count() == 1


def test_an_operation_with_a_body_is_tried(console):
    page = console.page("#/store/classes")
    page.locator(".diagram rect").first.wait_for()
    page.keyboard.press("a")
    page.get_by_label("Document").locator("option:checked", has_text="Classes of store").wait_for(state="attached")
    page.get_by_label("Find").fill("POST")
    one = page.locator("details:visible", has=page.locator("summary", has_text="/objects/Category")).first
    one.locator("summary").click()
    one.get_by_label("Body", exact=True).fill('{"id": 9223372036854775807, "name": "<b>tried</b>"}')
    one.get_by_role("button", name="Try it").click()
    one.locator(".tag.good", has_text="201").wait_for()
    assert "9223372036854775807" in one.locator("[role=status] pre").last.inner_text()
    assert console.api("GET", "/v1/realms/store/objects/Category/9223372036854775807")["name"] == "<b>tried</b>"
