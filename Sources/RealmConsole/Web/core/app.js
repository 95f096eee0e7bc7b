// SPDX-License-Identifier: Apache-2.0
import { pending, signedOut } from "./api.js";
import { each, h } from "./dom.js";
import { feed } from "./feed.js";
import { visible } from "./format.js";
import { shortcut, showKeys } from "./keys.js";
import { address, go, route } from "./router.js";
import { may, me, sessionNode, signIn, standing } from "./session.js";
import { effect, onCleanup, scope, signal, untracked } from "./signals.js";
import { trailNode } from "./trail.js";
import { button, closed, dialogs, emptyNode, liveRegion, messages, problemNode } from "./ui.js";
import { screens } from "../screens/screens.js";

/**
 * The frame of all screens: navigation, who is signed in, the state of the connection, messages, and the screen that the
 * address names.
 *
 * A screen is `{id, title, scope, key, isAllowed, view}`. `scope` is `"server"`, `"realm"`, or `"hidden"` for one that is
 * only reached by links. `view({realm, rest})` returns its content; it follows `route` for what else the address says.
 *
 * @typedef {{id: string, title: string, scope: "server" | "realm" | "hidden", key?: string, isAllowed?: (realm: string) => boolean,
 *   view(place: {realm: string, rest: string[]}): import("./dom.js").Child}} Screen
 */

function navigation() {
  return h("nav", { "aria-label": "Screens" }, () => {
    const { realm, screen } = route.value;
    const allowed = screens.filter((one) => one.scope !== "hidden" && (one.scope === "server" || realm) && (one.isAllowed?.(realm) ?? true));
    return allowed.map((one) => h("a", {
      href: address(one.scope === "server" ? "" : realm, one.id), "aria-current": one.id === screen ? "page" : null, title: one.key ? `Key: ${one.key}` : null,
    }, one.title));
  });
}

/** The state of the connection to the realm on screen. */
function connection() {
  return () => {
    const { realm } = route.value;
    if (!realm || !may("subscribe", realm)) return null;
    if (closed.value === realm) return h("span.connection.lost", { role: "status" }, "Not open");
    const { state, version, subscribe } = untracked(() => feed(realm));
    subscribe(() => {});
    const words = { live: "Live", connecting: "Connecting…", lost: "Not connected: trying again" };
    return h("span.connection", { class: () => state.value, role: "status", title: () => `Version ${version.value}` }, () => words[state.value]);
  };
}

function header() {
  return h("header.top", null,
    h("a.brand", { href: address("", "realms") }, h("img", { src: "/console/icon.svg", alt: "", width: 24, height: 24 }), "realm-rest"),
    () => route.value.realm && h("strong.realm", null, visible(route.value.realm)),
    navigation(), connection(), sessionNode,
    button("?", showKeys, { class: "quiet", "aria-label": "Show the keys" }));
}

function main() {
  const place = h("main", { id: "main", tabindex: -1 });
  let end = () => {};
  let shown = "";
  effect(() => {
    const { realm, screen, rest } = route.value;
    const id = JSON.stringify([realm, screen, rest]);
    const isReady = me.data.value !== undefined;
    if (!isReady || id === shown) return;
    const isFirst = !shown;
    shown = id;
    end();
    const [content, endNext] = scope(() => screenNode(realm, screen, rest));
    end = endNext;
    place.replaceChildren(content);
    // The element with the focus may have gone with the former screen: keys work in the new one.
    if (!isFirst && document.activeElement === document.body) place.focus({ preventScroll: true });
    document.title = [rest.at(-1), screens.find((one) => one.id === screen)?.title, realm, "realm-rest"].filter(Boolean).join(" · ");
  });
  return [() => (me.error.value && !signedOut.value ? h("div.page", null, problemNode(me.error.value), button("Try again", me.reload)) : null), trailNode(), () => standing(route.value.realm).kind && h("p.standing", { role: "note" }, standing(route.value.realm).text), place];
}

/** @param {string} realm @param {string} id @param {string[]} rest */
function screenNode(realm, id, rest) {
  const screen = screens.find((one) => one.id === id);
  try {
    if (screen && (screen.isAllowed?.(realm) ?? true)) return h(`div.screen.${id}`, null, screen.view({ realm, rest }));
  } catch (error) {
    return h("div.page", null, problemNode(error));
  }
  // A refusal asks an anonymous user to sign in.
  if (screen && me.data.peek()?.principal?.kind === "anonymous") signedOut.value = true;
  return emptyNode("There is no such page", "It may be of another version, or you lack the right to see it.", h("a", { href: address("", "realms") }, "All realms"));
}

function notes() {
  const place = h("div.messages", { "aria-live": "polite" });
  each(place, () => messages.value, (one) => one.id, (one) => one.node);
  return place;
}

function start() {
  const [nodes] = scope(() => {
    shortcut("?", "Show the keys", showKeys);
    shortcut("Escape", "Leave a field, so that letters are keys again", ({ target }) => { if (target instanceof HTMLElement && target.matches("input, textarea, select")) target.blur(); });
    shortcut("u", "Undo the last write, while that is offered", () => /** @type {HTMLElement | undefined} */ ([...document.querySelectorAll(".messages button.undo")].pop())?.click());
    shortcut("g", "Go to the list of realms", () => go(address("", "realms")));
    for (const one of screens) {
      const open = () => {
        const { realm } = route.peek();
        go(one.scope === "server" ? address("", one.id) : realm ? address(realm, one.id) : address("", "realms"));
      };
      if (one.key) shortcut(one.key, `Open ${one.title}`, open);
    }
    // A browser shows a dropped file in place of the page. Fields still take dropped text.
    for (const name of ["dragover", "drop"]) addEventListener(name, (/** @type {any} */ event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
    const late = signal(false);
    effect(() => {
      const isPending = pending.value > 0;
      const timer = setTimeout(() => { late.value = isPending; }, 200);
      onCleanup(() => clearTimeout(timer));
    });
    // The dialog opens once. After that there is the button.
    const asked = signal(false);
    effect(() => {
      if (!signedOut.value || dialogs.value || asked.value) return;
      asked.value = true;
      untracked(() => void signIn());
    });
    return [h("a.skip", { href: "#main", onclick: (event) => { event.preventDefault(); document.querySelector("main")?.focus(); } }, "Skip to the content"),
      header(), h("div.busy", { hidden: () => !late.value }), main(), notes(), liveRegion];
  });
  document.body.append(...nodes.flat().map((node) => (typeof node === "function" ? h("div.notice", null, node) : node)));
}

start();
