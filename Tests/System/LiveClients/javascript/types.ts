// SPDX-License-Identifier: Apache-2.0
// What a program in TypeScript sees. Lines below `@ts-expect-error` have to be refused.
import { connect, Link, Problem, Timestamp } from "../../../../clients/javascript/realm-rest.js";

interface Product {
  sku: string;
  name: string;
  price: string;
  stock: bigint;
  rating: number | null;
  category: Link | null;
  related: Link[];
  createdAt: Timestamp;
}

export async function program() {
  const realm = connect("http://127.0.0.1:8080", { key: async () => "rr_x" }).realm("store");
  const products = realm.objects<Product>("Product");
  const live = products.where("price > $0", 5).sort("-price").live();
  const first: bigint = live[0].stock;
  live.watch((state, list) => { if (state === "lost") console.log(list[0].name); });
  // @ts-expect-error
  live.watch((state) => state === "gone");
  realm.live().subscribe(({ classes = [], schema }) => console.log(classes.includes("Product"), schema));
  for await (const change of live.changes()) {
    for (const { index, value } of change.insertions) console.log(index, value.name.length, value.$meta.key);
    // @ts-expect-error
    console.log(change.modifications[0].value.nmae);
  }
  const one = await products.get("A-1");
  await products.update(one, { stock: 3, createdAt: new Date(), category: null, related: [one, new Link("Product", "B")] });
  await products.update(one, [{ op: "add", path: "/related/-", value: one }]);
  // @ts-expect-error
  await products.update(one, { stok: 3 });
  // @ts-expect-error
  await products.create({ sku: 5 });
  // @ts-expect-error
  console.log(one.nmae);
  await realm.write((write) => write.update(one, { name: "x" }).increment(one, "stock", 1));
  // @ts-expect-error
  await realm.write((write) => write.update(one, { nmae: "x" }));
  const kept: number = await realm.transaction(async (inside) => (await inside.objects<Product>("Product").toArray()).length);
  const error: unknown = live.error;
  if (error instanceof Problem) console.log(error.code, error.status);
  // @ts-expect-error
  live.staet;
  return [first, kept];
}
