// SPDX-License-Identifier: Apache-2.0

/** What an object is besides its properties. */
export interface Meta {
  readonly class: string;
  readonly key: string;
  /** Stands for the state of the object: writes to an object that was read have it as their condition. */
  readonly etag?: string;
  /** Only `false`: the key is good for this life of the file. */
  readonly stableKey?: boolean;
  /** How many elements of its collections this client may not see. */
  readonly hidden?: Record<string, bigint>;
}

/** An object as it is read. */
export type Row<T> = T & { readonly $meta: Meta };

/** A value as it may be given: numbers for integers, dates for timestamps, objects for links to them. */
export type InputValue<V> =
  | V
  | (bigint extends V ? number : never)
  | (Timestamp extends V ? Date : never)
  | (Link extends V ? { readonly $meta: Meta } : never)
  | (V extends readonly (infer E)[] ? readonly InputValue<E>[] | ReadonlySet<InputValue<E>> : never);

/** The members of an object that are written. */
export type Input<T> = { readonly [K in keyof T]?: InputValue<T[K]> };

/** An operation of a JSON Patch. */
export interface PatchOperation {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: unknown;
}

export interface Cancel {
  signal?: AbortSignal;
}

/** An object that was read, a link to it, or the value of its primary key. */
export type Key = string | number | bigint | null | Link | { readonly $meta: Meta };

// Values

/** Reads JSON without losing digits: a number without fraction and exponent becomes a BigInt, every other one a number. */
export function parse(text: string): any;
/** Writes JSON: a BigInt as an integer, NaN and infinities as texts. */
export function stringify(value: unknown): string;

/** A link to an object. */
export class Link {
  constructor(className: string, key: string);
  class: string;
  key: string;
  toJSON(): { $link: { class: string; key: string } };
}

/** A point in time with all its digits: a Date, which has milliseconds, that remembers the nanoseconds and writes them back. */
export class Timestamp extends Date {
  /** A text of RFC 3339, or an instant outside of the years that it can write. */
  constructor(exact: string | { seconds: string | bigint; nanoseconds: number | bigint });
  /** From 0 to 999,999,999: what the date has beyond the second. */
  readonly nanoseconds: number;
  /** The exact value, unless the date was set to another since. */
  toJSON(): any;
}

/** A value inside of Mixed that JavaScript has no type for. */
export class Typed {
  constructor(type: "decimal128" | "float" | "objectId" | "uuid", text: string);
  type: string;
  text: string;
  toString(): string;
  valueOf(): string | number;
  toJSON(): Record<string, string>;
}

/** What the server refused, or why it was not reached (then the status is 0). */
export class Problem extends Error {
  constructor(document: { code: string; status?: number | bigint; [member: string]: unknown }, options?: { cause?: unknown; retryAfter?: number });
  /** One of the server's codes, or `connection_lost`, `outcome_unknown`, `closed`. */
  code: string;
  status: number;
  title: string;
  detail: string;
  requestId: string;
  /** A JSON Pointer into what was sent. */
  pointer?: string;
  parameter?: string;
  /** Where in the query. */
  position?: number;
  /** Which operation of a batch. */
  op?: number;
  /** The limit that was exceeded. */
  limit?: number;
  /** The object as it is now, after a condition failed. */
  current?: any;
  retryable?: boolean;
  /** Seconds. */
  retryAfter?: number;
  [member: string]: unknown;
}

// Live lists

/**
 * What happened to a list: remove `deletions` from the highest index down, insert `insertions` from the lowest up, then replace
 * `modifications` at their `index`. The list is in the new state already when it is told. `moves` explains deletions and insertions.
 */
