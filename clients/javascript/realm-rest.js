// SPDX-License-Identifier: Apache-2.0
/**
 * A client of realm-rest whose lists stay current. It is one module without dependencies, for browsers and Node 18 or later.
 *
 * Sections: exact JSON · values · schema and codec · problems · requests · event streams · differences · live lists ·
 * channels · queries · objects · writes · realms and connections.
 *
 * What is public is described in realm-rest.d.ts.
 *
 * @typedef {import("./realm-rest.d").Meta} Meta
 * @typedef {{name: string, type: string, collection?: string | null, objectType?: string | null}} Property
 * @typedef {{class?: string, key?: any, property?: string, where?: string, args?: any[], sort?: string[], distinct?: string[],
 *   limit?: number, fields?: string[], expand?: string[], keyPaths?: string[], shallow?: boolean, include?: string, deep?: string}} Definition
 * @typedef {import("./realm-rest.d").Cancel} Cancel
 * @typedef {import("./realm-rest.d").Options} Options
 */

// MARK: Exact JSON

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

/** @param {string} text @returns {any} */
export function parse(text) {
  let at = 0;
  /** @returns {never} */
  const fail = () => {
    const found = at < text.length ? `unexpected ${JSON.stringify(text[at])}` : "it ends";
    throw new SyntaxError(`this is no JSON: ${found} at ${at}`);
  };
  const space = () => { for (let code; (code = text.charCodeAt(at)) === 32 || code === 10 || code === 13 || code === 9;) at++; };
  /** @param {string} word @param {any} value */
  const literal = (word, value) => text.startsWith(word, at) ? (at += word.length, value) : fail();
  const string = () => {
    const start = at++;
    let isPlain = true;
    for (let code; (code = text.charCodeAt(at)) !== 34; at++) {
      if (code === 92) { isPlain = false; at++; } else if (!(code >= 32)) fail();
    }
    at++;
    // A long slice would keep the whole text in memory as long as it lives; JSON.parse makes a copy.
    return isPlain && at - start < 15 ? text.slice(start + 1, at - 1) : JSON.parse(text.slice(start, at));
  };
  const number = () => {
    NUMBER.lastIndex = at;
    const found = NUMBER.exec(text) ?? fail();
    at = NUMBER.lastIndex;
    return found[1] || found[2] ? Number(found[0]) : BigInt(found[0]);
  };
  /** @param {string} end @param {() => void} item */
  const sequence = (end, item) => {
    at++;
    space();
    if (text[at] === end) { at++; return; }
    for (;;) {
      item();
      space();
      if (text[at] === end) { at++; return; }
      if (text[at++] !== ",") { at--; fail(); }
      space();
    }
  };
  const object = () => {
    /** @type {any} */
    const made = {};
    sequence("}", () => {
      if (text[at] !== '"') fail();
      const name = string();
      space();
      if (text[at++] !== ":") { at--; fail(); }
      put(made, name, value());
    });
    return made;
  };
  /** @returns {any[]} */
  const array = () => {
    /** @type {any[]} */
    const made = [];
    sequence("]", () => made.push(value()));
    return made;
  };
  /** @returns {any} */
  const value = () => {
    space();
    switch (text[at]) {
      case "{": return object();
      case "[": return array();
      case '"': return string();
      case "t": return literal("true", true);
      case "f": return literal("false", false);
      case "n": return literal("null", null);
      default: return number();
    }
  };
  const made = value();
  space();
  return at === text.length ? made : fail();
}

/** A number as it shall be written, such as `5.0`. */
class Raw {
  /** @param {string} text */
  constructor(text) { this.text = text; }
}

