// SPDX-License-Identifier: Apache-2.0
import { h, uniqueID } from "../../core/dom.js";
import { same } from "../../core/exact.js";
import { formatCount, visible } from "../../core/format.js";
import { address } from "../../core/router.js";
import { effect, onCleanup, untracked } from "../../core/signals.js";
import { header } from "./header.js";
import { canvasHeight, mapping, ROW } from "./scroll.js";
import { cell } from "./values.js";

/**
 * A grid of virtual rows: of any number of rows only those near the visible ones are in the document.
 *
 * @typedef {import("./source.js").Row} Row
 * @typedef {{node: HTMLElement, row: Row | undefined, index: number}} Shown
 *
 * @param {{label: string, realm: string, className: string, layout: import("./columns.js").Layout,
 *   picked: import("../../core/signals.js").Signal<Set<string>>, sort(): string, onSort(name: string, isMore: boolean): void,
 *   open(key: string): void, inspect(cell: Element, key: string, name: string): void,
 *   connect(view: any): ReturnType<import("./source.js").rowSource>}} options
 */
export function grid({ label, realm, className, layout, picked, sort, onSort, open, inspect, connect }) {
  const id = uniqueID();
  /** @type {Map<string, Shown>} */
  let shown = new Map();
  /** @type {import("./columns.js").Column[]} */
  let columns = [];
  let [position, seen, frame, drawn, active] = [0, 0, 0, [0, -1], { row: 0, column: 1 }];
  const source = connect({ anchor, moved, changed: (/** @type {boolean} */ isLive) => render(isLive) });
  /** @type {any} */
  let settling;
  const head = h("div.head", { role: "rowgroup" });
  const body = h("div.canvas", { role: "rowgroup" });
  const node = h("div.grid", {
    role: "grid", tabindex: 0, "aria-label": label, "aria-multiselectable": "true", "aria-rowcount": () => (source.total.value ?? -1) + 1,
    onscroll: scrolled, onkeydown: keyed, onclick: clicked, ondblclick: (event) => { if (rowAt(event)) openActive(); },
  }, head, body);

  const view = () => Math.max(ROW, node.clientHeight - head.offsetHeight);
  const count = () => source.total.peek() ?? 0;
  const map = () => mapping(count(), view());

  effect(() => {
    body.style.height = `${canvasHeight(source.total.value ?? 0)}px`;
    untracked(() => moveTo(position));
  });
  effect(() => {
    columns = layout.columns();
    node.setAttribute("aria-colcount", String(columns.length + 1));
    head.replaceChildren(header(layout, sort(), onSort));
    shown.forEach((one) => one.node.remove());
    shown = new Map();
    untracked(() => render(false));
  });
  effect(() => {
    const front = innerWidth < 640 ? 56 : 58 + 8 * String(source.total.value ?? 0).length;
    let [left, all] = [front, front];
    const tracks = layout.columns().map(({ property, isPinned }, i) => {
      const width = layout.width(property);
      node.style.setProperty(`--left${i}`, `${left}px`);
      all += width;
      if (isPinned) left += width;
      return `${width}px`;
    });
    node.style.setProperty("--columns", `${front}px ${tracks.join(" ")}`);
    node.style.setProperty("--all", `max(100%, ${all}px)`);
  });
  effect(() => { picked.value; mark(); });
  const observer = new ResizeObserver(() => moveTo(position));
  observer.observe(node);
  onCleanup(() => {
    observer.disconnect();
    cancelAnimationFrame(frame);
  });

  /** @param {number} next Pixels from the first of all rows. */
  function hold(next) {
    const { end, top } = map();
    position = Math.max(0, Math.min(end, next));
    node.scrollTop = top(position);
    seen = node.scrollTop;
  }

  /** @param {number} next */
  function moveTo(next) {
    hold(next);
    render(false);
  }

  function scrolled() {
    const top = node.scrollTop;
    if (top === seen) return;
    const to = map();
    const isNear = to.isMapped && Math.abs(top - seen) < 2 * view() && top > 0 && top < node.scrollHeight - node.clientHeight - 1;
    position = Math.max(0, Math.min(to.end, isNear ? position + top - seen : to.position(top)));
    seen = top;
    frame ||= requestAnimationFrame(() => render(false));
    clearTimeout(settling);
    if (isNear) settling = setTimeout(() => moveTo(position), 150);
  }

  /** The first visible row stays where it is, unless it is the first of all. */
  function anchor() {
    const index = Math.floor(position / ROW);
    const row = index ? source.get(index) : undefined;
    return row ? { key: row.key, index } : null;
  }

  /** @param {number} by */
  function moved(by) {
    if (active.row >= 0) active.row = Math.max(0, active.row + by);
    position += by * ROW;
  }

  /** @param {boolean} isLive Whether changes shall be seen as such. */
  function render(isLive) {
    frame = 0;
    if (isLive) {
      body.style.height = `${canvasHeight(count())}px`;
      hold(position);
    }
    const [from, to] = [Math.max(0, Math.floor(position / ROW) - 4), Math.min(count(), Math.ceil((position + view()) / ROW) + 4)];
    source.need(from, Math.max(to, from + 1));
    /** @type {Map<string, Shown>} */
    const next = new Map();
    let place = body.firstElementChild;
    for (let index = from; index < to; index += 1) {
      const row = source.get(index);
      let key = row?.key ?? `\n${index}`;
      if (next.has(key)) key += `\n${index}`;
      const one = shown.get(key) ?? made(row, isLive && index >= drawn[0] && index < drawn[1]);
      shown.delete(key);
      if (row && (one.row?.etag !== row.etag || one.row.of !== row.of)) patch(one, row, isLive);
      one.index = index;
      one.node.setAttribute("aria-rowindex", String(index + 2));
      one.node.style.transform = `translateY(${index * ROW - position + seen}px)`;
      if (one.node === place) place = place.nextElementSibling;
      else body.insertBefore(one.node, place);
      next.set(key, one);
    }
    shown.forEach((one) => one.node.remove());
    node.setAttribute("aria-busy", String([...next.values()].some(({ row }) => !row)));
    [shown, drawn] = [next, [from, to]];
    mark();
  }

  /** @param {Row | undefined} row @param {boolean} isComing @returns {Shown} */
  function made(row, isComing) {
    const box = row && h("input", { type: "checkbox", tabindex: -1, "aria-label": `Select ${visible(row.key.slice(0, 80))}` });
    return { row, index: -1, node: h("div.row", { role: "row", class: row ? isComing && "flash" : "awaited" },
      h("div.cell.pinned", { role: "gridcell", "aria-colindex": 1 }, box, row ? h("a.open", { href: address(realm, "object", [className, row.key]), tabindex: -1, title: "Open", "aria-label": `Open ${visible(row.key.slice(0, 80))}` }, h("small", null)) : h("small", null)), row ? columns.map((_, i) => cellOf(row, i)) : null) };
  }

  /** @param {Row} row @param {number} i @param {string} [kind] */
  function cellOf(row, i, kind = "") {
    const { property, isPinned } = columns[i];
    const content = cell(row.values[property.name], property, { realm, className, key: row.key });
    [content, ...content.querySelectorAll("a")].forEach((one) => { if (one.matches("a")) one.tabIndex = -1; });
    const made = h("div.cell", {
      role: "gridcell", "aria-colindex": i + 2, title: content.title || String(content.textContent).length < 14 ? null : content.innerText, class: `${kind} ${isPinned ? "pinned" : ""} ${layout.isRight(property) ? "right" : ""}`,
      style: isPinned ? { left: `var(--left${i})` } : null,
    }, content);
    if (kind) setTimeout(() => made.classList.remove(kind), 1200);
    return made;
  }

  /** @param {Shown} one @param {Row} row @param {boolean} isLive */
  function patch(one, row, isLive) {
    columns.forEach(({ property: { name } }, i) => {
      if (!same(one.row?.values[name], row.values[name])) one.node.children[i + 1].replaceWith(cellOf(row, i, isLive ? "flash" : ""));
    });
    one.row = row;
  }

  /** Shows what is selected and where the keys are. */
  function mark() {
    node.querySelector(".active")?.classList.remove("active");
    node.removeAttribute("aria-activedescendant");
    shown.forEach(({ node: element, row, index }) => {
      const isPicked = !!row && picked.peek().has(row.key);
      element.setAttribute("aria-selected", String(isPicked));
      /** @type {any} */
      const front = element.children[0];
      if (row) front.firstChild.checked = isPicked;
      front.querySelector("small").textContent = formatCount(index + 1);
    });
    const line = active.row < 0 ? head.firstElementChild : [...shown.values()].find((one) => one.index === active.row)?.node;
    const at = line?.children[active.column];
    if (!at) return;
    at.classList.add("active");
    at.id ||= `${id}-${uniqueID()}`;
    node.setAttribute("aria-activedescendant", at.id);
  }

  /** @param {number} row @param {number} column */
  function activate(row, column) {
    active = { row: Math.max(-1, Math.min(count() - 1, row)), column: Math.max(0, Math.min(columns.length, column)) };
    const y = active.row * ROW;
    if (active.row >= 0 && y < position) moveTo(y);
    else if (active.row >= 0 && y + ROW > position + view()) moveTo(y + ROW - view());
    mark();
    const at = node.querySelector(".active");
    if (!at || at.matches(".pinned")) return;
    const [box, all, pinned] = [at.getBoundingClientRect(), node.getBoundingClientRect(), head.querySelectorAll(".pinned")];
    const left = pinned[pinned.length - 1].getBoundingClientRect().right;
    if (box.left < left) node.scrollLeft -= left - box.left;
    else if (box.right > all.left + node.clientWidth) node.scrollLeft += Math.min(box.left - left, box.right - all.left - node.clientWidth);
  }

  /** @param {number} [row] */
  function toggle(row = active.row) {
    const key = source.get(row)?.key;
    if (key === undefined) return;
    const next = new Set(picked.peek());
    if (!next.delete(key)) next.add(key);
    picked.value = next;
  }

  function openActive() {
    const row = source.get(active.row);
    if (row) open(row.key);
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    if (event.target !== node || event.altKey) return;
    const [{ row, column }, page] = [active, Math.max(1, Math.floor(view() / ROW) - 1)];
    const property = columns[column - 1]?.property;
    const name = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.shiftKey ? "Shift+" : ""}${event.key}`;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowUp: () => activate(row - 1, column), ArrowDown: () => activate(row + 1, column),
      ArrowLeft: () => activate(row, column - 1), ArrowRight: () => activate(row, column + 1),
      PageUp: () => activate(Math.max(0, row - page), column), PageDown: () => activate(row + page, column),
      Home: () => activate(row, 0), End: () => activate(row, columns.length),
      "Ctrl+Home": () => activate(0, 0), "Ctrl+End": () => activate(count() - 1, columns.length),
      Enter: openActive, " ": toggle,
      "Shift+ArrowUp": () => { toggle(); activate(row - 1, column); }, "Shift+ArrowDown": () => { toggle(); activate(row + 1, column); },
      f: () => node.querySelector(".cell.active a, .cell.active button")?.click(),
      i: () => { if (property && source.get(row)) inspect(node.querySelector(".active"), source.get(row)?.key ?? "", property.name); },
    };
    if (row < 0 && property) {
      Object.assign(actions, {
        Enter: () => onSort(property.name, false), "Shift+Enter": () => onSort(property.name, true), " ": () => onSort(property.name, false),
        "Shift+ArrowLeft": () => layout.resize(property, -16), "Shift+ArrowRight": () => layout.resize(property, 16),
        "Ctrl+ArrowLeft": () => { layout.move(property, -1); activate(row, column - 1); },
        "Ctrl+ArrowRight": () => { layout.move(property, 1); activate(row, column + 1); },
        p: () => layout.pin(property), Delete: () => layout.hide(property),
      });
    }
    if (!actions[name]) return;
    event.preventDefault();
    actions[name]();
  }

  /** @param {Event} event */
  function rowAt(event) {
    const at = /** @type {Element} */ (event.target).closest("[role=gridcell]");
    return at && [...shown.values()].find((one) => one.node === at.parentElement);
  }

  /** @param {MouseEvent} event */
  function clicked(event) {
    const [at, one] = [/** @type {Element} */ (event.target).closest("[role=gridcell]"), rowAt(event)];
    if (!at || !one) return;
    activate(one.index, [...one.node.children].indexOf(at));
    if (/** @type {Element} */ (event.target).matches("input")) toggle(one.index);
    if (!/** @type {Element} */ (event.target).closest("a, button")) node.focus({ preventScroll: true });
  }

  return {
    node, source,
    /** @param {number} index */
    goTo(index) {
      moveTo(index * ROW);
      activate(index, active.column);
      node.focus({ preventScroll: true });
    },
    toTop() {
      // The focus stays in the head after a sort by keys.
      active.row = Math.min(active.row, 0);
      moveTo(0);
    },
  };
}
