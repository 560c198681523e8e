// The game of the last section of PROTOCOL.md, written from that page alone for Node, with POLICY, RESTORE and PICTURE.
// Node reads numbers of JSON as doubles and has no blocking sockets, so it shows what a second language stumbles over.
"use strict";

const net = require("net");

const MASK = (1n << 64n) - 1n;
const LIMIT = 1e300;
const VARIABLES = ["R", "N", "P", "D", "RMAX", "RSD"];
const METRICS = ["SUM", "ZERO"];
const TURNS = 6;
const CHOICES = 3;

class Random {
  constructor(seed) {
    this.state = seed;
  }

  next() {
    this.state = (this.state + 0x9e3779b97f4a7c15n) & MASK;
    let z = this.state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  }

  below(n) {
    return Number(((this.next() >> 32n) * BigInt(n)) >> 32n);
  }
}

const limited = (x) => Math.min(Math.max(x, -LIMIT), LIMIT);

const OPERATIONS = {
  "+": [2, (a, b) => limited(a + b)],
  "-": [2, (a, b) => limited(a - b)],
  "*": [2, (a, b) => limited(a * b)],
  "/": [2, (a, b) => (b === 0 ? 1 : limited(a / b))],
  neg: [1, (a) => -a],
  abs: [1, Math.abs],
  sqrt: [1, (a) => Math.sqrt(Math.abs(a))],
  log: [1, (a) => (a === 0 ? 0 : Math.log(Math.abs(a)))],
  exp: [1, (a) => limited(Math.exp(Math.min(Math.max(a, -700), 700)))],
  min: [2, Math.min],
  max: [2, Math.max],
  ">": [2, (a, b) => Number(a > b)],
  ">=": [2, (a, b) => Number(a >= b)],
  "<": [2, (a, b) => Number(a < b)],
  "<=": [2, (a, b) => Number(a <= b)],
  if: [3, (c, a, b) => (c > 0 ? a : b)],
};

function evaluate(code, values) {
  const stack = [];
  for (const token of code) {
    if (typeof token === "number") {
      stack.push(token);
    } else if (token in OPERATIONS) {
      const [arity, operation] = OPERATIONS[token];
      if (stack.length < arity) throw new Error("too few operands for " + token);
      stack.push(operation(...stack.splice(stack.length - arity)));
    } else if (token in values) {
      stack.push(limited(values[token]));
    } else {
      throw new Error("no symbol " + token);
    }
  }
  if (stack.length !== 1) throw new Error("no formula");
  return stack[0];
}

function stateHash(bytes) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK;
  return hash;
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// A PNG file of one grey pixel.
function pixelFile(grey) {
  const sums = [0, grey, grey, grey].reduce(([a, b], byte) => [a + byte, b + a + byte], [1, 0]); // Adler-32
  const adler = [sums[1] >> 8, sums[1] & 255, sums[0] >> 8, sums[0] & 255];
  const packed = [0x78, 1, 1, 4, 0, 0xfb, 0xff, 0, grey, grey, grey, ...adler];
  const chunks = [
    ["IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]],
    ["IDAT", packed],
    ["IEND", []],
  ].map(([kind, content]) => {
    const body = Buffer.concat([Buffer.from(kind), Buffer.from(content)]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(content.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  });
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), ...chunks]);
}

class State {
  constructor(seed, factor) {
    const luck = new Random(seed);
    this.worth = Array.from({ length: TURNS * CHOICES }, () => luck.below(10));
    Object.assign(this, { factor, turn: 0, sum: 0, zero: 0 });
  }

  copy() {
    return Object.assign(Object.create(State.prototype), this);
  }

  make(choice) {
    const gain = this.worth[CHOICES * this.turn + choice] * this.factor;
    this.sum += gain;
    this.zero += gain === 0 ? 1 : 0;
    this.turn += 1;
  }

  metrics() {
    return [this.sum, this.zero];
  }
}

