// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { setQuery } from "../../core/router.js";
import { typeText } from "../../core/schema.js";
import { signal, untracked } from "../../core/signals.js";
import { button, dialog, search, stored } from "../../core/ui.js";

/** @typedef {import("../../core/schema.js").Property} Property */
/** @typedef {{property: Property, isPinned: boolean}} Column */
/** @typedef {ReturnType<typeof layoutOf>} Layout */

const WIDTHS = { bool: 80, int: 165, float: 120, double: 180, decimal128: 170, date: 230, uuid: 295, objectId: 225, data: 110 };

/**
 * Which columns are shown, in which order, which stay at the left, and how wide they are; kept for each class. The address
 * names those that are shown when they are not the first forty of the class.
 *
 * @param {string} realm @param {import("../../core/schema.js").Class} type @param {() => string | null} named The columns in the address.
 */
export function layoutOf(realm, type, named) {
  const kept = stored(`columns:${realm}:${type.name}`, { shown: /** @type {string[] | null} */ (null), pinned: /** @type {string[]} */ ([]), widths: /** @type {Record<string, number>} */ ({}) });
  const shown = signal(kept.peek().shown);
  const pinned = signal(kept.peek().pinned);
  /** @param {string} name */
  const propertyOf = (name) => type.properties.find((one) => one.name === name);
  /** @param {Partial<typeof kept.value>} changes */
  const keep = (changes) => {
    kept.value = { ...kept.peek(), ...changes };
    [shown.value, pinned.value] = [kept.peek().shown, kept.peek().pinned];
    if ("shown" in changes) setQuery({ columns: changes.shown?.map(encodeURIComponent).join(",") });
  };
  if (shown.peek() && !untracked(named)) keep({ shown: shown.peek() });

  /** @returns {Column[]} */
  function columns() {
    const names = named()?.split(",").map(decodeURIComponent) ?? shown.value;
    const all = names?.flatMap((name) => propertyOf(name) ?? []) ?? type.properties.slice(0, 40);
    return all.map((property) => ({ property, isPinned: pinned.value.includes(property.name) })).sort((a, b) => Number(b.isPinned) - Number(a.isPinned));
  }

  const names = () => columns().map(({ property }) => property.name);
  /** @param {Property} property */
  const width = ({ name, type: kind, collection }) => kept.value.widths[name] ?? (collection ? 200 : WIDTHS[/** @type {keyof WIDTHS} */ (kind)] ?? 200);
  /** @param {string[]} all @param {string} name */
  const toggled = (all, name) => (all.includes(name) ? all.filter((one) => one !== name) : [...all, name]);
  /**
   * Puts a column where another is.
   *
   * @param {string} name @param {string | undefined} other
   */
  function place(name, other) {
    const all = untracked(names);
    const [from, to] = [all.indexOf(name), all.indexOf(other ?? "")];
    if (from < 0 || to < 0 || from === to) return;
    all.splice(to, 0, ...all.splice(from, 1));
    keep({ shown: all });
  }

  return {
    columns, names, width, place,
    /** @param {Property} property */
    isRight: ({ type: kind, collection }) => !collection && /^(int|float|double|decimal128)$/.test(kind),
    /** @param {Property} property @param {number} by */
    move: ({ name }, by) => place(name, untracked(names)[untracked(names).indexOf(name) + by]),
    /** @param {Property} property @param {number} by */
    resize: (property, by) => keep({ widths: { ...kept.peek().widths, [property.name]: Math.max(40, Math.min(1200, untracked(() => width(property)) + by)) } }),
    /** @param {Property} property */
    pin: ({ name }) => keep({ pinned: toggled(kept.peek().pinned, name) }),
    /** @param {Property} property */
    hide({ name }) {
      const next = toggled(untracked(names), name);
      if (next.length) keep({ shown: next });
    },
    reset: () => keep({ shown: null, pinned: [], widths: {} }),
  };
}

/**
 * Lets choose and arrange the columns.
 *
 * @param {import("../../core/schema.js").Class} type @param {Layout} layout
 */
export function chooseColumns(type, layout) {
  const word = signal("");
  return dialog("Columns", () => [
    h("div.bar", null, search(word, { class: "grow", placeholder: "Search", "aria-label": "Search columns" }), button("Reset", layout.reset)),
    h("ul.columns", null, () => {
      const shown = layout.columns();
      const hidden = type.properties.filter((one) => !shown.some(({ property }) => property === one)).map((property) => ({ property, isPinned: false, isHidden: true }));
      const found = [...shown, ...hidden].filter(({ property }) => property.name.toLowerCase().includes(word.value)).slice(0, 200);
      return found.length === 0 ? h("li", null, "No property has this in its name.") : found.map((column) => {
        const { property, isPinned } = column;
        const name = visible(property.name.slice(0, 200));
        /** @param {string} sign @param {string} does @param {() => void} run */
        const small = (sign, does, run) => !("isHidden" in column) && button(sign, run, { class: "quiet", "aria-label": `${does} ${name}`, title: does });
        return h("li", null, h("label", null, h("input", { type: "checkbox", checked: !("isHidden" in column), onchange: () => layout.hide(property) }), h("span", null, name), h("small", null, visible(typeText(property)))),
          small("↑", "Move to the left", () => layout.move(property, -1)), small("↓", "Move to the right", () => layout.move(property, 1)), small(isPinned ? "Unpin" : "Pin", isPinned ? "Let go" : "Keep at the left", () => layout.pin(property)));
      });
    })]);
}
