// SPDX-License-Identifier: Apache-2.0
import { call, csrf, inRealm, signedOut } from "./api.js";
import { h } from "./dom.js";
import { visible } from "./format.js";
import { resource, signal } from "./signals.js";
import { button, field } from "./ui.js";
import { form } from "./work.js";

/** The user of the page with their rights: the document of `/v1/me`. */
export const me = resource((abort) => call("GET", "/v1/me", { abort, quiet: true }));

/** How the realm on screen is served. */
const served = signal({ realm: "", kind: "", text: "" });

/** The last realm that was open when it was asked about, and the beginning of its versions with the epoch. */
let learned = ["", ""];

/** @param {any} realm Its document. @returns Whether it accepts no writes. A node of a cluster forwards them. */
export const isFixed = ({ mode, cluster }) => /^(ro|follow)$/.test(mode) && !cluster;

/**
 * Asks how a realm is served, once for each opening.
 *
 * @param {string} realm @param {AbortSignal} abort @param {string | null} [version] The newest. Without one any known opening suffices.
 */
export async function learn(realm, abort, version) {
  if (learned[0] === realm && (!version || version.startsWith(learned[1]))) return;
  const found = await call("GET", inRealm(realm), { abort, quiet: true });
  const { mode, readOnlyReason } = found;
  if (!mode) return;
  learned = found.state === "ready" ? [realm, found.version.replace(/\d+$/, "")] : ["", ""];
  // Only administrators see the cluster in the document.
  const fixed = isFixed(found) && (readOnlyReason || may("administer", realm));
  const next = { realm, kind: fixed ? "ro" : mode === "copy" ? mode : "", text: fixed ? readOnlyText(mode, readOnlyReason) : "This is a private copy. Changes are not written to the file." };
  if (JSON.stringify(next) !== JSON.stringify(served.peek())) served.value = next;
}

/**
 * How the realm on screen is served: `kind` is `copy` for a private copy, `ro` for a read-only realm, and empty otherwise.
 *
 * @param {string} realm
 */
export const standing = (realm) => (served.value.realm === realm ? served.value : { kind: "", text: "" });

/** @param {string} mode @param {any} [reason] The member `readOnlyReason`. @returns The reason why a realm is read-only, with advice. */
export const readOnlyText = (mode, reason) => `Read only${reason ? `: ${visible(reason.detail)}` : mode === "follow" ? ": another program writes the file" : ""}. `
  + `To change it, ask the administrator of the server ${reason?.code === "file_format_unsupported" ? "to upgrade the file (--upgrade in-place)" : "to serve it for writing"}, or to serve a private copy of it.`;

/**
 * Whether an action is allowed. Others are not shown.
 *
 * @param {string} action An action of the access rules, such as `create`, or `administer`.
 * @param {string} realm
 * @param {string} [name] Of a class.
 */
export function may(action, realm, name) {
  const who = me.data.value;
  if (!who || (/^(create|update|delete|import)$/.test(action) && standing(realm).kind === "ro")) return false;
  if (who.roles?.includes("admin")) return true;
  if (action === "administer") return false;
  const classes = who.may?.[realm] ?? {};
  return name ? classes[name]?.includes(action) ?? false : Object.values(classes).some((actions) => actions.includes(action));
}

/** Asks for a key or token and begins a session with it; shown whenever the server demands a credential. */
export async function signIn() {
  const input = h("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false", autofocus: true });
  await form("Sign in", "Sign in", [h("p", null, "This server requires a key. Administrators make one with ", h("code", null, "realm-rest keys add"), "."), field("API key or token", input)], async () => {
    const session = await call("POST", "/v1/session", { headers: { Authorization: `Bearer ${input.value.trim()}` }, quiet: true });
    remember(session.csrfToken);
    location.reload();
  });
}

export async function signOut() {
  await call("DELETE", "/v1/session", { quiet: true });
  remember(null);
  location.reload();
}

/** @param {string | null} token */
function remember(token) {
  csrf.token = token;
  if (token) localStorage.setItem("csrf", token);
  else localStorage.removeItem("csrf");
}

/** The button that ends the session, or begins one. */
export function sessionNode() {
  const who = me.data.value;
  const { kind, name, id } = who?.principal ?? {};
  if (signedOut.value || !who || kind === "anonymous") return button("Sign in", signIn);
  return h("span.who", null, name ?? id ?? kind ?? "", csrf.token ? button("Sign out", signOut, { class: "quiet" }) : null);
}
