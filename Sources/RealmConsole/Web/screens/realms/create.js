// SPDX-License-Identifier: Apache-2.0
import { call, inRealm } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { counted, visible } from "../../core/format.js";
import { address, go } from "../../core/router.js";
import { signal } from "../../core/signals.js";
import { choice, field, isNoRealm, isOfKey, KEY_RULE, keyInput, problemNode, toast } from "../../core/ui.js";
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
    h("div", { hidden: () => kind.value !== "schema" }, field("Schema", schema, "In the form of the schema of any realm.")),
    h("label", null, memory, " In memory only: lost when the server ends")],
  async () => add({ name: name.value, inMemory: memory.checked ? name.value : undefined, schema: kind.value === "schema" ? JSON.parse(schema.value) : undefined, sample: kind.value === "sample" ? "store" : undefined }));
}

/** Attaches a file of the server. */
export async function attach() {
  const [path, key, mode] = [input({ required: true }), input(), signal("")];
  await form("Attach a file of the server", "Attach", [field("Path", path, "In the data folder, or in one of --attach-root."),
    field("Mode", choice([["", "as the file permits"], ["rw", "read and write"], ["ro", "read only"], ["copy", "a private copy"], ["follow", "follow the file, live"]], mode)), keyField(key)],
  () => add({ path: path.value, mode: mode.peek() || undefined, encryptionKey: key.value.trim() || undefined }));
}

/** @param {Promise<any>} sent @returns {Promise<any>} The error instead, when no key helps. */
const keyed = (sent) => sent.catch((error) => { if (!isNoRealm(error)) throw error; return { error }; });

/** @param {string} name */
export async function giveKey(name) {
  const key = keyInput();
  const said = await form(`The key of ${visible(name)}`, "Open", keyField(key), () => keyed(call("PUT", inRealm(name, "key"), { body: { encryptionKey: key.value.trim() } })));
  if (said?.error) throw said.error;
}

/** Removes the message about the former files. */
let forget = () => {};

/**
 * Opens private copies of files of the user, one after the other, and shows a line for each. Encrypted ones ask for their keys.
 *
 * @param {File[]} files @param {string[]} names Those that are taken.
 */
export async function openFiles(files, names) {
  const [lines, taken] = [/** @type {any[]} */ ([]), [...names]];
  let failed = 0;
  forget();
  for (const file of files) {
    const base = file.name.replace(/\.realm$/, "");
    const name = free(base, taken);
    try {
      const made = await openFile(file, name);
      if (!made) continue;
      taken.push(name);
      const { fromFormat, noteCount } = made.conversion ?? {};
      lines.push(h("p", null, `${visible(file.name)} is open as a private copy${name === base ? "" : `, ${name}`}`,
        fromFormat && `, converted from format ${fromFormat}${noteCount ? ` (${counted(noteCount, "note")})` : ""}`, "."));
    } catch (/** @type {any} */ error) {
      if (error.name === "AbortError") break;
      failed += 1;
      lines.push(h("div", null, h("strong", null, visible(file.name)), problemNode(error)));
    }
  }
  const opened = lines.length - failed;
  if (opened && files.length === 1) go(address(taken[names.length], "classes"));
  if (lines.length) forget = toast(h("div", null, lines, opened > 0 && "Private copies last until they are detached or the server ends. Download them to keep your changes."), undefined, 15);
}

/** The beginnings of files that are not encrypted realms: plain realms, zeros, text, and kinds with a beginning of four bytes or more. */
const PLAIN = /^(.{16}T-DB|\0{24}|[\t\n\r -~]{24}|SQLite f|PK\x03\x04|\xfd7zX|\(\xb5\/\xfd|7z\xbc\xaf|bplist|%PDF-|\x7fELF|\xcf\xfa\xed\xfe|\x89PNG|GIF8|RIFF|Rar!|\xd0\xcf\x11\xe0)/s;

/** @param {File} file @returns Whether it looks like an encrypted realm: whole pages, with no other known beginning. */
const looksEncrypted = async (file) => file.size >= 8192 && file.size % 4096 === 0 && !PLAIN.test(String.fromCharCode(...new Uint8Array(await file.slice(0, 24).arrayBuffer())));

/** @param {File} file @param {string} name @returns {Promise<any>} The realm; undefined when no key was given. */
async function openFile(file, name) {
  const send = (/** @type {Record<string, string>} */ headers) => sendFile("/v1/uploads", file, { name }, headers);
  // An encrypted file is sent once, with its key.
  if (!await looksEncrypted(file)) {
    try {
      return await send({});
    } catch (/** @type {any} */ error) {
      if (!isOfKey(error.problem)) throw error;
    }
  }
  const key = keyInput();
  const made = await form(`Open ${visible(file.name)}`, "Open", [h("p", null, "The file is encrypted, or no Realm file."), keyField(key)], () => keyed(send({ "Realm-Encryption-Key": key.value.trim() })));
  if (made?.error) throw made.error;
  return made;
}

/** @param {string} target @param {File} file @param {Record<string, string>} [params] @param {Record<string, string>} [headers] */
export function sendFile(target, file, params, headers) {
  return work(`Sending ${visible(file.name)}`, (abort, done) => upload(target, file, { params, headers: { "Content-Type": "application/octet-stream", ...headers }, abort, done }));
}
