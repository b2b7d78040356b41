// SPDX-License-Identifier: Apache-2.0
"use strict";
// The canvas: rows, and what is drawn in them. Slices narrower than a pixel are added up for each
// pixel of their row, so that a drawing takes one look at each piece, however many there are.

const GUTTER = 190; // px for names
const RULER = 34;
const OVERVIEW_LANE = 7;
const NARROW = 1.5; // px
const LEAST_HEIGHT = 2;
const LANE_WORK = 36;
const LANE_WAITING = 7;

const view = {
  from: meta.view[0],
  to: meta.view[1],
  width: 0,
  highlight: null,
  pinned: null,
  rows: [],
  part: 0,
};
let colours = {};
let overviewImage = null;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of [
    "back",
    "panel",
    "text",
    "quiet",
    "line",
    "accent",
    "row",
    "in",
    "out",
    "choose",
    "submit",
    "wait",
    "build",
    "mark",
    "queue",
    "run",
  ]) {
    colours[name] = style.getPropertyValue("--" + name).trim();
  }
}

// Rows from above: resources, transfers of each memory, threads of the program that did something.
function layOut() {
  view.rows = [];
  let top = RULER;
  const add = (what, number, name, height) => {
    view.rows.push({what, number, name, top, height});
    top += height + 6;
  };
  const levels = meta.lanes.map(() => 1);
  for (let i = 0; i < arrays.lane.length; i++) {
    if (arrays.lane[i] !== NO_PLACE && arrays.level[i] >= levels[arrays.lane[i]]) {
      levels[arrays.lane[i]] = arrays.level[i] + 1;
    }
  }
  meta.lanes.forEach((_, i) => add("lane", i, laneName(i), LANE_WORK + 6 * (levels[i] - 1) + LANE_WAITING));
  view.levels = levels;
  view.copyMemory = arrays.copy_memory.map((both) => both & 127);
  view.copyIsOut = arrays.copy_memory.map((both) => both >> 7);
  meta.memories.forEach(([number, users]) =>
    add("memory", number, `copies: ${users || "memory " + number}`, 18),
  );
  const threads = new Set([
    ...arrays.chooser,
    ...arrays.starter,
    ...arrays.wait_thread,
    ...meta.builds.map((build) => build[3]),
  ]);
  threads.delete(0);
  [...threads].sort((a, b) => a - b).forEach((ring) => add("thread", ring, `thread ${ring}`, 20));
  view.height = top + 4;
  view.byLane = view.rows.filter((row) => row.what === "lane");
}

function sizeCanvas(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.parentElement.clientWidth;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return context;
}

function xOf(ns) {
  return GUTTER + ((ns - view.from) * (view.width - GUTTER)) / (view.to - view.from);
}

function nsOf(x) {
  return view.from + ((x - GUTTER) * (view.to - view.from)) / (view.width - GUTTER);
}

// Draws slices of one row: wide ones at once; narrow ones are added up, and finish() stacks them by
// colour, so high as they fill their pixel.
class Strip {
  constructor(context, top, height, palette) {
    this.context = context;
    this.top = top;
    this.height = height;
    this.palette = palette;
    this.cover = palette.map(() => null);
    this.scale = 1;
  }

  wide(x0, x1, colour, alpha, top, height) {
    const left = Math.max(x0, GUTTER);
    this.context.globalAlpha = alpha;
    this.context.fillStyle = this.palette[colour];
    this.context.fillRect(left, top, Math.min(x1, view.width) - left - (x1 - x0 > 4 ? 0.5 : 0), height);
  }

  narrow(x0, x1, colour) {
    if (this.cover[colour] === null) {
      this.cover[colour] = new Float32Array(view.width + 2);
    }
    this.cover[colour][Math.max(x0, GUTTER) | 0] += x1 - x0 + 1e-6;
  }

  add(x0, x1, colour) {
    if (x1 - x0 >= NARROW) {
      this.wide(x0, x1, colour, 1, this.top, this.height);
    } else {
      this.narrow(x0, x1, colour);
    }
  }

  finish(alphaOf) {
    const filled = new Float32Array(view.width + 2);
    this.cover.forEach((mine, colour) => {
      if (mine === null) {
        return;
      }
      this.context.globalAlpha = alphaOf(colour);
      this.context.fillStyle = this.palette[colour];
      for (let px = GUTTER; px < view.width; px++) {
        if (mine[px] > 0) {
          const room = this.height - filled[px];
          const height = Math.min(Math.max(mine[px] * this.height * this.scale, LEAST_HEIGHT), room);
          this.context.fillRect(px, this.top + room - height, 1, height);
          filled[px] += height;
        }
      }
    });
    this.context.globalAlpha = 1;
  }
}

