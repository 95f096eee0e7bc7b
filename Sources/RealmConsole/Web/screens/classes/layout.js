// SPDX-License-Identifier: Apache-2.0
/**
 * Where the boxes of a diagram stand: in columns along the links, so that none overlap; the same schema gives the same picture.
 *
 * @typedef {import("../../core/schema.js").Class} Class
 * @typedef {{one: Class, x: number, y: number, height: number}} Box
 */

export const WIDTH = 250, ROW = 20, HEAD = 28, MOST = 24;
const [ACROSS, DOWN] = [WIDTH + 90, 24];

/** @param {Class[]} classes @returns {Map<string, Box>} */
export function layout(classes) {
  /** @type {Map<string, Box>} */
  const boxes = new Map(classes.map((one) => [one.name, { one, x: 0, y: 0, height: HEAD + ROW * Math.min(MOST + 1, one.properties.length) + 6 }]));
  const all = [...boxes.values()];
  const targets = new Map(all.map((box) => [box, box.one.properties.flatMap(({ objectType }) => (objectType !== box.one.name && boxes.get(objectType ?? "")) || [])]));
  /** @type {Map<Box, number>} The longest way to a class without links; -1 while it is sought, which ends circles. */
  const depths = new Map();
  /** @param {Box} box @returns {number} */
  const depth = (box) => depths.get(box) ?? (depths.set(box, -1), depths.set(box, 1 + Math.max(-1, ...(targets.get(box) ?? []).map(depth))), depth(box));
  const linked = new Set([...targets].flatMap(([box, to]) => (to.length ? [box, ...to] : [])));
  /** @type {Box[][]} From the deepest; the last are those without links. */
  const columns = [];
  for (const box of all) (columns[linked.has(box) ? classes.length - depth(box) : classes.length + 1] ??= []).push(box);
  const room = Math.max(500, Math.sqrt(all.reduce((sum, box) => sum + (box.height + DOWN) * ACROSS, 0) * 0.6));
  let x = 0;
  columns.forEach((column) => {
    // Each stands near those that link to it, which stand already.
    const wanted = new Map(column.map((box) => {
      const from = all.filter((other) => other.x < x && targets.get(other)?.includes(box));
      return [box, from.reduce((sum, other) => sum + other.y, 0) / (from.length || 1)];
    }));
    let y = 0;
    for (const box of column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))) {
      if (y && y + box.height > room) [x, y] = [x + ACROSS, 0];
      [box.x, box.y, y] = [x, y, y + box.height + DOWN];
    }
    x += ACROSS;
  });
  return boxes;
}
