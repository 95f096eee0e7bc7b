// SPDX-License-Identifier: Apache-2.0
import { ProblemError } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { counted, formatCount, formatDuration, visible } from "../../core/format.js";
import { shortcut } from "../../core/keys.js";
import { address, go, route, setQuery } from "../../core/router.js";
import { classNamed, isEmbedded, schemaOf } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { effect, onCleanup, signal, untracked } from "../../core/signals.js";
import { button, classChoice, emptyNode, failureNode, loaded } from "../../core/ui.js";
import { noClassNode } from "../classes/none.js";
import { bulkActions } from "../object/bulk.js";
import { selectionOf } from "../query/ask.js";
import { groupPanel } from "../query/groups.js";
import { queryBar } from "../query/query.js";
import { chooseColumns, layoutOf } from "./columns.js";
import { grid } from "./grid.js";
import { previews, showValue } from "./peek.js";
import { rowSource } from "./source.js";

const KEYS = {
  "Arrows, PageUp, PageDown, Home, End": "Move in the rows; with Ctrl to the first and the last one", "Enter in a row": "Open the object",
  "Space in a row": "Select it; Shift with arrows selects several", "f in a row": "Follow the link, open the collection or the bytes",
  "i in a row": "Show the whole value, or what a link leads to", "In the head of a column": "Enter sorts (Shift: also), Shift+arrows resize, Ctrl+arrows move, p pins, Delete hides",
};

/** @type {import("../screens.js").View} */
export const rows = ({ realm, rest: [name] }) => loaded(schemaOf(realm), (schema) => untracked(() => {
  const type = classNamed(schema, name);
  const first = schema.classes.find((one) => one.type === "object") ?? schema.classes[0];
  if (!first) return noClassNode(realm);
  if (!name) setTimeout(() => location.replace(address(realm, "rows", [first.name])));
  const picker = pickerNode(realm, schema, type?.name ?? "");
  return type ? rowsNode({ realm, schema, type }, picker) : name && emptyNode("There is no such class", "It may have been renamed, or you lack the right to see it: choose another one.", picker);
}));

/**
 * Leads to another class. Keys choose by the first letters, so the page waits until that is over.
 *
 * @param {string} realm @param {import("../../core/schema.js").Schema} schema @param {string} name
 */
function pickerNode(realm, schema, name) {
  let [typed, timer] = [0, 0];
  onCleanup(() => clearTimeout(timer));
  const leave = () => { if (node.value && node.value !== name) go(address(realm, "rows", [node.value])); };
  const node = classChoice(schema.classes, signal(name), {
    class: "class", "aria-label": "Class",
    onkeydown: (event) => {
      typed = performance.now();
      if (event.key === "Enter") leave();
    },
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(leave, performance.now() - typed < 1000 ? 1000 : 0);
    },
  }, name ? "" : "Choose a class");
  return node;
}