export interface Change<T = any> {
  /** By index in the old list. */
  deletions: { index: number; value: T }[];
  /** By index in the new list. */
  insertions: { index: number; value: T }[];
  modifications: { oldIndex: number; index: number; value: T; oldValue: T; properties: string[] }[];
  moves: { from: number; to: number }[];
  version: string;
  /** The first contents. */
  initial: boolean;
  /** A local write was shown or taken back. */
  optimistic: boolean;
  /** The object, or the owner of the collection, is gone. */
  deleted: boolean;
  /** Why the contents were read anew. `overflow` also when the reader of `changes()` was too slow: read the list. */
  reset: string | null;
  /** Of a whole realm: what was written. */
  classes?: string[];
  /** Of a whole realm: its classes or their properties are others now. */
  schema?: boolean;
  /** Of one object: what was written. */
  properties?: { name: string; oldValue?: any; newValue?: any; collection?: boolean; linkingObjects?: boolean }[];
}

/**
 * An array that stays current. It belongs to the feed: do not change it, and write to the objects instead. Array methods such as
 * `map` give plain arrays. A live object is a list of at most one, its `value`; a live dictionary has pairs of key and value.
 */
export class LiveList<T = any> extends Array<T> {
  private constructor();
  /** Fulfilled with this list when it has its first contents; rejected if it cannot have any. */
  readonly ready: Promise<LiveList<T>>;
  /** `connecting` at first, `live`, `lost` while a connection is sought, `failed` with an `error`, `closed`. */
  readonly state: "connecting" | "live" | "lost" | "failed" | "closed";
  /** Why the list does not stay current any more. */
  readonly error: Problem | null;
  /** The version of the contents. */
  readonly version: string | null;
  /** The first element, or null: what a live object is. */
  readonly value: T | null;
  /** Calls a function after each change, until the function is called that it gives; another one when the list fails, or with null when it is closed. */
  subscribe(body: (change: Change<T>, list: LiveList<T>) => void, ended?: (problem: Problem | null) => void): () => void;
  /** Calls a function with each new `state`, until the function is called that it gives. */
  watch(body: (state: LiveList<T>["state"], list: LiveList<T>) => void): () => void;
  /** The changes from now on. A reader that is further behind than the limit (256) gets one with the reset `overflow` instead of them. */
  changes(options?: Cancel & { limit?: number }): AsyncIterableIterator<Change<T>>;
  /** Begins again after a failure, such as with another credential. */
  retry(): void;
  /** Ends it; the contents stay as they are. */
  close(): void;
}

// Reading

/** Objects of a class, or elements of a collection, that match. Each method gives another query and leaves this one as it is. */
export class Query<T = any> {
  protected constructor();
  /** A condition in the query language, with `$0`, `$1`… for the arguments; with a condition before it both count. */
  where(text: string, ...args: unknown[]): Query<T>;
  /** Key paths, descending with a minus sign: `"-age"`. */
  sort(...paths: string[]): Query<T>;
  distinct(...paths: string[]): Query<T>;
  /** The first of the result. */
  limit(count: number): Query<T>;
  /** Only these properties; a dotted path expands the link it crosses. */
  fields(...paths: string[]): Query<T>;
  /** Objects instead of links. */
  expand(...paths: string[]): Query<T>;
  /** Which changes of an object count for a live list. */
  keyPaths(...paths: string[]): Query<T>;
  /** Further members of the definition of a live list. */
  observing(members: { shallow?: boolean; deep?: "embedded"; include?: "objects" | "keys" | "none" }): Query<T>;
  /** A list that stays current. Close it when nobody needs it any more. */
  live(): LiveList<T>;
  /** One page; its `next` is `after` of the following one. */
  page(options?: Cancel & { limit?: number; after?: string | null; offset?: number; count?: boolean }): Promise<{ items: T[]; next: string | null; count: number | undefined; version: string }>;
  /** All of them, page by page. */
  all(options?: Cancel & { pageSize?: number }): AsyncGenerator<T, void, undefined>;
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
  toArray(options?: Cancel): Promise<T[]>;
  first(options?: Cancel): Promise<T | null>;
  count(options?: Cancel): Promise<number>;
  /** Such as `aggregate("count", "avg:age")`. Sums of integers are BigInts, those of decimals texts. */
  aggregate(...ops: string[]): Promise<Record<string, any>>;
  /** Aggregates of the groups with equal values of some key paths: `[{ key: { city: "Oslo" }, count: 3 }]`. */
  groupBy(paths: string | string[], ...ops: string[]): Promise<({ key: Record<string, any> } & Record<string, any>)[]>;
  /** The result in sections by a key path or a function of it, such as `name:first`. */
  sections(by: string, options?: Cancel & { limit?: number; after?: string | null }): Promise<{ sections: { key: any; items: T[] }[]; next: string | null; version: string }>;
  /** Changes all that match at once, or none if they are more than `maxAffected`. */
  updateAll(patch: Input<Omit<T, "$meta">>, options?: Cancel & { maxAffected?: number }): Promise<{ matched: number; version: string }>;
  /** Deletes all that match, or none if they are more than `maxAffected`. */
  deleteAll(options?: Cancel & { maxAffected?: number }): Promise<{ matched: number; version: string }>;
}

