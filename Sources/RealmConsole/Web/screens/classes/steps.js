// SPDX-License-Identifier: Apache-2.0
import { ProblemError } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { typeText } from "../../core/schema.js";

const TYPES = "int|bool|string|data|date|float|double|decimal128|objectId|uuid|mixed|object";
const SOME = "class:class where:text args?:json";
/**
 * The members of each step of a migration, as `member:form`. A form is a kind of field, or choices. An empty field is left out
 * with `?` and null with `!`.
 *
 * @type {Record<string, string>}
 */
export const STEPS = {
  addClass: "name:text type?:object|embedded primaryKey?:text properties?:json", removeClass: "name:class", renameClass: "name:class to:text",
  addProperty: `class:class property.name:text property.type:${TYPES} property.objectType?:class property.collection?:list|set|dictionary property.optional?:true|false property.indexed?:general|fulltext value?:json`,
  removeProperty: "class:class name:property", renameProperty: "class:class name:property to:text",
  changeProperty: `class:class name:property type?:${TYPES} optional?:true|false conversion?:text nullValue?:json onFailure?:error|null|default rounding?:exact|nearest|truncate`,
  setPrimaryKey: "class:class name!:property", setIndex: "class:class name:property indexed!:general|fulltext", setType: "class:class type:embedded|object",
  set: `${SOME} values:json`, create: "class:class body:json as?:text upsert?:modified|all", delete: SOME, forEach: "class:class where?:text args?:json as:text keyAs?:text steps:json",
};

/** @typedef {{id: string, kind: string, values: Record<string, string>}} Step @param {string} kind */
export const fieldsOf = (kind) => STEPS[kind].split(" ").map((one) => {
  const [, path, group, name, mark, form] = /** @type {string[]} */ (/^((?:(\w+)\.)?(\w+))(\W?):(.*)$/.exec(one));
  return { path, group, name, mark, form, options: form.includes("|") ? [...(mark ? [""] : []), ...form.split("|")] : null };
});

/** @param {Step} step @param {number} index @returns Its text; what is typed as JSON stays as it is, digit for digit. */
export function stepText({ kind, values }, index) {
  /** @type {Record<string, string[]>} */
  const groups = { "": [] };
  for (const { path, group = "", name, mark, form, options } of fieldsOf(kind)) {
    const value = values[path] || (mark ? "" : options?.[0] ?? "");
    if (!value && mark === "?") continue;
    if (form === "json") {
      try {
        JSON.parse(value);
      } catch (error) {
        throw new ProblemError({ code: "", title: `${name} is not JSON`, detail: String(error), status: 0, pointer: `/steps/${index}/${kind}/${name}` });
      }
    }
    (groups[group] ??= []).push(`"${name}": ${!value && mark ? "null" : ["json", "true|false"].includes(form) ? value : JSON.stringify(value)}`);
  }
  const { "": own, ...inner } = groups;
  return `{"${kind}": {${[...own, ...Object.entries(inner).map(([name, members]) => `"${name}": {${members.join(", ")}}`)].join(", ")}}}`;
}

/** @param {import("../../core/schema.js").Schema} schema @param {string} name Of a class. @returns {string[]} */
const linesOf = ({ classes }, name) => classes.filter((one) => one.name === name).flatMap((one) => [`${one.type}, primary key: ${one.primaryKey ?? "none"}`, ...one.properties.map((property) => `${property.name}: ${typeText(property)}${property.indexed ? `, index: ${property.indexed}` : ""}`)]);

/** @param {{before: import("../../core/schema.js").Schema, after: import("../../core/schema.js").Schema}} schemas The two versions to compare. */
export function differenceNode({ before, after }) {
  const changes = [...new Set([...before.classes, ...after.classes].map((one) => one.name))].map((name) => {
    const [old, now] = [linesOf(before, name), linesOf(after, name)];
    const marked = (/** @type {string} */ tag, /** @type {string} */ sign, /** @type {string[]} */ lines, /** @type {string[]} */ others) => lines.filter((line) => !others.includes(line)).map((line) => h("li", null, h(tag, null, `${sign} ${visible(line)}`)));
    return { name, lines: [...marked("del", "−", old, now), ...marked("ins", "+", now, old)] };
  }).filter(({ lines }) => lines.length);
  return h("section", { "aria-label": "Difference" }, h("h2", null, `Version ${before.schemaVersion ?? "none"} → ${after.schemaVersion}`), !changes.length && h("p", null, "The schema stays; only data would change."), changes.map(({ name, lines }) => [h("h3", null, visible(name)), h("ul.lines", null, lines)]));
}
