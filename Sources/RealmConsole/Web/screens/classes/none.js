// SPDX-License-Identifier: Apache-2.0
import { h } from "../../core/dom.js";
import { address } from "../../core/router.js";
import { may, standing } from "../../core/session.js";
import { emptyNode } from "../../core/ui.js";

/**
 * What is shown of a realm without classes, or without any that the reader may see.
 *
 * @param {string} realm
 */
export function noClassNode(realm) {
  if (!may("administer", realm)) return emptyNode("There is no class that you may see", "Ask whoever runs this server for a role that reads one, or sign in with another key.", h("a", { href: address("", "realms") }, "All realms"));
  if (standing(realm).kind === "ro") return emptyNode("There is no class", "The realm is only read, so none can be added.");
  return emptyNode("There is no class yet", "Add the first one by a migration, or import an export, which brings its classes.",
    h("p", null, h("a.button", { href: address(realm, "classes", [], { view: "migrate" }) }, "Add a class"), " ", h("a.button", { href: address(realm, "transfer") }, "Import")));
}
