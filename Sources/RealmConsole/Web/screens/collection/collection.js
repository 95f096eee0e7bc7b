// SPDX-License-Identifier: Apache-2.0
import { inRealm, path as pathOf, ProblemError } from "../../core/api.js";
import { each, h } from "../../core/dom.js";
import { editor, inside, pick } from "../../core/editors.js";
import { blank, initial, operations, readExact, same } from "../../core/exact.js";
import { onChange } from "../../core/feed.js";
import { formatCount, visible } from "../../core/format.js";
import { shortcut } from "../../core/keys.js";
import { address } from "../../core/router.js";
import { classNamed, isEmbedded, schemaOf, typeText } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { resource, signal, untracked } from "../../core/signals.js";
import { announce, button, confirm, dialog, emptyNode, loaded, showError } from "../../core/ui.js";
import { cellNode, mixedType } from "../../core/values.js";
import { batch, entityTag, offerUndo, reachable } from "../object/undo.js";
import { follow } from "./path.js";

/**
 * @typedef {{at: any, value: any}} Item `at` is the index, in dictionaries the key.
 * @typedef {{tag: string, kind: string, items: Item[], count: number}} Page
 */

const PAGE = 100;

/** @type {import("../screens.js").View} */
export const collection = ({ realm, rest: [name, key, ...rest] }) => h("div.page", null, loaded(schemaOf(realm), (schema) => untracked(() => {
  const [path, home] = [rest.join("."), address(realm, "object", [name, key])];
  const found = follow(schema, name, path);
  return found ? collectionNode({ realm, schema, name, key, path, home, found }) : emptyNode("There is no such collection", "The property may have been renamed.", h("a", { href: home }, "The object"));
})));

/** @param {string} title @param {string} detail */
const changed = (title, detail) => new ProblemError({ code: "", status: 0, title, detail });

