// SPDX-License-Identifier: Apache-2.0
import { download } from "../../core/api.js";
import { h, svg } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { go } from "../../core/router.js";
import { typeText } from "../../core/schema.js";
import { signal } from "../../core/signals.js";
import { button } from "../../core/ui.js";
import { HEAD, layout, MOST, ROW, WIDTH } from "./layout.js";

const SOFT = "var(--soft)";

/** @param {string} text @param {number} room In characters. */
function cut(text, room) {
  const all = [...visible(text)];
  return all.length > room ? `${all.slice(0, room - 1).join("")}…` : all.join("");
}

/** @typedef {import("./layout.js").Box} Box @param {Box} box @param {(isKey: boolean) => void} open @param {{value: string}} hot The class under the pointer. */
function boxNode({ one, x, y, height }, open, hot) {
  const text = (/** @type {string} */ words, /** @type {number} */ row, more = {}) => svg("text", { x: 10, y: row, fill: "var(--text)", ...more }, words);
  const warm = () => { hot.value = one.name; };
  return svg("g", { transform: `translate(${x} ${y})`, role: "link", tabindex: 0, "aria-label": `Class ${visible(one.name)}`, onclick: () => open(false), onkeydown: (event) => event.key === "Enter" && open(true),
    onpointerenter: warm, onfocus: warm, onpointerleave: () => { hot.value = ""; } },
  svg("title", null, visible(one.name)), svg("rect", { width: WIDTH, height, rx: 6, fill: "var(--ground)", "fill-opacity": 0.9, stroke: SOFT, "stroke-dasharray": one.type === "embedded" ? "5 3" : null }),
  svg("path", { d: `M0 ${HEAD}h${WIDTH}`, stroke: "var(--line)" }), text(cut(one.name, 28), 19, { "font-weight": 700 }),
  one.properties.slice(0, MOST).map((property, index) => [text((property.name === one.primaryKey ? "⚷ " : "") + cut(property.name, 16), HEAD + ROW * index + 16), text(cut(typeText(property), 15), HEAD + ROW * index + 16, { x: WIDTH - 10, fill: SOFT, "text-anchor": "end" })]),
  one.properties.length > MOST && text(`${one.properties.length - MOST} more`, HEAD + ROW * MOST + 16, { fill: SOFT }));
}

