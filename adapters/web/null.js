// A page that does nothing: each request is answered at once, by the same logits. What is left is what the page's loop and
// the bridge add to a request.
import { serve } from "./common.js";

serve({
  name: "null-web",
  framework: "null",
  version: "1",
  precisions: ["f64", "f32"],
  ops: [],
  options: { browser: "" },
  no_work: true,

  async build(plan) {
    this.logits = new Float32Array(plan.batch * (plan.network.values?.[plan.network.output]?.shape?.[1] ?? 1));
    return { parameters: 0, threads: 1, libraries: [], deviations: [] };
  },

  async infer() {
    return this.logits;
  },
});
