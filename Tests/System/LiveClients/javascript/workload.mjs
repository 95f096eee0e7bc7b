// SPDX-License-Identifier: Apache-2.0
// Random commits, and live lists that have to equal what a fresh read gives. It runs in Node and in browsers.
import { Link, Problem, apply, stringify } from "../../../../clients/javascript/realm-rest.js";

const HUB = "JL-13497";
const WORDS = ["Oak", "Steel", "Bamboo", "Glass", "Linen", "Wool", "Cork"];

/** Every kind of live query, over data that the commits change. */
export function queries(realm) {
  const products = realm.objects("Product");
  const hub = realm.object("Product", HUB);
  return {
    sorted: products.sort("-price", "name"),
    limited: products.where("stock > $0", 50).sort("stock", "-price").limit(20),
    filtered: products.where("name CONTAINS $0 OR category.name BEGINSWITH $1", "Oak", "T"),
    distinct: products.sort("-price").distinct("category"),
    expanded: products.where("discontinued == false").sort("-stock").limit(15).expand("category"),
    few: products.sort("sku").fields("name", "stock"),
    list: hub.property("related"),
    view: hub.property("related").where("stock > 50").sort("-stock"),
    dictionary: hub.property("attributes"),
    weights: hub.property("weights"),
    tags: hub.property("tags"),
    linking: realm.object("Category", 9).property("@links.Product.category"),
    events: realm.objects("Event"),
    object: hub,
  };
}

/** Follows queries, and replays every change that is told on copies. */
export class Followers {
  lists = {};
  copies = {};
  changes = 0;
  resets = {};
  faults = [];

  constructor(realm, names = Object.keys(queries(realm))) {
    this.queries = queries(realm);
    for (const name of names) this.#follow(name, this.queries[name].live());
  }

  #follow(name, list) {
    this.lists[name] = list;
    const copy = this.copies[name] = [];
    list.subscribe((change) => {
      this.changes++;
      if (change.reset) this.resets[change.reset] = (this.resets[change.reset] ?? 0) + 1;
      for (const { index, value } of change.deletions) if (stringify(copy[index]) !== stringify(value)) this.#fault(name, `deleted at ${index} was not what it was`);
      for (const { oldIndex, oldValue } of change.modifications) if (stringify(copy[oldIndex]) !== stringify(oldValue)) this.#fault(name, `modified at ${oldIndex} was not what it was`);
      apply(copy, change.deletions, change.insertions, change.modifications, (row) => row.value);
      if (copy.length !== list.length) this.#fault(name, `${copy.length} rows after the changes, ${list.length} in the list`);
    }, (problem) => { if (problem) this.#fault(name, `ended: ${problem.code} ${problem.message}`); });
  }

  #fault(name, text) { if (this.faults.length < 20) this.faults.push(`${name}: ${text}`); }

  async ready() { for (const list of Object.values(this.lists)) await list.ready; }

  /** Waits until the lists equal fresh reads, and says which do not after the time. */
  async differences(fresh, seconds = 60) {
    const reads = queries(fresh);
    let wrong = [];
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 200))) {
      wrong = [];
      for (const [name, list] of Object.entries(this.lists)) {
        const expected = reads[name].toArray ? await reads[name].toArray() : [await reads[name].get()];
        const [want, have, copy] = [expected, list, this.copies[name]].map((rows) => stringify(Array.from(rows)));
        if (want !== have) wrong.push(`${name} (${list.state}): ${list.length} rows, ${expected.length} expected, first difference ${difference(have, want)}`);
        // Tags of objects that are read anew are no change; everything else is told.
        else if (withoutTags(copy) !== withoutTags(have)) this.#fault(name, `the changes that were told do not add up: ${difference(copy, have)}`);
      }
      if (!wrong.length) break;
    }
    return [...wrong, ...this.faults];
  }
}

const withoutTags = (text) => text.replace(/"etag":"(?:[^"\\]|\\.)*",?/g, "");

function difference(a, b) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return `${a.slice(at - 40, at + 60)} ≠ ${b.slice(at - 40, at + 60)}`;
}

/** Writes at random. */
export class Writer {
  commits = 0;
  refused = 0;
  unknown = 0;
  made = [];
  constructor(realm, optimistic, random) {
    this.realm = realm;
    this.optimistic = optimistic;
    this.random = random;
    this.hub = new Link("Product", HUB);
  }

  async prepare() {
    this.keys = (await this.realm.objects("Product").fields("sku").toArray()).map((one) => one.sku).filter((key) => key !== HUB);
  }

