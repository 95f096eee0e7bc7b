// SPDX-License-Identifier: Apache-2.0
// Thousands of commits while connections are cut and the server is restarted: the live lists equal fresh reads all the same.
import { Proxy, Server, makeTrouble, options } from "./stage.mjs";
import { connect } from "../../../../clients/javascript/realm-rest.js";
import { random, seed } from "./random.mjs";
import { Followers, Writer, replay } from "./workload.mjs";

const given = options({ server: "", commits: 10_000, restarts: 5, transport: "auto", checks: 8, swallow: false, tight: false });
const tight = ["queue-events=3", "queue-bytes=20000", "retention-sets=3", "retention-seconds=1", "registration-seconds=1", "idle-definitions=2", "stream-seconds=10"];
const limits = ["heartbeat=5", ...given.tight ? tight : []].flatMap((limit) => ["--limit", limit]);
const server = await new Server(given.server, ...limits).start();
const [rough, smooth] = [await new Proxy().listen(), await new Proxy().listen()];
rough.target = smooth.target = server.port;
rough.isSwallowing = Boolean(given.swallow);

const client = connect(rough.address, { transport: given.transport, silentSeconds: 12, firstByteSeconds: given.swallow ? 2 : 8 });
const direct = connect(smooth.address, { retries: 9 });
const writer = new Writer(direct.realm("store"), client.realm("store"), random);
await writer.prepare();
const followers = new Followers(client.realm("store"));
await followers.ready();

const trouble = makeTrouble(rough, random);
const began = Date.now();
let restarted = 0;
const { text } = await replay({
  writer, followers, fresh: direct.realm("store"), commits: given.commits, checks: given.checks, report: console.log, label: `seed ${seed}`,
  heap() { globalThis.gc?.(); return process.memoryUsage().heapUsed; },
  async between(commits) {
    if (commits < (restarted + 0.5) * given.commits / given.restarts || restarted >= given.restarts) return;
    restarted++;
    await server.restart(random(2) ? "SIGTERM" : "SIGKILL");
    rough.target = smooth.target = server.port;
  },
});
await trouble.end();
console.log(`${given.transport}${given.swallow ? ", streams blocked" : ""}${given.tight ? ", tight limits" : ""}: ${writer.commits} commits in ${((Date.now() - began) / 1000).toFixed(0)} s, `
  + `${rough.cuts} connections cut, ${server.restarts} restarts, ${text}${client.status.isPolling ? ", polling in the end" : ""}`);
if (given.swallow && !client.status.isPolling) throw new Error("blocked streams were not noticed");
client.close();
for (const one of [rough, smooth, server]) await one.close();
process.exit(0);
