// SPDX-License-Identifier: Apache-2.0
// What the client does against a real server, one behaviour at a time. The server is named by the variable REALM_REST_SERVER.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, test } from "node:test";
import { Link, Problem, Timestamp, Typed, connect, stringify } from "../../../../clients/javascript/realm-rest.js";
import { Proxy, Server, sleep } from "./stage.mjs";

const program = process.env.REALM_REST_SERVER;
const server = await new Server(program, "--limit", "heartbeat=5").start();
const connection = connect(server.address);
const realm = connection.realm("store");
const products = realm.objects("Product");
after(async () => { connection.close(); await server.close(); });

const product = (sku, members = {}) => ({ sku, name: sku, description: "", price: "1.00", cost: 1, stock: 1, createdAt: new Date(), discontinued: false, ...members });

/** Waits until something holds. */
async function until(holds, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; ; await sleep(10)) {
    if (await holds()) return;
    assert.ok(Date.now() < end, `in time: ${holds}`);
  }
}

test("values of every type come back as they were written", async () => {
  const values = {
    extra: { int: 2n ** 62n, double: 5, float: new Typed("float", "1.5"), nan: NaN, minusZero: -0, decimal: new Typed("decimal128", "12.50"), text: "5", flag: true, none: null,
      date: new Timestamp("2026-11-21T10:00:00.000000001Z"), data: new Uint8Array([0, 255]), oid: new Typed("objectId", "634f828d2b343815502008f1"),
      uuid: new Typed("uuid", "7974fdde-e4f0-4643-ad16-37fe6271179d"), link: new Link("Category", "9"), list: [1n, 1, ["x"]], bytes: new Uint8Array(70_000) },
    price: "12.50", cost: Infinity, stock: 9007199254740993n, createdAt: new Timestamp("1969-12-31T23:59:59.999999999Z"), weights: [NaN, -0, 1e300], tags: new Set(["b", "a"]), rating: 0.1,
  };
  const made = await products.create(product("types", values));
  const read = await products.get("types");
  for (const one of [made, read, await products.where("sku == $0", "types").first()]) {
    assert.equal(one.stock, 9007199254740993n);
    assert.equal(one.createdAt.toJSON(), "1969-12-31T23:59:59.999999999Z");
    assert.deepEqual([one.price, one.cost, one.rating, one.tags], ["12.50", Infinity, 0.1, ["a", "b"]]);
    assert.ok(Object.is(one.weights[1], -0) && Number.isNaN(one.weights[0]));
    assert.equal(typeof one.extra.double, "number");
    assert.equal(typeof one.extra.int, "bigint");
    assert.deepEqual(one.extra, { ...values.extra, ...Object.fromEntries(Object.keys(one.extra).sort().map((name) => [name, values.extra[name]])) });
  }
  // Written back, nothing has changed but that it was written.
  const { $meta } = await products.put("types", read);
  assert.equal($meta.etag, read.$meta.etag);
  const live = products.where("sku == 'types'").live();
  await live.ready;
  assert.equal(stringify(live[0]), stringify(read));
  await products.delete(read);
  await until(() => live.length === 0);
  live.close();
});

test("keys that look like something else name their objects", async () => {
  for (const key of ["@null", "a/b?c%#d", ".", "..", "@k1", "ä 🐕", "", "..x"]) {
    await products.create(product(key));
    assert.equal((await products.get(key)).sku, key);
    const live = products.object(key).live();
    await live.ready;
    assert.equal(live.value.sku, key);
    await products.delete(key);
    await until(() => live.state === "closed");
    assert.equal(live.value, null);
  }
});

