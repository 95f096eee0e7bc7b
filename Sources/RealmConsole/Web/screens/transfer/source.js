// SPDX-License-Identifier: Apache-2.0
import { ProblemError } from "../../core/api.js";
import { work } from "../../core/work.js";
import { sheet } from "./csv.js";
import { isDatabase, tablesOf } from "./sqlite.js";

/**
 * A chosen, dropped or pasted source. `names` are those of its columns or members, as far as its beginning shows them.
 *
 * @typedef {{file: Blob, name: string, head: string, kind: keyof typeof KINDS, names: string[], csv?: import("./csv.js").Sheet, tables?: import("./sqlite.js").Table[]}} Source
 */

/** The kinds of files that are taken in, by their media types. */
export const KINDS = { export: "application/x-ndjson", ndjson: "application/x-ndjson", json: "application/json", csv: "text/csv", sqlite: "application/vnd.sqlite3" };

/** @param {string} detail */
const unreadable = (detail) => new ProblemError({ code: "", title: "The file cannot be imported", detail, status: 0 });

/** @type {[begin: RegExp, advice: string][]} */
const OTHERS = [
  [/^[^]{16}T-DB/, "A .realm file is opened, or restored, on the screen Realms."],
  [/^PK\u0003\u0004/, "Workbooks and archives are not read: save the sheet as CSV, or unpack the archive."],
];

/**
 * Detects the kind of a file from its first bytes.
 *
 * @param {Blob} file @param {string} name @returns {Promise<Source>}
 * @throws {ProblemError} For a file of another kind, with what to do instead.
 */
export async function sourceOf(file, name) {
  const head = (await file.slice(0, 65_536).text()).replace(/^\ufeff/, "");
  if (head.startsWith("\u001f\ufffd")) {
    return sourceOf(await work("Unpacking", (signal) => new Response(file.stream().pipeThrough(new /** @type {any} */ (globalThis).DecompressionStream("gzip"), { signal })).blob()), name.replace(/\.gz$/, ""));
  }
  const advice = OTHERS.find(([begin]) => begin.test(head))?.[1];
  if (advice) throw unreadable(advice);
  const made = { file, name, head };
  if (isDatabase(head)) return { ...made, kind: "sqlite", names: [], tables: await tablesOf(file).catch(() => { throw unreadable("It is not an SQLite database, or is damaged."); }) };
  if (/^\s*[{[]/.test(head)) {
    const names = [...new Set([...head.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)].map(([, one]) => one))];
    return { ...made, kind: /^\s*\{"\$begin"/.test(head) ? "export" : /^\s*\{/.test(head) ? "ndjson" : "json", names };
  }
  const csv = sheet(head);
  return { ...made, kind: "csv", csv, names: csv.names };
}

/**
 * The class that has most of these names.
 *
 * @param {import("../../core/schema.js").Class[]} classes @param {string[]} names
 * @returns {[name: string, count: number]} And how many it has.
 */
export function fitting(classes, names) {
  const scored = classes.map((one) => /** @type {[string, number]} */ ([one.name, one.properties.filter(({ name }) => names.includes(name)).length]));
  return scored.sort(([, one], [, other]) => other - one)[0] ?? ["", 0];
}
