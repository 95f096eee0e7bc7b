// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { schemaOf } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { choice, problemNode } from "../../core/ui.js";
import { exporting } from "./export.js";
import { importing } from "./import.js";

/** @typedef {import("../../core/schema.js").Class} Class */

/** @type {import("../../core/app.js").Screen} */
export const transfer = {
  id: "transfer", title: "In and out", scope: "realm", key: "i",
  view({ realm, rest }) {
    const { data, error } = schemaOf(realm);
    /** @param {string} action */
    const classes = (action) => () => (data.value?.classes ?? []).filter((one) => one.type !== "embedded" && may(action, realm, one.name));
    return h("div.page", null, h("h1", null, "In and out"), () => error.value && problemNode(error.value),
      () => may("export", realm) && exporting(realm, classes("export"), rest[0] ?? ""), () => may("import", realm) && importing(realm, classes("import")));
  },
};

/**
 * A list of classes of which one is chosen.
 *
 * @param {Class[]} classes @param {import("../../core/signals.js").Signal<string>} chosen
 * @param {Record<string, any>} [attributes] @param {string} [all] The words for none of them.
 */
export function classChoice(classes, chosen, attributes, all) {
  /** @type {[string, string][]} */
  const options = classes.map((one) => [one.name, visible(one.name).slice(0, 80)]);
  return choice(all ? [["", all], ...options] : options, chosen, attributes);
}
