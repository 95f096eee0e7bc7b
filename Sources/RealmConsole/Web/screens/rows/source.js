// SPDX-License-Identifier: Apache-2.0
import { member } from "../../core/exact.js";
import { feed, onChange } from "../../core/feed.js";
import { effect, onCleanup, signal, untracked } from "../../core/signals.js";
import { plainText } from "../../core/values.js";
import { ask } from "../query/ask.js";
import { shortened } from "./values.js";

/**
 * The rows of a result, of which only a window around what is visible is kept. One request runs at a time, for what is
 * wanted when it starts. After a commit the visible rows are read anew in one request, so they are of one version.
 *
 * @typedef {{key: string, etag: string, of: Query, values: Record<string, any>}} Row
 * @typedef {import("../query/ask.js").Selection & {fields: string[], limit: string}} Query
 */

const [STEP, KEPT, MARGIN] = [100, 600, 20];
/** After an answer that took longer than SLOW ms, a jump must be wanted for REST ms before it is sent: in an order of a million each costs the server seconds. */
const [SLOW, REST] = [300, 150];

/**
 * @param {string} realm
 * @param {import("../../core/schema.js").Class} type
 * @param {string[]} classes Those whose changes show here.
 * @param {() => Query} query Followed.
 * @param {{anchor(): {key: string, index: number} | null, moved(by: number): void, changed(isLive: boolean): void}} view
 *   `anchor` is the row that shall stay where it is; `moved` receives the number of rows by which it was shifted.
 */
export function rowSource(realm, type, classes, query, view) {
  const [total, took, error] = [signal(/** @type {number | null} */ (null)), signal(0), signal(null)];
  const state = { total, took, error, get, need, reload, retry };
  /** @type {Row[]} */
  let rows = [];
  /** @type {string | null} The cursor behind the last of them. */
  let next = null;
  let [start, wanted, isStale, isNew, isBusy, isEnded, lastTook] = [0, [0, 50], true, true, false, false, 0];
  /** @type {{abort: AbortController, range: number[]} | null} */
  let running = null;
  /** @type {Query} */
  let asked;

  effect(() => {
    asked = query();
    untracked(reload);
  });
  onChange(realm, classes, retry, 120);
  const { state: connection } = feed(realm);
  effect(() => { if (connection.value === "live" && error.peek()) untracked(retry); });
  onCleanup(() => {
    isEnded = true;
    running?.abort.abort();
  });

  /** @param {number} index */
  function get(index) {
    return /** @type {Row | undefined} */ (rows[index - start]);
  }

  /** @param {number} first @param {number} end */
  function need(first, end) {
    wanted = [first, end];
    if (running?.range.length && (end <= running.range[0] || first >= running.range[1])) running.abort.abort();
    if (!error.peek()) void pump();
  }

  /** Begins anew, as another query does. */
  function reload() {
    isNew = true;
    running?.abort.abort();
    retry();
  }

  function retry() {
    isStale = true;
    error.value = null;
    void pump();
  }

  async function pump() {
    if (isBusy) return;
    isBusy = true;
    while (!isEnded) {
      const job = nextJob();
      if (!job) break;
      if (job.isJump && lastTook > SLOW && !await isResting()) continue;
      const began = performance.now();
      running = { abort: new AbortController(), range: isStale ? [] : [job.offset, job.offset + job.limit] };
      try {
        await (isStale ? refresh(job, running.abort.signal) : extend(job, running.abort.signal));
        lastTook = performance.now() - began;
      } catch (problem) {
        lastTook = Math.max(lastTook, performance.now() - began);
        if (running.abort.signal.aborted) continue;
        error.value = problem;
        view.changed(false);
        break;
      }
    }
    [isBusy, running] = [false, null];
  }

  /** Whether the same rows are still wanted after a while. */
  async function isResting() {
    const [first] = wanted;
    await new Promise((done) => setTimeout(done, REST));
    return first === wanted[0];
  }

  /** @returns {{offset: number, limit: number, isJump?: boolean} | null} */
  function nextJob() {
    const known = total.peek();
    const [first, end] = [Math.max(0, wanted[0]), known === null ? wanted[1] : Math.min(wanted[1], known)];
    const last = start + rows.length;
    if (isStale) return { offset: Math.max(0, first - MARGIN), limit: Math.min(900, end - first + 2 * MARGIN) };
    if (first >= end || (first >= start && end <= last)) return null;
    if (end < start || first > last) return { offset: Math.max(0, first - MARGIN), limit: STEP, isJump: true };
    return first < start ? { offset: Math.max(0, start - STEP), limit: Math.min(STEP, start) } : { offset: last, limit: STEP };
  }

  /** @param {Record<string, any>} members @param {AbortSignal} abort @param {boolean} [quiet] */
  function request(members, abort, quiet = true) {
    const { limit, ...selection } = asked;
    return ask("objects", realm, type.name, { ...selection, ...members }, { abort, quiet });
  }

  /** @param {{offset: number, limit: number}} job @param {AbortSignal} abort */
  async function refresh({ offset, limit }, abort) {
    const [wasNew, began] = [isNew, performance.now()];
    isStale = isNew = false;
    try {
      let page = await request({ offset, limit, count: "exact" }, abort, !wasNew);
      if (wasNew) took.value = performance.now() - began;
      const anchor = wasNew ? null : view.anchor();
      let by = 0;
      if (anchor) {
        let index = page.items.findIndex((/** @type {any} */ item) => item.$meta.key === anchor.key) + offset;
        if (index < offset) {
          index = Number(plainText((await request({ indexOf: anchor.key, fields: [] }, abort)).index) || anchor.index);
          const moved = Math.max(0, offset + index - anchor.index);
          if (moved !== offset) page = await request({ offset: offset = moved, limit, count: "exact" }, abort);
        }
        by = index - anchor.index;
      }
      [rows, start, next] = [page.items.map(rowOf), offset, page.next];
      total.value = Math.min(Number(plainText(page.count)), Number(asked.limit || Infinity));
      wanted = wanted.map((index) => index + by);
      if (by) view.moved(by);
      view.changed(!wasNew);
    } catch (problem) {
      [isStale, isNew] = [true, isNew || wasNew];
      throw problem;
    }
  }

  /** @param {{offset: number, limit: number}} job @param {AbortSignal} abort */
  async function extend({ offset, limit }, abort) {
    const isNext = next && offset === start + rows.length;
    const answer = await request(isNext ? { after: next, limit } : { offset, limit }, abort);
    const page = answer.items.map(rowOf);
    // Fewer rows than counted: some were deleted in the meantime, and their event is on its way.
    if (!page.length) isStale = true;
    if (offset >= start + rows.length) next = answer.next;
    if (offset === start + rows.length) rows = rows.concat(page);
    else if (offset + page.length === start) [rows, start] = [page.concat(rows), offset];
    else [rows, start, next] = [page, offset, answer.next];
    const [before, behind] = [wanted[0] - KEPT / 2 - start, start + rows.length - wanted[1] - KEPT / 2];
    if (before > 0) [rows, start] = [rows.slice(before), start + before];
    if (behind > 0) [rows.length, next] = [rows.length - behind, null];
    view.changed(false);
  }

  /** @param {any} item @returns {Row} */
  function rowOf(item) {
    return { key: item.$meta.key, etag: item.$meta.etag, of: asked, values: Object.fromEntries(type.properties.map((property) =>
      [property.name, shortened(item[member(property.name)], property)])) };
  }

  return state;
}
