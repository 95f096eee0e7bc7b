// SPDX-License-Identifier: Apache-2.0
import { download, inRealm, read } from "./api.js";
import { debounced, h } from "./dom.js";
import { blank, encode, escaped, initial, member } from "./exact.js";
import { formatBytes, visible } from "./format.js";
import { classNamed, isEmbedded, typeText } from "./schema.js";
import { effect, onCleanup, resource, signal, untracked } from "./signals.js";
import { button, choice, classChoice, dialog, loaded } from "./ui.js";
import { byteCount, cellNode, collectionNode, linkNode, mixedType, plainText } from "./values.js";
import { chooseFile } from "./work.js";

/**
 * Controls that edit one value, by the type of its property.
 *
 * @typedef {import("./schema.js").Property} Property
 * @typedef {import("./signals.js").Signal<any>} Value As `readExact` reads it; a file for data that is sent as it is.
 * @typedef {{realm: string, schema: import("./schema.js").Schema, problems: Map<string, Value>, label: string, pointer: string,
 *   path?: string, open?: ((path: string) => string) | null, takesFiles?: boolean, isFixed?: boolean}} Place Where the value stands. `problems` has
 *   what is wrong by JSON Pointer; `path` leads to the value in the API, `open` gives the address of a collection there.
 * @typedef {{place: Place, value: Value, update(make: () => any): void, named(what?: string): any}} Task
 */

const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const TYPES = ["null", "bool", "int", "float", "double", "decimal128", "string", "data", "date", "objectId", "uuid", "object", "list", "dictionary"];

/** @param {Place} place @param {Property} property @param {Value} value @returns {HTMLElement} */
export function editor(place, property, value) {
  const { type, objectType, collection } = property;
  const isLink = type === "object" && !isEmbedded(place.schema, property);
  const [problem, isNull] = [signal(""), signal(value.peek() === null)];
  place.problems.set(place.pointer, problem);
  const update = (/** @type {() => any} */ make) => {
    try {
      [value.value, problem.value] = [make(), ""];
      isNull.value = value.peek() === null;
    } catch (/** @type {any} */ error) {
      problem.value = error.message;
    }
  };
  const task = { place, value, update, named: (what = "") => ({ "aria-label": place.label + (what && `: ${what}`), "aria-invalid": () => (problem.value ? "true" : null) }) };
  const given = value.peek();
  if (place.isFixed) {
    const isNested = collection || (type === "mixed" && /^(list|dictionary)$/.test(mixedType(given)));
    return h("div.edit.bar", null, isNested ? nested(place, given) : objectType && !isLink && given ? embeddedControl(task, objectType) : stateNode(given, property, place.realm));
  }
  const fill = async () => {
    const made = isLink ? await pick(place, objectType) : objectType ? blank(place.schema, objectType) : initial(type);
    if (made !== undefined) update(() => made);
  };
  const control = () => {
    const isEmpty = isNull.value;
    return untracked(() => {
      if (isEmpty) return [h("span.null", null, "null"), button(isLink ? "Choose…" : objectType ? "Create" : "Set a value", fill, task.named("set"))];
      return [isLink ? linkControl(task, objectType) : objectType ? embeddedControl(task, objectType) : scalarControl(task, type),
        property.optional && button(objectType && !isLink ? "Remove" : "Set to null", () => update(() => null), { class: "quiet", ...task.named("set to null") })];
    });
  };
  return h("div.edit.bar", null, collection ? nested(place, given) : type === "mixed" ? mixedControl(task) : control, () => problem.value && h("small.bad", { role: "alert" }, problem.value));
}

/** @param {any} value @param {Property} property @param {string} realm */
export function stateNode(value, property, realm) {
  if (value instanceof Blob) return `a file of ${formatBytes(value.size)}`;
  if (typeof value === "string" && value && property.type === "string") return h("span", { dir: "auto" }, visible(value));
  return value && property.type === "object" && !value.$link ? h("code", null, visible(JSON.stringify(value).slice(0, 2000))) : cellNode(value, property, realm);
}

/** @param {Place} place @param {any} value A collection, which has a separate screen. */
function nested({ path, open, label }, value) {
  return [collectionNode(value),
    path && open ? h("a.button", { href: open(path), "aria-label": `${label}: open` }, "Open") : h("span.soft", null, "can be edited once it is saved")];
}

