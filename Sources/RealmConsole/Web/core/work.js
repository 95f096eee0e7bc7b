// SPDX-License-Identifier: Apache-2.0
import { csrf, download, problemOf, ProblemError, recent, send, withParams } from "./api.js";
import { h, uniqueID } from "./dom.js";
import { scope, signal } from "./signals.js";
import { button, dialog, messages, progress, shownProblem } from "./ui.js";

/**
 * Does long work: after 200 ms a message shows its progress and a button that ends it.
 *
 * @template T
 * @param {string} label
 * @param {(abort: AbortSignal, done: (part: number | null) => void) => Promise<T>} run Reports 0 to 1, or null when unknown.
 * @returns {Promise<T>}
 */
export async function work(label, run) {
  const [abort, done, id] = [new AbortController(), signal(/** @type {number | null} */ (null)), uniqueID()];
  const [node, end] = scope(() => h("div.toast", null, progress(label, () => done.value, () => abort.abort())));
  const timer = setTimeout(() => { messages.value = [...messages.peek(), { id, node }]; }, 200);
  try {
    return await run(abort.signal, (part) => { done.value = part; });
  } finally {
    clearTimeout(timer);
    messages.value = messages.peek().filter((one) => one.id !== id);
    end();
  }
}

/**
 * Sends a file and reports the progress, which `fetch` does not.
 *
 * @param {string} target
 * @param {Blob} body
 * @param {{params?: Record<string, any>, headers: Record<string, string>, abort: AbortSignal, done(part: number | null): void}} options
 * @returns {Promise<any>} The document of the answer.
 */
export function upload(target, body, { params, headers, abort, done }) {
  const request = new XMLHttpRequest();
  const url = withParams(target, params);
  recent.value = [{ method: "POST", target: url, body: undefined }, ...recent.peek()].slice(0, 20);
  return new Promise((resolve, reject) => {
    request.open("POST", url);
    Object.entries({ Accept: "application/json", ...(csrf.token ? { "X-CSRF-Token": csrf.token } : {}), ...headers }).forEach(([name, value]) => request.setRequestHeader(name, value));
    request.upload.onprogress = (event) => done(event.loaded < event.total ? event.loaded / event.total : null);
    request.onload = async () => {
      if (request.status < 400) resolve(JSON.parse(request.responseText || "null"));
      else reject(new ProblemError(await problemOf(new Response(request.responseText, { status: request.status }))));
    };
    request.onabort = () => reject(new DOMException("", "AbortError"));
    request.onerror = () => reject(new ProblemError({ code: "unreachable", title: "The transfer was cut", detail: "The server no longer answers, or has refused the file.", status: 0 }));
    abort.addEventListener("abort", () => request.abort());
    if (abort.aborted) request.abort();
    request.send(body);
  });
}

/**
 * Receives what takes long to be made, or may be refused, and saves it as a file.
 *
 * @param {string} label @param {string} target @param {string} name Of the file. @param {string} [accept]
 */
export async function receive(label, target, name, accept = "*/*") {
  const url = URL.createObjectURL(await work(label, async (abort) => (await send("GET", target, { headers: { Accept: accept }, abort })).blob()));
  download(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * Has files chosen by the user.
 *
 * @param {string} accept
 * @param {boolean} [multiple]
 * @returns {Promise<File[]>}
 */
export function chooseFiles(accept, multiple = true) {
  return new Promise((resolve) => {
    const input = h("input", { type: "file", accept, multiple });
    input.onchange = () => resolve([...input.files]);
    input.oncancel = () => resolve([]);
    input.click();
  });
}

/** @param {string} accept @returns {Promise<File | undefined>} */
export const chooseFile = async (accept) => (await chooseFiles(accept, false))[0];

/**
 * A dialog with a form, which stays open with the problem after a failure.
 *
 * @param {string} title
 * @param {string} label Of the button that does it.
 * @param {import("./dom.js").Child} fields
 * @param {() => Promise<any>} run
 * @returns {Promise<any>} The result of `run`.
 */
export function form(title, label, fields, run) {
  const problem = signal(null);
  return dialog(title, (close) => {
    const node = h("form", { onsubmit: (event) => event.preventDefault() }, fields, shownProblem(problem), h("footer", null, button("Cancel", () => close()), button(label, async () => {
      if (node.reportValidity()) await run().then(close, (error) => { problem.value = error; });
    }, { type: "submit", class: "primary" })));
    return node;
  });
}
