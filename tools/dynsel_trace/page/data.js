// SPDX-License-Identifier: Apache-2.0
"use strict";
// The trace that stands in the page, and texts of its numbers. Times in arrays are in units of
// meta.unit ns since the begin of the trace; elsewhere in ns.

const meta = JSON.parse(document.getElementById("meta").textContent);
const NO_TIME = 0xffffffff;
const NO_PLACE = 0xffff;
const BOUND = meta.bound;
const SOURCE_BITS = 15;
const arrays = {};

const TYPES = {I: Uint32Array, H: Uint16Array, B: Uint8Array, d: Float64Array, f: Float32Array};

async function unpack() {
  const text = atob(document.getElementById("data").textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    packed[i] = text.charCodeAt(i);
  }
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  for (const [name, [code, at, count]] of Object.entries(meta.arrays)) {
    arrays[name] = new TYPES[code](buffer, at, count);
  }
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else {
      made.setAttribute(key, value);
    }
  }
  made.append(...children);
  return made;
}

function digits(number) {
  return number >= 99.95 ? number.toFixed(0) : number >= 9.995 ? number.toFixed(1) : number.toFixed(2);
}

function time(ns) {
  if (ns < 0) {
    return "-" + time(-ns);
  }
  for (const [unit, size] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["us", 1e3],
  ]) {
    if (ns >= 0.9995 * size) {
      return digits(ns / size) + " " + unit;
    }
  }
  return ns.toFixed(0) + " ns";
}

function bytes(count) {
  for (const [unit, size] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
  ]) {
    if (count >= size) {
      return digits(count / size) + " " + unit;
    }
  }
  return count + " B";
}

function percent(part, whole) {
  return whole > 0 ? ((100 * part) / whole).toFixed(0) + " %" : "-";
}

function laneName(lane) {
  if (lane === NO_PLACE) {
    return "unknown";
  }
  const {name, policy} = meta.lanes[lane];
  return meta.policies > 1 ? `${name} (${policy})` : name;
}

function kindName(kind) {
  return kind === NO_PLACE ? "(choice lost)" : meta.kinds[kind];
}

function reasonText(reason) {
  return reason === 255 ? "unknown: the choice is lost" : (meta.reasons[reason] ?? `reason ${reason}`);
}

// Nearly alike for eight kinds that are seen at once, then by the golden angle.
const PALETTE = ["#3b82d0", "#e08a2e", "#3f9e5a", "#c9485b", "#8d6cc9", "#2aa5a0", "#b9962a", "#d56fb0"];

function kindColour(kind) {
  if (kind === NO_PLACE || kind === meta.unknown_kind) {
    return "#88909a";
  }
  return kind < PALETTE.length ? PALETTE[kind] : `hsl(${(kind * 137.508) % 360} 45% 52%)`;
}

function sourceOf(i) {
  return arrays.bits[i] & SOURCE_BITS;
}

function at(name, i) {
  const found = arrays[name][i];
  return found === NO_TIME ? null : found * meta.unit;
}

function wayOf(copy) {
  if (arrays.copy_memory[copy] & 128) {
    return "to the host";
  }
  return arrays.copy_source[copy] ? `from memory ${arrays.copy_source[copy]}` : "to the device";
}

// What was copied for a piece, and how long the program waited for it: lines.
function aroundText(row) {
  const lines = [];
  for (let k = arrays.copy_row.indexOf(row); k >= 0; k = arrays.copy_row.indexOf(row, k + 1)) {
    const took = time((arrays.copy_end[k] - arrays.copy_begin[k]) * meta.unit);
    lines.push(`copied ${bytes(arrays.copy_bytes[k])} ${wayOf(k)} in ${took}`);
  }
  for (let k = arrays.wait_row.indexOf(row); k >= 0; k = arrays.wait_row.indexOf(row, k + 1)) {
    lines.push(`the program waited ${time((arrays.wait_end[k] - arrays.wait_begin[k]) * meta.unit)} for it`);
  }
  return lines;
}

