// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { editor } from "../../core/editors.js";
import { initial, member, readExact } from "../../core/exact.js";
import { counted, visible } from "../../core/format.js";
import { classNamed, isEmbedded } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { effect, signal, untracked } from "../../core/signals.js";
import { button, choice, dialog, field, shownProblem, toast } from "../../core/ui.js";
import { cellNode } from "../../core/values.js";
import { work } from "../../core/work.js";
import { batch, offerUndo } from "./undo.js";

/** Up to so many objects are read first: each is written only if it is still the same, and all can be restored. */
const READ = 1000;
/** Above so many objects the number is typed before anything is done. */
const TYPED = 100;

/**
 * @typedef {{realm: string, className: string, schema: import("../../core/schema.js").Schema, keys(): string[], where(): string | null, args?: any, settled?: () => Promise<void>}} Chosen
 *   The selected keys, or without any all that the query finds; `args` are its arguments, as JSON or a list, or return these. `settled` is
 *   awaited first: it brings what is on screen in line with what is written.
 */

/** @param {Chosen} chosen @returns {import("../../core/dom.js").Child} Buttons that change or delete what is chosen. */
export function bulkActions(chosen) {
  const { realm, className } = chosen;
  return [may("update", realm, className) && button("Edit…", () => bulk(chosen, false)), may("delete", realm, className) && button("Delete…", () => bulk(chosen, true), { class: "danger" })];
}

/** @param {Chosen} chosen @param {boolean} isDeleting */
async function bulk({ realm, className: name, schema, keys, where, args, settled }, isDeleting) {
  await settled?.();
  const [selected, target, cls] = [keys(), inRealm(realm, "objects", name), classNamed(schema, name)];
  const given = typeof args === "function" ? args() : args;
  const stated = where();
  const query = { where: stated || "TRUEPREDICATE", args: typeof given === "string" ? given : given && JSON.stringify(given) };
  const count = selected.length || Number((await read(target, { ...query, limit: 0, count: "exact" })).count);
  if (!count) return toast("Nothing matches.");
  /** @type {any[] | null} */
  let before = null;
  if (selected.length) {
    before = await work("Reading the selected objects", async (abort, done) => {
      const all = [];
      for (const key of selected) {
        if (abort.aborted) throw new DOMException("", "AbortError");
        all.push(await readExact(inRealm(realm, "objects", name, key), {}, abort));
        done(all.length / count);
      }
      return all;
    });
  } else if (count <= READ) before = (await readExact(target, { ...query, limit: READ })).items;
  const properties = cls?.properties.filter((one) => !one.collection && one.name !== cls.primaryKey && !isEmbedded(schema, one)) ?? [];
  const [chosen, value, problem, previewed, problems] = [signal(properties[0]?.name ?? ""), signal(null), signal(null), signal(false), new Map()];
  const body = (/** @type {any} */ state) => ({ [member(chosen.peek())]: state });
  const run = async (/** @type {boolean} */ dryRun) => {
    [problem.value, previewed.value] = [null, false];
    if ([...problems.values()].some((one) => one.value)) return null;
    try {
      return before ? await batch(realm, before.map(({ $meta: { key, etag } }) => (isDeleting ? { delete: { class: name, key, ifMatch: etag } } : { patch: { class: name, key, ifMatch: etag, body: body(value.peek()) } })), dryRun)
        : await call(isDeleting ? "DELETE" : "PATCH", target, { params: { ...query, maxAffected: count, dryRun }, body: isDeleting ? undefined : body(value.peek()) });
    } catch (error) {
      problem.value = error;
      return null;
    }
  };
  const label = `${isDeleting ? "Delete" : "Change"} ${counted(count, "object")}`;
  const typed = signal("");
  const number = h("input", { inputmode: "numeric", autocomplete: "off", oninput: () => { typed.value = number.value; } });
  const isMeant = () => count <= TYPED || typed.value.replace(/\D/g, "") === String(count);
  await dialog(`${label} of ${visible(name)}`, (close) => {
    effect(() => { previewed.value = [chosen.value, value.value].length === 0; });
    const preview = async () => { previewed.value = await run(true) !== null; };
    const apply = async () => {
      const answer = await run(false);
      if (!answer) return;
      const inverse = before?.map(({ $meta: { key }, ...old }, index) => (isDeleting ? { create: { class: name, body: old } }
        : { patch: { class: name, key, ifMatch: answer.results[index].object.$meta.etag, body: body(old[member(chosen.peek())]) } }));
      close();
      offerUndo(realm, `${label}: done.${inverse && isDeleting ? " Undo brings them back, but not the links to them." : ""}`, inverse);
    };
    if (isDeleting) void preview();
    const property = () => properties.find((one) => one.name === chosen.value);
    const control = () => {
      const one = property();
      return one && untracked(() => {
        problems.clear();
        value.value = one.optional ? null : initial(one.type);
        return editor({ realm, schema, problems, label: visible(one.name), pointer: "" }, one, value);
      });
    };
    const examples = () => before?.slice(0, 5).map((one) => {
      const shown = property();
      return h("tr", null, h("th", { scope: "row" }, visible(one.$meta.key)), shown && h("td", null, cellNode(one[member(shown.name)], shown, realm)), h("td", null, isDeleting || !shown ? "deleted" : cellNode(value.value, shown, realm)));
    });
    return [!selected.length && h("p", null, stated ? ["All objects that ", h("code", null, visible(query.where)), " finds."] : `All objects of ${visible(name)}.`), !isDeleting && [choice(properties.map((one) => one.name), chosen, { "aria-label": "Property" }), control],
      shownProblem(problem), () => previewed.value && [h("p", { role: "status" }, "A dry run has done this and taken it back.", !before && " These are too many to be undone."),
        before && h("div.scroller", null, h("table.plain", null, h("tbody", null, examples)), count > 5 && "…")],
      count > TYPED && field(`Type ${count} to ${isDeleting ? "delete" : "change"} so many objects`, number),
      h("footer", null, !isDeleting && button("Preview", preview), button(label, apply, { class: isDeleting ? "danger" : "primary", disabled: () => !previewed.value || !isMeant() }))];
  }, "wide");
}
