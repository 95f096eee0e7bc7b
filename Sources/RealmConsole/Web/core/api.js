// SPDX-License-Identifier: Apache-2.0
import { signal } from "./signals.js";

/**
 * The public API. Integers arrive as text (`ints=string`), so none loses a digit on the way through JavaScript's numbers.
 *
 * @typedef {{code: string, title: string, detail: string, status: number, requestId?: string, [member: string]: any}} Problem
 */

/** A refusal of the server, or the reason why it could not be reached. */
export class ProblemError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
    /** The realm that the request was about; empty for none. */
    this.realm = "";
  }
}

/** The problem while no server answers; a `resource` retries. */
export const unreachable = () => new ProblemError({ code: "unreachable", title: "The server does not answer", detail: "Is it still running? The page continues when it answers.", status: 0 });

/** Requests that are under way; pages show that they wait after 200 ms. */
export const pending = signal(0);
/** Set when the server demands a credential. */
export const signedOut = signal(false);

/** @type {{token: string | null}} The token that unsafe requests of a session carry. */
export const csrf = { token: localStorage.getItem("csrf") };

/** Receives the version of each response about a realm. */
export const heard = { version: (/** @type {string} */ _realm, /** @type {string} */ _version) => {} };

/** The last requests, newest first, for the screen that shows them as code. */
export const recent = signal(/** @type {Sent[]} */ ([]));

/**
 * @typedef {{method: string, target: string, body: any, headers?: Record<string, string>}} Sent
 * @typedef {{params?: Record<string, any>, body?: any, headers?: Record<string, string>, abort?: AbortSignal, quiet?: boolean}} Options
 *   `params` leaves out what is undefined, null or ""; a body that is no Blob, text or buffer is sent as JSON;
 *   `quiet` requests are not shown as code.
 */

/**
 * The path of something in the API, each part escaped.
 *
 * @param {...string} parts
 */
export function path(...parts) {
  return "/" + parts.map(encodeURIComponent).join("/");
}

/** @param {string} realm @param {...string} parts */
export function inRealm(realm, ...parts) {
  return path("v1", "realms", realm, ...parts);
}

/** @param {string} target @param {Record<string, any>} [params] */
export function withParams(target, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== undefined && value !== null && value !== "") query.set(name, String(value));
  }
  return `${query}` ? `${target}?${query}` : target;
}

/**
 * Sends a request and returns the response, whatever its body is.
 *
 * @param {string} method
 * @param {string} target
 * @param {Options} [options]
 * @returns {Promise<Response>}
 * @throws {ProblemError} For every status of 400 and above.
 */
export async function send(method, target, options = {}) {
  const { body, abort, quiet } = options;
  const isJSON = body !== undefined && !(typeof body === "string" || body instanceof Blob || body instanceof ArrayBuffer);
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", ...(isJSON ? { "Content-Type": "application/json" } : {}), ...options.headers };
  if (csrf.token && method !== "GET") headers["X-CSRF-Token"] = csrf.token;
  const url = withParams(target, options.params);
  if (!quiet) recent.value = [{ method, target: url, body, headers: options.headers }, ...recent.peek()].slice(0, 20);
  pending.value = pending.peek() + 1;
  try {
    const response = await fetch(url, { method, headers, body: isJSON ? JSON.stringify(body) : body, signal: abort });
    const [version, realm] = [response.headers.get("Realm-Version"), realmOf(target)];
    if (version && realm) heard.version(realm, version);
    if (response.ok) return response;
    throw new ProblemError(await problemOf(response));
  } catch (error) {
    if (error instanceof ProblemError) {
      error.realm = realmOf(target);
      if (error.problem.status === 401) signedOut.value = true;
      throw error;
    }
    if (abort?.aborted) throw error;
    throw unreachable();
  } finally {
    pending.value = pending.peek() - 1;
  }
}

/** @param {string} target @returns {string} The realm that a target leads into; empty for none. */
function realmOf(target) {
  return decodeURIComponent(/^\/v1\/realms\/([^/?]+)\//.exec(target)?.[1] ?? "");
}

/** @param {Response} response @returns {Promise<Problem>} */
export async function problemOf(response) {
  const text = await response.text();
  try {
    return { status: response.status, ...JSON.parse(text) };
  } catch {
    return { code: "unknown", title: response.statusText || `Status ${response.status}`, detail: text.slice(0, 500), status: response.status };
  }
}

/**
 * Sends a request whose answer is JSON.
 *
 * @param {string} method
 * @param {string} target
 * @param {Options} [options]
 * @returns {Promise<any>} The document; null when there is none.
 */
export async function call(method, target, options = {}) {
  const text = await (await send(method, target, options)).text();
  return text ? JSON.parse(text) : null;
}

/**
 * Reads JSON in which all integers are text.
 *
 * @param {string} target
 * @param {Record<string, any>} [params]
 * @param {AbortSignal} [abort]
 */
export function read(target, params, abort) {
  return call("GET", target, { params: { ints: "string", ...params }, abort });
}

/**
 * Saves what a URL answers as a file, by the browser's own download.
 *
 * @param {string} url
 * @param {string} [name]
 */
export function download(url, name = "") {
  const link = document.createElement("a");
  [link.href, link.download] = [url, name];
  link.click();
}
