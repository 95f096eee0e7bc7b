// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { address } from "../../core/router.js";
import { may, standing } from "../../core/session.js";
import { emptyNode } from "../../core/ui.js";

/**
 * The content of a realm without visible classes.
 *
 * @param {string} realm
 */
export function noClassNode(realm) {
  if (!may("administer", realm)) return emptyNode("There is no class that you may see", "Ask the administrator for a role that reads one, or use another key.", h("a", { href: address("", "realms") }, "All realms"));
  if (standing(realm).kind === "ro") return emptyNode("There is no class", "The realm is read-only, so none can be added.");
  return emptyNode("There is no class yet", "Add the first one by a migration, or import an export, which brings its classes.",
    h("p", null, h("a.button", { href: address(realm, "classes", [], { view: "migrate" }) }, "Add a class"), " ", h("a.button", { href: address(realm, "transfer") }, "Import")));
}
