// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, ProblemError } from "../../core/api.js";
import { each, h, uniqueID } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { classNamed } from "../../core/schema.js";
import { effect, signal } from "../../core/signals.js";
import { button, choice, confirm, copyText, emptyNode, field, problemNode, stored, toast } from "../../core/ui.js";
import { work } from "../../core/work.js";
import { differenceNode, fieldsOf, STEPS, stepText } from "./steps.js";

/** @typedef {import("./steps.js").Step} Step */

/** @param {string} realm @param {import("../../core/schema.js").Schema} schema @param {() => void} reload Reads the schema anew. */
export function migrationNode(realm, schema, reload) {
  const [steps, kind, next] = [stored(`migration:${realm}`, /** @type {Step[]} */ ([])), signal("addProperty"), signal(String(BigInt(schema.schemaVersion ?? 0) + 1n))];
  const [outcome, problem, loses, mayLose, names] = [signal(null), signal(null), signal(false), signal(false), uniqueID()];
  // The tested steps are no longer those that would be applied.
  effect(() => { [steps.value, mayLose.value, next.value, outcome.value = null]; });
  const text = () => `{"fromVersion": ${schema.schemaVersion}, "toVersion": ${next.value}, "allowDataLoss": ${mayLose.value}, "steps": [\n${steps.value.map(stepText).join(",\n")}]}`;
  /** @param {true | null} dryRun */
  const run = async (dryRun) => {
    problem.value = null;
    try {
      const said = await work(dryRun ? "Trying" : "Migrating", (abort) => call("POST", inRealm(realm, "migrations"), { params: { dryRun }, body: text(), headers: { "Content-Type": "application/json" }, abort }));
      if (dryRun) return void (outcome.value = said.body);
      toast(`The schema has version ${next.value} now.${said.backup ? ` The file of before is ${said.backup}.` : ""}`);
      steps.value = [];
      reload();
    } catch (error) {
      // The schema shows whether the aborted request had succeeded.
      if (/** @type {Error} */ (error).name === "AbortError") return reload();
      problem.value = error;
      loses.value ||= error instanceof ProblemError && error.problem.code === "would_lose_data";
    }
  };
  const apply = async () => await confirm("Apply the migration", [h("p", null, `The schema and the data of ${visible(realm)} change for all clients.`), mayLose.peek() && h("p.problem", null, "Data is lost.")], "Apply") && run(null);
  const pointer = () => problem.value?.problem?.pointer ?? "";
  /** @param {Step} step */
  const stepNode = ({ id, kind: does, values }) => {
    const [properties, at] = [uniqueID(), () => steps.value.findIndex((one) => one.id === id)];
    const set = (/** @type {string} */ path, /** @type {string} */ value) => { steps.value = steps.peek().map((one) => (one.id === id ? { ...one, values: { ...one.values, [path]: value } } : one)); };
    const move = (/** @type {number} */ by) => {
      const [all, from] = [[...steps.peek()], at()];
      const [one] = all.splice(from, 1);
      if (by) all.splice(Math.max(0, from + by), 0, one);
      steps.value = all;
    };
    const inputs = fieldsOf(does).map(({ path, name, mark, form, options }) => {
      const value = values[path] ?? "";
      /** @type {any} */
      const input = options ? choice(options, signal(value), { oninput: () => set(path, input.value) })
        : h(form === "json" ? "textarea.mono" : "input", { value, spellcheck: "false", list: { class: names, property: properties }[form], oninput: () => set(path, input.value) });
      return field(name + (mark ? "" : " *"), input, form === "json" ? "JSON" : "");
    });
    const node = h("fieldset", null, h("legend", null, () => `${at() + 1}. ${does}`), h("div.fields", null, inputs), h("datalist", { id: properties }, () => classNamed(schema, steps.value[at()]?.values.class)?.properties.map(({ name }) => h("option", { value: name }))),
      () => pointer().startsWith(`/steps/${at()}/`) && [setTimeout(() => node.scrollIntoView()), problemNode(problem.value)].slice(1), h("div.bar", null, button("Up", () => move(-1)), button("Down", () => move(1)), button("Remove", () => move(0))));
    return node;
  };
  const list = h("div");
  each(list, () => steps.value, ({ id }) => id, stepNode);
  const version = h("input", { value: next.peek(), inputmode: "numeric", oninput: () => { next.value = version.value.replace(/\D/g, "") || "0"; } });
  return [h("datalist", { id: names }, schema.classes.map(({ name }) => h("option", { value: name }))), () => !steps.value.length && emptyNode("A migration changes the schema, and the data with it", "Add its steps, try them without writing, see what would change, then apply them."), list,
    h("div.bar", null, choice(Object.keys(STEPS), kind, { "aria-label": "Kind of step" }), button("Add the step", () => { steps.value = [...steps.peek(), { id: crypto.randomUUID(), kind: kind.peek(), values: {} }]; })),
    h("div", { hidden: () => !steps.value.length }, field("To version", version), () => loses.value && h("label.problem", null, h("input", { type: "checkbox", checked: mayLose.peek(), onchange: () => { mayLose.value = !mayLose.peek(); } }), " Data may be lost"),
      h("div.bar", null, button("Try without writing", () => run(true)), button("Apply…", apply, { class: "primary", disabled: () => !outcome.value }), button("Copy as JSON", () => copyText(text()))),
      () => problem.value && !pointer().startsWith("/steps/") && problemNode(problem.value), () => outcome.value && differenceNode(outcome.value))];
}
