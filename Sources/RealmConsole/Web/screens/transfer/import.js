// SPDX-License-Identifier: Apache-2.0
import { inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { formatBytes, formatCount, visible } from "../../core/format.js";
import { typeText } from "../../core/schema.js";
import { signal } from "../../core/signals.js";
import { button, choice, classChoice, field, problemNode, table } from "../../core/ui.js";
import { chooseFile, upload, work } from "../../core/work.js";
import { rewritten, sheet, unquoted } from "./csv.js";

/** @typedef {{file: Blob, name: string, head: string, csv: import("./csv.js").Sheet | null, isWhole: boolean}} Source */

/** @param {string} text @param {number} [length] */
const short = (text, length = 80) => visible(text.slice(0, length));

/**
 * What may be taken in: a file, or pasted text.
 *
 * @param {string} realm @param {() => import("../../core/schema.js").Class[]} classes
 */
export function importing(realm, classes) {
  const [source, problem, result, chosen] = [signal(/** @type {Source | null} */ (null)), signal(null), signal(""), signal("")];
  const [upsert, parts] = [h("input", { type: "checkbox" }), h("input", { type: "checkbox" })];
  /** @type {Map<string, import("../../core/signals.js").Signal<string>>} The properties that columns become. */
  const mapping = new Map();

  /** @param {Blob | undefined} file @param {string} [name] */
  const take = async (file, name = /** @type {File} */ (file)?.name) => {
    if (!file) return;
    const head = (await file.slice(0, 65_536).text()).replace(/^\ufeff/, "");
    const csv = /^\s*\{/.test(head) ? null : sheet(head);
    [problem.value, result.value] = [null, ""];
    // The class is chosen that has most of the names.
    const score = (/** @type {any} */ one) => one.properties.filter((/** @type {any} */ { name: known }) => csv?.names.includes(known)).length;
    if (csv || !chosen.peek()) chosen.value = [...classes()].sort((one, other) => score(other) - score(one))[0]?.name ?? "";
    source.value = file.size ? { file, name, head, csv, isWhole: /^\s*\{"\$begin"/.test(head) } : null;
  };

  /** @param {Source} from @param {(any | undefined)[]} properties @param {boolean} dryRun */
  const send = async ({ file, csv, isWhole }, properties, dryRun) => {
    [problem.value, result.value] = [null, ""];
    try {
      const answer = await work(dryRun ? "Trying" : "Importing", async (abort, done) => upload(inRealm(realm, "import"), csv ? await rewritten(file, csv, properties, abort, done) : file, {
        params: { class: isWhole ? null : chosen.peek(), mode: upsert.checked ? "upsert" : null, atomic: parts.checked && !dryRun ? "false" : null, dryRun: dryRun || null },
        headers: { "Content-Type": csv ? "text/csv" : "application/x-ndjson" }, abort, done }));
      const { created, updated } = answer.body ?? answer;
      result.value = `${dryRun ? "It fits: this would be" : "Done:"} ${formatCount(created)} created, ${formatCount(updated)} changed.`;
    } catch (error) {
      if (/** @type {any} */ (error).name === "AbortError") result.value = "Ended. If all of it had been sent, the server goes on with it.";
      else problem.value = error;
    }
  };

  /** @param {Source} from */
  const plan = (from) => [
    h("p", null, `${short(from.name)}: ${from.csv ? `CSV with ${formatCount(from.csv.names.length)} columns` : from.isWhole ? "an export with its classes" : "NDJSON"}, ${formatBytes(from.file.size)}`),
    () => {
      const properties = classes().find((one) => one.name === chosen.value)?.properties ?? [];
      const columns = (from.csv?.names ?? []).map((title, index) => {
        const id = JSON.stringify([chosen.value, index, title]);
        const made = mapping.get(id) ?? signal(properties.find((one) => one.name === title)?.name ?? "");
        return mapping.set(id, made).get(id) ?? made;
      });
      /** @type {[string, string][]} */
      const options = [["", "leave out"], ...properties.map((one) => /** @type {[string, string]} */ ([one.name, `${short(one.name)}: ${typeText(one)}`]))];
      const mapped = () => columns.map((one) => properties.find(({ name }) => name === one.value));
      return [!from.isWhole && field("Class", classChoice(classes(), chosen)),
        from.csv ? table(from.csv.names.map((title) => short(title)), [from.csv.names.map((title, index) => choice(options, columns[index], { "aria-label": `Property for ${short(title)}` })),
          ...from.csv.rows.map((row) => row.map((cell) => (cell ? h("div.cell", null, short(unquoted(cell), 200)) : h("span.null", null, "null"))))])
          : h("pre", { tabindex: 0 }, from.head.split("\n").slice(0, 5).map((line) => `${short(line, 200)}\n`)),
        h("div.bar", null, h("label", null, upsert, " Change objects that exist already"), h("label", null, parts, " Keep what was imported before a mistake")),
        h("div.bar", null, button("Import", () => send(from, mapped(), false), { class: "primary", disabled: () => !!from.csv && !mapped().some(Boolean) }), button("Try without writing", () => send(from, mapped(), true)))];
    }];

  /**
   * The line of a mistake, as it is in the file.
   *
   * @param {number} line
   */
  const place = (line) => {
    const text = signal("");
    if (source.value && source.value.file.size < 5e7) void source.value.file.text().then((all) => { text.value = all.split(/\r\n|[\r\n]/)[line - 1] ?? ""; });
    return h("p.wrong", null, `Line ${formatCount(line)}: `, h("code", null, () => short(text.value, 500)));
  };

  const pasted = h("textarea.mono", { rows: 4, spellcheck: "false", placeholder: "id,name", oninput: () => take(new Blob([pasted.value]), "Pasted text") });
  return h("section.card", { "aria-labelledby": "in", ondragover: (event) => event.preventDefault(), ondrop: (event) => { event.preventDefault(); void take(event.dataTransfer.files[0]); } },
    h("h2", { id: "in" }, "Import"),
    h("div.bar", null, button("Choose a file…", async () => take(await chooseFile(".csv,.tsv,.txt,.ndjson,.jsonl"))), h("span.soft", null, "CSV, or NDJSON such as an export. Drop it here, or paste it:")),
    field("Pasted text", pasted), () => source.value && plan(source.value),
    () => problem.value && [problemNode(problem.value), problem.value.problem?.line && place(problem.value.problem.line)], h("p", { role: "status" }, () => result.value));
}
