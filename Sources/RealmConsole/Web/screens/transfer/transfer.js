// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { schemaOf } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { button, problemNode, waitingNode } from "../../core/ui.js";
import { exporting } from "./export.js";
import { importing } from "./import.js";

/** @type {import("../../core/app.js").Screen} */
export const transfer = {
  id: "transfer", title: "In and out", scope: "realm", key: "i", isAllowed: (realm) => may("export", realm) || may("import", realm),
  view({ realm, rest }) {
    const { data, error, reload } = schemaOf(realm);
    /** @param {string} action */
    const classes = (action) => () => (data.value?.classes ?? []).filter((one) => one.type !== "embedded" && may(action, realm, one.name));
    return h("div.page", null, h("h1", null, "In and out"), () => (error.value ? [problemNode(error.value), button("Try again", reload)] : !data.value && waitingNode()),
      () => data.value && may("export", realm) && exporting(realm, () => data.value?.classes ?? [], classes("export"), rest[0] ?? ""), () => data.value && may("import", realm) && importing(realm, classes("import")));
  },
};
