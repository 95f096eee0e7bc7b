// SPDX-License-Identifier: Apache-2.0
import { inRealm, path, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { pages } from "../../core/editors.js";
import { onChange } from "../../core/feed.js";
import { formatCount, visible } from "../../core/format.js";
import { signal } from "../../core/signals.js";
import { choice } from "../../core/ui.js";
import { linkNode } from "../../core/values.js";

/** @param {import("./object.js").Subject} subject Its incoming links are shown by class and property. */
export function linksNode({ realm, cls: { name, backlinks }, key }) {
  if (!backlinks.length) return null;
  const chosen = signal("0");
  const list = pages((after, abort) => {
    const { class: origin, property } = backlinks[+chosen.value];
    return read(`${inRealm(realm, "objects", name, key)}/@links${path(origin, property)}`, { limit: 20, count: "exact", fields: property, after }, abort);
  }, ({ items, count }) => h("p.bar", null, h("small", null, count === "1" ? "1 object" : `${formatCount(count)} objects`), items.map((/** @type {any} */ { $meta: { owner, ...self } }) => linkNode(owner ?? self, realm))));
  onChange(realm, backlinks.map((one) => one.class), list.reload);
  return h("section.links", null, h("h2", null, "Linked from"), choice(backlinks.map((one, index) => [String(index), visible(`${one.class}.${one.property}`)]), chosen, { "aria-label": "Class and property", oninput: list.restart }), list.node);
}
