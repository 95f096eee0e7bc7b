// SPDX-License-Identifier: Apache-2.0
// A server that can be restarted, behind a proxy of connections that cuts and pauses them.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const STORE = join(dirname(fileURLToPath(import.meta.url)), "../../../../demo/store.ndjson.gz");

/** Forwards connections to a port that may change, until it is told to cut them. */
export class Proxy {
  port = 0;
  target = 0;
  /** Takes answers, and passes none of their bodies on before they are complete: what a bad proxy does to streams. */
  isSwallowing = false;
  #open = new Set();
  cuts = 0;

  async listen() {
    this.server = net.createServer((client) => this.#forward(client));
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.port = this.server.address().port;
    return this;
  }
  get address() { return `http://127.0.0.1:${this.port}`; }

  #forward(client) {
    const server = net.connect(this.target, "127.0.0.1");
    const pair = { client, server, isPaused: false };
    this.#open.add(pair);
    const end = () => { client.destroy(); server.destroy(); this.#open.delete(pair); };
    client.on("data", (bytes) => {
      const isStream = this.isSwallowing && bytes.includes("text/event-stream");
      if (isStream) server.removeAllListeners("data").on("data", () => {});
      server.write(bytes);
    });
    server.on("data", (bytes) => { if (!client.write(bytes)) { server.pause(); client.once("drain", () => { if (!pair.isPaused) server.resume(); }); } });
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
  }

  /** Cuts some of the connections, in the middle of whatever they carry. */
  cut(choose = () => true) {
    for (const pair of [...this.#open].filter(choose)) { pair.client.destroy(); pair.server.destroy(); this.cuts++; }
  }

  /** Lets nothing through for a while. */
  pause(milliseconds) {
    const pairs = [...this.#open];
    for (const pair of pairs) { pair.isPaused = true; pair.server.pause(); }
    setTimeout(() => { for (const pair of pairs) { pair.isPaused = false; pair.server.resume(); } }, milliseconds);
  }

  close() { this.cut(); this.server.close(); }
}

/** Cuts and pauses connections at random, until it is ended. */
export function makeTrouble(proxy, random) {
  let isOver = false;
  const done = (async () => {
    for (;;) {
      await sleep(100 + random(1200));
      if (isOver) return;
      if (random(4) === 0) proxy.pause(300 + random(2000)); else proxy.cut(() => random(2) === 0);
    }
  })();
  return { end() { isOver = true; return done; } };
}

/** A server of the sample realm. */
export class Server {
  port = 0;
  restarts = 0;
  /** @param {string} program @param {string[]} options */
  constructor(program, ...options) {
    this.program = program;
    this.options = options;
    this.folder = mkdtempSync(join(tmpdir(), "realm-rest-live-"));
    this.file = join(this.folder, "store.realm");
    this.served = [this.file];
    const made = spawnSync(program, ["import", STORE, this.file]);
    if (made.status !== 0) throw new Error(String(made.stderr));
  }
  get address() { return `http://127.0.0.1:${this.port}`; }

  async start() {
    this.process = spawn(this.program, ["serve", ...this.served, "--port", String(this.port), ...this.options], { stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    this.process.stderr.on("data", (text) => { errors = (errors + text).slice(-2000); });
    const running = this.process;
    process.once("exit", () => running.kill("SIGKILL"));
    this.exited = new Promise((resolve) => this.process.once("exit", resolve));
    await new Promise((resolve, reject) => {
      let text = "";
      const read = (bytes) => {
        text += bytes;
        const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
        if (!found) return;
        this.port = Number(found[1]);
        this.process.stdout.off("data", read).resume();
        resolve();
      };
      this.process.stdout.on("data", read);
      this.exited.then(() => reject(new Error(`the server has ended: ${errors}`)));
    });
    return this;
  }

  async restart(signal = "SIGTERM") {
    this.restarts++;
    this.process.kill(signal);
    await this.exited;
    await this.start();
  }

  async close() {
    this.process.kill("SIGKILL");
    await this.exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Options of a command line as `--name value` or `--name`. */
export function options(defaults) {
  const given = { ...defaults };
  for (let at = 2; at < process.argv.length; at++) {
    const name = process.argv[at].replace(/^--/, "");
    const next = process.argv[at + 1];
    if (next === undefined || next.startsWith("--")) given[name] = true;
    else { given[name] = typeof defaults[name] === "number" ? Number(next) : next; at++; }
  }
  return given;
}
