// SPDX-License-Identifier: Apache-2.0
"use strict";
// What stands above and below the timeline, for the part that is selected; and the begin of it all.

function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}

const MUCH = 1.5; // the factor from which on a mean differs much from its median
const WORDS = new Set(["went to", "why"]); // columns that are no numbers

function table(head, rows) {
  return element(
    "table",
    {},
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...head.map((text) => element("th", {title: text, class: WORDS.has(text) ? "wide" : ""}, text)),
      ),
    ),
    element("tbody", {}, ...rows),
  );
}

function cells(...texts) {
  return texts.map((text) => element("td", {}, text));
}

function swatch(colour) {
  return element("span", {class: "swatch", style: `background:${colour}`});
}

function highlight(kind) {
  view.highlight = view.highlight === kind ? null : kind;
  for (const key of document.querySelectorAll("#legend button")) {
    key.setAttribute("aria-pressed", String(Number(key.dataset.kind) === view.highlight));
  }
  redraw();
}

function showLegend() {
  const keys = meta.kinds.map((name, kind) => {
    const key = element(
      "button",
      {class: "key", "aria-pressed": "false", "data-kind": kind, onclick: () => highlight(kind)},
      swatch(kindColour(kind)),
      name,
    );
    return key;
  });
  const others = [
    ["choose", "choice"],
    ["submit", "submit"],
    ["wait", "wait"],
    ["build", "build"],
  ];
  if (meta.memories.length) {
    others.push(["in", "copy to device"], ["out", "copy to host"]);
  }
  fill(
    "legend",
    ...keys,
    ...others.map(([colour, name]) =>
      element("span", {class: "key plain"}, swatch(`var(--${colour})`), name),
    ),
  );
}

function usageOf(
  [
    lane,
    pieces,
    run,
    move_,
    wait,
    idle,
    queued,
    copiesIn,
    bytesIn,
    copiesOut,
    bytesOut,
    failed,
    unknown,
    bounds,
    span,
  ],
  total,
) {
  const part = (ns, colour, name) =>
    element("i", {
      style: `width:${span > 0 ? (100 * ns) / span : 0}%;background:var(--${colour})`,
      title: `${name} ${time(ns)}`,
    });
  const texts = [
    `runs ${bounds ? "at most " : ""}${percent(run, span)}`,
    `moves ${percent(move_, span)}`,
    `waits ${percent(wait, span)}`,
    `idle ${percent(idle, span)}`,
  ];
  const more = [];
  if (pieces) {
    more.push(`in the queue ${time(queued / pieces)} each`);
  }
  if (copiesIn) {
    more.push(`${copiesIn} copies in, ${bytes(bytesIn)}`);
  }
  if (copiesOut) {
    more.push(`${copiesOut} copies out, ${bytes(bytesOut)}`);
  }
  if (failed) {
    more.push(`${failed} failed`);
  }
  if (unknown) {
    more.push(`${unknown} whose end is unknown`);
  }
  return element(
    "div",
    {class: "usage"},
    element(
      "div",
      {class: "line"},
      element("span", {title: laneName(lane)}, laneName(lane)),
      element("span", {}, `${pieces} pieces, ${percent(pieces, total)}`),
    ),
    element(
      "div",
      {class: "bar"},
      part(run, "run", "runs"),
      part(move_, "move", "moves data"),
      part(wait, "queue", "waits"),
    ),
    element("div", {class: "small"}, [texts.join(", "), ...more].join("; ")),
  );
}

function kindRows(part) {
  const lanes = [...new Set(part.kinds.flatMap(([, found]) => found.map(([lane]) => lane)))]
    .filter((lane) => lane !== NO_PLACE)
    .sort((a, b) => a - b);
  let hasBounds = false;
  const rows = part.kinds.map(([kind, found]) => {
    const known = new Map(found.map(([lane, ...rest]) => [lane, rest]));
    const texts = lanes.map((lane) => {
      if (!known.has(lane)) {
        return "-";
      }
      const [pieces, middle, mean, source] = known.get(lane);
      hasBounds ||= middle !== null && source === BOUND;
      if (middle === null) {
        return `${pieces} \u00d7 ?`;
      }
      const differs = mean > MUCH * middle || middle > MUCH * mean;
      const text = element("span", {}, `${pieces} \u00d7 ${source === BOUND ? "< " : ""}${time(middle)}`);
      if (differs) {
        text.append(element("div", {class: "small"}, `mean ${time(mean)}`));
      }
      return text;
    });
    return element(
      "tr",
      {class: "link", title: "highlight", onclick: () => highlight(kind)},
      element("td", {class: "name"}, swatchText(kind)),
      ...cells(...texts),
    );
  });
  const note = hasBounds
    ? [element("p", {class: "small"}, "<: from submit to end; the time itself is not known, and is less")]
    : [];
  return [table(["kind", ...lanes.map(laneName)], rows), ...note];
}

