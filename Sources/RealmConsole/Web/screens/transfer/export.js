// SPDX-License-Identifier: Apache-2.0
import { download, inRealm, read, withParams } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { onChange } from "../../core/feed.js";
import { formatCount, visible } from "../../core/format.js";
import { route, setQuery } from "../../core/router.js";
import { may } from "../../core/session.js";
import { effect, resource, signal } from "../../core/signals.js";
import { button, choice, classChoice, emptyNode, field, problemNode } from "../../core/ui.js";
import { receive } from "../../core/work.js";
import { places } from "./places.js";

/** @typedef {import("../../core/schema.js").Class} Class */

/**
 * The formats of the API: the label, the parameters, whether it fits the class (none: the whole realm), and the end of its name if it is
 * a file that takes long to make.
 *
 * @type {Record<string, [label: string, params: Record<string, string> | null, isFit: (type: Class | undefined, all: Class[], realm: string) => boolean, suffix?: string]>}
 */
const FORMATS = {
  ndjson: ["NDJSON, for imports", { format: "ndjson" }, () => true], json: ["JSON", { format: "json" }, () => true],
  csv: ["CSV", { format: "csv" }, Boolean], excel: ["CSV for Excel", { format: "csv", csv: "excel" }, Boolean],
  semicolons: ["CSV for Excel, with semicolons", { format: "csv", csv: "excel-semicolon" }, Boolean],
  xlsx: ["Excel workbook", { format: "xlsx" }, () => true, "xlsx"], sqlite: ["SQLite database", { format: "sqlite" }, () => true, "sqlite"],
  postgresql: ["SQL for PostgreSQL", { format: "postgresql" }, () => true], ejson: ["MongoDB Extended JSON", { format: "ejson" }, Boolean],
  geojson: ["GeoJSON", { format: "geojson" }, (type, all) => places(type, all).length > 0],
  realm: [".realm file", null, (type, _, realm) => !type && may("administer", realm)],
};

/**
 * The export of a realm or of classes.
 *
 * @param {string} realm @param {() => Class[]} all @param {() => Class[]} classes Those of which objects may be taken. @param {string} name Of the class that is chosen first.
 */
export function exporting(realm, all, classes, name) {
  const [chosen, format, where, geometry] = [signal(name), signal("ndjson"), signal(route.peek().query.get("where") ?? ""), signal("")];
  const type = () => classes().find((one) => one.name === chosen.value);
  const formats = () => Object.keys(FORMATS).filter((one) => FORMATS[one][2](type(), all(), realm));
  const paths = () => (format.value === "geojson" ? places(type(), all()) : []);
  effect(() => { if (!formats().includes(format.value)) format.value = "ndjson"; });
  effect(() => { if (!paths().includes(geometry.value)) geometry.value = paths()[0] ?? ""; });
  const query = () => route.value.query;
  const selection = () => (chosen.value ? { where: where.value, args: where.value && query().get("args"), sort: query().get("sort") } : {});
  // Asked first, because a download has no place to show a problem.
  const count = resource(async (abort) => (chosen.value ? read(inRealm(realm, "objects", chosen.value), { ...selection(), limit: 0, count: "exact" }, abort) : null));
  onChange(realm, null, count.reload, 1000);
  const save = () => {
    const [label, params, , suffix] = FORMATS[format.value];
    if (!params) return download(inRealm(realm, "backup"));
    const target = withParams(inRealm(realm, "export"), { ...params, class: chosen.value, ...selection(), geometry: geometry.value });
    return suffix ? receive(`Making the ${label}`, target, `${chosen.value || realm}.${suffix}`) : download(target);
  };
  const condition = h("input.mono", { value: where.peek(), spellcheck: "false", placeholder: "price > 100", oninput: () => setQuery({ where: where.value = condition.value.trim() }) });
  // A condition is of one class, and so is an order.
  const clear = () => setQuery({ where: where.value = condition.value = "", args: "", sort: "" });
  const sorted = () => chosen.value && query().get("sort");
  return h("section.card", { "aria-labelledby": "out" }, h("h2", { id: "out" }, "Export"),
    h("div.bar", null, () => field("What", classChoice(classes(), chosen, { oninput: clear }, "The whole realm")),
      h("div.grow", { hidden: () => !chosen.value }, field("Only objects that match", condition)),
      () => field("Format", choice(formats().map((one) => [one, FORMATS[one][0]]), format)),
      () => paths().length > 1 && field("Place", choice(paths().map((one) => [one, visible(one)]), geometry))),
    () => count.error.value && problemNode(count.error.value),
    () => count.data.value?.count === "0" && emptyNode("There is nothing to export", where.value ? "No object matches: change the condition, or leave it empty." : "The class has no objects yet: import some below, or choose another one."),
    h("div.bar", null, button("Export", save, { class: "primary", disabled: () => !!count.error.value }),
      h("span.soft", null, () => count.data.value && `${formatCount(count.data.value.count)} ${count.data.value.count === "1" ? "object" : "objects"}${sorted() ? `, sorted by ${visible(sorted() ?? "")}` : ""}`)));
}
