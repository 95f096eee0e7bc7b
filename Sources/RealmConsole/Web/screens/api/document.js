// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { visible, visibleLines } from "../../core/format.js";
import { signal } from "../../core/signals.js";
import { tryNode } from "./try.js";

/** @param {any} doc @param {any} part @returns {any} The target of a reference. */
export function resolved(doc, part) {
  // OpenAPI 3.0 wraps a reference that may be null.
  if (part?.anyOf?.[1]?.enum?.[0] === null) return { ...resolved(doc, part.anyOf[0]), nullable: true };
  return part?.$ref ? resolved(doc, part.$ref.slice(2).split("/").reduce((/** @type {any} */ at, /** @type {string} */ name) => at?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], doc)) : part ?? {};
}

/**
 * @param {any} doc @param {any} schema @param {number} depth The number of references to follow. @param {string} indent
 * @returns {string} The schema in the manner of TypeScript.
 */
function shape(doc, schema, depth, indent) {
  const target = schema?.$ref ?? schema?.anyOf?.[0]?.$ref;
  if (target && !depth) return target.split("/").pop() + (schema.anyOf?.[1]?.enum?.[0] === null ? " | null" : "");
  const { type = "any", enum: values, properties, required = [], items, format, nullable } = resolved(doc, schema);
  const [next, inner] = [target ? depth - 1 : depth, `${indent}  `];
  return (values ? values.map(JSON.stringify).join(" | ") : items ? `[${shape(doc, items, next, indent)}]` : !properties ? format ?? type
    : `{\n${Object.entries(properties).map(([name, one]) => `${inner}${visible(name)}${required.includes(name) ? "" : "?"}: ${shape(doc, one, next, inner)}\n`).join("")}${indent}}`) + (nullable ? " | null" : "");
}

/** @param {any} doc @param {any} content By media type. */
const bodyNode = (doc, content = {}) => Object.entries(content).slice(0, 1).map(([type, { schema }]) => h("pre", { tabindex: 0 }, visibleLines(`${type}\n${shape(doc, schema, 2, "")}`)));

/**
 * An OpenAPI document: operations by tag, what each takes and answers, and a form that sends it.
 *
 * @param {any} doc @param {string} realm The value of that parameter. @param {{value: string}} word Shown are operations that have it.
 * @param {string | null} wanted The operation to begin with.
 */
export function documentNode(doc, realm, word, wanted) {
  /** @type {Record<string, any[]>} */
  const tags = {};
  for (const [route, item] of Object.entries(doc.paths)) {
    for (const [method, one] of Object.entries((item))) {
      if (one.responses) (tags[one.tags?.[0]] ??= []).push({ ...one, route, method: method.replace("x-", "").toUpperCase(), all: [...item.parameters ?? [], ...one.parameters ?? []] });
    }
  }
  const isHidden = (/** @type {any} */ { method, route, summary }) => !`${method} ${route} ${summary}`.toLowerCase().includes(word.value);
  return [() => word.value && Object.values(tags).flat().every(isHidden) && h("p", { role: "status" }, "No operation has this: look for a part of its path, or for another word."), Object.entries(tags).map(([tag, all]) => h("section", { hidden: () => all.every(isHidden) }, h("h3", null, visible(tag)), all.map((one) => {
    const open = signal(one.operationId === wanted);
    const node = h("details", { open: open.peek(), hidden: () => isHidden(one), ontoggle: () => { open.value ||= node.open; } },
      h("summary", null, h("code.method", null, one.method), h("code", null, visible(one.route)), h("span.soft", null, visible(one.summary ?? ""))), () => open.value && operationNode(doc, one, realm));
    if (open.peek()) requestAnimationFrame(() => { node.scrollIntoView(); node.querySelector("summary")?.focus(); });
    return node;
  })))];
}

/** @param {any} doc @param {any} operation @param {string} realm */
function operationNode(doc, operation, realm) {
  const { content } = resolved(doc, operation.requestBody);
  /** @type {string[]} */
  const codes = operation["x-problem-codes"] ?? [];
  return h("div", null, operation.description && h("p", null, visible(operation.description)), tryNode(doc, operation, Object.keys(content ?? {}), realm), content && h("h4", null, "Body"), bodyNode(doc, content), h("h4", null, "Answers"),
    Object.entries(operation.responses).filter(([status]) => status < "4").map(([status, one]) => [h("p", null, `${status}: ${visible(resolved(doc, one).description)}`), bodyNode(doc, resolved(doc, one).content)]),
    codes.length > 0 && h("p", null, "Problems: ", codes.map((code) => [h("a", { href: `/docs/problems/${encodeURIComponent(code)}` }, code), " "])));
}
