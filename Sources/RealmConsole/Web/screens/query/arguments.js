// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { encode, exact } from "../../core/exact.js";
import { signal } from "../../core/signals.js";
import { choice } from "../../core/ui.js";
import { mixedType, plainText } from "../../core/values.js";
import { resolve } from "./words.js";

const TYPES = ["text", "int", "double", "decimal128", "date", "bool", "objectId", "uuid", "data", "null", "json"];

/** @param {{type: string, text: string}} field */
const valueOf = ({ type, text }) => (type === "json" ? JSON.parse(text) : type === "null" ? null : type === "text" ? text : encode(type, text));

/**
 * Fields for the arguments `$0`, `$1`, … of a query, each of the type of what it is compared with until another is chosen.
 *
 * @param {import("./words.js").Schema} schema @param {import("./words.js").Class} type @param {() => void} run
 */
export function argumentFields(schema, type, run) {
  const fields = signal(/** @type {{type: string, text: string}[]} */ ([]));
  const text = () => (fields.peek().length ? JSON.stringify(fields.peek().map((field) => {
    try { return valueOf(field); } catch { return field.text; }
  })) : "");
  const node = h("div.bar.arguments", { hidden: () => !fields.value.length }, () => fields.value.map((field, i) => {
    const check = () => {
      let fault = "";
      try { valueOf(field); } catch (error) { fault = String(error); }
      input.setAttribute("aria-invalid", String(!!fault));
      input.title = fault;
    };
    const input = h("input", { value: field.text, "aria-label": `Value of $${i}`, oninput: () => { field.text = input.value; check(); }, onkeydown: (event) => { if (event.key === "Enter") run(); } });
    return h("label", null, h("code", null, `$${i}`), choice(TYPES, signal(field.type), { "aria-label": `Type of $${i}`, oninput: (event) => { field.type = event.target.value; check(); } }), input);
  }));

  /** @param {string} where @param {number} i */
  function guess(where, i) {
    const [, path = ""] = new RegExp(`([\\p{L}_][^\\s<>=!()]*)\\s*(?:[<>=!]+|\\w+)(?:\\[c\\])?\\s*(?:\\{[^{}]*)?\\$${i}(?!\\d)`, "u").exec(where) ?? [];
    const found = resolve(schema, type, path).property?.type.replace("float", "double") ?? "";
    return TYPES.includes(found) ? found : "text";
  }

  return {
    node, text,
    /** @param {string} where A query: there are as many fields as it has arguments. */
    follow(where) {
      const bare = where.replace(/"[^"]*"|'[^']*'/g, "''");
      const count = Math.min(50, Math.max(-1, ...[...bare.matchAll(/\$(\d+)/g)].map((one) => Number(one[1]))) + 1);
      if (count !== fields.peek().length) fields.value = Array.from({ length: count }, (_, i) => fields.peek()[i] ?? { type: guess(bare, i), text: "" });
    },
    /** @param {string} json */
    show(json) {
      if (json !== text()) fields.value = listed(json).map((/** @type {any} */ value) => {
        const kind = { string: "text", float: "double", list: "json", dictionary: "json", object: "json" }[mixedType(value)] ?? mixedType(value);
        return { type: kind, text: kind === "json" ? JSON.stringify(value) : plainText(value) };
      });
    },
  };
}

/**
 * The arguments of an address, which are not trusted; the server reports what is wrong with others.
 *
 * @param {string} json
 */
function listed(json) {
  try {
    const value = exact(json || "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
