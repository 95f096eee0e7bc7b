// SPDX-License-Identifier: Apache-2.0
import { inRealm, read } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { onChange } from "../../core/feed.js";
import { counted, formatCount, visible } from "../../core/format.js";
import { effect, onCleanup, signal } from "../../core/signals.js";
import { button, progress, shownProblem, table } from "../../core/ui.js";
import { cellNode, linkNode } from "../../core/values.js";
import { differences } from "./differences.js";

/**
 * @typedef {import("./differences.js").Difference & {old: any, now: any}} Pair
 * @typedef {import("../../core/schema.js").Class} Class
 */

const [PAGE, KINDS] = [25, { added: "good", removed: "danger", changed: "warn", same: "" }];

/**
 * The differences of a class between a snapshot and now: row by row, and cell by cell.
 *
 * @param {string} realm @param {Class} type @param {string} snapshot
 */
export function comparison(realm, type, snapshot) {
  const [pairs, problem, seen, state, turn, isStale] = [signal(/** @type {Pair[]} */ ([])), signal(null), signal(0), signal("busy"), signal(0), signal(false)];
  const again = () => { turn.value = turn.peek() + 1; };
  const equal = h("input", { type: "checkbox", onchange: again });
  let [current, more] = [new AbortController(), async () => {}];
  effect(() => {
    turn.value;
    const abort = current = new AbortController();
    onCleanup(() => abort.abort());
    let count = 0;
    /** @type {Pair[]} */
    let found = [];
    const source = differences(realm, type, snapshot, { withEqual: equal.checked, abort: abort.signal, seen: (rows) => { seen.value = count += rows; } });
    const side = (/** @type {boolean} */ isThere, /** @type {string} */ key, /** @type {string | null} */ id) => (isThere ? read(inRealm(realm, "objects", type.name, key), { snapshot: id }, abort.signal) : null);
    more = async () => {
      state.value = "busy";
      try {
        let isOver = false;
        const page = [];
        while (page.length < PAGE && !isOver) {
          const { value, done } = await source.next();
          isOver = !!done;
          if (value) page.push(value);
        }
        found = [...found, ...await Promise.all(page.map(async (one) => ({ ...one, old: await side(one.kind !== "added", one.key, snapshot), now: await side(one.kind !== "removed", one.key, null) })))];
        [pairs.value, problem.value, state.value] = [found, null, isOver ? "over" : "more"];
      } catch (error) {
        if (!abort.signal.aborted) problem.value = error;
        else if (current === abort) state.value = "stopped";
      }
    };
    isStale.value = false;
    void more();
  });
  // A short comparison is repeated with each change.
  onChange(realm, [type.name], () => { if (seen.peek() <= 4000 && pairs.peek().length <= PAGE) again(); else isStale.value = true; }, 700);
  return [h("div.bar", null, h("label", null, equal, " Equal objects too"), button("Compare again", again),
    h("span.soft", { role: "status" }, () => (state.value === "over" && !pairs.value.length ? "There is no difference." : summary(pairs.value) + (state.value === "more" ? " so far" : "")) + (isStale.value ? " · changed since" : ""))),
  shownProblem(problem),
  () => state.value === "busy" && !problem.value && h("div.waiting", null, progress("Comparing", () => null, () => current.abort()), h("span", null, () => `${counted(seen.value, "object")} read`)),
  () => pairs.value.length > 0 && table(["Object", "Property", "Then", "Now"], h("tbody.pairs", null, pairs.value.map((one) => pairNodes(realm, type, one)))),
  () => state.value === "more" && button("Show more", () => more())];
}

/** @param {Pair[]} pairs */
function summary(pairs) {
  return ["added", "removed", "changed"].map((kind) => `${formatCount(pairs.filter((one) => one.kind === kind).length)} ${kind}`).join(", ");
}

/** @param {string} realm @param {Class} type @param {Pair} pair */
function pairNodes(realm, { name, properties }, { key, kind, old, now }) {
  const text = (/** @type {any} */ value) => JSON.stringify(value) ?? "";
  const shown = properties.filter((one) => kind === "same" || text(old?.[one.name]) !== text(now?.[one.name]));
  const cell = (/** @type {any} */ object, /** @type {any} */ property) => {
    const value = object?.[property.name];
    return h("td", null, object && (value && typeof value === "object" && !Object.keys(value)[0]?.startsWith("$") ? h("code", null, visible(text(value).slice(0, 400))) : cellNode(value, property, realm)));
  };
  return shown.map((property, index) => h("tr", null,
    !index && h("th", { scope: "row", rowspan: shown.length }, linkNode({ class: name, key }, realm), " ", h("span.tag", { class: KINDS[kind] }, kind)), h("td", null, visible(property.name)), cell(old, property), cell(now, property)));
}
