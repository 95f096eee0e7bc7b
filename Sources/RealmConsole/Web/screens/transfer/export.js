// SPDX-License-Identifier: Apache-2.0
import { download, inRealm, read, withParams } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { onChange } from "../../core/feed.js";
import { formatCount } from "../../core/format.js";
import { route, setQuery } from "../../core/router.js";
import { may } from "../../core/session.js";
import { effect, resource, signal } from "../../core/signals.js";
import { button, choice, classChoice, field, problemNode } from "../../core/ui.js";

/** @type {Record<string, [label: string, params: Record<string, string> | null, isFit: (name: string, realm: string) => boolean]>} */
const FORMATS = {
  ndjson: ["NDJSON, for imports", { format: "ndjson" }, () => true], csv: ["CSV", { format: "csv" }, Boolean], excel: ["CSV, safe for Excel", { format: "csv", csv: "excel" }, Boolean],
  json: ["JSON", { format: "json" }, () => true], realm: [".realm file", null, (name, realm) => !name && may("administer", realm)],
};

/**
 * What may be taken out, by the browser's own download.
 *
 * @param {string} realm @param {() => import("../../core/schema.js").Class[]} classes @param {string} name Of the class that is chosen first.
 */
export function exporting(realm, classes, name) {
  const [chosen, format, where] = [signal(name), signal("ndjson"), signal(route.peek().query.get("where") ?? "")];
  const formats = () => Object.keys(FORMATS).filter((one) => FORMATS[one][2](chosen.value, realm));
  effect(() => { if (!formats().includes(format.value)) format.value = "ndjson"; });
  // Asked first, because a download has no place to show a problem.
  const count = resource(async (abort) => (chosen.value ? read(inRealm(realm, "objects", chosen.value), { where: where.value, limit: 0, count: "exact" }, abort) : null));
  onChange(realm, null, count.reload, 1000);
  const target = () => {
    const [, params] = FORMATS[format.value];
    return params ? withParams(inRealm(realm, "export"), { ...params, class: chosen.value, where: chosen.value && where.value }) : inRealm(realm, "backup");
  };
  const condition = h("input.mono", { value: where.peek(), spellcheck: "false", placeholder: "price > 100", oninput: () => setQuery({ where: where.value = condition.value.trim() }) });
  // A condition is of one class.
  const clear = () => setQuery({ where: where.value = condition.value = "" });
  return h("section.card", { "aria-labelledby": "out" }, h("h2", { id: "out" }, "Export"),
    h("div.bar", null, () => field("What", classChoice(classes(), chosen, { oninput: clear }, "The whole realm")),
      h("div.grow", { hidden: () => !chosen.value }, field("Only objects that match", condition)),
      () => field("Format", choice(formats().map((one) => [one, FORMATS[one][0]]), format))),
    () => count.error.value && problemNode(count.error.value),
    h("div.bar", null, button("Export", () => download(target()), { class: "primary", disabled: () => !!count.error.value }),
      h("span.soft", null, () => count.data.value && `${formatCount(count.data.value.count)} objects`)));
}