function kindAlpha(kind) {
  return view.highlight === null || view.highlight === kind ? 1 : 0.12;
}

// Work, and below it what waits: one look at each piece.
function drawWork(context) {
  const {lane, kind, begin, end, start_at: start, level, bits} = arrays;
  const palette = [...meta.kinds.map((_, i) => kindColour(i)), kindColour(NO_PLACE)];
  const lost = palette.length - 1;
  const alphas = palette.map((_, i) => kindAlpha(i === lost ? NO_PLACE : i));
  const work = view.byLane.map((row) => new Strip(context, row.top, row.height - LANE_WAITING - 2, palette));
  const waiting = view.byLane.map(
    (row) => new Strip(context, row.top + row.height - LANE_WAITING, LANE_WAITING, palette),
  );
  work.forEach((strip, row) => {
    strip.scale = 1 / view.levels[row];
  });
  const scale = (meta.unit * (view.width - GUTTER)) / (view.to - view.from);
  const zero = xOf(0);
  const [first, last] = [view.from / meta.unit, view.to / meta.unit];
  for (let i = 0; i < lane.length; i++) {
    const row = lane[i];
    const since = Math.min(start[i], begin[i]);
    if (row === NO_PLACE || begin[i] === NO_TIME || end[i] < first || since > last) {
      continue;
    }
    const x0 = zero + begin[i] * scale;
    const x1 = zero + end[i] * scale;
    const colour = kind[i] === NO_PLACE ? lost : kind[i];
    if (x1 - x0 < NARROW) {
      if (begin[i] <= last) {
        work[row].narrow(x0, x1, colour);
      }
    } else if (begin[i] <= last) {
      const height = work[row].height / view.levels[row];
      const top = work[row].top + level[i] * height;
      work[row].wide(x0, x1, colour, alphas[colour], top, height - (view.levels[row] > 1 ? 1 : 0));
      if (x1 - x0 > 6 && alphas[colour] === 1) {
        drawEdges(context, i, x0, x1, top, height, bits);
      }
    }
    if (since < begin[i] && begin[i] >= first && (bits[i] & SOURCE_BITS) !== BOUND) {
      const left = zero + since * scale;
      if (x0 - left >= NARROW) {
        waiting[row].wide(
          left,
          Math.min(x0, view.width),
          colour,
          0.35 * alphas[colour],
          waiting[row].top,
          LANE_WAITING,
        );
      } else {
        waiting[row].narrow(left, x0, colour);
      }
    }
  }
  work.forEach((strip) => strip.finish((colour) => alphas[colour]));
  waiting.forEach((strip) => strip.finish((colour) => 0.35 * alphas[colour]));
}

// The name in wide ones, and dots where only a bound of the time is known.
function drawEdges(context, i, x0, x1, top, height, bits) {
  if ((bits[i] & SOURCE_BITS) === BOUND) {
    context.globalAlpha = 1;
    context.strokeStyle = colours.text;
    context.setLineDash([2, 2]);
    context.strokeRect(
      Math.max(x0, GUTTER) + 0.5,
      top + 0.5,
      Math.min(x1, view.width) - Math.max(x0, GUTTER) - 1,
      height - 1,
    );
    context.setLineDash([]);
  }
  const left = Math.max(x0, GUTTER);
  const room = Math.min(x1, view.width) - left - 8;
  const text = kindName(arrays.kind[i]);
  if (room > 24 && height >= 12 && context.measureText(text).width <= room) {
    context.fillStyle = "#ffffff";
    context.fillText(text, left + 4, top + height / 2);
  }
}

// colour: its index in the palette of the strips, or an array of them.
function drawSlices(strips, begins, ends, row, colour) {
  const scale = (meta.unit * (view.width - GUTTER)) / (view.to - view.from);
  const zero = xOf(0);
  const [first, last] = [view.from / meta.unit, view.to / meta.unit];
  for (let i = 0; i < begins.length; i++) {
    if (ends[i] >= first && begins[i] <= last && begins[i] !== NO_TIME && ends[i] !== NO_TIME) {
      strips[row[i]]?.add(
        zero + begins[i] * scale,
        zero + ends[i] * scale,
        colour.length ? colour[i] : colour,
      );
    }
  }
}

function stripsOf(context, what, palette) {
  const strips = [];
  view.rows
    .filter((row) => row.what === what)
    .forEach((row) => {
      strips[row.number] = new Strip(context, row.top, row.height, palette);
    });
  return strips;
}