/** @param {Task} task @param {string} type */
function scalarControl(task, type) {
  const { value, update, named } = task;
  const given = value.peek();
  if (type === "data" || given.$bytes) return dataControl(task);
  if (type === "string") return textControl(task);
  if (type === "bool") {
    const box = h("input", { type: "checkbox", ...named(), checked: given, onchange: () => update(() => box.checked) });
    return h("label", null, box, () => ` ${value.value}`);
  }
  const input = h("input.mono", { value: plainText(given), ...named(), spellcheck: "false", autocomplete: "off", inputmode: type === "int" ? "numeric" : null,
    oninput: () => update(() => (input.value === plainText(given) ? given : encode(type, input.value.trim()))) });
  const put = (/** @type {string} */ text) => {
    input.value = text;
    update(() => encode(type, text));
  };
  if (type !== "date") return [input, /Id$|uuid/.test(type) && button("New", () => put(plainText(initial(type))), { class: "quiet", ...named("make a new one") })];
  const local = h("input", { type: "datetime-local", step: "any", ...named("local time"), onchange: () => local.value && put(new Date(local.value).toISOString()) });
  effect(() => {
    const date = new Date(plainText(value.value));
    if (!Number.isNaN(+date)) local.value = new Date(+date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 23);
  });
  return [input, local];
}