test("queries page, count, group and section", async () => {
  const all = await products.sort("sku").toArray();
  assert.equal(all.length, await products.count());
  const seen = [];
  for await (const one of products.sort("sku").all({ pageSize: 50 })) seen.push(one.sku);
  assert.deepEqual(seen, all.map((one) => one.sku));
  assert.equal((await products.sort("sku").limit(7).toArray()).length, 7);
  const expensive = products.where("price > $0", 100).where("stock > $0", 50);
  assert.equal(await expensive.count(), all.filter((one) => Number(one.price) > 100 && one.stock > 50n).length);
  const sums = await products.aggregate("count", "sum:stock", "max:createdAt", "avg:cost");
  assert.deepEqual([sums.count, sums["sum:stock"], typeof sums["avg:cost"]], [all.length, all.reduce((sum, one) => sum + one.stock, 0n), "number"]);
  assert.ok(sums["max:createdAt"] instanceof Timestamp);
  const dearest = products.sort("-price", "sku").distinct("category").limit(5);
  const five = await dearest.toArray();
  const window = await dearest.aggregate("count", "sum:stock");
  assert.deepEqual([window.count, window["sum:stock"]], [5, five.reduce((sum, one) => sum + one.stock, 0n)]);
  assert.equal(await dearest.count(), 5);
  assert.equal((await products.where("$K0 > $1", "stock", 0).limit(3).aggregate("count")).count, 3);
  const groups = await realm.objects("Order").groupBy("status", "count", "max:number");
  assert.equal(groups.reduce((sum, group) => sum + group.count, 0), await realm.objects("Order").count());
  assert.equal(typeof groups[0]["max:number"], "bigint");
  const { sections } = await products.sort("name").sections("name:first", { limit: 50 });
  assert.equal(sections.reduce((sum, section) => sum + section.items.length, 0), 50);
  const [expanded] = await products.where("category != null").expand("category").limit(1).toArray();
  assert.equal(typeof expanded.category.id, "bigint");
  const sample = await products.sort("-stock").limit(2).updateAll({ description: "most" });
  const most = await products.where("description == 'most'").sort("-stock").toArray();
  assert.deepEqual([sample.matched, ...most.map((one) => one.sku)], [2, ...(await products.sort("-stock").limit(2).toArray()).map((one) => one.sku)]);
  const updated = await products.where("sku == 'none'").updateAll({ stock: 0 });
  assert.equal(updated.matched, 0);
});

test("a stale state is refused, with the object as it is now", async () => {
  const old = await products.create(product("stale"));
  await products.update("stale", { stock: 2 });
  await assert.rejects(products.update(old, { stock: 3 }), (problem) => {
    assert.ok(problem instanceof Problem);
    assert.deepEqual([problem.code, problem.status, problem.current.stock], ["precondition_failed", 412, 2n]);
    return true;
  });
  await products.update(old, { stock: 4 }, { force: true });
  await products.update("stale", [{ op: "test", path: "/stock", value: 4n }, { op: "replace", path: "/name", value: "patched" }]);
  assert.equal((await products.get("stale")).name, "patched");
  await assert.rejects(products.delete(old), { code: "precondition_failed" });
  await products.delete("stale");
  await assert.rejects(products.get("stale"), { code: "object_not_found", status: 404 });
});

test("a write is shown at once, and stays when the server agrees", async () => {
  const live = products.where("TRUEPREDICATE").live();
  const all = products.sort("-stock").live();
  const limited = products.sort("-stock").limit(3).live();
  await Promise.all([live.ready, all.ready, limited.ready]);
  const told = [];
  all.subscribe((change) => told.push(change));
  let link;
  const done = realm.write((write) => { link = write.create("Product", product("shown", { stock: 1_000_000 })); });
  assert.equal(all[0].sku, "shown", "in its place of the order, before the server knows of it");
  assert.equal(limited[0].sku, "shown");
  assert.equal(limited.length, 3);
  assert.ok(!live.some((one) => one.sku === "shown"), "the client does not know what a condition selects");
  assert.equal(all[0].stock, 1_000_000n);
  assert.ok(told[0].optimistic);
  await done;
  await until(() => all[0].$meta.etag && live.at(-1).sku === "shown");
  await realm.write((write) => {
    write.update(all[0], { stock: 2_000_000n, category: new Link("Category", "9") }).increment(link, "stock", 5);
    assert.equal(all[0].stock, 1_000_000n, "not before the function is done");
  });
  assert.deepEqual([all[0].stock, all[0].category.key], [2_000_005n, "9"]);
  // As the server answered, before or after its change set comes: writes to it have its state as their condition again.
  for (let at = 0; at < 20; at++) await realm.write((write) => write.update(all[0], { name: `round ${at}` }));
  assert.equal(all[0].name, "round 19");
  assert.ok(all[0].$meta.etag);
  const removed = realm.write((write) => write.delete(all[0]));
  assert.ok(!all.some((one) => one.sku === "shown") && !live.some((one) => one.sku === "shown"));
  await removed;
  await sleep(1300);
  assert.ok(!all.some((one) => one.sku === "shown"));
  assert.equal(stringify([...all]), stringify(await products.sort("-stock").toArray()));
  for (const list of [live, all, limited]) list.close();
});

