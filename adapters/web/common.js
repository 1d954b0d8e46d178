// The page's half of an adapter: the message loop of docs/protocol.md, the plan's files, and times. The bridge
// (yardstick-browser, docs/browser.md) hands each line of yardstick's to yardstickReceive() and takes what
// yardstickSend() is given; files are fetched from /file, written through yardstickWrite(). All stamps are the page's own,
// in nanoseconds since it was made: the bridge makes yardstick's of them.

export class AdapterError extends Error {
  constructor(code, message, op) {
    super(message);
    this.code = code;
    this.op = op;
  }
}

export const unsupported = (message, op) => new AdapterError("unsupported", message, op);
const protocolError = (message) => new AdapterError("protocol_error", message);

export const now = () => Math.round(performance.now() * 1e6);

/** What stands for a graphics processor of that name, in software; undefined where it is one. */
export const drawnBy = (name) => /swiftshader|llvmpipe|softpipe|basic render/i.exec(name)?.[0];

/** The step of the page's clock, in nanoseconds: the least by which it moves on. */
function clockTick() {
  let least = Infinity;
  for (let i = 0; i < 200; i++) {
    const from = performance.now();
    let to = from;
    while (to === from) to = performance.now();
    least = Math.min(least, to - from);
  }
  return Math.max(1, Math.round(least * 1e6));
}

// Files.

const TYPES = {
  F64: Float64Array, F32: Float32Array, I64: BigInt64Array, I32: Int32Array, U32: Uint32Array, U8: Uint8Array,
};

async function fetchBytes(path, from, to) {
  const headers = from === undefined ? {} : { Range: `bytes=${from}-${to - 1}` };
  const answer = await fetch("/file?path=" + encodeURIComponent(path), { headers });
  if (!answer.ok) throw new AdapterError("load_failed", `${path}: ${await answer.text()}`);
  const bytes = await answer.arrayBuffer();
  if (from !== undefined && bytes.byteLength !== to - from) throw new AdapterError("load_failed", `${path} ends too early`);
  return bytes;
}

/** A safetensors file: its head is read at once, a tensor or some rows of it when they are asked for. */
export class Tensors {
  static async open(path) {
    const size = Number(new DataView(await fetchBytes(path, 0, 8)).getBigUint64(0, true));
    const head = JSON.parse(new TextDecoder().decode(await fetchBytes(path, 8, 8 + size)));
    return new Tensors(path, 8 + size, head);
  }

  constructor(path, start, head) {
    Object.assign(this, { path, start, head });
  }

  names() {
    return Object.keys(this.head).filter((name) => name !== "__metadata__");
  }

  shape(name) {
    return this.head[name].shape;
  }

  async read(name) {
    const entry = this.head[name];
    const [from, to] = entry.data_offsets;
    const bytes = from === to ? new ArrayBuffer(0) : await fetchBytes(this.path, this.start + from, this.start + to);
    return new TYPES[entry.dtype](bytes);
  }

  /** Whole, for those who ask for its rows often. */
  async keep(name) {
    this.kept = { ...this.kept, [name]: await this.read(name) };
  }

