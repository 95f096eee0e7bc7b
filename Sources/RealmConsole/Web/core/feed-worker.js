// SPDX-License-Identifier: Apache-2.0
/**
 * Holds one event stream per realm for all pages of the browser. Pages send `{follow, url}` and `{leave}`; they are sent
 * `{realm, state, version, event}`.
 */

/** @typedef {{url: string, source: EventSource | null, pages: Set<MessagePort>, state: string, version: string, retry: any, watch: any}} Stream */

/** @type {Map<string, Stream>} */
const streams = new Map();

addEventListener("connect", (/** @type {any} */ event) => {
  const page = event.ports[0];
  page.onmessage = (/** @type {MessageEvent} */ { data }) => {
    if (data.follow) follow(page, data.follow, data.url);
    if (data.leave) streams.forEach((_, realm) => { if (data.leave === true || data.leave === realm) leave(page, realm); });
  };
});

/** @param {MessagePort} page @param {string} realm @param {string} url */
function follow(page, realm, url) {
  let stream = streams.get(realm);
  if (!stream) {
    stream = { url, source: null, pages: new Set(), state: "connecting", version: "", retry: null, watch: null };
    streams.set(realm, stream);
  }
  stream.pages.add(page);
  page.postMessage({ realm, state: stream.state, version: stream.version });
  if (!stream.source && !stream.retry) open(realm, stream);
}

/** @param {MessagePort} page @param {string} realm */
function leave(page, realm) {
  const stream = streams.get(realm);
  stream?.pages.delete(page);
  if (!stream || stream.pages.size) return;
  clearTimeout(stream.retry);
  clearTimeout(stream.watch);
  stream.source?.close();
  streams.delete(realm);
}

/** @param {string} realm @param {Stream} stream */
function open(realm, stream) {
  const last = stream.version ? `&since=${encodeURIComponent(stream.version)}` : "";
  const source = new EventSource(stream.url + last);
  stream.source = source;
  /** @param {any} message */
  const tell = (message) => stream.pages.forEach((page) => page.postMessage({ realm, ...message }));
  /** @param {string} state */
  const become = (state) => {
    if (stream.state === state) return;
    stream.state = state;
    tell({ state });
  };
  const again = (/** @type {string} */ state) => {
    source.close();
    [stream.source, stream.version] = [null, stream.version];
    clearTimeout(stream.watch);
    clearTimeout(stream.retry);
    become(state);
    stream.retry = setTimeout(() => {
      stream.retry = null;
      open(realm, stream);
    }, 1000);
  };
  // A connection that was cut without a word is noticed by the heartbeats that stay out.
  const alive = () => {
    clearTimeout(stream.watch);
    stream.watch = setTimeout(() => again("lost"), 40_000);
  };
  /** @param {string} name @param {(data: any) => void} body */
  const on = (name, body) => source.addEventListener(name, (/** @type {any} */ event) => {
    alive();
    if (event.lastEventId) stream.version = event.lastEventId;
    if (event.data !== undefined) body(JSON.parse(event.data));
  });
  alive();
  on("ready", (data) => {
    stream.version = data.version;
    become("live");
    tell({ version: data.version });
  });
  on("changes", (data) => {
    stream.version = data.to;
    tell({ version: data.to, event: { kind: "commit", version: data.to, classes: data.classes ?? [] } });
  });
  on("reset", () => tell({ event: { kind: "reset" } }));
  on("schema", () => tell({ event: { kind: "schema" } }));
  on("heartbeat", () => {});
  on("end", () => again("connecting"));
  source.addEventListener("error", (/** @type {any} */ event) => {
    // An event named error is a problem that the server tells; without data the connection failed.
    if (event.data === undefined || JSON.parse(event.data).retryable) again("lost");
    else {
      source.close();
      become("lost");
    }
  });
}
