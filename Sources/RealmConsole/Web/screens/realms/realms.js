// SPDX-License-Identifier: Apache-2.0
import { read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { address } from "../../core/router.js";
import { resource } from "../../core/signals.js";
import { loaded } from "../../core/ui.js";

/** @type {import("../../core/app.js").Screen} */
export const realms = {
  id: "realms", title: "Realms", scope: "server",
  view() {
    const list = resource((abort) => read("/v1/realms", {}, abort));
    return h("div.page", null, h("h1", null, "Realms"), loaded(list, (all) => h("div.cards", null, all.items.map((/** @type {any} */ one) =>
      h("div.card", null, h("h2", null, h("a", { href: address(one.name, "classes") }, one.name)))))));
  },
};
