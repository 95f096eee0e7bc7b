// SPDX-License-Identifier: Apache-2.0
import { call, csrf, inRealm, recent } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { route } from "../../core/router.js";
import { resource, signal } from "../../core/signals.js";
import { origin } from "../../core/trail.js";
import { button, choice, copyText, emptyNode, field, loaded, search, stored } from "../../core/ui.js";
import { code, languages } from "./code.js";
import { documentNode } from "./document.js";

function codeNode() {
  const [all, chosen, language, { hash }] = [recent.value, signal("0"), stored("language", "curl"), origin.value];
  const text = () => code(language.value, all[Number(chosen.value)], csrf.token !== null);
  if (!all.length) return emptyNode("Nothing was asked yet", "Open another screen and come back: its requests are here as code.");
  return [h("p", null, "Recent requests of the pages, newest first. ", hash && h("a", { href: hash }, "Back to where you were")),
    h("div.bar", null, field("Request", choice(all.map(({ method, target }, index) => [String(index), visible(`${method} ${target}`).slice(0, 200)]), chosen)), field("Language", choice(Object.keys(languages), language))),
    h("pre", { tabindex: 0, "aria-label": "Code" }, text), button("Copy", () => copyText(text()))];
}

/** @param {string} name @returns {[string, string]} */
const option = (name) => [name, name ? `Classes of ${visible(name)}` : "Whole API"];

function referenceNode() {
  // The pages below /docs/ lead to an operation of the document about all realms.
  const wanted = route.peek().query.get("operation");
  const [realm, word] = [signal(wanted ? "" : origin.peek().realm), signal("")];
  const list = resource((abort) => call("GET", "/v1/realms", { abort, quiet: true }));
  const doc = resource((abort) => call("GET", realm.value ? inRealm(realm.value, "openapi.json") : "/v1/openapi.json", { abort, quiet: true }));
  return [h("div.fields", null, loaded(list, ({ items }) => field("Document", choice(["", .../** @type {any[]} */ (items).map((one) => one.name)].map(option), realm))), field("Find", search(word))), loaded(doc, (found) => documentNode(found, realm.peek() || origin.peek().realm, word, wanted))];
}

/** @type {import("../screens.js").View} */
export const api = () => h("div.page", null, h("h1", null, "API"), h("section", null, h("h2", null, "As code"), codeNode), h("section", null, h("h2", null, "Reference"), referenceNode()));
