// SPDX-License-Identifier: Apache-2.0
/**
 * State that pages follow: a signal holds a value, an effect runs again when a signal that it read has changed.
 * Effects run in a microtask, so several changes in a row cause one run.
 *
 * @template T
 * @typedef {{value: T, peek(): T}} Signal
 */

/** @typedef {{run(): void, sources: Set<Set<Observer>>, cleanups: (() => void)[], ended: boolean}} Observer */

/** @type {Observer | null} */
let reader = null;
/** @type {(() => void)[] | null} */
let owner = null;
/** @type {Set<Observer>} */
const waiting = new Set();

/**
 * @template T
 * @param {T} value
 * @returns {Signal<[T] extends [null] ? any : T>} One that begins with null may hold anything.
 */
export function signal(value) {
  /** @type {Set<Observer>} */
  const observers = new Set();
  return {
    get value() {
      if (reader) {
        observers.add(reader);
        reader.sources.add(observers);
      }
      return value;
    },
    set value(next) {
      if (Object.is(next, value)) return;
      value = next;
      observers.forEach(schedule);
    },
    peek: () => value,
  };
}

/** @param {Observer} observer */
function schedule(observer) {
  if (waiting.size === 0) queueMicrotask(flush);
  waiting.add(observer);
}

function flush() {
  for (const observer of waiting) {
    waiting.delete(observer);
    if (!observer.ended) observer.run();
  }
}

/**
 * Runs a function now, and again whenever a signal that it read changes, until its owner ends.
 *
 * @param {() => void} body
 * @returns {() => void} Ends it.
 */
export function effect(body) {
  /** @type {Observer} */
  const observer = {
    sources: new Set(), cleanups: [], ended: false,
    run() {
      reset(observer);
      const [reading, owning] = [reader, owner];
      [reader, owner] = [observer, observer.cleanups];
      try {
        body();
      } finally {
        [reader, owner] = [reading, owning];
      }
    },
  };
  const end = () => {
    observer.ended = true;
    reset(observer);
  };
  onCleanup(end);
  observer.run();
  return end;
}

/** @param {Observer} observer */
function reset(observer) {
  observer.sources.forEach((observers) => observers.delete(observer));
  observer.sources.clear();
  observer.cleanups.splice(0).forEach((cleanup) => cleanup());
}

/**
 * Registers what is to be done when the effect or the scope around ends or runs again.
 *
 * @param {() => void} cleanup
 */
export function onCleanup(cleanup) {
  owner?.push(cleanup);
}

/**
 * Runs a function whose effects live until the returned function is called.
 *
 * @template T
 * @param {() => T} body
 * @returns {[T, () => void]}
 */
export function scope(body) {
  /** @type {(() => void)[]} */
  const cleanups = [];
  const [reading, owning] = [reader, owner];
  [reader, owner] = [null, cleanups];
  try {
    return [body(), () => cleanups.splice(0).forEach((cleanup) => cleanup())];
  } finally {
    [reader, owner] = [reading, owning];
  }
}

/**
 * Reads signals without following them.
 *
 * @template T
 * @param {() => T} body
 * @returns {T}
 */
export function untracked(body) {
  const reading = reader;
  reader = null;
  try {
    return body();
  } finally {
    reader = reading;
  }
}

/**
 * A signal of the newest outcome of a function that reads signals and fetches. While the server cannot be reached it asks again.
 *
 * @template T
 * @param {(abort: AbortSignal) => Promise<T>} load Reads the signals that it follows before its first `await`.
 * @returns {{data: Signal<T | undefined>, error: Signal<any>, loading: Signal<boolean>, reload(): void}}
 */
export function resource(load) {
  const [data, error, loading, turn] = [signal(/** @type {T | undefined} */ (undefined)), signal(null), signal(true), signal(0)];
  const reload = () => { turn.value = turn.peek() + 1; };
  effect(() => {
    turn.value;
    const abort = new AbortController();
    /** @type {any} */
    let timer;
    onCleanup(() => { abort.abort(); clearTimeout(timer); });
    loading.value = true;
    load(abort.signal).then(
      (value) => { if (!abort.signal.aborted) [data.value, error.value, loading.value] = [value, null, false]; },
      (problem) => {
        if (abort.signal.aborted) return;
        [error.value, loading.value] = [problem, false];
        if (problem.problem?.code === "unreachable") timer = setTimeout(reload, 2000);
      });
  });
  return { data, error, loading, reload };
}
