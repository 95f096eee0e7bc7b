// SPDX-License-Identifier: Apache-2.0
// What an app does, with the generated TypeScript client.
import { CategoryApi, Configuration, ObjectsApi, OrderApi, ResponseError, TransactionsApi, TransferApi } from "./client/index";

declare const process: { argv: string[]; exit(code: number): void };
const done = (name: string) => console.log("ok", name);
function check(value: unknown, what: string): asserts value { if (!value) throw new Error(what); }
async function status(work: Promise<unknown>): Promise<number> {
  try { await work; return 200; } catch (error) { return error instanceof ResponseError ? error.response.status : -1; }
}

async function run() {
  const configuration = new Configuration({ basePath: process.argv[2] });
  const [categories, orders, objects] = [new CategoryApi(configuration), new OrderApi(configuration), new ObjectsApi(configuration)];
  const [transfer, transactions] = [new TransferApi(configuration), new TransactionsApi(configuration)];

  const first = await categories.listCategory({ limit: 5 });
  check(first.items?.length === 5 && first.items[0].name, "list");
  done("list");

  const seen: number[] = [];
  for (let after: string | undefined; ;) {
    const page = await categories.listCategory({ limit: 7, after });
    for (const one of page.items ?? []) seen.push(one.id ?? 0);
    if (!page.next) break;
    after = page.next;
  }
  check(seen.length > 7 && new Set(seen).size === seen.length, "page");
  done("page");

  const found = await categories.listCategory({ where: "id > $0", args: "[3]", sort: "-id", count: "exact" });
  check(found.items?.[0].id === Math.max(...seen) && found.count === seen.filter((one) => one > 3).length, "filter");
  done("filter");

  const order = (await orders.listOrder({ limit: 1, expand: "customer" })).items?.[0];
  check(order?.customer?.firstName && order.items?.[0].product?.$link?.key && order.shipTo?.city, "expand");
  done("expand");

  const made = await categories.createCategory({ categoryCreate: { id: 9001, name: "Made", parent: { $link: { _class: "Category", key: "1" } } } });
  check(made.id === 9001 && made.parent?.$link?.key === "1", "create");
  done("create");

  const changed = await categories.updateCategory({ key: "9001", categoryPatch: { name: "Changed" }, ifMatch: made.$meta?.etag });
  check(changed?.name === "Changed", "patch");
  done("patch");

  check(await status(categories.updateCategory({ key: "9001", categoryPatch: { name: "Lost" }, ifMatch: made.$meta?.etag })) === 412, "conflict");
  done("conflict");

  await categories.deleteCategory({ key: "9001" });
  check(await status(categories.getCategory({ key: "9001" })) === 404, "delete");
  done("delete");

  const result = await objects.batch({ batch: { ops: [
    { create: { _class: "Category", body: { id: 9002, name: "Batch" } } }, { deleteObject: { _class: "Category", key: "9002" } },
  ] } });
  check(result.committed && result.results[0].key === "9002", "batch");
  const typed = await categories.batchCategory({ prefer: "return=representation", categoryBatch: { ops: [
    { create: { body: { id: 9006, name: "Typed" } } }, { patch: { key: "9006", body: { name: "Patched" } } },
  ] } });
  check(typed.results[1].object?.name === "Patched", "batch of a class");
  await categories.batchCategory({ categoryBatch: { ops: [{ deleteObject: { key: "9006" } }] } });
  done("batch");

  const transaction = await transactions.beginTransaction({ transactionOptions: { idle: "5s" } });
  await categories.createCategory({ categoryCreate: { id: 9003, name: "Inside" }, realmTransaction: transaction.id });
  check((await transactions.commitTransaction({ id: transaction.id })).version, "commit");
  check((await categories.getCategory({ key: "9003" })).name === "Inside", "transaction");
  done("transaction");

  const since = (await categories.pollCategory({ since: "now" })).next;
  const poll = categories.pollCategory({ since, wait: 20 });
  await categories.updateCategory({ key: "9003", categoryPatch: { name: "Seen" } });
  check((await poll).changes[0].modifications?.[0].object?.name === "Seen", "poll");
  done("poll");

  const lines = await (await transfer.exportRealm({ _class: "Category" })).text();
  check(lines.split("\n").length > seen.length, "export");
  done("export");

  const imported = await transfer.importObjects({ requestBody: [{ id: 9003, name: "Imported" }], mode: "upsert", _class: "Category" });
  check(imported.updated === 1 && (await categories.getCategory({ key: "9003" })).name === "Imported", "import");
  await categories.deleteCategory({ key: "9003" });
  done("import");
}
run().catch((error) => { console.error(error); process.exit(1); });
