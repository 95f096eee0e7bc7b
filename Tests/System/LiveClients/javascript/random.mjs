// SPDX-License-Identifier: Apache-2.0
// Numbers that a printed seed brings back.

/** A generator of whole numbers below a bound. */
export function generator(start) {
  let state = start >>> 0;
  return (bound) => {
    state = (state + 0x6D2B79F5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const given = Number(globalThis.process?.env?.SEED ?? 0);
export const seed = given || Date.now() % 1_000_000;
export const random = generator(seed);
if (globalThis.process) console.log(`# SEED=${seed}`);