function drawTransfers(context) {
  const strips = stripsOf(context, "memory", [colours.in, colours.out]);
  drawSlices(strips, arrays.copy_begin, arrays.copy_end, view.copyMemory, view.copyIsOut);
  strips.forEach((strip) => strip.finish(() => 1));
}

function drawThreads(context) {
  const strips = stripsOf(context, "thread", [colours.choose, colours.submit, colours.wait, colours.build]);
  const unit = meta.unit;
  drawSlices(strips, arrays.wait_begin, arrays.wait_end, arrays.wait_thread, 2);
  drawSlices(strips, arrays.sight_at, arrays.choice_at, arrays.chooser, 0);
  drawSlices(strips, arrays.since, arrays.start_at, arrays.starter, 1);
  drawSlices(
    strips,
    meta.builds.map((b) => b[0] / unit),
    meta.builds.map((b) => b[1] / unit),
    meta.builds.map((b) => b[3]),
    3,
  );
  strips.forEach((strip) => strip.finish(() => 1));
}

function ticksOf(from, to, width) {
  const least = (to - from) / Math.max(width / 110, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-3)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
  const found = [];
  for (let t = Math.ceil(from / step) * step; t <= to && found.length < 100; t += step) {
    found.push(t);
  }
  return [found, step];
}

function drawRuler(context) {
  const [ticks, step] = ticksOf(view.from, view.to, view.width - GUTTER);
  const [unit, size] = [
    ["s", 1e9],
    ["ms", 1e6],
    ["us", 1e3],
    ["ns", 1],
  ].find(([, n]) => view.to >= n) ?? ["ns", 1];
  const places = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  context.strokeStyle = colours.line;
  context.fillStyle = colours.quiet;
  for (const t of ticks) {
    const x = Math.round(xOf(t)) + 0.5;
    context.beginPath();
    context.moveTo(x, 20);
    context.lineTo(x, view.height);
    context.stroke();
    context.fillText(`${(t / size).toFixed(Math.min(places, 9))} ${unit}`, x + 3, 25);
  }
}

function drawMarks(context) {
  context.fillStyle = context.strokeStyle = colours.mark;
  let free = GUTTER;
  for (const [ns, name] of meta.marks) {
    const x = xOf(ns);
    if (x < GUTTER || x > view.width) {
      continue;
    }
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, 4);
    context.lineTo(Math.round(x) + 0.5, view.height);
    context.stroke();
    if (x >= free) {
      context.fillText(name, x + 4, 9);
      free = x + context.measureText(name).width + 10;
    }
  }
  for (const [ns, lane, , after] of meta.health) {
    const x = xOf(ns);
    const row = view.byLane[lane];
    if (row && x >= GUTTER && x <= view.width) {
      context.fillStyle = after === "in service" ? colours.run : colours.build;
      context.beginPath();
      context.arc(x, row.top + 6, 5, 0, 7);
      context.fill();
    }
  }
}

// What does not belong to the part that is selected is dimmed.
function drawPart(context, top, height, xAt) {
  const part = meta.parts[view.part];
  if (view.part === 0) {
    return;
  }
  context.fillStyle = colours.back;
  context.globalAlpha = 0.6;
  let from = xAt(meta.view[0]);
  for (const [begin, end] of [...part.stretches, [meta.view[1], meta.view[1]]]) {
    const x0 = Math.max(from, GUTTER);
    const x1 = Math.min(xAt(begin), view.width);
    if (x1 > x0) {
      context.fillRect(x0, top, x1 - x0, height);
    }
    from = xAt(end);
  }
  context.globalAlpha = 1;
}

function middleOf(i, which) {
  const row = view.byLane[arrays.lane[i]];
  const height = (row.height - LANE_WAITING - 2) / view.levels[arrays.lane[i]];
  return [xOf(at(which, i)), row.top + (arrays.level[i] + 0.5) * height];
}

function hasPlace(i) {
  return arrays.lane[i] !== NO_PLACE && arrays.begin[i] !== NO_TIME;
}

function drawPinned(context) {
  const i = view.pinned;
  if (i === null || !hasPlace(i)) {
    return;
  }
  const [x0, y] = middleOf(i, "begin");
  const [x1] = middleOf(i, "end");
  context.strokeStyle = colours.text;
  context.lineWidth = 2;
  context.strokeRect(x0 - 1, y - 8, Math.max(x1 - x0, 1) + 2, 16);
  context.fillStyle = context.strokeStyle = colours.accent;
  for (const on of dependenciesOf(i).filter(hasPlace)) {
    const [from, high] = middleOf(on, "end");
    const bend = Math.max(Math.abs(x0 - from) / 2, 20);
    context.beginPath();
    context.moveTo(from, high);
    const lift = Math.abs(high - y) < 4 ? 30 : 0; // not through what stands between them
    context.bezierCurveTo(from + bend, high - lift, x0 - bend, y - lift, x0 - 6, y);
    context.stroke();
    context.beginPath();
    context.moveTo(x0, y);
    context.lineTo(x0 - 8, y - 4);
    context.lineTo(x0 - 8, y + 4);
    context.fill();
  }
  context.lineWidth = 1;
}

