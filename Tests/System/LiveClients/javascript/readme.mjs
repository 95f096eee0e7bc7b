// SPDX-License-Identifier: Apache-2.0
// Runs the examples of the client's page in order, and compares what they print with the comments that say so.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Server, options } from "./stage.mjs";

const CLIENT = new URL("../../../../clients/javascript/", import.meta.url);
const given = options({ server: "" });
const server = await new Server(given.server).start();
const page = readFileSync(new URL("README.md", CLIENT), "utf8");
const blocks = [...page.matchAll(/^```js\n([^]*?)^```/gm)].map((found) => found[1]);
const program = blocks.join("\n").replace('"/client.js"', JSON.stringify(new URL("realm-rest.js", CLIENT).href)).replace("http://127.0.0.1:8080", server.address);
const expected = [...program.matchAll(/\/\/ → (.*)$/gm)].map((found) => found[1]);

const printed = [];
const print = console.log;
console.log = (...values) => { printed.push(values.map((value) => typeof value === "string" ? value : inspect(value, { breakLength: Infinity })).join(" ")); };
const folder = mkdtempSync(join(tmpdir(), "realm-rest-readme-"));
let failure;
try {
  const file = join(folder, "program.mjs");
  writeFileSync(file, program);
  await import(pathToFileURL(file).href);
} catch (error) {
  failure = error;
}
console.log = print;
rmSync(folder, { recursive: true });
await server.close();
for (let at = 0; at < Math.max(printed.length, expected.length); at++) {
  if (printed[at] !== expected[at]) { failure ??= new Error("the page says something else"); print(`  says    ${expected[at]}\n  prints  ${printed[at]}`); }
}
if (failure) throw failure;
print(`  ${blocks.length} examples print the ${printed.length} lines that the page says`);
process.exit(0);
