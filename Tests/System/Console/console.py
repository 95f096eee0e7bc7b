# SPDX-License-Identifier: Apache-2.0
"""What tests of the console use: a server with data of its own, and pages of a real browser that record every fault.

A test is a function `test_…(console)` of a file `test_*.py`; `run.py` finds and runs them. It fails when it raises, and also
when a page of it logged an error, threw one, broke the policy for contents, or had a request fail that it did not `expect`.

    def test_a_name_is_changed(console):
        page = console.page("#/store/object/Category/1")
        page.get_by_label("name").fill("Kitchen")
        page.get_by_role("button", name="Save").click()
        console.eventually(lambda: console.api("GET", "/v1/realms/store/objects/Category/1")["name"] == "Kitchen")
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
from harness import SAMPLE, Program, Server, request  # noqa: E402

# Tells of contents that the policy has refused, also where the browser itself says nothing.
WATCH = """addEventListener('securitypolicyviolation', (event) =>
  console.error('policy broken: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber));"""


def front(server, port=0):
    """What serves the files of the console from their folder, before a server."""
    return Program([sys.executable, os.path.join(HERE, "serve.py"), "--server", server, "--port", port], start_new_session=True)


class RealmServer:
    """realm-rest with a folder of its own."""

    def __init__(self, run, folder, names, options):
        # Without names it serves the folder, and makes new files there.
        self.run, self.folder, self.names, self.options = run, folder, names, list(options)
        self.server, self.front, self.port, self.front_port = None, None, 0, 0
        self.start()

    def start(self):
        """Starts it, at its former port if it had one."""
        files = [os.path.join(self.folder, name) for name in self.names] or ["--data", self.folder]
        self.server = Server(self.run.server, *files, *self.options, port=self.port, start_new_session=True)
        self.port = self.server.port
        if self.front is None and self.run.is_folder(self.port):
            self.front = front(self.api_url, self.front_port)
            self.front_port = self.front.port

    @property
    def api_url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self):
        """Where the pages are."""
        return f"http://127.0.0.1:{self.front_port or self.port}"

    def kill(self):
        """Ends the server without any chance to say farewell; the front, if there is one, stays."""
        self.server.end(signal.SIGKILL)

    def kill_all(self):
        """The same, and no page gets a file any more either."""
        self.kill()
        if self.front:
            self.front.end(signal.SIGKILL)
        self.front = None

    def restart(self):
        self.kill()
        self.start()

    def end(self):
        for program in filter(None, (self.server, self.front)):
            program.end(seconds=15)
        shutil.rmtree(self.folder, ignore_errors=True)


class Console:
    """What one test is given."""

    def __init__(self, run, name):
        self.run, self.name = run, name
        self.servers, self.contexts, self.pages, self.faults, self.expected = [], [], [], [], []

    # Servers

    def realm_server(self, files=(), options=(), sample=True, data=False):
        """A fresh server with copies of these files, and of the sample realm `store`; it is the one meant from now on.

        With `data` their folder is its data folder, in which it makes new realms and finds files that it opens when they are used.
        """
        folder = tempfile.mkdtemp(prefix="realm-rest-console-")
        names = []
        for source in ([self.run.sample()] if sample else []) + list(files):
            names.append(os.path.basename(source))
            shutil.copy(source, os.path.join(folder, names[-1]))
        self.servers.append(RealmServer(self.run, folder, [] if data else names, options))
        return self.servers[-1]

    @property
    def server(self):
        return self.servers[-1] if self.servers else self.realm_server()

    @property
    def url(self):
        return self.run.web or self.server.url

    # Requests past the page

    def raw(self, method, target, body=None, headers=None):
        """The status, header fields and bytes of an answer."""
        address = urllib.parse.urlsplit(self.run.web or self.server.api_url)
        return request(address.port, method, target, body, headers, seconds=60, host=address.hostname)

    def api(self, method, target, body=None, headers=None):
        """The document that the server answers; a refusal fails the test."""
        status, _, text = self.raw(method, target, body, headers)
        assert status < 400, f"{method} {target}: {status} {text[:500].decode(errors='replace')}"
        return json.loads(text) if text else None

    # Pages

    def context(self, **options):
        """Another browser: nothing is shared with the pages of the first."""
        context = self.run.browser.new_context(accept_downloads=True, **options)
        context.set_default_timeout(15_000)
        context.set_default_navigation_timeout(30_000)
        context.add_init_script(WATCH)
        context.on("page", self.watch)
        self.contexts.append(context)
        return context

    def page(self, address="", dark=False, width=1280, height=800, context=None):
        """A page at an address such as `#/store/rows/Product`; without a context of its own it shares that of the test."""
        context = context or (self.contexts[0] if self.contexts else self.context())
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.goto(urllib.parse.urljoin(self.url + "/", address))
        page.locator("main").wait_for()
        return page

    def watch(self, page):
        self.pages.append(page)

        def message(said):
            # The status of an answer is recorded with the answer, which also names its address.
            if said.type == "error" and not said.text.startswith("Failed to load resource"):
                self.fault(f"logged: {said.text} ({said.location.get('url')}:{said.location.get('lineNumber')})")

        def response(answer):
            if answer.status >= 400:
                self.fault(f"answered {answer.status}: {answer.request.method} {answer.url}")

        def failed(request):
            # What a page gives up itself is no failure.
            if request.failure != "net::ERR_ABORTED":
                self.fault(f"failed {request.failure}: {request.method} {request.url}")

        page.on("console", message)
        page.on("pageerror", lambda error: self.fault(f"threw: {error} {(error.stack or '')[:800]}"))
        page.on("response", response)
        page.on("requestfailed", failed)

    def fault(self, text):
        if not any(re.search(pattern, text) for pattern in self.expected):
            self.faults.append(text)

    def expect(self, *patterns):
        """Faults that are no failure from now on, as regular expressions: `answered 422`, `ERR_CONNECTION_REFUSED`."""
        self.expected += patterns

    def pause(self, seconds):
        """Waits; events of pages arrive meanwhile."""
        page = next((page for page in reversed(self.pages) if not page.is_closed()), None)
        page.wait_for_timeout(seconds * 1000) if page else time.sleep(seconds)

    def eventually(self, function, seconds=10):
        """Calls a function until what it returns is true and it raises no assertion; returns that."""
        end = time.monotonic() + seconds
        while True:
            try:
                value, reason = function(), None
            except AssertionError as error:
                value, reason = None, error
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s" + (f": {reason}" if reason else "")) from None
            self.pause(0.05)

    def screenshot(self, page, name):
        """Keeps what a page shows, where pictures are asked for."""
        if self.run.screenshots:
            page.screenshot(path=os.path.join(self.run.screenshots, name + ".png"))

    def end(self, failed):
        if failed:
            for index, page in enumerate(page for page in self.pages if not page.is_closed()):
                try:
                    self.screenshot(page, f"failed-{self.name}-{index}")
                except Exception:  # A page that is not fit to be shown must not hide why the test failed.
                    pass
        for context in self.contexts:
            context.close()
        for server in self.servers:
            server.end()


class Run:
    """What all tests share: the browser, the sample realm, what was asked for."""

    def __init__(self, browser, server, web=None, folder=False, screenshots=None):
        self.browser, self.server, self.web, self.screenshots = browser, os.path.abspath(server) if server else None, web, screenshots
        self.forced = folder
        self.folder = tempfile.mkdtemp(prefix="realm-rest-sample-")
        if screenshots:
            os.makedirs(screenshots, exist_ok=True)

    def sample(self):
        path = os.path.join(self.folder, "store.realm")
        if not os.path.exists(path):
            subprocess.run([self.server, "import", SAMPLE, path], check=True, stdout=subprocess.DEVNULL)
        return path

    def is_folder(self, port):
        """Whether the files of the console come from their folder, because that is asked for or the binary has none."""
        if self.forced:
            return True
        status, fields, _ = request(port, "GET", "/", headers={"Accept": "text/html"})
        return status != 200 or "html" not in fields.get("Content-Type", "")

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)
