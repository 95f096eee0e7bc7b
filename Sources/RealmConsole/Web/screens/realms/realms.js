// SPDX-License-Identifier: Apache-2.0
import { call } from "../../core/api.js";
import { each, h } from "../../core/dom.js";
import { may } from "../../core/session.js";
import { effect, onCleanup, resource, signal } from "../../core/signals.js";
import { button, emptyNode, problemNode, showError, waitingNode } from "../../core/ui.js";
import { chooseFiles } from "../../core/work.js";
import { card } from "./card.js";
import { attach, create, openFiles } from "./create.js";

/** @typedef {import("./card.js").Realm} Realm */

/** @type {import("../screens.js").View} */
export const realms = () => {
  const list = resource(all);
  effect(() => {
    if (list.loading.value) return;
    const timer = setInterval(() => { if (!document.hidden) list.reload(); }, 1500);
    onCleanup(() => clearInterval(timer));
  });
  const { data, error } = list;
  const cards = h("div.cards");
  each(cards, () => data.value ?? [], (one) => one.name, ({ name }) => card(name, () => /** @type {Realm} */ (data.value?.find((one) => one.name === name)), list.reload));
  const names = () => (data.peek() ?? []).map((one) => one.name);
  /** @param {File[]} files */
  const open = (files) => openFiles(files, names()).finally(list.reload);
  return h("div.page", null,
    h("div.bar", null, h("h1", null, "Realms"), () => may("administer", "") && h("div.bar.end", null,
      button("Create…", () => create(names()), { class: "primary" }), button("Open a file…", async () => open(await chooseFiles(".realm"))), button("Attach…", attach))),
    () => may("administer", "") && dropping(open),
    () => (error.value ? problemNode(error.value) : data.value ? null : waitingNode()),
    () => data.value?.length === 0 && (may("administer", "") ? emptyNode("No realm is served yet", "Create one, open a .realm file of this computer, or start the server with a file.")
      : emptyNode("No realm is open to you", "Ask the administrator for a role that reads one, or use another key.")),
    cards);
};

/**
 * All pages of the list.
 *
 * @param {AbortSignal} abort @returns {Promise<Realm[]>}
 */
async function all(abort) {
  const found = [];
  let after = null;
  do {
    /** @type {any} */
    const page = await call("GET", "/v1/realms", { params: { after }, abort, quiet: true });
    found.push(...page.items);
    after = page.next;
  } while (after);
  // Only administrators see the holders of streams.
  if (may("administer", "") && found.length) {
    const streams = await call("GET", "/admin/leases", { abort, quiet: true }).then(({ items }) => items.filter((/** @type {any} */ one) => one.kind === "stream"), () => null);
    if (streams) found.forEach((one) => { one.streams = streams.filter((/** @type {any} */ { realm }) => realm === one.name).length; });
  }
  return found;
}

/**
 * Opens files that are dropped anywhere on the page.
 *
 * @param {(files: File[]) => Promise<void>} open
 */
function dropping(open) {
  const over = signal(false);
  /** @type {[string, (event: any) => void][]} */
  const listeners = [
    ["dragover", (event) => { over.value = event.defaultPrevented; }],
    ["dragleave", (event) => { if (!event.relatedTarget) over.value = false; }],
    ["drop", (event) => {
      over.value = false;
      open([...event.dataTransfer.files]).catch(showError);
    }],
  ];
  listeners.forEach(([name, listener]) => addEventListener(name, listener));
  onCleanup(() => listeners.forEach(([name, listener]) => removeEventListener(name, listener)));
  return () => h(over.value ? "p.drop.held" : "p.drop", null, "Drop .realm files here to open private copies.");
}
