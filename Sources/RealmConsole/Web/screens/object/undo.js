// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, send } from "../../core/api.js";
import { classNamed, isEmbedded } from "../../core/schema.js";
import { standing } from "../../core/session.js";
import { toast } from "../../core/ui.js";

/** @param {string} realm @param {any[]} ops @param {boolean} [dryRun] @returns {Promise<any>} */
export function batch(realm, ops, dryRun) {
  return call("POST", inRealm(realm, "batch"), { body: { ops }, params: { dryRun }, headers: { Prefer: "return=representation" } });
}

/** @param {string} realm @param {string} text The action. @param {any[] | null} [inverse] Operations that are conditional on it. */
export function offerUndo(realm, text, inverse) {
  toast(standing(realm).kind === "copy" ? `${text} In the private copy only.` : text, inverse ? { label: "Undo", run: async () => {
    await batch(realm, inverse);
    toast("Undone.");
  } } : undefined);
}

/** @param {string} target @param {string | null} [version] Without one any will do. @returns {Promise<string>} Empty after a write since the version. */
export async function entityTag(target, version) {
  // A refusal of HEAD has no reason, so that of GET is shown.
  const { headers } = await send("HEAD", target, { quiet: true }).catch(() => send("GET", target, { quiet: true }));
  return (!version || headers.get("Realm-Version") === version) && headers.get("ETag") || "";
}

/** @param {import("../../core/schema.js").Schema} schema @param {string} name @returns {string[]} The class and the embedded ones within. */
export function reachable(schema, name) {
  return [name, ...(classNamed(schema, name)?.properties ?? []).flatMap((one) => (isEmbedded(schema, one) ? reachable(schema, one.objectType ?? "") : []))];
}