test("a refused write is taken back", async () => {
  const live = products.sort("sku").live();
  await live.ready;
  const before = stringify([...live]);
  const changes = live.changes();
  for (const [body, code] of [
    [(write) => write.create("Product", product("half")) && write.create("Product", product(live[0].sku)), "duplicate_key"],
    [(write) => write.update(live[5], { name: "no" }).op({ assert: { class: "Product", key: live[5].sku, where: "stock < 0" } }), "assertion_failed"],
    [(write) => write.delete(live[3]).update(live[4], { stock: "text" }), "type_mismatch"],
    [(write) => write.update({ $meta: { ...live[3].$meta, etag: '"stale"' } }, { stock: 1 }), "precondition_failed"],
  ]) {
    const done = realm.write(body);
    if (code !== "precondition_failed") assert.notEqual(stringify([...live]), before, code);
    await assert.rejects(done, { code });
    assert.equal(stringify([...live]), before, code);
  }
  assert.ok((await changes.next()).value.optimistic);
  live.close();
});

test("another client's change comes in between", async () => {
  const proxy = await new Proxy().listen();
  proxy.target = server.port;
  const slow = connect(proxy.address);
  const fast = connect(server.address);
  await products.create(product("shared", { stock: 1, name: "a" }));
  const list = fast.realm("store").objects("Product").where("sku == 'shared'").live();
  await list.ready;
  // The write of this client waits for a transaction of the other, whose change comes first.
  let release;
  const inside = slow.realm("store").transaction(async (other) => {
    await other.objects("Product").update("shared", { name: "b", stock: 50 });
    await new Promise((resolve) => { release = resolve; });
  });
  await until(() => release);
  const mine = fast.realm("store").write((write) => write.update(new Link("Product", "shared"), { stock: 7n }));
  assert.deepEqual([list[0].name, list[0].stock], ["a", 7n]);
  release();
  await inside;
  await mine;
  await until(() => list[0].name === "b");
  assert.equal(list[0].stock, 7n, "on top of what the other one changed");
  await until(() => list[0].$meta.etag && list.version);
  await sleep(1300);
  assert.equal(stringify(list[0]), stringify(await products.get("shared")));
  await products.delete("shared");
  slow.close();
  fast.close();
  proxy.close();
});

test("what a transaction throws rolls it back", async () => {
  await assert.rejects(realm.transaction(async (inside) => {
    await inside.objects("Product").create(product("gone"));
    assert.equal((await inside.objects("Product").get("gone")).sku, "gone");
    throw new Error("never mind");
  }), /never mind/);
  await assert.rejects(products.get("gone"), { status: 404 });
  const both = await realm.transaction((inside) => Promise.all([inside.objects("Product").count(), inside.objects("Order").count()]));
  assert.equal(both.length, 2);
});

test("queries that are made one after the other share a stream in the end", async () => {
  const client = connect(server.address);
  const lists = [];
  for (let at = 0; at < 6; at++) {
    const list = client.realm("store").objects("Product").where("stock > $0", at).live();
    await list.ready;
    lists.push(list);
  }
  assert.ok(client.status.open > 1);
  await sleep(1100);
  const resets = [];
  for (const list of lists) list.subscribe((change) => { if (change.reset) resets.push(change.reset); });
  // A change of all of them brings them to one position.
  for (let at = 0; at < 4 && client.status.open !== 1; at++) { await products.create(product(`share${at}`, { stock: 100 })); await sleep(200); await products.delete(`share${at}`); await sleep(200); }
  await until(() => client.status.open === 1);
  assert.deepEqual(resets, [], "without reading anything anew");
  for (const list of lists) assert.equal(list.length, await products.where("stock > $0", lists.indexOf(list)).count());
  for (const list of lists.slice(1)) list.close();
  await products.create(product("last", { stock: 100 }));
  await until(() => lists[0].some((one) => one.sku === "last"));
  await products.delete("last");
  client.close();
});