class Game {
  constructor() {
    this.given = JSON.parse(process.env.PE_SETTINGS || "{}");
    this.policies = new Map();
    this.kept = new Map();
    this.waiting = Buffer.alloc(0);
    this.playing = null;
    this.socket = net.connect(Number(process.env.PE_PORT), process.env.PE_ADDR);
    this.socket.setNoDelay(true);
    this.socket.on("data", (data) => this.read(data));
    this.socket.on("end", () => process.exit(0));
    this.sendJson(1, {
      magic: "persona-evo",
      protocol: [1, 0],
      library: "none 1",
      game: { name: "by the book", version: "1" },
      nonce: process.env.PE_NONCE,
      capabilities: ["seed", "maps", "lookahead", "snapshot", "pictures"],
      metrics: METRICS.map((symbol) => ({ name: symbol, symbol, low: 0, high: null })),
      max_decisions: TURNS,
    });
  }

  send(type, payload) {
    const head = Buffer.alloc(5);
    head.writeUInt32LE(payload.length, 0);
    head.writeUInt8(type, 4);
    this.socket.write(Buffer.concat([head, payload]));
  }

  sendJson(type, value) {
    this.send(type, Buffer.from(JSON.stringify(value)));
  }

  // Frames that come while an answer of the driver is waited for stay in line: only CHOICE and PING are read then.
  read(data) {
    this.waiting = Buffer.concat([this.waiting, data]);
    while (this.waiting.length >= 5 && this.waiting.length >= 5 + this.waiting.readUInt32LE(0)) {
      const size = this.waiting.readUInt32LE(0);
      const type = this.waiting.readUInt8(4);
      const payload = this.waiting.subarray(5, 5 + size);
      this.waiting = this.waiting.subarray(5 + size);
      this.take(type, payload);
    }
  }

  take(type, payload) {
    if (type === 2) this.welcome(JSON.parse(payload));
    else if (type === 3) this.begin(payload, {});
    else if (type === 5) this.policy(JSON.parse(payload));
    else if (type === 7) this.chosen(JSON.parse(payload));
    else if (type === 8) this.send(8, payload);
    else if (type === 9 && JSON.parse(payload).fatal) process.exit(1);
    else if (type === 10) process.exit(0);
    else if (type === 11) {
      const restore = payload.readBigUInt64LE(0);
      const depth = payload.readUInt32LE(8);
      this.begin(payload.subarray(20), { restore, depth, snapshot: payload.readBigUInt64LE(12) });
    }
  }

  welcome(said) {
    const settings = said.settings || this.given;
    const variant = said.variant === null ? settings.variant || "" : said.variant;
    this.factor = { "": 1, double: 2 }[variant];
    this.kept.clear();
    if (this.factor === undefined) {
      const message = "the variant is '" + variant + "', expected double or none";
      this.sendJson(9, { code: "exception", message, fatal: true });
    }
  }

  policy(said) {
    try {
      evaluate(said.code, Object.fromEntries([...VARIABLES, ...METRICS].map((symbol) => [symbol, 0])));
      this.policies.set(said.id, said.code);
    } catch (e) {
      this.sendJson(9, { code: "policy", message: e.message, fatal: false });
    }
  }

  begin(payload, { restore = 0n, depth = 0, snapshot = 0n }) {
    const order = {
      id: payload.readBigUInt64LE(0),
      flags: payload.readUInt8(24) & 3,
      shown: (payload.readUInt8(24) & 4) !== 0,
      mode: payload.readUInt8(25),
      policy: payload.readUInt32LE(26),
      prefix: [],
      snapshot,
    };
    for (let at = 30; at < payload.length; at += 4)
      order.prefix.push([payload.readUInt16LE(at), payload.readUInt16LE(at + 2)]);
    const kept = this.kept.get(restore);
    const state = kept ? kept.state.copy() : new State(payload.readBigUInt64LE(8), this.factor);
    const choices = new Random(payload.readBigUInt64LE(16));
    this.playing = { order, state, choices, trace: [], rows: [] };
    if (kept) Object.assign(this.playing, { trace: [...kept.trace], rows: [...kept.rows] });
    if (order.mode === 2 && !this.policies.has(order.policy)) this.result(3, "there is no such policy");
    else this.play();
  }