/** @param {any} value @returns {string} */
export function stringify(value) {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? (Object.is(value, -0) ? "-0.0" : String(value)) : `"${value}"`;
  if (value === null || value === undefined || typeof value !== "object") return JSON.stringify(value ?? null);
  if (value instanceof Raw) return value.text;
  if (typeof value.toJSON === "function") return stringify(value.toJSON());
  if (Array.isArray(value)) return `[${value.map(stringify).join()}]`;
  const members = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${members.map((name) => `${JSON.stringify(name)}:${stringify(value[name])}`).join()}}`;
}

/**
 * Sets a member, also one called `__proto__`.
 *
 * @param {any} object
 * @param {string} name
 * @param {any} value
 */
function put(object, name, value) {
  if (name === "__proto__") Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}

/** @param {any} object @param {(value: any, name: string) => any} body */
function mapMembers(object, body) {
  const made = {};
  for (const name of Object.keys(object)) put(made, name, body(object[name], name));
  return made;
}

// MARK: Values

/** A link to an object. */
export class Link {
  /** @param {string} className @param {string} key the key as addresses have it */
  constructor(className, key) { this.class = className; this.key = key; }
  toJSON() { return { $link: { class: this.class, key: this.key } }; }
}

/** A point in time with all its digits: a Date, which has milliseconds, that remembers the nanoseconds and writes them back. */
export class Timestamp extends Date {
  #time;
  #exact;
  /** @param {string | {seconds: string | bigint, nanoseconds: number | bigint}} exact */
  constructor(exact) {
    super(typeof exact === "string"
      ? exact.replace(/(\.\d{3})\d+/, "$1")
      : Number(exact.seconds) * 1000 + Math.floor(Number(exact.nanoseconds) / 1e6));
    this.#exact = exact;
    this.#time = this.getTime();
  }
  get nanoseconds() {
    const exact = this.#exact;
    return typeof exact === "string" ? Number((/\.(\d+)/.exec(exact)?.[1] ?? "").padEnd(9, "0")) : Number(exact.nanoseconds);
  }
  /** @returns {any} */
  toJSON() {
    if (this.getTime() !== this.#time && !Number.isNaN(this.#time)) return instant(this);
    if (typeof this.#exact === "string") return this.#exact;
    const nanoseconds = BigInt(this.#exact.nanoseconds), whole = BigInt(this.#exact.seconds) * 1000000000n + nanoseconds;
    // Before 1970 Realm counts both parts backwards.
    return { $instant: { seconds: String(whole / 1000000000n), nanoseconds: Number(whole % 1000000000n) } };
  }
}

/** @param {Date} date @returns {any} */
function instant(date) {
  const time = date.getTime();
  if (Number.isNaN(time)) throw new RangeError("an invalid date cannot be written");
  const text = date.toISOString();
  if (text.length === 24 && !text.startsWith("0000")) return text;
  const seconds = Math.trunc(time / 1000);
  return { $instant: { seconds: String(seconds), nanoseconds: (time - seconds * 1000) * 1e6 } };
}

/** A value inside of Mixed that JavaScript has no type for: its `type` is `decimal128`, `float`, `objectId` or `uuid`. */
export class Typed {
  /** @param {string} type @param {string} text */
  constructor(type, text) { this.type = type; this.text = text; }
  toString() { return this.text; }
  valueOf() { return this.type === "float" || this.type === "decimal128" ? Number(this.text) : this.text; }
  toJSON() { return { [/** @type {any} */ (WRAPPERS)[this.type]]: this.text }; }
}

const WRAPPERS = { decimal128: "$numberDecimal", float: "$numberFloat", objectId: "$oid", uuid: "$uuid" };

/** @param {string} text */
const bytesOf = (text) => Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** @param {Uint8Array} bytes */
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {Uint8Array} bytes */
const uuidOf = (bytes) => hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** @type {Record<string, (value: any) => any>} */
const UNWRAP = {
  $numberLong: BigInt, $numberInt: BigInt, $numberDouble: Number,
  $numberDecimal: (text) => new Typed("decimal128", text), $numberFloat: (text) => new Typed("float", text),
  $oid: (text) => new Typed("objectId", text), $uuid: (text) => new Typed("uuid", text),
  $date: (text) => new Timestamp(text), $instant: (parts) => new Timestamp(parts),
  $binary: ({ base64: text, subType }) => subType === "04" ? new Typed("uuid", uuidOf(bytesOf(text))) : bytesOf(text),
  $link: (link) => new Link(link.class, link.key),
};

// MARK: Schema and codec

/** Turns what the server writes into values of JavaScript and back, by the types of the schema. */
class Codec {
  /** @type {Map<string, {primaryKey: string | null, properties: Map<string, Property>}>} */
  #classes = new Map();

  /** @param {any} schema the document of the server */
  constructor(schema) {
    for (const one of schema.classes) {
      const properties = new Map(one.properties.map((/** @type {Property} */ property) => [property.name, property]));
      this.#classes.set(one.name, { primaryKey: one.primaryKey ?? null, properties });
    }
  }

  /** @param {string} className */
  primaryKey(className) { return this.#property(className, this.#classes.get(className)?.primaryKey ?? ""); }

  /** @param {string} className @param {string} member */
  #property(className, member) { return this.#classes.get(className)?.properties.get(member.startsWith("$$") ? member.slice(1) : member); }

  /**
   * The property that a path such as `address.phones` or `kids[0].tags` ends at.
   *
   * @param {string} className
   * @param {string} path
   */
  property(className, path) {
    let found = this.#property(className, path);
    if (found) return found;
    for (const step of path.replace(/\[\d+\]/g, "").split(".")) found = this.#property(found?.objectType ?? className, step);
    return path.endsWith("]") && found ? { ...found, collection: null } : found;
  }

  /**
   * The text that stands for a primary key in addresses.
   *
   * @param {string} className
   * @param {any} key a value, a link or an object
   */
  key(className, key) {
    if (key instanceof Link) return key.key;
    if (key?.$meta) return key.$meta.key;
    if (key === null) return "@null";
    const text = String(key);
    if (!this.primaryKey(className)) return text;
    // Addresses drop steps of dots, however they are written.
    if (/^\.\.?$/.test(text)) return text === "." ? "@b64.Lg" : "@b64.Li4";
    return text === "" ? "@empty" : text.startsWith("@") ? `@${text}` : text;
  }

  /** @param {any} json @param {string} [className] @returns {any} */
  object(json, className) {
    if (json === null || json.$link) return this.mixed(json);
    const name = json.$meta?.class ?? className ?? "";
    return mapMembers(json, (value, member) => {
      if (member === "$meta") return value;
      const property = this.#property(name, member);
      return property ? this.value(value, property) : this.mixed(value);
    });
  }

  /** @param {any} json @param {Property} property @returns {any} */
  value(json, property) {
    if (json === null) return null;
    if (property.collection === "dictionary") return mapMembers(json, (value) => this.element(value, property));
    if (property.collection) return json.map((/** @type {any} */ value) => this.element(value, property));
    return this.element(json, property);
  }

  /**
   * A value of the property, or an element of its collection.
   *
   * @param {any} json
   * @param {Property} property
   * @returns {any}
   */
  element(json, property) {
    if (json === null) return null;
    // Values of declared types are plain, unless this client wrapped them itself.
    if (typeof json === "object" && property.type !== "object") return this.mixed(json);
    switch (property.type) {
      case "int": return BigInt(json);
      case "float": case "double": return Number(json);
      case "date": return new Timestamp(json);
      case "data": return bytesOf(json);
      case "object": return this.object(json, property.objectType ?? undefined);
      case "mixed": return this.mixed(json);
      default: return json;
    }
  }

  /**
   * A value that tells its type itself.
   *
   * @param {any} json
   * @returns {any}
   */
  mixed(json) {
    if (json === null || typeof json !== "object") return json;
    if (Array.isArray(json)) return json.map((value) => this.mixed(value));
    if (json.$meta) return this.object(json);
    const [name] = Object.keys(json);
    if (name !== undefined && Object.hasOwn(UNWRAP, name)) return UNWRAP[name](json[name]);
    return mapMembers(json, (value) => this.mixed(value));
  }

  /**
   * What is sent for a value. In Mixed `5` is a double and `5n` an integer, as they are read.
   *
   * @param {any} value
   * @param {Property} [property]
   * @returns {any}
   */
  wire(value, property) {
    if (typeof value === "number") {
      if (!Number.isFinite(value)) return { $numberDouble: String(value) };
      const isBare = property?.type === "mixed" && /^-?\d+$/.test(stringify(value));
      return isBare ? new Raw(`${value}.0`) : value;
    }
    if (value === null || value === undefined || typeof value !== "object" || value instanceof Link || value instanceof Typed) return value;
    if (value instanceof Date) {
      const exact = value instanceof Timestamp ? value.toJSON() : instant(value);
      return typeof exact === "string" ? { $date: exact } : exact;
    }
    if (value instanceof ArrayBuffer) value = new Uint8Array(value);
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return { $binary: { base64: base64(bytes), subType: "00" } };
    }
    if (value.$meta?.key !== undefined) return new Link(value.$meta.class, value.$meta.key);
    if (Array.isArray(value) || value instanceof Set) return Array.from(value, (element) => this.wire(element, property));
    if (value instanceof Map) value = Object.fromEntries(value);
    const isEmbedded = property?.type === "object" && property.collection !== "dictionary";
    if (isEmbedded && property.objectType) return this.body(property.objectType, value);
    return mapMembers(value, (member) => this.wire(member, property && { ...property, collection: null }));
  }

  /**
   * An object whose properties are null or empty.
   *
   * @param {string} className
   */
  blank(className) {
    const made = {};
    for (const { name, collection } of this.#classes.get(className)?.properties.values() ?? []) {
      put(made, name, collection === "dictionary" ? {} : collection ? [] : null);
    }
    return made;
  }

  /**
   * An object with a merge patch.
   *
   * @param {string | undefined} className
   * @param {any} object
   * @param {any} patch
   * @returns {any}
   */
  merged(className, object, patch) {
    return { ...object, ...mapMembers(patch, (value, member) => {
      const property = this.#property(className ?? "", member);
      const old = object[member];
      if (value === null || old === null || old === undefined) return value;
      if (property?.collection === "dictionary") return Object.fromEntries(Object.entries({ ...old, ...value }).filter(([, one]) => one !== null));
      const isEmbedded = property?.type === "object" && !property.collection && !(value instanceof Link);
      return isEmbedded ? this.merged(property.objectType ?? undefined, old, value) : value;
    }) };
  }

  /** @param {string} className @param {any} object */
  body(className, object) {
    const { $meta: _, ...members } = object;
    return mapMembers(members, (value, member) => this.wire(value, this.#property(className, member)));
  }
}

// MARK: Problems

/** What the server refused, or why it was not reached (then the status is 0). */
export class Problem extends Error {
  /** @type {string | undefined} a JSON Pointer into what was sent */ pointer;
  /** @type {string | undefined} */ parameter;
  /** @type {number | undefined} where in the query */ position;
  /** @type {number | undefined} which operation of a batch */ op;
  /** @type {number | undefined} the limit that was exceeded */ limit;
  /** @type {any} the object as it is now, after a condition failed */ current;
  /** @type {boolean | undefined} */ retryable;
  /** @type {number | undefined} seconds */ retryAfter;

  /** @param {any} document @param {{cause?: unknown, retryAfter?: number}} [options] */
  constructor(document, options) {
    super(document.detail ?? document.title ?? document.code, options);
    for (const name of Object.keys(document)) put(this, name, typeof document[name] === "bigint" ? Number(document[name]) : document[name]);
    this.name = "Problem";
    this.status = Number(document.status ?? 0);
    this.code = String(document.code);
    this.title = String(document.title ?? document.code);
    this.detail = String(document.detail ?? "");
    this.requestId = String(document.instance ?? "").replace(/^urn:(uuid|realm-rest:request):/, "");
    this.retryAfter = options?.retryAfter;
  }
}

/** @param {string} code @param {string} detail @param {unknown} [cause] */
const local = (code, detail, cause) => new Problem({ code, detail, title: "Not answered", status: 0 }, { cause });

/**
 * Why the body of an answer ended early.
 *
 * @param {AbortSignal} signal
 * @param {unknown} error
 */
const brokenOff = (signal, error) => signal.aborted ? signal.reason : local("connection_lost", "the answer broke off", error);

/** @param {unknown} error */
const isPassing = (error) => error instanceof Problem
  && (["connection_lost", "idempotency_in_progress"].includes(error.code) || [408, 423, 429, 503].includes(error.status));

// MARK: Requests

/** @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>} */
const pause = (milliseconds, signal) => new Promise((resolve, reject) => {
  const stop = () => { clearTimeout(timer); reject(signal?.reason); };
  if (signal?.aborted) { reject(signal.reason); return; }
  const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, milliseconds);
  signal?.addEventListener("abort", stop, { once: true });
});

/** Pages and their workers have the connections of the browser, six to a host, in common. */
const isBrowser = typeof document !== "undefined" || "WorkerGlobalScope" in globalThis;

/**
 * A signal that fires when one of several does.
 *
 * @param {(AbortSignal | undefined)[]} signals
 */
function either(...signals) {
  const controller = new AbortController();
  /** @type {(() => void)[]} */
  const releases = [];
  for (const signal of signals) {
    if (!signal) continue;
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    releases.push(() => signal.removeEventListener("abort", abort));
  }
  return {
    signal: controller.signal,
    abort: (/** @type {unknown} */ reason) => controller.abort(reason),
    release: () => releases.forEach((one) => one()),
  };
}

/**
 * @typedef {object} Ask
 * @property {Record<string, any>} [query]
 * @property {any} [body]
 * @property {string} [type]
 * @property {Record<string, string | undefined>} [headers]
 * @property {AbortSignal} [signal]
 * @property {boolean} [isRead] it changes nothing, whatever its method
 * @property {boolean} [once] it is not repeated
 */

/** Sends requests, and repeats those that may be repeated. */
class Transport {
  /** @type {Set<object>} what holds a connection open for changes */
  holders = new Set();
  /** What speaks against streams: at 3 they are blocked. */
  blocked = 0;
  /** Until when changes are polled instead. */
  pollUntil = 0;
  /** @type {Set<{abort: (reason: unknown) => void}>} what `close` ends */
  #links = new Set();
  /** @type {Problem | null} */
  closed = null;
  /** @type {string | undefined} */
  #key;

  /** @param {string} address @param {Options} options */
  constructor(address, options) {
    const page = /** @type {any} */ (globalThis).location?.href;
    this.base = new URL(address, page).href.replace(/\/$/, "");
    /** @type {Required<Omit<Options, "key" | "fetch">> & Pick<Options, "key" | "fetch">} */
    this.options = {
      transport: "auto", namesPerStream: 50, maxStreams: isBrowser ? 4 : 16, pollSeconds: 1, maxPauseSeconds: 30, silentSeconds: 40,
      firstByteSeconds: 8, timeoutSeconds: 60, retries: 5, headers: {},
      ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    };
  }

  /**
   * A signal that fires when one of several does, or the connection is closed.
   *
   * @param {(AbortSignal | undefined)[]} signals
   */
  link(...signals) {
    const link = either(...signals);
    if (this.closed) link.abort(this.closed);
    this.#links.add(link);
    return { ...link, release: () => { link.release(); this.#links.delete(link); } };
  }

  /**
   * Waits, until the connection is closed.
   *
   * @param {number} milliseconds
   */
  async pause(milliseconds) {
    const link = this.link();
    await pause(milliseconds, link.signal).catch(() => {});
    link.release();
  }

  /**
   * A random pause that doubles with each attempt, so that clients do not come back all at once.
   *
   * @param {number} attempt
   * @param {Problem} [problem]
   */
  backoff(attempt, problem) {
    const least = Math.max((problem?.retryAfter ?? 0) * 1000, 50);
    return least + Math.random() * Math.min(this.options.maxPauseSeconds * 1000, 250 * 2 ** attempt);
  }

  close() {
    this.closed ??= local("closed", "the connection was closed");
    for (const link of [...this.#links]) link.abort(this.closed);
  }

  /** @param {Problem} [refused] @returns {Promise<Record<string, string>>} */
  async #authorization(refused) {
    const { key } = this.options;
    if (typeof key === "function" && (refused || this.#key === undefined)) this.#key = await key(/** @type {any} */ (refused));
    const credential = typeof key === "function" ? this.#key : key;
    return credential ? { Authorization: `Bearer ${credential}` } : {};
  }

  /**
   * The answer, before its body was read, if it is none of a failure.
   *
   * @param {string} method @param {string} path @param {Ask} ask @param {AbortSignal} signal @param {Problem} [refused]
   * @returns {Promise<Response>}
   */
  async open(method, path, ask, signal, refused) {
    const { headers: own } = this.options;
    const headers = new Headers({ ...typeof own === "function" ? own() : own, ...await this.#authorization(refused) });
    for (const [name, value] of Object.entries(ask.headers ?? {})) if (value !== undefined) headers.set(name, value);
    if (ask.body !== undefined) headers.set("Content-Type", ask.type ?? "application/json");
    const url = new URL(this.base + path);
    for (const [name, value] of Object.entries(ask.query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
    const body = ask.body === undefined ? undefined : stringify(ask.body);
    let response;
    try {
      response = await (this.options.fetch ?? fetch)(url.href, { method, headers, signal, body, cache: "no-store" });
    } catch (error) {
      throw signal.aborted ? signal.reason : local("connection_lost", "the server was not reached", error);
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (problem.status === 401 && !refused && typeof this.options.key === "function") return this.open(method, path, ask, signal, problem);
    throw problem;
  }

  /** @param {string} method @param {string} path @param {Ask} ask @param {AbortSignal} signal */
  async #once(method, path, ask, signal) {
    const limit = either(signal);
    const late = local("connection_lost", "the server did not answer in time");
    const timer = setTimeout(() => limit.abort(late), this.options.timeoutSeconds * 1000);
    try {
      const response = await this.open(method, path, ask, limit.signal);
      const text = await response.text().catch((error) => { throw brokenOff(limit.signal, error); });
      return { body: text ? parse(text) : null, headers: response.headers, status: response.status };
    } finally {
      clearTimeout(timer);
      limit.release();
    }
  }

  /**
   * Reads are repeated after passing failures. Writes as well, with a key by which the server knows the repetition; it forgets its
   * keys at a restart, so `isKnown` is asked before a write is repeated whose fate is unknown.
   *
   * @param {string} method @param {string} path @param {Ask} [ask] @param {() => Promise<boolean>} [isKnown]
   */
  async request(method, path, ask = {}, isKnown) {
    const isKeyed = !ask.isRead && !ask.once && (method === "POST" || method === "PATCH");
    if (isKeyed) ask = { ...ask, headers: { "Idempotency-Key": randomKey(), ...ask.headers } };
    const link = this.link(ask.signal);
    try {
      return await this.#repeated(method, path, ask, link.signal, isKeyed ? isKnown : undefined);
    } finally {
      link.release();
    }
  }

  /**
   * @param {string} method @param {string} path @param {Ask} ask @param {AbortSignal} signal
   * @param {(() => Promise<boolean>) | undefined} isKnown
   */
  async #repeated(method, path, ask, signal, isKnown) {
    /** @type {unknown} */
    let lost;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(method, path, ask, signal);
      } catch (error) {
        // The first attempt, whose answer was lost, may be what this one met.
        const status = lost && error instanceof Problem ? error.status : 0;
        if (status === 404 && method === "DELETE") return { body: null, headers: new Headers(), status: 204 };
        if (status === 412) throw lost;
        if (!(error instanceof Problem) || !isPassing(error) || attempt >= this.options.retries || ask.once) throw error;
        await pause(this.backoff(attempt, error), signal);
        if (error.code !== "connection_lost") continue;
        lost = error;
        if (isKnown && !await isKnown()) {
          throw local("outcome_unknown", "the server was restarted before it answered: read what is there now", error);
        }
      }
    }
  }
}

/** @param {Response} response */
async function problemOf(response) {
  const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || undefined;
  const text = await response.text().catch(() => "");
  try {
    return new Problem(parse(text), { retryAfter });
  } catch {
    // A proxy answers in its own words.
    const code = response.status === 502 ? "connection_lost" : "unexpected_answer";
    return new Problem({ code, status: response.status, title: response.statusText, detail: text.slice(0, 200) }, { retryAfter });
  }
}

/** Node 18 has no global `crypto`. What is made here are names, not secrets. */
function randomBytes() {
  const bytes = new Uint8Array(16);
  return globalThis.crypto?.getRandomValues(bytes) ?? bytes.map(() => Math.floor(Math.random() * 256));
}

const randomKey = () => hexOf(randomBytes());

// MARK: Event streams

/** @typedef {{event: string, data: string | null, id: string | null}} ServerEvent */

/** Takes the text of an event stream in pieces, however they are cut, and gives the events. */
export class EventParser {
  /** @type {string[]} the beginning of a line, in the pieces in which it came: they are joined once */ #pieces = [];
  #isFirst = true;
  #isAfterReturn = false;
  /** @type {string[]} */ #data = [];
  #event = "";
  /** @type {string | null} */ #id = null;

  /** @param {string} text @returns {ServerEvent[]} */
  push(text) {
    /** @type {ServerEvent[]} */
    const events = [];
    if (!text) return events;
    if (this.#isFirst && text.startsWith("\uFEFF")) text = text.slice(1);
    // The newline of a pair may come later than its return, which has ended the line already.
    if (this.#isAfterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#isFirst = false;
    this.#isAfterReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop();
    for (const line of lines) {
      this.#pieces.push(line);
      this.#line(this.#pieces.splice(0).join(""), events);
    }
    if (rest) this.#pieces.push(rest);
    return events;
  }

  /** @param {string} line @param {ServerEvent[]} events */
  #line(line, events) {
    if (line === "") {
      const data = this.#data.length ? this.#data.join("\n") : null;
      if (data !== null || this.#id !== null) events.push({ event: this.#event || "message", data, id: this.#id });
      this.#data = [];
      this.#event = "";
      this.#id = null;
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
  }
}

// MARK: Differences

/**
 * @typedef {{key?: string, entry?: string, value: any, isLocal?: boolean}} Row
 * @typedef {{index: number, value: any}} Place
 * @typedef {{oldIndex: number, index: number, value: any, oldValue: any, properties: string[]}} Modification
 */

/** @typedef {import("./realm-rest.d").Change} Change */

/** @template T @param {T[]} list @param {{index: number}[]} deletions @param {{index: number}[]} insertions @param {{index: number}[]} modifications @param {(row: any) => T} element */
export function apply(list, deletions, insertions, modifications, element) {
  if (deletions.length + insertions.length <= 32) {
    for (let at = deletions.length - 1; at >= 0; at--) list.splice(deletions[at].index, 1);
    for (const row of insertions) list.splice(row.index, 0, element(row));
  } else {
    // One pass, because each splice moves the rest of the list.
    const gone = new Set(deletions.map((row) => row.index));
    const kept = list.filter((_, index) => !gone.has(index));
    const size = kept.length + insertions.length;
    for (let at = 0, from = 0, next = 0; at < size; at++) {
      list[at] = next < insertions.length && insertions[next].index === at ? element(insertions[next++]) : kept[from++];
    }
    list.length = size;
  }
  for (const row of modifications) list[row.index] = element(row);
}

/**
 * The difference between two lists of rows. Rows are the same by their key, the n-th of equal ones with the n-th; of the rows that
 * are on both sides, those outside a longest ascending run have moved.
 *
 * @template R
 * @param {R[]} before @param {R[]} after @param {(row: R) => any} keyOf @param {(a: R, b: R) => boolean} isSame
 */
export function difference(before, after, keyOf, isSame) {
  /** @type {Map<any, number[]>} */
  const places = new Map();
  before.forEach((row, index) => {
    const key = keyOf(row);
    const known = places.get(key);
    if (known) known.push(index); else places.set(key, [index]);
  });
  for (const list of places.values()) list.reverse();
  const sources = after.map((row) => places.get(keyOf(row))?.pop() ?? -1);
  const stays = ascending(sources);
  const deletions = [...places.values()].flat();
  const [insertions, moves] = [/** @type {number[]} */ ([]), /** @type {{from: number, to: number}[]} */ ([])];
  const modifications = /** @type {{oldIndex: number, index: number}[]} */ ([]);
  sources.forEach((from, to) => {
    if (stays.has(to)) { if (!isSame(before[from], after[to])) modifications.push({ oldIndex: from, index: to }); return; }
    insertions.push(to);
    if (from >= 0) { deletions.push(from); moves.push({ from, to }); }
  });
  return { deletions: deletions.sort((a, b) => a - b), insertions, modifications, moves };
}

/**
 * The places of a longest ascending run, leaving out -1.
 *
 * @param {number[]} numbers
 */
function ascending(numbers) {
  /** @type {number[]} the place of the smallest end of a run of each length */
  const ends = [];
  const previous = new Int32Array(numbers.length);
  numbers.forEach((number, at) => {
    if (number < 0) return;
    let [low, high] = [0, ends.length];
    while (low < high) { const middle = (low + high) >> 1; if (numbers[ends[middle]] < number) low = middle + 1; else high = middle; }
    previous[at] = low ? ends[low - 1] : -1;
    ends[low] = at;
  });
  const places = new Set();
  for (let at = ends.length ? ends[ends.length - 1] : -1; at >= 0; at = previous[at]) places.add(at);
  return places;
}

/**
 * By code points, which is the order of the bytes of UTF-8.
 *
 * @param {string} a
 * @param {string} b
 */
function compareTexts(a, b) {
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()];
  for (;;) {
    const [x, y] = [left.next().value, right.next().value];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? -1 : 1;
    if (x !== y) return /** @type {number} */ (x.codePointAt(0)) - /** @type {number} */ (y.codePointAt(0));
  }
}

// MARK: Live lists

/**
 * Has a version been reached at a position? In another life of the file it has: the contents were read anew.
 *
 * @param {string | null} position
 * @param {string} version
 */
function isReached(position, version) {
  const [[epoch, now], [other, wanted]] = [(position ?? "").split("."), version.split(".")];
  return position !== null && (epoch !== other || Number(now) >= Number(wanted));
}

/**
 * The state behind a live list: the rows of the server, and what is shown, which has local writes that were not confirmed yet.
 * Without such writes both are the same array.
 *
 * @typedef {"connecting" | "live" | "lost" | "failed" | "closed"} State
 */
class Live {
  static #names = 0;
  name = `q${++Live.#names}`;
  /** @type {string | null} */ position = null;
  /** @type {Row[]} */ rows = [];
  shown = this.rows;
  /** @type {State} */ #state = "connecting";
  /** @type {Problem | null} */ error = null;
  isReady = false;
  losses = 0;
  /** @type {Channel | null} */ channel = null;
  /** @type {Set<LocalWrite>} */ writes = new Set();
  /** @type {{rows: Row[], version: string, isWhole: boolean} | null} */ #staged = null;
  /** @type {string | null} */ #reset = null;
  /** Of a whole realm: the schema is another than at the last change. */
  #isSchemaNew = false;
  /** Of a whole realm: what comes next does not join on to what was told. */
  #isBehind = false;
  /** @type {Change[]} */ #told = [];
  /** @type {Partial<Change> | null} */ #unshown = null;
  /** @type {Set<Row>} modified, whether they look the same or not */ #touched = new Set();
  /** @type {Set<{change: (change: Change) => void, end: (problem: Problem | null) => void}>} */ #listeners = new Set();
  /** @type {Set<(state: State) => void>} */ #watchers = new Set();
  /** @type {(value?: any) => void} */ #resolve = () => {};
  /** @type {(problem: Problem) => void} */ #reject = () => {};

  /** @param {Feed} feed @param {Definition} definition */
  constructor(feed, definition) {
    this.feed = feed;
    this.definition = definition;
    this.list = new LiveList(this);
    this.hasExpansions = Boolean(definition.expand?.length || definition.fields?.some((path) => path.includes(".")));
    this.ready = this.#promise();
  }

  #promise() {
    /** @type {Promise<LiveList<any>>} */
    const ready = new Promise((resolve, reject) => { this.#resolve = resolve; this.#reject = reject; });
    ready.catch(() => {});
    return ready;
  }

  get codec() { return this.feed.codec; }
  /** The key of the observed object or owner as addresses have it. */
  get key() { return this.definition.key === undefined ? undefined : this.codec.key(this.definition.class ?? "", this.definition.key); }
  get property() {
    const { class: name, property } = this.definition;
    return name && property ? this.codec.property(name, property) : undefined;
  }
  get elementClass() {
    const { class: name, property } = this.definition;
    return property?.startsWith("@links.") ? property.split(".")[1] : property ? this.property?.objectType ?? "" : name ?? "";
  }
  /** Of the objects of a class, not of a collection. */
  get isOfClass() { return this.definition.key === undefined; }
  /** It has no rows: its changes name the classes that were written. */
  get isOfRealm() { return !this.definition.class; }

  get state() { return this.#state; }
  set state(next) {
    if (next === this.#state) return;
    this.#state = next;
    for (const watcher of [...this.#watchers]) careful(() => watcher(next));
  }

  /** @param {any} json @returns {Row} */
  #row(json) {
    const { key, entry } = json;
    const property = this.property;
    let value = null;
    if (json.object) value = this.codec.object(json.object, this.elementClass);
    else if ("value" in json) value = property ? this.codec.element(json.value, property) : this.codec.mixed(json.value);
    else if (key !== undefined) value = new Link(this.elementClass, key);
    return { key, entry, value: entry === undefined ? value : [entry, value] };
  }

  // Contents as they come. Nothing is shown before `finish`, so that all lists of a channel are of one version.

  /** @param {any} part of a snapshot */
  stage(part) {
    this.#staged ??= { rows: [], version: part.version, isWhole: false };
    const items = part.items ?? ("object" in part ? [{ key: this.key, object: part.object }] : []);
    for (const item of items) this.#staged.rows.push(this.#row(item));
    this.#staged.isWhole = part.last;
  }

  /** It begins anew, at whatever version the server is. */
  begin() { this.#isBehind = this.isOfRealm && this.isReady; }

  noteSchema() { this.#isSchemaNew = this.isOfRealm; }

  /** @param {string} reason */
  expectAnew(reason) { this.#reset = reason; this.#staged = null; }

  /** A connection ended before what was announced had come: the next goes on from the contents that are shown. */
  forget() { this.#reset = null; this.#staged = null; }

  /** Is the contents' end known: a reset without a snapshot? */
  get isMissing() { return this.#reset !== null && !this.#staged && !this.isOfRealm; }

  /** Takes a snapshot that has come. */
  settle() {
    if (!this.#staged?.isWhole) return;
    const { rows, version } = this.#staged;
    this.#staged = null;
    this.rows = rows;
    this.position = version;
    this.losses = 0;
    this.#unshown = { initial: !this.isReady, reset: this.isReady ? this.#reset ?? "missed" : null };
    this.#reset = null;
  }

  /**
   * Several change sets will come before the next is shown: they are told as one, because the list is in the last state then.
   * Those of a whole realm have no state, and each names other classes.
   */
  hold() {
    if (this.isOfRealm) return;
    if (this.shown === this.rows) this.shown = [...this.rows];
    this.#unshown ??= {};
  }

  /**
   * Takes a change set; false if one before it was missed.
   *
   * @param {any} set
   */
  accept(set) {
    if (set.to === this.position) return true;
    if (set.from !== this.position && !this.isOfRealm) return false;
    this.position = set.to;
    if (set.skipped) return true;
    const change = this.#indexed(set);
    if (!isFitting(this.rows, change)) return false;
    const flags = { deleted: Boolean(set.deleted), classes: set.classes, properties: set.deleted ? undefined : change.names };
    const isDirect = this.shown === this.rows && !this.#unshown;
    if (isDirect) this.#told.push(this.#applied(change, flags));
    apply(this.rows, change.deletions, change.insertions, change.modifications, (row) => row.row);
    if (!isDirect) {
      this.#unshown = { ...this.#unshown, ...flags };
      for (const { row } of change.modifications) this.#touched.add(row);
    }
    if (set.count !== undefined && this.definition.include !== "none" && Number(set.count) !== this.rows.length) return false;
    return true;
  }

  /**
   * The change as it is told, which is applied to what is shown.
   *
   * @param {IndexedSet} change
   * @param {Partial<Change>} flags
   */
  #applied(change, flags) {
    const rows = this.shown;
    const made = this.#change({
      ...flags,
      deletions: change.deletions.map(({ index }) => ({ index, value: rows[index].value })),
      insertions: change.insertions.map(({ index, row }) => ({ index, value: row.value })),
      modifications: change.modifications.map(({ oldIndex, index, row, properties }) => (
        { oldIndex, index, value: row.value, oldValue: rows[oldIndex].value, properties })),
      moves: change.moves,
    });
    apply(this.list, change.deletions, change.insertions, change.modifications, (row) => row.row.value);
    return made;
  }

  /**
   * Change sets of all kinds by positions: dictionaries name entries, objects have no positions.
   *
   * @typedef {{index: number, row: Row}} IndexedRow
   * @typedef {{deletions: {index: number, key?: string}[], insertions: IndexedRow[], modifications: (IndexedRow & {oldIndex: number, properties: string[]})[],
   *   moves: {from: number, to: number}[], names?: {name: string}[]}} IndexedSet
   * @param {any} set
   * @returns {IndexedSet}
   */
  #indexed(set) {
    const [deletions, insertions, modifications] = [set.deletions ?? [], set.insertions ?? [], set.modifications ?? []];
    if ("entry" in (deletions[0] ?? insertions[0] ?? modifications[0] ?? {})) return this.#indexedEntries(deletions, insertions, modifications);
    if (set.object || (set.deleted && !set.deletions)) return this.#indexedObject(set);
    return {
      deletions: deletions.map((/** @type {any} */ row) => ({ index: Number(row.index), key: row.key })),
      insertions: insertions.map((/** @type {any} */ row) => ({ index: Number(row.index), row: this.#row(row) })),
      modifications: modifications.map((/** @type {any} */ row) => (
        { oldIndex: Number(row.oldIndex), index: Number(row.index), row: this.#row(row), properties: row.properties ?? [] })),
      moves: (set.moves ?? []).map((/** @type {any} */ move) => ({ from: Number(move.from), to: Number(move.to) })),
    };
  }

  /** @param {any} set @returns {IndexedSet} */
  #indexedObject(set) {
    if (set.deleted) return { deletions: this.rows.length ? [{ index: 0 }] : [], insertions: [], modifications: [], moves: [] };
    const owner = this.definition.property ? this.elementClass : this.definition.class ?? "";
    const names = (set.properties ?? []).map((/** @type {any} */ one) => {
      const property = this.codec.property(owner, one.name);
      const value = (/** @type {any} */ json) => {
        if (json === undefined) return undefined;
        return property ? this.codec.value(json, property) : this.codec.mixed(json);
      };
      return { ...one, oldValue: value(one.oldValue), newValue: value(one.newValue) };
    });
    const row = this.#row({ key: this.key, object: set.object });
    const properties = names.map((/** @type {any} */ one) => one.name);
    return { deletions: [], insertions: [], modifications: [{ oldIndex: 0, index: 0, row, properties }], moves: [], names };
  }

  /** @param {any[]} deletions @param {any[]} insertions @param {any[]} modifications @returns {IndexedSet} */
  #indexedEntries(deletions, insertions, modifications) {
    const before = new Map(this.rows.map((row, index) => [row.entry, index]));
    const gone = new Set(deletions.map((row) => row.entry));
    const kept = this.rows.map((row) => String(row.entry)).filter((entry) => !gone.has(entry));
    const after = [...kept, ...insertions.map((row) => row.entry)].sort(compareTexts);
    const places = new Map(after.map((entry, index) => [entry, index]));
    const placed = (/** @type {any} */ row) => ({ index: places.get(row.entry) ?? -1, row: this.#row(row) });
    return {
      deletions: deletions.map((row) => ({ index: before.get(row.entry) ?? -1 })).sort((a, b) => a.index - b.index),
      insertions: insertions.map(placed).sort((a, b) => a.index - b.index),
      modifications: modifications.map((row) => ({ ...placed(row), oldIndex: before.get(row.entry) ?? -1, properties: [] })),
      moves: [],
    };
  }

  /**
   * Shows everything up to a position, and gives what is to be told of it.
   *
   * @param {string} position
   */
  finish(position) {
    this.position = position;
    for (const write of this.writes) {
      if (!write.version || !isReached(position, write.version)) continue;
      this.writes.delete(write);
      this.#unshown ??= {};
    }
    if (this.isOfRealm && (!this.isReady || this.#isBehind || this.#reset !== null)) {
      this.#told.unshift(this.#change({ initial: !this.isReady, reset: this.isReady ? this.#reset ?? "missed" : null, classes: [] }));
      this.#reset = null;
      this.#isBehind = false;
    }
    if (this.#unshown) this.#show(this.#unshown);
    this.#unshown = null;
    const told = this.#told;
    this.#told = [];
    if (this.#isSchemaNew && told.length) {
      told[0].schema = true;
      this.#isSchemaNew = false;
    }
    return told;
  }

  /**
   * Shows or takes back a local write.
   *
   * @param {LocalWrite} write
   * @param {boolean} isShown
   */
  overlay(write, isShown) {
    if (isShown ? !write.effects.some((effect) => isConcerned(this, effect)) : !this.writes.has(write)) return;
    if (isShown) this.writes.add(write); else this.writes.delete(write);
    if (this.isReady && !this.#unshown) this.#showNow({ optimistic: true });
  }

  /**
   * The server agrees with a local write: it is shown as the server has it, until the change set comes that may be here already.
   *
   * @param {LocalWrite} write
   * @param {boolean} isHere
   */
  confirm(write, isHere) {
    if (!this.writes.has(write)) return;
    if (isHere) this.writes.delete(write);
    if (this.isReady) this.#showNow({ optimistic: true });
  }

  /** @param {Partial<Change>} flags */
  #showNow(flags) {
    this.#show(flags);
    this.#told.splice(0).forEach((change) => this.tell(change));
  }

  /** @param {Partial<Change>} flags */
  #show(flags) {
    const before = this.shown;
    const effects = [...this.writes].flatMap((write) => write.effects);
    this.shown = effects.length ? effects.reduce((rows, effect) => shownWith(this, rows, effect), [...this.rows]) : this.rows;
    const after = this.shown;
    const { deletions, insertions, modifications, moves } = difference(before, after, keyOf, (a, b) => !this.#touched.has(b) && this.#isSame(a, b));
    this.#touched.clear();
    const change = this.#change({
      ...flags, moves,
      deletions: deletions.map((index) => ({ index, value: before[index].value })),
      insertions: insertions.map((index) => ({ index, value: after[index].value })),
      modifications: modifications.map(({ oldIndex, index }) => (
        { oldIndex, index, value: after[index].value, oldValue: before[oldIndex].value, properties: [] })),
    });
    apply(this.list, change.deletions, change.insertions, change.modifications, (row) => row.value);
    // Values that are equal are taken as well: their objects have newer tags.
    if (flags.reset) after.forEach((row, index) => { this.list[index] = row.value; });
    const isEmpty = !deletions.length && !insertions.length && !modifications.length;
    if (!isEmpty || flags.initial || flags.reset || flags.deleted || flags.classes) this.#told.push(change);
  }

  /** @param {Row} a @param {Row} b */
  #isSame(a, b) {
    if (a.value === b.value) return true;
    const tag = a.value?.$meta?.etag;
    if (tag && !a.isLocal && !b.isLocal && !this.hasExpansions) return tag === b.value?.$meta?.etag;
    return stringify(a.value) === stringify(b.value);
  }

  /** @param {Partial<Change>} flags @returns {Change} */
  #change(flags) {
    return {
      deletions: [], insertions: [], modifications: [], moves: [], version: this.position ?? "",
      initial: false, optimistic: false, deleted: false, reset: null, ...flags,
    };
  }

  // Who listens.

  /** @param {Change} change */
  tell(change) {
    if (!this.isReady) { this.isReady = true; this.#resolve(this.list); }
    for (const listener of [...this.#listeners]) careful(() => listener.change(change));
    if (change.deleted) this.end("closed", null);
  }

  /** The object or the owner went away while nothing could tell so. */
  vanish() {
    this.rows = [];
    this.#showNow({ deleted: true });
  }

  /** @param {"failed" | "closed"} state @param {Problem | null} problem */
  end(state, problem) {
    if (this.state === "closed" || this.state === state) return;
    this.error = problem;
    this.state = state;
    this.feed.remove(this);
    this.writes.clear();
    this.#reject(problem ?? local("closed", "the list was closed"));
    for (const listener of [...this.#listeners]) listener.end(problem);
    if (state !== "closed") return;
    this.#listeners.clear();
    this.#watchers.clear();
  }

  retry() {
    if (this.state !== "failed") return;
    this.error = null;
    this.state = "connecting";
    this.position = null;
    if (!this.isReady) this.ready = this.#promise();
    this.feed.add(this);
  }

  /** @param {(change: Change) => void} change @param {(problem: Problem | null) => void} end */
  listen(change, end) {
    const listener = { change, end };
    this.#listeners.add(listener);
    return () => { this.#listeners.delete(listener); };
  }

  /** @param {(state: State) => void} body */
  watch(body) {
    this.#watchers.add(body);
    return () => { this.#watchers.delete(body); };
  }
}

/**
 * Calls a listener. Its fault is reported like any other, and keeps nothing from the next.
 *
 * @param {() => void} body
 */
function careful(body) {
  try { body(); } catch (error) { queueMicrotask(() => { throw error; }); }
}

/** @param {Row} row */
const keyOf = (row) => row.entry !== undefined ? `e${row.entry}` : row.key !== undefined ? `k${row.key}` : `v${stringify(row.value)}`;

/**
 * Do the positions of a change exist, and have those of deletions their keys?
 *
 * @param {Row[]} rows
 * @param {IndexedSet} change
 */
function isFitting(rows, { deletions, insertions, modifications }) {
  const size = rows.length - deletions.length + insertions.length;
  return deletions.every(({ index, key }) => index >= 0 && index < rows.length && (key === undefined || rows[index].key === key))
    && insertions.every(({ index }) => index >= 0 && index < size)
    && modifications.every(({ oldIndex, index }) => oldIndex >= 0 && oldIndex < rows.length && index >= 0 && index < size);
}

/** @template [T=any] @extends {Array<T>} */
export class LiveList extends Array {
  static get [Symbol.species]() { return Array; }
  /** @type {Live} */ #live;
  /** @internal @param {any} live */
  constructor(live) { super(); this.#live = live; }

  /** @returns {Promise<LiveList<T>>} */
  get ready() { return this.#live.ready; }
  get state() { return this.#live.state; }
  get error() { return this.#live.error; }
  get version() { return this.#live.position; }
  /** @returns {T | null} */
  get value() { return this[0] ?? null; }

  /** @param {(change: Change, list: this) => void} body @param {(problem: Problem | null) => void} [ended] called when the list fails, or with null when it is closed */
  subscribe(body, ended = () => {}) { return this.#live.listen((change) => body(change, this), ended); }

  /**
   * The changes from now on. A reader that is further behind than the limit gets one with the reset `overflow` instead of them.
   *
   * @param {Cancel & {limit?: number}} options
   * @returns {AsyncIterableIterator<Change>}
   */
  changes({ limit = 256, signal } = {}) {
    /** @type {Change[]} */ let queue = [];
    /** @type {{resolve: (result: IteratorResult<Change, any>) => void, reject: (problem: any) => void} | null} */ let waiting = null;
    /** @type {{error: unknown} | null} */ let over = this.state === "closed" || this.state === "failed" ? { error: this.error } : null;
    const finish = (/** @type {unknown} */ error) => {
      over = { error };
      stop();
      signal?.removeEventListener("abort", abort);
      const reader = waiting;
      waiting = null;
      if (error) reader?.reject(error); else reader?.resolve({ done: true, value: undefined });
    };
    const abort = () => finish(signal?.reason);
    const stop = this.#live.listen((change) => {
      if (waiting) { waiting.resolve({ done: false, value: change }); waiting = null; return; }
      if (queue.length >= limit) queue = [{ ...change, deletions: [], insertions: [], modifications: [], moves: [], reset: "overflow" }];
      else queue.push(change);
    }, finish);
    if (signal?.aborted) abort(); else signal?.addEventListener("abort", abort);
    return {
      next: () => new Promise((resolve, reject) => {
        const value = queue.shift();
        if (value) resolve({ done: false, value });
        else if (over?.error) reject(over.error);
        else if (over) resolve({ done: true, value: undefined });
        else waiting = { resolve, reject };
      }),
      return: async () => { queue = []; finish(null); return { done: true, value: undefined }; },
      [Symbol.asyncIterator]() { return this; },
    };
  }

  /** @param {(state: State, list: this) => void} body */
  watch(body) {
    const told = (/** @type {State} */ state) => body(state, this);
    return this.#live.watch(told);
  }

  retry() { this.#live.retry(); }
  close() { this.#live.end("closed", null); }
  [Symbol.for("nodejs.util.inspect.custom")]() { return Array.from(this); }
}

// MARK: Local writes

/**
 * @typedef {{kind: "create" | "update" | "delete", class: string, key: string, value?: any, lists?: LiveList<any>[],
 *   change?: (object: any) => any}} Effect
 * @typedef {{effects: Effect[], version: string | null}} LocalWrite
 */

/**
 * Does a local write concern a list?
 *
 * @param {Live} live
 * @param {Effect} effect
 */
function isConcerned(live, effect) {
  if (live.elementClass !== effect.class || live.definition.include) return false;
  if (effect.kind !== "create" || effect.lists?.includes(live.list)) return true;
  return live.isOfClass && !live.definition.where && !live.definition.distinct;
}

/**
 * The rows as they will probably be. The client knows no queries: an object that was changed stays in the list until the server says
 * otherwise, and a new one is shown where everything is shown, and in the lists that were named.
 *
 * @param {Live} live @param {Row[]} rows @param {Effect} effect
 */
function shownWith(live, rows, effect) {
  if (!isConcerned(live, effect)) return rows;
  const index = rows.findIndex((row) => row.key === effect.key);
  if (effect.kind === "delete") return rows.filter((row) => row.key !== effect.key);
  if (effect.kind === "create") return index < 0 ? placed(live, rows, { key: effect.key, value: effect.value, isLocal: true }) : rows;
  if (index < 0) return rows;
  const isMeant = (/** @type {Row} */ row) => row.key === effect.key && row.entry === undefined;
  const changed = rows.map((row) => isMeant(row) ? { ...row, isLocal: true, value: changedBy(live, effect, row.value) } : row);
  if (!live.definition.sort?.length || !live.isOfClass) return changed;
  const [row] = changed.splice(index, 1);
  return compareRows(live, rows[index], row) ? placed(live, changed, row) : [...changed.slice(0, index), row, ...changed.slice(index)];
}

/**
 * The object with its change. It has the tag that the server gave it, and none before, because the old one would refuse the next write.
 * The server answers whole objects, which are not what a list with some fields or expanded links shows.
 *
 * @param {Live} live
 * @param {Effect} effect
 * @param {any} object
 */
function changedBy(live, effect, object) {
  if (effect.value && !live.definition.fields && !live.hasExpansions) return effect.value;
  const { etag: _, ...meta } = object.$meta;
  return { ...effect.change?.(object), $meta: meta };
}

/** @param {Live} live @param {Row[]} rows @param {Row} row */
function placed(live, rows, row) {
  const at = live.definition.sort?.length ? rows.findIndex((other) => compareRows(live, row, other) < 0) : -1;
  const all = at < 0 ? [...rows, row] : [...rows.slice(0, at), row, ...rows.slice(at)];
  return live.isOfClass ? all.slice(0, live.definition.limit ?? all.length) : all;
}

/**
 * By the sort of the list, as far as the client can tell.
 *
 * @param {Live} live
 * @param {Row} a
 * @param {Row} b
 */
function compareRows(live, a, b) {
  for (const sort of live.definition.sort ?? []) {
    const path = sort.replace(/^-/, "");
    const isDecimal = live.codec.property(live.elementClass, path)?.type === "decimal128";
    const [x, y] = [a, b].map((row) => {
      const value = path.split(".").reduce((object, name) => object?.[name], row.value) ?? null;
      return isDecimal && value !== null ? Number(value) : value;
    });
    const order = compareValues(x, y);
    if (order) return sort.startsWith("-") ? -order : order;
  }
  return 0;
}

/**
 * Null comes first.
 *
 * @param {any} x
 * @param {any} y
 */
function compareValues(x, y) {
  if (x === null || y === null) return Number(x !== null) - Number(y !== null);
  if (typeof x === "string" && typeof y === "string") return compareTexts(x, y);
  return x < y ? -1 : x > y ? 1 : 0;
}

// MARK: Channels

/** Queries that share one registration and, with it, one stream. It is read until it is closed, whatever happens in between. */
class Channel {
  /** @type {Map<string, Live>} */ lives = new Map();
  /** @type {string | null} */ position;
  /** @type {string | null} */ #id = null;
  #registered = 0;
  #attempt = 0;
  #errors = 0;
  #refusedUntil = 0;
  #isOver = false;
  /** @type {any[]} */ #sets = [];
  #end = new AbortController();

  /** @param {Feed} feed @param {Live[]} lives @param {string | null} position which all of them have */
  constructor(feed, lives, position) {
    this.feed = feed;
    this.transport = feed.transport;
    this.position = position;
    for (const live of lives) {
      this.lives.set(live.name, live);
      live.channel = this;
      if (position === null) live.begin();
    }
  }

  /** Could its queries be read on another stream from its position? */
  get isSettled() {
    return this.#id !== null && this.position !== null && !this.#sets.length && [...this.lives.values()].every((live) => live.state === "live");
  }
  get isSparse() { return this.#registered > 8 && this.lives.size * 2 < this.#registered; }

  /** @param {Live} live */
  remove(live) {
    this.lives.delete(live.name);
    live.channel = null;
    if (!this.lives.size) this.close();
  }

  close() {
    if (this.#isOver) return;
    this.#isOver = true;
    this.feed.channels.delete(this);
    this.#end.abort(local("closed", "the channel was closed"));
    const id = this.#id;
    if (!id || this.transport.closed) return;
    this.transport.request("DELETE", this.feed.path(`subscriptions/${id}`), { once: true }).catch(() => {});
  }

  async run() {
    const end = this.transport.link(this.#end.signal);
    while (!end.signal.aborted) {
      let milliseconds = 0;
      try {
        if (!this.#id) await this.#register(end.signal);
        if (this.lives.size) milliseconds = await this.#read(end.signal);
      } catch (error) {
        if (end.signal.aborted) break;
        const problem = error instanceof Problem ? error : local("client_error", String(error), error);
        if (!this.#survives(problem)) break;
        for (const live of this.lives.values()) if (live.state === "live") live.state = "lost";
        milliseconds = this.transport.backoff(this.#attempt++, problem);
      }
      if (milliseconds) await pause(milliseconds, end.signal).catch(() => {});
    }
    end.release();
    for (const live of this.transport.closed ? [...this.lives.values()] : []) live.end("closed", null);
  }

  /**
   * What happens after a failure: is it worth to try again?
   *
   * @param {Problem} problem
   */
  #survives(problem) {
    if (problem.code === "too_many_streams") this.#refusedUntil = Date.now() + 30_000;
    if (problem.code === "not_found" || problem.code === "subscription_expired") { this.#id = null; return true; }
    if (["stream_ended", "stream_blocked"].includes(problem.code) || isPassing(problem)) return true;
    if (problem.status >= 500 || problem.retryable) return true;
    if (problem.code === "stream_error") {
      // Registering again tells which query it is. If it does not, each goes its own way.
      this.#id = null;
      if (++this.#errors < 2) return true;
      if (this.lives.size > 1) { this.#split(); return false; }
    }
    const reason = problem.code === "stream_error" ? /** @type {Problem} */ (problem.cause) : problem;
    for (const live of [...this.lives.values()]) live.end("failed", reason);
    return false;
  }

  #split() {
    const lives = [...this.lives.values()];
    this.lives.clear();
    this.close();
    for (const live of lives) this.feed.open([live], null);
  }

  /** @param {AbortSignal} signal */
  async #register(signal) {
    while (this.lives.size) {
      const subscriptions = Object.fromEntries([...this.lives].map(([name, live]) => [name, this.feed.definition(live)]));
      try {
        const { body } = await this.transport.request("POST", this.feed.path("subscriptions"), { body: { subscriptions }, signal, once: true });
        this.#id = body.id;
        this.#registered = this.lives.size;
        return;
      } catch (error) {
        if (!(error instanceof Problem) || !this.#drop(error)) throw error;
      }
    }
  }

  /**
   * Takes out the query that was refused, or those that are too many.
   *
   * @param {Problem} problem
   */
  #drop(problem) {
    const live = this.lives.get(problem.pointer?.split("/")[2] ?? "");
    if (live) {
      const isGone = live.isReady && problem.code === "object_not_found";
      if (isGone) live.vanish(); else live.end("failed", problem);
      return true;
    }
    const { limit } = problem;
    if (problem.code !== "invalid_body" || !limit || this.lives.size <= limit) return false;
    this.transport.options.namesPerStream = limit;
    const others = [...this.lives.values()].slice(limit);
    for (const other of others) this.lives.delete(other.name);
    for (const other of others) this.feed.add(other);
    return true;
  }

  /**
   * Reads once, by a stream, by a poll that waits, or in turn by one that does not. Gives the pause before the next.
   *
   * @param {AbortSignal} signal
   */
  async #read(signal) {
    const { holders, options } = this.transport;
    this.#sets = [];
    for (const live of this.lives.values()) live.forget();
    if (holders.size >= options.maxStreams || Date.now() < this.#refusedUntil) {
      await this.#poll(0, signal);
      return options.pollSeconds * 1000 * (0.8 + 0.4 * Math.random());
    }
    holders.add(this);
    try {
      const isPolling = options.transport === "poll" || (options.transport === "auto" && Date.now() < this.transport.pollUntil);
      // The first answer tells that there is a connection, so it does not wait for a change.
      const isLive = [...this.lives.values()].every((live) => live.state === "live");
      if (isPolling) await this.#poll(isLive ? 25 : 0, signal); else await this.#stream(signal);
      return 0;
    } finally {
      holders.delete(this);
    }
  }

  /** @param {number} wait @param {AbortSignal} signal */
  async #poll(wait, signal) {
    const query = { subscription: this.#id, since: this.position ?? undefined, wait };
    const { body } = await this.transport.request("GET", this.feed.path("changes"), { query, signal, isRead: true, once: true });
    if (body.schema || body.reset) await this.feed.renew();
    if (body.schema) this.#take("schema", body.schema);
    if (body.reset) this.#take("reset", body.reset);
    for (const snapshot of body.snapshots) this.#take("snapshot", snapshot);
    for (const set of body.changes) this.#take("changes", set);
    this.#flush(body.next);
  }

  /** @param {AbortSignal} signal */
  async #stream(signal) {
    const { options } = this.transport;
    const link = either(signal);
    /** @type {any} */ let timer;
    const watch = (/** @type {number} */ seconds, /** @type {string} */ code) => {
      clearTimeout(timer);
      timer = setTimeout(() => link.abort(local(code, `nothing was received for ${seconds} seconds`)), seconds * 1000);
    };
    let events = 0;
    try {
      watch(options.firstByteSeconds, "stream_blocked");
      const ask = { query: { subscription: this.#id, since: this.position ?? undefined }, headers: { Accept: "text/event-stream" } };
      const response = await this.transport.open("GET", this.feed.path("changes"), ask, link.signal);
      const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      const [decoder, parser] = [new TextDecoder(), new EventParser()];
      for (;;) {
        const { done, value } = await reader.read().catch((error) => { throw brokenOff(link.signal, error); });
        if (done) throw local("connection_lost", "the stream was cut");
        watch(options.silentSeconds, "connection_lost");
        for (const { event, data, id } of parser.push(decoder.decode(value, { stream: true }))) {
          events++;
          this.transport.blocked = 0;
          const json = data === null ? null : parse(data);
          if (event === "schema" || event === "reset") await this.feed.renew();
          this.#take(event, json);
          if (id) this.#flush(id);
        }
        if (signal.aborted) throw signal.reason;
      }
    } catch (error) {
      this.#noteBlocked(error, events);
      throw error;
    } finally {
      clearTimeout(timer);
      link.abort();
      link.release();
    }
  }

  /**
   * After a stream without a byte, or three that were closed at once, something in between collects answers.
   *
   * @param {any} error
   * @param {number} events
   */
  #noteBlocked(error, events) {
    const isSilent = error?.code === "stream_blocked";
    const isCut = error?.code === "connection_lost" && error.detail === "the stream was cut" && !events;
    this.transport.blocked += isSilent ? 3 : isCut ? 1 : 0;
    if (this.transport.blocked < 3) return;
    this.transport.blocked = 0;
    this.transport.pollUntil = Date.now() + 300_000;
  }

  /** @param {string} event @param {any} data */
  #take(event, data) {
    switch (event) {
      case "snapshot": this.lives.get(data.sub)?.stage(data); return;
      case "changes": this.#sets.push(data); return;
      case "schema": for (const live of this.lives.values()) live.noteSchema(); return;
      case "reset":
        this.#sets = this.#sets.filter((set) => !data.subs.includes(set.sub));
        for (const name of data.subs) this.lives.get(name)?.expectAnew(data.reason);
        return;
      case "error": throw data.retryable ? new Problem(data) : local("stream_error", data.detail ?? data.title, new Problem(data));
      case "end":
        if (data.reason === "deleted") this.#id = null;
        if (data.reason === "unauthenticated") {
          throw new Problem({ code: "unauthenticated", status: 401, title: "Unauthenticated", detail: "the credential is not valid any more" });
        }
        throw local("stream_ended", data.reason);
      default:
    }
  }

  /**
   * Everything up to a position has come: shows it, and tells of it when all lists are of that version.
   *
   * @param {string} position
   */
  #flush(position) {
    const sets = this.#sets;
    this.#sets = [];
    const [lost, seen] = [new Set(), new Set()];
    for (const live of this.lives.values()) live.settle();
    for (const { sub } of sets) if (seen.has(sub)) this.lives.get(sub)?.hold(); else seen.add(sub);
    for (const set of sets) {
      const live = this.lives.get(set.sub);
      if (live && !lost.has(live) && !live.accept(set)) lost.add(live);
    }
    const gone = [...this.lives.values()].filter((live) => live.isMissing);
    for (const live of lost) this.#lose(live);
    this.position = position;
    this.#attempt = 0;
    this.#errors = 0;
    const told = [...this.lives.values()].map((live) => ({ live, changes: live.finish(position) }));
    for (const live of this.lives.values()) live.state = "live";
    for (const { live, changes } of told) for (const change of changes) live.tell(change);
    for (const live of gone) live.vanish();
    this.feed.merge();
  }

  /**
   * A change set was missed: the query starts anew on another channel.
   *
   * @param {Live} live
   */
  #lose(live) {
    this.lives.delete(live.name);
    live.state = "lost";
    live.position = null;
    if (++live.losses <= 3) this.feed.add(live);
    else live.end("failed", local("out_of_step", "the changes of the server do not fit what it sent before"));
  }
}

/** All live queries of a realm, and the channels that they are read by. */
class Feed {
  /** @type {Set<Live>} */ lives = new Set();
  /** @type {Set<Channel>} */ channels = new Set();
  /** @type {Set<Live>} */ #waiting = new Set();
  #opened = 0;
  /** @type {Codec} */ codec = new Codec({ classes: [] });

  /** @param {Realm} realm */
  constructor(realm) {
    this.realm = realm;
    this.transport = /** @type {Transport} */ (realm.transport);
  }

  /** @param {string} path */
  path(path) { return this.realm.path(path); }

  /** @param {Live} live */
  definition(live) {
    const { args, ...others } = live.definition;
    return { ...others, key: live.key, args: args?.map((value) => this.codec.wire(value)) };
  }

  /**
   * Queries that are made together get one stream together.
   *
   * @param {Live} live
   */
  add(live) {
    this.lives.add(live);
    if (!this.#waiting.size) setTimeout(() => this.#start(), 0);
    this.#waiting.add(live);
  }

  /** @param {Live} live */
  remove(live) {
    this.lives.delete(live);
    this.#waiting.delete(live);
    live.channel?.remove(live);
  }

  async #start() {
    for (let attempt = 0; ; attempt++) {
      try {
        if (this.#needsSchema) await this.renew();
        break;
      } catch (error) {
        const isOver = Boolean(this.transport.closed);
        if (!isOver && isPassing(error)) { await this.transport.pause(this.transport.backoff(attempt)); continue; }
        const problem = error instanceof Problem ? error : local("client_error", String(error), error);
        for (const live of [...this.#waiting]) live.end(isOver ? "closed" : "failed", isOver ? null : problem);
        return;
      }
    }
    const lives = [...this.#waiting];
    this.#waiting.clear();
    this.open(lives, null);
  }

  /** @param {Live[]} lives @param {string | null} position */
  open(lives, position) {
    const { namesPerStream } = this.transport.options;
    for (let at = 0; at < lives.length; at += namesPerStream) {
      const channel = new Channel(this, lives.slice(at, at + namesPerStream), position);
      this.channels.add(channel);
      this.#opened = Date.now();
      channel.run();
    }
  }

  /** Joins channels at the same position when fewer would do: positions are those of the realm, so another stream goes on from there. */
  merge() {
    if ((this.channels.size < 2 && ![...this.channels].some((channel) => channel.isSparse)) || Date.now() - this.#opened < 1000) return;
    /** @type {Map<string, Channel[]>} */
    const groups = new Map();
    for (const channel of this.channels) {
      if (channel.isSettled) groups.set(channel.position ?? "", [...groups.get(channel.position ?? "") ?? [], channel]);
    }
    for (const [position, channels] of groups) {
      const lives = channels.flatMap((channel) => [...channel.lives.values()]);
      const needed = Math.ceil(lives.length / this.transport.options.namesPerStream);
      if (needed >= channels.length && !channels.some((channel) => channel.isSparse)) continue;
      for (const channel of channels) channel.close();
      this.open(lives, position);
    }
  }

  /** Does a list need the schema to read its rows? */
  get #needsSchema() { return [...this.lives].some((live) => !live.isOfRealm); }

  /** The schema may be another. */
  async renew() {
    if (this.#needsSchema) this.codec = await this.realm.loadCodec(true); else this.realm.forgetCodec();
  }

  /**
   * Shows a local write in all lists, until it is confirmed or taken back.
   *
   * @param {Effect[]} effects
   */
  show(effects) {
    /** @type {LocalWrite} */
    const write = { effects, version: null };
    const overlay = (/** @type {boolean} */ isShown) => { for (const live of [...this.lives]) live.overlay(write, isShown); };
    overlay(true);
    return {
      undo: () => overlay(false),
      // The effects have what the server answered now.
      confirm: (/** @type {string} */ version) => {
        write.version = version;
        for (const live of this.lives) live.confirm(write, isReached(live.position, version));
        // A list in which it changed nothing hears nothing of it. While a connection is sought the write stays shown.
        const settle = () => {
          for (const live of this.lives) if (live.state === "live") live.overlay(write, false);
          if ([...this.lives].some((live) => live.writes.has(write))) setTimeout(settle, 1000);
        };
        setTimeout(settle, 1000);
      },
    };
  }
}

// MARK: Queries

/** @template [T=any] */
export class Query {
  /** @internal @param {any} realm @param {any} definition */
  constructor(realm, definition) {
    /** @internal @type {Realm} */ this.realm = realm;
    /** @internal @type {Definition} */ this.definition = definition;
  }

  /** @param {Definition} changes @returns {Query<T>} */
  #with(changes) { return new Query(this.realm, { ...this.definition, ...changes }); }

  /** @param {string} text @param {...any} args */
  where(text, ...args) {
    const { where, args: before = [] } = this.definition;
    if (where === undefined) return this.#with({ where: text, args });
    // What looks like an argument inside of quotes is none.
    const shifted = text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\$(K?)(\d+)/g, (all, kind, number) => (
      number === undefined ? all : `$${kind}${Number(number) + before.length}`));
    return this.#with({ where: `(${where}) AND (${shifted})`, args: [...before, ...args] });
  }
  /** @param {...string} paths */
  sort(...paths) { return this.#with({ sort: paths }); }
  /** @param {...string} paths */
  distinct(...paths) { return this.#with({ distinct: paths }); }
  /** @param {number} count */
  limit(count) { return this.#with({ limit: count }); }
  /** @param {...string} paths */
  fields(...paths) { return this.#with({ fields: paths }); }
  /** @param {...string} paths */
  expand(...paths) { return this.#with({ expand: paths }); }
  /** @param {...string} paths */
  keyPaths(...paths) { return this.#with({ keyPaths: paths }); }
  /**
   * Further members of the definition of a live list: `shallow`, `deep`, `include`.
   *
   * @param {Definition} members
   */
  observing(members) { return this.#with(members); }

  /** @returns {LiveList<T>} */
  live() { return this.realm.follow(this.definition); }

  /** @param {Record<string, any>} more @param {Cancel} options */
  async #read(more, { signal } = {}) {
    const codec = await this.realm.loadCodec();
    const { class: name = "", key, property, limit: _, keyPaths: _1, shallow: _2, include: _3, deep: _4, ...query } = this.definition;
    const asked = { ...query, args: query.args?.map((value) => codec.wire(value)), ...more };
    if (key === undefined) {
      const { body } = await this.realm.request("POST", `query/${segment(name)}`, { body: asked, isRead: true, signal });
      return { body, item: (/** @type {any} */ json) => codec.object(json, name) };
    }
    const path = propertyPath(name, codec.key(name, key), property ?? "");
    const { body } = await this.realm.request("GET", path, { query: mapMembers(asked, inAddress), signal });
    const declared = codec.property(name, property ?? "");
    const element = (/** @type {any} */ json) => declared && !json?.$meta ? codec.element(json, declared) : codec.mixed(json);
    const entry = (/** @type {any} */ json) => [json.entry, element(json.object ?? json.value ?? null)];
    return { body, item: declared?.collection === "dictionary" ? entry : element };
  }

  /** @param {Cancel & {limit?: number, after?: string | null, offset?: number, count?: boolean}} options @returns {Promise<{items: T[], next: string | null, count: number | undefined, version: string}>} */
  async page({ limit = 100, after, offset, count, signal } = {}) {
    const { body, item } = await this.#read({ limit, after: after ?? undefined, offset, count: count ? "exact" : undefined }, { signal });
    const total = body.count === undefined ? undefined : Number(body.count);
    return { items: body.items.map(item), next: body.next, count: total, version: body.version };
  }

  /** @param {Cancel & {pageSize?: number}} options @returns {AsyncGenerator<T, void, undefined>} */
  async *all({ pageSize = 500, signal } = {}) {
    let left = this.definition.limit ?? Infinity;
    /** @type {string | null} */ let after = null;
    do {
      /** @type {{items: T[], next: string | null}} */
      const page = await this.page({ limit: Math.min(pageSize, left), after, signal });
      yield* page.items;
      left -= page.items.length;
      after = page.next;
    } while (after !== null && left > 0);
  }
  [Symbol.asyncIterator]() { return this.all(); }

  /** @param {Cancel} [options] @returns {Promise<T[]>} */
  async toArray(options) { const found = []; for await (const one of this.all(options)) found.push(one); return found; }
  /** @param {Cancel} [options] @returns {Promise<T | null>} */
  async first(options) { return (await this.page({ ...options, limit: 1 })).items[0] ?? null; }

  /** @param {Cancel} [options] @returns {Promise<number>} */
  async count(options) {
    const { count } = await this.page({ ...options, limit: 0, count: true });
    return Math.min(Number(count), this.definition.limit ?? Infinity);
  }

  /** @param {...string} ops @returns {Promise<Record<string, any>>} */
  async aggregate(...ops) { return (await this.#aggregates({ ops }))[0]; }

  /**
   * Aggregates of the groups with equal values of some key paths: `[{key: {city: "Oslo"}, count: 3n}]`.
   *
   * @param {string | string[]} paths @param {...string} ops
   * @returns {Promise<({key: Record<string, any>} & Record<string, any>)[]>}
   */
  async groupBy(paths, ...ops) { return /** @type {any} */ (this.#aggregates({ ops, groupBy: [paths].flat() })); }

  /**
   * The condition and its arguments. What concerns a whole selection has no parameters for the order, for what is distinct and for the
   * limit, but all of them can stand in the text.
   *
   * @param {Codec} codec
   */
  #selection(codec) {
    const { where = "TRUEPREDICATE", args = [], sort = [], distinct = [], limit } = this.definition;
    const text = [where];
    if (distinct.length || limit !== undefined) {
      const order = sort.map((path) => path.startsWith("-") ? `${path.slice(1)} DESC` : `${path} ASC`);
      if (order.length) text.push(`SORT(${order.join()})`);
      if (distinct.length) text.push(`DISTINCT(${distinct.join()})`);
      if (limit !== undefined) text.push(`LIMIT(${limit})`);
    }
    return { where: text.join(" "), args: args.map((value) => codec.wire(value)) };
  }

  /** @param {Record<string, any>} what @returns {Promise<Record<string, any>[]>} */
  async #aggregates(what) {
    const codec = await this.realm.loadCodec();
    const { class: name = "" } = this.definition;
    const asked = { ...this.#selection(codec), ...what };
    const { body } = await this.realm.request("POST", `aggregate/${segment(name)}`, { body: asked, isRead: true });
    const typed = (/** @type {any} */ json, /** @type {string} */ path) => {
      const property = codec.property(name, path);
      return property ? codec.element(json, property) : codec.mixed(json);
    };
    const values = (/** @type {any} */ { version: _, ...members }) => mapMembers(members, (value, member) => {
      if (member === "key") return mapMembers(value, typed);
      if (member === "count") return Number(value);
      return /^(min|max):/.test(member) ? typed(value, member.slice(4)) : codec.mixed(value);
    });
    return (body.groups ?? [body]).map(values);
  }

  /** @param {string} by @param {Cancel & {limit?: number, after?: string | null}} options @returns {Promise<{sections: {key: any, items: T[]}[], next: string | null, version: string}>} */
  async sections(by, { limit = 100, after, signal } = {}) {
    const { body, item } = await this.#read({ sectionBy: by, limit, after: after ?? undefined }, { signal });
    const codec = await this.realm.loadCodec();
    const sections = body.sections.map((/** @type {any} */ { key, items }) => ({ key: codec.mixed(key), items: items.map(item) }));
    return { ...body, sections };
  }

  /** @param {any} patch @param {Cancel & {maxAffected?: number}} [options] */
  async updateAll(patch, options) { return this.#change("PATCH", patch, options); }
  /** @param {Cancel & {maxAffected?: number}} [options] */
  async deleteAll(options) { return this.#change("DELETE", undefined, options); }

  /** @param {string} method @param {any} patch @param {Cancel & {maxAffected?: number}} options */
  async #change(method, patch, { maxAffected, signal } = {}) {
    const codec = await this.realm.loadCodec();
    const { class: name = "" } = this.definition;
    const { where, args } = this.#selection(codec);
    const query = { where, args: stringify(args), maxAffected };
    const { body } = await this.realm.request(method, `objects/${segment(name)}`, { query, body: patch && codec.body(name, patch), signal });
    return { matched: Number(body.matched), version: /** @type {string} */ (body.version) };
  }
}

const segment = encodeURIComponent;

/**
 * A member of a query as a parameter.
 *
 * @param {any} value
 * @param {string} member
 */
const inAddress = (value, member) => !Array.isArray(value) ? value : member === "args" ? stringify(value) : value.join();

/** @param {string} className @param {string} key @param {string} property */
function propertyPath(className, key, property) {
  const steps = property.startsWith("@links.") ? property.split(".") : property ? [property] : [];
  return ["objects", className, key, ...steps].map(segment).join("/").replaceAll("%40links", "@links");
}

// MARK: Objects

/** @template [T=any] @extends {Query<T & {readonly $meta: Meta}>} */
export class Objects extends Query {
  /** @param {any} key a primary key, a link or an object @returns {ObjectReference<T>} */
  object(key) { return new ObjectReference(this.realm, this.definition.class ?? "", key); }

  /** @param {any} key @param {Cancel & {fields?: string[], expand?: string[]}} [options] @returns {Promise<T & {readonly $meta: Meta}>} */
  get(key, options) { return this.object(key).get(options); }

  /** @param {Partial<T>} body @param {Cancel & {upsert?: "modified" | "all"}} options @returns {Promise<T & {readonly $meta: Meta}>} */
  async create(body, { upsert, signal } = {}) {
    const [codec, name] = [await this.realm.loadCodec(), this.definition.class ?? ""];
    const answer = await this.realm.request("POST", `objects/${segment(name)}`, { body: codec.body(name, body), query: { upsert }, signal });
    return answer.body && codec.object(answer.body, name);
  }

  /**
   * All of them or none.
   *
   * @param {Partial<T>[]} bodies
   * @param {Cancel & {upsert?: "modified" | "all"}} options
   * @returns {Promise<{created: number, keys: string[], version: string}>}
   */
  async createAll(bodies, { upsert, signal } = {}) {
    const [codec, name] = [await this.realm.loadCodec(), this.definition.class ?? ""];
    const all = bodies.map((one) => codec.body(name, one));
    const { body } = await this.realm.request("POST", `objects/${segment(name)}`, { body: all, query: { upsert }, signal });
    return { ...body, created: Number(body.created) };
  }

  /** @param {any} key @param {Partial<T>} body @param {Cancel} [options] */
  put(key, body, options) { return this.object(key).put(body, options); }
  /**
   * @param {any} key an object, whose state is then the condition, or a key
   * @param {any} patch
   * @param {Cancel & {force?: boolean}} [options]
   */
  update(key, patch, options) { return this.object(key).update(patch, options); }
  /** @param {any} key an object, whose state is then the condition, or a key @param {Cancel & {force?: boolean}} [options] */
  delete(key, options) { return this.object(key).delete(options); }
}

/** @template [T=any] */
export class ObjectReference {
  /** @internal @param {any} realm @param {string} className @param {any} key */
  constructor(realm, className, key) {
    /** @internal @type {Realm} */ this.realm = realm;
    this.class = className;
    this.key = key;
  }

  async #path() {
    const codec = await this.realm.loadCodec();
    return { codec, path: propertyPath(this.class, codec.key(this.class, this.key), "") };
  }

  /** @param {Cancel & {fields?: string[], expand?: string[]}} options @returns {Promise<T & {readonly $meta: Meta}>} */
  async get({ fields, expand, signal } = {}) {
    const { codec, path } = await this.#path();
    const { body } = await this.realm.request("GET", path, { query: { fields: fields?.join(), expand: expand?.join() }, signal });
    return codec.object(body, this.class);
  }

  /** @returns {LiveList<T & {readonly $meta: Meta}>} */
  live() { return this.realm.follow({ class: this.class, key: this.key }); }

  /** @param {string} name @returns {Query<any>} */
  property(name) { return new Query(this.realm, { class: this.class, key: this.key, property: name }); }

  /** @param {Partial<T>} body @param {Cancel & {force?: boolean}} [options] @returns {Promise<T & {readonly $meta: Meta}>} */
  put(body, options) { return this.#write("PUT", (codec) => codec.body(this.class, body), options); }

  /**
   * Changes some properties, by a merge patch or, as an array, a JSON Patch. If the reference was made with an object that was read,
   * and that has changed since, the answer is a Problem with the code `precondition_failed`, unless it is forced.
   *
   * @param {any} patch @param {Cancel & {force?: boolean}} [options] @returns {Promise<T & {readonly $meta: Meta}>}
   */
  update(patch, options) {
    return Array.isArray(patch)
      ? this.#write("PATCH", (codec) => codec.wire(patch), options, "application/json-patch+json")
      : this.#write("PATCH", (codec) => codec.body(this.class, patch), options);
  }

  /** @param {Cancel & {force?: boolean}} [options] @returns {Promise<void>} */
  async delete(options) { await this.#write("DELETE", () => undefined, options); }

  /** @param {string} method @param {(codec: Codec) => any} body @param {Cancel & {force?: boolean}} options @param {string} [type] */
  async #write(method, body, { force, signal } = {}, type) {
    const { codec, path } = await this.#path();
    try {
      const headers = { "If-Match": force ? undefined : this.key?.$meta?.etag };
      const answer = await this.realm.request(method, path, { body: body(codec), type, headers, signal });
      return answer.body && codec.object(answer.body, this.class);
    } catch (error) {
      if (error instanceof Problem && error.current) error.current = codec.object(error.current, this.class);
      throw error;
    }
  }
}

// MARK: Writes

/** A link to an object that the same write creates. */
class NewLink extends Link {
  /** @param {string} className @param {string} ref */
  constructor(className, ref) {
    super(className, `@new.${randomKey()}`);
    this.ref = ref;
  }
  toJSON() { return /** @type {any} */ ({ $link: { ref: this.ref } }); }
}

/**
 * What became of an effect.
 *
 * @param {Codec} codec
 * @param {Effect} effect
 * @param {{key: string, object?: any}} result
 */
function settle(codec, effect, { key, object }) {
  effect.key = key;
  if (object) effect.value = codec.object(object, effect.class);
}

/** @type {Record<string, () => string>} */
const KEY_MAKERS = { uuid: randomUUID, objectId: randomObjectId };

/** Collects the operations of one write, which is done as a whole or not at all. */
export class Batch {
  /** @internal @type {any[]} */ ops = [];
  /** @internal @type {(Effect | null)[]} */ effects = [];
  #codec;
  /** @internal @param {any} codec */
  constructor(codec) { /** @type {Codec} */ this.#codec = codec; }

  /**
   * What was given as it will be read, or null when the server will refuse it.
   *
   * @param {any} wire
   * @param {string} className
   */
  #read(wire, className) {
    try { return this.#codec.object(parse(stringify(wire)), className); } catch { return null; }
  }

  /** @param {Record<string, any>} operation @returns {this} */
  op(operation) { this.#add(this.#codec.wire(operation)); return this; }

  /** @param {any} operation @param {Effect | null} [effect] */
  #add(operation, effect = null) { this.ops.push(operation); this.effects.push(effect); }

  /** @param {string} className @param {any} key */
  #target(className, key) { return key instanceof NewLink ? { ref: key.ref } : this.#codec.key(className, key); }

  /** @param {any} target a link or an object @returns {{class: string, key: any, tag?: string}} */
  #of(target) {
    const name = target.$meta?.class ?? target.class;
    if (typeof name !== "string") throw new TypeError("an object that was read, or a Link, is needed");
    return { class: name, key: this.#target(name, target), tag: target.$meta?.etag };
  }

  /** @param {string} className @param {any} body @param {{upsert?: "modified" | "all", lists?: LiveList<any>[]}} options @returns {Link} */
  create(className, body, { upsert, lists } = {}) {
    const primary = this.#codec.primaryKey(className);
    // Keys that the server would make are made here, so that the object is known by its key before it is there.
    const made = primary && body[primary.name] === undefined ? KEY_MAKERS[primary.type]?.() : undefined;
    const wire = this.#codec.body(className, made ? { [primary?.name ?? ""]: made, ...body } : body);
    const as = `o${this.ops.length}`;
    const link = primary
      ? new Link(className, this.#codec.key(className, made ?? body[primary.name]))
      : new NewLink(className, as);
    const shown = this.#read(wire, className);
    const object = { ...this.#codec.blank(className), ...shown, $meta: { class: className, key: link.key } };
    /** @type {Effect | null} */
    const effect = upsert || !shown ? null : { kind: "create", class: className, key: link.key, value: object, lists };
    this.#add({ create: { as, class: className, body: wire, upsert } }, effect);
    return link;
  }

  /**
   * @param {any} target an object, whose state is the condition unless it is forced, or a link
   * @param {any} patch
   * @param {{force?: boolean}} options
   * @returns {this}
   */
  update(target, patch, { force } = {}) {
    const { class: name, key, tag } = this.#of(target);
    const wire = this.#codec.body(name, patch);
    const shown = this.#read(wire, name);
    const change = (/** @type {any} */ object) => this.#codec.merged(name, object, shown);
    const operation = { patch: { class: name, key, body: wire, ifMatch: force ? undefined : tag } };
    this.#add(operation, shown && { kind: "update", class: name, key: target.$meta?.key ?? target.key, change });
    return this;
  }

  /** @param {any} target @param {string} property @param {number | bigint | string} by @returns {this} */
  increment(target, property, by) {
    const { class: name, key } = this.#of(target);
    const add = (/** @type {any} */ value) => {
      if (typeof value === "bigint") return value + BigInt(by);
      return typeof value === "number" ? value + Number(by) : value;
    };
    // The sum is kept, because the server's change set may come before its answer does, and must not be added to.
    /** @type {any} */
    let sum;
    const change = (/** @type {any} */ object) => ({ ...object, [property]: sum ??= add(object[property]) });
    this.#add({ increment: { class: name, key, property, by } }, { kind: "update", class: name, key: target.$meta?.key ?? target.key, change });
    return this;
  }

  /** @param {any} target @param {{force?: boolean}} options @returns {this} */
  delete(target, { force } = {}) {
    const { class: name, key, tag } = this.#of(target);
    // Deletions have no condition of their own, so an assertion of the state goes before it.
    if (tag && !force) this.#add({ patch: { class: name, key, body: {}, ifMatch: tag } });
    this.#add({ delete: { class: name, key } }, { kind: "delete", class: name, key: target.$meta?.key ?? target.key });
    return this;
  }

  /**
   * Operations on the elements of a list, set or dictionary: `elements("list", dog, "toys", { add: "ball" })`.
   *
   * @param {"list" | "set" | "dictionary"} kind
   * @param {any} target
   * @param {string} property
   * @param {...Record<string, any>} ops
   * @returns {this}
   */
  elements(kind, target, property, ...ops) {
    const { class: name, key } = this.#of(target);
    this.#add({ [kind]: { class: name, key, property, ops: ops.map((op) => this.#codec.wire(op, this.#codec.property(name, property))) } });
    return this;
  }
}

function randomUUID() {
  return uuidOf(randomBytes().map((byte, at) => at === 6 ? (byte & 15) | 64 : at === 8 ? (byte & 63) | 128 : byte));
}

function randomObjectId() { return Math.floor(Date.now() / 1000).toString(16).padStart(8, "0") + randomKey().slice(0, 16); }

// MARK: Realms and connections

/** A realm of a server. */
export class Realm {
  #base;
  /** @type {Promise<Codec> | null} */ #loading = null;
  /** @type {Codec | null} */ #codec = null;
  /** @type {Feed | null} */ #feed = null;
  /** @type {string | null} the life of the file, as the server named it last */ #epoch = null;
  /** @type {{id: string, tail: Promise<any>} | null} */ #transaction;

  /** @internal @param {any} transport @param {string} name @param {any} [transaction] @param {any} [codec] */
  constructor(transport, name, transaction, codec) {
    /** @internal @type {Transport} */ this.transport = transport;
    this.name = name;
    this.#base = `/v1/realms/${segment(name)}/`.replace("%40default", "@default");
    this.#transaction = transaction ?? null;
    this.#codec = codec ?? null;
  }

  /** @internal @param {string} path */
  path(path) { return this.#base + path; }

  /** @internal @param {string} method @param {string} path @param {any} [ask] @returns {Promise<{body: any, headers: Headers, status: number}>} */
  async request(method, path, ask = {}) {
    if (this.#transaction) return this.#inside(this.#transaction, method, path, ask);
    const before = this.#epoch;
    const isKnown = async () => before !== null && await this.#readEpoch() === before;
    const answer = await this.transport.request(method, this.path(path), ask, isKnown);
    this.#note(answer.headers);
    return answer;
  }

  /**
   * One after the other, as a transaction demands it.
   *
   * @param {{id: string, tail: Promise<any>}} transaction
   * @param {string} method
   * @param {string} path
   * @param {Ask} ask
   */
  #inside(transaction, method, path, ask) {
    const headers = { ...ask.headers, "Realm-Transaction": transaction.id };
    const send = () => this.transport.request(method, this.path(path), { ...ask, once: true, headers });
    const answer = transaction.tail.then(send);
    transaction.tail = answer.catch(() => {});
    return answer;
  }

  /** @param {Headers} headers */
  #note(headers) { this.#epoch = headers.get("Realm-Version")?.split(".")[0] ?? this.#epoch; }

  async #readEpoch() {
    this.#note((await this.transport.request("GET", this.path("").slice(0, -1), { isRead: true })).headers);
    return this.#epoch;
  }

  /** @internal @param {boolean} [anew] @returns {Promise<any>} */
  async loadCodec(anew = false) {
    if (this.#codec && !anew) return this.#codec;
    this.#loading ??= this.transport.request("GET", this.path("schema"), { isRead: true }).then(({ body, headers }) => {
      this.#note(headers);
      return this.#codec = new Codec(body);
    }).finally(() => { this.#loading = null; });
    return this.#loading;
  }

  /** @internal */
  forgetCodec() { this.#codec = null; }

  /** @internal @param {any} definition @returns {any} */
  follow(definition) {
    if (this.#transaction) throw new Error("what a transaction reads does not stay current: take the realm outside of it");
    this.#feed ??= new Feed(this);
    const live = new Live(this.#feed, { ...definition });
    if (this.transport.closed) live.end("closed", null); else this.#feed.add(live);
    return live.list;
  }

  /** @template [T=any] @param {string} className @returns {Objects<T>} */
  objects(className) { return new Objects(this, { class: className }); }
  /** @template [T=any] @param {string | Link} className @param {any} [key] @returns {ObjectReference<T>} */
  object(className, key) {
    if (className instanceof Link) return new ObjectReference(this, className.class, className);
    return new ObjectReference(this, className, key);
  }

  /** @returns {LiveList<never>} */
  live() { return this.follow({}); }

  /** @param {Cancel} options @returns {Promise<any>} */
  async schema({ signal } = {}) { return (await this.request("GET", "schema", { signal, isRead: true })).body; }

  /**
   * Writes several things at once, or none of them. Live lists show it before the server answers, and take it back if it refuses:
   *
   *     await realm.write((write) => write.update(dog, { age: 4 }).increment(owner, "walks", 1));
   *
   * @param {(write: Batch) => any} body @param {Cancel & {optimistic?: boolean}} options
   * @returns {Promise<{version: string, results: any[]}>}
   */
  async write(body, { optimistic = true, signal } = {}) {
    const codec = this.#codec ?? await this.loadCodec();
    const batch = new Batch(codec);
    const made = body(batch);
    if (typeof made?.then === "function") await made;
    const effects = /** @type {Effect[]} */ (batch.effects.filter(Boolean));
    const shown = optimistic && this.#feed && effects.length ? this.#feed.show(effects) : null;
    try {
      const headers = shown ? { Prefer: "return=representation" } : {};
      const { body: answer } = await this.request("POST", "batch", { body: { ops: batch.ops }, headers, signal });
      batch.effects.forEach((effect, at) => { if (effect) settle(codec, effect, answer.results[at]); });
      shown?.confirm(answer.version);
      return { version: answer.version, results: answer.results };
    } catch (error) {
      shown?.undo();
      if (error instanceof Problem && error.current) error.current = codec.object(error.current);
      throw error;
    }
  }

  /**
   * A transaction that reads what it wrote and keeps all other writers waiting: it is committed when the function is done, and
   * rolled back when it throws. What the function gets is the realm inside of the transaction.
   *
   * @template R
   * @param {(realm: Realm) => R | Promise<R>} body @param {Cancel & {wait?: string, idle?: string, lifetime?: string}} options
   * @returns {Promise<R>}
   */
  async transaction(body, { signal, ...options } = {}) {
    const codec = await this.loadCodec();
    const { body: { id } } = await this.request("POST", "transactions", { body: options, signal });
    const inside = new Realm(this.transport, this.name, { id, tail: Promise.resolve() }, codec);
    const path = this.path(`transactions/${segment(id)}`);
    try {
      const result = await body(inside);
      await this.transport.request("POST", `${path}/commit`, { once: true, signal });
      return result;
    } catch (error) {
      await this.transport.request("DELETE", path, { once: true }).catch(() => {});
      throw error;
    }
  }
}

/** A server. */
export class Connection {
  #transport;
  /** @type {Map<string, Realm>} */ #realms = new Map();
  /** @param {string} address @param {Options} options */
  constructor(address, options) { this.#transport = new Transport(address, options); }

  /** @param {string} [name] without it the default realm of the server */
  realm(name = "@default") {
    const realm = this.#realms.get(name) ?? new Realm(this.#transport, name);
    this.#realms.set(name, realm);
    return realm;
  }

  /** @param {Cancel} options @returns {Promise<any[]>} */
  async realms({ signal } = {}) { return (await this.#transport.request("GET", "/v1/realms", { signal, isRead: true })).body.items; }

  get status() { return { open: this.#transport.holders.size, isPolling: Date.now() < this.#transport.pollUntil }; }

  close() { this.#transport.close(); }
}

/**
 * Names a server; nothing is sent yet.
 *
 * @param {string} [address] such as `http://127.0.0.1:8080`; without it the server of the page
 * @param {Options} [options]
 */
export const connect = (address = "/", options = {}) => new Connection(address, options);
