// SPDX-License-Identifier: Apache-2.0
"use strict";
// Zoom, move, hover, pin.

const LEAST_SPAN = 20; // ns

function show(from, to) {
  const [first, last] = meta.view;
  const span = Math.min(Math.max(to - from, Math.min(LEAST_SPAN, last - first)), last - first);
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(middle - span / 2, first), last - span);
  view.to = view.from + span;
  redraw();
}

function zoom(factor, ns) {
  show(ns - (ns - view.from) * factor, ns + (view.to - ns) * factor);
}

function move(share) {
  const by = share * (view.to - view.from);
  show(view.from + by, view.to + by);
}

// The begin of a piece as far as the trace knows one, else null.
function anyTime(i) {
  return (
    ["begin", "since", "choice_at", "end_at"].map((name) => at(name, i)).find((ns) => ns !== null) ?? null
  );
}

function showPiece(i) {
  const begin = anyTime(i);
  if (begin === null) {
    return;
  }
  const end = at("end", i) ?? begin;
  const choice = at("choice_at", i) ?? begin;
  const span = Math.max(end - Math.min(begin, choice), LEAST_SPAN);
  show(Math.min(begin, choice) - span, end + span);
}

function rowAt(y) {
  return view.rows.find((row) => y >= row.top && y < row.top + row.height);
}

// The shortest slice at a place, so that one on a longer one can be reached; narrow ones a bit beside it.
function sliceAt(x, begins, ends, isIn) {
  let best = -1;
  let least = Infinity;
  const near = (1.5 * (view.to - view.from)) / (view.width - GUTTER) / meta.unit;
  const t = nsOf(x) / meta.unit;
  for (let i = 0; i < begins.length; i++) {
    if (
      begins[i] - near <= t &&
      t <= ends[i] + near &&
      ends[i] !== NO_TIME &&
      begins[i] !== NO_TIME &&
      isIn(i)
    ) {
      const away = t < begins[i] ? begins[i] - t : t > ends[i] ? t - ends[i] : 0;
      const length = (ends[i] - begins[i]) * (away > 0 ? 2 : 1) + 4 * away;
      if (length < least) {
        least = length;
        best = i;
      }
    }
  }
  return best;
}

// What is at a place: {piece, text}, or null.
function thingAt(x, y) {
  const row = rowAt(y);
  if (!row || x < GUTTER) {
    return null;
  }
  if (row.what === "lane") {
    const isWaiting = y >= row.top + row.height - LANE_WAITING;
    const height = (row.height - LANE_WAITING - 2) / view.levels[row.number];
    const level = Math.floor((y - row.top) / height);
    const i = isWaiting
      ? sliceAt(x, arrays.start_at, arrays.begin, (k) => arrays.lane[k] === row.number)
      : sliceAt(
          x,
          arrays.begin,
          arrays.end,
          (k) => arrays.lane[k] === row.number && arrays.level[k] === level,
        );
    return i < 0 ? null : {piece: i, text: pieceText(i)};
  }
  return row.what === "memory" ? copyAt(x, row) : threadThingAt(x, row);
}

function copyAt(x, row) {
  const i = sliceAt(
    x,
    arrays.copy_begin,
    arrays.copy_end,
    (k) => (arrays.copy_memory[k] & 127) === row.number,
  );
  if (i < 0) {
    return null;
  }
  const piece = arrays.copy_row[i] === NO_TIME ? null : arrays.copy_row[i];
  const buffer = arrays.copy_buffer[i] ? `buffer ${arrays.copy_buffer[i]}` : "a range";
  return {
    piece,
    text: [
      element(
        "strong",
        {},
        `${bytes(arrays.copy_bytes[i])} ${wayOf(i)}`,
      ),
      element(
        "div",
        {},
        `${buffer}, ${time((arrays.copy_end[i] - arrays.copy_begin[i]) * meta.unit)}, for ` +
          (piece === null
            ? "the program"
            : `piece ${arrays.number[piece]} (${kindName(arrays.kind[piece])})`),
      ),
    ],
  };
}

function threadThingAt(x, row) {
  const isMine = (threads) => (k) => threads[k] === row.number;
  const told = (what, i, begins, ends) => ({
    piece: i,
    text: [element("strong", {}, `${what}: ${time((ends[i] - begins[i]) * meta.unit)}`), ...pieceText(i)],
  });
  const {sight_at: sight, choice_at: choice, since, start_at: start} = arrays;
  let i = sliceAt(x, sight, choice, isMine(arrays.chooser));
  if (i >= 0) {
    return told("choice", i, sight, choice);
  }
  i = sliceAt(x, since, start, isMine(arrays.starter));
  if (i >= 0) {
    return told("submit", i, since, start);
  }
  i = sliceAt(x, arrays.wait_begin, arrays.wait_end, isMine(arrays.wait_thread));
  if (i >= 0) {
    const piece = arrays.wait_row[i] === NO_TIME ? null : arrays.wait_row[i];
    return {
      piece,
      text: [
        element("strong", {}, `waited ${time((arrays.wait_end[i] - arrays.wait_begin[i]) * meta.unit)}`),
        ...(piece === null ? [] : pieceText(piece)),
      ],
    };
  }
  const t = nsOf(x);
  const build = meta.builds.find(([begin, end, , ring]) => ring === row.number && begin <= t && t <= end);
  return build
    ? {piece: null, text: [element("strong", {}, `built kernel ${build[2]}: ${time(build[1] - build[0])}`)]}
    : null;
}

