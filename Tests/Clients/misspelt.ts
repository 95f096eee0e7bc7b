// SPDX-License-Identifier: Apache-2.0
// Each of these is a mistake that the compiler has to find.
import { Category, CategoryCreate, Customer } from "./client/index";

export const read = (one: Category) => one.nmae;
export const inner = (one: Customer) => one.address?.cty;
export const made: CategoryCreate = { id: 1, name: "", sortOrdr: 1 };
