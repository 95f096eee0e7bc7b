// SPDX-License-Identifier: Apache-2.0
import { realms } from "./realms/realms.js";

/**
 * The screens in the order of the navigation.
 *
 * @type {import("../core/app.js").Screen[]}
 */
export const screens = [realms];