// What pieces the one with this row depends on: rows.
function dependenciesOf(row) {
  const found = [];
  for (let k = arrays.depends_row.indexOf(row); k >= 0; k = arrays.depends_row.indexOf(row, k + 1)) {
    if (arrays.depends_on[k] !== NO_TIME) {
      found.push(arrays.depends_on[k]);
    }
  }
  return found;
}

function amountText(i) {
  return arrays.amount[i] > 0 ? `, amount ${arrays.amount[i]}` : "";
}

function estimatesTable(i) {
  const first = arrays.estimate_first[i];
  const last = arrays.estimate_first[i + 1];
  if (first === last) {
    return [];
  }
  const rows = [];
  for (let k = first; k < last; k++) {
    const lane = arrays.estimate_lane[k];
    const cells = ["start", "copy", "run", "cost"].map((name) =>
      element("td", {}, time(arrays[`estimate_${name}`][k] * meta.estimate_unit)),
    );
    rows.push(
      element(
        "tr",
        lane === arrays.lane[i] ? {class: "chosen"} : {},
        element("td", {class: "name"}, laneName(lane) + (lane === arrays.lane[i] ? " (chosen)" : "")),
        ...cells,
      ),
    );
  }
  const [choice, begin, end] = [at("choice_at", i), at("begin", i), at("end", i)];
  if (choice !== null && begin !== null) {
    const out = [Math.max(begin - choice, 0), null, end - begin, end - choice];
    rows.push(
      element(
        "tr",
        {class: "out"},
        element("td", {}, "came out"),
        ...out.map((ns) => element("td", {}, ns === null ? "" : time(ns))),
      ),
    );
  }
  const head = ["it knew", "start", "copy", "run", "cost"].map((text) => element("th", {}, text));
  return [
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  ];
}

// What is compared with another resource, as in analysis.py.
const BASES = ["it runs", "by what was known of the start over after", "over after"];

// Elements that tell all about a piece.
function pieceText(i) {
  const begin = at("begin", i);
  const end = at("end", i);
  const choice = at("choice_at", i);
  const start = at("start_at", i);
  const since = at("since", i);
  const lines = [`to ${laneName(arrays.lane[i])}: ${reasonText(arrays.reason[i])}`];
  if (begin !== null) {
    const from = choice === null ? "" : `, over ${time(end - choice)} after its choice`;
    lines.push(
      `ran ${sourceOf(i) === BOUND ? "at most " : ""}${time(end - begin)} (${meta.sources[sourceOf(i)]})${from}`,
    );
    if (start !== null && begin > start && sourceOf(i) !== BOUND) {
      lines.push(`waited ${time(begin - start)} on the resource`);
    }
  } else {
    lines.push("its end is unknown");
  }
  if (start !== null) {
    lines.push(`submit took ${time(start - since)}`);
  }
  lines.push(...aroundText(i));
  if (arrays.bits[i] & meta.bits.moved) {
    lines.push("the device's clock differs: moved by its error");
  }
  if (arrays.bits[i] & meta.bits.refused) {
    lines.push("refused: it was chosen for anew");
  }
  if (arrays.status[i] !== 0) {
    lines.push(`failed: ${meta.statuses[arrays.status[i]]}`);
  }
  if (arrays.lost[i] > 0) {
    const basis = BASES[arrays.bits[i] >> meta.bits.basisShift];
    lines.push(
      `better: ${laneName(arrays.better[i])}: ${basis} ${time(arrays.better_out[i])}, ${time(arrays.lost[i])} less`,
    );
  }
  return [
    element("strong", {}, `piece ${arrays.number[i]}: ${kindName(arrays.kind[i])}${amountText(i)}`),
    ...lines.map((text) => element("div", {}, text)),
    ...estimatesTable(i),
  ];
}
