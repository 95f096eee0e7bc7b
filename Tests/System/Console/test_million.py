# SPDX-License-Identifier: Apache-2.0
"""The main jobs of the screens with a million objects, and the grid where the server itself takes long."""

import os
import statistics
import time

from test_rows import ITEMS, is_right, items, settled

R = "/v1/realms/items"


def test_the_end_of_a_sorted_million(console):
    items(console, 1_000_000)
    page = console.page("#/items/rows/Item?sort=amount")
    settled(console, page)
    # The first answer fills what the server keeps of the order; what it says of each wait is recorded.
    page.evaluate("""() => {
      const [grid, busy, seen] = [document.querySelector('.grid'), document.querySelector('.busy'), globalThis.seen = { awaited: 0, busy: 0, from: 0, last: 0 }];
      const look = () => {
        const waits = grid.getAttribute('aria-busy') === 'true';
        if (waits) { seen.awaited += 1; seen.last = performance.now() - seen.from; seen.busy += Number(!busy.hidden); }
        requestAnimationFrame(look);
      };
      seen.from = performance.now();
      look();
      grid.scrollTop = grid.scrollHeight;
    }""")
    shown = settled(console, page)
    assert shown[-1][0] == 999_999 and is_right(console, shown, f"{ITEMS}?sort=amount", "id", "name")
    seen = page.evaluate("seen")
    print(f"       rows were awaited for {seen['last']:.0f} ms, in {seen['awaited']} frames, {seen['busy']} of them with the bar of progress")
    # What takes longer than 200 ms is told, and rows that are awaited have their numbers and a trace of what comes.
    assert seen["last"] < 350 or seen["busy"] > 0, seen
    # The thumb is dragged back and forth: old wishes are given up, and the last one is answered.
    for part in list(range(100, -1, -5)) + [37]:
        page.evaluate("(part) => { const grid = document.querySelector('.grid'); grid.scrollTop = part / 100 * (grid.scrollHeight - grid.clientHeight); }", part)
        console.pause(0.02)
    begin = time.monotonic()
    page.locator(".grid[aria-busy=false]").wait_for(timeout=60_000)
    shown = settled(console, page)
    print(f"       after a drag of the thumb the rows were right within {time.monotonic() - begin:.1f} s")
    assert is_right(console, shown, f"{ITEMS}?sort=amount", "id", "name")
    assert page.evaluate("document.querySelector('.grid').getAttribute('aria-busy')") == "false"


def test_awaited_rows_are_seen(console):
    page = console.page("#/store/rows/Review?sort=-helpful")
    settled(console, page)

    def late(route):
        console.pause(0.8)
        route.continue_()

    page.route("**/objects/Review*", late)
    page.evaluate("() => { const grid = document.querySelector('.grid'); grid.scrollTop = grid.scrollHeight; }")
    page.locator(".grid[aria-busy=true]").wait_for()
    page.locator(".busy:visible").wait_for()
    console.pause(0.3)
    height = page.evaluate("(() => { const row = document.querySelector('.row.awaited'); return row && getComputedStyle(row, '::after').height; })()")
    assert height in (None, "10px"), height
    console.screenshot(page, "rows-awaited")
    page.locator(".grid[aria-busy=false]").wait_for()


def test_other_screens_with_a_million_objects(console):
    items(console, 1_000_000)
    taken = {}

    def timed(name, run):
        begin = time.monotonic()
        run()
        taken[name] = time.monotonic() - begin

    page = console.page()
    page.get_by_role("link", name="items", exact=True).wait_for()

    def to(hash_, *waits):
        page.evaluate("(hash) => { location.hash = hash; }", hash_)
        for wait in waits:
            wait().wait_for()

    timed("classes", lambda: to("#/items/classes", lambda: page.get_by_text("1,000,000").first))
    timed("rows", lambda: to("#/items/rows/Item", lambda: page.locator(".canvas").get_by_text("Item 0000003")))
    timed("query", lambda: to("#/items/rows/Item?where=name%20ENDSWITH%20%2299999%22", lambda: page.get_by_text("10 objects")))
    timed("groups", lambda: to("#/items/rows/Item?group=kind", lambda: page.get_by_text("5 groups")))
    timed("object", lambda: to("#/items/object/Item/777777", lambda: page.get_by_label("name", exact=True)))
    page.get_by_label("name", exact=True).fill("Changed in a million")
    timed("save", lambda: (page.keyboard.press("Control+s"), page.get_by_text("Saved.").wait_for()))
    assert console.api("GET", f"{ITEMS}/777777")["name"] == "Changed in a million"
    timed("time", lambda: to("#/items/time", lambda: page.get_by_role("button", name="Pin now")))
    # All objects of both versions are read, so it tells how far it is, and can be ended.
    page.get_by_role("button", name="Pin now").click()
    page.get_by_text("objects read").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("objects read").wait_for(state="detached")
    timed("transfer", lambda: to("#/items/transfer/Item", lambda: page.get_by_text("1,000,000 objects")))
    page.get_by_label("Only objects that match").fill("id < 1000")
    page.get_by_text("1,000 objects").wait_for()
    page.get_by_label("Format").select_option("xlsx")

    def export():
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        assert os.path.getsize(download.value.path()) > 20_000

    timed("export of 1,000", export)
    timed("server", lambda: to("#/-/server", lambda: page.get_by_text("There are no keys")))
    timed("realms", lambda: to("#/-/realms", lambda: page.get_by_text("read and write")))
    print("       " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in taken.items()))
    assert page.evaluate("performance.memory.usedJSHeapSize") < 150e6


def test_frames_while_a_million_rows_are_scrolled(console):
    """The frames of the page are counted; they are judged only on a machine that has nothing else to do."""
    items(console, 1_000_000)
    page = console.page("#/items/rows/Item")
    settled(console, page)
    load = os.getloadavg()[0]
    found = page.evaluate("""async () => {
      const [grid, gaps, long] = [document.querySelector('.grid'), [], []];
      new PerformanceObserver((list) => list.getEntries().forEach((one) => long.push(one.duration))).observe({ type: 'longtask' });
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      let last = await frame();
      for (let i = 0; i < 300; i += 1) {
        // 200 frames as a wheel turns, 100 as the thumb is dragged.
        grid.scrollTop += i < 200 ? 90 : grid.scrollHeight / 100;
        const now = await frame();
        gaps.push(now - last);
        last = now;
      }
      return { gaps, long };
    }""")
    gaps = sorted(found["gaps"])
    rate = 1000 / statistics.mean(gaps)
    print(f"       load {load:.1f}: {rate:.0f} frames a second, the slowest twentieth above {gaps[len(gaps) * 95 // 100]:.0f} ms, {len(found['long'])} tasks above 50 ms, the longest {max(found['long'], default=0):.0f} ms")
    if load < 1:
        assert rate > 55 and max(found["long"], default=0) < 100


test_the_end_of_a_sorted_million.slow = True
test_other_screens_with_a_million_objects.slow = True
test_frames_while_a_million_rows_are_scrolled.slow = True