  /** The rows of the first axis whose numbers are given, one behind the other. */
  async rows(name, rows) {
    const entry = this.head[name];
    const width = (entry.data_offsets[1] - entry.data_offsets[0]) / entry.shape[0];
    const bytes = new Uint8Array(width * rows.length), kept = this.kept?.[name];
    if (kept) {
      const all = new Uint8Array(kept.buffer);
      rows.forEach((row, i) => bytes.set(all.subarray(row * width, (row + 1) * width), i * width));
      return new TYPES[entry.dtype](bytes.buffer);
    }
    const from = this.start + entry.data_offsets[0];
    for (let at = 0; at < rows.length;) {
      let end = at + 1; // neighbours are fetched together
      while (end < rows.length && rows[end] === rows[end - 1] + 1) end++;
      const part = await fetchBytes(this.path, from + rows[at] * width, from + (rows[end - 1] + 1) * width);
      bytes.set(new Uint8Array(part), at * width);
      at = end;
    }
    return new TYPES[entry.dtype](bytes.buffer);
  }
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

const PART = 3 << 18; // bytes that are handed over at once; a multiple of 3, so that parts of base64 have no rest

/** Writes {name: {array, shape}} as a safetensors file. */
export function writeTensors(path, tensors) {
  const head = {};
  let at = 0;
  for (const [name, { array, shape }] of Object.entries(tensors)) {
    const dtype = Object.keys(TYPES).find((key) => TYPES[key] === array.constructor);
    head[name] = { dtype, shape, data_offsets: [at, at + array.byteLength] };
    at += array.byteLength;
  }
  let text = JSON.stringify(head);
  text += " ".repeat((8 - (text.length % 8)) % 8);
  const bytes = new Uint8Array(8 + text.length + at);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(new TextEncoder().encode(text), 8);
  at = 8 + text.length;
  for (const { array } of Object.values(tensors)) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  for (let from = 0; from < bytes.length || from === 0; from += PART) {
    const last = from + PART >= bytes.length;
    yardstickWrite(JSON.stringify({ path, first: from === 0, last, data: base64(bytes.subarray(from, from + PART)) }));
  }
}

// The loss, as docs/graph.md defines it.

function lossOf(plan, logits, classes, y) {
  const smoothing = plan.label_smoothing ?? 0;
  if (y.length === logits.length && y.constructor === Float32Array) { // numbers, not classes
    return logits.reduce((all, value, i) => all + (value - y[i]) ** 2, 0) / y.length;
  }
  let sum = 0;
  for (let row = 0; row < y.length; row++) {
    const z = Array.from(logits.subarray(row * classes, (row + 1) * classes)), right = Number(y[row]);
    if (plan.loss === "nll") sum -= z[right];
    else if (plan.loss === "mean_squared_error") {
      sum += z.reduce((all, value, i) => all + (value - (i === right)) ** 2, 0) / classes;
    } else {
      const top = Math.max(...z);
      const target = (i) => (1 - smoothing) * (i === right) + smoothing / classes;
      sum += top + Math.log(z.reduce((all, value) => all + Math.exp(value - top), 0)) -
        z.reduce((all, value, i) => all + target(i) * value, 0);
    }
  }
  return sum / y.length;
}

// The message loop.

const REPORT_NS = 25e7; // between two messages of latencies
const LATENCIES_MOST = 4096, RING_FLOATS = 16384;
const GROUP_TICKS = 100; // of the page's clock, that what is timed takes at least

class Server {
  constructor(adapter) {
    this.adapter = adapter;
    this.plan = null;
  }

  hello(message) {
    if (message.protocol !== 1) throw unsupported(`protocol ${message.protocol} is unknown; this adapter speaks protocol 1`);
    const { name, framework, version, precisions, ops, optimizers = [], no_work = false } = this.adapter;
    const trains = optimizers.length > 0 ? ["backward", "step", "train"] : [];
    const features = no_work ? ["infer"] : ["forward", "infer", "answers_later", "save", ...trains];
    return {
      type: "hello", protocol: 1, adapter: name, framework, version, runtime: "Chromium", devices: ["cpu"], precisions,
      ops, optimizers, features, forms: [], no_work,
    };
  }

  async open(message) {
    if (this.plan) throw protocolError("a plan is already open; one adapter process runs one plan");
    const plan = message.plan;
    plan.network = JSON.parse(new TextDecoder().decode(await fetchBytes(plan.graph)));
    plan.loss ??= plan.network.loss;
    this.check(plan);
    this.data = await Tensors.open(plan.input.path);
    const order = await Tensors.open(plan.input.order);
    this.order = await order.read("order");
    this.lr = await order.read("lr");
    this.classes = plan.network.values?.[plan.network.output]?.shape?.[1];
    const reply = await this.adapter.build(plan);
    this.plan = plan;
    this.next = 0; // step; NaN after one that failed
    if (plan.mode === "train") {
      for (const name of ["x", "y"]) await this.data.keep(name);
    }
    this.tick_ns = clockTick();
    return { type: "opened", ...reply, clock_tick_ns: this.tick_ns };
  }

  /** Throws for the first thing in the plan that the adapter does not have. */
  check(plan) {
    const { modes = ["infer"], ops, precisions, optimizers = [], options = {}, no_work } = this.adapter;
    for (const node of plan.network.nodes) {
      if (!no_work && !ops.includes(node.op)) throw unsupported(`this adapter has no operator ${node.op} (node ${node.name})`, node.op);
    }
    const [input, ...more] = plan.network.inputs;
    for (const [what, value, known] of [
      ["mode", plan.mode, modes], ["precision", plan.precision ?? "f32", precisions], ["number of inputs", 1 + more.length, [1]],
      ["input", input.name, ["x"]], ["number of processes", plan.dist?.world ?? 1, [1]], ["kind of input", plan.input.kind, ["file"]],
      ["prompt", plan.prompt ?? "none", ["none"]],
    ]) {
      if (!known.includes(value)) throw unsupported(`${what} ${value}: this adapter has ${known.join(", ")}`);
    }
    if (plan.mode === "train" && !optimizers.includes(plan.optimizer.name)) {
      throw unsupported(`optimizer ${plan.optimizer.name}: this adapter has ${optimizers.join(", ")}`);
    }
    for (const name of Object.keys(plan.options ?? {})) {
      if (!(name in options)) throw unsupported(`this adapter has no option ${name}`);
    }
  }

