// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, ProblemError } from "./api.js";
import { h, uniqueID } from "./dom.js";
import { visible } from "./format.js";
import { may } from "./session.js";
import { effect, onCleanup, scope, signal } from "./signals.js";

/**
 * A button.
 *
 * @param {string} label
 * @param {(event: Event) => any} action While its promise runs the button is disabled; what it throws is shown.
 * @param {import("./dom.js").Attributes} [attributes]
 * @returns {HTMLButtonElement}
 */
export function button(label, action, attributes = {}) {
  const busy = signal(false);
  const { disabled, ...others } = attributes;
  return h("button", {
    type: "button", ...others,
    disabled: () => busy.value || (typeof disabled === "function" ? disabled() : disabled ?? false),
    onclick: async (event) => {
      busy.value = true;
      try {
        await action(event);
      } catch (error) {
        showError(error);
      } finally {
        busy.value = false;
      }
    },
  }, label);
}

/**
 * A labelled control.
 *
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export function field(label, control, hint) {
  control.id ||= uniqueID();
  return h("div.field", null, h("label", { for: control.id }, label), control, hint ? h("small", null, hint) : null);
}

/**
 * A list of which one is chosen.
 *
 * @param {(string | [value: string, label: string])[]} options
 * @param {import("./signals.js").Signal<string>} chosen
 * @param {import("./dom.js").Attributes} [attributes]
 */
export function choice(options, chosen, attributes) {
  const node = h("select", { ...attributes, onchange: () => { chosen.value = node.value; } }, options.map((one) => {
    const [value, label] = typeof one === "string" ? [one, one || "–"] : one;
    return h("option", { value, selected: () => value === chosen.value }, label);
  }));
  return node;
}

/**
 * A list of classes of which one is chosen.
 *
 * @param {{name: string}[]} classes
 * @param {import("./signals.js").Signal<string>} chosen
 * @param {import("./dom.js").Attributes} [attributes]
 * @param {string} [none] The words for none of them.
 */
export function classChoice(classes, chosen, attributes, none) {
  /** @type {[string, string][]} */
  const options = classes.map((one) => [one.name, visible(one.name.slice(0, 80))]);
  return choice(none ? [["", none], ...options] : options, chosen, attributes);
}

/**
 * A field for a word that is looked for; the signal has it in small letters.
 *
 * @param {import("./signals.js").Signal<string>} word
 * @param {import("./dom.js").Attributes} [attributes]
 */
export function search(word, attributes) {
  const node = h("input", { type: "search", ...attributes, oninput: () => { word.value = node.value.toLowerCase(); } });
  return node;
}

/**
 * A table that scrolls within itself.
 *
 * @param {string[]} heads
 * @param {import("./dom.js").Child} body The `tbody`, or lists of cells.
 */
export function table(heads, body) {
  const rows = Array.isArray(body) ? h("tbody", null, body.map((cells) => h("tr", null, cells.map((/** @type {any} */ cell) => h("td", null, cell))))) : body;
  return h("div.scroller", { tabindex: 0 }, h("table.plain", null, h("thead", null, h("tr", null, heads.map((one) => (one ? h("th", { scope: "col" }, one) : h("td"))))), rows));
}

/** The next step for problems with the same one on all screens. */
const NEXT = {
  realm_not_found: () => h("a", { href: "#/-/realms" }, "All realms"),
  forbidden: () => "Ask the administrator for the right, or use another key.",
};

/**
 * The text of a problem, with its request and a link to the page about it.
 *
 * @param {any} error
 * @returns {HTMLElement}
 */
export function problemNode(error) {
  const problem = error instanceof ProblemError ? error.problem : { code: "", title: "Something in this page failed", detail: String(error?.message ?? error), status: 0 };
  const isKnown = /^[a-z_]+$/.test(problem.code) && problem.status > 0;
  return h("div.problem", { role: "alert" },
    h("strong", null, problem.title), h("p", null, visible(problem.detail ?? "")),
    problem.code in NEXT && h("p", null, NEXT[/** @type {keyof typeof NEXT} */ (problem.code)]()),
    problem.pointer ? h("p", null, "At ", h("code", null, problem.pointer)) : null,
    h("small", null, isKnown ? h("a", { href: `/docs/problems/${problem.code}`, target: "_blank" }, problem.code) : problem.code,
      problem.requestId ? ` · request ${problem.requestId}` : ""));
}

/** @param {import("./signals.js").Signal<any>} problem The problem, if any. */
export function shownProblem(problem) {
  return () => problem.value && problemNode(problem.value);
}

/**
 * The messages on screen.
 *
 * @type {import("./signals.js").Signal<{id: string, node: HTMLElement}[]>}
 */
export const messages = signal(([]));

