// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { formatBytes, formatCount, visible } from "../../core/format.js";
import { address } from "../../core/router.js";
import { byteCount, cellNode, mixedType, plainText } from "../../core/values.js";

/** @typedef {import("../../core/schema.js").Property} Property */
/** @typedef {{realm: string, className: string, key: string}} Place */

/** The part of a long value that is kept: its beginning, the number of its elements or bytes, and a mark that differs when the value does. */
class Brief {
  /** @param {string} text @param {number} count @param {boolean} isData */
  constructor(text, count, isData) {
    this.text = text.slice(0, 2000);
    this.count = count;
    this.isData = isData;
    this.mark = text.length;
    for (let i = 0, step = 1 + (text.length >> 12); i < text.length; i += step) this.mark = (this.mark * 31 + text.charCodeAt(i)) | 0;
  }
}

/**
 * A value as the grid keeps it: long ones only in part, so that the memory of a window of rows is bounded.
 *
 * @param {any} value @param {Property} property
 */
export function shortened(value, property) {
  const base64 = property.collection ? undefined : property.type === "data" ? value : value?.$binary?.base64;
  const text = base64 ?? (typeof value === "string" ? value : value && typeof value === "object" ? JSON.stringify(value) : "");
  if (text.length <= (base64 ? 30_000 : 2000)) return value;
  return new Brief(text, base64 ? byteCount(text) : typeof value === "string" ? 0 : Object.keys(value).length, !!base64);
}

/**
 * The content of a cell.
 *
 * @param {any} value @param {Property} property @param {Place} place
 * @returns {HTMLElement}
 */
export function cell(value, property, place) {
  const brief = value instanceof Brief ? value : null;
  const type = property.type === "mixed" && !brief ? mixedType(value) : property.type;
  if (value === undefined) return h("span");
  if (value === null) return cellNode(value, { ...property, collection: null }, place.realm);
  if (type === "data" ? !property.collection : brief?.isData) return bytes(brief ? brief.text : plainText(value), brief?.count, property, place);
  if (property.collection || type === "list" || type === "dictionary" || (type === "mixed" && brief?.count)) return collection(value, property, place);
  return cellNode(brief ? brief.text : value, brief && type === "object" ? { ...property, type: "string" } : property, place.realm);
}

/** @param {any} value @param {Property} property @param {Place} place */
function collection(value, property, { realm, className, key }) {
  const [count, isList] = value instanceof Brief ? [value.count, value.text[0] === "["] : [Object.keys(value).length, Array.isArray(value)];
  const sample = value instanceof Brief || !count ? "" : ` ${(isList ? value.slice(0, 4).map(plainText) : Object.keys(value).slice(0, 4)).join(", ").slice(0, 80)}`;
  return h("a.count", { href: address(realm, "collection", [className, key, property.name]), tabindex: -1, "aria-label": `Open ${formatCount(count)} elements` },
    isList ? `[${formatCount(count)}]` : `{${formatCount(count)}}`, h("small", null, visible(sample)));
}

const PICTURES = Object.entries({ iVBORw0KGgo: "png", "/9j/": "jpeg", R0lGOD: "gif", UklGR: "webp" });

/** The media type of a picture, by the first bytes.
 * @param {string} base64 */
export function pictureType(base64) {
  const found = PICTURES.find(([magic]) => base64.startsWith(magic))?.[1];
  return found && (found !== "webp" || atob(base64.slice(0, 16)).slice(8) === "WEBP") ? `image/${found}` : null;
}

/** @param {string} base64 @param {number | undefined} count When only the beginning is here. @param {Property} property @param {Place} place */
function bytes(base64, count, property, place) {
  const picture = count === undefined && pictureType(base64);
  return h("button.quiet.bytes", {
    type: "button", tabindex: -1, title: "Show the bytes",
    onclick: async () => (await import("./bytes.js")).showBytes(place, property),
  }, picture ? h("img", { src: `data:${picture};base64,${base64}`, alt: "Picture" }) : null, formatBytes(count ?? byteCount(base64)));
}
