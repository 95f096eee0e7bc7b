// SPDX-License-Identifier: Apache-2.0
import { h, uniqueID } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { shortcut } from "../../core/keys.js";
import { address, go } from "../../core/router.js";
import { effect, signal, untracked } from "../../core/signals.js";
import { button, dialog, problemNode, stored } from "../../core/ui.js";
import { argumentFields } from "./arguments.js";
import { ask, selectionOf } from "./ask.js";
import { complete } from "./complete.js";
import { wordFor } from "./words.js";

/**
 * The bar of a query and its options. The address has their state.
 *
 * @param {import("./words.js").Subject} subject @param {() => URLSearchParams} query
 * @param {{error: import("../../core/signals.js").Signal<any>, retry(): void}} source @param {() => void} leave
 * @returns {{node: HTMLElement, settle(): Promise<void>}} `settle` runs what is written and was not run.
 */
export function queryBar(subject, query, source, leave) {
  const { realm, schema, type } = subject;
  const [listID, proposals, chosen] = [uniqueID(), signal(/** @type {import("./complete.js").Proposal[]} */ ([])), signal(-1)];
  const past = stored(`past:${realm}:${type.name}`, /** @type {string[]} */ ([]));
  const args = argumentFields(schema, type, run);
  let [from, asking] = [0, new AbortController()];
  const area = h("textarea", {
    rows: 1, "aria-label": "Query", placeholder: `Query, such as ${example(type)} ( / )`, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": () => (proposals.value.length ? listID : null),
    "aria-activedescendant": () => (chosen.value >= 0 ? `${listID}-${chosen.value}` : null), "aria-invalid": () => String(!!source.error.value?.problem?.parameter),
    oninput: () => { grow(); propose(); }, onblur: () => setTimeout(close, 150), onkeydown: keyed,
  });
  const list = h("ul.proposals", { role: "listbox", id: listID, "aria-label": "Completions", hidden: () => !proposals.value.length },
    () => proposals.value.map((one, i) => h("li", {
      role: "option", id: `${listID}-${i}`, "aria-selected": () => String(i === chosen.value), onmousedown: (event) => { event.preventDefault(); accept(i); },
    }, visible(one.text.slice(0, 200)), one.hint && h("small", null, visible(one.hint)))));
  const extra = ["sort", "distinct", "limit"].map((name) => h("input", { value: () => query().get(name) ?? "", "aria-label": name }));

  effect(() => {
    const where = query().get("where") ?? "";
    if (area.value !== where) area.value = where;
    close();
    args.show(query().get("args") ?? "");
    untracked(grow);
  });
  effect(() => {
    const { position, parameter } = source.error.value?.problem ?? {};
    if (parameter === "where" && document.activeElement === area) area.selectionStart = area.selectionEnd = [...area.value].slice(0, position).join("").length;
  });
  shortcut("/", "Write a query", () => area.focus());
  shortcut("Ctrl+ ", "Propose what may follow in a query", () => { area.focus(); propose(); });

  function grow() {
    args.follow(area.value);
    area.style.height = "auto";
    if (area.isConnected) area.style.height = `${Math.min(200, area.scrollHeight + 2)}px`;
  }

  function propose() {
    asking.abort();
    const { signal: abort } = asking = new AbortController();
    const found = complete(area.value.slice(0, area.selectionStart), subject);
    [proposals.value, from, chosen.value] = [found.proposals, found.from, -1];
    if (found.later) setTimeout(async () => {
      const more = abort.aborted ? [] : await found.later?.(abort).catch(() => []) ?? [];
      if (!abort.aborted && document.activeElement === area) proposals.value = [...more, ...found.proposals];
    }, 150);
  }

  function close() {
    asking.abort();
    [proposals.value, chosen.value] = [[], -1];
  }

  /** @param {number} i */
  function accept(i) {
    const { text } = proposals.peek()[i];
    area.setRangeText((/[<>=!]$/.test(area.value.slice(0, from)) ? " " : "") + text + (/[.)}]$/.test(text) ? "" : " "), from, area.selectionStart, "end");
    if (/[({'" ][)}]$/.test(text)) area.selectionStart = area.selectionEnd = area.selectionEnd - 1;
    grow();
    propose();
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    const { key } = event;
    const { length } = proposals.peek();
    const [at, step] = [chosen.peek(), length ? { ArrowDown: 1, ArrowUp: -1 }[key] : 0];
    if (step) chosen.value = (Math.max(at, step > 0 ? -1 : 0) + step + length) % length;
    else if (length && (at >= 0 ? ["Enter", "Tab"].includes(key) : key === "Tab" && from < area.selectionStart)) accept(Math.max(0, at));
    else if (key === "Enter" && !event.shiftKey) run();
    else if (key === "Escape") (length ? close : leave)();
    else return;
    event.preventDefault();
    document.getElementById(`${listID}-${chosen.peek()}`)?.scrollIntoView({ block: "nearest" });
  }

  /** The text in the bar, with the rest of the address. */
  function written() {
    const [sort, distinct, limit] = extra.map((one) => one.value.replace(/\s*,\s*/g, ",").trim());
    return { ...Object.fromEntries(untracked(query)), where: area.value.trim(), args: args.text(), sort, distinct, limit };
  }

  function run() {
    close();
    const next = written();
    if (next.where) past.value = [next.where, ...past.peek().filter((one) => one !== next.where)].slice(0, 40);
    if (isRun(next)) source.retry();
    else go(address(realm, "rows", [type.name], next));
  }

  /** @param {Record<string, string>} next */
  const isRun = (next) => address(realm, "rows", [type.name], next) === address(realm, "rows", [type.name], Object.fromEntries(untracked(query)));

  /** Runs what is written, unless that is what was run last: what is done next concerns what is on screen. */
  async function settle() {
    if (isRun(written())) return;
    const gone = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    run();
    await gone;
    // The address is taken over in a separate microtask.
    await new Promise((resolve) => setTimeout(resolve));
  }

  async function explain() {
    await settle();
    const { plan } = await ask("objects", realm, type.name, { ...selectionOf(query()), explain: "true" });
    await dialog("How this query is answered", () => h("pre", { tabindex: 0 }, plan.join("\n")));
  }

  const node = h("form.query", { role: "search", onsubmit: (event) => { event.preventDefault(); run(); } },
    h("div.bar", null, h("div.grow.field-of-query", null, area, list), h("button.primary", { type: "submit" }, "Run"), button("Queries…", () => chooseQuery(subject, past, () => new URLSearchParams(Object.entries(written()).filter(([, value]) => value)))), button("Explain", explain)),
    args.node,
    h("details", { open: !!(untracked(query).get("distinct") || untracked(query).get("limit")) }, h("summary", null, "Sort, distinct, limit"), h("div.bar", null, extra.map((one) => h("label", null, one.ariaLabel, " ", one)))),
    () => faultNode(source.error.value, query().get("where") ?? ""));
  return { node, settle };
}

/**
 * A query that the class can answer.
 *
 * @param {import("./words.js").Class} type
 */
function example({ properties, primaryKey }) {
  const fit = (/** @type {RegExp} */ kinds) => properties.find((one) => !one.collection && kinds.test(one.type) && one.name !== primaryKey && one.name.length < 30 && wordFor(one.name));
  const [number, text] = [fit(/^(int|float|double|decimal128)$/), fit(/^string$/)];
  return number ? `${wordFor(number.name)} > 30` : text ? `${wordFor(text.name)} CONTAINS "a"` : "TRUEPREDICATE";
}

/**
 * The error of the server in a query, at its place, which the server counts in scalars.
 *
 * @param {any} error @param {string} where
 */
function faultNode(error, where) {
  const { parameter, position } = error?.problem ?? {};
  if (!parameter) return null;
  const [before, after] = [[...where].slice(0, position).join(""), [...where].slice(position).join("")];
  const token = /^(\w+|[^])/u.exec(after)?.[0] ?? "";
  return h("div.fault", null, parameter === "where" && position !== undefined && h("pre", null, visible(before), h("mark", null, visible(token) || "…"), visible(after.slice(token.length))), problemNode(error));
}

/**
 * Queries that were kept under a name, with all that was on screen, and those that were run before.
 *
 * @param {import("./words.js").Subject} subject @param {import("../../core/signals.js").Signal<string[]>} past @param {() => URLSearchParams} query
 */
function chooseQuery({ realm, type: { name } }, past, query) {
  return dialog("Queries", (close) => {
    const kept = stored(`queries:${realm}:${name}`, /** @type {Record<string, string>} */ ({}));
    const input = h("input.grow", { "aria-label": "Name", placeholder: "Name for what is on screen", required: true });
    /** @param {string} title @param {string} text @param {any} [more] */
    const item = (title, text, more) => h("li", null, button(visible(title.slice(0, 300)), () => { close(); go(address(realm, "rows", [name], Object.fromEntries(new URLSearchParams(text)))); }, { class: "quiet" }), more);
    return [h("form.bar", { onsubmit: (event) => { event.preventDefault(); kept.value = { ...kept.peek(), [input.value]: String(query()) }; } }, input, h("button.primary", { type: "submit" }, "Save")),
      h("ul.queries", null, () => Object.entries(kept.value).map(([title, text]) => item(title, text,
        button("×", () => { kept.value = Object.fromEntries(Object.entries(kept.peek()).filter(([one]) => one !== title)); }, { class: "quiet", "aria-label": `Forget ${title}` })))),
      h("h3", null, "Before"),
      past.value.length ? h("ul.queries", null, past.value.map((where) => item(where, String(new URLSearchParams({ where }))))) : h("p.soft", null, "Queries that you run are listed here.")];
  });
}
