// SPDX-License-Identifier: Apache-2.0
import { inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { counted, formatBytes, formatCount, visible } from "../../core/format.js";
import { typeText } from "../../core/schema.js";
import { signal } from "../../core/signals.js";
import { button, choice, classChoice, emptyNode, field, problemNode, table, toast } from "../../core/ui.js";
import { chooseFile, upload, work } from "../../core/work.js";
import { rewritten, unquoted } from "./csv.js";
import { fitting, KINDS, sourceOf } from "./source.js";

/** @typedef {import("./source.js").Source} Source @typedef {import("../../core/signals.js").Signal<string>} Choice */

/** @param {string} text @param {number} [length] */
const short = (text, length = 80) => visible(text.slice(0, length));

/**
 * The import of a file, or of pasted text.
 *
 * @param {string} realm @param {() => import("../../core/schema.js").Class[]} classes
 */
export function importing(realm, classes) {
  const [source, problem, result, chosen] = [signal(/** @type {Source | null} */ (null)), signal(null), signal(""), signal("")];
  const [upsert, parts, lenient] = [h("input", { type: "checkbox" }), h("input", { type: "checkbox" }), h("input", { type: "checkbox" })];
  /** @type {Map<string, Choice>} The choices for columns and tables, by source and target. */
  const choices = new Map();
  /** @param {any[]} parts @param {() => string} first */
  const choiceOf = (parts, first) => {
    const id = JSON.stringify(parts);
    return choices.get(id) ?? choices.set(id, signal(first())).get(id) ?? signal("");
  };

  /** @param {Blob | undefined} file @param {string} [name] */
  const take = async (file, name = /** @type {File} */ (file)?.name) => {
    if (!file) return;
    [problem.value, result.value] = [null, ""];
    try {
      const made = file.size ? await sourceOf(file, name) : null;
      const [best, count] = fitting(classes(), made?.names ?? []);
      if (made?.kind === "csv" || count || !chosen.peek()) chosen.value = best;
      source.value = made;
    } catch (error) {
      if (/** @type {any} */ (error).name !== "AbortError") [source.value, problem.value] = [null, error];
    }
  };

  /**
   * The properties that columns become.
   *
   * @param {string} name Of the class. @param {string[]} columns @param {(title: string) => string | undefined} [named] The property that a column is said to be.
   */
  const mapping = (name, columns, named = (title) => title) => {
    const properties = classes().find((one) => one.name === name)?.properties ?? [];
    const all = columns.map((title, index) => choiceOf([name, index, title, named(title)], () => properties.find((one) => one.name === named(title))?.name ?? ""));
    /** @type {[string, string][]} */
    const options = [["", "leave out"], ...properties.map((one) => /** @type {[string, string]} */ ([one.name, `${short(one.name)}: ${typeText(one)}`]))];
    return {
      row: columns.map((title, index) => choice(options, all[index], { "aria-label": `Property for ${short(title)}` })),
      mapped: () => all.map((one) => properties.find((property) => property.name === one.value)),
    };
  };

  /**
   * The tables that are read, and their classes.
   *
   * @param {Source} from @returns {[import("./sqlite.js").Table, string][]}
   */
  const chosenTables = ({ tables = [] }) => tables.flatMap((one) => {
    const to = tableChoice(one).value;
    return to ? [[one, to]] : [];
  });
  /** @param {import("./sqlite.js").Table} table */
  const tableChoice = ({ name, columns, className }) => choiceOf(["table", name, columns, className], () => {
    if (className !== undefined) return classes().find((one) => one.name === className)?.name ?? "";
    const [best, count] = fitting(classes(), columns);
    return classes().find((one) => one.name.toLowerCase() === name.toLowerCase())?.name ?? (count > columns.length / 2 ? best : "");
  });

  /** @param {import("./sqlite.js").Table} table @param {string} to */
  const tableMapping = ({ columns, className, properties }, to) => mapping(to, columns, className === undefined ? undefined : (title) => properties?.get(title));

  /** @param {Source} from */
  const tableParams = (from) => {
    const tables = chosenTables(from);
    const params = { tables: JSON.stringify(Object.fromEntries(tables.map(([one, to]) => [one.name, to]))) };
    if (tables.length !== 1) return params;
    // An omitted column gets a name that no property has, which is then ignored. By the column of keys links find their targets.
    const [[read, to]] = tables;
    const properties = tableMapping(read, to).mapped();
    const key = read.className === undefined ? "_key" : read.key;
    const isProperty = read.className === undefined ? classes().some((one) => one.name === to && one.properties.some(({ name }) => name === "_key")) : read.properties?.has(key ?? "");
    const named = read.columns.flatMap((title, index) => (properties[index] || title !== key || isProperty ? [[title, properties[index]?.name ?? `\u2205${title}`]] : []));
    return { ...params, columns: JSON.stringify(Object.fromEntries(named)) };
  };

  /** @param {Source} from @param {boolean} dryRun */
  const send = async (from, dryRun) => {
    const { file, kind, csv, tables } = from;
    [problem.value, result.value] = [null, ""];
    try {
      const isLenient = tables ? lenient.checked || chosenTables(from).length === 1 : kind !== "export" && !csv && lenient.checked;
      const answer = await work(dryRun ? "Trying" : "Importing", async (abort, done) => upload(inRealm(realm, "import"), csv ? await rewritten(file, csv, mapping(chosen.peek(), csv.names).mapped(), abort, done) : file, {
        params: { class: tables || kind === "export" ? null : chosen.peek(), ...(tables ? tableParams(from) : {}), mode: upsert.checked ? "upsert" : null, atomic: parts.checked && !dryRun ? "false" : null, dryRun: dryRun || null },
        headers: { "Content-Type": KINDS[kind], ...(isLenient ? { Prefer: "handling=lenient" } : {}) }, abort, done }));
      const { created, updated } = answer.body ?? answer;
      result.value = `${dryRun ? "It fits: this would be" : "Done:"} ${formatCount(created)} created, ${formatCount(updated)} changed.`;
    } catch (error) {
      if (/** @type {any} */ (error).name === "AbortError") result.value = "Ended. If all of it had been sent, the server continues with it.";
      else problem.value = error;
    }
  };

  /** @param {Source} from */
  const what = ({ kind, names, tables = [] }) => ({
    export: "an export with its classes", ndjson: "NDJSON", json: "a JSON array", csv: `CSV with ${counted(names.length, "column")}`, sqlite: `SQLite with ${counted(tables.length, "table")}`,
  })[kind];

  /** @param {Source} from */
  const contents = (from) => {
    const { csv, tables, head } = from;
    if (csv) {
      const { row } = mapping(chosen.value, csv.names);
      return table(csv.names.map((title) => short(title)), [row, ...csv.rows.map((cells) => cells.map((cell) => (cell ? h("div.cell", null, short(unquoted(cell), 200)) : h("span.null", null, "null"))))]);
    }
    if (!tables) return h("pre", { tabindex: 0 }, head.split("\n").slice(0, 5).map((line) => `${short(line, 200)}\n`));
    if (!tables.length) return emptyNode("The database has no table", "Choose another file.");
    return [table(["Table", "Class", "Columns"], tables.map((one) => [short(one.name), classChoice(classes(), tableChoice(one), { "aria-label": `Class for ${short(one.name)}` }, "leave out"), h("div.cell", null, short(one.columns.join(", "), 200))])),
      () => {
        const all = chosenTables(from);
        return all.length === 1 && table(all[0][0].columns.map((title) => short(title)), [tableMapping(...all[0]).row]);
      }];
  };

  /** @param {Source} from */
  const isReady = (from) => {
    if (from.csv) return mapping(chosen.value, from.csv.names).mapped().some(Boolean);
    return !from.tables || chosenTables(from).length > 0;
  };

  /** @param {Source} from */
  const plan = (from) => [
    h("p", null, `${short(from.name)}: ${what(from)}, ${formatBytes(from.file.size)}`),
    () => from.kind !== "export" && !from.tables && field("Class", classChoice(classes(), chosen)),
    () => contents(from),
    h("div.bar", null, h("label", null, upsert, " Change objects that exist already"), h("label", null, parts, " Keep what was imported before a mistake"),
      from.kind !== "export" && !from.csv && h("label", null, lenient, " Leave out what the class does not have")),
    h("div.bar", null, button("Import", () => send(from, false), { class: "primary", disabled: () => !isReady(from) }), button("Try without writing", () => send(from, true), { disabled: () => !isReady(from) }))];

  /**
   * The line of a mistake, as it is in the file.
   *
   * @param {number} line
   */
  const place = (line) => {
    if (source.value?.tables) return h("p.wrong", null, `Row ${formatCount(line)} of all that are read.`);
    const text = signal("");
    if (source.value && source.value.file.size < 5e7) void source.value.file.text().then((all) => { text.value = all.split(/\r\n|[\r\n]/)[line - 1] ?? ""; });
    return h("p.wrong", null, `Line ${formatCount(line)}: `, h("code", null, () => short(text.value, 500)));
  };

  const pasted = h("textarea.mono", { rows: 5, spellcheck: "false", placeholder: "id,name", oninput: () => take(new Blob([pasted.value]), "Pasted text") });
  return h("section.card", { "aria-labelledby": "in", ondragover: (event) => event.preventDefault(), ondrop: (event) => {
    event.preventDefault();
    const [first, ...others] = event.dataTransfer.files;
    void take(first);
    if (others.length) toast("One file is imported at a time: only the first is taken.");
  } },
    h("h2", { id: "in" }, "Import"),
    h("div.bar", null, button("Choose a file…", async () => take(await chooseFile(".csv,.tsv,.txt,.ndjson,.jsonl,.json,.ejson,.sqlite,.sqlite3,.db,.gz"))), h("span.soft", null, "CSV, JSON, NDJSON such as an export, or SQLite. Drop it here, or paste it:")),
    field("Pasted text", pasted), () => source.value && plan(source.value),
    () => problem.value && [problemNode(problem.value), problem.value.problem?.line && place(problem.value.problem.line)], h("p", { role: "status" }, () => result.value));
}
