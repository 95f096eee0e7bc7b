// SPDX-License-Identifier: Apache-2.0
import { call, inRealm, path, send } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { editor, stateNode } from "../../core/editors.js";
import { blank, escaped, member, operations, readExact, same } from "../../core/exact.js";
import { onChange } from "../../core/feed.js";
import { visible } from "../../core/format.js";
import { shortcut } from "../../core/keys.js";
import { address, go, route } from "../../core/router.js";
import { classNamed, schemaOf, typeText } from "../../core/schema.js";
import { may } from "../../core/session.js";
import { effect, signal, untracked } from "../../core/signals.js";
import { announce, button, emptyNode, loaded, shownProblem, waitingNode } from "../../core/ui.js";
import { chooseStates, statesOf } from "./differences.js";
import { linksNode } from "./links.js";
import { merged } from "./merge.js";
import { remove } from "./remove.js";
import { entityTag, offerUndo, reachable } from "./undo.js";

/**
 * @typedef {import("../../core/signals.js").Signal<any>} Value
 * @typedef {{property: import("../../core/schema.js").Property, key: string, before: Value, mine: Value, theirs: Value, turn: Value}} Field One property:
 *   its state when the edit began, that of the edit, and that of the server; each `turn` makes its editor anew.
 * @typedef {{realm: string, schema: import("../../core/schema.js").Schema, cls: import("../../core/schema.js").Class, key: string}} Subject
 */

/** @param {Field} field */
const isEdited = ({ before, mine }) => !same(before.value, mine.value);
/** @param {Field} field */
const isContested = (field) => isEdited(field) && !same(field.theirs.value, field.before.value) && !same(field.theirs.value, field.mine.value);

/** @type {import("../screens.js").View} */
export const object = ({ realm, rest: [name, key] }) => h("div.page", null, loaded(schemaOf(realm), (schema) => untracked(() => {
  const cls = classNamed(schema, name);
  return cls && key ? objectNode({ realm, schema, cls, key }) : emptyNode("There is no such class", "It may have been renamed, or you lack the right to see it.", h("a", { href: address(realm, "classes") }, "All classes"));
})));

