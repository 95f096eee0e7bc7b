// SPDX-License-Identifier: Apache-2.0
import { csrf, heard, pending } from "./api.js";
import { may } from "./session.js";
import { effect, onCleanup, signal } from "./signals.js";

/**
 * The changes of a realm: one stream per realm reports the classes that each commit changed. A page reads their values
 * again, so it never depends on having seen every event. All pages of a browser share the stream by a worker,
 * because browsers open only six connections to a host. The worker follows it by the client that every server gives away.
 *
 * @typedef {{kind: "commit", classes: string[]} | {kind: "reset"} | {kind: "schema"}} FeedEvent
 * @typedef {{state: {value: "live" | "connecting" | "lost"}, version: {value: string}, subscribe(f: (e: FeedEvent) => void): void}} Feed
 */

/** @type {Map<string, any>} */
const feeds = new Map();
/** @type {MessagePort | null} */
let port = null;

function connect() {
  if (port) return port;
  const worker = new SharedWorker("/console/core/feed-worker.js", { type: "module", name: "realm-rest changes" });
  port = worker.port;
  port.onmessage = ({ data }) => feeds.get(data.realm)?.receive(data);
  // While no server is there to give the scripts there is no worker.
  worker.onerror = () => {
    port = null;
    setTimeout(followAll, 2000);
  };
  return port;
}

/** @param {string} realm */
const follow = (realm) => connect().postMessage({ follow: realm, token: csrf.token });
const followAll = () => feeds.forEach((one, realm) => { if (one.isFollowed) follow(realm); });

addEventListener("pagehide", () => port?.postMessage({ leave: true }));
addEventListener("pageshow", (event) => { if (event.persisted) followAll(); });

/**
 * The feed of a realm; `subscribe` lasts as long as the effect or screen around it.
 *
 * @param {string} realm
 * @returns {Feed}
 */
export function feed(realm) {
  const known = feeds.get(realm);
  if (known) return known;
  /** @type {Set<(event: FeedEvent) => void>} */
  const listeners = new Set();
  const [state, version] = [signal(/** @type {any} */ ("connecting")), signal("")];
  let isFollowed = false;
  // The versions of responses before the stream began; the realm may have changed in between.
  /** @type {Set<string> | null} */
  let read = null;
  let begun = "";
  /** @param {FeedEvent} event */
  const notify = (event) => listeners.forEach((listener) => listener(event));
  const made = {
    state, version,
    get isFollowed() { return isFollowed; },
    /** @param {(event: FeedEvent) => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      if (!isFollowed && may("subscribe", realm)) {
        [read, begun, isFollowed] = [new Set(), "", true];
        follow(realm);
      }
      onCleanup(() => {
        listeners.delete(listener);
        // Browsers open only six connections to a host: realms without a screen are not followed.
        setTimeout(() => {
          if (listeners.size || !isFollowed) return;
          isFollowed = false;
          connect().postMessage({ leave: realm });
        }, 1000);
      });
    },
    /** @param {any} data */
    receive(data) {
      if (data.state) state.value = data.state;
      if (data.version) version.value = data.version;
      if (data.event) notify(data.event);
      if (data.version && !begun) {
        begun = data.version;
        if (!pending.peek()) made.compare();
      }
    },
    /** @param {string} one */
    hear(one) { read?.add(one); },
    /** Called when no request is under way. */
    compare() {
      if (!begun || !read) return;
      const isBehind = [...read].some((one) => one !== begun);
      read = null;
      if (isBehind) notify({ kind: "reset" });
    },
  };
  feeds.set(realm, made);
  return made;
}

heard.version = (realm, version) => feeds.get(realm)?.hear(version);
effect(() => { if (!pending.value) feeds.forEach((one) => one.compare()); });

/**
 * Calls a function when one of some classes has changed, or when it is unknown what has: not more often than the pause,
 * and not while the page is hidden.
 *
 * @param {string} realm
 * @param {string[] | null} classes Null: any.
 * @param {() => void} body
 * @param {number} [pause] Milliseconds.
 */
export function onChange(realm, classes, body, pause = 150) {
  /** @type {any} */
  let timer = null;
  let isDue = false;
  const run = () => {
    timer = null;
    if (!isDue || document.hidden) return;
    isDue = false;
    timer = setTimeout(run, pause);
    body();
  };
  const note = () => {
    isDue = true;
    if (timer === null) run();
  };
  document.addEventListener("visibilitychange", run);
  onCleanup(() => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", run);
  });
  feed(realm).subscribe((event) => {
    if (event.kind !== "commit" || !classes || event.classes.some((name) => classes.includes(name))) note();
  });
}
