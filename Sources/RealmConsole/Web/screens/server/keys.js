// SPDX-License-Identifier: Apache-2.0
import { call, path } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { formatLocalTime, visible } from "../../core/format.js";
import { me } from "../../core/session.js";
import { resource } from "../../core/signals.js";
import { button, confirm, copyText, dialog, emptyNode, field, loaded, table } from "../../core/ui.js";
import { form } from "../../core/work.js";

/** The API keys of the server. */
export function keysNode() {
  const keys = resource((abort) => call("GET", "/admin/keys", { abort, quiet: true }));
  /** @param {any} made Has a secret, which no later answer has. */
  const showSecret = (made) => made && [keys.reload(), dialog(`Key of ${visible(made.name)}`, () => [field("Key", h("input.mono", { value: made.key, readOnly: true }), "Keep it now: it is not shown again."), button("Copy", () => copyText(made.key))])];
  /** @param {any} key @param {string} does @param {string} warning @param {string} method @param {...string} end Of the path. */
  const action = (key, does, warning, method, ...end) => button(`${does}…`, async () => {
    if (await confirm(`${does} the key`, `“${visible(key.name)}” ${warning}`, does)) showSecret(await confirmed((params) => call(method, path("admin", "keys", key.id, ...end), { params, quiet: true })));
    keys.reload();
  });
  return [button("Create a key…", async () => showSecret(await makeKey())), loaded(keys, ({ items }) => (items.length
    ? table(["Name", "Roles", "Realm", "Made", "Expires", "Last used", ""], /** @type {any[]} */ (items).map((key) => [visible(key.name), key.roles.join(", "), key.realm ?? "all", ...[key.created, key.expires, key.lastUsed].map((time) => (time ? formatLocalTime(time) : "never")),
      [action(key, "Rotate", "gets a new secret; the old one ends at once.", "POST", "rotate"), action(key, "Revoke", "is no longer accepted, and its streams end.", "DELETE")]]))
    : emptyNode("There are no keys", "Create one for each program or person that uses this server.")))];
}

/**
 * Sends a change of keys; one after which no key administers is sent again when that is confirmed.
 *
 * @param {(params: Record<string, string>) => Promise<any>} send
 */
async function confirmed(send) {
  try {
    return await send({});
  } catch (/** @type {any} */ error) {
    const { parameter, detail } = error?.problem ?? {};
    if (parameter !== "confirm") throw error;
    if (!await confirm("No key could administer this server", visible(detail), "Do it anyway")) throw error;
    return send({ confirm: "no-administrator" });
  }
}

function makeKey() {
  const inputs = ["Name", "Roles, such as admin", "Only this realm", "Expires after, such as 90d", "From networks, such as 10.0.0.0/8"].map((label, index) => field(label, h("input", { required: index < 2 })));
  return form("Create a key", "Create", [me.data.peek()?.principal.kind === "local" && h("p.problem", null, "Once a key exists, this server requires one of every client, this page included: give the first one the role admin."), inputs], () => {
    const [name, roles, realm, expires, from] = inputs.map((one) => one.querySelector("input").value.trim());
    const list = (/** @type {string} */ text) => text.split(/[\s,]+/).filter(Boolean);
    const body = { name, roles: list(roles), realm: realm || null, expires: expires || null, from: list(from) };
    return confirmed((params) => call("POST", "/admin/keys", { params, body, quiet: true }));
  });
}