/** @param {{realm: string, schema: import("../../core/schema.js").Schema, name: string, key: string, path: string, home: string, found: NonNullable<ReturnType<typeof follow>>}} subject */
function collectionNode({ realm, schema, name, key, path, home, found: { property, inMixed, pointer, steps } }) {
  const target = inRealm(realm, "objects", name, key);
  const { objectType, type } = property;
  const embedded = isEmbedded(schema, property) ? objectType : null;
  const isLinks = Boolean(objectType && !embedded);
  const element = { ...property, collection: null, optional: type === "mixed" || (property.optional && (!objectType || property.collection === "dictionary")) };
  const isWritable = classNamed(schema, name)?.type === "object" && may("update", realm, name);
  const [offset, started] = [signal(0), Date.now()];
  const open = (/** @type {string} */ inner) => address(realm, "collection", [name, key, inner]);
  const pathTo = (/** @type {any} */ at) => (typeof at === "number" ? `${path}[${at}]` : inside(path, at));

  /** @param {AbortSignal} [abort] @returns {Promise<Page>} */
  const load = async (abort) => {
    const from = offset.value;
    // The tag is read first: when it still holds at a write, the elements are those that were read after it.
    const tag = await entityTag(target);
    if (!inMixed) {
      const { items, count } = await readExact(target + pathOf(path), { limit: PAGE, offset: from, count: "exact", fields: isLinks ? classNamed(schema, objectType ?? "")?.properties[0].name : null }, abort);
      const link = (/** @type {any} */ one) => (one?.$meta && isLinks ? { $link: { class: one.$meta.class, key: one.$meta.key } } : one);
      return { tag, kind: property.collection ?? "", count: Number(count.$numberLong), items: items.map((/** @type {any} */ one, /** @type {number} */ index) => (
        property.collection === "dictionary" ? { at: one.entry, value: link(one.object ?? one.value) } : { at: from + index, value: link(one) })) };
    }
    const value = steps.reduce((inner, step) => inner?.[step.key], await readExact(target, { fields: steps[0].text }, abort));
    const kind = mixedType(value ?? null);
    if (kind !== "list" && kind !== "dictionary") throw changed("There is no collection here now", "It may have been removed: go back to the object, or try again later.");
    const all = Object.entries(value).map(([at, one]) => ({ at: kind === "list" ? Number(at) : at, value: one }));
    return { tag, kind, count: all.length, items: all.slice(from, from + PAGE) };
  };
  const page = resource(load);
  const now = () => page.data.peek() ?? { tag: "", kind: "", items: [], count: 0 };
  onChange(realm, reachable(schema, name), page.reload);

  /** @type {any} The element that gets the focus. */
  let focused = null;
  /** @type {(text: string, ops: any[], inverse: any[] | null, isPatch?: any) => Promise<void>} Does one operation if the elements are still those on screen. */
  const write = async (text, ops, inverse, isPatch) => {
    const { kind, count, items, tag } = now();
    const made = (/** @type {any} */ list, /** @type {string} */ ifMatch) => [isPatch ? { patch: { class: name, key, ifMatch, body: list } } : { [kind]: { class: name, key, property: path, ifMatch, ops: list } }];
    try {
      const { version } = await batch(realm, made(ops, tag));
      const written = await entityTag(target, version);
      page.data.value = await load();
      announce(text);
      offerUndo(realm, text, written && inverse ? made(inverse, written) : null);
    } catch (/** @type {any} */ error) {
      if (error.problem?.code !== "precondition_failed") throw error;
      page.data.value = await load();
      if (!same([now().count, now().items], [count, items])) throw changed("This collection has changed", "The newest state is shown: look at it before you try again.");
      await write(text, ops, inverse, isPatch);
    }
  };
  /** @type {(at: any, value: any, old?: Item) => Promise<void>} Puts a value at a place. */
  const put = (at, value, old) => {
    const { kind, items, count } = now();
    focused = at;
    if (kind === "set") return old ? write("Changed.", [{ remove: old.value }, { insert: value }], [{ remove: value }, { insert: old.value }])
      : write("Added.", [{ insert: value }], items.length < count || items.some((one) => same(one.value, value)) ? null : [{ remove: value }]);
    if (embedded && value && old?.value && at === old.at) {
      const place = `${pointer}/${at}`;
      return write("Changed.", operations(schema, embedded, old.value, value, place), operations(schema, embedded, value, old.value, place), true);
    }
    if (kind === "list") return old ? write("Changed.", [{ set: [at, value] }], [{ set: [at, old.value] }]) : write("Inserted.", [{ insert: [at, value] }], [{ remove: at }]);
    if (at !== old?.at && items.some((one) => one.at === at)) throw changed("There is such a key already", "Edit its value, or choose another key.");
    return write(old ? "Changed." : "Added.", [old && old.at !== at && { remove: old.at }, { set: [at, value] }].filter(Boolean), [at !== old?.at && { remove: at }, old && { set: [old.at, old.value] }].filter(Boolean));
  };
  /** @param {Item} item */
  const remove = ({ at, value }) => {
    const { kind } = now();
    focused = at;
    return write("Removed.", [{ remove: kind === "set" ? value : at }], [kind === "set" ? { insert: value } : kind === "list" ? { insert: [at, value] } : { set: [at, value] }]);
  };
  const move = async (/** @type {number} */ from, /** @type {number} */ to) => {
    if (from === to || to < 0 || to >= now().count) return;
    focused = to;
    await write(`Moved to ${formatCount(to)}.`, [{ move: [from, to] }], [{ move: [to, from] }]);
    // The elements that have left the page are followed.
    offset.value = Math.floor(to / PAGE) * PAGE;
  };
  const clear = async () => {
    const { kind, items, count } = now();
    const isWhole = items.length === count;
    if (!await confirm(`Remove all ${formatCount(count)} elements?`, isWhole ? "This can be undone." : "This cannot be undone, because not all are on this page.", "Remove all")) return;
    await write("Removed all.", [{ clear: true }], isWhole ? items.map(({ at, value }) => (kind === "list" ? { add: value } : kind === "set" ? { insert: value } : { set: [at, value] })) : null);
  };

  /** @param {Item | null} item Null for a new one. @param {any} at */
  const edit = async (item, at) => {
    const { kind } = now();
    if (!kind) return;
    if (!item && isLinks && kind !== "dictionary") {
      const link = await pick({ realm, schema }, objectType);
      return link && put(at, link);
    }
    const [value, problems] = [signal(item ? item.value : embedded ? blank(schema, embedded) : element.optional ? null : initial(type)), new Map()];
    await dialog(item ? `Edit ${visible(String(at))}` : "New element", (close) => {
      const entry = h("input", { value: at, "aria-label": "Key", autofocus: true });
      const finish = async () => {
        if ([...problems.values()].some((one) => one.value)) return;
        const current = item && now().items.find((one) => one.at === item.at);
        if (item && !same(current?.value, item.value)) {
          item.value = current?.value ?? null;
          throw changed("This element has changed", `It is now ${visible(JSON.stringify(item.value).slice(0, 500))}. Save again to put yours in its place.`);
        }
        try {
          await put(kind === "dictionary" ? entry.value : at, value.peek(), item ?? undefined);
          close();
        } catch (/** @type {any} */ error) {
          const { pointer = "", detail = "" } = error.problem ?? {};
          const place = [...problems.keys()].filter((one) => pointer && pointer.includes(one)).sort().pop();
          if (place === undefined) throw error;
          problems.get(place).value = detail;
        }
      };
      const save = button("Save", finish, { class: "primary" });
      return [h("div", { onkeydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        save.click();
      } }, kind === "dictionary" && h("p", null, h("label", null, "Key ", entry)),
      editor({ realm, schema, problems, label: "Value", pointer: "", path: item && kind !== "set" ? pathTo(at) : "", open }, element, value)), h("footer", null, button("Cancel", () => close()), save)];
    }, embedded ? "wide" : "");
  };
  const isShort = () => (page.data.value?.count ?? 0) <= PAGE;
  const add = () => edit(null, now().kind === "dictionary" ? "" : now().count);

  let dragged = -1;
  /** @param {Item} item */
  const row = (item) => {
    const { at, value } = item;
    const { kind } = now();
    const isList = kind === "list" && isWritable;
    const label = typeof at === "number" ? formatCount(at) : visible(at);
    const act = (/** @type {string} */ title, /** @type {string} */ sign, /** @type {() => any} */ run) => button(sign, run, { class: "quiet", title, "aria-label": `${title} ${label}`, tabindex: -1 });
    const acts = isWritable ? [["Enter", act("Edit", "✎", () => edit(item, at))], ["Delete", act("Remove", "×", () => remove(item))], ...(isList ? [["Insert", act("Insert before", "+", () => edit(null, at))],
      ["Alt+ArrowUp", act("Move up", "↑", () => move(at, at - 1))], ["Alt+ArrowDown", act("Move down", "↓", () => move(at, at + 1))]] : [])] : [];
    const isNested = type === "mixed" && /^(list|dictionary)$/.test(mixedType(value)) && kind !== "set" && pathTo(at);
    const node = h("li", { tabindex: 0, draggable: isList && "true", class: Date.now() > started + 1000 && "flash", ondragstart: () => { dragged = at; }, ondragend: () => { dragged = -1; }, ondragover: (event) => event.preventDefault(),
      ondrop: (event) => {
        event.preventDefault();
        act("", "", () => move(dragged, at)).click();
      }, onkeydown: (event) => {
        const name = (event.altKey ? "Alt+" : "") + event.key;
        const found = acts.find(([one]) => one === name)?.[1] ?? { ArrowDown: node.nextElementSibling, ArrowUp: node.previousElementSibling }[name];
        if (event.target !== node || !found) return;
        event.preventDefault();
        if (found.matches("li")) found.focus();
        else found.click();
      } }, kind !== "set" && h("span.at", null, label), h("span.value", null, cellNode(value, element, realm)),
    isNested && h("a.button", { href: open(isNested), "aria-label": `Open ${label}` }, "Open"), h("span.bar", null, acts.map(([, one]) => one)));
    if (focused === at) {
      focused = null;
      setTimeout(() => node.focus());
    }
    return node;
  };
  /**
   * Takes an element beyond the edge of the page.
   *
   * @param {number} step
   */
  const edge = (step) => ({
    ondragover: (/** @type {Event} */ event) => { if (dragged >= 0) event.preventDefault(); },
    ondrop: (/** @type {any} */ event) => {
      event.preventDefault();
      move(dragged, step < 0 ? offset.peek() - 1 : offset.peek() + PAGE).catch(showError);
    },
  });
  const list = h("ul.elements", { "aria-label": "Elements" });
  each(list, () => page.data.value?.items ?? [], ({ at, value }) => JSON.stringify([at, value]), row);
  if (isWritable) shortcut("n", "Add an element", () => void add());
  return [h("header.bar", null, h("h1", null, h("a", { href: home }, visible(`${name} ${key}`)), " › ", steps.map(({ text }, index) => {
    const isCollection = index < steps.length - 1 && (inMixed || steps[index + 1].text.startsWith("["));
    return isCollection ? h("a", { href: open(steps.slice(0, index + 1).map((one) => one.text).join("")) }, visible(text)) : visible(text);
  })), h("small", null, inMixed ? () => page.data.value?.kind : typeText(property)), isWritable && h("span.bar.end", null, button("Add…", add, { class: "primary", "aria-keyshortcuts": "n", disabled: () => !page.data.value }), button("Remove all…", clear, { class: "danger", disabled: () => !page.data.value?.count }))),
  list, h("div.bar", { hidden: () => !page.data.value?.count }, button("Previous", () => { offset.value -= PAGE; }, { ...edge(-1), hidden: isShort, disabled: () => offset.value === 0 }), h("small", null, () => {
    const { count = 0 } = page.data.value ?? {};
    return `${formatCount(offset.value + 1)} to ${formatCount(Math.min(offset.value + PAGE, count))} of ${formatCount(count)}`;
  }), button("Next", () => { offset.value += PAGE; }, { ...edge(1), hidden: isShort, disabled: () => offset.value + PAGE >= (page.data.value?.count ?? 0) })),
  loaded(page, ({ count }) => !count && emptyNode("Nothing is in here", isWritable ? "Add the first element." : ""))];
}