/** All objects of a class. */
export class Objects<T = any> extends Query<Row<T>> {
  object(key: Key): ObjectReference<T>;
  get(key: Key, options?: Cancel & { fields?: string[]; expand?: string[] }): Promise<Row<T>>;
  /** A new object. With `upsert` one that exists takes the members that are given. */
  create(body: Input<T>, options?: Cancel & { upsert?: "modified" | "all" }): Promise<Row<T>>;
  /** All of them or none. */
  createAll(bodies: readonly Input<T>[], options?: Cancel & { upsert?: "modified" | "all" }): Promise<{ created: number; keys: string[]; version: string }>;
  /** Creates or replaces the whole object. */
  put(key: Key, body: Input<T>, options?: Cancel & { force?: boolean }): Promise<Row<T>>;
  /** With an object that was read, its state is the condition unless it is forced. An array is a JSON Patch. */
  update(key: Key, patch: Input<T> | readonly PatchOperation[], options?: Cancel & { force?: boolean }): Promise<Row<T>>;
  delete(key: Key, options?: Cancel & { force?: boolean }): Promise<void>;
}

/** An object by its key, whether it exists or not. */
export class ObjectReference<T = any> {
  private constructor();
  readonly class: string;
  readonly key: Key;
  get(options?: Cancel & { fields?: string[]; expand?: string[] }): Promise<Row<T>>;
  /** A list with the object, its `value`, that stays current. */
  live(): LiveList<Row<T>>;
  /** A list, set, dictionary or embedded object of it, or objects that link to it: `property("@links.Person.dogs")`. */
  property<E = any>(name: (keyof T & string) | (string & {})): Query<E>;
  put(body: Input<T>, options?: Cancel & { force?: boolean }): Promise<Row<T>>;
  update(patch: Input<T> | readonly PatchOperation[], options?: Cancel & { force?: boolean }): Promise<Row<T>>;
  delete(options?: Cancel & { force?: boolean }): Promise<void>;
}

// Writing

/** Collects the operations of one write, which is done as a whole or not at all. */
export class Batch {
  private constructor();
  /** Any operation as the server takes it: `op({ assert: { class: "Account", key: "1", where: "balance >= 50" } })`. */
  op(operation: Record<string, any>): this;
  /** A new object; gives a link to it. It is shown at once in live lists of the whole class, and in those that are named. */
  create<T = any>(className: string, body: Input<T>, options?: { upsert?: "modified" | "all"; lists?: LiveList<any>[] }): Link;
  /** With an object that was read, its state is the condition unless it is forced. */
  update<T = any>(target: Link | Row<T>, patch: Input<Omit<T, "$meta">>, options?: { force?: boolean }): this;
  increment(target: Link | { readonly $meta: Meta }, property: string, by: number | bigint | string): this;
  delete(target: Link | { readonly $meta: Meta }, options?: { force?: boolean }): this;
  /** Operations on the elements of a collection: `elements("list", dog, "toys", { add: "ball" })`. */
  elements(kind: "list" | "set" | "dictionary", target: Link | { readonly $meta: Meta }, property: string, ...ops: Record<string, any>[]): this;
}

