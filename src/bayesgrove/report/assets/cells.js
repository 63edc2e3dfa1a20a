// Maps of cells on a canvas: what the similarity, the rows and a model's own heat maps have in common.

const CELL_STRIP = 14;  // width of a strip of cluster colours
const CELL_STRIP_GAP = 3;
const CLICK_SLACK = 4;  // a pointer that moves less than this clicks, one that moves more drags
const ARROWS = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
  PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -1e9], End: [0, 1e9],
};

/** Runs of equal values among 0 .. n - 1: {start, stop, value}. */
function runsOf(n, valueOf) {
  const runs = [];
  for (let i = 0; i < n; i++) {
    const value = valueOf(i);
    const last = runs[runs.length - 1];
    if (last && last.value === value) last.stop = i + 1;
    else runs.push({ start: i, stop: i + 1, value });
  }
  return runs;
}

/** A colour as the four bytes that image data holds. */
function colourBytes(colour, opacity = 255) {
  const { r, g, b } = d3.rgb(colour);
  return ((opacity << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** The colours of codes 0 .. last on a scale of shares, as bytes; code 255 stays clear where it means missing. */
function codeColours(scale, last) {
  const colours = new Uint32Array(256);
  for (let code = 0; code <= last; code++) colours[code] = colourBytes(scale(code / last));
  return colours;
}

/** A picture of one pixel per cell, to be scaled when drawn; `colourAt(i, j)` gives four bytes. */
function cellImage(rows, columns, colourAt) {
  const canvas = el("canvas", { width: Math.max(1, columns), height: Math.max(1, rows) });
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) pixels[i * columns + j] = colourAt(i, j);
  context.putImageData(image, 0, 0);
  return canvas;
}

/** The picture at its place; hatching shows through cells that are clear. */
function paintImage(context, layout, image, hasMissing) {
  const width = layout.columns * layout.cellWidth;
  const height = layout.rows * layout.cellHeight;
  if (hasMissing) {
    context.fillStyle = hatching(context);
    context.fillRect(layout.left, layout.top, width, height);
  }
  // Cells larger than a pixel have sharp edges; of smaller ones a mean is truer than every second one.
  context.imageSmoothingEnabled = Math.min(layout.cellWidth, layout.cellHeight) < 1;
  context.drawImage(image, layout.left, layout.top, width, height);
}

function hatching(context) {
  const tile = el("canvas", { width: 6, height: 6 });
  const pen = tile.getContext("2d");
  pen.strokeStyle = ink("mixed");
  pen.lineWidth = 1.2;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

/** Colour of an item's cluster, grey where it is unknown. */
function itemColour(state, item) {
  const label = state.itemLabel[item];
  return label < 0 ? ink("mixed") : state.clusters[label].colour;
}

/** A strip of cluster colours beside the rows ("left") or above the columns ("top"), and what is selected. */
function paintStrip(context, layout, state, items, side) {
  const isLeft = side === "left";
  const cell = isLeft ? layout.cellHeight : layout.cellWidth;
  const origin = isLeft ? layout.top : layout.left;
  const away = (isLeft ? layout.left : layout.top) - CELL_STRIP - CELL_STRIP_GAP;
  const bar = (run, from, thickness) => {
    const start = origin + run.start * cell;
    const length = (run.stop - run.start) * cell;
    // Clusters of one colour may be neighbours: a hair between them shows where one ends.
    const kept = length > 3 ? length - 0.7 : length;
    if (isLeft) context.fillRect(from, start, thickness, kept);
    else context.fillRect(start, from, kept, thickness);
  };
  for (const run of runsOf(items.length, (i) => state.itemLabel[items[i]])) {
    context.fillStyle = itemColour(state, items[run.start]);
    bar(run, away, CELL_STRIP);
  }
  context.fillStyle = ink("ink");
  for (const run of selectedRuns(state, items)) if (run.value) bar(run, away - 5, 3);
}

/** Runs of selected and of other items; none when nothing here is selected. */
function selectedRuns(state, items) {
  if (!state.selection) return [];
  const runs = runsOf(items.length, (i) => state.selection.items.has(items[i]));
  return runs.some((run) => run.value) ? runs : [];
}

/** Veil what is not selected: whole rows, and columns too where they are items. */
function paintVeil(context, layout, state, items, isSquare) {
  context.save();
  context.fillStyle = ink("paper");
  context.globalAlpha = isSquare ? 0.42 : 0.65;
  for (const run of selectedRuns(state, items)) {
    if (run.value) continue;
    const [start, length] = [run.start, run.stop - run.start];
    context.fillRect(layout.left, layout.top + start * layout.cellHeight, layout.columns * layout.cellWidth, length * layout.cellHeight);
    if (isSquare) context.fillRect(layout.left + start * layout.cellWidth, layout.top, length * layout.cellWidth, layout.rows * layout.cellHeight);
  }
  context.restore();
}

/** Names of rows to the right, where there is room for letters. */
function paintRowNames(context, layout, nameOf) {
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.fillStyle = ink("ink");
  context.textAlign = "left";
  context.textBaseline = "middle";
  const x = layout.left + layout.columns * layout.cellWidth + 6;
  for (let i = 0; i < layout.rows; i++) context.fillText(nameOf(i), x, layout.top + (i + 0.5) * layout.cellHeight);
}

/** Names of columns above, leaning; where columns are narrow, of every second or third. */
function paintColumnNames(context, layout, nameOf, base) {
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.fillStyle = ink("ink");
  context.textAlign = "left";
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(13 / layout.cellWidth));
  for (let j = 0; j < layout.columns; j += every) {
    context.save();
    context.translate(layout.left + (j + 0.5) * layout.cellWidth, base);
    context.rotate(-Math.PI / 3);
    context.fillText(nameOf(j), 0, 0);
    context.restore();
  }
}

/** Width in pixels of the longest of some names as they are drawn. */
function longestName(names) {
  const context = el("canvas").getContext("2d");
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  return d3.max(names, (name) => context.measureText(name).width) || 0;
}

/**
 * A map of cells that is read by pointer and by keys.
 *
 * spec.label              what it shows, for those who listen
 * spec.layout()           {rows, columns, left, top, cellWidth, cellHeight, width, height} in CSS pixels
 * spec.paint(context, l)  draw it
 * spec.tip(i, j)          lines on a cell; i or j is -1 on a strip
 * spec.choose(range)      cells were chosen: {top, bottom, left, right}, inclusive; absent where nothing is to choose
 * spec.chooseStrip(place) a strip was clicked at a row or column; may be absent
 * spec.clear()            Escape; may be absent
 * spec.isRows             chosen are whole rows
 */
function cellMap(host, spec) {
  const canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "heat map", "aria-label": spec.label });
  const map = { canvas, spec, layout: null, range: null, start: null };
  map.draw = () => drawCells(map);
  host.append(canvas);
  listenPointer(map);
  canvas.addEventListener("keydown", (event) => cellKey(map, event));
  canvas.addEventListener("blur", () => { if (map.range) { map.range = null; showTip(null, null); map.draw(); } });
  return map;
}

