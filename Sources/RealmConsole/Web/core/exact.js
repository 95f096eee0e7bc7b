// SPDX-License-Identifier: Apache-2.0
import { send } from "./api.js";
import { classNamed, isEmbedded } from "./schema.js";

/**
 * Values that keep types and digits: numbers are in the wrappers of Extended JSON, so what was read can be written back
 * as it is. With `ints=string` an int in Mixed would look like a string.
 */

const TOKEN = /\\.|"\$instant":\{[^}]*\}|"|-?\d[-+.eE\d]*/g;
const NUMBER = /^(NaN|-?Infinity|-?\d+(\.\d+)?(e[-+]?\d+)?)$/i;

/** @type {Record<string, [form: RegExp, wrapper: string, example: string]>} */
const FORMS = {
  int: [/^-?\d{1,40}$/, "$numberLong", "a whole number of 64 bits"],
  float: [NUMBER, "$numberFloat", "a number such as -1.5e10, NaN or -Infinity"],
  double: [NUMBER, "$numberDouble", "a number such as -1.5e100, NaN or -Infinity"],
  decimal128: [NUMBER, "$numberDecimal", "a number such as 12.50, NaN or -Infinity"],
  date: [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[-+]\d\d:\d\d)$/, "$date", "a time such as 2026-11-21T10:00:00.000000001Z, or -99999999999 s 5 ns since 1970"],
  objectId: [/^[\da-f]{24}$/i, "$oid", "24 hexadecimal digits"],
  uuid: [/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, "$uuid", "a UUID such as 01234567-89ab-cdef-0123-456789abcdef"],
};

/** @param {string} text JSON. */
export function exact(text) {
  let inString = false;
  return JSON.parse(text.replace(TOKEN, (token) => {
    if (token === '"') inString = !inString;
    return inString || !/^[-\d]/.test(token) ? token : `{"${/[.eE]/.test(token) ? "$numberDouble" : "$numberLong"}":"${token}"}`;
  }));
}

/** @param {string} target @param {Record<string, any>} [params] @param {AbortSignal} [abort] */
export async function readExact(target, params, abort) {
  return exact(await (await send("GET", target, { params, abort })).text());
}

/** @param {any} a @param {any} b */
export const same = (a, b) => a === b || (!(a instanceof Blob || b instanceof Blob) && JSON.stringify(a) === JSON.stringify(b));
/** @param {string} name Of a property. @returns {string} Its name in documents. */
export const member = (name) => (name.startsWith("$") ? `$${name}` : name);
/** @param {string} name A step of a JSON Pointer. */
export const escaped = (name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/**
 * The value that a text means.
 *
 * @param {string} type
 * @param {string} text
 * @returns {any}
 * @throws {Error} With what is expected.
 */
export function encode(type, text) {
  const [, seconds, nanoseconds] = (type === "date" && /^(-?\d+) s (-?\d+) ns$/.exec(text)) || [];
  if (seconds) return { $instant: { seconds, nanoseconds } };
  if (!FORMS[type]) return type === "data" ? { $binary: { base64: text, subType: "00" } } : type === "bool" ? text === "true" : text;
  const [form, wrapper, example] = FORMS[type];
  if (!form.test(text) || (type === "int" && BigInt.asIntN(64, BigInt(text)) !== BigInt(text))) throw new Error(`Expected: ${example}`);
  return { [wrapper]: text };
}

/** @param {string} type @returns {any} The initial value. */
export function initial(type) {
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  /** @type {Record<string, any>} */
  const special = { object: null, mixed: null, null: null, list: [], set: [], dictionary: {} };
  if (type in special) return special[type];
  return encode(type, { string: "", data: "", date: new Date().toISOString(), objectId: hex.slice(8), uuid: hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-a$4-") }[type] ?? "0");
}

/** @param {import("./schema.js").Schema} schema @param {string} name Of a class. @returns {any} A new object of it. */
export function blank(schema, name) {
  return Object.fromEntries(classNamed(schema, name)?.properties.map((one) => [member(one.name), one.optional && !one.collection ? null : initial(one.collection ?? one.type)]) ?? []);
}

/**
 * The JSON Patch that makes one state of an object into another, with as small changes as can be.
 *
 * @param {import("./schema.js").Schema} schema
 * @param {string} name Of the class.
 * @param {any} before
 * @param {any} after
 * @param {string} [at] The pointer of the object.
 * @returns {{op: string, path: string, value: any}[]}
 */
export function operations(schema, name, before, after, at = "") {
  return classNamed(schema, name)?.properties.flatMap((one) => {
    const key = member(one.name);
    const [old, value, path] = [before[key], after[key], at + escaped(key)];
    if (same(old, value)) return [];
    return !one.collection && old && value && isEmbedded(schema, one) ? operations(schema, one.objectType ?? "", old, value, path) : [{ op: "replace", path, value }];
  }) ?? [];
}
