// SPDX-License-Identifier: Apache-2.0
// Compares scripts as a server gives them with their sources: both must be the same program to the parser of TypeScript.
// That of Debian is used, whose `tsc` is in the PATH.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Server, options } from "./stage.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const WEB = join(ROOT, "Sources/RealmConsole/Web");

const ts = createRequire(realpathSync(execFileSync("which", ["tsc"], { encoding: "utf8" }).trim()))("../lib/typescript.js");
const server = await new Server(options({ server: "" }).server).start();

/** The tree of a script, with the text of every leaf: what the parser sees, comments and blanks aside. */
function tree(name, text) {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  if (file.parseDiagnostics.length) throw new Error(`${name}: ${ts.flattenDiagnosticMessageText(file.parseDiagnostics[0].messageText, "\n")}`);
  const lines = [];
  const walk = (node, depth) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(file);
    lines.push(`${" ".repeat(depth)}${ts.SyntaxKind[node.kind]}${children.length ? "" : ` ${node.getText(file)}`}`);
    for (const child of children) walk(child, depth + 1);
  };
  walk(file, 0);
  return lines;
}

const served = [["clients/javascript/realm-rest.js", "/client.js"]];
for (const entry of readdirSync(WEB, { recursive: true })) {
  if (entry.endsWith(".js")) served.push([join("Sources/RealmConsole/Web", entry), `/console/${entry}`]);
}
let [before, after] = [0, 0];
for (const [source, path] of served) {
  const answer = await fetch(server.address + path);
  const [own, other] = [readFileSync(join(ROOT, source), "utf8"), await answer.text()];
  if (answer.status !== 200) throw new Error(`${path} is ${answer.status}`);
  const [expected, found] = [tree(source, own), tree(path, other)];
  const at = expected.findIndex((line, index) => line !== found[index]);
  if (at >= 0 || expected.length !== found.length) throw new Error(`${path} differs from its source: ${expected[at]} | ${found[at]}`);
  before += own.length;
  after += other.length;
}
await server.close();
console.log(`  ${served.length} scripts are what their sources are, ${before >> 10} KiB in ${after >> 10} KiB`);
