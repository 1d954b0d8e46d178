// ONNX Runtime in a page: a session over the ONNX file of the plan, by its WebAssembly or WebGPU. It answers requests and
// does not train.
import { Tensors, drawnBy, serve, unsupported } from "./common.js";

const DIST = "/npm/onnxruntime-web/dist/";
let ort = await import(DIST + "ort.wasm.bundle.min.mjs");

const OPS = ["normalize", "Conv", "Gemm", "BatchNormalization", "LayerNormalization", "LRN", "MaxPool", "AveragePool",
  "GlobalAveragePool", "GlobalMaxPool", "Relu", "LeakyRelu", "Clip", "Tanh", "Sigmoid", "Softmax", "LogSoftmax", "Dropout",
  "Add", "Mul", "Concat", "Split", "Flatten", "Reshape", "Transpose", "ReduceMean", "HardSwish", "HardSigmoid", "Swish",
  "Gelu", "Exp", "Elu", "Selu", "Celu", "Softplus", "Softsign", "Mish", "Sqrt", "Pow", "Sub", "Div", "Pad", "ConvTranspose",
  "MatMul"];

/** Its other half, with the provider webgpu, and what it will compute on. */
async function withGraphics() {
  const info = (await navigator.gpu?.requestAdapter())?.info;
  if (!info) throw unsupported("provider webgpu cannot be had in this browser");
  ort = await import(DIST + "ort.webgpu.bundle.min.mjs");
  const name = [info.vendor, info.architecture, info.description].filter(Boolean).join(" ");
  return { name, software: drawnBy(name) ?? (info.isFallbackAdapter ? name : undefined) };
}

const adapter = {
  name: "onnxruntime-web",
  framework: "ONNX Runtime Web",
  version: ort.env.versions.web,
  precisions: ["f32"],
  ops: OPS,
  options: { provider: "wasm", browser: "" },

  async build(plan) {
    if (!plan.onnx) throw unsupported("there is no ONNX file of this network: yardstick has said why");
    this.plan = plan;
    const provider = plan.options?.provider ?? this.options.provider;
    const graphics = provider === "webgpu" ? await withGraphics() : null;
    ort.env.wasm.numThreads = plan.threads;
    ort.env.wasm.wasmPaths = DIST;
    const model = await (await fetch("/file?path=" + encodeURIComponent(plan.onnx))).arrayBuffer();
    this.session = await ort.InferenceSession.create(new Uint8Array(model), {
      executionProviders: [provider], graphOptimizationLevel: "all", freeDimensionOverrides: { N: plan.batch },
    });
    this.shape = [plan.batch, ...plan.network.inputs[0].shape.slice(1)];
    this.kept = await Tensors.open(plan.weights);
    const trained = plan.network.params.filter((param) => param.role === "weight");
    return {
      parameters: trained.reduce((all, param) => all + param.shape.reduce((a, b) => a * b, 1), 0),
      threads: ort.env.wasm.numThreads,
      libraries: [`onnxruntime-web ${ort.env.versions.web}, ${provider}`, ...(graphics ? [graphics.name] : [])],
      ...(graphics?.software ? { software: graphics.software } : {}),
      deviations: [],
    };
  },

  async infer(x) {
    const type = { Uint8Array: "uint8", Float32Array: "float32", Int32Array: "int32" }[x.constructor.name];
    const results = await this.session.run({ x: new ort.Tensor(type, x, this.shape) });
    return Object.values(results)[0].data;
  },

  async weights() {
    const tensors = {};
    for (const name of this.kept.names()) tensors[name] = { array: await this.kept.read(name), shape: this.kept.shape(name) };
    return tensors;
  },
};

serve(adapter);
