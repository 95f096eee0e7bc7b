// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { stateNode } from "../../core/editors.js";
import { visible } from "../../core/format.js";
import { signal } from "../../core/signals.js";
import { button, dialog, table } from "../../core/ui.js";

/**
 * Shows what somebody else has changed beside one's own edits, and has one of both chosen for each property.
 *
 * @param {string} realm
 * @param {import("./object.js").Field[]} contested
 * @param {string[]} others Names of what else was changed.
 * @returns {Promise<boolean | undefined>} Whether to save what was chosen.
 */
export function chooseStates(realm, contested, others) {
  return dialog("Somebody else has changed this object", (close) => {
    const chosen = contested.map(() => signal(""));
    const finish = () => {
      contested.forEach(({ before, mine, theirs, turn }, index) => {
        if (chosen[index].peek() === "theirs") [mine.value, turn.value] = [theirs.peek(), turn.peek() + 1];
        before.value = theirs.peek();
      });
      close(true);
    };
    const rows = contested.map((field, index) => h("tr", null, h("th", { scope: "row" }, visible(field.property.name)), h("td", null, stateNode(field.before.peek(), field.property, realm)),
      /** @type {const} */ (["theirs", "mine"]).map((which) => h("td", null, h("label", null, h("input", { type: "radio", name: `choice${index}`, onchange: () => { chosen[index].value = which; } }), " ",
        stateNode(field[which].peek(), field.property, realm))))));
    return [rows.length > 0 && table(["Property", "Before", "Theirs", "Mine"], h("tbody", null, rows)),
      others.length > 0 && h("p", null, `Also changed, and not touched by you: ${visible(others.join(", "))}.`),
      h("footer", null, button("Back to my edits", () => close(false)), button(rows.length ? "Save the chosen" : "Save mine too", finish, { class: "primary", disabled: () => chosen.some((one) => !one.value) }))];
  }, "wide");
}