function swatchText(kind) {
  const text = element(
    "span",
    {style: "display:inline-flex;align-items:center;gap:6px"},
    swatch(kindColour(kind)),
  );
  text.append(kindName(kind));
  return text;
}

function worstRows(part) {
  return part.worst.map((row) =>
    element(
      "tr",
      {
        class: "link",
        onclick: () => {
          pin(row);
          showPiece(row);
          document.getElementById("timeline").scrollIntoView({block: "nearest"});
        },
      },
      element("td", {class: "name"}, kindName(arrays.kind[row])),
      ...cells(time(arrays.lost[row])),
      element("td", {class: "wide"}, `${laneName(arrays.lane[row])}, better ${laneName(arrays.better[row])}`),
      element("td", {class: "wide"}, reasonText(arrays.reason[row])),
      ...cells(String(arrays.number[row])),
    ),
  );
}

function hostRows(part) {
  const each = (total, count) => (count ? time(total / count) : "-");
  return part.host.map(([ring, choices, choice, timed, submits, submit, waits, wait, builds, build]) =>
    element(
      "tr",
      {},
      ...cells(
        `thread ${ring}`,
        `${choices}`,
        each(choice, timed),
        `${submits}`,
        each(submit, submits),
        `${waits}`,
        time(wait),
        `${builds}`,
        time(build),
      ),
    ),
  );
}

function showPart() {
  const part = meta.parts[view.part];
  fill("sentences", ...part.sentences.map((text) => element("li", {}, text)));
  const total = part.usage.reduce((sum, one) => sum + one[1], 0);
  fill("usage", ...part.usage.map((one) => usageOf(one, total)));
  fill("kinds", ...(part.kinds.length ? kindRows(part) : ["none"]));
  fill(
    "worst",
    part.worst.length
      ? table(["kind", "lost", "went to", "why", "piece"], worstRows(part))
      : "none that can be shown",
  );
  fill(
    "host",
    part.host.length
      ? table(
          ["", "choices", "each", "submits", "each", "waits", "in all", "builds", "in all"],
          hostRows(part),
        )
      : "none",
  );
}

function showParts() {
  const select = document.getElementById("parts");
  select.replaceChildren(
    ...meta.parts.map((part, i) => element("option", {value: i}, `${part.name}: ${time(part.span)}`)),
  );
  select.parentElement.hidden = meta.parts.length < 2;
  select.addEventListener("change", () => {
    view.part = Number(select.value);
    const {stretches} = meta.parts[view.part];
    showPart();
    show(stretches[0][0], stretches[stretches.length - 1][1]);
  });
}

function refreshColours() {
  readColours();
  overviewImage = null;
  redraw();
}

async function begin() {
  document.title = `${meta.title}: dynsel-trace`;
  document.getElementById("title").textContent = meta.title;
  document.getElementById("about").textContent = meta.about;
  fill("notes", ...meta.notes.map((text) => element("li", {}, text)));
  await unpack();
  readColours();
  layOut();
  if (view.to <= view.from) {
    meta.view[1] = view.to = view.from + 1;
  }
  showLegend();
  showParts();
  showPart();
  draw();
  document.addEventListener("keydown", onKey);
  watchPointers(document.getElementById("rows"));
  watchOverview(document.getElementById("overview"));
  document.getElementById("all").addEventListener("click", () => show(...meta.view));
  document.getElementById("helpButton").addEventListener("click", KEYS["?"]);
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refreshColours);
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => {
  document.getElementById("about").textContent =
    `This browser cannot show the trace (${error.message}): use one of 2023 or later.`;
});
