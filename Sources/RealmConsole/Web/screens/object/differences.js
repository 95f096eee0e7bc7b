// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { stateNode } from "../../core/editors.js";
import { same } from "../../core/exact.js";
import { visible } from "../../core/format.js";
import { signal } from "../../core/signals.js";
import { button, dialog, table } from "../../core/ui.js";
import { isContested, leaves, merged } from "./merge.js";

/** @param {import("./object.js").Field} field @returns {import("./merge.js").States} */
export const statesOf = ({ before, mine, theirs }) => [before.peek(), mine.peek(), theirs.peek()];

/**
 * Shows the changes of another client next to the edits, and has one of both chosen for each property, also inside embedded objects.
 *
 * @param {string} realm @param {import("../../core/schema.js").Schema} schema
 * @param {import("./object.js").Field[]} contested
 * @param {string[]} others Names of what else was changed.
 * @returns {Promise<boolean | undefined>} Whether to save what was chosen.
 */
export function chooseStates(realm, schema, contested, others) {
  return dialog("This object has changed", (close) => {
    const all = contested.flatMap((field) => leaves(schema, field.property, statesOf(field)));
    const both = all.filter(({ states }) => isContested(states));
    const theirsAlone = all.filter(({ states: [before, mine, theirs] }) => same(before, mine) && !same(before, theirs)).map(({ path }) => path);
    const chosen = new Map(both.map(({ path }) => [path, signal("")]));
    const finish = () => {
      contested.forEach((field) => {
        const { property, before, mine, theirs, turn } = field;
        const next = merged(schema, property, statesOf(field), (path) => chosen.get(path)?.peek() === "theirs");
        if (!same(next, mine.peek())) [mine.value, turn.value] = [next, turn.peek() + 1];
        before.value = theirs.peek();
      });
      close(true);
    };
    const rows = both.map(({ path, property, states: [before, mine, theirs] }, index) => h("tr", null, h("th", { scope: "row" }, visible(path)), h("td", null, stateNode(before, property, realm)),
      [["theirs", theirs], ["mine", mine]].map(([which, state]) => h("td", null, h("label", null, h("input", { type: "radio", name: `choice${index}`, onchange: () => { /** @type {any} */ (chosen.get(path)).value = which; } }), " ",
        stateNode(state, property, realm))))));
    const untouched = [...others, ...theirsAlone];
    return [rows.length > 0 && table(["Property", "Before", "Theirs", "Mine"], h("tbody", null, rows)),
      untouched.length > 0 && h("p", null, `Also changed, and not touched by you: ${visible(untouched.join(", "))}.`),
      h("footer", null, button("Back to my edits", () => close(false)), button(rows.length ? "Save the chosen" : "Save mine too", finish, { class: "primary", disabled: () => [...chosen.values()].some((one) => !one.value) }))];
  }, "wide");
}
