// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { formatBytes, formatLocalTime, visible } from "../../core/format.js";
import { resource } from "../../core/signals.js";
import { button, confirm, dialog, loaded, table, toast } from "../../core/ui.js";
import { chooseFile, receive, work } from "../../core/work.js";
import { sendFile } from "./create.js";

/**
 * The backups of a realm: make, download, restore, delete; and restoring from a file.
 *
 * @param {string} name
 */
export function backups(name) {
  return dialog(`Backups of ${visible(name)}`, () => {
    const list = resource((abort) => call("GET", inRealm(name, "backups"), { abort }));
    /** @param {string} label @param {string} method @param {string} target @param {any} [body] */
    const act = (label, method, target, body) => work(label, (abort) => call(method, target, { body, abort })).finally(list.reload);
    /** @param {string} source @param {() => Promise<any>} run */
    const restore = async (source, run) => {
      if (!await confirm("Restore", `${visible(source)} replaces all contents of ${visible(name)}. The current contents become a backup.`, "Restore")) return;
      toast(`Restored. The former contents are the backup ${(await run()).backup}.`);
      list.reload();
    };
    /** @param {any} one */
    const row = ({ id, kind, version, time, bytes }) => [h("span", { title: id }, formatLocalTime(time)), kind, version ?? "damaged", formatBytes(bytes),
      h("div.bar", null, button("Download", () => receive(`Receiving ${visible(id)}`, inRealm(name, "backups", id), `${id}.realm`, "application/octet-stream")),
        button("Restore…", () => restore(id, () => act("Restoring", "POST", inRealm(name, "restore"), { backup: id }))),
        button("Delete…", async () => {
          if (await confirm("Delete the backup", visible(id), "Delete")) await act("Deleting", "DELETE", inRealm(name, "backups", id));
        }, { class: "danger" }))];
    return [
      h("div.bar", null, button("Back up now", () => act("Backing up", "POST", inRealm(name, "backups")), { class: "primary" }),
        button("Restore from a file…", async () => {
          const file = await chooseFile(".realm");
          if (file) await restore(file.name, () => sendFile(inRealm(name, "restore"), file));
        })),
      loaded(list, ({ items, lastError }) => [lastError && h("p", null, `The last planned backup failed: ${visible(lastError)}`),
        items.length ? table(["Made", "Kind", "Version", "Size", ""], items.map(row)) : h("p.soft", null, "There is no backup yet.")])];
  }, "wide");
}
