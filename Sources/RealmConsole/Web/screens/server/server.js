// SPDX-License-Identifier: Apache-2.0
import { call, path, send } from "../../core/api.js";
import { each, h } from "../../core/dom.js";
import { formatLocalTime, visible } from "../../core/format.js";
import { onCleanup, resource, signal } from "../../core/signals.js";
import { button, confirm, loaded, shownProblem, table } from "../../core/ui.js";
import { chartNodes, KEPT } from "./charts.js";
import { keysNode } from "./keys.js";
import { sampled } from "./metrics.js";

/** @param {string} target @param {any} [params] */
const ask = (target, params) => call("GET", target, { params, quiet: true });

/** @param {any} facts */
const factsNode = (facts) => h("dl.facts", null, Object.entries(facts).map(([name, value]) => [h("dt", null, name), h("dd", null, visible(String(value).replaceAll(",", ", ") || "none"))]));

export function server() {
  const [samples, leases, problem, log, nodes] = [signal(/** @type {any[]} */ ([])), signal(/** @type {any[]} */ ([])), signal(null), signal(/** @type {string[]} */ ([])), signal(/** @type {any[]} */ ([]))];
  const config = resource(() => ask("/admin/config"));
  let [isOver, hasLog, since] = [false, true, undefined];
  onCleanup(() => { isOver = true; });
  const poll = async () => {
    try {
      if (!document.hidden) {
        samples.value = [...samples.peek(), sampled(await (await send("GET", "/metrics", { headers: { Accept: "text/plain" }, quiet: true })).text())].slice(-KEPT - 1);
        leases.value = (await ask("/admin/leases")).items;
        if (config.data.peek()?.node) nodes.value = (await ask("/v1/cluster")).nodes;
        if (hasLog) {
          const { items, next } = await ask("/admin/log", { since }).catch((error) => (hasLog = error.problem?.status !== 404, { items: [], next: since }));
          since = next;
          // Requests of this page would fill the log.
          if (items.length) log.value = [...log.peek(), .../** @type {any[]} */ (items).map(({ line }) => line).filter((line) => !/\/(metrics|admin\/l(eases|og))\b/.test(line))].slice(-200);
        }
      }
      problem.value = null;
    } catch (error) {
      problem.value = error;
    }
    if (!isOver) setTimeout(poll, 2000);
  };
  void poll();
  const rows = h("tbody");
  each(rows, () => leases.value, ({ id }) => id, ({ id, kind, realm, principal, since }) => h("tr", null, [kind, realm, principal ?? "–", formatLocalTime(since)].map((one) => h("td", null, visible(one))),
    h("td", null, button("End…", async () => await confirm(`End the ${kind}`, "Its holder gets a message.", "End") && call("DELETE", path("admin", "leases", id), { quiet: true })))));
  const nodeRows = h("tbody", null, () => nodes.value.map(({ id, state, shards, silentMilliseconds, url }) => h("tr", null, [id, state, shards, `${(silentMilliseconds / 1000).toFixed(1)} s ago`, url].map((one) => h("td", null, visible(String(one)))))));
  return h("div.page", null, h("h1", null, "Server"), shownProblem(problem), h("div.cards", null, () => chartNodes(samples.value)),
    h("div", { hidden: () => !nodes.value.length }, h("h2", null, "Cluster"), table(["Node", "State", "Shards", "Heard of", "URL"], nodeRows)),
    h("h2", null, "Leases"), h("div", { hidden: () => !leases.value.length }, table(["Kind", "Realm", "Holder", "Since", ""], rows)), () => !leases.value.length && !problem.value && h("p.soft", null, "There is no transaction, snapshot or stream."), h("h2", null, "Keys"), keysNode(),
    h("div", { hidden: () => !log.value.length }, h("h2", null, "Log, newest first"), h("pre", { tabindex: 0 }, () => log.value.map((line) => `${visible(line)}\n`).reverse())),
    h("h2", null, "Configuration in force"), loaded(config, ({ limits, ...others }) => [factsNode(others), h("details", null, h("summary", null, "Limits"), factsNode(limits))]));
}
