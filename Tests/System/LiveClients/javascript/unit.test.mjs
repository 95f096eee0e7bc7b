// SPDX-License-Identifier: Apache-2.0
// What needs no server: the reading of event streams and JSON, and the arithmetic of changes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as client from "../../../../clients/javascript/realm-rest.js";
import { EventParser, Link, Problem, Timestamp, Typed, apply, connect, difference, parse, stringify } from "../../../../clients/javascript/realm-rest.js";
import { random, seed } from "./random.mjs";

const STREAM = [
  "\uFEFFretry: 2000\r\n: realm-rest\r\n\r\n",
  "event: snapshot\ndata: {\"sub\":\"dögs 🐕\"}\n\n",
  ": hb\nid: e.7\n\n",
  "event: changes\rid: e.8\rdata: first\rdata: second\r\r",
  "data\n\n",
  "id: bad\0id\ndata:x\n\n",
].join("");
const EVENTS = [
  { event: "snapshot", data: "{\"sub\":\"dögs 🐕\"}", id: null },
  { event: "message", data: null, id: "e.7" },
  { event: "changes", data: "first\nsecond", id: "e.8" },
  { event: "message", data: "", id: null },
  { event: "message", data: "x", id: null },
];

test("an event stream means the same however it is cut", () => {
  const bytes = new TextEncoder().encode(STREAM);
  for (let size = 1; size <= bytes.length; size++) {
    const [parser, decoder, events] = [new EventParser(), new TextDecoder("utf-8", { ignoreBOM: true }), []];
    for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(decoder.decode(bytes.subarray(at, at + size), { stream: true })));
    assert.deepEqual(events, EVENTS, `pieces of ${size} bytes`);
  }
  for (let round = 0; round < 500; round++) {
    const [parser, events] = [new EventParser(), []];
    for (let at = 0; at < STREAM.length;) { const next = at + random(12); events.push(...parser.push(STREAM.slice(at, next))); at = next; }
    assert.deepEqual(events, EVENTS, `seed ${seed}, round ${round}`);
  }
});

test("a long line in many pieces is read in linear time", () => {
  const [parser, piece] = [new EventParser(), "x".repeat(1000)];
  const start = performance.now();
  parser.push("data: ");
  for (let count = 0; count < 20_000; count++) parser.push(piece);
  assert.equal(parser.push("\n\n")[0].data.length, 20_000_000);
  assert.ok(performance.now() - start < 5000);
});

test("integers keep their digits, and other numbers are numbers", () => {
  assert.deepEqual(parse('{"a":9007199254740993,"b":-9223372036854775808,"c":1.0,"d":1e3,"e":-0.0,"f":[],"g":{},"h":" \\n\\u00e4\\ud83d\\udc15","i":[true,false,null]}'), {
    a: 9007199254740993n, b: -9223372036854775808n, c: 1, d: 1000, e: -0, f: [], g: {}, h: " \nä🐕", i: [true, false, null],
  });
  assert.equal(stringify({ a: 9007199254740993n, b: [1, undefined, null], c: undefined, d: NaN, e: "ä\n" }), '{"a":9007199254740993,"b":[1,null,null],"d":"NaN","e":"ä\\n"}');
});

