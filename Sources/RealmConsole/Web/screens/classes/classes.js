// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, send } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { onChange } from "../../core/feed.js";
import { formatCount, visible, visibleLines } from "../../core/format.js";
import { address, route, setQuery } from "../../core/router.js";
import { classNamed, schemaOf, typeText } from "../../core/schema.js";
import { may, standing } from "../../core/session.js";
import { effect, resource, signal } from "../../core/signals.js";
import { button, choice, copyText, emptyNode, loaded, search, table, tabs } from "../../core/ui.js";
import { diagramNode } from "./diagram.js";
import { historyNode } from "./history.js";
import { migrationNode } from "./migration.js";
import { noClassNode } from "./none.js";

/** @typedef {import("../../core/schema.js").Class} Class @typedef {import("../../core/schema.js").Schema} Schema */

const FORMATS = /** @type {[string, string][]} */ ([["swift", "Swift"], ["kotlin", "Kotlin"], ["typescript", "TypeScript"], ["json-schema", "JSON Schema"], ["mermaid", "Mermaid"]]);

/** @param {string} realm @param {string} name @returns The number of objects of the class; follows changes. */
function countOf(realm, name) {
  const count = resource((abort) => call("GET", inRealm(realm, "aggregate", name), { params: { ints: "string" }, abort, quiet: true }));
  onChange(realm, [name], count.reload, 400);
  return () => (count.data.value ? formatCount(count.data.value.count) : "");
}

/** @param {string} realm @param {Schema} schema @param {() => string} chosen */
function listNode(realm, schema, chosen) {
  const word = signal("");
  const items = (/** @type {boolean} */ isEmbedded) => schema.classes.filter((one) => (one.type === "embedded") === isEmbedded).map((one) => h("li", { hidden: () => !one.name.toLowerCase().includes(word.value) },
    h("a", { href: address(realm, "classes", [], { class: one.name }), "aria-current": () => (chosen() === one.name ? "page" : null) }, visible(one.name)), !isEmbedded && may("read", realm, one.name) && h("span.number", null, countOf(realm, one.name))));
  const embedded = items(true);
  return h("nav", { "aria-label": "Classes" }, search(word, { placeholder: "Find a class", "aria-label": "Find a class" }), h("a", { href: address(realm, "classes"), "aria-current": () => (chosen() ? null : "page") }, "All classes"), h("ul", null, items(false)),
    () => word.value && !schema.classes.some((one) => one.name.toLowerCase().includes(word.value)) && h("p.soft", { role: "status" }, "No class has this in its name."), embedded.length > 0 && [h("h2", null, "Embedded"), h("ul", null, embedded)]);
}

/** @param {string} realm @param {Schema} schema @param {string} name Of a class that is linked to, with its rows. */
function classLinks(realm, schema, name) {
  return [h("a", { href: address(realm, "classes", [], { class: name }) }, visible(name)), " ", classNamed(schema, name)?.type === "object" && h("a.tag", { href: address(realm, "rows", [name]) }, "rows")];
}

/** @param {string} realm @param {Schema} schema @param {Class} one */
function schemaNode(realm, schema, one) {
  return [table(["Property", "Type", "Index", "Links to"], one.properties.map((property) => [
    [visible(property.name), property.name === one.primaryKey && h("span.tag.good", null, "primary key")], h("code", null, visible(typeText(property))), property.indexed ?? "", property.objectType && classLinks(realm, schema, property.objectType)])),
  h("h2", null, "Linked from"), one.backlinks.length ? h("ul", null, one.backlinks.map((link) => h("li", null, classLinks(realm, schema, link.class), " by ", h("code", null, visible(link.property))))) : h("p.soft", null, "No class links here.")];
}

/** @param {string} realm @param {string} name A class; empty: all. */
function sourceNode(realm, name) {
  const format = signal("swift");
  const text = resource(async (abort) => (await send("GET", inRealm(realm, "schema", ...(name ? [name] : [])), { params: { format: format.value }, headers: { Accept: "*/*" }, abort })).text());
  return [h("div.bar", null, choice(FORMATS, format, { "aria-label": "Language" }), button("Copy", () => copyText(text.data.peek() ?? ""))), loaded(text, (found) => h("pre", { tabindex: 0 }, visibleLines(found)))];
}

/** @type {import("../screens.js").View} */
export const classes = ({ realm, rest }) => {
  const schema = schemaOf(realm);
  const [name, view] = [signal(""), signal("")];
  effect(() => { [name.value, view.value] = [route.value.query.get("class") ?? rest[0] ?? "", route.value.query.get("view") ?? ""]; });
  const sheets = (/** @type {Schema} */ all) => {
    const one = classNamed(all, name.value);
    if (name.value && !one) return emptyNode("There is no such class", "A migration may have renamed or removed it.", h("a", { href: address(realm, "classes") }, "All classes"));
    const list = [one ? { name: "", title: "Schema", show: () => schemaNode(realm, all, one) } : { name: "", title: "Diagram", show: () => (all.classes.length ? diagramNode(all.classes, `${realm}.svg`, (to) => address(realm, "classes", [], { class: to })) : noClassNode(realm)) },
      { name: "source", title: "Source", show: () => sourceNode(realm, name.peek()) }];
    if (!one && may("administer", realm) && standing(realm).kind !== "ro") list.push({ name: "migrate", title: "Migrate", show: () => migrationNode(realm, all, schema.reload) });
    if (!one && may("administer", realm)) list.push({ name: "history", title: "History", show: () => historyNode(realm) });
    // The address has the chosen view.
    const chosen = { get value() { return list.some((each) => each.name === view.value) ? view.value : ""; }, set value(next) { setQuery({ view: next }); }, peek: view.peek };
    return [h("div.bar", null, h("h1", null, one ? visible(one.name) : "Classes"), one?.type === "embedded" && h("span.tag", null, "embedded"), one?.type === "object" && h("a.button", { href: address(realm, "rows", [one.name]) }, "Rows")), tabs("Views", list, chosen)];
  };
  return h("div.page", null, loaded(schema, (all) => h("div.split", null, listNode(realm, all, () => name.value), h("div", null, () => sheets(all)))));
};
