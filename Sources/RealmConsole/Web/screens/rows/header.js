// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { typeText } from "../../core/schema.js";

/**
 * The heads of the columns: a click sorts, the edge is dragged to resize, the head itself to another place.
 *
 * @param {import("./columns.js").Layout} layout @param {string} sort @param {(name: string, isMore: boolean) => void} onSort
 */
export function header(layout, sort, onSort) {
  const terms = sort.split(",").filter(Boolean);
  return h("div.row", { role: "row", "aria-rowindex": 1 }, h("div.cell.pinned", { role: "columnheader", "aria-colindex": 1 }, h("span.visually-hidden", null, "Selection")),
    layout.columns().map(({ property, isPinned }, i) => {
      const { name } = property;
      const [title, kind] = [visible(name.slice(0, 200)), visible(typeText(property).slice(0, 200))];
      const at = terms.findIndex((term) => term === name || term === `-${name}`);
      const order = at < 0 ? null : terms[at] === name ? "ascending" : "descending";
      return h("div.cell", {
        role: "columnheader", "aria-colindex": i + 2, "aria-sort": order, draggable: "true", title: `${title}: ${kind}`,
        class: `${isPinned ? "pinned" : ""} ${layout.isRight(property) ? "right" : ""}`, style: isPinned ? { left: `var(--left${i})` } : null,
        onclick: (event) => onSort(name, event.shiftKey),
        ondragstart: (event) => event.dataTransfer.setData("text/x-column", name),
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => {
          event.preventDefault();
          layout.place(event.dataTransfer.getData("text/x-column"), name);
        },
      }, h("span.name", null, title, order && h("span", { "aria-hidden": "true" }, order === "ascending" ? " ▲" : " ▼", terms.length > 1 ? at + 1 : "")), h("small", null, kind), handle(property, layout));
    }));
}

/** @param {import("../../core/schema.js").Property} property @param {import("./columns.js").Layout} layout */
function handle(property, layout) {
  let x = NaN;
  return h("span.handle", {
    onclick: (event) => event.stopPropagation(),
    onpointerdown: (event) => {
      x = event.clientX;
      event.target.parentElement.draggable = false;
      event.target.setPointerCapture(event.pointerId);
    },
    onpointermove: (event) => {
      if (Number.isNaN(x)) return;
      layout.resize(property, event.clientX - x);
      x = event.clientX;
    },
    onpointerup: (event) => {
      x = NaN;
      event.target.parentElement.draggable = true;
    },
  });
}
