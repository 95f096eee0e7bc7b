// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { counted, formatBytes, formatCount, visible } from "../../core/format.js";
import { resource, signal } from "../../core/signals.js";
import { dialog, loaded, table } from "../../core/ui.js";

/** @type {Record<string, string>} */
const NOTES = {
  renamed: "Renamed", oldDates: "Dates without nanoseconds", textNotUTF8: "Text that is not UTF-8", propertyLeftOut: "Property left out", tableLeftOut: "Table left out", primaryKeyLeftOut: "Primary key left out",
  entryIgnored: "Entry ignored", linksLeftOut: "Links left out", mixedTableLeftOut: "Tables inside of values left out", indexLeftOut: "Index left out", synchronized: "Was synchronized", historyLeftOut: "History left out",
};

/**
 * A format with the programs that write it, and that of the file before it was converted.
 *
 * @param {number | undefined} format @param {string | undefined} writtenBy @param {number} [from]
 */
export function formatText(format, writtenBy, from) {
  if (format === undefined) return null;
  if (format === 0) return "none yet: nothing was written";
  return [format, from && (from === format ? "converted in the private copy" : `from format ${from}`), writtenBy && `written by ${writtenBy}`].filter(Boolean).join(", ");
}

/** @param {any[][]} rows Names and values; those without a value are left out. */
export const factList = (rows) => rows.filter(([, value]) => value !== undefined && value !== null).map(([label, value]) => [h("dt", null, label), h("dd", null, value)]);

/**
 * The conversion of an old file; nothing for other realms. The whole report is read on demand.
 *
 * @param {string} name @param {any} short The member `conversion` of a realm in the list.
 */
export function conversion(name, short) {
  if (!short) return null;
  const { fromFormat, lossless, noteCount } = short;
  const open = signal(lossless === false);
  const node = h("details.conversion", { open: open.peek(), ontoggle: () => { open.value ||= node.open; } },
    h("summary", null, [`Converted from format ${fromFormat}`, noteCount > 0 && counted(noteCount, "note"), lossless === false && "with losses"].filter(Boolean).join(", ")),
    () => open.value && loaded(resource((abort) => call("GET", inRealm(name), { abort, quiet: true })), (realm) => [report(realm.conversion ?? short), kept(realm) && h("p.soft", null, `The old file is kept as ${kept(realm)}.`)]));
  return node;
}

/** @param {any} realm @returns {string} The copy of the file in its old format; empty for none. */
export const kept = ({ backups = [] }) => backups.filter((/** @type {any} */ one) => one.fileFormat).map((/** @type {any} */ one) => visible(one.name)).join(", ");

/** @param {any} made The member `conversion` of a realm. Cards are too narrow for a table. */
function report({ writtenBy, classes, notes = [], noteCount = 0, lossless }) {
  const objects = classes?.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.objects, 0);
  return [writtenBy && h("p.soft", null, `Written by ${visible(writtenBy)}`),
    classes && h("p.soft", null, `${counted(objects, "object")} of ${counted(classes.length, "class", "classes")}. ${lossless === false ? "The losses are listed." : "Nothing is lost."}`),
    notes.length > 0 && h("ul", null, notes.map((/** @type {any} */ { kind, class: name, property, count, text }) => h("li", null,
      h("strong", null, NOTES[kind] ?? kind), [name, property].filter(Boolean).map((one) => visible(one)).join(".").replace(/^(?=.)/, ": "), ` (${formatCount(count ?? 1)})`, text && h("p.soft", null, visible(text))))),
    notes.length > 0 && noteCount > notes.length && h("p.soft", null, `${counted(noteCount - notes.length, "more note is", "more notes are")} not listed.`)];
}

/**
 * The description of the file of a realm that is not open.
 *
 * @param {string} name
 */
export function aboutFile(name) {
  return dialog(`The file of ${visible(name)}`, () => loaded(resource((abort) => call("GET", inRealm(name), { abort })), ({ file }) => (file ? about(file) : h("p", null, "The realm is open, or has no file."))), "wide");
}

/** @param {any} file */
function about({ realm, encrypted, fileFormat, writtenBy, streamingForm, fileBytes, usedBytes, freeBytes, schemaVersion, historyText, classes, otherTables, opening, problem }) {
  return [h("dl.facts", null, factList([
    ["What", realm ? "a Realm file" : realm === false ? "no Realm file" : "an encrypted Realm file, or no Realm file"], ["Format", formatText(fileFormat, writtenBy)],
    ["Encrypted", encrypted === undefined ? null : encrypted ? "yes" : "no"], ["Form", streamingForm ? "streaming, as copies are written" : null],
    ["Size", formatBytes(fileBytes) + (usedBytes >= 0 ? `, ${formatBytes(usedBytes)} used, ${formatBytes(freeBytes)} free` : "")],
    ["Schema version", schemaVersion === null ? "none" : schemaVersion], ["History", historyText],
    ["Other tables", otherTables?.length ? otherTables.map((/** @type {any} */ one) => `${visible(one.name)} (${formatCount(one.rows)})`).join(", ") : null],
    ["Contents", problem && `unknown: ${visible(problem.detail)}`], ["When served", visible(opening.detail)], ["Advice", opening.advice && visible(opening.advice)]])),
  classes && (classes.length ? table(["Class", "Objects", "Properties"], classes.map((/** @type {any} */ one) => [visible(one.name), formatCount(one.objects), formatCount(one.properties)])) : h("p.soft", null, "The file has no class."))];
}
