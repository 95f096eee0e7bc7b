// SPDX-License-Identifier: Apache-2.0
import { h, svg } from "../../core/dom.js";
import { formatBytes, formatDuration } from "../../core/format.js";
import { latency, rate } from "./metrics.js";

/** The number of samples in the charts. */
export const KEPT = 90;
const { format } = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** @typedef {(all: import("./metrics.js").Sample[], at: number) => number | null} Value @param {string} name @returns {Value} */
const gauge = (name) => (all, at) => all[at].sums[name] ?? null;

/** @type {[title: string, show: (value: number) => string, lines: Record<string, Value>][]} */
const CHARTS = [
  ["Requests per second", format, { "": rate("requests_total") }],
  ["Latency in 10 s", (value) => formatDuration(value * 1000), { "50 %": latency(0.5), "95 %": latency(0.95), "99 %": latency(0.99) }],
  ["Commits per second", format, { "": rate("commits_total") }],
  ["Streams", format, { "": gauge("streams") }],
  ["Live versions", format, { "": gauge("live_versions") }],
  ["Memory", formatBytes, { "": gauge("process_resident_memory_bytes") }],
];

/** @param {import("./metrics.js").Sample[]} all */
export function chartNodes(all) {
  return CHARTS.map(([title, show, values]) => {
    const lines = Object.entries(values).map(([name, value], index) => {
      const points = all.slice(1).map((_, at) => value(all, at + 1));
      const last = points.at(-1) ?? null;
      return { points, last, colour: `var(--${["accent", "warn", "danger"][index]})`, now: `${name} ${last === null ? "–" : show(last)}` };
    });
    const most = Math.max(...lines.flatMap(({ points }) => points.map(Number)), 0);
    if (title === "Memory" && lines[0].last === null) return null;
    return h("figure.card", null, h("figcaption", null, h("strong", null, title), h("small", null, `highest ${show(most)}`)),
      svg("svg", { viewBox: `0 0 ${KEPT - 1} 60`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}: ${lines.map(({ now }) => now)}` }, lines.map(({ points, colour }) => svg("path", {
        d: points.map((point, at) => (point === null ? "" : `${at && points[at - 1] !== null ? "L" : "M"}${KEPT - points.length + at} ${58 - 56 * point / (most || 1)}h.01`)).join(""), fill: "none", stroke: colour, "vector-effect": "non-scaling-stroke" }))), lines.map(({ now, colour }) => h("span", { style: { color: colour } }, now)));
  });
}
