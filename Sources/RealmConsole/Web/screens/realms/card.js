// SPDX-License-Identifier: Apache-2.0
import { call, download, inRealm, ProblemError } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { counted, formatBytes, formatCount, visible } from "../../core/format.js";
import { address } from "../../core/router.js";
import { isFixed, may, readOnlyText } from "../../core/session.js";
import { effect, resource, signal } from "../../core/signals.js";
import { button, confirm, isOfKey, loaded, problemNode, progress, toast } from "../../core/ui.js";
import { work } from "../../core/work.js";
import { aboutFile, conversion, factList, formatText, kept } from "./about.js";
import { backups } from "./backups.js";
import { giveKey } from "./create.js";

/** @typedef {{name: string, state: string, [member: string]: any}} Realm */

/** @type {Record<string, string>} */
const WORDS = { rw: "read and write", ro: "read only", copy: "private copy", follow: "follows the file", closed: "closed until it is used", inMemory: "in memory" };
/** @type {Record<string, string>} */
const KINDS = { ready: "good", failed: "danger", opening: "warn" };

/**
 * The facts of a realm, and its actions.
 *
 * @param {string} name @param {() => Realm} realm Followed. @param {() => void} reload
 */
export function card(name, realm, reload) {
  // The short form never changes, so an open report stays open.
  const report = signal("null");
  effect(() => { report.value = JSON.stringify(realm().conversion ?? null); });
  // The file of a realm in an older format is asked about once.
  const old = signal("");
  effect(() => {
    const { state, mode, writtenBy, problem, readOnlyReason } = realm();
    old.value = state === "closed" && writtenBy && !problem && !readOnlyReason && may("administer", name) ? mode + writtenBy : "";
  });
  return h("section.card", { "aria-label": visible(name) },
    h("h2", null, h("a", { href: address(name, "classes") }, visible(name))),
    h("p", null, () => [!(realm().problem && realm().state === "closed") && h("span.tag", { class: KINDS[realm().state] }, WORDS[realm().state] ?? realm().state),
      ["encrypted", "inMemory", "default"].filter((one) => realm()[one]).map((one) => [" ", h("span.tag", null, WORDS[one] ?? one)])]),
    () => trouble(realm(), reload),
    () => old.value && loaded(resource((abort) => call("GET", inRealm(name), { abort, quiet: true })), ({ file }) => file && h("p.soft", null, `When served: ${visible(file.opening.detail)}.`)),
    h("dl.facts", null, () => factList(facts(realm()))),
    () => conversion(name, JSON.parse(report.value)),
    () => h("div.bar", null, may("read", name) && h("a.button", { href: address(name, "rows") }, "Rows"), may("administer", name) && [
      realm().state === "ready" && [button("Download", () => download(inRealm(name, "backup"), `${name}.realm`), { title: "A compact copy of the file" }), !isFixed(realm()) && button("Compact", () => compact(name))],
      ["failed", "closed"].includes(realm().state) && button("About the file…", () => aboutFile(name)),
      !realm().inMemory && realm().mode !== "copy" && button("Backups…", () => backups(name)), button("Detach…", () => detach(realm(), reload), { class: "danger" })]));
}

/**
 * The reason why the realm is not, or not fully, available.
 *
 * @param {Realm} realm @param {() => void} reload
 */
function trouble({ name, state, mode, problem, progress: part, readOnlyReason }, reload) {
  if (state === "opening") return progress("Opening", () => part ?? null, () => call("DELETE", inRealm(name)).then(reload));
  if (problem) return [problemNode(new ProblemError(problem)), isOfKey(problem) && may("administer", name) && button("Give the key…", () => giveKey(name).then(reload), { class: "primary" })];
  return readOnlyReason && h("p.soft", null, readOnlyText(mode, readOnlyReason));
}

/** @param {Realm} realm @returns {any[][]} */
function facts(realm) {
  const { mode, fileFormat, writtenBy, conversion: made, fileBytes, usedBytes, schemaVersion, path, cluster } = realm;
  return [["Mode", WORDS[mode]], ["Format", formatText(fileFormat, writtenBy, made?.fromFormat)], ["Size", fileBytes >= 0 ? formatBytes(fileBytes) + (usedBytes >= 0 ? `, ${formatBytes(usedBytes)} used` : "") : null],
    ["Schema version", schemaVersion === null ? "none" : schemaVersion], ["Version", realm.version],
    ...[["Classes", "classes"], ["Live versions", "liveVersions"], ["Pending writes", "pendingWrites"], ["Streams", "streams"]].map(([label, member]) => [label, realm[member] >= 0 ? formatCount(realm[member]) : null]),
    ["Cluster", cluster && (cluster.role === "owner" ? "Written by this node" : `Follows ${visible(cluster.owner) || "no node"}, ${counted(cluster.lagCommits, "commit")} behind`)],
    ["File", path && visible(path)], ["Old file", kept(realm) || null]];
}

/** @param {string} name */
async function compact(name) {
  const { before, after } = await work(`Compacting ${name}`, (abort) => call("POST", inRealm(name, "compact"), { abort }));
  toast(`${name}: ${formatBytes(before)} before, ${formatBytes(after)} now${after < before ? `, ${Math.round((1 - after / before) * 100)} % less` : ""}.`);
}

/** @param {Realm} realm @param {() => void} reload */
async function detach({ name, mode, inMemory, path }, reload) {
  const files = h("input", { type: "checkbox" });
  if (!await confirm(`Detach ${visible(name)}`, inMemory || mode === "copy" ? (path && !inMemory ? "The file stays where it is, unchanged. Changes to the private copy are lost." : "The realm has no file. Its objects are lost.") : [
    h("p", null, "The realm is no longer served. Its file stays where it is."), h("label", null, files, " Delete the file too, with its backups")], "Detach")) return;
  await call("DELETE", inRealm(name), { params: { files: files.checked || null } });
  toast(`${name} is detached.`);
  reload();
}
