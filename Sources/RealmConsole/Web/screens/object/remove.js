// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, path, send } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { member, readExact } from "../../core/exact.js";
import { counted, formatCount, visible } from "../../core/format.js";
import { address, go } from "../../core/router.js";
import { classNamed, isEmbedded } from "../../core/schema.js";
import { confirm } from "../../core/ui.js";
import { entityTag, offerUndo } from "./undo.js";

/** @param {import("./object.js").Subject} subject Its embedded objects and links are shown before it is deleted. */
export async function remove({ realm, schema, cls, key }) {
  const target = inRealm(realm, "objects", cls.name, key);
  const { $meta, ...body } = await readExact(target);
  const headers = { "If-Match": $meta.etag };
  await call("DELETE", target, { params: { dryRun: true }, headers });
  const found = (await Promise.all(cls.backlinks.map(async (one) => ({ ...one, ...await readExact(`${target}/@links${path(one.class, one.property)}`, { limit: 100, count: "exact", fields: one.property }) })))).filter((one) => one.items.length);
  const inner = embeddedIn(schema, cls.name, body);
  const isWhole = found.every((one) => !one.next && classNamed(schema, one.class)?.type === "object");
  const text = [h("p", null, inner ? `${counted(inner, "embedded object is", "embedded objects are")} deleted with it.` : "No embedded object is deleted with it.", found.length ? " Links to it:" : " Nothing links to it."),
    h("ul", null, found.map((one) => h("li", null, `${formatCount(one.count.$numberLong)} × ${visible(`${one.class}.${one.property}`)}: `, /^(list|set)$/.test(classNamed(schema, one.class)?.properties.find((it) => it.name === one.property)?.collection ?? "") ? "removed" : "set to null"))),
    isWhole ? null : h("p", null, "Undo brings back the object, but not the links to it.")];
  if (!await confirm(`Delete ${visible(`${cls.name} ${key}`)}?`, text, "Delete")) return;
  const version = (await send("DELETE", target, { headers })).headers.get("Realm-Version");
  go(address(realm, "rows", [cls.name]));
  const renamed = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value).replaceAll(JSON.stringify({ $link: { class: cls.name, key } }), '{"$link":{"ref":"it"}}'));
  /** @type {Map<string, any>} */
  const origins = new Map();
  for (const { items, property } of isWhole ? found : []) {
    for (const { $meta: { class: origin, key: at }, ...one } of items) {
      const id = JSON.stringify([origin, at]);
      if (origin !== cls.name || at !== key) origins.set(id, { class: origin, key: at, body: { ...origins.get(id)?.body, [member(property)]: renamed(one[member(property)]) } });
    }
  }
  const patches = [...origins.values()].map(async (one) => ({ patch: { ...one, ifMatch: await entityTag(inRealm(realm, "objects", one.class, one.key), version) } }));
  offerUndo(realm, `Deleted ${visible(`${cls.name} ${key}`)}.`, [{ create: { as: "it", class: cls.name, body } }, ...await Promise.all(patches)]);
}

/** @param {import("../../core/schema.js").Schema} schema @param {string} name @param {any} object @returns {number} */
function embeddedIn(schema, name, object) {
  return (classNamed(schema, name)?.properties ?? []).filter((one) => isEmbedded(schema, one)).reduce((sum, { name: part, collection, objectType }) =>
    Object.values(collection ? object[member(part)] : [object[member(part)]]).filter(Boolean).reduce((inner, one) => inner + 1 + embeddedIn(schema, objectType ?? "", one), sum), 0);
}
