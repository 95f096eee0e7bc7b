// SPDX-License-Identifier: Apache-2.0
import { csrf } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { formatDuration, visible, visibleLines } from "../../core/format.js";
import { onCleanup, signal } from "../../core/signals.js";
import { button, choice, field } from "../../core/ui.js";
import { resolved } from "./document.js";

/** The number of characters of a body that are shown. */
const ROOM = 200_000;

/** @param {any} doc @param {any} operation @param {string[]} types Of the body. @param {string} realm A form that sends an operation and shows what comes back. */
export function tryNode(doc, operation, types, realm) {
  const [outcome, running, said, text] = [signal(null), signal((null)), signal(""), h("textarea.mono", { rows: 5 })];
  onCleanup(() => running.peek()?.abort());
  const parameters = /** @type {any[]} */ (operation.all).map((one) => resolved(doc, one));
  if (types.length) parameters.push({ name: "Content-Type", in: "header", schema: { enum: types } });
  const inputs = parameters.map(({ name, in: place, schema = {}, description = "" }) => {
    const values = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : null);
    const value = signal(place === "path" && name === "realm" ? realm : values === types ? types[0] : "");
    const input = values ? choice(values === types ? types : ["", ...values], value) : h("input", { value: value.peek(), required: place === "path", oninput: () => { value.value = input.value; } });
    return { name, place, value, node: field(name, input, visible(`${place}: ${description}`)) };
  });
  async function run() {
    let target = operation.route;
    const [query, abort, start] = [new URLSearchParams(), new AbortController(), performance.now()];
    /** @type {Record<string, string>} */
    const headers = csrf.token && operation.method !== "GET" ? { "X-CSRF-Token": csrf.token } : {};
    for (const { name, place, value: { value } } of inputs) {
      if (place === "path") target = target.replace(`{${name}}`, () => encodeURIComponent(value));
      else if (value && place === "query") query.set(name, value);
      else if (value && (text.value || name !== "Content-Type")) headers[name] = value;
    }
    const show = (/** @type {any} */ status, isGood = false, fields = "") => { outcome.value = { status, isGood, fields, took: performance.now() - start }; };
    [running.value, said.value] = [abort, ""];
    try {
      const response = await fetch(`${query}` ? `${target}?${query}` : target, { method: operation.method, headers, body: text.value || undefined, signal: abort.signal });
      show(`${response.status} ${response.statusText}`, response.ok, [...response.headers].map((pair) => pair.join(": ")).join("\n"));
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        said.value = (said.peek() + part.value).slice(0, ROOM);
        if (said.peek().length === ROOM) abort.abort();
      }
    } catch (error) {
      if (!abort.signal.aborted) show(error);
      else if (said.peek()) said.value += "\n… The rest is not shown.";
    }
    running.value = null;
  }
  return h("form", { onsubmit: (event) => { event.preventDefault(); if (!running.peek()) void run(); } },
    h("div.fields", null, inputs.map((one) => one.node)), types.length > 0 && field("Body", text), h("div.bar", null, h("button.primary", { disabled: () => running.value }, "Try it"), () => running.value && button("Cancel", () => running.peek()?.abort())),
    () => outcome.value && h("div", { role: "status" }, h("p", null, h("span.tag", { class: outcome.value.isGood ? "good" : "danger" }, outcome.value.status), ` after ${formatDuration(outcome.value.took)}`),
      h("pre", { tabindex: 0, "aria-label": "Header fields" }, visibleLines(outcome.value.fields)), h("pre", { tabindex: 0, "aria-label": "Body" }, () => visibleLines(said.value))));
}
