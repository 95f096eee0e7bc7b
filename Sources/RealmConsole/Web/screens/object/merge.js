// SPDX-License-Identifier: Apache-2.0
import { member, same } from "../../core/exact.js";
import { classNamed, isEmbedded } from "../../core/schema.js";

/**
 * Three states of a value: before the edit, after it, and after the changes of another client in the meantime. Embedded objects
 * are compared property by property, so only properties that both have changed need a choice.
 *
 * @typedef {import("../../core/schema.js").Property} Property @typedef {import("../../core/schema.js").Schema} Schema
 * @typedef {[before: any, mine: any, theirs: any]} States
 * @typedef {{path: string, property: Property, states: States}} Leaf
 */

/** @param {Schema} schema @param {Property} property @param {States} states @returns {Property[]} The properties to compare one by one; none: the value as a whole. */
const parts = (schema, property, states) => (!property.collection && states.every(Boolean) && isEmbedded(schema, property) && classNamed(schema, property.objectType ?? "")?.properties || []);
/** @param {States} states @param {Property} part @returns {any} */
const within = (states, { name }) => states.map((one) => one[member(name)]);

/** @param {States} states */
export const isContested = ([before, mine, theirs]) => !same(before, mine) && !same(before, theirs) && !same(mine, theirs);

/**
 * @param {Schema} schema @param {Property} property @param {States} states @param {string} [before] The path above.
 * @returns {Leaf[]} The innermost values that are compared.
 */
export function leaves(schema, property, states, before = "") {
  const [path, all] = [before + property.name, parts(schema, property, states)];
  return all.length ? all.flatMap((one) => leaves(schema, one, within(states, one), `${path}.`)) : [{ path, property, states }];
}

/**
 * @param {Schema} schema @param {Property} property @param {States} states @param {(path: string) => boolean} takesTheirs Asked of what both have changed.
 * @param {string} [above] The path above.
 * @returns {any} One state with the changes of both.
 */
export function merged(schema, property, states, takesTheirs, above = "") {
  const [path, all, [before, mine, theirs]] = [above + property.name, parts(schema, property, states), states];
  if (all.length) return { ...theirs, ...Object.fromEntries(all.map((one) => [member(one.name), merged(schema, one, within(states, one), takesTheirs, `${path}.`)])) };
  return same(before, mine) || (isContested(states) && takesTheirs(path)) ? theirs : mine;
}
