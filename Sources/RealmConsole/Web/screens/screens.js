// SPDX-License-Identifier: Apache-2.0
import { api } from "./api/api.js";
import { classes } from "./classes/classes.js";
import { collection } from "./collection/collection.js";
import { object } from "./object/object.js";
import { realms } from "./realms/realms.js";
import { rows } from "./rows/rows.js";
import { time } from "./time/time.js";
import { transfer } from "./transfer/transfer.js";
import { server } from "./server/server.js";

/**
 * The screens in the order of the navigation.
 *
 * @type {import("../core/app.js").Screen[]}
 */
export const screens = [realms, classes, rows, time, transfer, server, api, object, collection];
