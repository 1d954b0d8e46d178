// yardstick's own engine in a page: compiled to WebAssembly by `make web` (src/builtin/page/page_engine.h), on one thread.
import { AdapterError, Tensors, serve } from "./common.js";
import load from "./builtin-engine.js";

// Of base/status.h, and what the protocol calls it.
const CODES = { "-1": "unsupported", "-3": "protocol_error", "-6": "unsupported", "-7": "protocol_error" };
const GRAPH = "/graph.json";

const answer = await fetch("/adapter/builtin-engine.wasm");
const engine = await load({ wasmBinary: await answer.arrayBuffer() });
const text = (name) => engine.ccall(name, "string", [], []);
const ops = [];
for (let at; (at = engine._ys_page_op(ops.length));) ops.push(engine.UTF8ToString(at));

function need(status, otherwise) {
  if (status === 0) return;
  const words = status === -1 ? "the network does not fit into a WebAssembly memory, 4 GB" : text("ys_page_error");
  throw new AdapterError(CODES[status] ?? otherwise, words);
}

const realArray = (bytes) => (bytes === 8 ? Float64Array : Float32Array);

const adapter = {
  name: "builtin-web",
  framework: "yardstick built-in engine",
  version: text("ys_page_version"),
  precisions: ["f64", "f32"],
  ops,
  modes: ["train", "infer"],
  optimizers: ["sgd", "adam", "adamw", "rmsprop"],
  options: { backend: "", browser: "" },

  async build(plan) {
    const { network, ...rest } = plan;
    const graph = await fetch("/file?path=" + encodeURIComponent(plan.graph));
    this.plan = plan;
    engine.FS.writeFile(GRAPH, new Uint8Array(await graph.arrayBuffer()));
    const words = [JSON.stringify(rest), GRAPH, plan.options?.backend ?? ""];
    need(engine.ccall("ys_page_open", "number", ["string", "string", "string"], words), "build_failed");
    this.real = realArray(engine._ys_page_real_bytes());
    await this.setWeights();
    const trained = network.params.filter((param) => param.role === "weight");
    return {
      parameters: trained.reduce((all, { shape }) => all + shape.reduce((a, b) => a * b, 1), 0),
      threads: 1,
      libraries: [`instructions: ${text("ys_page_level")}`],
      deviations: plan.options?.backend ? [`back end ${text("ys_page_backend")}`] : [],
    };
  },

  /** To those of the plan. */
  async setWeights() {
    const file = await Tensors.open(this.plan.weights);
    for (const [i, { name }] of this.plan.network.params.entries()) {
      const values = await file.read(name), place = engine._ys_page_place(i, values.BYTES_PER_ELEMENT);
      if (!place) need(-1);
      new values.constructor(engine.HEAPU8.buffer, place, values.length).set(values);
      need(engine._ys_page_set(i, values.BYTES_PER_ELEMENT), "load_failed");
    }
  },

  put(x, y) {
    engine.HEAPU8.set(new Uint8Array(x.buffer, x.byteOffset, x.byteLength), engine._ys_page_input());
    if (y) engine.HEAPU8.set(new Uint8Array(y.buffer, y.byteOffset, y.byteLength), engine._ys_page_target());
  },

  logits() {
    const count = this.plan.batch * engine._ys_page_classes();
    return new this.real(engine.HEAPU8.buffer, engine._ys_page_logits(), count).slice();
  },

  async infer(x) {
    this.put(x);
    need(engine._ys_page_infer(), "crashed");
    return this.logits();
  },

  async forward(x, y, trains) {
    this.put(x, y);
    need(engine._ys_page_forward(Number(trains)), "crashed");
    return { logits: this.logits(), loss: engine._ys_page_loss() };
  },

  async backward(x, y, trains) {
    this.put(x, y);
    need(engine._ys_page_backward(Number(trains)), "crashed");
    return { loss: engine._ys_page_loss(), gradients: this.values(engine._ys_page_gradient, ({ role }) => role === "weight") };
  },

  async step(x, y, lr) {
    this.put(x, y);
    need(engine._ys_page_step(lr), "crashed");
    return engine._ys_page_loss();
  },

  async reset() {
    engine._ys_page_reset();
    await this.setWeights();
  },

  /** Of each parameter, what the engine holds of it. */
  values(get, wanted = () => true) {
    const tensors = {}, bytes = this.real.BYTES_PER_ELEMENT;
    for (const [i, param] of this.plan.network.params.entries()) {
      if (!wanted(param)) continue;
      const place = engine._ys_page_place(i, bytes), count = param.shape.reduce((a, b) => a * b, 1);
      if (!place) need(-1);
      need(get(i, bytes), "crashed");
      tensors[param.name] = { array: new this.real(engine.HEAPU8.buffer, place, count).slice(), shape: param.shape };
    }
    return tensors;
  },

  async weights() {
    return this.values(engine._ys_page_get);
  },
};

serve(adapter);