function hover(event) {
  const tip = document.getElementById("tip");
  const box = event.target.getBoundingClientRect();
  const found = thingAt(event.clientX - box.left, event.clientY - box.top);
  event.target.style.cursor = found && found.piece !== null ? "pointer" : "grab";
  tip.hidden = !found;
  if (found) {
    tip.replaceChildren(...found.text);
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18;
    tip.style.left = Math.max(left, 4) + "px";
    tip.style.top =
      (below + tip.offsetHeight > window.innerHeight
        ? Math.max(event.clientY - tip.offsetHeight - 12, 4)
        : below) + "px";
  }
}

function pin(i) {
  view.pinned = i;
  const panel = document.getElementById("pin");
  panel.hidden = i === null;
  if (i !== null) {
    const button = (row) =>
      element(
        "button",
        {
          onclick: () => {
            pin(row);
            showPiece(row);
          },
        },
        `piece ${arrays.number[row]}: ${kindName(arrays.kind[row])}`,
      );
    const on = dependenciesOf(i);
    panel.replaceChildren(
      ...pieceText(i),
      element(
        "div",
        {class: "links"},
        element("button", {onclick: () => showPiece(i)}, "Zoom to it"),
        element("button", {onclick: () => pin(null)}, "Unpin"),
        ...(on.length ? [element("span", {}, "depends on"), ...on.map(button)] : []),
      ),
    );
  }
  redraw();
}

// The next piece on the same resource, or the one before.
function neighbour(step) {
  const i = view.pinned;
  if (i === null || !hasPlace(i)) {
    return;
  }
  let best = null;
  for (let k = 0; k < arrays.lane.length; k++) {
    if (k !== i && arrays.lane[k] === arrays.lane[i] && hasPlace(k)) {
      const ahead = (arrays.begin[k] - arrays.begin[i]) * step;
      if (
        (ahead > 0 || (ahead === 0 && (k - i) * step > 0)) &&
        (best === null || ahead < (arrays.begin[best] - arrays.begin[i]) * step)
      ) {
        best = k;
      }
    }
  }
  if (best !== null) {
    pin(best);
    if (at("end", best) < view.from || at("begin", best) > view.to) {
      showPiece(best);
    }
  }
}

const KEYS = {
  "+": () => zoom(0.6, (view.from + view.to) / 2),
  "=": () => zoom(0.6, (view.from + view.to) / 2),
  w: () => zoom(0.6, (view.from + view.to) / 2),
  "-": () => zoom(1 / 0.6, (view.from + view.to) / 2),
  s: () => zoom(1 / 0.6, (view.from + view.to) / 2),
  ArrowLeft: () => move(-0.2),
  a: () => move(-0.2),
  ArrowRight: () => move(0.2),
  d: () => move(0.2),
  0: () => show(...meta.view),
  ",": () => neighbour(-1),
  ".": () => neighbour(1),
  f: () => view.pinned !== null && showPiece(view.pinned),
  "?": () => document.getElementById("help").showModal(),
  Escape: () => {
    pin(null);
    highlight(null);
  },
};

function onKey(event) {
  const isTyping = event.target instanceof HTMLSelectElement || document.getElementById("help").open;
  if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping && Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

// Drags of one pointer move the rows, those of two zoom.
function watchPointers(canvas) {
  const held = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, event.offsetX);
    moved = 0;
    document.getElementById("tip").hidden = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (before === undefined) {
      hover(event);
      return;
    }
    const others = [...held].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
    if (others.length) {
      const apart = Math.max(Math.abs(event.offsetX - others[0]), 8);
      zoom(Math.max(Math.abs(before - others[0]), 8) / apart, nsOf((event.offsetX + others[0]) / 2));
    } else {
      move((before - event.offsetX) / (view.width - GUTTER));
    }
    moved += Math.abs(event.offsetX - before);
    held.set(event.pointerId, event.offsetX);
  });
  const release = (event) => {
    if (held.delete(event.pointerId) && moved < 4 && event.type === "pointerup") {
      const found = thingAt(event.offsetX, event.offsetY);
      pin(found ? found.piece : null);
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    document.getElementById("tip").hidden = true;
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        move((event.deltaX || event.deltaY) / 800);
      } else {
        zoom(Math.exp(event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), nsOf(Math.max(event.offsetX, GUTTER)));
      }
    },
    {passive: false},
  );
}

function watchOverview(canvas) {
  const centre = (event) => {
    const [first, last] = meta.view;
    const ns = first + ((event.offsetX - GUTTER) * (last - first)) / (view.width - GUTTER);
    const half = (view.to - view.from) / 2;
    show(ns - half, ns + half);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    centre(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) {
      centre(event);
    }
  });
}
