// SPDX-License-Identifier: Apache-2.0
/** @typedef {{time: number, sums: Record<string, number>, buckets: Map<number, number>}} Sample The values of `/metrics`, over all labels. */

/** @param {string} text In the text format of Prometheus. @returns {Sample} */
export function sampled(text) {
  const [sums, buckets] = [/** @type {Record<string, number>} */ ({}), new Map()];
  for (const [, name, labels, value] of text.matchAll(/^(?:realm_rest_)?(\w+)(\{.*\})? (\S+)$/gm)) {
    // The requests of this page, and streams, which last, would hide those of others.
    if (/route="(\/metrics|\/admin|[^"]*\/changes")/.test(labels)) continue;
    sums[name] = (sums[name] ?? 0) + Number(value);
    const bound = name === "request_seconds_bucket" && Number(/le="(.*?)"/.exec(labels)?.[1].replace("+Inf", "Infinity"));
    if (bound) buckets.set(bound, (buckets.get(bound) ?? 0) + Number(value));
  }
  return { time: performance.now() / 1000, sums, buckets };
}

/** @param {string} name Of a counter. @returns {(all: Sample[], at: number) => number | null} How much it grows in a second. */
export const rate = (name) => (all, at) => {
  const [from, to] = [all[at - 1], all[at]];
  const grown = (to.sums[name] ?? 0) - (from.sums[name] ?? 0);
  // A restarted server counts from 0.
  return (grown < 0 ? to.sums[name] ?? 0 : grown) / (to.time - from.time);
};

/** @param {number} share @returns {(all: Sample[], at: number) => number | null} In how many seconds so many of the last requests were answered; within a bucket they are taken as spread evenly. */
export const latency = (share) => (all, at) => {
  const from = all[Math.max(0, at - 5)].buckets;
  const counts = [...all[at].buckets].sort(([a], [b]) => a - b).map(([bound, count]) => [bound, count - (from.get(bound) ?? 0)]);
  const wanted = share * (counts.at(-1)?.[1] ?? 0);
  const index = counts.findIndex(([, count]) => wanted > 0 && count >= wanted);
  if (index < 0) return null;
  const [[low, fewer], [high, more]] = [counts[index - 1] ?? [0, 0], counts[index]];
  return high === Infinity ? low : low + (high - low) * (wanted - fewer) / (more - fewer);
};