/**
 * Shows a short message; it goes after some seconds, and with the screen unless it offers an action.
 *
 * @param {string | HTMLElement} content
 * @param {{label: string, run: () => any}} [action] Such as undo.
 * @param {number} [seconds]
 * @returns {() => void} Removes it.
 */
export function toast(content, action, seconds = action ? 20 : 6) {
  const id = uniqueID();
  const at = location.hash;
  const close = () => {
    messages.value = messages.peek().filter((one) => one.id !== id);
    removeEventListener("hashchange", leave);
  };
  // The address may be one whose event is still to come.
  const leave = () => { if (!action && location.hash !== at) close(); };
  addEventListener("hashchange", leave);
  const node = h("div.toast", null, content,
    action ? button(action.label, async () => { close(); await action.run(); }, { class: action.label.toLowerCase(), title: action.label === "Undo" ? "Key: u" : null }) : null, button("×", close, { "aria-label": "Dismiss", class: "quiet" }));
  messages.value = [...messages.peek().slice(-4), { id, node }];
  setTimeout(close, seconds * 1000);
  return close;
}

/** The text for screen readers. */
export const liveRegion = h("div.visually-hidden", { role: "status", "aria-live": "polite" });

/**
 * Reports an event to screen readers.
 *
 * @param {string} text
 */
export function announce(text) {
  liveRegion.textContent = text;
}

/** @param {any} error */
export function showError(error) {
  if (error?.name !== "AbortError") toast(problemNode(error), undefined, 15);
}

/** The number of open dialogs. */
export const dialogs = signal(0);

/**
 * Opens a dialog and returns when it is closed.
 *
 * @template T
 * @param {string} title
 * @param {(close: (value?: T) => void) => import("./dom.js").Child} content
 * @param {string} [kind] A class of the dialog: `wide`.
 * @returns {Promise<T | undefined>}
 */
export function dialog(title, content, kind = "") {
  return new Promise((resolve) => {
    /** @type {T | undefined} */
    let result;
    const heading = uniqueID();
    const [node, end] = scope(() => {
      const close = (/** @type {T | undefined} */ value) => {
        result = value;
        node.close();
      };
      const node = h("dialog", { class: kind, "aria-labelledby": heading },
        h("header", null, h("h2", { id: heading }, title), button("×", () => close(), { "aria-label": "Close", class: "quiet" })), h("div.body", null, content(close)));
      return node;
    });
    // The dialog closes with the page that it is about.
    const leave = () => node.close();
    addEventListener("hashchange", leave);
    // All else is inert while the dialog is open, so messages are shown in it.
    const notes = document.querySelector(".messages");
    const home = notes?.parentElement;
    if (notes) node.append(notes);
    node.addEventListener("close", () => {
      removeEventListener("hashchange", leave);
      if (notes && node.contains(notes)) (home?.isConnected ? home : document.body).append(notes);
      node.remove();
      end();
      dialogs.value = dialogs.peek() - 1;
      resolve(result);
    });
    document.body.append(node);
    node.showModal();
    if (!node.querySelector("[autofocus]")) node.querySelector("input, select, textarea")?.focus();
    dialogs.value = dialogs.peek() + 1;
  });
}

/**
 * Asks before something is done.
 *
 * @param {string} title
 * @param {import("./dom.js").Child} text
 * @param {string} label Of the button that does it.
 * @returns {Promise<boolean>}
 */
export async function confirm(title, text, label) {
  const answer = await dialog(title, (close) => [
    h("div", null, text),
    h("footer", null, button("Cancel", () => close(false)), button(label, () => close(true), { class: "danger", autofocus: true }))]);
  return answer === true;
}

/**
 * Shows what a resource holds, why it failed, or that it is awaited, the last not before 200 ms.
 *
 * @template T
 * @param {{data: {value: T | undefined}, error: {value: any}, reload(): void}} from
 * @param {(value: T) => import("./dom.js").Child} show
 */
export function loaded(from, show) {
  return () => {
    const [value, error] = [from.data.value, from.error.value];
    if (error) return failureNode(error, from.reload);
    return value === undefined ? waitingNode() : show(value);
  };
}

/** The realm on screen that cannot be opened as it is, so that nothing of it is awaited; empty for none. */
export const closed = signal("");

/** @param {any} error @returns {boolean} Whether it may be transient. */
const mayPass = (error) => !(error instanceof ProblemError) || error.problem.status === 0 || error.problem.status === 429 || error.problem.status >= 500;

/**
 * The failure and its fix: a realm that does not open shows the reason, and an encrypted one asks for its key.
 *
 * @param {any} error
 * @param {() => void} again Reads again.
 */
