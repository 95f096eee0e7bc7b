// SPDX-License-Identifier: Apache-2.0
// A thousand live queries: on one stream where the server allows so many names, and on as many streams as its defaults make of them.
import { Server, options, sleep } from "./stage.mjs";
import { connect, stringify } from "../../../../clients/javascript/realm-rest.js";
import { random, seed } from "./random.mjs";
import { Writer } from "./workload.mjs";

const given = options({ server: "", commits: 200, queries: 1000 });

/** Waits until a list equals a fresh read. */
async function compare(list, fresh, name) {
  for (const end = Date.now() + 30_000; ; await sleep(300)) {
    const [want, have] = [await fresh.toArray(), [...list]].map(stringify);
    if (want === have) return;
    if (Date.now() > end) throw new Error(`seed ${seed}: ${name} does not equal a fresh read\n  ${have}\n  ${want}`);
  }
}

async function trial(title, names, more, expected) {
  const server = await new Server(given.server, "--limit", "heartbeat=5", ...more).start();
  const [client, other] = [connect(server.address, { namesPerStream: names, maxStreams: expected.maxStreams }), connect(server.address)];
  const realm = client.realm("store");
  const query = (one, at) => one.objects("Product").where("stock >= $0 AND stock < $1", at % 200, at % 200 + 10 + Math.floor(at / 200)).sort(at % 2 ? "-price" : "name").limit(10);
  const began = Date.now();
  const lists = Array.from({ length: given.queries }, (_, at) => query(realm, at).live());
  await Promise.all(lists.map((list) => list.ready));
  const opened = Date.now() - began;
  const { open } = client.status;
  let changes = 0;
  for (const list of lists) list.subscribe(() => { changes++; });
  const writer = new Writer(other.realm("store"), other.realm("store"), random);
  await writer.prepare();
  const writing = Date.now();
  while (writer.commits < given.commits) await writer.commit();
  const written = Date.now() - writing;
  for (let at = 0; at < lists.length; at += 25) await Promise.all(lists.slice(at, at + 25).map((list, more) => compare(list, query(other.realm("store"), at + more), `query ${at + more} of ${title}`)));
  console.log(`${title}: ${lists.length} live queries on ${open} streams, first contents after ${opened} ms, ${writer.commits} commits in ${written} ms, ${changes} changes told, all equal`);
  if (open > expected.streams) throw new Error(`${open} streams are more than ${expected.streams}`);
  client.close();
  other.close();
  await server.close();
}

await trial("one registration", 1000, ["--limit", "registration-names=1000"], { streams: 1 });
await trial("default limits", 50, [], { streams: 16, maxStreams: undefined });
await trial("as in a browser, the rest polled in turn", 50, [], { streams: 4, maxStreams: 4 });
process.exit(0);
