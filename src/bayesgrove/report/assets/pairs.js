// How often two rows are together: a square map whose blocks are clusters.

const WIDEST_PAIRS = 640;
const LARGEST_PAIR_CELL = 64;
const LEAST_NUMBERED_CELL = 34;
const PAIR_NAME = 22;  // letters of a name beside the map

function pairsView(host, model, state) {
  const pairs = readPairs(model);
  const words = pairs.isSampled ? "share of draws" : "probability under the partitions this tree allows";
  const about = el("div", { class: "pairs-about" }, el("p", { class: "note", text: pairsNote(model, pairs) }));
  const repaintLegend = scaleLegend(about, { low: "0", high: "1", words, scale: shade });
  const tools = pairsTools(about, model, state, pairs, () => { pairs.image = null; refresh(); });
  const frame = el("div", { class: "cell-map pairs-map" });
  host.append(el("div", { class: "map-and-words" }, about, frame));
  const map = cellMap(frame, pairsSpec(frame, model, state, pairs));
  const refresh = () => { tools(); map.draw(); };
  state.on("cut", refresh);
  state.on("select", refresh);
  state.on("theme", () => { pairs.image = null; repaintLegend(); refresh(); });
  repaintLegend();
}

/** The triangle, and which places of it are shown: all, or those zoomed into. */
function readPairs(model) {
  const { items, values, is_sampled: isSampled } = model.data.similarity;
  const pairs = { items: unpack(items), values: unpack(values), isSampled, image: null };
  pairs.all = d3.range(pairs.items.length);
  pairs.shown = pairs.all;
  pairs.shownItems = () => pairs.shown.map((place) => pairs.items[place]);
  return pairs;
}

/** 0 .. 255 of two places of the order. */
function pairCode(pairs, a, b) {
  const [low, high] = a < b ? [a, b] : [b, a];
  return pairs.values[(high * (high + 1)) / 2 + low];
}

/** The probability of two places in words. Of 255 steps the first and the last are near, but need not be, 0 and 1. */
function pairWords(pairs, a, b) {
  const share = pairCode(pairs, a, b) / 255;
  if (a === b) return "1.00";
  return share >= 0.995 ? ">.99" : share < 0.005 ? "<.01" : share.toFixed(2);
}

function pairsNote(model, pairs) {
  const most = pairs.items.length < model.n
    ? ` ${pairs.items.length.toLocaleString("en")} of ${count(model.n, model.noun)} are shown, evenly spread over the tree.` : "";
  const grey = model.labels ? "" : ` A page does not hold the clusters of so many ${model.noun}s: where they are unknown, strips are grey.`;
  const meaning = pairs.isSampled ? "share of draws in which both are in one cluster"
    : "probability, under the partitions this tree allows, that both are in one cluster";
  return `Every cell is a pair of ${model.noun}s, coloured by the ${meaning}. A block along the diagonal with clear edges is a sure `
    + `cluster; a blurred edge is a doubtful one. Drag over cells, or click a strip of cluster colours, to select ${model.noun}s. With the `
    + `keyboard, arrows move, Shift and arrows stretch, Enter selects.${most}${grey}`;
}

/** Buttons to zoom and to clear, and what is selected; gives a function that brings them up to date. */
function pairsTools(host, model, state, pairs, changed) {
  const zoom = el("button", { type: "button", class: "zoom-in", text: "Zoom into the selection" });
  const back = el("button", { type: "button", class: "zoom-out", text: `Show all ${model.noun}s` });
  const clear = el("button", { type: "button", class: "clear", text: "Clear selection" });
  const words = el("span", { class: "note selected-words" });
  host.append(el("div", { class: "tools" }, zoom, back, clear, words));
  const chosen = () => pairs.shown.filter((place) => state.selection && state.selection.items.has(pairs.items[place]));
  const show = (places) => {
    pairs.shown = places;
    changed();
    say(`${count(places.length, model.noun)} shown`);
  };
  zoom.addEventListener("click", () => show(chosen()));
  back.addEventListener("click", () => show(pairs.all));
  clear.addEventListener("click", () => state.clearSelection());
  return () => {
    const n = chosen().length;
    zoom.disabled = n === 0 || n === pairs.shown.length;
    back.disabled = pairs.shown.length === pairs.all.length;
    clear.disabled = !state.selection;
    words.textContent = selectionWords(state, pairs.shownItems());
  };
}