/** @param {Task} task Characters that a text area would change or hide are written as escapes. */
function textControl({ value, update, named }) {
  const given = value.peek();
  const isEscaped = given.search(ODD) >= 0;
  const shown = isEscaped ? JSON.stringify(given).slice(1, -1).replace(ODD, (/** @type {string} */ one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`) : given;
  const area = h("textarea", { value: shown, rows: Math.min(12, given.split("\n").length), dir: "auto", ...named(), oninput: () => update(() => {
    try {
      return isEscaped ? JSON.parse(`"${area.value.replaceAll("\n", "\\n")}"`) : area.value;
    } catch {
      throw new Error('Expected: escapes as in JSON, such as \\u000d or \\"');
    }
  }) });
  return [area, isEscaped && h("small", null, "Invisible characters are written as escapes.")];
}

/** @param {Task} task */
function dataControl({ place, value, update, named }) {
  const [turn, wrapper] = [signal(0), value.peek().$bytes ? "$bytes" : ""];
  const wrap = (/** @type {Uint8Array} */ bytes) => {
    let text = "";
    for (let index = 0; index < bytes.length; index += 8192) text += String.fromCharCode(...bytes.subarray(index, index + 8192));
    return wrapper ? { [wrapper]: btoa(text) } : encode("data", btoa(text));
  };
  const upload = async () => {
    const file = await chooseFile("");
    if (!file) return;
    const next = place.takesFiles && file.size > 65536 ? file : wrap(new Uint8Array(await file.arrayBuffer()));
    update(() => next);
    turn.value += 1;
  };
  const show = () => {
    const given = value.peek();
    const bytes = given instanceof Blob ? null : Uint8Array.from(atob(plainText(given)), (one) => one.charCodeAt(0));
    const size = given instanceof Blob ? given.size : byteCount(plainText(given));
    const url = URL.createObjectURL(bytes ? new Blob([bytes]) : given);
    onCleanup(() => URL.revokeObjectURL(url));
    const image = h("img.preview", { src: url, alt: `${place.label}: preview`, hidden: true, onload: () => { image.hidden = false; } });
    const hex = h("textarea.mono", { ...named("hexadecimal"), rows: 1, readOnly: size > 4096, spellcheck: "false",
      value: Array.from(bytes?.subarray(0, 4096) ?? [], (byte) => byte.toString(16).padStart(2, "0")).join(" ") + (size > 4096 ? " …" : ""), oninput: () => update(() => {
        const pairs = /** @type {string} */ (hex.value).replace(/\s/g, "");
        if (!/^([\da-f]{2})*$/i.test(pairs)) throw new Error("Expected: two hexadecimal digits for each byte");
        return wrap(Uint8Array.from(pairs.match(/../g) ?? [], (pair) => parseInt(pair, 16)));
      }) });
    return [h("span", null, formatBytes(size)), button("Upload…", upload, named("upload")), button("Download", () => download(url, `${place.label}.bin`), named("download")), image, bytes && hex];
  };
  return () => [turn.value, untracked(show)][1];
}

/** @param {Task} task */
function mixedControl(task) {
  const { place, value, update, named } = task;
  const stored = mixedType(value.peek());
  const type = signal(stored);
  const convert = () => update(() => {
    const next = type.peek();
    try {
      return /^(null|data|object|list|dictionary)$/.test(next) ? initial(next) : encode(next, plainText(value.peek()));
    } catch {
      return initial(next);
    }
  });
  const show = (/** @type {string} */ kind) => {
    if (kind === "null") return null;
    if (kind === "object") return linkControl(task, null);
    return kind === "list" || kind === "dictionary" ? nested({ ...place, open: stored === kind ? place.open : null }, value.peek()) : scalarControl(task, kind);
  };
  return [choice(TYPES.map((one) => [one, one === "object" ? "link" : one]), type, named("type")), () => {
    const kind = type.value;
    return untracked(() => {
      if (mixedType(value.peek()) !== kind) convert();
      return show(kind);
    });
  }];
}

/** @param {Task} task @param {string | null} target */
function linkControl({ place, value, update, named }, target) {
  return [() => value.value && linkNode(value.value.$link, place.realm), button("Choose…", async () => {
    const link = await pick(place, target);
    if (link) update(() => link);
  }, named("choose"))];
}

/** @param {Task} task @param {string} name Of the class. */
function embeddedControl({ place, value, named }, name) {
  return h("fieldset", named(), classNamed(place.schema, name)?.properties.map((property) => {
    const key = member(property.name);
    const part = signal(value.peek()[key]);
    effect(() => {
      const next = part.value;
      if (!Object.is(value.peek()[key], next)) value.value = { ...value.peek(), [key]: next };
    });
    return h("div.part", null, visible(property.name), " ", h("small", null, typeText(property)),
      editor({ ...place, label: `${place.label}.${visible(property.name)}`, pointer: place.pointer + escaped(key), path: inside(place.path, property.name), takesFiles: false }, property, part));
  }));
}

/** @param {string | undefined} path @param {string} name @returns {string} The path of what is inside; empty when the API has none. */
export function inside(path, name) {
  return path && name && !/[.[]/.test(name) ? `${path}.${name}` : "";
}

/**
 * The pages of a list, one at a time.
 *
 * @param {(after: string | undefined, abort: AbortSignal) => Promise<any>} load
 * @param {(page: any) => import("./dom.js").Child} show
 */
export function pages(load, show) {
  const cursors = signal(/** @type {string[]} */ ([]));
  const page = resource((abort) => load(cursors.value.at(-1), abort));
  const [isFirst, isLast] = [() => !cursors.value.length, () => !page.data.value?.next];
  const node = [loaded(page, show), h("div.bar", { hidden: () => isFirst() && isLast() }, button("Previous", () => { cursors.value = cursors.peek().slice(0, -1); }, { disabled: isFirst }),
    button("Next", () => { cursors.value = [...cursors.peek(), page.data.peek().next]; }, { disabled: isLast }))];
  return { node, reload: page.reload, restart: () => { cursors.value = []; } };
}

/**
 * Has an object chosen.
 *
 * @param {{realm: string, schema: import("./schema.js").Schema}} place
 * @param {string | null} target The class; null when it is chosen too.
 * @returns {Promise<any>} A link.
 */
export function pick({ realm, schema }, target) {
  const classes = schema.classes.filter((one) => one.type === "object");
  return dialog("Choose an object", (close) => {
    const [name, text] = [signal(target ?? classes[0]?.name), signal("")];
    const list = pages((after, abort) => {
      const wanted = text.value.trim();
      const properties = classNamed(schema, name.value)?.properties.filter((one) => !one.collection && /^\w+$/.test(one.name) && !/object|data|mixed/.test(one.type)) ?? [];
      const where = properties.flatMap((one) => (one.type === "string" ? `${one.name} CONTAINS[c] $0` : one.type === "int" && /^-?\d{1,18}$/.test(wanted) ? `${one.name} == ${wanted}` : [])).join(" OR ");
      return read(inRealm(realm, "objects", name.value), { ...(wanted && { where: where || "FALSEPREDICATE", args: JSON.stringify([wanted]) }), fields: properties.slice(0, 4).map((one) => one.name).join(), limit: 20, after }, abort);
    }, ({ items }) => [!items.length && "No object has this.", items.map((/** @type {any} */ { $meta, ...one }) => h("button.quiet", { type: "button", onclick: () => close({ $link: { class: $meta.class, key: $meta.key } }) },
      h("strong", null, visible($meta.key)), h("span.soft", null, visible(Object.values(one).map(plainText).filter((text) => text && text !== $meta.key).join(" · ").slice(0, 200)))))]);
    const search = h("input.grow", { type: "search", placeholder: "Search texts and numbers", "aria-label": "Search", autofocus: true, oninput: debounced(150, () => {
      list.restart();
      text.value = search.value;
    }) });
    return [h("div.bar", null, target ? h("strong", null, visible(target)) : classChoice(classes, name, { "aria-label": "Class", oninput: list.restart }), search), h("div.picks", null, list.node)];
  });
}
