// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { onChange } from "../../core/feed.js";
import { formatCount, formatLocalTime } from "../../core/format.js";
import { effect, onCleanup, resource, signal } from "../../core/signals.js";
import { button, classChoice, loaded, table } from "../../core/ui.js";
import { comparison } from "./comparison.js";

const BODY = { body: { ttl: "600s" }, quiet: true };
/** Snapshots that this page has pinned, and renews for as long as it shows them. */
const pinned = new Set();

/**
 * The pinned versions, and one of them next to the present one.
 *
 * @param {string} realm @param {import("../../core/schema.js").Class[]} classes
 */
export function snapshots(realm, classes) {
  const list = resource((abort) => call("GET", inRealm(realm, "snapshots"), { abort, quiet: true }));
  const [chosen, name] = [signal(""), signal(classes[0]?.name ?? "")];
  onChange(realm, null, list.reload, 500);
  const renewal = setInterval(() => list.data.peek()?.items.filter((/** @type {any} */ one) => pinned.has(one.id)).forEach((/** @type {any} */ one) => call("PATCH", inRealm(realm, "snapshots", one.id), BODY).then(list.reload, list.reload)), 120_000);
  onCleanup(() => clearInterval(renewal));
  // One that was freed, or whose realm was opened again, is gone.
  effect(() => { if (list.data.value && !list.data.value.items.some((/** @type {any} */ one) => one.id === chosen.peek())) chosen.value = ""; });
  /** @param {any} one */
  const row = ({ id, version, behind, expiresAt }) => [h("code", null, version), formatCount(behind), formatLocalTime(expiresAt) + (pinned.has(id) ? ", kept by this page" : ""),
    h("div.bar", null, button("Compare with now", () => { chosen.value = id; }, { "aria-pressed": () => String(chosen.value === id) }),
      button("Free", () => call("DELETE", inRealm(realm, "snapshots", id)).finally(list.reload), { "aria-label": `Free ${version}` }))];
  return h("section", { "aria-labelledby": "pins" }, h("div.bar", null, h("h2", { id: "pins" }, "Snapshots"), button("Pin now", async () => {
    const { id } = await call("POST", inRealm(realm, "snapshots"), { body: BODY.body });
    pinned.add(id);
    list.reload();
    chosen.value = id;
  }, { class: "primary" })),
  loaded(list, ({ items }) => (items.length ? table(["Version", "Commits since", "Held until", ""], items.map(row))
    : h("p.soft", null, "No version is pinned. A pinned version stays readable while others write: pin one, and see later what has changed since."))),
  () => chosen.value && classes.length > 0 && [h("div.bar", null, h("h3", null, "Then and now"), classChoice(classes, name, { "aria-label": "Class" })),
    () => comparison(realm, /** @type {any} */ (classes.find((one) => one.name === name.value)), chosen.value)]);
}
