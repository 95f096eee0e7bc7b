// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { visible } from "../../core/format.js";
import { address, go } from "../../core/router.js";
import { signal } from "../../core/signals.js";
import { choice, field, KEY_RULE, keyInput, toast } from "../../core/ui.js";
import { form, upload, work } from "../../core/work.js";

const EXAMPLE = '{"classes": [\n {"name": "Dog", "primaryKey": "id", "properties": [\n  {"name": "id", "type": "int"},\n  {"name": "name", "type": "string", "optional": true}]}]}';

/** @param {Record<string, any>} [attributes] */
const input = (attributes) => h("input", { spellcheck: "false", autocomplete: "off", ...attributes });

/** @param {HTMLInputElement} control */
const keyField = (control) => field("Encryption key", control, KEY_RULE);

/** @param {any} body Of the request that creates or attaches. */
async function add(body) {
  const { name } = await work("Opening", (abort) => call("POST", "/v1/realms", { body, abort }));
  go(address(name, "classes"));
}

/** @param {string} wanted @param {string[]} names Those that are taken. */
function free(wanted, names) {
  const base = wanted.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "").slice(0, 58) || "realm";
  let [name, count] = [base, 1];
  while (names.includes(name)) name = `${base}-${count += 1}`;
  return name;
}

/** @param {string[]} names Those that are taken. */
export async function create(names) {
  const [kind, memory, schema] = [signal("schema"), input({ type: "checkbox" }), h("textarea.mono", { rows: 8, spellcheck: "false", value: EXAMPLE })];
  const name = input({ required: true, pattern: "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,63}", title: "Up to 64 of A-Z a-z 0-9 . _ -", value: free("app", names) });
  await form("Create a realm", "Create", [field("Name", name), field("Begin with", choice([["schema", "a schema"], ["sample", "sample data of a store"], ["empty", "nothing"]], kind)),
    h("div", { hidden: () => kind.value !== "schema" }, field("Schema", schema, "Classes with their properties and types, as the schema of any realm is written.")),
    h("label", null, memory, " In memory only: lost when the server ends")],
  async () => add({ name: name.value, inMemory: memory.checked ? name.value : undefined, schema: kind.value === "schema" ? JSON.parse(schema.value) : undefined, sample: kind.value === "sample" ? "store" : undefined }));
}

/** Attaches a file of the server. */
export async function attach() {
  const [path, key, mode] = [input({ required: true }), input(), signal("")];
  await form("Attach a file of the server", "Attach", [field("Path", path, "In the data folder, or in one that the server was started with --attach-root for."),
    field("Mode", choice([["", "as the file permits"], ["rw", "read and write"], ["ro", "read only"], ["copy", "a private copy"], ["follow", "follow the file, live"]], mode)), keyField(key)],
  () => add({ path: path.value, mode: mode.peek() || undefined, encryptionKey: key.value.trim() || undefined }));
}

/** @param {string} name */
export async function giveKey(name) {
  const key = keyInput();
  await form(`The key of ${visible(name)}`, "Open", keyField(key), () => call("PUT", inRealm(name, "key"), { body: { encryptionKey: key.value.trim() } }));
}

/**
 * Opens a private copy of a file of the user's computer; an encrypted one asks for its key.
 *
 * @param {File} file @param {string[]} names
 */
export async function openFile(file, names) {
  const name = free(file.name.replace(/\.realm$/, ""), names);
  const send = async (/** @type {Record<string, string>} */ headers) => {
    await sendFile("/v1/uploads", file, { name }, headers);
    toast(`${visible(file.name)} is open as a private copy, which is gone when it is detached or the server ends. Download it to keep what you change.`);
    go(address(name, "classes"));
  };
  if (await file.slice(16, 20).text() === "T-DB") return send({});
  const key = keyInput();
  await form(`Open ${visible(file.name)}`, "Open", [h("p", null, "The file is encrypted, or no Realm file."), keyField(key)], () => send({ "Realm-Encryption-Key": key.value.trim() }));
}

/** @param {string} target @param {File} file @param {Record<string, string>} [params] @param {Record<string, string>} [headers] */
export function sendFile(target, file, params, headers) {
  return work(`Sending ${visible(file.name)}`, (abort, done) => upload(target, file, { params, headers: { "Content-Type": "application/octet-stream", ...headers }, abort, done }));
}
