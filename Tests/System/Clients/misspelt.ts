// SPDX-License-Identifier: Apache-2.0
// Each of these is a mistake that the compiler has to find.
import { Category, CategoryBatch, CategoryCreate, Customer } from "./client/index";

export const read = (one: Category) => one.nmae;
export const inner = (one: Customer) => one.address?.cty;
export const made: CategoryCreate = { id: 1, name: "", sortOrdr: 1 };
export const several: CategoryBatch = { ops: [{ patch: { key: "1", body: { titel: "" } } }] };
