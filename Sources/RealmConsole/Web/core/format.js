// SPDX-License-Identifier: Apache-2.0
/** Numbers, dates and sizes as the reader's locale writes them. */

const integer = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** @param {number | string | bigint} count An integer; as text it keeps all digits. */
export function formatCount(count) {
  return integer.format(typeof count === "string" ? BigInt(count) : count);
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${decimal.format(bytes / 1024 ** power)} ${units[power]}`;
}

/**
 * A number with what it counts: `1 object`, `2 objects`.
 *
 * @param {number} count @param {string} one @param {string} [many]
 */
export const counted = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;

/** @param {number} milliseconds */
export function formatDuration(milliseconds) {
  return milliseconds < 1000 ? `${decimal.format(milliseconds)} ms` : `${decimal.format(milliseconds / 1000)} s`;
}

/** @param {string} text RFC 3339. @returns {string} Local time; the text itself where the browser cannot parse it. */
export function formatLocalTime(text) {
  const date = new Date(text);
  return Number.isNaN(date.valueOf()) ? text : time.format(date);
}

/**
 * Makes characters visible that would change the order or the look of the text around them.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (one) =>
    one === "\n" ? "⏎" : one === "\t" ? "⇥" : `‹U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** @param {string} text Whose line ends stay. */
export function visibleLines(text) {
  return text.split("\n").map(visible).join("\n");
}
