// Drawing the tree on its canvas. A frame walks only what is in sight and wider than a pixel, so its cost is bounded by
// the size of the canvas, not of the tree.

const AXIS_ROOM = 26;
const STRIP = 9;
const NAME_ROOM = 12;  // pixels a line of text needs

/** Colours as the style sheet has them now; asking for each on every frame would cost more than the drawing. */
function treeInks() {
  return Object.fromEntries(["paper", "raised", "line", "ink", "soft", "mixed", "accent", "focus"].map((name) => [name, ink(name)]));
}

/** One frame. */
function drawTree(view) {
  const { context, width, height } = view;
  context.clearRect(0, 0, width, height);
  context.textBaseline = "middle";
  context.direction = "ltr";
  context.font = view.font;
  drawGrid(view);
  context.save();
  context.beginPath();
  context.rect(0, AXIS_ROOM, width, view.bottom - AXIS_ROOM + 1);
  context.clip();
  if (view.mode === "dendrogram") drawRegion(view);
  const pen = makePen(view);
  walkShown(view, pen);
  pen.paint();
  if (view.mode === "icicle") drawRegion(view);  // blocks would cover it
  drawTags(view, pen.tags);
  drawCutLine(view);
  drawGutter(view);
  drawCursor(view);
  context.restore();
  drawThumb(view);
}

const yOf = (view, place) => view.zoom.y + view.zoom.k * (AXIS_ROOM + place * view.unit);
const xOf = (view, level) => view.left + level * (view.right - view.left);

/** Visit what is in sight from the root down; branches of less than a pixel count as ends. */
function walkShown(view, pen) {
  const { tree, layout, levels, stack } = view;
  let depth = 0;
  stack[depth++] = tree.root;
  while (depth > 0) {
    const k = stack[--depth];
    const top = yOf(view, layout.low[k]);
    const bottom = yOf(view, layout.high[k]);
    if (bottom < AXIS_ROOM || top > view.bottom) continue;
    const from = k === tree.root ? view.left - 14 : xOf(view, levels[tree.parent[k]]);
    if (bottom - top < 1) { pen.crumb(k, from, top, bottom); continue; }
    if (isShownEnd(tree, layout, k)) { pen.end(k, from, top, bottom); continue; }
    pen.branch(k, from, top, bottom);
    for (let c = tree.childStart[k]; c < tree.childStart[k + 1]; c++) stack[depth++] = tree.child[c];
  }
}

/** 0: nothing is selected; 1: outside of the selection; 2: inside, or so small that it must speak for what is inside. */
function emphasisOf(view, k, isSmall) {
  if (view.marked === null) return 0;
  const inside = view.marked[view.tree.last[k] + 1] - view.marked[view.tree.first[k]];
  const whole = view.tree.last[k] - view.tree.first[k] + 1;
  return inside === whole || (isSmall && inside > 0) ? 2 : 1;
}

function colourOf(view, k) {
  const label = view.state.clusterOf[k];
  return label < 0 ? view.inks.mixed : view.state.clusters[label].colour;
}

const DIM = [1, 0.35, 1];

/** What a mode draws for a node; rectangles are gathered by colour, since changing colours is what costs time. */
function makePen(view) {
  const sheets = new Map();
  const sheetOf = (k, isSmall) => {
    const colour = colourOf(view, k);
    if (!sheets.has(colour)) sheets.set(colour, [0, 1, 2].map((emphasis) => ({ colour, emphasis, boxes: [], triangles: [] })));
    return sheets.get(colour)[emphasisOf(view, k, isSmall)];
  };
  const rows = makeRows(view);
  const pen = { tags: [], paint: () => { rows.flush(); paintSheets(view, Array.from(sheets.values()).flat()); } };
  pen.crumb = (k, from, top, bottom) => rows.add(sheetOf(k, true), Math.round(from), top, bottom);
  return Object.assign(pen, view.mode === "icicle" ? blockPen(view, sheetOf, pen.tags) : linePen(view, sheetOf, pen.tags));
}