/** @param {import("../query/words.js").Subject} subject @param {HTMLElement} picker Of another class. */
function rowsNode(subject, picker) {
  const { realm, schema, type } = subject;
  const className = type.name;
  const [params, selection, asked, picked] = [signal(""), signal(""), signal(""), signal(/** @type {Set<string>} */ (new Set()))];
  effect(() => {
    const { screen, rest, query } = route.value;
    if (screen === "rows" && rest[0] === className) params.value = String(query);
  });
  const query = () => new URLSearchParams(params.value);
  const layout = layoutOf(realm, type, () => query().get("columns"));
  effect(() => {
    const names = layout.names();
    const selected = { ...selectionOf(query()), limit: query().get("limit") ?? "" };
    selection.value = JSON.stringify(selected);
    // A name that looks like a path is read with all others.
    asked.value = JSON.stringify({ ...selected, fields: names.some((one) => one.includes(".")) ? [] : names });
  });
  const classes = [className, ...type.properties.flatMap((one) => (isEmbedded(schema, one) ? one.objectType ?? [] : []))];
  const made = grid({
    label: `Rows of ${className}`, realm, className, layout, picked, onSort, sort: () => query().get("sort") ?? "",
    open: (key) => go(address(realm, "object", [className, key])),
    inspect: (at, key, name) => (at.querySelector("a.chip") ? peek(at.querySelector("a.chip")) : showValue(realm, className, key, name)),
    connect: (view) => rowSource(realm, type, classes, () => JSON.parse(asked.value), view),
  });
  const { source } = made;
  const peek = previews(made.node, realm, schema);
  let before = selection.peek();
  effect(() => {
    if (selection.value === before) return;
    before = selection.value;
    picked.value = new Set();
    untracked(made.toTop);
  });

  /** @param {string} name @param {boolean} isMore Whether the other columns continue to sort. */
  function onSort(name, isMore) {
    const terms = (query().get("sort") ?? "").split(",").filter(Boolean);
    const at = terms.find((term) => term === name || term === `-${name}`);
    const next = at === undefined ? [name] : at === name ? [`-${name}`] : [];
    setQuery({ sort: (!isMore ? next : at ? terms.flatMap((term) => (term === at ? next : [term])) : [...terms, ...next]).join(",") });
  }

  function status() {
    const [total, { size }] = [source.total.value, picked.value];
    return total !== null && `${counted(total, "object")} · ${formatDuration(source.took.value)}${size ? ` · ${formatCount(size)} selected` : ""}`;
  }

  function toggleGroups() {
    const one = type.properties.find(({ collection, objectType, name }) => !collection && !objectType && name !== type.primaryKey) ?? type.properties[0];
    setQuery({ group: query().has("group") ? "" : one.name });
  }

  const bar = queryBar(subject, query, source, () => made.node.focus());
  const settled = async () => {
    await bar.settle();
    const cut = ["distinct", "limit"].filter((one) => query().get(one));
    if (cut.length && !picked.peek().size) throw new ProblemError({ code: "", title: `The rows are cut by ${cut.join(" and ")}`, detail: "All that the query finds would be meant. Select rows, or clear this below the query.", status: 0 });
  };
  const exported = () => address(realm, "transfer", [className], { ...selectionOf(query()), distinct: "" });
  /** @param {MouseEvent} event */
  const toExport = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void bar.settle().then(() => go(exported()));
  };

  const jump = h("input.jump", { type: "number", min: 1, "aria-label": "Go to row", placeholder: "Go to row", title: "Key: j", onchange: () => { if (jump.value) made.goTo(jump.value - 1); } });
  shortcut("j", "Go to a row by its number", () => jump.focus());
  shortcut("ArrowDown", "To the rows", () => made.node.focus());
  Object.entries(KEYS).forEach(([key, does]) => shortcut(key, does, () => {}));
  return h("div.rows-screen", null, h("h1.visually-hidden", null, `Rows of ${visible(className.slice(0, 80))}`),
    bar.node,
    h("div.bar.tools", null, picker, h("span", { role: "status" }, status), jump, button("Columns…", () => { void chooseColumns(type, layout); }, { class: "end" }),
      button("Groups", async () => { await bar.settle(); toggleGroups(); }, { "aria-pressed": () => String(query().has("group")) }),
      type.type === "object" && [may("create", realm, className) && h("a.button", { href: address(realm, "object", [className, "@new"]) }, "New"),
        may("export", realm, className) && h("a.button", { href: exported, onclick: toExport }, "Export"),
        bulkActions({ realm, className, schema, settled, keys: () => [...picked.peek()], where: () => (picked.peek().size ? null : query().get("where") || ""), args: () => query().get("args") })]),
    () => source.error.value && !source.error.value.problem?.parameter && failureNode(source.error.value, source.retry),
    h("div.result", null, made.node, () => query().has("group") && groupPanel(subject, query),
      () => source.total.value === 0 && h("div.over", null, query().get("where") ? emptyNode("Nothing matches", "Change the query, or show all objects.", button("Show all", () => setQuery({ where: "", args: "" })))
        : emptyNode("No objects yet", "Make the first one, or import some.", may("import", realm, className) && h("a.button", { href: address(realm, "transfer") }, "Import")))));
}
