// SPDX-License-Identifier: Apache-2.0
import { unreachable } from "../core/api.js";
import { may } from "../core/session.js";
import { resource, untracked } from "../core/signals.js";
import { loaded } from "../core/ui.js";

/** @typedef {import("../core/app.js").Screen} Screen @typedef {Screen["view"]} View */

/**
 * A screen whose scripts are loaded when it is first opened.
 *
 * @param {() => Promise<View>} load
 * @returns {View}
 */
function late(load) {
  /** @type {View | null} */
  let known = null;
  return (place) => {
    if (known) return known(place);
    return loaded(resource(async () => (known = await load().catch(() => { throw unreachable(); }))), (view) => untracked(() => view(place)));
  };
}

/**
 * The screens in the order of the navigation.
 *
 * @type {Screen[]}
 */
export const screens = [
  { id: "realms", title: "Realms", scope: "server", view: late(async () => (await import("./realms/realms.js")).realms) },
  { id: "classes", title: "Classes", scope: "realm", key: "c", view: late(async () => (await import("./classes/classes.js")).classes) },
  { id: "rows", title: "Rows", scope: "realm", key: "r", isAllowed: (realm) => may("read", realm), view: late(async () => (await import("./rows/rows.js")).rows) },
  { id: "time", title: "Time", scope: "realm", key: "t", isAllowed: (realm) => may("read", realm) || may("subscribe", realm), view: late(async () => (await import("./time/time.js")).time) },
  { id: "transfer", title: "In and out", scope: "realm", key: "i", isAllowed: (realm) => may("export", realm) || may("import", realm), view: late(async () => (await import("./transfer/transfer.js")).transfer) },
  { id: "server", title: "Server", scope: "server", key: "s", isAllowed: () => may("administer", ""), view: late(async () => (await import("./server/server.js")).server) },
  { id: "api", title: "API", scope: "server", key: "a", view: late(async () => (await import("./api/api.js")).api) },
  { id: "object", title: "Object", scope: "hidden", view: late(async () => (await import("./object/object.js")).object) },
  { id: "collection", title: "Collection", scope: "hidden", view: late(async () => (await import("./collection/collection.js")).collection) },
];
