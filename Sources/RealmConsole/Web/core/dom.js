// SPDX-License-Identifier: Apache-2.0
import { effect, scope } from "./signals.js";

/** @typedef {any} Child A node, text, a number, a list of these, a function that returns one; null and false are nothing. */
/** @typedef {{[name: `on${string}`]: (event: any) => any, [name: string]: any}} Attributes */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an HTML element. Data only ever becomes text nodes and attribute values, never markup.
 *
 * @param {string} tag A name with classes: `"button.primary"`.
 * @param {Attributes | null} [attributes] `on…` are listeners, functions are followed, `true` is an attribute
 *   without a value, `null` and `false` leave it out; `value`, `checked`, `disabled`, `selected` are set as properties.
 * @param {...Child} children A function is followed: what it returns is replaced when its signals change.
 * @returns {any}
 */
export function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  return build(document.createElement(name), classes, attributes, children);
}

/**
 * Makes an SVG element, as `h` does.
 *
 * @param {string} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
export function svg(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  return build(document.createElementNS(SVG, name), classes, attributes, children);
}

/**
 * @param {Element} element
 * @param {string[]} classes
 * @param {Record<string, any> | null | undefined} attributes
 * @param {Child[]} children
 */
function build(element, classes, attributes, children) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2).toLowerCase(), value);
    else if (typeof value === "function") effect(() => setAttribute(element, key, value()));
    else setAttribute(element, key, value);
  }
  element.append(...children.flatMap(nodes));
  return element;
}

const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "indeterminate", "hidden", "readOnly", "scrollTop", "open"]);

/** @param {any} element @param {string} key @param {any} value */
function setAttribute(element, key, value) {
  if (key === "class") {
    element.classList.remove(...(element.added ?? []));
    element.classList.add(...element.added = String(value || "").split(" ").filter(Boolean));
  } else if (key === "style" && value) Object.entries(value).forEach(([name, text]) => element.style.setProperty(name, text));
  else if (PROPERTIES.has(key)) element[key] = value;
  else if (value === null || value === undefined || value === false) element.removeAttribute(key);
  else element.setAttribute(key, value === true ? "" : String(value));
}

/** @param {Child} child @returns {Node[]} */
function nodes(child) {
  if (child === null || child === undefined || child === false) return [];
  if (Array.isArray(child)) return child.flatMap(nodes);
  if (typeof child === "function") return followed(child);
  return [child instanceof Node ? child : document.createTextNode(String(child))];
}

/**
 * Replaces the nodes between two comments, also new ones: a followed function within may have replaced its part.
 *
 * @param {() => Child} body
 * @returns {Node[]}
 */
function followed(body) {
  const [start, end] = [document.createComment(""), document.createComment("")];
  /** @type {Node[]} */
  let first = [];
  effect(() => {
    const next = nodes(body());
    if (!end.parentNode) {
      first = next;
      return;
    }
    while (start.nextSibling && start.nextSibling !== end) start.nextSibling.remove();
    end.before(...next);
  });
  return [start, ...first, end];
}

/**
 * Keeps the children of an element equal to a list, reusing the nodes of items with the same key.
 *
 * @template T
 * @param {Element} parent
 * @param {() => T[]} items Followed.
 * @param {(item: T) => string} key
 * @param {(item: T) => Element} render Called once per key: what changes within must be a signal, or part of the key.
 */
export function each(parent, items, key, render) {
  /** @type {Map<string, {node: Element, end: () => void}>} */
  let rows = new Map();
  effect(() => {
    const next = new Map();
    for (const item of items()) {
      const id = key(item);
      if (!next.has(id)) next.set(id, rows.get(id) ?? row(() => render(item)));
    }
    rows.forEach((old, id) => {
      if (next.has(id)) return;
      old.node.remove();
      old.end();
    });
    rows = next;
    let place = parent.firstElementChild;
    rows.forEach(({ node }) => {
      if (node === place) place = node.nextElementSibling;
      else parent.insertBefore(node, place);
    });
  });
}

/** @param {() => Element} render */
function row(render) {
  const [node, end] = scope(render);
  return { node, end };
}

let count = 0;

/** An identifier for `for`, `aria-labelledby` and their like. */
export function uniqueID() {
  count += 1;
  return `id${count}`;
}

/**
 * Calls a function at most once per pause.
 *
 * @param {number} milliseconds
 * @param {() => void} body
 */
export function debounced(milliseconds, body) {
  /** @type {any} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(body, milliseconds);
  };
}
