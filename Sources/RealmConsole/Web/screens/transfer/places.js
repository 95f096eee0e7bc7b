// SPDX-License-Identifier: Apache-2.0
import { classNamed } from "../../core/schema.js";

/** @typedef {import("../../core/schema.js").Class} Class */

const DEPTH = 4;

/**
 * The paths from a class to its locations on a map, the nearest first, as geospatial queries find them.
 *
 * @param {Class | undefined} type @param {Class[]} all @param {string} [before] @param {number} [depth]
 * @returns {string[]}
 */
export function places(type, all, before = "", depth = DEPTH) {
  if (!type || !depth) return [];
  /** @type {[string, Class][]} */
  const parts = type.properties.flatMap(({ name, objectType, collection }) => {
    const target = collection ? undefined : classNamed({ schemaVersion: null, classes: all }, objectType ?? "");
    return target?.type === "embedded" ? [[before + name, target]] : [];
  });
  const [near, far] = [parts.filter(([, one]) => isLocation(one)), parts.filter(([, one]) => !isLocation(one))];
  return [...near.map(([path]) => path), ...far.flatMap(([path, one]) => places(one, all, `${path}.`, depth - 1))];
}

/** @param {Class} type */
function isLocation({ properties }) {
  const has = (/** @type {string} */ name, /** @type {string} */ type, /** @type {string | null} */ collection) =>
    properties.some((one) => one.name === name && one.type === type && one.collection === collection);
  return has("type", "string", null) && has("coordinates", "double", "list");
}