test("a query that cannot be is an error of its list alone", async () => {
  const [good, bad, none] = [products.live(), products.where("nope == 1").live(), products.object("never").live()];
  await good.ready;
  await assert.rejects(bad.ready, { code: "unknown_key_path" });
  await assert.rejects(none.ready, { code: "object_not_found" });
  assert.deepEqual([good.state, bad.state, bad.error.status], ["live", "failed", 400]);
  await assert.rejects(bad.changes().next(), { code: "unknown_key_path" });
  await products.create(product("never"));
  none.retry();
  await none.ready;
  assert.equal(none.value.sku, "never");
  await products.delete("never");
  await until(() => none.state === "closed");
  good.close();
});

test("changes are read one by one, and a slow reader is told to read the list", async () => {
  const live = realm.objects("Category").sort("id").live();
  await live.ready;
  const [fast, slow] = [live.changes(), live.changes({ limit: 3 })];
  for (let at = 1; at <= 5; at++) {
    await realm.object("Category", 9).update({ sortOrder: 100 + at });
    await until(() => live.find((one) => one.id === 9n).sortOrder === BigInt(100 + at));
  }
  live.close();
  const resets = [];
  for await (const { reset, modifications } of slow) resets.push([reset, modifications.length]);
  assert.deepEqual(resets, [["overflow", 0], [null, 1]], "the fourth took the place of three, and the fifth came after it");
  const orders = [];
  for await (const { modifications } of fast) orders.push(modifications[0].value.sortOrder);
  assert.deepEqual(orders, [101n, 102n, 103n, 104n, 105n]);
});

for (const transport of ["stream", "poll"]) test(`a whole realm tells what was written, by ${transport}`, async (context) => {
  const own = await new Server(program).start();
  const proxy = await new Proxy().listen();
  proxy.target = own.port;
  const asked = [];
  const client = connect(proxy.address, { transport, maxPauseSeconds: 0.2, fetch: (url, ask) => { asked.push(url); return fetch(url, ask); } });
  const near = connect(own.address);
  context.after(async () => { client.close(); near.close(); proxy.close(); await own.close(); });
  const whole = client.realm("store").live();
  const [states, told] = [[], []];
  whole.watch((state, list) => { assert.equal(list.state, state); states.push(state); });
  whole.subscribe(({ initial, reset, schema = false, classes }) => told.push(initial ? "initial" : reset ?? (schema ? "schema" : classes.join())));
  await whole.ready;
  assert.deepEqual([states, told, whole.length], [["live"], ["initial"], 0]);
  const direct = near.realm("store");
  // For those who are away together the server makes one set of several commits, so somebody stays.
  await direct.live().ready;
  await direct.object("Category", 9).update({ sortOrder: 1 });
  await until(() => told.length === 2);
  // What is missed together is told one by one, and the pauses stay short however long nothing answers.
  proxy.target = 1;
  proxy.cut();
  await until(() => states.length === 2);
  await direct.object("Category", 9).update({ sortOrder: 2 });
  await direct.write((write) => write.create("Product", product("whole")).class);
  await direct.write((write) => write.delete(new Link("Product", "whole")).update(new Link("Category", "9"), { sortOrder: 3 }));
  await sleep(3000);
  proxy.target = own.port;
  await until(() => told.length === 5, 5);
  assert.deepEqual(states, ["live", "lost", "live"]);
  assert.deepEqual(told.slice(1), ["Category", "Category", "Product", "Category,Product"]);
  const add = { addProperty: { class: "Category", property: { name: "since", type: "date", optional: true } } };
  await fetch(`${own.address}/v1/realms/store/migrations`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ fromVersion: 1, toVersion: 2, steps: [add] }),
  });
  await until(() => told.length === 6);
  await own.restart();
  await until(() => told.length === 7);
  assert.deepEqual(told.slice(5), ["schema", "epoch"]);
  assert.deepEqual(asked.filter((url) => url.endsWith("/schema")), [], "without rows there is nothing to read by a schema");
  whole.close();
  assert.equal(states.at(-1), "closed");
});