/** A realm of a server. */
export class Realm {
  private constructor();
  readonly name: string;
  /** All objects of a class. */
  objects<T = any>(className: string): Objects<T>;
  object<T = any>(className: string, key: Key): ObjectReference<T>;
  object<T = any>(link: Link): ObjectReference<T>;
  /** A list without elements whose changes name the classes that were written, for those who read their rows by other means. */
  live(): LiveList<never>;
  schema(options?: Cancel): Promise<any>;
  /** Writes several things at once, or none of them. Live lists show it before the server answers, and take it back if it refuses. */
  write(body: (write: Batch) => unknown, options?: Cancel & { optimistic?: boolean }): Promise<{ version: string; results: any[] }>;
  /**
   * A transaction that reads what it wrote and keeps all other writers waiting: committed when the function is done, rolled back when
   * it throws. What the function gets is the realm inside of the transaction.
   */
  transaction<R>(body: (realm: Realm) => R | Promise<R>, options?: Cancel & { wait?: string; idle?: string; lifetime?: string }): Promise<R>;
}

// Connections

export interface Options {
  /** An API key or token, or a function that gives one; it is asked again after a refusal. */
  key?: string | ((refused?: Problem) => string | Promise<string>);
  /** Sent with each request, such as `X-CSRF-Token` of a session. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** `auto` reads streams, and polls where they are blocked. */
  transport?: "auto" | "stream" | "poll";
  /** Queries on one stream, at most the server's `registration-names`: 50. */
  namesPerStream?: number;
  /** Connections that are kept open for changes: 4 in browsers, which allow six, else 16. Queries beyond them are polled in turn. */
  maxStreams?: number;
  /** The pause between two polls of those: 1. */
  pollSeconds?: number;
  /** The longest pause before the server is sought again; pauses begin with a fraction of a second and grow: 30. */
  maxPauseSeconds?: number;
  /** A stream without a byte for so long is given up; more than two heartbeats of the server: 40. */
  silentSeconds?: number;
  /** A stream that has no byte then is blocked by something in between: 8. */
  firstByteSeconds?: number;
  /** Of one request: 60. */
  timeoutSeconds?: number;
  /** Of a request that can be repeated safely: 5. */
  retries?: number;
  fetch?: typeof globalThis.fetch;
}

/** A server. */
export class Connection {
  constructor(address: string, options: Options);
  /** Without a name the default realm of the server. */
  realm(name?: string): Realm;
  /** The documents of the realms that may be read. */
  realms(options?: Cancel): Promise<any[]>;
  /** How many connections are kept open for changes, and whether they are polls because streams are blocked. */
  readonly status: { open: number; isPolling: boolean };
  /** Ends everything: requests with an error, live lists quietly. */
  close(): void;
}

/** Names a server, such as `http://127.0.0.1:8080`, without an address that of the page. Nothing is sent yet. */
export function connect(address?: string, options?: Options): Connection;

// Parts for other uses

/** Takes the text of an event stream in pieces, however they are cut, and gives the events. */
export class EventParser {
  /** An event without data is given too if it has an id: a heartbeat that tells the position. */
  push(text: string): { event: string; data: string | null; id: string | null }[];
}

/** Applies a change set to an array in place. */
export function apply<T>(list: T[], deletions: { index: number }[], insertions: { index: number }[], modifications: { index: number }[], element: (row: any) => T): void;

/** The difference between two lists of rows. Rows are the same by their key, the n-th of equal ones with the n-th. */
export function difference<R>(before: R[], after: R[], keyOf: (row: R) => any, isSame: (a: R, b: R) => boolean): {
  deletions: number[];
  insertions: number[];
  modifications: { oldIndex: number; index: number }[];
  moves: { from: number; to: number }[];
};