function pairsSpec(frame, model, state, pairs) {
  return {
    label: `How often ${model.noun}s are together. Arrow keys move from cell to cell, Shift and arrows select a range, Enter selects its ${model.noun}s.`,
    layout: () => pairsLayout(frame, model, pairs),
    paint: (context, layout) => paintPairs(context, layout, model, state, pairs),
    tip: (i, j) => pairTip(model, state, pairs, i, j),
    choose: (box) => choosePairs(model, state, pairs, box),
    chooseStrip: (place) => {
      const label = state.itemLabel[pairs.items[pairs.shown[place]]];
      if (label >= 0) state.selectCluster(label);
    },
    clear: () => state.clearSelection(),
  };
}

function pairsLayout(frame, model, pairs) {
  const n = pairs.shown.length;
  const edge = CELL_STRIP + CELL_STRIP_GAP + 6;
  const room = Math.max(120, frame.clientWidth - 4) - edge;
  const sideWithin = (width) => Math.min(width, WIDEST_PAIRS, n * LARGEST_PAIR_CELL);
  // Names take some of the room, but only where letters fit into the rows that remain.
  const isFew = sideWithin(room) / n >= 11;
  const names = isFew ? longestName(pairs.shownItems().map((item) => itemName(model, item, PAIR_NAME))) + 10 : 0;
  const hasNames = isFew && sideWithin(room - names) / n >= 11;
  const side = sideWithin(hasNames ? room - names : room - 2);
  const cell = side / n;
  return {
    rows: n, columns: n, left: edge, top: edge, cellWidth: cell, cellHeight: cell,
    width: edge + side + (hasNames ? names : 2), height: edge + side + 2, hasNames,
  };
}

function paintPairs(context, layout, model, state, pairs) {
  const { shown } = pairs;
  if (!pairs.image) {
    const colours = codeColours(shade, 255);
    pairs.image = cellImage(shown.length, shown.length, (i, j) => colours[pairCode(pairs, shown[i], shown[j])]);
  }
  const items = pairs.shownItems();
  paintImage(context, layout, pairs.image, false);
  if (layout.cellWidth >= LEAST_NUMBERED_CELL) paintPairNumbers(context, layout, pairs);
  paintVeil(context, layout, state, items, true);
  paintStrip(context, layout, state, items, "left");
  paintStrip(context, layout, state, items, "top");
  context.strokeStyle = ink("ink");
  context.lineWidth = 1.5;
  for (const run of selectedRuns(state, items)) {
    if (!run.value) continue;
    const size = (run.stop - run.start) * layout.cellWidth;
    context.strokeRect(layout.left + run.start * layout.cellWidth, layout.top + run.start * layout.cellHeight, size, size);
  }
  if (layout.hasNames) paintRowNames(context, layout, (i) => itemName(model, items[i], PAIR_NAME));
}

/** Few rows have cells large enough to say their numbers. */
function paintPairNumbers(context, layout, { shown, ...pairs }) {
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = 0; i < shown.length; i++) {
    for (let j = 0; j < shown.length; j++) {
      const share = pairCode(pairs, shown[i], shown[j]) / 255;
      context.fillStyle = d3.hcl(shade(share)).l > 55 ? "#10141a" : "#ffffff";
      context.fillText(pairWords(pairs, shown[i], shown[j]), layout.left + (j + 0.5) * layout.cellWidth, layout.top + (i + 0.5) * layout.cellHeight);
    }
  }
}

function pairTip(model, state, pairs, i, j) {
  const item = (place) => pairs.items[pairs.shown[place]];
  if (i < 0 || j < 0) return [itemName(model, item(Math.max(i, j))), ...clusterWords(state, item(Math.max(i, j)))];
  const words = pairs.isSampled ? "together in a share of draws of" : "together with probability";
  return [`${words} ${pairWords(pairs, pairs.shown[i], pairs.shown[j])}`, itemName(model, item(i)), itemName(model, item(j))];
}

/** The rows of both sides of a rectangle. */
function choosePairs(model, state, pairs, box) {
  const places = new Set([...d3.range(box.top, box.bottom + 1), ...d3.range(box.left, box.right + 1)]);
  const items = Array.from(places, (place) => pairs.items[pairs.shown[place]]);
  const names = items.slice(0, 2).map((item) => itemName(model, item, 30)).join(", ");
  state.selectItems(items, items.length <= 2 ? names : `${count(items.length, model.noun)}`);
}
