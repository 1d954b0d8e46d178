// The page's half of an adapter under Node, without a bridge: page_in_node.mjs adapters/web/common.js NAMES MESSAGES, both
// JSON. Prints what draws the graphics processors of these names, then what is said and written, a line each. The adapter
// has one weight, to which a step adds lr times the sum of its rows; that is the loss, endless above 7. A step down fails.
import { readFileSync } from "node:fs";

const [file, names, messages] = process.argv.slice(2);
const tell = (value) => console.log(JSON.stringify(value));
let answered;

globalThis.fetch = async (address, { headers }) => {
  const bytes = readFileSync(decodeURIComponent(address.split("path=")[1]));
  const range = /bytes=(\d+)-(\d+)/.exec(headers.Range ?? "");
  return new Response(range ? bytes.subarray(Number(range[1]), Number(range[2]) + 1) : bytes);
};
globalThis.yardstickWrite = (part) => tell(JSON.parse(part));
globalThis.yardstickSend = (text) => {
  const message = JSON.parse(text);
  tell(message);
  if (!["ready", "block"].includes(message.type)) answered();
};

const common = await import("data:text/javascript," + encodeURIComponent(readFileSync(file)));
tell(JSON.parse(names).map((name) => common.drawnBy(name) ?? null));
const array = new Float32Array(1);
common.serve({
  name: "stub", framework: "stub", version: "1", precisions: ["f32"], ops: [], optimizers: ["sgd"], modes: ["train"],
  build: () => ({ threads: 1, libraries: [], deviations: [] }),
  step: async (x, y, lr) => {
    if (lr < 0) throw new Error("down");
    array[0] += lr * x.reduce((all, value) => all + value, 0);
    return array[0] > 7 ? Infinity : array[0];
  },
  weights: () => ({ w: { array, shape: [1] } }),
  reset: () => array.fill(0),
});
for (const message of JSON.parse(messages)) {
  await new Promise((resolve) => {
    answered = resolve;
    yardstickReceive(message);
  });
}
process.exit(0); // its channels stay open