  // Plays on until the end, or until the driver has to be asked.
  play() {
    const { order, state, choices, trace, rows } = this.playing;
    while (state.turn < TURNS) {
      if (trace.length === order.prefix.length && order.snapshot !== 0n)
        this.kept.set(order.snapshot, { state: state.copy(), trace: [...trace], rows: [...rows] });
      if (trace.length < order.prefix.length) {
        const [choice, count] = order.prefix[trace.length];
        if (count !== CHOICES || choice >= CHOICES) {
          rows.push(state.metrics());
          trace.push([choice, CHOICES]);
          return this.result(2, "the prefix does not fit");
        }
        if (order.shown) this.picture();
        this.make(choice);
        continue;
      }
      if (order.shown) this.picture();
      if (order.mode === 2) this.make(this.best(this.policies.get(order.policy)));
      else if (order.mode === 3) return this.ask();
      else this.make(choices.below(CHOICES));
    }
    if (trace.length < order.prefix.length) {
      rows.push(state.metrics());
      trace.push([order.prefix[trace.length][0], 0]);
      return this.result(2, "the game was over");
    }
    if (order.shown) this.picture();
    return this.result(0, "");
  }

  make(choice) {
    this.playing.rows.push(this.playing.state.metrics());
    this.playing.trace.push([choice, CHOICES]);
    this.playing.state.make(choice);
  }

  ask() {
    const { order, state, trace } = this.playing;
    const id = order.id > BigInt(Number.MAX_SAFE_INTEGER) ? String(order.id) : Number(order.id);
    this.sendJson(6, { id, depth: trace.length, count: CHOICES, weights: null, metrics: state.metrics() });
  }

  chosen(said) {
    if (BigInt(said.id) !== this.playing.order.id) throw new Error("CHOICE answers another question");
    this.make(said.choice);
    this.play();
  }

  picture() {
    const { order, state, trace } = this.playing;
    const head = Buffer.alloc(12);
    head.writeBigUInt64LE(order.id, 0);
    head.writeUInt32LE(trace.length, 8);
    this.send(12, Buffer.concat([head, pixelFile(Math.min(255, state.sum))]));
  }

  best(code) {
    let found = 0;
    let top = -Infinity;
    for (let choice = 0; choice < CHOICES; choice++) {
      const after = this.playing.state.copy();
      after.make(choice);
      const values = { R: 0, N: 0, P: 0, D: after.turn, RMAX: 0, RSD: 0 };
      METRICS.forEach((symbol, i) => (values[symbol] = Math.fround(after.metrics()[i])));
      const score = evaluate(code, values);
      if (score > top) [found, top] = [choice, score];
    }
    return found;
  }

  result(status, message) {
    const { order, state, trace, rows } = this.playing;
    const pairs = Buffer.alloc(4 * trace.length);
    trace.forEach(([choice, count], i) => pairs.writeUInt16LE(choice, 4 * i) && pairs.writeUInt16LE(count, 4 * i + 2));
    const floats = (numbers) => Buffer.from(Float32Array.from(numbers).buffer);
    const final = floats(order.flags > 0 ? state.metrics() : []);
    const head = Buffer.alloc(21);
    head.writeBigUInt64LE(order.id, 0);
    head.writeUInt8(status, 8);
    head.writeDoubleLE(status < 2 ? state.sum : 0, 9);
    head.writeUInt32LE(trace.length, 17);
    const shape = Buffer.alloc(6);
    shape.writeUInt32LE(order.flags === 2 ? trace.length : 0, 0);
    shape.writeUInt16LE(order.flags > 0 ? METRICS.length : 0, 4);
    const tail = Buffer.alloc(12);
    tail.writeBigUInt64LE(stateHash(Buffer.concat([pairs, final])), 0);
    const metrics = floats(order.flags === 2 ? rows.flat() : []);
    this.send(4, Buffer.concat([head, pairs, shape, metrics, final, tail, Buffer.from(message)]));
  }
}

new Game();
