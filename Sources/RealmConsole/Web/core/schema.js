// SPDX-License-Identifier: Apache-2.0
import { inRealm, send } from "./api.js";
import { feed } from "./feed.js";
import { learn, standing } from "./session.js";
import { resource } from "./signals.js";

/**
 * @typedef {{name: string, type: string, collection: string | null, optional: boolean, indexed: string | null, objectType: string | null}} Property
 * @typedef {{name: string, type: "object" | "embedded" | "asymmetric", primaryKey: string | null, properties: Property[], backlinks: {class: string, property: string}[]}} Class
 * @typedef {{schemaVersion: string | null, classes: Class[]}} Schema
 */

/**
 * The schema of a realm, read again when it changes. The standing of the realm is known before it.
 *
 * @param {string} realm
 */
export function schemaOf(realm) {
  let [known, shown] = ["", /** @type {Schema | null} */ (null)];
  const schema = resource(async (abort) => {
    const [answer] = await Promise.all([send("GET", inRealm(realm, "schema"), { abort }), learn(realm, abort).catch(() => {})]);
    const text = await answer.text();
    await learn(realm, abort, answer.headers.get("Realm-Version")).catch(() => {});
    const next = standing(realm).kind + text;
    // A screen with the same schema need not restart.
    if (shown && next === known) return shown;
    known = next;
    // The one number of the document becomes text, as integers elsewhere.
    return (shown = /** @type {Schema} */ (JSON.parse(text.replace(/^(\{"schemaVersion":)(\d+)/, '$1"$2"'))));
  });
  feed(realm).subscribe((event) => { if (event.kind !== "commit") schema.reload(); });
  return schema;
}

/** @param {Schema | undefined} schema @param {string} name */
export function classNamed(schema, name) {
  return schema?.classes.find((one) => one.name === name);
}

/**
 * The type of a property in Realm's notation: `string?`, `list<Dog>`, `dictionary<mixed>`.
 *
 * @param {Property} property
 */
export function typeText({ type, collection, optional, objectType }) {
  const element = (objectType ?? type) + (optional && type !== "mixed" && !(objectType && collection !== null) ? "?" : "");
  return collection ? `${collection}<${element}>` : element;
}

/**
 * Whether a property holds embedded objects.
 *
 * @param {Schema | undefined} schema
 * @param {Property} property
 */
export function isEmbedded(schema, property) {
  return property.objectType !== null && classNamed(schema, property.objectType)?.type === "embedded";
}
