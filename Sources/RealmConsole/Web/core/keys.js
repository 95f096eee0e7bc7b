// SPDX-License-Identifier: Apache-2.0
import { h } from "./dom.js";
import { onCleanup } from "./signals.js";
import { dialog } from "./ui.js";

/** @typedef {{key: string, does: string, run: (event: KeyboardEvent) => void}} Shortcut `key` as `KeyboardEvent.key`, with `Ctrl+` before. */

/** @type {Set<Shortcut>} */
const shortcuts = new Set();

/**
 * Registers a key for as long as the screen around is shown. Keys without Ctrl do nothing while a text is being typed.
 *
 * @param {string} key
 * @param {string} does For the list of keys.
 * @param {(event: KeyboardEvent) => void} run
 */
export function shortcut(key, does, run) {
  const made = { key, does, run };
  shortcuts.add(made);
  onCleanup(() => shortcuts.delete(made));
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

addEventListener("keydown", (event) => {
  const name = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + event.key;
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target) && !name.startsWith("Ctrl+") && event.key !== "Escape") return;
  const found = [...shortcuts].reverse().find((one) => one.key === name);
  if (!found) return;
  event.preventDefault();
  found.run(event);
});

/** Shows which keys do what. */
export function showKeys() {
  return dialog("Keys", () => h("table.keys", null, h("tbody", null,
    [...shortcuts].map(({ key, does }) => h("tr", null, h("th", { scope: "row" }, h("kbd", null, key)), h("td", null, does))))));
}