function drawCells(map) {
  const layout = map.spec.layout();
  map.layout = layout;
  const context = sizeCanvas(map.canvas, layout.width, layout.height);
  map.canvas.dataset.cells = JSON.stringify(layout);
  map.spec.paint(context, layout);
  if (!map.range) return;
  const box = rangeBox(map);
  const x = layout.left + box.left * layout.cellWidth;
  const y = layout.top + box.top * layout.cellHeight;
  const width = (box.right - box.left + 1) * layout.cellWidth;
  const height = (box.bottom - box.top + 1) * layout.cellHeight;
  // Two lines, as one of either colour would vanish somewhere.
  for (const [colour, thickness] of [[ink("paper"), 4], [ink("ink"), 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.strokeRect(x - 1, y - 1, width + 2, height + 2);
  }
}

/** The chosen cells with sides in order. */
function rangeBox(map) {
  const { from, to } = map.range;
  const isWide = map.spec.isRows && (map.range.isDrag || from.row !== to.row);
  return {
    top: Math.min(from.row, to.row), bottom: Math.max(from.row, to.row),
    left: isWide ? 0 : Math.min(from.column, to.column),
    right: isWide ? map.layout.columns - 1 : Math.max(from.column, to.column),
  };
}

/** The cell under a pointer, the nearest one outside; `strip` where a strip of colours is. */
function cellUnder(map, event) {
  const box = map.canvas.getBoundingClientRect();
  const l = map.layout;
  const column = Math.floor((event.clientX - box.left - l.left) / l.cellWidth);
  const row = Math.floor((event.clientY - box.top - l.top) / l.cellHeight);
  const isRow = row >= 0 && row < l.rows;
  const isColumn = column >= 0 && column < l.columns;
  const strip = isRow && column < 0 ? "left" : isColumn && row < 0 ? "top" : null;
  return {
    row: Math.max(0, Math.min(l.rows - 1, row)), column: Math.max(0, Math.min(l.columns - 1, column)),
    isInside: isRow && isColumn, strip,
  };
}

function listenPointer(map) {
  const { canvas, spec } = map;
  canvas.addEventListener("pointerdown", (event) => {
    const cell = cellUnder(map, event);
    const isThere = cell.isInside || cell.strip === "left" || (cell.strip === "top" && !spec.isRows);
    if (event.button !== 0 || !spec.choose || !isThere) return;
    map.start = { x: event.clientX, y: event.clientY, cell };
    canvas.setPointerCapture(event.pointerId);
    tellCell(map, event, cell);
  });
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellUnder(map, event);
    if (map.start && Math.hypot(event.clientX - map.start.x, event.clientY - map.start.y) > CLICK_SLACK) dragCells(map, cell);
    tellCell(map, event, cell);
  });
  canvas.addEventListener("pointerup", (event) => releaseCells(map, cellUnder(map, event)));
  canvas.addEventListener("pointercancel", () => { map.start = map.range = null; map.draw(); });
  canvas.addEventListener("pointerleave", () => { if (!map.start) showTip(null, null); });
}

