// SPDX-License-Identifier: Apache-2.0
import { classNamed } from "../../core/schema.js";
import { mixedType, plainText } from "../../core/values.js";

/**
 * Words of the query language for names and values of a schema.
 *
 * @typedef {import("../../core/schema.js").Schema} Schema
 * @typedef {import("../../core/schema.js").Class} Class
 * @typedef {import("../../core/schema.js").Property} Property
 * @typedef {{realm: string, schema: Schema, type: Class}} Subject A class of a realm.
 */

const RESERVED = /^(any|some|all|none|not|true|false|null|nil|and|or|inf(inity)?|nan|obj|subquery|(true|false)predicate|geo(within|box|circle|polygon)|[OL]\d+.*)$/i;

/** A name as a query has it; null when no query can.
 * @param {string} name */
export function wordFor(name) {
  const word = name.replace(/[ \n\r\t]/g, (one) => `\\${one === " " ? one : "nrt"["\n\r\t".indexOf(one)]}`);
  return /^([a-z_$\u0080-\uffff]|\\.)([\w$\u0080-\uffff-]|\\.)*$/i.test(word) && !RESERVED.test(name) && !/^\$\d/.test(name) ? word : null;
}

/** Where a path of a query leads.
 * @param {Schema} schema @param {Class | undefined} type @param {string} path @returns {{type?: Class, property?: Property}} */
export function resolve(schema, type, path) {
  const parts = path.replace(/\[[^\]]*\]/g, "").match(/([^.\\]|\\.)+/g) ?? [];
  /** @type {Property | undefined} */
  let property;
  for (let i = 0; i < parts.length; i += 1) {
    if (parts[i] === "@links") {
      [type, property] = [classNamed(schema, parts[i + 1]), undefined];
      i += 2;
    } else {
      property = type?.properties.find((one) => wordFor(one.name) === parts[i]);
      type = property?.objectType ? classNamed(schema, property.objectType) : undefined;
    }
  }
  return { type, property };
}

/** @param {string} text Backslashes in strings of queries are literal. */
function quoted(text) {
  const mark = !/[\\\u0000-\u001f]/.test(text) && ["'", '"'].find((one) => !text.includes(one));
  return mark ? mark + text + mark : `B64"${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}"`;
}

/**
 * A value, with wrapped numbers, as a query has it.
 *
 * @param {any} value @param {Property} property @param {Schema} schema
 * @returns {string}
 */
export function literal(value, property, schema) {
  if (value === null) return "null";
  const [text, type] = [plainText(value), property.type === "mixed" ? mixedType(value) : property.type];
  switch (type) {
  case "string": return quoted(text);
  case "date": {
    const [, day, time, fraction = ""] = /^([\d-]+)T([\d:]+)(?:\.(\d+))?Z$/.exec(text) ?? [];
    return day > "1900" ? `${day}T${time}:${Number(fraction.padEnd(9, "0"))}` : `T${Math.floor(Date.parse(text) / 1000)}:0`;
  }
  case "uuid": return `uuid(${text})`;
  case "objectId": return `oid(${text})`;
  case "data": return `bin(B64"${text}")`;
  case "object": {
    const target = classNamed(schema, value.$link.class);
    const key = target?.properties.find((one) => one.name === target.primaryKey);
    return key ? `obj(${quoted(value.$link.class)}, ${literal(text, key, schema)})` : `O${text.slice(2)}`;
  }
  default: return text.replace(/infinity/i, "inf");
  }
}

/** Adds a condition to a query, before its SORT, DISTINCT and LIMIT.
 * @param {string} where @param {string} condition */
export function narrowed(where, condition) {
  const [, body, rest = ""] = /^([^]*?)(\s+(?:sort|distinct|limit)\s*\([^]*)?$/i.exec(where.trim()) ?? ["", where];
  if (!body || /^truepredicate$/i.test(body)) return condition + rest;
  return `${/\bor\b|\|\|/i.test(body) ? `(${body})` : body} AND ${condition}${rest}`;
}
