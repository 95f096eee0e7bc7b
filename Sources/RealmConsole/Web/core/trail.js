// SPDX-License-Identifier: Apache-2.0
import { h } from "./dom.js";
import { visible } from "./format.js";
import { route } from "./router.js";
import { effect, signal } from "./signals.js";

/**
 * The way back: the places from which links between objects were followed, for as long as only such links are followed.
 *
 * @type {import("./signals.js").Signal<{hash: string, name: string}[]>}
 */
const trail = signal(JSON.parse(sessionStorage.getItem("rr:trail") ?? "[]"));
const place = () => location.hash.split("?")[0];
let expected = trail.peek().length ? place() : "";

addEventListener("click", ({ target }) => {
  const link = target instanceof Element && target.closest("a.chip");
  if (!link) return;
  const name = route.peek().rest.join(" ") || route.peek().screen;
  trail.value = [...trail.peek(), { hash: location.hash, name }].slice(-20);
  expected = link.getAttribute("href")?.split("?")[0] ?? "";
}, true);

/** The screen before that of the API, which shows its requests. */
export const origin = signal({ realm: "", hash: "" });
effect(() => { if (route.value.screen !== "api") origin.value = { realm: route.value.realm, hash: location.hash }; });

/** Shows the way back. */
export function trailNode() {
  effect(() => {
    route.value;
    const at = trail.peek().findIndex((one) => one.hash === location.hash);
    if (at >= 0) trail.value = trail.peek().slice(0, at);
    else if (trail.peek().length && place() !== expected) trail.value = [];
    if (at >= 0) expected = place();
    sessionStorage.setItem("rr:trail", JSON.stringify(trail.peek()));
  });
  return () => trail.value.length > 0 && h("nav.trail", { "aria-label": "Way back" }, trail.value.map((one) => [h("a", { href: one.hash }, visible(one.name.slice(0, 60))), " › "]));
}
