// SPDX-License-Identifier: Apache-2.0
import { escaped, member } from "../../core/exact.js";
import { classNamed } from "../../core/schema.js";

/**
 * Follows a path such as `address.phones` or `kids[0].tags`, as far as the schema determines it.
 *
 * @param {import("../../core/schema.js").Schema} schema
 * @param {string} name Of the class.
 * @param {string} path
 * @returns {{property: any, inMixed: boolean, pointer: string, steps: {text: string, key: string}[]} | undefined} Its
 *   target; inside Mixed only the value has its type. `key` is that of the JSON.
 */
export function follow(schema, name, path) {
  let cls = classNamed(schema, name);
  /** @type {any} */
  let property = cls?.properties.find((one) => one.name === path);
  let inMixed = false;
  const parts = property ? [path] : path.match(/\[\d+\]|[^.[]+/g) ?? [];
  property = undefined;
  const steps = parts.map((text, index) => {
    const isElement = inMixed || property?.collection || property?.type === "mixed";
    if (isElement) {
      inMixed ||= property?.type === "mixed";
      if (property) property = { ...property, collection: null };
    } else property = cls?.properties.find((one) => one.name === text);
    cls = classNamed(schema, property?.objectType ?? "");
    return { text: index && !text.startsWith("[") ? `.${text}` : text, key: !isElement ? member(text) : text.startsWith("[") ? text.slice(1, -1) : text };
  });
  return property && { property, inMixed: inMixed || (property.type === "mixed" && !property.collection), steps, pointer: steps.map(({ key }) => escaped(key)).join("") };
}