function cut(context, text, room) {
  if (context.measureText(text).width <= room) {
    return text;
  }
  let length = text.length;
  while (length > 1 && context.measureText(text.slice(0, length) + "\u2026").width > room) {
    length--;
  }
  return text.slice(0, length) + "\u2026";
}

function drawNames(context) {
  context.fillStyle = colours.back;
  context.fillRect(0, 0, GUTTER, view.height);
  for (const row of view.rows) {
    context.fillStyle = colours.text;
    const busy =
      row.what === "lane" ? meta.parts[view.part].usage.find((one) => one[0] === row.number) : null;
    const middle = row.top + Math.min(row.height, LANE_WORK) / 2;
    context.fillText(cut(context, row.name, GUTTER - 16), 8, busy ? middle - 7 : middle);
    if (busy) {
      context.fillStyle = colours.quiet;
      context.fillText(
        `runs ${busy[13] ? "< " : ""}${percent(busy[2], busy[14])} of the time`,
        8,
        middle + 9,
      );
    }
  }
}

function draw() {
  const canvas = document.getElementById("rows");
  view.width = canvas.parentElement.clientWidth;
  if (view.width <= GUTTER) {
    return;
  }
  const context = sizeCanvas(canvas, view.height);
  context.fillStyle = colours.back;
  context.fillRect(0, 0, view.width, view.height);
  context.fillStyle = colours.row;
  for (const row of view.rows) {
    context.fillRect(GUTTER, row.top, view.width - GUTTER, row.height);
  }
  drawRuler(context);
  drawWork(context);
  drawTransfers(context);
  drawThreads(context);
  drawPart(context, RULER, view.height, xOf);
  drawMarks(context);
  drawPinned(context);
  drawNames(context);
  drawOverview();
  document.getElementById("range").textContent = `${time(view.to - view.from)} from ${time(view.from)} on`;
}

// The whole trace, drawn once for each width; then only the window moves.
function overviewX(ns) {
  return GUTTER + ((ns - meta.view[0]) * (view.width - GUTTER)) / (meta.view[1] - meta.view[0]);
}

function drawOverview() {
  const canvas = document.getElementById("overview");
  const height = meta.lanes.length * OVERVIEW_LANE + 10;
  const context = sizeCanvas(canvas, height);
  if (overviewImage === null || overviewImage.width !== canvas.width) {
    const cover = meta.lanes.map(() => new Float32Array(view.width + 1));
    for (let i = 0; i < arrays.lane.length; i++) {
      if (hasPlace(i)) {
        const x1 = Math.min(overviewX(at("end", i)), view.width);
        const mine = cover[arrays.lane[i]];
        for (let x = overviewX(at("begin", i)), px = x | 0; px <= x1; px++) {
          mine[px] += Math.max(Math.min(x1, px + 1) - Math.max(x, px), 1e-4);
        }
      }
    }
    overviewImage = document.createElement("canvas");
    overviewImage.width = canvas.width;
    overviewImage.height = canvas.height;
    const image = overviewImage.getContext("2d");
    image.scale(canvas.width / view.width, canvas.width / view.width);
    cover.forEach((mine, lane) => {
      image.fillStyle = colours.accent;
      for (let px = GUTTER; px < view.width; px++) {
        if (mine[px] > 0) {
          image.globalAlpha = Math.min(0.15 + 0.85 * mine[px], 1);
          image.fillRect(px, 5 + lane * OVERVIEW_LANE, 1, OVERVIEW_LANE - 2);
        }
      }
    });
  }
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, view.width, height);
  context.drawImage(overviewImage, 0, 0, view.width, height);
  drawPart(context, 0, height, overviewX);
  context.fillStyle = colours.quiet;
  context.fillText("overview", 8, height / 2);
  context.strokeStyle = colours.text;
  context.lineWidth = 1.5;
  const x0 = overviewX(view.from);
  context.strokeRect(x0 + 0.5, 1, Math.max(overviewX(view.to) - x0 - 1, 3), height - 2);
}

let asked = false;

function redraw() {
  if (!asked) {
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  }
}
