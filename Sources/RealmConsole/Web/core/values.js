// SPDX-License-Identifier: Apache-2.0
import { h } from "./dom.js";
import { formatBytes, formatCount, formatLocalTime, visible } from "./format.js";
import { address } from "./router.js";

/**
 * Values as the API writes them with `ints=string`, shown by the declared type of their property. In Mixed the wrappers
 * of Extended JSON state the type. Nothing is rounded: the text of the API is shown.
 *
 * @typedef {import("./schema.js").Property} Property
 */

/**
 * The type of a value in Mixed.
 *
 * @param {any} value
 * @returns {string} A type of the schema, `null`, `list` or `dictionary`.
 */
export function mixedType(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value !== "object") return typeof value === "number" ? "double" : typeof value === "boolean" ? "bool" : "string";
  const wrappers = {
    $numberLong: "int", $numberInt: "int", $numberDouble: "double", $numberFloat: "float", $numberDecimal: "decimal128", $date: "date",
    $instant: "date", $binary: "data", $oid: "objectId", $uuid: "uuid", $link: "object", $bytes: "string",
  };
  const [name] = Object.keys(value);
  if (name === "$binary" && value.$binary.subType === "04") return "uuid";
  return wrappers[/** @type {keyof typeof wrappers} */ (name)] ?? "dictionary";
}

/**
 * The text of a scalar, digit for digit; that of a wrapper is what it wraps.
 *
 * @param {any} value
 * @returns {string}
 */
export function plainText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return Object.is(value, -0) ? "-0" : String(value);
  if (value.$instant) return `${value.$instant.seconds} s ${value.$instant.nanoseconds} ns`;
  if (value.$binary?.subType === "04") return Array.from(atob(value.$binary.base64), (one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  if (value.$binary) return value.$binary.base64 ?? value.$binary;
  if (value.$link) return value.$link.key;
  if (value.$date?.$numberLong) return value.$date.$numberLong;
  if (Array.isArray(value)) return JSON.stringify(value);
  const [inner] = Object.values(value);
  return typeof inner === "object" ? JSON.stringify(value) : String(inner);
}

/**
 * A short form of a value, for a cell.
 *
 * @param {any} value
 * @param {Property} property
 * @param {string} realm For links.
 * @returns {HTMLElement}
 */
export function cellNode(value, property, realm) {
  if (property.collection) return collectionNode(value);
  const type = property.type === "mixed" ? mixedType(value) : property.type;
  const node = scalarNode(value, type, realm, property.objectType);
  if (property.type === "mixed" && value !== null) node.prepend(h("span.type", null, type));
  return node;
}

/** @param {any} value @param {string} type @param {string} realm @param {string | null} target @returns {HTMLElement} */
function scalarNode(value, type, realm, target) {
  if (value === null || value === undefined) return h("span.null", null, "null");
  switch (type) {
  case "bool": return h("span.bool", null, value ? "true" : "false");
  case "int": case "float": case "double": case "decimal128": return h("span.number", null, plainText(value));
  case "date": return h("span.date", { title: `${plainText(value)}\n${formatLocalTime(plainText(value))} (local)` }, plainText(value));
  case "data": return h("span.data", null, formatBytes(byteCount(plainText(value))));
  case "object": return value.$link ? linkNode(value.$link, realm) : h("span.embedded", { title: target }, summary(value));
  case "list": case "dictionary": return collectionNode(value);
  default: return textNode(plainText(value));
  }
}

/** @param {any} value An embedded object: its scalars. */
function summary(value) {
  const parts = Object.entries(value).filter(([, one]) => !/^(null|list|dictionary)$/.test(mixedType(one))).map(([name, one]) => `${name}: ${plainText(one).slice(0, 100)}`);
  return visible(parts.join(" · ").slice(0, 200)) || "{…}";
}

/** @param {string} text */
function textNode(text) {
  if (text === "") return h("span.empty", null, "empty");
  return h("span.text", { dir: "auto", title: text.length > 40 ? visible(text.slice(0, 2000)) : null }, visible(text.slice(0, 300)) + (text.length > 300 ? "…" : ""));
}

/** @param {any} value */
export function collectionNode(value) {
  const isList = Array.isArray(value);
  const count = value === null ? 0 : (isList ? value : Object.keys(value)).length;
  return h("span.count", null, isList ? `[${formatCount(count)}]` : `{${formatCount(count)}}`);
}

/** @param {{class: string, key: string}} link @param {string} realm */
export function linkNode(link, realm) {
  return h("a.chip", { href: address(realm, "object", [link.class, link.key]), "data-class": link.class, "data-key": link.key }, `${visible(link.class)} ${visible(link.key)}`);
}

/**
 * The number of bytes that base64 text represents.
 *
 * @param {string} text
 */
export function byteCount(text) {
  return (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}