  async commit() {
    // Some writes are shown before they are done, through the connections that are cut.
    const realm = this.random(10) === 0 ? this.optimistic : this.realm;
    try {
      await realm.write((write) => { for (let count = this.random(8) === 0 ? 4 : 1; count > 0; count--) this.#operation(write); });
      this.commits++;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === "outcome_unknown" || error.status === 0) this.unknown++;
      else if (error.status < 500) this.refused++;
      else throw error;
    }
  }

  #product() { return new Link("Product", this.keys[this.random(this.keys.length)]); }
  #category() { return this.random(6) ? new Link("Category", String([9, 12, 20, 5, 7, 29][this.random(6)])) : null; }

  #operation(write) {
    const { random, hub } = this;
    switch (random(15)) {
      case 0: this.#create(write); return;
      case 1: this.#remove(write); return;
      case 2: case 3: case 4: write.update(this.#product(), { stock: BigInt(random(200)), name: `${WORDS[random(7)]} ${random(100)}` }); return;
      case 5: write.update(this.#product(), { price: `${random(900)}.${10 + random(90)}`, discontinued: random(2) === 0 }); return;
      case 6: write.increment(this.#product(), "stock", random(9) - 4); return;
      case 7: write.update(this.#product(), { category: this.#category() }); return;
      case 8: write.update(new Link("Category", "20"), { name: `${WORDS[random(7)]}s` }); return;
      case 9: write.elements("list", hub, "related", { add: this.#product() }, { insert: [0, this.#product()] }, random(2) ? { move: [0, 1] } : { swap: [0, 1] }); return;
      case 10: write.elements("list", hub, "related", random(9) ? { remove: 0 } : { clear: true }); return;
      case 11: write.elements("dictionary", hub, "attributes", random(3) ? { set: [`k${random(12)}ä🐕`.slice(0, 2 + random(3)), random(2) ? BigInt(random(9)) : "t"] } : { remove: `k${random(9)}` }); return;
      case 12: write.update(hub, random(2) ? { weights: Array.from({ length: random(5) }, () => random(100) / 8) } : { tags: WORDS.filter(() => random(2)) }); return;
      case 13: if (random(8) === 0) write.op({ deleteWhere: { class: "Event", where: "kind == $0", args: [WORDS[random(7)]] } }); return;
      default: write.create("Event", { at: new Date(), kind: WORDS[random(7)], subject: this.#product(), value: BigInt(random(100)) });
    }
  }

  #create(write) {
    if (this.made.length > 150) return this.#remove(write);
    const { random } = this;
    const sku = `N-${random(1_000_000)}`;
    write.create("Product", {
      sku, name: `${WORDS[random(7)]} new`, description: "", price: `${random(900)}.5`, cost: random(50), stock: random(200), category: this.#category(),
      createdAt: new Date(), discontinued: false, related: [this.#product()], extra: random(2) ? 5n : 5,
    });
    this.made.push(sku);
    this.keys.push(sku);
  }

  #remove(write) {
    if (!this.made.length) return;
    const [sku] = this.made.splice(this.random(this.made.length), 1);
    this.keys = this.keys.filter((key) => key !== sku);
    write.delete(new Link("Product", sku));
  }
}

/**
 * Commits, and compares at quiet moments in between. Gives what was seen; what is wrong is thrown.
 *
 * @param {{writer: Writer, followers: Followers, fresh: import("../../../../clients/javascript/realm-rest.js").Realm, commits: number, checks: number,
 *   between: (commits: number) => Promise<void>, heap: () => number, report: (text: string) => void, label: string}} play
 */
export async function replay({ writer, followers, fresh, commits, checks, between, heap, report, label }) {
  const heaps = [];
  for (let round = 1; round <= checks; round++) {
    while (writer.commits < Math.round(commits * round / checks)) {
      await writer.commit();
      await between(writer.commits);
    }
    const paused = Date.now();
    const wrong = await followers.differences(fresh);
    if (wrong.length) throw new Error(`${label}, after ${writer.commits} commits:\n  ${wrong.join("\n  ")}`);
    heaps.push(heap() / 1048576);
    report(`  ${writer.commits} commits: ${Object.keys(followers.lists).length} lists equal after ${Date.now() - paused} ms, ${followers.changes} changes told, heap ${heaps.at(-1).toFixed(1)} MiB`);
  }
  // The first check comes before everything is loaded that the run needs.
  const growth = heaps.at(-1) - heaps[Math.min(1, heaps.length - 1)];
  if (growth > 6) throw new Error(`${label}: the heap grew by ${growth.toFixed(1)} MiB`);
  return { growth, text: `${writer.refused} refused, ${writer.unknown} of unknown outcome, resets ${JSON.stringify(followers.resets)}, heap growth ${growth.toFixed(1)} MiB` };
}
