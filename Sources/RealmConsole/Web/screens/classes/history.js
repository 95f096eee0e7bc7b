// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { formatBytes, formatLocalTime, visible } from "../../core/format.js";
import { resource } from "../../core/signals.js";
import { button, emptyNode, loaded, table } from "../../core/ui.js";
import { receive } from "../../core/work.js";
import { backups } from "../realms/backups.js";

/**
 * The migrations of a realm, by the copies of its file that were made before each.
 *
 * @param {string} realm
 */
export function historyNode(realm) {
  const list = resource((abort) => call("GET", inRealm(realm, "backups"), { abort }));
  /** @param {any} one */
  const row = ({ id, kind, version, time, bytes }) => [formatLocalTime(time), kind === "upgrade" ? "upgrade of the file format" : "migration", version ?? "damaged", formatBytes(bytes),
    button("Download", () => receive(`Receiving ${visible(id)}`, inRealm(realm, "backups", id), `${id}.realm`, "application/octet-stream"))];
  return loaded(list, ({ items }) => {
    const made = items.filter((/** @type {any} */ one) => one.kind === "migration" || one.kind === "upgrade");
    return made.length ? [table(["When", "What", "Version before", "Copy", ""], made.map(row)), button("Restore one…", () => backups(realm))]
      : emptyNode("No migration since the server started", "Before each migration a copy of the file is made, and listed here.");
  });
}