function tellCell(map, event, cell) {
  const isThere = cell.isInside || cell.strip || map.start;
  const lines = !isThere ? null
    : cell.isInside ? map.spec.tip(cell.row, cell.column)
      : cell.strip === "left" ? map.spec.tip(cell.row, -1) : cell.strip === "top" ? map.spec.tip(-1, cell.column) : null;
  showTip(event, lines);
}

/** Inside, a drag chooses a rectangle; along a strip, the same rows on both sides. */
function dragCells(map, cell) {
  const { strip, row, column } = map.start.cell;
  const from = { row, column };
  const to = { row: cell.row, column: cell.column };
  if (strip === "left" && !map.spec.isRows) { from.column = from.row; to.column = to.row; }
  if (strip === "top") { from.row = from.column; to.row = to.column; }
  map.range = { from, to, isDrag: true };
  map.draw();
}

function releaseCells(map, cell) {
  if (!map.start) return;
  const { start, range } = map;
  const box = range && range.isDrag ? rangeBox(map) : null;
  map.start = map.range = null;
  if (box) map.spec.choose(box);
  else if (start.cell.strip) {
    if (map.spec.chooseStrip) map.spec.chooseStrip(start.cell.strip === "left" ? cell.row : cell.column);
  } else map.spec.choose({ top: cell.row, bottom: cell.row, left: cell.column, right: cell.column });
  map.draw();
}

/** Arrows move a cell, Shift stretches it to a range, Enter chooses it. */
function cellKey(map, event) {
  const step = ARROWS[event.key];
  if (step) moveCell(map, step, event.shiftKey);
  else if ((event.key === "Enter" || event.key === " ") && map.range && map.spec.choose) map.spec.choose(rangeBox(map));
  else if (event.key === "Escape" && (map.range || map.spec.clear)) leaveCell(map);
  else return;
  event.preventDefault();
}

function leaveCell(map) {
  const had = map.range;
  map.range = null;
  showTip(null, null);
  map.draw();
  if (!had && map.spec.clear) map.spec.clear();
}

function moveCell(map, [down, right], isStretched) {
  const { rows, columns } = map.layout;
  const within = (value, n) => Math.max(0, Math.min(n - 1, value));
  // The first key only shows where the reader is.
  const old = map.range ? map.range.to : { row: -down, column: -right };
  const to = { row: within(old.row + down, rows), column: within(old.column + right, columns) };
  map.range = { from: isStretched && map.range ? map.range.from : to, to };
  map.draw();
  const lines = map.spec.tip(to.row, to.column);
  say(lines.join(", "));
  showTip(cellPoint(map, to), lines);
}

/** Where a cell is in the window, after it has been scrolled into sight. */
function cellPoint(map, cell) {
  const { left, top, cellWidth, cellHeight } = map.layout;
  const x = left + (cell.column + 0.5) * cellWidth;
  const frame = map.canvas.parentNode;
  if (frame.scrollWidth > frame.clientWidth) frame.scrollLeft = Math.max(0, x - frame.clientWidth / 2);
  const box = map.canvas.getBoundingClientRect();
  return { clientX: box.left + x + cellWidth / 2, clientY: box.top + top + (cell.row + 0.5) * cellHeight + cellHeight / 2 };
}

/** A scale of colours in words and a bar; gives a function that paints it anew. */
function scaleLegend(host, spec) {
  const bar = el("span", { class: "scale-bar", role: "img", "aria-label": `colours from ${spec.low} to ${spec.high}` });
  const ends = spec.low ? [el("span", { text: spec.low }), bar, el("span", { text: spec.high })] : [];
  host.append(el("p", { class: "scale note" }, ...ends, el("span", { text: spec.words }),
    spec.hasMissing ? el("span", { class: "scale-missing" }, el("span", { class: "hatched" }), "missing") : null,
  ));
  return () => {
    const stops = d3.range(11).map((k) => String(spec.scale(k / 10)));
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  };
}

/** How much of what is shown here is selected, in words. */
function selectionWords(state, items) {
  if (!state.selection) return "Nothing selected.";
  let here = 0;
  for (const item of items) if (state.selection.items.has(item)) here++;
  return `Selected: ${tidy(state.selection.words, 80)} (${here.toLocaleString("en")} of the ${count(items.length, state.noun)} shown here).`;
}

/** Which cluster an item is in, in words; none where it is unknown. */
function clusterWords(state, item) {
  const label = state.itemLabel[item];
  return label < 0 ? [] : [`cluster ${label}, ${count(state.clusters[label].size, state.noun)}`];
}