test("what is no JSON is refused", () => {
  for (const text of ["", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", "tru", "\"a", "\"\n\"", "1 2", "[1 2]", "{\"a\" 1}", "\"\\x\"", "-", "nul", "]"]) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("JSON of any shape is read as JSON.parse reads it", () => {
  const strings = ["", "a", "\"", "\\", "\u0000", "ä🐕", "__proto__", "$meta", "a.b", "\u2028"];
  const value = (depth) => {
    switch (random(depth > 3 ? 5 : 7)) {
      case 0: return null;
      case 1: return random(2) === 0;
      case 2: return (random(2000) - 1000) / 8 + 0.0625;
      case 3: case 4: return strings[random(strings.length)];
      case 5: return Array.from({ length: random(4) }, () => value(depth + 1));
      default: return Object.fromEntries(Array.from({ length: random(4) }, () => [strings[random(strings.length)], value(depth + 1)]));
    }
  };
  for (let round = 0; round < 2000; round++) {
    const one = value(0);
    assert.deepEqual(parse(JSON.stringify(one)), JSON.parse(JSON.stringify(one)), `seed ${seed}, round ${round}`);
    assert.deepEqual(parse(JSON.stringify(one, null, 2)), JSON.parse(JSON.stringify(one)), `seed ${seed}, round ${round}`);
    assert.deepEqual(JSON.parse(stringify(one)), JSON.parse(JSON.stringify(one)), `seed ${seed}, round ${round}`);
  }
});

test("a timestamp keeps nanoseconds until it is set", () => {
  const exact = new Timestamp("2026-11-21T10:00:00.000000001Z");
  assert.equal(exact.getTime(), Date.UTC(2026, 10, 21, 10));
  assert.equal(exact.nanoseconds, 1);
  assert.equal(exact.toJSON(), "2026-11-21T10:00:00.000000001Z");
  exact.setUTCFullYear(2027);
  assert.equal(exact.toJSON(), "2027-11-21T10:00:00.000Z");
  const far = new Timestamp({ seconds: "-99999999999999", nanoseconds: 5 });
  assert.deepEqual(far.toJSON(), { $instant: { seconds: "-99999999999998", nanoseconds: -999999995 } });
  assert.equal(new Timestamp("2026-11-21T10:00:00.5Z").nanoseconds, 500_000_000);
});

test("values without a type of JavaScript write themselves back", () => {
  assert.equal(stringify([new Typed("decimal128", "12.50"), new Link("Dog", "7")]), '[{"$numberDecimal":"12.50"},{"$link":{"class":"Dog","key":"7"}}]');
  assert.ok(new Typed("decimal128", "12.50") > 12);
});

test("a problem has the members of its document", () => {
  const problem = new Problem({ code: "type_mismatch", status: 422n, title: "Type mismatch", detail: "no", pointer: "/age", op: 3n, instance: "urn:uuid:0193" });
  assert.ok(problem instanceof Error);
  assert.deepEqual([problem.code, problem.status, problem.message, problem.pointer, problem.op, problem.requestId], ["type_mismatch", 422, "no", "/age", 3, "0193"]);
});

/** A list with duplicates, as lists of links have them. */
const list = (size, keys) => Array.from({ length: random(size + 1) }, () => ({ key: `k${random(keys)}`, state: random(3) }));

test("the difference of two lists, applied in order, makes one of the other", () => {
  for (let round = 0; round < 5000; round++) {
    const [before, after] = [list(random(2) ? 8 : 80, 1 + random(60)), list(random(2) ? 8 : 80, 1 + random(60))];
    const { deletions, insertions, modifications, moves } = difference(before, after, (row) => row.key, (a, b) => a.state === b.state);
    const row = (index) => ({ index, row: after[index] });
    const applied = [...before];
    apply(applied, deletions.map((index) => ({ index })), insertions.map(row), modifications.map(({ index }) => row(index)), (one) => one.row);
    assert.deepEqual(applied, after, `seed ${seed}, round ${round}`);
    for (const { from, to } of moves) {
      assert.ok(deletions.includes(from) && insertions.includes(to) && before[from].key === after[to].key, `seed ${seed}, round ${round}`);
    }
    for (const { oldIndex, index } of modifications) assert.equal(before[oldIndex].key, after[index].key);
  }
});

test("a row that moves is one deletion and one insertion", () => {
  const keys = (text) => Array.from(text, (key) => ({ key }));
  const found = difference(keys("abcdef"), keys("bcdeaf"), (row) => row.key, () => true);
  assert.deepEqual(found, { deletions: [0], insertions: [4], modifications: [], moves: [{ from: 0, to: 4 }] });
});

test("change sets of few and of many rows are applied alike", () => {
  for (let round = 0; round < 300; round++) {
    const before = Array.from({ length: 50 + random(100) }, (_, index) => index);
    const deletions = before.filter(() => random(3) === 0).map((index) => ({ index }));
    const size = before.length - deletions.length + 40;
    const places = [...new Set(Array.from({ length: 40 }, () => random(size)))].sort((a, b) => a - b);
    const insertions = places.map((index) => ({ index, row: `n${index}` })).filter(({ index }, at) => index < before.length - deletions.length + at + 1);
    const expected = [...before];
    for (const { index } of [...deletions].reverse()) expected.splice(index, 1);
    for (const { index, row } of insertions) expected.splice(index, 0, row);
    const applied = [...before];
    apply(applied, deletions, insertions, [], (one) => one.row);
    assert.deepEqual(applied, expected, `seed ${seed}, round ${round}`);
  }
});

/** A server without a network. */
function fake(answers) {
  const asked = [];
  const fetch = async (url, options) => {
    asked.push({ url, ...options });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    const { status = 200, body = "{}", headers = {} } = answer;
    return new Response(status === 204 ? null : body, { status, headers });
  };
  return { asked, connection: connect("http://server", { fetch, key: "rr_x" }) };
}

test("a read is repeated when the connection is lost, and a refusal is not", async () => {
  const { asked, connection } = fake([new TypeError("reset"), { status: 503, body: '{"code":"overloaded","status":503}' }, { body: '{"items":[]}' }, { status: 404, body: '{"code":"realm_not_found","status":404,"detail":"none"}' }]);
  assert.deepEqual(await connection.realms(), []);
  assert.equal(asked.length, 3);
  assert.equal(asked[0].headers.get("Authorization"), "Bearer rr_x");
  await assert.rejects(connection.realms(), (problem) => problem.code === "realm_not_found" && problem.message === "none");
});

const SCHEMA = { body: '{"classes":[{"name":"Dog","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"any","type":"mixed"}]}]}', headers: { "Realm-Version": "a.1" } };

test("a write is repeated with its key, and not after a restart", async () => {
  const one = fake([SCHEMA, new TypeError("reset"), { headers: { "Realm-Version": "a.3" } }, { body: '{"_id":1,"$meta":{"class":"Dog","key":"1"}}', status: 201 }]);
  await one.connection.realm("x").objects("Dog").create({ _id: 1 });
  assert.equal(one.asked[1].headers.get("Idempotency-Key"), one.asked[3].headers.get("Idempotency-Key"));
  assert.ok(one.asked[1].headers.get("Idempotency-Key"));
  const other = fake([SCHEMA, new TypeError("reset"), { headers: { "Realm-Version": "b.1" } }]);
  await assert.rejects(other.connection.realm("x").objects("Dog").create({ _id: 1 }), (problem) => problem.code === "outcome_unknown");
});

test("numbers in Mixed are written as they were read", async () => {
  const { asked, connection } = fake([SCHEMA, { body: '{"_id":1}', status: 201 }]);
  await connection.realm("x").objects("Dog").create({ _id: 1, any: [5, 5n, 0.5, NaN, 1e300, new Date(0), new Uint8Array([1, 2]), { a: -0 }] });
  assert.equal(asked[1].body, '{"_id":1,"any":[5.0,5,0.5,{"$numberDouble":"NaN"},1e+300,{"$date":"1970-01-01T00:00:00.000Z"},{"$binary":{"base64":"AQI=","subType":"00"}},{"a":-0.0}]}');
});

test("conditions are joined, and their arguments numbered anew", async () => {
  const { asked, connection } = fake([SCHEMA, { body: '{"items":[],"count":7,"next":null,"version":"a.1"}' }]);
  const count = await connection.realm("x").objects("Dog").where("_id > $0", 1).where("any == '$0' OR $K0 == $1", "_id", 2n).count();
  assert.equal(count, 7);
  assert.deepEqual(parse(asked[1].body), { where: "(_id > $0) AND (any == '$0' OR $K1 == $2)", args: [1n, "_id", 2n], limit: 0n, count: "exact" });
});

test("a function that gives the key is asked again after a refusal", async () => {
  const keys = ["old", "new"];
  const asked = [];
  const fetch = async (_, { headers }) => {
    asked.push(headers.get("Authorization"));
    return asked.length === 1 ? new Response('{"code":"unauthenticated","status":401}', { status: 401 }) : new Response('{"items":[]}');
  };
  await connect("http://server", { fetch, key: () => keys.shift() }).realms();
  assert.deepEqual(asked, ["Bearer old", "Bearer new"]);
});

test("a request ends when its signal fires", async () => {
  const fetch = (_, { signal }) => new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort(); else signal.addEventListener("abort", abort);
  });
  const stop = new AbortController();
  const asked = connect("http://server", { fetch }).realms({ signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
});

test("the declarations name what the module has", () => {
  const text = readFileSync(new URL("../../../../clients/javascript/realm-rest.d.ts", import.meta.url), "utf8");
  const declared = [...text.matchAll(/^export (?:class|function) (\w+)/gm)].map((found) => found[1]);
  assert.deepEqual([...new Set(declared)].sort(), Object.keys(client).sort());
  const internal = new Set(["constructor", "path", "request", "loadCodec", "forgetCodec", "follow"]);
  for (const [, name, body] of text.matchAll(/^export class (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
    const members = new Set([...body.matchAll(/^  (?:readonly )?(\w+)(?:<[^(]*>)?[(?:]/gm)].map((found) => found[1]));
    for (const member of Object.getOwnPropertyNames(client[name].prototype)) assert.ok(internal.has(member) || members.has(member), `${name}.${member} is not declared`);
    for (const [, member] of body.matchAll(/^  (\w+)(?:<[^(]*>)?\(/gm)) assert.ok(member === "constructor" || member in client[name].prototype, `${name} has no ${member}`);
  }
});