/** @param {Subject} subject */
function objectNode(subject) {
  const { realm, schema, cls, key } = subject;
  const { name, primaryKey } = cls;
  const isNew = key === "@new";
  const allows = (/** @type {string} */ action) => cls.type === "object" && may(action, realm, name);
  const isWritable = allows(isNew ? "create" : "update");
  const target = inRealm(realm, "objects", name, ...(isNew ? [] : [key]));
  const draft = `rr:draft:${location.hash}`;
  const [problem, isShown, problems] = [signal(null), signal(false), new Map()];
  /** @type {Field[]} */
  const fields = cls.properties.map((property) => ({ property, key: member(property.name), before: signal(null), mine: signal(null), theirs: signal(null), turn: signal(0) }));
  const state = (/** @type {"before" | "mine"} */ which) => Object.fromEntries(fields.map((field) => [field.key, field[which].peek()]));
  const edited = () => fields.filter(isEdited);
  let [tag, turn] = ["", 0];
  /** @type {any[]} The operations of the last save. */
  let sent = [];

  /** Takes over what the server has, but for what is being edited; returns the names of what has changed. */
  const load = async () => {
    const [mine, from] = [turn += 1, isNew ? route.peek().query.get("from") : key];
    const document = await (from ? readExact(inRealm(realm, "objects", name, from)) : blank(schema, name));
    if (isNew && from && primaryKey) document[member(primaryKey)] = blank(schema, name)[member(primaryKey)];
    if (mine !== turn) return [];
    const isFirst = !isShown.peek();
    const kept = isFirst ? JSON.parse(sessionStorage.getItem(draft) ?? "{}") : {};
    tag = document.$meta?.etag;
    const changed = fields.filter((field) => {
      const [next, old] = [document[field.key], field.theirs.peek()];
      const keeps = isEdited(field);
      field.theirs.value = next;
      if (!keeps) [field.before.value, field.mine.value] = kept[field.key] ?? [next, next];
      if (isFirst || (!keeps && !same(next, old))) field.turn.value += 1;
      return !isFirst && !same(next, old);
    }).map(({ property }) => property.name);
    [isShown.value, problem.value] = [true, null];
    if (changed.length) announce(`Changed: ${changed.join(", ")}`);
    return changed;
  };
  const reload = () => void load().catch((error) => { problem.value = error; });
  /** @param {string[]} [others] The properties that another client has changed. @returns {Promise<void>} */
  const save = async (others) => {
    problem.value = null;
    if ([...problems.values()].some((one) => one.value)) return document.querySelector(".bad")?.scrollIntoView({ block: "center" });
    if (!isNew && !edited().length) return;
    const contested = fields.filter(isContested);
    if ((others || contested.length) && !await chooseStates(realm, schema, contested, others?.filter((one) => !contested.some(({ property }) => property.name === one)) ?? [])) return;
    try {
      await (isNew ? create() : change());
    } catch (/** @type {any} */ error) {
      const { code, pointer = "", detail } = error.problem ?? {};
      if (code === "precondition_failed" && !isNew) return save(await load());
      const [, index, , ...inner] = pointer.split("/");
      const at = isNew ? pointer : [sent[index]?.path, ...inner].join("/");
      const place = [...problems.keys()].filter((one) => `${at}/`.startsWith(`${one}/`)).sort().pop();
      if (place) problems.get(place).value = detail;
      else problem.value = error;
    }
  };
  const change = async () => {
    const [before, after] = [state("before"), state("mine")];
    sent = operations(schema, name, before, after).filter(({ value }) => !(value instanceof Blob));
    if (sent.length) {
      const { headers } = await send("PATCH", target, { body: JSON.stringify(sent), headers: { "If-Match": tag, "Content-Type": "application/json-patch+json", Prefer: "return=minimal" } });
      tag = headers.get("ETag") ?? "";
    }
    for (const { property, mine } of edited().filter((one) => one.mine.peek() instanceof Blob)) {
      const { headers } = await send("PUT", target + path(property.name), { body: mine.peek(), headers: { "If-Match": tag, "Content-Type": "application/octet-stream" } });
      tag = await entityTag(target, headers.get("Realm-Version"));
    }
    for (const field of edited()) {
      field.before.value = field.theirs.value = field.mine.peek();
      // Values inside Mixed have an address only now.
      if (field.property.type === "mixed") field.turn.value += 1;
    }
    offerUndo(realm, "Saved.", tag ? [{ patch: { class: name, key, body: operations(schema, name, after, before), ifMatch: tag } }] : null);
    await load();
  };
  const create = async () => {
    const { $meta } = await call("POST", target, { body: state("mine") });
    offerUndo(realm, "Created.", [{ delete: { class: name, key: $meta.key, ifMatch: $meta.etag } }]);
    fields.forEach((field) => { field.before.value = field.mine.peek(); });
    go(address(realm, "object", [name, $meta.key]));
  };

  effect(() => {
    const kept = edited().filter(({ mine }) => !(mine.value instanceof Blob)).map((field) => [field.key, [field.before.value, field.mine.value]]);
    try {
      if (kept.length) sessionStorage.setItem(draft, JSON.stringify(Object.fromEntries(kept)));
      else if (isShown.value) sessionStorage.removeItem(draft);
    } catch { /* It is too large to be kept. */ }
  });
  reload();
  if (!isNew) onChange(realm, reachable(schema, name), reload);
  if (isWritable) shortcut("Ctrl+s", "Save the object", () => void save());

  /** @param {Field} field */
  const row = (field) => {
    const { property, mine, before, theirs } = field;
    const isFixed = !isWritable || (property.name === primaryKey && !isNew);
    const label = visible(property.name);
    const place = { realm, schema, problems, label, pointer: escaped(field.key), path: property.name, takesFiles: !isNew, isFixed, open: isNew ? null : (/** @type {string} */ inner) => address(realm, "collection", [name, key, inner]) };
    // Inner changes by others alone stay.
    const keep = () => { [mine.value, before.value, field.turn.value] = [merged(schema, property, statesOf(field), () => false), theirs.peek(), field.turn.peek() + 1]; };
    const take = () => {
      mine.value = before.value = theirs.peek();
      field.turn.value += 1;
    };
    return h("div.property", { "data-name": property.name }, h("div", null, h("strong", null, label), h("small", null, typeText(property), property.name === primaryKey && " · primary key")), h("div", null, () => {
      const isFlashing = field.turn.value > 1;
      return untracked(() => h("div", { class: isFlashing && "flash" }, editor(place, property, mine)));
    }, () => isContested(field) && h("div.theirs", { role: "status" }, "Changed meanwhile to ", stateNode(theirs.value, property, realm), button("Take it", take), button("Keep mine", keep))),
    () => isWritable && !isNew && isEdited(field) && button("Revert", take, { class: "quiet", "aria-label": `${label}: revert` }));
  };
  return [h("header.bar", null, h("h1", null, h("a", { href: address(realm, "rows", [name]) }, visible(name)), " ", h("code", null, isNew ? "new" : visible(key))), () => isShown.value && h("span.bar.end", null, isWritable && button(isNew ? "Create" : "Save", () => save(), { class: "primary", "aria-keyshortcuts": "Control+S", disabled: () => !isNew && !edited().length }),
    !isNew && [allows("create") && h("a.button", { href: address(realm, "object", [name, "@new"], { from: key }) }, "Duplicate"), allows("delete") && button("Delete…", () => remove(subject), { class: "danger" })])),
  shownProblem(problem), () => problem.value?.problem?.code === "object_not_found" && h("p", null, "It may have been deleted. ", h("a", { href: address(realm, "rows", [name]) }, `The objects of ${visible(name)}`)),
  () => (isShown.value ? untracked(() => [fields.filter(({ mine }) => mine.peek() !== undefined).map(row), !isNew && linksNode(subject)]) : !problem.value && waitingNode())];
}