function paintSheets(view, sheets) {
  const context = view.context;
  for (const sheet of sheets.sort((a, b) => a.emphasis - b.emphasis)) {
    context.fillStyle = context.strokeStyle = sheet.colour;
    // Blocks above the cut are large: as dark as lines they would outshine the clusters.
    context.globalAlpha = DIM[sheet.emphasis] * (view.mode === "icicle" && sheet.colour === view.inks.mixed ? 0.4 : 1);
    const boxes = sheet.boxes;
    for (let i = 0; i < boxes.length; i += 4) context.fillRect(boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]);
    for (const [x, y, right, top, bottom] of sheet.triangles) {
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(right, top);
      context.lineTo(right, bottom);
      context.closePath();
      context.globalAlpha = 0.35 * DIM[sheet.emphasis];
      context.fill();
      context.globalAlpha = DIM[sheet.emphasis];
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** Lines of a pixel row or column that already hold a new one are not drawn again: chains would repeat them for ever. */
function makeLedger(length) {
  const from = new Float64Array(length).fill(Infinity);
  const to = new Float64Array(length).fill(-Infinity);
  const sheet = new Array(length);
  return (at, a, b, owner) => {
    if (at < 0 || at >= length) return true;
    if (sheet[at] === owner && from[at] <= a && to[at] >= b) return false;
    from[at] = a; to[at] = b; sheet[at] = owner;
    return true;
  };
}

/** What is thinner than a pixel: each pixel row wears the longest of its lines, or a selected one. */
function makeRows(view) {
  const from = new Float64Array(Math.ceil(view.height) + 1).fill(Infinity);
  const owner = new Array(from.length).fill(null);
  return {
    add(sheet, start, top, bottom) {
      for (let row = Math.max(0, Math.floor(top)); row < bottom && row < from.length; row++) {
        const gain = (sheet.emphasis === 2) - (owner[row] !== null && owner[row].emphasis === 2);
        if (gain > 0 || (gain === 0 && start < from[row])) { from[row] = start; owner[row] = sheet; }
      }
    },
    flush() {
      owner.forEach((sheet, row) => { if (sheet) sheet.boxes.push(from[row], row, Math.max(1, view.right - from[row]), 1); });
    },
  };
}

/** Dendrogram: brackets and stems. */
function linePen(view, sheetOf, tags) {
  const { tree, layout, levels } = view;
  const thick = view.zoom.k * view.unit >= 5 ? 2 : 1;
  const isNewRow = makeLedger(Math.ceil(view.height));
  const isNewColumn = makeLedger(Math.ceil(view.width));
  const stem = (sheet, from, to, y) => {
    if (to - from < 0.7) return;  // the bracket covers it
    const wide = thick + (sheet.emphasis === 2 ? 1 : 0);
    const row = Math.round(y - wide / 2);
    if (isNewRow(row, from, to, sheet)) sheet.boxes.push(from, row, Math.max(1, to - from), wide);
  };
  const bracket = (sheet, x, top, bottom) => {
    const wide = thick + (sheet.emphasis === 2 ? 1 : 0);
    const column = Math.round(x - wide / 2);
    const a = Math.max(AXIS_ROOM - 4, Math.round(top - wide / 2));  // whole pixels meet the stems, and repeat themselves
    const b = Math.min(view.bottom + 4, Math.round(bottom - wide / 2) + wide);
    if (b > a && isNewColumn(column, a, b, sheet)) sheet.boxes.push(column, a, wide, b - a);
  };
  return {
    branch(k, from, top, bottom) {
      const sheet = sheetOf(k, false);
      const x = xOf(view, levels[k]);
      const y = yOf(view, layout.mid[k]);
      stem(sheet, from, x, y);
      const first = tree.child[tree.childStart[k]];
      const last = tree.child[tree.childStart[k + 1] - 1];
      bracket(sheet, x, yOf(view, layout.mid[first]), yOf(view, layout.mid[last]));
      if (x - from > 40 && bottom - top > 26 && k !== tree.root) tags.push([k, from + 4, y - 8, x - from - 6]);
    },
    end(k, from, top, bottom) {
      const sheet = sheetOf(k, false);
      const x = xOf(view, levels[k]);
      stem(sheet, from, x, (top + bottom) / 2);
      const pad = Math.min(3, (bottom - top) / 5);
      if (tree.size[k] > 1 && bottom - top > 2) sheet.triangles.push([x, (top + bottom) / 2, view.right, top + pad, bottom - pad]);
    },
  };
}

/** Icicle: a block from the parent's height to the node's own, as wide as its leaves. */
function blockPen(view, sheetOf, tags) {
  const { levels } = view;
  const block = (sheet, from, to, top, bottom) => {
    const a = Math.max(AXIS_ROOM - 2, Math.round(top));
    const b = Math.min(view.bottom + 2, Math.round(bottom));
    const [left, right] = [Math.round(from), Math.round(to)];
    if (right > left && b > a) sheet.boxes.push(left, a, right - left - (right - left > 3 ? 1 : 0), b - a - (b - a > 3 ? 1 : 0));
  };
  return {
    branch(k, from, top, bottom) {
      const x = xOf(view, levels[k]);
      block(sheetOf(k, false), from, x, top, bottom);
      const a = Math.max(AXIS_ROOM, top);
      const b = Math.min(view.bottom, bottom);
      if (x - from > 40 && b - a > 16) tags.push([k, from + 5, (a + b) / 2, x - from - 8]);
    },
    end: (k, from, top, bottom) => block(sheetOf(k, false), from, view.right, top, bottom),
  };
}

/** Probabilities on the branches that have room for them; that a branch is surely several clusters, its place says. */
function drawTags(view, tags) {
  const { context, tree, inks } = view;
  if (!tree.logOdds) return;
  context.font = view.smallFont;
  context.textAlign = "left";
  context.lineWidth = 3;
  context.lineJoin = "round";
  for (const [k, x, y, room] of tags) {
    const text = nodeChance(tree, k);
    if (text === "–" || text === "<.01" || context.measureText(text).width > room) continue;
    context.globalAlpha = emphasisOf(view, k, false) === 1 ? 0.35 : 1;
    context.strokeStyle = inks.paper;
    context.fillStyle = view.mode === "icicle" && view.state.clusterOf[k] >= 0 ? inkOn(colourOf(view, k)) : inks.soft;
    if (view.mode !== "icicle") context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.globalAlpha = 1;
  context.font = view.font;
}

/** Black or white, whichever reads better on a colour. */
function inkOn(colour) {
  return d3.lab(colour).l > 52 ? "#101214" : "#ffffff";
}

/** Marks of the height axis, and the line of probability one half. */
function drawGrid(view) {
  const { context, inks } = view;
  context.textAlign = "center";
  const taken = [];
  for (const { level, text } of view.ticks) {
    const x = Math.round(xOf(view, level));
    const room = context.measureText(text).width / 2 + 7;
    if (taken.some(([a, b]) => x + room > a && x - room < b)) continue;
    taken.push([x - room, x + room]);
    const isHalf = text === HALF;
    context.fillStyle = isHalf ? inks.ink : inks.soft;
    context.fillText(text, Math.max(room, x), 11);
    context.strokeStyle = isHalf ? inks.soft : inks.line;
    context.lineWidth = 1;
    context.setLineDash(isHalf ? [5, 4] : []);
    strokeColumn(context, x, 20, isHalf ? view.bottom : AXIS_ROOM);
    if (!isHalf) { context.globalAlpha = 0.45; strokeColumn(context, x, AXIS_ROOM, view.bottom); context.globalAlpha = 1; }
  }
  context.setLineDash([]);
}

function strokeColumn(context, x, top, bottom) {
  context.beginPath();
  context.moveTo(x + 0.5, top);
  context.lineTo(x + 0.5, bottom);
  context.stroke();
}

/** Where the tree is cut now. */
function drawCutLine(view) {
  const { context, inks, state, tree } = view;
  const cut = state.cut === null ? tree.cut : state.cut;
  if (cut === null || view.scale.kind !== "odds") return;
  const height = cut <= 0 ? Infinity : cut >= 1 ? -Infinity : Math.log((1 - cut) / cut);
  const x = Math.round(xOf(view, view.scale.levelOf(height)));
  context.strokeStyle = inks.accent;
  context.lineWidth = 2;
  context.globalAlpha = 0.85;
  strokeColumn(context, x - 0.5, AXIS_ROOM, view.bottom);
  context.globalAlpha = 1;
  context.fillStyle = inks.accent;
  context.beginPath();
  context.moveTo(x - 6, AXIS_ROOM);
  context.lineTo(x + 6, AXIS_ROOM);
  context.lineTo(x, AXIS_ROOM + 8);
  context.fill();
}

/** The branch under the pointer, softly. */
function drawRegion(view) {
  if (view.hover < 0 || view.layout.isHidden[view.hover]) return;
  const { context, layout, levels, hover } = view;
  const top = yOf(view, layout.low[hover]);
  const room = Math.max(3, yOf(view, layout.high[hover]) - top);
  const from = hover === view.tree.root ? view.left - 14 : xOf(view, levels[view.tree.parent[hover]]);
  context.fillStyle = view.mode === "icicle" ? view.inks.ink : view.inks.accent;
  context.globalAlpha = 0.13;
  context.fillRect(from, top, view.width - from, room);
  context.globalAlpha = 1;
}

/** The node that keys move, where the canvas has the focus. */
function drawCursor(view) {
  const k = view.current;
  if (!view.hasFocus || view.layout.isHidden[k]) return;
  const { context, layout, levels } = view;
  const top = Math.max(AXIS_ROOM + 1, yOf(view, layout.low[k]));
  const bottom = Math.min(view.bottom - 1, yOf(view, layout.high[k]));
  const x = isShownEnd(view.tree, layout, k) && view.tree.size[k] === 1 ? view.right : xOf(view, levels[k]);
  context.strokeStyle = view.inks.focus;
  context.lineWidth = 2;
  context.setLineDash([4, 3]);
  context.strokeRect(x - 5, top, Math.max(10, view.right - x + 10), Math.max(2, bottom - top));
  context.setLineDash([]);
  context.fillStyle = view.inks.focus;
  context.beginPath();
  context.arc(x, yOf(view, layout.mid[k]), 5, 0, 2 * Math.PI);
  context.fill();
}

/** Right of the leaves: a strip of the clusters' colours, then names where they fit, else the clusters' numbers. */
function drawGutter(view) {
  const { layout } = view;
  const first = Math.max(0, d3.bisectRight(layout.edge, (AXIS_ROOM - view.zoom.y) / view.zoom.k / view.unit - AXIS_ROOM / view.unit) - 1);
  let n = 0;
  let run = null;
  const hasNames = view.zoom.k * view.unit >= NAME_ROOM;
  for (let i = first; i < layout.ends.length; i++) {
    const top = yOf(view, layout.edge[i]);
    if (top > view.bottom) break;
    const bottom = yOf(view, layout.edge[i + 1]);
    const label = view.state.clusterOf[layout.ends[i]];
    const emphasis = emphasisOf(view, layout.ends[i], true);
    if (run === null || run.label !== label || run.emphasis !== emphasis) {
      // Thousands of clusters may share a pixel: its first one is shown, or a selected one.
      if (run !== null && emphasis !== 2 && bottom < Math.floor(run.top) + 1) continue;
      drawRun(view, run, !hasNames);
      run = { label, emphasis, top, bottom };
    }
    run.bottom = bottom;
    if (hasNames && drawName(view, layout.ends[i], emphasis, (top + bottom) / 2)) n++;
  }
  drawRun(view, run, !hasNames);
  view.nNames = n;
}

/** Leaves of one cluster that follow each other. */
function drawRun(view, run, hasLabel) {
  if (run === null) return;
  const { context, inks } = view;
  const cluster = run.label < 0 ? null : view.state.clusters[run.label];
  const top = Math.max(AXIS_ROOM, run.top);
  const bottom = Math.min(view.bottom, run.bottom);
  context.fillStyle = cluster ? cluster.colour : inks.mixed;
  context.globalAlpha = DIM[run.emphasis];
  context.fillRect(view.right + 3, top, STRIP, Math.max(1, bottom - top - (bottom - top > 4 ? 1 : 0)));
  context.globalAlpha = 1;
  if (run.emphasis === 2) {
    context.fillStyle = inks.accent;
    context.fillRect(view.right + STRIP + 5, top, 3, Math.max(2, bottom - top));
  }
  if (!hasLabel || !cluster || bottom - top < NAME_ROOM + 1) return;
  context.fillStyle = run.emphasis === 1 ? inks.soft : inks.ink;
  context.textAlign = "left";
  const words = view.width < 500 ? `${run.label} · ${grouped(cluster.size)}` : `cluster ${run.label} · ${count(cluster.size, "row")}`;
  context.fillText(words, view.right + STRIP + 12, (top + bottom) / 2);
}

/** Name of a leaf or number of rows of a folded branch. */
function drawName(view, k, emphasis, y) {
  const { context, tree, inks } = view;
  context.fillStyle = emphasis === 1 ? inks.soft : inks.ink;
  context.textAlign = "left";
  context.globalAlpha = emphasis === 1 ? 0.6 : 1;
  context.fillText(endText(view, k), view.right + STRIP + 12, y);
  context.globalAlpha = 1;
  return tree.size[k] === 1;
}

function endText(view, k) {
  const { tree, state } = view;
  const label = state.clusterOf[k];
  if (tree.size[k] > 1) {
    const rows = count(tree.size[k], "row");
    return label >= 0 && state.clusters[label].node === k && view.width >= 500 ? `cluster ${label} · ${rows}` : rows;
  }
  // Names may be long: each is cut to its room once.
  if (view.nameTexts[k] === undefined) view.nameTexts[k] = fitText(view.context, itemName(view.model, tree.item[k], 80), view.gutter - STRIP - 16);
  return view.nameTexts[k];
}

function fitText(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(letters.join("") + "…").width > room) letters.pop();
  return letters.join("") + "…";
}

/** Which part of the tree is in sight. */
function drawThumb(view) {
  if (view.zoom.k <= 1.001) return;
  const { context, inks } = view;
  const room = view.bottom - AXIS_ROOM;
  const top = AXIS_ROOM + room * (AXIS_ROOM - yOf(view, 0)) / (yOf(view, view.layout.total) - yOf(view, 0));
  context.fillStyle = inks.line;
  context.fillRect(view.width - 5, AXIS_ROOM, 5, room);
  context.fillStyle = inks.soft;
  context.fillRect(view.width - 5, top, 5, Math.max(8, room / view.zoom.k));
}
