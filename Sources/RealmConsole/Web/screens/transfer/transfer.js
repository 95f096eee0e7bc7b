// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { schemaOf } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { effect, signal } from "../../core/signals.js";
import { failureNode, waitingNode } from "../../core/ui.js";
import { exporting } from "./export.js";
import { importing } from "./import.js";

/** @type {import("../screens.js").View} */
export const transfer = ({ realm, rest }) => {
  const { data, error, reload } = schemaOf(realm);
  /** @param {string} action */
  const classes = (action) => () => (data.value?.classes ?? []).filter((one) => one.type !== "embedded" && may(action, realm, one.name));
  // An import may bring classes with it. Only the parts that depend on them change then: the file, its plan and its outcome stay.
  const isKnown = signal(false);
  effect(() => { isKnown.value ||= data.value !== undefined; });
  return h("div.page", null, h("h1", null, "In and out"), () => (error.value ? failureNode(error.value, reload) : !isKnown.value && waitingNode()),
    () => isKnown.value && [may("export", realm) && exporting(realm, () => data.value?.classes ?? [], classes("export"), rest[0] ?? ""), may("import", realm) && importing(realm, classes("import"))]);
};
