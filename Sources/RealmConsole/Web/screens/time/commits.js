// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { each, h } from "../../core/dom.js";
import { formatCount, formatLocalTime, visible } from "../../core/format.js";
import { effect, onCleanup, signal } from "../../core/signals.js";
import { button, field, search, shownProblem } from "../../core/ui.js";
import { linkNode } from "../../core/values.js";

/** @typedef {{id: string, when: string, version: string, sets: any[], note?: string}} Entry */

const [KEPT, KEYS] = [300, 20];

/**
 * The commits while the page is open: the changed objects by class, and their changed properties.
 *
 * @param {string} realm @param {string[]} names
 */
export function commits(realm, names) {
  const [entries, chosen, filter, isPaused, problem] = [signal(/** @type {Entry[]} */ ([])), signal(names.slice(0, 50)), signal(""), signal(false), signal(null)];
  /** @type {Entry[]} */
  let held = [];
  let count = 0;
  /** @param {Partial<Entry>} one */
  const add = (one) => {
    const [last, ...others] = held;
    const isSame = one.version && last?.version === one.version;
    const entry = { id: String(count += 1), when: new Date().toISOString(), version: "", ...one, sets: [...(isSame ? last.sets : []), ...(one.sets ?? [])] };
    held = [entry, ...(isSame ? others : held)].slice(0, KEPT);
    if (!isPaused.peek()) entries.value = held;
  };
  effect(() => {
    const classes = chosen.value;
    if (!classes.length) return;
    let [isEnded, isCut, source, timer] = [false, false, /** @type {EventSource | null} */ (null), /** @type {any} */ (0)];
    onCleanup(() => { isEnded = true; clearTimeout(timer); source?.close(); });
    const open = async () => {
      try {
        const { url, version } = await call("POST", inRealm(realm, "subscriptions"), { quiet: true, body: { subscriptions: Object.fromEntries(classes.map((name, index) => [`c${index}`, { class: name, include: "keys", deep: "embedded" }])) } });
        if (isEnded) return;
        problem.value = null;
        if (isCut) add({ note: "The connection was cut: commits before this are missing." });
        listen(source = new EventSource(`${url}&initial=false&since=${encodeURIComponent(version)}`));
      } catch (error) {
        problem.value = error;
        if (!isEnded) timer = setTimeout(open, 1000);
      }
    };
    const listen = (/** @type {EventSource} */ stream) => {
      const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ body) => stream.addEventListener(name, body);
      on("changes", ({ data }) => {
        const { sub, to, ...set } = JSON.parse(data);
        add({ version: to, sets: [{ ...set, name: classes[sub.slice(1)] }] });
      });
      on("reset", () => add({ note: "The connection was away too long, or the realm was opened again: commits before this are missing." }));
      on("schema", () => add({ note: "The schema has changed." }));
      on("error", () => {
        // The browser reconnects automatically, unless the server no longer knows the registration.
        if (stream.readyState !== EventSource.CLOSED) return;
        isCut = true;
        timer = setTimeout(open, 300);
      });
    };
    void open();
  });
  const list = h("ol.commits", { "aria-label": "Commits" });
  each(list, () => entries.value, (one) => one.id, (one) => {
    const text = JSON.stringify([one.version, one.note, one.sets]).toLowerCase();
    return h("li", { hidden: () => !text.includes(filter.value) }, h("span.soft", null, formatLocalTime(one.when), " ", h("code", null, one.version)), one.note ?? one.sets.map((set) => setNode(realm, set)));
  });
  if (!names.length) return h("section", { "aria-labelledby": "commits" }, h("h2", { id: "commits" }, "Commits"), h("p.soft", null, "Commits need the right to subscribe to a class. Ask the administrator for it."));
  return h("section", { "aria-labelledby": "commits" }, h("h2", { id: "commits" }, "Commits"),
    h("div.bar", null, field("Filter by class, key, property", search(filter)), h("details", null, h("summary", null, () => `${formatCount(chosen.value.length)} of ${formatCount(names.length)} classes`),
      names.map((name) => {
        const box = h("input", { type: "checkbox", checked: () => chosen.value.includes(name), onchange: () => { chosen.value = box.checked ? [...chosen.peek(), name].slice(-50) : chosen.peek().filter((one) => one !== name); } });
        return h("label", null, box, ` ${visible(name).slice(0, 80)}`);
      })),
    () => button(isPaused.value ? "Continue" : "Pause", () => { isPaused.value = !isPaused.peek(); entries.value = held; }), button("Clear", () => { entries.value = held = []; })),
    shownProblem(problem),
    () => entries.value.length === 0 && h("p.soft", null, "Nothing was committed since this page was opened. New commits appear here."), list);
}

/** @param {string} realm @param {any} set */
function setNode(realm, { name, deletions, insertions, modifications }) {
  return [[insertions, "added", "good"], [modifications, "changed", "warn"], [deletions, "deleted", "danger"]].filter(([rows]) => rows.length).map(([rows, word, kind]) => h("div", null,
    h("span.tag", { class: kind }, `${formatCount(rows.length)} ${word}`), ` ${visible(name).slice(0, 80)} `,
    rows.slice(0, KEYS).map((/** @type {any} */ { key, properties }) => [word === "deleted" ? h("code", null, visible(key).slice(0, 80)) : linkNode({ class: name, key }, realm), properties && ` ${properties.map(visible).join(", ") || "inside"}`, " "]),
    rows.length > KEYS && `and ${formatCount(rows.length - KEYS)} more`));
}