  rowsOf(batch, name) {
    const rows = Array.from(this.order.subarray(batch * this.plan.batch, (batch + 1) * this.plan.batch));
    return this.data.rows(name, rows);
  }

  async batch(batch) {
    return { x: await this.rowsOf(batch, "x"), y: await this.rowsOf(batch, "y") };
  }

  /** Rows of a question for a pass, and whether it is as in training. */
  async pass({ batch, mode }) {
    if (!(batch >= 0 && batch < this.plan.steps)) throw protocolError(`batch ${batch} is none of the plan's`);
    if (mode !== "eval" && this.plan.mode !== "train") throw protocolError("a plan of mode infer is evaluated only");
    return { ...(await this.batch(batch)), trains: mode === "train" };
  }

  /** For what only a plan of training has. */
  needTraining(type) {
    if (this.plan.mode !== "train") throw protocolError(`${type}: a plan of mode ${this.plan.mode} is not trained`);
  }

  async answer(x, y) {
    const logits = await this.adapter.infer(x);
    return { logits, loss: lossOf(this.plan, logits, logits.length / this.plan.batch, y) };
  }

  async forward(message) {
    const { x, y, trains } = await this.pass(message), isTraining = this.plan.mode === "train";
    const { logits, loss: value } = isTraining ? await this.adapter.forward(x, y, trains) : await this.answer(x, y);
    const path = `${this.plan.folder}/forward.safetensors`, classes = logits.length / this.plan.batch;
    const loss = logits.constructor.of(value); // in double where the logits are
    writeTensors(path, {
      x: { array: x, shape: [this.plan.batch, ...this.data.shape("x").slice(1)] },
      y: { array: y, shape: [this.plan.batch, ...this.data.shape("y").slice(1)] },
      logits: { array: logits, shape: [this.plan.batch, classes] },
      loss: { array: loss, shape: [] },
    });
    return { type: "tensors", path };
  }

  async backward(message) {
    this.needTraining("backward");
    const { x, y, trains } = await this.pass(message), { loss, gradients } = await this.adapter.backward(x, y, trains);
    const path = `${this.plan.folder}/backward.safetensors`, real = Object.values(gradients)[0].array.constructor;
    const named = Object.entries(gradients).map(([name, tensor]) => [`grad.${name}`, tensor]);
    writeTensors(path, { loss: { array: real.of(loss), shape: [] }, ...Object.fromEntries(named) });
    return { type: "tensors", path };
  }

  /** Steps up to `to`, and their losses. */
  async goOn(to) {
    const loss = [], from = this.next;
    let input_ns = 0;
    this.next = NaN;
    for (let step = from; step < to; step++) {
      const asked = now(), { x, y } = await this.batch(step);
      input_ns += now() - asked;
      loss.push(await this.adapter.step(x, y, this.lr[step]));
    }
    this.next = to;
    return { loss, input_ns };
  }

  needStep() {
    if (Number.isNaN(this.next)) throw protocolError("a step failed: reset comes first");
  }

  async train({ from, to, block }) {
    this.needTraining("train");
    this.needStep();
    if (from !== this.next) throw protocolError(`training cannot start at step ${from}: the next step is ${this.next}`);
    if (!(to >= from && to <= this.plan.steps && block >= 1)) throw protocolError(`no steps up to ${to} in blocks of ${block}`);
    for (let first = from; first < to;) {
      const last = Math.min(first + block, to), t_start_ns = now(), { loss, input_ns } = await this.goOn(last);
      const t_end_ns = now();
      send({ type: "block", first, count: last - first, t_start_ns, t_end_ns, input_ns, loss: loss.map(spelled) });
      await pause();
      first = last;
    }
    return { type: "done" };
  }

