// SPDX-License-Identifier: Apache-2.0
import { connect } from "/client.js";

/**
 * Follows realms for all pages of the browser. Pages send `{follow, token}` and `{leave}`; they are sent `{realm, state, version,
 * event}`, of which only `realm` is always there.
 */

/** @typedef {{list: import("/client.js").LiveList<never>, pages: Set<MessagePort>}} Stream */

/** @type {Map<string, Stream>} */
const streams = new Map();
/** @type {Record<string, string>} The header fields of a session; the client reads them for each request. */
const headers = {};
// A user waits for the server, so the pause is one second.
const server = connect("/", { headers, maxPauseSeconds: 1 });

addEventListener("connect", (/** @type {any} */ event) => {
  const page = event.ports[0];
  page.onmessage = (/** @type {MessageEvent} */ { data }) => {
    if (data.follow) {
      if (data.token) headers["X-CSRF-Token"] = data.token;
      follow(page, data.follow);
    }
    if (data.leave) streams.forEach((_, realm) => { if (data.leave === true || data.leave === realm) leave(page, realm); });
  };
});

/** @param {MessagePort} page @param {string} realm */
function follow(page, realm) {
  const stream = streams.get(realm) ?? open(realm);
  stream.pages.add(page);
  page.postMessage({ realm, state: shown(stream.list.state), version: stream.list.version });
}

/** @param {MessagePort} page @param {string} realm */
function leave(page, realm) {
  const stream = streams.get(realm);
  stream?.pages.delete(page);
  if (!stream || stream.pages.size) return;
  streams.delete(realm);
  stream.list.close();
}

/** @param {string} realm @returns {Stream} */
function open(realm) {
  const list = server.realm(realm).live();
  const stream = { list, pages: new Set() };
  /** @param {any} message */
  const report = (message) => stream.pages.forEach((page) => page.postMessage({ realm, ...message }));
  list.watch((state) => {
    report({ state: shown(state) });
    // A realm that was detached may be attached again, and a right given.
    if (state === "failed") setTimeout(() => list.retry(), 2000);
  });
  list.subscribe((change) => report({ version: change.version, event: eventOf(change) }));
  streams.set(realm, stream);
  return stream;
}

/** @param {string} state */
const shown = (state) => (state === "connecting" || state === "live" ? state : "lost");

/** @param {import("/client.js").Change} change @returns {import("./feed.js").FeedEvent | null} */
function eventOf({ initial, reset, schema, classes = [] }) {
  if (initial) return null;
  return reset ? { kind: "reset" } : schema ? { kind: "schema" } : { kind: "commit", classes };
}
