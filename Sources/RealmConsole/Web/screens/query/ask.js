// SPDX-License-Identifier: Apache-2.0
import { inRealm, send } from "../../core/api.js";
import { exact } from "../../core/exact.js";

/** @typedef {{where?: string, args?: string, sort?: string, distinct?: string}} Selection As in the address: `args` is JSON, lists have commas. */

/** @param {URLSearchParams} query @returns {Selection} */
export function selectionOf(query) {
  return Object.fromEntries(["where", "args", "sort", "distinct"].map((name) => [name, query.get(name) ?? ""]));
}

/**
 * Reads objects or groups: by GET where the parameters fit in a target and in lists with commas, else by POST. All numbers are wrapped.
 *
 * @param {"objects" | "aggregate"} kind
 * @param {string} realm
 * @param {string} name Of the class.
 * @param {Selection & Record<string, any>} members Arrays are lists of names; what is empty is left out.
 * @param {{abort?: AbortSignal, quiet?: boolean}} [options]
 * @returns {Promise<any>}
 */
export async function ask(kind, realm, name, members, options) {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== "" && value.length !== 0);
  const fits = JSON.stringify(kept).length < 3000 && !kept.some(([, value]) => Array.isArray(value) && value.some((one) => /[,"'[\]]/.test(one)));
  const body = Object.fromEntries(kept.map(([member, value]) => [member, typeof value !== "string" || fits ? value
    : member === "args" ? JSON.parse(value) : ["sort", "distinct"].includes(member) ? value.split(",") : value]));
  const response = fits ? await send("GET", inRealm(realm, kind, name), { params: body, ...options })
    : await send("POST", inRealm(realm, kind === "objects" ? "query" : kind, name), { body, ...options });
  return exact(await response.text());
}