  async infer(message) {
    const { requests, batch, answers } = message, { plan, adapter } = this;
    if (!(requests >= 1)) throw protocolError(`requests ${requests} are none`);
    if (batch !== plan.batch) throw protocolError(`batch ${batch} is not the plan's ${plan.batch}`);
    const batches = [];
    for (let k = 0; k < Math.min(requests, plan.steps); k++) batches.push(await this.rowsOf(k, "x"));
    for (let first = 0; first < requests;) {
      const groups = [], kept = [], start = now();
      let end = start, count = 0;
      const goesOn = () => first + count < requests && count < LATENCIES_MOST;
      while (goesOn() && end - start < REPORT_NS) {
        const group = { size: 0, from: now() };
        do {
          const logits = await adapter.infer(batches[(first + count) % batches.length]);
          if (answers) kept.push(new Float32Array(logits.subarray(0, RING_FLOATS))); // a copy
          end = now();
          group.size++;
          count++;
        } while (goesOn() && end - group.from < GROUP_TICKS * this.tick_ns);
        groups.push({ ...group, to: end });
      }
      const shown = answers ? show(first, kept) : pause(); // the bridge has its turn: it asks for an answer, and the time
      const latency_ns = shares(groups, GROUP_TICKS * this.tick_ns), group = Math.max(...groups.map(({ size }) => size));
      send({ type: "latencies", first, count, t_start_ns: start, t_end_ns: end, latency_ns, ...(group > 1 ? { group } : {}) });
      await shown;
      first += count;
    }
    return { type: "done" };
  }

  async step(message) {
    const to = this.next + message.n;
    this.needStep();
    if (!(message.n >= 0 && to <= this.plan.steps)) throw protocolError(`n ${message.n}: there are ${this.plan.steps} steps`);
    if (message.n > 0) {
      this.needTraining("step");
      await this.goOn(to);
    }
    const path = `${this.plan.folder}/step.safetensors`;
    writeTensors(path, await this.adapter.weights());
    return { type: "tensors", path };
  }

  async save(message) {
    const { format, dtype = "f32" } = message;
    if (format !== "safetensors") throw unsupported(`this adapter saves the format safetensors, not ${format}`);
    if (dtype !== "f32" && dtype !== this.plan.precision) throw unsupported(`this adapter saves f32, not ${dtype}`);
    const tensors = await this.adapter.weights();
    if (dtype === "f32") {
      for (const tensor of Object.values(tensors)) tensor.array = new Float32Array(tensor.array);
    }
    writeTensors(message.path, tensors);
    return { type: "saved", path: message.path };
  }

  async reset() {
    await this.adapter.reset?.();
    this.next = 0;
    return { type: "done" };
  }
}

const spelled = (loss) => (Number.isFinite(loss) ? loss : { NaN: "nan", Infinity: "inf" }[loss] ?? "-inf");

/** Of requests that were timed together an equal share each, in whole nanoseconds. Those at the end that took less than
 * `least_ns` are of the group before. */
function shares(groups, least_ns) {
  const last = groups.at(-1);
  if (groups.length > 1 && last.to - last.from < least_ns) {
    groups.pop();
    groups.at(-1).size += last.size;
    groups.at(-1).to = last.to;
  }
  return groups.flatMap(({ size, from, to }) => {
    const upTo = (k) => Math.floor(((to - from) * k) / size);
    return Array.from({ length: size }, (_, k) => upTo(k + 1) - upTo(k));
  });
}

/** Until the bridge has asked for one of the answers in `kept`, which begin with that to request `first`. */
function show(first, kept) {
  return new Promise((resolve) => {
    globalThis.yardstickShow = (request) => {
      resolve();
      const values = kept[request - first];
      return base64(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    };
  });
}

/** Lets what waits for the page have its turn. */
function pause() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
}

function send(message) {
  yardstickSend(JSON.stringify(message));
}

const QUESTIONS = ["hello", "open", "reset", "forward", "backward", "step", "train", "infer", "save"];

/** Serves as the adapter of a page: {name, framework, version, precisions, ops, options, build(plan), infer(x), weights()}.
 * build() gives parameters, threads, libraries and deviations; infer() the logits of a batch as a Float32Array. One that
 * trains has {modes, optimizers, forward(x, y, trains), backward(x, y, trains), step(x, y, lr), reset()} too: forward()
 * gives logits and loss, backward() loss and gradients ({name: {array, shape}}), step() the loss. */
export function serve(adapter) {
  const server = new Server(adapter);
  let turn = Promise.resolve();
  const answer = async (message) => {
    try {
      if (!QUESTIONS.includes(message.type)) throw unsupported(`this adapter cannot answer the message "${message.type}"`);
      if (!["hello", "open"].includes(message.type) && !server.plan) {
        throw protocolError(`no plan is open; send "open" before "${message.type}"`);
      }
      send(await server[message.type](message));
    } catch (error) {
      const code = error instanceof AdapterError ? error.code : message.type === "open" ? "build_failed" : "crashed";
      const words = error instanceof AdapterError ? error.message : `${error?.name ?? "Error"}: ${error?.message ?? error}`;
      send({ type: "error", code, stage: message.type, message: words, ...(error?.op ? { op: error.op } : {}) });
    }
  };
  globalThis.yardstickReceive = (message) => {
    turn = turn.then(() => answer(message));
  };
  send({ type: "ready" });
}
