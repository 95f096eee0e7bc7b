// SPDX-License-Identifier: Apache-2.0
import { signal } from "./signals.js";

/**
 * The current screen, as the part of the address after `#`: `#/store/rows/Dog?where=age%20%3E%203`. The first part is the
 * realm, the second the screen, the others belong to the screen. Screens of the server have no realm: `#/-/server`.
 *
 * @typedef {{realm: string, screen: string, rest: string[], query: URLSearchParams}} Route
 */

/** @returns {Route} */
function parse() {
  const [path, query] = location.hash.slice(1).split("?");
  const [realm = "-", screen = "realms", ...rest] = path.split("/").filter(Boolean).map(safelyDecoded);
  return { realm: realm === "-" ? "" : realm, screen, rest, query: new URLSearchParams(query) };
}

/** @param {string} part */
function safelyDecoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The route in force. */
export const route = signal(parse());
addEventListener("hashchange", () => { route.value = parse(); });

/**
 * The address of a screen.
 *
 * @param {string} realm Empty for screens of the server.
 * @param {string} screen
 * @param {string[]} [rest]
 * @param {Record<string, any>} [query] Members that are undefined, null or "" are left out.
 */
export function address(realm, screen, rest = [], query = {}) {
  const parts = [realm || "-", screen, ...rest].map(encodeURIComponent).join("/");
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return `#/${parts}${kept.length ? `?${new URLSearchParams(kept.map(([name, value]) => [name, String(value)]))}` : ""}`;
}

/** @param {string} hash */
export function go(hash) {
  location.hash = hash;
}

/**
 * Changes parameters of the address without a step in the history, as typing does.
 *
 * @param {Record<string, any>} changes
 */
export function setQuery(changes) {
  const { realm, screen, rest, query } = route.peek();
  history.replaceState(null, "", address(realm, screen, rest, { ...Object.fromEntries(query), ...changes }));
  route.value = parse();
}
