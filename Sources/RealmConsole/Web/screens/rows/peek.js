// SPDX-License-Identifier: Apache-2.0
import { inRealm, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { member, readExact } from "../../core/exact.js";
import { visible } from "../../core/format.js";
import { classNamed } from "../../core/schema.js";
import { onCleanup } from "../../core/signals.js";
import { dialog } from "../../core/ui.js";
import { cellNode } from "../../core/values.js";

/**
 * Previews of linked objects: shown while the pointer rests on a link, or when asked for.
 *
 * @param {HTMLElement} node @param {string} realm @param {import("../../core/schema.js").Schema} schema
 */
export function previews(node, realm, schema) {
  /** @type {any} */
  let [timer, card, turn] = [0, null, 0];
  const close = () => {
    clearTimeout(timer);
    card?.remove();
    turn += 1;
  };
  const show = async (/** @type {any} */ chip) => {
    close();
    const [mine, { class: name = "", key = "" }] = [turn, chip.dataset];
    const type = classNamed(schema, name);
    const object = await readExact(inRealm(realm, "objects", name, key)).catch((error) => ({ error }));
    if (mine !== turn || !chip.isConnected) return;
    const { left, bottom, top } = chip.getBoundingClientRect();
    card = h("div.peek", { role: "tooltip" }, h("strong", null, visible(`${name} ${key}`.slice(0, 100))), object.error ? h("p", null, object.error.message)
      : h("dl.facts", null, type?.properties.slice(0, 9).map((one) => [h("dt", null, visible(one.name.slice(0, 60))), h("dd", null, cellNode(object[member(one.name)], one, realm))])));
    document.body.append(card);
    card.style.left = `${Math.max(4, Math.min(left, innerWidth - card.offsetWidth - 4))}px`;
    card.style.top = `${bottom + card.offsetHeight + 8 > innerHeight ? Math.max(4, top - card.offsetHeight - 4) : bottom + 4}px`;
  };
  node.addEventListener("mouseover", ({ target }) => {
    close();
    const chip = target instanceof Element && target.closest("a.chip");
    if (chip) timer = setTimeout(() => show(chip), 250);
  });
  for (const name of ["mouseleave", "keydown", "scroll", "click"]) node.addEventListener(name, close, true);
  onCleanup(close);
  return show;
}

/** Shows the whole value of a property.
 * @param {string} realm @param {string} name @param {string} key @param {string} property */
export async function showValue(realm, name, key, property) {
  const object = await read(inRealm(realm, "objects", name, key), { fields: property });
  const value = object[member(property)];
  return dialog(property, () => h("pre.whole", { tabindex: 0, dir: "auto" }, typeof value === "string" ? value : JSON.stringify(value, null, 2)), "wide");
}
