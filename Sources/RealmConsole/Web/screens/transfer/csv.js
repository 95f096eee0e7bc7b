// SPDX-License-Identifier: Apache-2.0
import { ProblemError } from "../../core/api.js";

/**
 * CSV whose cells keep their quotes, so that what is sent on is what was in the file: an empty cell is null, `""` is an
 * empty text.
 *
 * @typedef {import("../../core/schema.js").Property} Property
 * @typedef {{delimiter: string, names: string[], rows: string[][]}} Sheet
 */

/** @param {string} cell */
export const unquoted = (cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);

/**
 * The complete records of a text, and where they end.
 *
 * @param {string} text @param {string} delimiter @param {boolean} isLast Whether no text follows.
 */
function cut(text, delimiter, isLast) {
  const cell = new RegExp(`("[^"]*(?:""[^"]*)*"|[^${delimiter}\r\n]*)(${delimiter}|\r\n|[\r\n]|$)`, "y");
  /** @type {string[][]} */
  const rows = [];
  let [end, row] = [0, /** @type {string[]} */ ([])];
  for (let found; (found = cell.exec(text));) {
    // At the end of the text a line end, or a quoted cell, may continue in the next piece.
    if (cell.lastIndex === text.length && !isLast) break;
    if (found[2] === "" && cell.lastIndex === end) break;
    row.push(found[1]);
    if (found[2] === delimiter) continue;
    rows.push(row);
    [row, end] = [[], cell.lastIndex];
    if (found[2] === "") break;
  }
  return { rows, end };
}

/**
 * The names and the first records of CSV.
 *
 * @param {string} text @returns {Sheet}
 */
export function sheet(text) {
  const first = text.replace(/^\ufeff/, "");
  const line = first.split(/[\r\n]/, 1)[0].replace(/"[^"]*"/g, "");
  const delimiter = [",", ";", "\t"].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
  const [names = [], ...rows] = cut(first, delimiter, true).rows;
  return { delimiter, names: names.map(unquoted), rows: rows.slice(0, 5) };
}

/**
 * Converts a cell of a spreadsheet to the form of the API.
 *
 * @param {string} cell @param {Property} property @param {string} delimiter
 */
function adapted(cell, { type, collection }, delimiter) {
  const text = unquoted(cell).trim();
  if (collection || text === "") return cell;
  if (type === "bool") return /^(true|yes|1)$/i.test(text) ? "true" : /^(false|no|0)$/i.test(text) ? "false" : cell;
  if (type === "date" && /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?$/.test(text)) return `${text.slice(0, 10)}T${text.slice(11) || "00:00"}${text.length > 16 ? "" : ":00"}Z`;
  if (delimiter === ";" && /^(double|float|decimal128)$/.test(type)) return text.replace(",", ".");
  return cell.startsWith('"') || !/[",]/.test(cell) ? cell : `"${cell.replaceAll('"', '""')}"`;
}

/**
 * The CSV that the API takes, with the same lines.
 *
 * @param {Blob} file @param {Sheet} sheet @param {(Property | undefined)[]} properties By column; what has none is left out.
 * @param {AbortSignal} abort @param {(part: number) => void} done
 */
export async function rewritten(file, { delimiter, names }, properties, abort, done) {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  /** @type {string[]} */
  const parts = [];
  let [rest, line, read] = ["", 1, 0];
  for (let isLast = false; !isLast;) {
    const { value = "", done: isEnd } = await reader.read();
    abort.throwIfAborted();
    isLast = isEnd;
    const { rows, end } = cut(rest + value, delimiter, isLast);
    parts.push(rows.map((row) => {
      const cells = line === 1 ? properties.flatMap((one) => (one ? [`"${one.name.replaceAll('"', '""')}"`] : [])) : row.flatMap((cell, index) => { const one = properties[index]; return one ? [adapted(cell, one, delimiter)] : []; });
      const isBlank = row.length === 1 && row[0] === "";
      if (!isBlank && row.length !== names.length) throw new ProblemError({ code: "", title: "Wrong number of cells", detail: `There are ${row.length}, but ${names.length} columns.`, status: 0, line });
      line += 1 + (row.join("").match(/\r\n|[\r\n]/g)?.length ?? 0);
      return `${isBlank ? "" : cells.join(",")}\n`;
    }).join(""));
    rest = (rest + value).slice(end);
    done((read += value.length) / file.size);
  }
  return new Blob(parts);
}