export function failureNode(error, again) {
  const realm = error instanceof ProblemError ? error.realm : "";
  const isOfFile = realm && /^(realm_unavailable|not_a_realm|file_corrupt|file_format_unsupported|encryption_key.*)$/.test(error.problem.code);
  const cause = signal(error);
  if (isOfFile && !isOfKey(error.problem)) {
    void call("GET", inRealm(realm), { quiet: true }).then(({ problem }) => { if (problem) cause.value = Object.assign(new ProblemError({ status: error.problem.status, ...problem }), { realm }); }, () => {});
  }
  if (isOfFile) {
    closed.value = realm;
    onCleanup(() => { if (closed.peek() === realm) closed.value = ""; });
  }
  return h("div.failure", null, () => problemNode(cause.value), () => (isOfKey(cause.value.problem) ? keyNode(realm, again) : (!isOfFile || mayPass(cause.value)) && button("Try again", again)));
}

/** @param {any} problem Whether the file lacks its key, or has another one. */
export const isOfKey = (problem) => /^encryption_key/.test(problem?.code ?? "");

/** @param {any} error @returns Whether no key helps, because the file is no Realm file. */
export const isNoRealm = (error) => error?.problem?.code === "not_a_realm";

/**
 * The form that gives a realm its key; for other users than administrators, advice.
 *
 * @param {string} realm
 * @param {() => void} opened
 */
function keyNode(realm, opened) {
  if (!may("administer", realm)) return h("p", null, "Ask the administrator for the key.");
  const [key, problem] = [keyInput(), signal(null)];
  const give = async () => {
    if (!node.reportValidity()) return;
    try {
      await call("PUT", inRealm(realm, "key"), { body: { encryptionKey: key.value.trim() } });
      opened();
    } catch (error) {
      if (isNoRealm(error)) node.replaceWith(problemNode(error));
      else problem.value = error;
    }
  };
  const node = h("form.key", { onsubmit: (event) => event.preventDefault() }, field(`The key of ${visible(realm)}`, key, KEY_RULE), shownProblem(problem), button("Open", give, { type: "submit", class: "primary" }));
  return node;
}

/** The form of an encryption key. */
export const KEY_RULE = "Of an encrypted file: 128 hexadecimal digits, or base64 of 64 bytes.";

/** @param {import("./dom.js").Attributes} [attributes] Of a field for an encryption key. */
export const keyInput = (attributes) => h("input", { spellcheck: "false", autocomplete: "off", required: true, ...attributes });

/** Says that something is awaited; appears after 200 ms. */
export function waitingNode() {
  return h("p.waiting", { role: "status" }, "Loading…");
}

/**
 * The content of an empty place.
 *
 * @param {string} title
 * @param {string} advice The next step.
 * @param {...import("./dom.js").Child} actions
 */
export function emptyNode(title, advice, ...actions) {
  return h("div.nothing", null, h("h2", null, title), h("p", null, advice), ...actions);
}

/**
 * Tabs of which one is shown.
 *
 * @param {string} label
 * @param {{name: string, title: string, show: () => import("./dom.js").Child}[]} all
 * @param {import("./signals.js").Signal<string>} chosen A name.
 */
export function tabs(label, all, chosen) {
  const list = h("div.tabs", { role: "tablist", "aria-label": label }, all.map((tab) => h("button", {
    type: "button", role: "tab", "aria-selected": () => String(chosen.value === tab.name), tabindex: () => (chosen.value === tab.name ? 0 : -1),
    onclick: () => { chosen.value = tab.name; },
  }, tab.title)));
  list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const index = (all.findIndex((tab) => tab.name === chosen.value) + step + all.length) % all.length;
    chosen.value = all[index].name;
    (list.children[index]).focus();
  });
  return [list, h("div.tab", { role: "tabpanel", "aria-label": () => all.find((tab) => tab.name === chosen.value)?.title }, () => all.find((tab) => tab.name === chosen.value)?.show())];
}

/**
 * A long piece of work with its progress and a button that ends it.
 *
 * @param {string} label
 * @param {() => number | null} done Between 0 and 1; null when unknown.
 * @param {() => void} cancel
 */
export function progress(label, done, cancel) {
  return h("div.progress", { role: "status" }, h("span", null, label),
    () => (done() === null ? h("progress", { "aria-label": label }) : h("progress", { "aria-label": label, value: done(), max: 1 })), button("Cancel", cancel));
}

/**
 * A value that outlives the page, in the browser's storage.
 *
 * @template T
 * @param {string} name
 * @param {T} initial
 * @returns {import("./signals.js").Signal<T>}
 */
export function stored(name, initial) {
  let value = initial;
  try {
    value = JSON.parse(localStorage.getItem(`rr:${name}`) ?? "null") ?? initial;
  } catch { /* What another version stored is no reason to fail. */ }
  const made = signal(value);
  const end = effect(() => {
    const next = made.value;
    if (next !== value) localStorage.setItem(`rr:${name}`, JSON.stringify(next));
  });
  onCleanup(end);
  return made;
}

/** @param {string} text */
export async function copyText(text) {
  await navigator.clipboard.writeText(text);
  toast("Copied.");
}
