// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { onChange } from "../../core/feed.js";
import { formatCount, visible } from "../../core/format.js";
import { setQuery } from "../../core/router.js";
import { isEmbedded } from "../../core/schema.js";
import { resource } from "../../core/signals.js";
import { loaded } from "../../core/ui.js";
import { plainText } from "../../core/values.js";
import { ask, selectionOf } from "./ask.js";
import { literal, narrowed, resolve, wordFor } from "./words.js";

/**
 * Groups of the result by the values of a property, as bars; choosing one adds its condition.
 *
 * @param {import("./words.js").Subject} subject @param {() => URLSearchParams} query
 */
export function groupPanel({ realm, schema, type }, query) {
  /** @param {import("./words.js").Class | undefined} of */
  const single = (of) => of?.properties.filter((one) => !one.collection && wordFor(one.name)) ?? [];
  const own = single(type);
  const linked = own.filter((one) => one.type === "object").flatMap((one) => single(resolve(schema, type, wordFor(one.name) ?? "").type).map((inner) => `${wordFor(one.name)}.${wordFor(inner.name)}`));
  const measures = own.filter((one) => /^(int|float|double|decimal128)$/.test(one.type)).flatMap((one) => ["sum", "avg", "min", "max"].map((op) => `${op}:${wordFor(one.name)}`));
  const path = () => query().get("group") ?? "";
  const measure = () => query().get("measure") || "count";
  let [known, shown] = ["", /** @type {any} */ (null)];
  const groups = resource(async (abort) => {
    const { where, args } = selectionOf(query());
    const next = await ask("aggregate", realm, type.name, { where, args, groupBy: [path()], ops: [...new Set(["count", measure()])], sort: `-${measure()}`, limit: "100", count: "exact" }, { abort });
    // The same groups stay as they are, with the focus that one may have.
    const text = JSON.stringify([path(), measure(), next.groups, next.count]);
    if (text !== known) [known, shown] = [text, next];
    return shown;
  });
  onChange(realm, null, groups.reload, 1000);
  /** @param {string} label @param {string} name @param {(string | null)[]} options @param {() => string} chosen */
  const select = (label, name, options, chosen) => h("label", null, h("small", null, label), h("select", { onchange: (event) => setQuery({ [name]: event.target.value }) },
    options.map((one) => h("option", { value: one, selected: () => chosen() === one }, visible(one?.replace(":", " of ") ?? "")))));
  return h("aside.groups", { "aria-label": "Groups" },
    h("div.bar", null, select("Group by", "group", [...own.filter((one) => !isEmbedded(schema, one)).map((one) => wordFor(one.name)), ...linked], path), select("Measure", "measure", ["count", ...measures], measure)),
    loaded(groups, (all) => {
      const { property } = resolve(schema, type, path());
      const sizes = all.groups.map((/** @type {any} */ one) => Math.abs(Number(plainText(one[measure()]))) || 0);
      const most = Math.max(...sizes, 1e-300);
      return [h("small", null, `${formatCount(plainText(all.count))} groups${all.groups.length === 100 ? ", the first 100" : ""}`), h("ul", null, all.groups.map((/** @type {any} */ group, /** @type {number} */ i) => {
        const [key] = Object.values(group.key);
        return h("li", null, h("button.quiet", {
          type: "button", title: "Show only these",
          onclick: () => { if (property) setQuery({ where: narrowed(query().get("where") ?? "", `${path()} == ${literal(key, property, schema)}`) }); },
        }, h("span", { dir: "auto", class: key === null ? "null" : "" }, key === null ? "null" : visible(plainText(key).slice(0, 200)) || "empty"),
        h("span", null, measure() === "count" ? formatCount(plainText(group.count)) : plainText(group[measure()]) || "–"), h("i.of", { style: { width: `${(100 * sizes[i]) / most}%` } })));
      }))];
    }));
}
