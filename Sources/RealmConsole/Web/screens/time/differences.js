// SPDX-License-Identifier: Apache-2.0
import { inRealm, read } from "../../core/api.js";

/** @typedef {{key: string, kind: "added" | "removed" | "changed" | "same"}} Difference */

/**
 * The objects of a class that a snapshot and now do not have in common, in the order of the file, one by one. Both sides
 * are read in pages; objects that are on both sides come in the same order, so only what lies between them is kept.
 *
 * @param {string} realm @param {import("../../core/schema.js").Class} type @param {string} snapshot
 * @param {{withEqual: boolean, abort: AbortSignal, seen(count: number): void}} options
 * @returns {AsyncGenerator<Difference>}
 */
export async function* differences(realm, type, snapshot, { withEqual, abort, seen }) {
  // One property is enough: the entity tag is that of the whole object. A key path cannot hold every name.
  const fields = type.properties.map((one) => one.name).find((name) => /^[A-Za-z]\w*$/.test(name));
  const [then, now] = [snapshot, null].map((id) => ({ id, rows: (new Map()), after: (undefined) }));
  /** @param {typeof then} side */
  const fill = async (side) => {
    if (side.after === null) return false;
    const { items, next } = await read(inRealm(realm, "objects", type.name), { snapshot: side.id, fields, limit: 1000, after: side.after }, abort);
    items.forEach((/** @type {any} */ { $meta }) => side.rows.set($meta.key, $meta.etag));
    side.after = next;
    seen(items.length);
    return true;
  };
  for (;;) {
    for (const side of [then, now]) if (!side.rows.size) await fill(side);
    const [[old, oldState] = [], [key, state] = []] = [then, now].map(({ rows }) => rows.entries().next().value ?? []);
    if (old === undefined && key === undefined) return;
    if (old === key) {
      if (oldState !== state || withEqual) yield { key: (key), kind: oldState === state ? "same" : "changed" };
      then.rows.delete((key));
      now.rows.delete((key));
    } else if (old === undefined || (key !== undefined && now.rows.has(old))) {
      yield { key: (key), kind: "added" };
      now.rows.delete((key));
    } else if (key === undefined || then.rows.has(key) || !(await Promise.all([then, now].map(fill))).some(Boolean)) {
      yield { key: old, kind: "removed" };
      then.rows.delete(old);
    }
  }
}
