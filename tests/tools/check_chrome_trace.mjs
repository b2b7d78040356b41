// SPDX-License-Identifier: Apache-2.0
// Reads Chrome trace event JSON with the engine of Chrome's DevTools, and prints what it understood.
// Arguments: a folder whose node_modules has @paulirish/trace_engine; the file.
import fs from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [folder, file] = process.argv.slice(2);
const found = createRequire(`${folder}/x.js`)
  .resolve("@paulirish/trace_engine/package.json")
  .replace(/package\.json$/, "");
const main = JSON.parse(fs.readFileSync(`${found}package.json`)).main;
const {
  Handlers: {ModelHandlers},
  Helpers,
  Processor,
} = await import(pathToFileURL(found + main));
const {traceEvents} = JSON.parse(fs.readFileSync(file));
const processor = new Processor.TraceProcessor({Flows: ModelHandlers.Flows, Meta: ModelHandlers.Meta});
await processor.parse(traceEvents, {isCPUProfile: false, isFreshRecording: false, metadata: {}});
const {Flows, Meta} = processor.data;
const threads = {};
for (const [pid, named] of Meta.threadsInProcess) {
  for (const [tid, {args}] of named) {
    const slices = traceEvents.filter((event) => event.ph === "X" && event.pid === pid && event.tid === tid);
    Helpers.Trace.sortTraceEventsInPlace(slices);
    const {entryToNode} = Helpers.TreeHelpers.treify(slices, {filter: {has: () => true}});
    threads[`${Meta.processNames.get(pid).args.name}: ${args.name}`] = [slices.length, entryToNode.size];
  }
}
console.log(
  JSON.stringify({
    flows: Flows.flows.map((flow) => flow.map(({name}) => name)),
    threads,
    bounds: Meta.traceBounds,
  }),
);