/** @param {Map<string, Box>} boxes @param {{value: string}} hot */
function linkNodes(boxes, hot) {
  /** @type {Record<string, number>} The number of lines that arrive at a side of a box. */
  const arrivals = {};
  return [...boxes.values()].flatMap((from) => from.one.properties.map(({ name, objectType, collection, optional }, index) => {
    const to = boxes.get(objectType ?? "");
    if (!to) return null;
    // A link to the left or into its own column arrives on the right.
    const side = to.x <= from.x ? 1 : -1;
    const place = arrivals[`${side}${objectType}`] = (arrivals[`${side}${objectType}`] ?? -1) + 1;
    const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEAD + ROW * Math.min(index, MOST) + 10, side > 0 ? to.x + WIDTH : to.x, to.y + Math.min(HEAD / 2 + 15 * place, to.height - 5)];
    const bend = side > 0 ? 60 : Math.max(40, (x2 - x1) / 2);
    const isHot = () => hot.value && [from.one.name, objectType].includes(hot.value);
    const colour = () => (isHot() ? "var(--accent)" : SOFT);
    return svg("g", { fill: "none", stroke: colour, "stroke-width": () => (isHot() ? 2.2 : 1.2) }, svg("title", null, visible(`${from.one.name}.${name} → ${objectType}`)),
      svg("path", { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + side * bend} ${y2} ${x2} ${y2}m${side * 8} -4l${side * -8} 4l${side * 8} 4` }), to.one.type === "embedded" && svg("path", { d: `M${x1} ${y1}l6 -4l6 4l-6 4z`, fill: colour }),
      svg("text", { x: x2 + side * 12, y: y2 - 4, fill: colour, stroke: "none", "text-anchor": side > 0 ? "start" : "end" }, collection ? "*" : optional ? "0..1" : "1"));
  }));
}

/** @param {import("../../core/schema.js").Class[]} classes @param {string} file The name of a download. @param {(name: string) => string} link The address of a class. */
export function diagramNode(classes, file, link) {
  const [boxes, hot, view] = [layout(classes), signal(""), signal({ x: 0, y: 0, scale: 1 })];
  const all = [...boxes.values()];
  const [wide, high] = [Math.max(...all.map((box) => box.x)) + WIDTH + 90, Math.max(...all.map((box) => box.y + box.height)) + 20];
  let moved = 0;
  const pan = (/** @type {number} */ x, /** @type {number} */ y) => { view.value = { ...view.peek(), x: view.peek().x + x, y: view.peek().y + y }; };
  /** @param {number} by About a point. */
  const zoom = (by, left = node.clientWidth / 2, top = node.clientHeight / 2) => {
    const { x, y, scale } = view.peek();
    const next = Math.min(4, Math.max(0.05, scale * by));
    view.value = { x: left - (left - x) * next / scale, y: top - (top - y) * next / scale, scale: next };
  };
  const fit = (least = 0) => {
    const scale = Math.max(least, Math.min(1.2, node.clientWidth / wide, node.clientHeight / high));
    view.value = { x: 10 * scale, y: 10 * scale, scale };
  };
  /** @type {Record<string, () => void>} */
  const keys = { ArrowLeft: () => pan(50, 0), ArrowRight: () => pan(-50, 0), ArrowUp: () => pan(0, 50), ArrowDown: () => pan(0, -50), "+": () => zoom(1.25), "-": () => zoom(0.8), 0: () => fit() };
  const content = svg("g", { transform: () => `translate(${view.value.x} ${view.value.y}) scale(${view.value.scale})` }, linkNodes(boxes, hot), all.map((box) => boxNode(box, (isKey) => { if (isKey || moved < 5) go(link(box.one.name)); }, hot)));
  const text = { "font-family": "sans-serif", "font-size": 13 };
  const node = svg("svg.diagram", { ...text, tabindex: 0, role: "group", "aria-label": "Diagram of the classes: arrows move it, + and - zoom, 0 shows all",
    onkeydown: (event) => { if (keys[event.key]) [keys[event.key](), event.preventDefault()]; },
    onwheel: (event) => {
      const { left, top } = node.getBoundingClientRect();
      [event.preventDefault(), zoom(0.9985 ** event.deltaY, event.clientX - left, event.clientY - top)];
    },
    onpointerdown: () => { moved = 0; },
    onpointermove: ({ buttons, movementX, movementY, pointerId }) => {
      if (!buttons) return;
      moved += Math.abs(movementX) + Math.abs(movementY);
      if (moved > 4) node.setPointerCapture(pointerId);
      pan(movementX, movementY);
    } }, content);
  // A larger diagram begins legible, not whole.
  requestAnimationFrame(() => fit(0.5));
  const save = () => {
    const copy = svg("svg", { ...text, viewBox: `-10 -10 ${wide} ${high}` }, content.cloneNode(true));
    copy.firstChild.removeAttribute("transform");
    // Elsewhere the page's variables are unknown.
    const style = getComputedStyle(node);
    for (const name of ["fill", "stroke"]) copy.querySelectorAll(`[${name}^=var]`).forEach((/** @type {any} */ one) => one.setAttribute(name, style.getPropertyValue(one.getAttribute(name).slice(4, -1))));
    download(URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" })), file);
  };
  return [h("div.bar", null, button("+", () => zoom(1.25), { "aria-label": "Zoom in" }), button("−", () => zoom(0.8), { "aria-label": "Zoom out" }), button("Show all", () => fit()), button("Download as SVG", save)), node];
}
