// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { schemaOf } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { loaded } from "../../core/ui.js";
import { noClassNode } from "../classes/none.js";
import { commits } from "./commits.js";
import { snapshots } from "./snapshots.js";

/** @type {import("../screens.js").View} */
export const time = ({ realm }) => h("div.page", null, h("h1", null, "Time"), loaded(schemaOf(realm), ({ classes }) => {
  const all = classes.filter((one) => one.type !== "embedded");
  if (!all.length) return noClassNode(realm);
  return [snapshots(realm, all.filter((one) => may("read", realm, one.name))), commits(realm, all.map((one) => one.name).filter((name) => may("subscribe", realm, name)))];
}));
