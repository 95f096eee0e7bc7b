// SPDX-License-Identifier: Apache-2.0
// Serves the page of the test, and the realm server behind its proxies, for a browser. The first line of output says where.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Proxy, Server, makeTrouble, options } from "./stage.mjs";
import { random, seed } from "./random.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../../..");
const given = options({ server: "", commits: 2000, restarts: 3 });
const KINDS = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript" };

const pages = createServer(async (request, response) => {
  if (request.method === "POST" && request.url === "/restart") {
    await server.restart(random(2) ? "SIGTERM" : "SIGKILL");
    rough.target = smooth.target = server.port;
    response.end();
    return;
  }
  const path = normalize(new URL(request.url, "http://page").pathname);
  const isOurs = path.startsWith("/Tests/System/LiveClients/javascript/");
  // The client is the one that the server gives away, as pages of other origins take it.
  const body = path === "/clients/javascript/realm-rest.js" ? `export * from "${smooth.address}/client.js";`
    : isOurs ? await readFile(join(ROOT, path)).catch(() => null) : null;
  response.writeHead(body ? 200 : 404, { "Content-Type": KINDS[extname(path)] ?? "text/plain" }).end(body ?? "");
});
await new Promise((resolve) => pages.listen(0, "127.0.0.1", resolve));
const page = `http://127.0.0.1:${pages.address().port}`;
const server = await new Server(given.server, "--limit", "heartbeat=5", "--allow-origin", page).start();
const [rough, smooth] = [await new Proxy().listen(), await new Proxy().listen()];
rough.target = smooth.target = server.port;
makeTrouble(rough, random);
const query = new URLSearchParams({ rough: rough.address, smooth: smooth.address, commits: given.commits, restarts: given.restarts, seed });
console.log(`page ${page}/Tests/System/LiveClients/javascript/page.html?${query}`);

process.stdin.resume().on("end", async () => {
  console.log(`${rough.cuts} connections cut, ${server.restarts} restarts`);
  await server.close();
  process.exit(0);
});
