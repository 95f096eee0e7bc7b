// SPDX-License-Identifier: Apache-2.0
/**
 * Maps the scroll position of an element, whose height browsers limit, to that of all rows. Both are equal near the
 * beginning and the end, so these are reached exactly; between, one pixel of the element represents several.
 */

export const ROW = 30;
const [MOST, EDGE] = [10_000_000, 20_000];

/** @param {number} count Of rows. */
export function canvasHeight(count) {
  return Math.min(count * ROW, MOST);
}

/** @param {number} count @param {number} view The height that is visible. */
export function mapping(count, view) {
  const [real, all] = [canvasHeight(count) - view, count * ROW - view];
  const factor = all > real ? (all - 2 * EDGE) / (real - 2 * EDGE) : 1;
  /** @param {number} x @param {number} from @param {number} to @param {number} by */
  const mapped = (x, from, to, by) => (x <= EDGE || factor === 1 ? x : x >= from - EDGE ? to - (from - x) : EDGE + (x - EDGE) * by);
  return {
    isMapped: factor !== 1, end: Math.max(0, all),
    /** @param {number} top */
    position: (top) => mapped(top, real, all, factor),
    /** @param {number} position */
    top: (position) => mapped(position, all, real, 1 / factor),
  };
}