test("an object tells what was written, a list what was moved", async () => {
  const made = await products.create(product("owner", { related: [] }));
  const [one, list] = [products.object("owner").live(), products.object("owner").property("related").live()];
  await Promise.all([one.ready, list.ready]);
  const [told, moved] = [one.changes(), list.changes()];
  const [a, b, c] = await products.where("sku != 'owner'").limit(3).toArray();
  await products.update(made, { stock: 9, related: [a, b, c] });
  const change = (await told.next()).value;
  assert.deepEqual(change.properties.map(({ name, oldValue, newValue, collection }) => [name, oldValue, newValue, collection]), [["stock", 1n, 9n, undefined], ["related", undefined, undefined, true]]);
  assert.equal((await moved.next()).value.insertions.length, 3);
  await realm.write((write) => write.elements("list", new Link("Product", "owner"), "related", { move: [2, 0] }));
  const { moves, deletions, insertions } = (await moved.next()).value;
  assert.deepEqual([moves, deletions[0].index, insertions[0].value.sku], [[{ from: 2, to: 0 }], 2, c.sku]);
  assert.deepEqual(list.map((row) => row.sku), [c.sku, a.sku, b.sku]);
  await products.delete("owner");
  await until(() => one.state === "closed" && list.state === "closed");
  assert.equal(list.length, 0);
});

test("a migration is followed", async () => {
  const live = realm.objects("Category").sort("id").live();
  await live.ready;
  const { schemaVersion } = await realm.schema();
  const migrate = (steps, from) => fetch(`${server.address}/v1/realms/store/migrations`, {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ fromVersion: Number(from), toVersion: Number(from) + 1, allowDataLoss: true, steps }),
  }).then(async (answer) => { const text = await answer.text(); assert.ok(answer.ok, text); });
  await migrate([{ addProperty: { class: "Category", property: { name: "since", type: "date", optional: true } } }], schemaVersion);
  await realm.object("Category", 9).update({ since: new Date(0) });
  await until(() => live.find((one) => one.id === 9n).since instanceof Timestamp);
  await migrate([{ renameProperty: { class: "Category", name: "since", to: "from" } }], schemaVersion + 1n);
  await until(() => live.find((one) => one.id === 9n).from instanceof Timestamp);
  assert.equal(live.state, "live");
  live.close();
});

test("credentials that end are an error, and others go on", async () => {
  const guarded = new Server(program, "--limit", "heartbeat=5");
  guarded.served = ["--data", guarded.folder];
  const keys = (...more) => {
    const { stdout, stderr, status } = spawnSync(program, ["keys", ...more, "--data", guarded.folder], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return /rr_[A-Za-z0-9_-]+/.exec(stdout)?.[0] ?? "";
  };
  const [second, first] = [keys("add", "second", "--role", "admin"), keys("add", "first", "--role", "read")];
  await guarded.start();
  let current = "rr_wrong";
  const client = connect(guarded.address, { key: () => current });
  const live = client.realm("store").objects("Category").live();
  await assert.rejects(live.ready, { status: 401 });
  assert.equal(live.state, "failed");
  current = first;
  live.retry();
  await live.ready;
  assert.equal(live.length, 30);
  await assert.rejects(client.realm("store").write((write) => write.update(live[0], { name: "no" })), { status: 403 });
  const whole = client.realm("store").live();
  await whole.ready;
  const ended = new Promise((resolve) => live.subscribe(() => {}, resolve));
  keys("revoke", first.slice(3, 11));
  assert.equal((await ended).status, 401);
  assert.deepEqual([live.state, live.length], ["failed", 30]);
  current = second;
  live.retry();
  await until(() => live.state === "live");
  await until(() => whole.state === "failed");
  whole.retry();
  const resets = whole.changes();
  assert.equal((await resets.next()).value.reset, "missed", "nobody knows what was written meanwhile");
  await client.realm("store").write((write) => write.update(live[0], { name: "yes" }));
  await until(() => live[0].name === "yes" && live[0].$meta.etag);
  client.close();
  await guarded.close();
});

test("a closed connection ends everything", async () => {
  const client = connect(server.address);
  const live = client.realm("store").objects("Product").live();
  await live.ready;
  const changes = live.changes();
  const waiting = changes.next();
  const transaction = client.realm("store").transaction((inside) => inside.objects("Product").count().then(() => sleep(1000)).then(() => inside.objects("Product").count()));
  await sleep(100);
  client.close();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  await until(() => live.state === "closed");
  await assert.rejects(transaction, { code: "closed" });
  await assert.rejects(client.realms(), { code: "closed" });
  assert.equal(client.realm("store").objects("Product").live().state, "closed");
});
