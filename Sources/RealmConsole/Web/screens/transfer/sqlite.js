// SPDX-License-Identifier: Apache-2.0
/**
 * The tables of a database of SQLite, read from the pages of its schema, so that they can be chosen before the file is sent.
 *
 * The map of an export states for a table the class of its objects, "" for another table, and for its columns the properties.
 *
 * @typedef {{name: string, columns: string[], className?: string, key?: string, properties?: Map<string, string>}} Table
 */

/** Bounds on the reading of an untrusted file. */
const [MOST_PAGES, MOST_BYTES] = [2000, 1 << 20];

/** The table in which an export says what its tables and columns are, and its columns. */
const [MAP, MAP_COLUMNS] = ["_realm_names", ["table", "column", "class", "property", "role"]];

/** @param {string} head */
export const isDatabase = (head) => head.startsWith("SQLite format 3\0");

/**
 * @param {Blob} file @returns {Promise<Table[]>}
 * @throws {RangeError} For a file that is damaged.
 */
export async function tablesOf(file) {
  const bytes = async (/** @type {number} */ from, /** @type {number} */ length) => new DataView(await file.slice(from, from + length).arrayBuffer());
  const first = await bytes(0, 100);
  const size = first.getUint16(16) === 1 ? 65_536 : first.getUint16(16);
  const usable = size - first.getUint8(20);
  const decoder = new TextDecoder(["utf-8", "utf-8", "utf-16le", "utf-16be"][first.getUint32(56)] ?? "utf-8");
  if (size < 512 || usable < 480) throw new RangeError("damaged");
  let left = MOST_PAGES;
  const page = (/** @type {number} */ number) => {
    if ((left -= 1) < 0) throw new RangeError("too many pages");
    return bytes((number - 1) * size, size);
  };
  /** @type {(Table & {page: number})[]} */
  const found = [];

  /**
   * The record of a cell, with what lies on pages of its own.
   *
   * @param {DataView} view @param {number} at
   */
  async function record(view, at) {
    const [length, from] = varint(view, at);
    const start = varint(view, from)[1];
    const [most, least] = [usable - 35, Math.floor((usable - 12) * 32 / 255) - 23];
    const fit = least + (length - least) % (usable - 4);
    const local = length <= most ? length : fit <= most ? fit : least;
    const all = new Uint8Array(Math.min(length, MOST_BYTES));
    all.set(new Uint8Array(view.buffer, start, Math.min(local, all.length)));
    for (let [done, next] = [local, length > local ? view.getUint32(start + local) : 0]; next && done < all.length;) {
      const more = await page(next);
      all.set(new Uint8Array(more.buffer, 4, Math.min(usable - 4, all.length - done)), done);
      [done, next] = [done + usable - 4, more.getUint32(0)];
    }
    return new DataView(all.buffer);
  }

  /** @param {number} number @param {(values: (string | number | null)[]) => void} take @param {number} [depth] */
  async function walk(number, take, depth = 0) {
    const view = await page(number);
    const head = number === 1 ? 100 : 0;
    const [kind, count] = [view.getUint8(head), view.getUint16(head + 3)];
    if (kind !== 13 && (kind !== 5 || depth > 20)) throw new RangeError("damaged");
    for (let i = 0; i < count; i += 1) {
      const at = view.getUint16(head + (kind === 5 ? 12 : 8) + 2 * i);
      if (kind === 5) await walk(view.getUint32(at), take, depth + 1);
      else take(valuesOf(await record(view, at), decoder));
    }
    if (kind === 5) await walk(view.getUint32(head + 8), take, depth + 1);
  }

  await walk(1, (values) => found.push(...tableOf(values)));
  const map = found.find(({ name, columns }) => name === MAP && columns.length === MAP_COLUMNS.length && MAP_COLUMNS.every((one) => columns.includes(one)));
  if (!map) return found;
  const tables = new Map(found.map((one) => [one.name, one]));
  const order = MAP_COLUMNS.map((one) => map.columns.indexOf(one));
  await walk(map.page, (values) => {
    const [name, column, className, property, role] = order.map((at) => values[at]);
    const one = tables.get(String(name));
    if (!one) return;
    if (role === "key") [one.className, one.key] = [String(className), String(column)];
    one.className ??= "";
    if (typeof property === "string") (one.properties ??= new Map()).set(String(column), property);
  });
  return found.filter((one) => one !== map);
}

/**
 * A number of one to nine bytes, and where it ends.
 *
 * @param {DataView} view @param {number} at
 */
function varint(view, at) {
  let value = 0;
  for (let i = 0; i < 9; i += 1) {
    const byte = view.getUint8(at + i);
    value = i === 8 ? value * 256 + byte : value * 128 + (byte & 127);
    if (byte < 128) return [value, at + i + 1];
  }
  return [value, at + 9];
}

/**
 * The first five values of a record: texts and whole numbers, and null for all else.
 *
 * @param {DataView} record @param {TextDecoder} decoder
 */
function valuesOf(record, decoder) {
  let [end, at] = varint(record, 0);
  const values = /** @type {(string | number | null)[]} */ ([]);
  for (let kind, place = end; at < end && values.length < 5;) {
    [kind, at] = varint(record, at);
    const length = kind >= 12 ? (kind - 12 - (kind & 1)) / 2 : [0, 1, 2, 3, 4, 6, 8, 8][kind] ?? 0;
    const bytes = new Uint8Array(record.buffer, Math.min(place, record.byteLength), Math.max(0, Math.min(length, record.byteLength - place)));
    if (kind >= 13 && kind & 1) values.push(decoder.decode(bytes));
    else if (kind > 0 && kind < 7) values.push(bytes.reduce((number, byte) => number * 256 + byte, bytes[0] > 127 ? -1 : 0));
    else values.push(kind === 8 ? 0 : kind === 9 ? 1 : null);
    place += length;
  }
  return values;
}

/**
 * The plain table that a record of the schema describes: type, name, table, page, statement.
 *
 * @param {(string | number | null)[]} values @returns {(Table & {page: number})[]}
 */
function tableOf([type, name, , page, sql]) {
  // Entries without a page, such as views and virtual tables, are not read.
  if (type !== "table" || typeof name !== "string" || typeof page !== "number" || page < 1 || /^sqlite_/i.test(name)) return [];
  return [{ name, columns: columnsOf(String(sql ?? "")), page }];
}

const TOKEN = /--[^\n]*|\/\*[^]*?\*\/|"(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|\[[^\]]*\]|[\w$\u0080-\uffff]+|\s+|[^]/g;

/**
 * The names of the columns in a statement that makes a table.
 *
 * @param {string} sql
 */
function columnsOf(sql) {
  /** @type {string[]} */
  const names = [];
  let [depth, isFirst] = [0, false];
  for (const [token] of sql.matchAll(TOKEN)) {
    if (/^(\s|--|\/\*)/.test(token)) continue;
    if (token === "(") [depth, isFirst] = [depth + 1, depth === 0];
    else if (token === ")") depth -= 1;
    else if (token === "," && depth === 1) isFirst = true;
    else if (isFirst && depth === 1) {
      isFirst = false;
      if (/^(constraint|primary|unique|check|foreign)$/i.test(token)) break;
      const quote = '"`\'['.includes(token[0]) ? token.at(-1) ?? "" : "";
      names.push(quote ? token.slice(1, -1).replaceAll(quote + quote, quote) : token);
    }
  }
  return names;
}
