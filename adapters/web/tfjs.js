// TensorFlow.js in a page: the graph as its functions call for it, one after the other, on one of its back ends. It answers
// requests and does not train. Values of four dimensions are NHWC, which is its own layout.
import { Tensors, drawnBy, serve, unsupported } from "./common.js";

const FOLDER = "/npm/@tensorflow/";
const BUNDLES = { all: "tfjs/dist/tf.es2017.min.js", wasm: "tfjs-backend-wasm/dist/tf-backend-wasm.es2017.min.js" };

/** A script of the old kind, which leaves a global. */
function load(path) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${path} is not there`));
    script.src = FOLDER + path;
    document.head.append(script);
  });
}

await load(BUNDLES.all);
await load(BUNDLES.wasm);
const tf = globalThis.tf;

const around = ([top, left, bottom, right]) => [[0, 0], [top, bottom], [left, right], [0, 0]];
const channelsFirst = (value) => (value.rank === 4 ? value.transpose([0, 3, 1, 2]) : value);
const channelsLast = (value) => (value.rank === 4 ? value.transpose([0, 2, 3, 1]) : value);
const axisHere = (axis, value) => (value.rank === 4 ? [0, 3, 1, 2][axis] : axis);

function convolve(x, { attrs, params }, weights) {
  const { group, strides, pads, dilations } = attrs, weight = weights[params.weight];
  const call = group === 1 ? tf.conv2d : tf.depthwiseConv2d;
  const y = call(x, weight, strides, around(pads), "NHWC", dilations);
  return params.bias ? y.add(weights[params.bias]) : y;
}

function pool(call) {
  return (x, { attrs }) => call(x, attrs.kernel_shape, attrs.strides, around(attrs.pads));
}

// Each operator of one value: the function of it, its node and the weights.
const OPERATORS = {
  normalize: (x, { attrs }) => x.mul(attrs.scale).sub(attrs.mean).div(attrs.std),
  Conv: convolve,
  BatchNormalization: (x, { attrs, params }, weights) => tf.batchNorm(x, weights[params.running_mean],
    weights[params.running_var], weights[params.bias], weights[params.weight], attrs.epsilon),
  Gemm: (x, { params }, weights) => {
    const y = tf.matMul(x, weights[params.weight], false, true);
    return params.bias ? y.add(weights[params.bias]) : y;
  },
  MaxPool: pool(tf.maxPool),
  AveragePool: pool(tf.avgPool),
  GlobalAveragePool: (x) => x.mean([1, 2], true),
  GlobalMaxPool: (x) => x.max([1, 2], true),
  Relu: (x) => x.relu(),
  LeakyRelu: (x, { attrs }) => x.leakyRelu(attrs.alpha),
  Clip: (x, { attrs }) => x.clipByValue(attrs.min, attrs.max),
  Tanh: (x) => x.tanh(),
  Sigmoid: (x) => x.sigmoid(),
  Elu: (x, { attrs }) => tf.where(x.greater(0), x, x.exp().sub(1).mul(attrs.alpha)),
  Exp: (x) => x.exp(),
  Sqrt: (x) => x.sqrt(),
  Softplus: (x) => x.softplus(),
  Softmax: (x) => x.softmax(),
  LogSoftmax: (x) => x.logSoftmax(),
  Dropout: (x) => x,
  Reshape: (x, { attrs }) => channelsLast(channelsFirst(x).reshape([x.shape[0], ...attrs.shape.slice(1)])),
  Flatten: (x) => channelsFirst(x).reshape([x.shape[0], -1]),
};
// Of several.
const JOINS = {
  Add: (values) => tf.add(...values),
  Sub: (values) => tf.sub(...values),
  Mul: (values) => tf.mul(...values),
  Div: (values) => tf.div(...values),
  Concat: (values, { attrs }) => tf.concat(values, axisHere(attrs.axis, values[0])),
};

/** The graphics processor behind the back end webgl, in the browser's words. */
function renderer() {
  const { gl } = tf.backend().gpgpu, told = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
}

/** What its functions do not take, or take otherwise. */
function check(node, shapes) {
  const { op, attrs } = node;
  const refuse = (what) => {
    throw unsupported(`TensorFlow.js has no ${op} ${what} (node ${node.name})`, op);
  };
  if (JOINS[op] && Object.keys(node.params).length > 0) refuse("with a parameter as an operand");
  if (op === "Conv" && attrs.group !== 1 && shapes[node.params.weight][1] !== 1) refuse(`of ${attrs.group} groups`);
  if (op === "Conv" && attrs.strides.some((step) => step > 1) && attrs.dilations.some((step) => step > 1)) {
    refuse("with stride and dilation");
  }
  if (op === "Conv" && attrs.group !== 1 && attrs.strides[0] !== attrs.strides[1]) refuse("depthwise with two strides");
  if (op.endsWith("Pool") && attrs.ceil_mode) refuse("with ceil_mode");
  if (op === "MaxPool" && attrs.dilations.some((step) => step > 1)) refuse("with dilation");
  if (op === "AveragePool" && attrs.pads.some((pad) => pad > 0)) refuse("with padding that counts");
  if (op.endsWith("oftmax") && (attrs.axis ?? 1) !== 1) refuse(`along axis ${attrs.axis}`);
}

/** A parameter in its own layout: (h, w, in, out), of a depthwise convolution (h, w, channels, multiplier). */
function place(values, shape, { op, attrs }) {
  const tensor = tf.tensor(values, shape);
  if (op !== "Conv" || shape.length !== 4) return tensor;
  const kernel = tensor.transpose([2, 3, 1, 0]);
  return attrs.group > 1 ? kernel.reshape([shape[2], shape[3], attrs.group, shape[0] / attrs.group]) : kernel;
}

const adapter = {
  name: "tfjs",
  framework: "TensorFlow.js",
  version: tf.version.tfjs,
  precisions: ["f32"],
  ops: [...Object.keys(OPERATORS), ...Object.keys(JOINS)],
  options: { backend: "wasm", browser: "" },

  async build(plan) {
    const backend = plan.options?.backend ?? this.options.backend;
    if (backend === "wasm") {
      tf.wasm.setWasmPaths(FOLDER + "tfjs-backend-wasm/dist/");
      tf.wasm.setThreadsCount(plan.threads);
    }
    if (!(await tf.setBackend(backend).catch(() => false))) throw unsupported(`back end ${backend} cannot be had in this browser`);
    await tf.ready();
    this.plan = plan;
    this.file = await Tensors.open(plan.weights);
    this.weights_ = {};
    const shapes = Object.fromEntries(plan.network.params.map((param) => [param.name, param.shape]));
    for (const node of plan.network.nodes) {
      check(node, shapes);
      for (const name of Object.values(node.params)) {
        this.weights_[name] = place(await this.file.read(name), shapes[name], node);
      }
    }
    const threads = backend === "wasm" ? tf.wasm.getThreadsCount() : 1;
    const trained = plan.network.params.filter((param) => param.role === "weight");
    const graphics = backend === "webgl" ? renderer() : "", software = drawnBy(graphics);
    return {
      parameters: trained.reduce((all, param) => all + this.weights_[param.name].size, 0),
      threads,
      libraries: [`TensorFlow.js ${tf.version.tfjs}, ${tf.getBackend()}`, ...(graphics ? [graphics] : [])],
      ...(software ? { software } : {}),
      deviations: threads === plan.threads ? [] : [`${threads} threads: the back end ${backend} takes no others`],
    };
  },

  async infer(x) {
    const { network, batch } = this.plan;
    const logits = tf.tidy(() => {
      const values = { x: channelsLast(tf.tensor(x, [batch, ...network.inputs[0].shape.slice(1)], "float32")) };
      for (const node of network.nodes) {
        const ins = node.in.map((name) => values[name]);
        values[node.out[0]] = JOINS[node.op] ? JOINS[node.op](ins, node) : OPERATORS[node.op](ins[0], node, this.weights_);
      }
      return channelsFirst(values[network.output]);
    });
    const found = await logits.data();
    logits.dispose();
    return found;
  },

  /** Read back from the back end, in the graph's layout. */
  async weights() {
    const tensors = {};
    for (const { name, shape } of this.plan.network.params) {
      const back = tf.tidy(() => {
        const tensor = this.weights_[name];
        if (tensor.rank !== 4) return tensor.clone();
        const [h, w, ins, outs] = tensor.shape;
        return shape[1] === 1 && ins > 1 ? tensor.reshape([h, w, 1, ins * outs]).transpose([3, 2, 0, 1]) :
          tensor.transpose([3, 2, 0, 1]);
      });
      tensors[name] = { array: await back.data(), shape };
      back.dispose();
    }
    return tensors;
  },
};

serve(adapter);
