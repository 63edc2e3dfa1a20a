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
  drawPath(view);
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

const DIM = [1, 0.4, 1];

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
  strokeColumn(context, x - 0.5, AXIS_ROOM, view.bottom);
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

/** The way from the selected branch up to the root, which else is dimmed like all around it. */
function drawPath(view) {
  const { context, tree, layout, levels } = view;
  let k = view.state.selection ? view.state.selection.node : -1;
  if (k < 0 || view.mode !== "dendrogram" || layout.isHidden[k]) return;
  const clip = (y) => Math.max(AXIS_ROOM - 4, Math.min(view.bottom + 4, y));
  context.fillStyle = view.inks.soft;
  while (k !== tree.root) {
    const above = tree.parent[k];
    const [y, goal] = [yOf(view, layout.mid[k]), yOf(view, layout.mid[above])];
    const [x, from] = [xOf(view, levels[above]), above === tree.root ? view.left - 14 : xOf(view, levels[tree.parent[above]])];
    const [a, b] = [clip(Math.min(y, goal)), clip(Math.max(y, goal))];
    if (b - a > 0.4) context.fillRect(Math.round(x - 1), Math.round(a) - 1, 2, Math.round(b - a) + 2);
    if (x - from > 0.4 && goal > AXIS_ROOM && goal < view.bottom) context.fillRect(from, Math.round(goal - 1), x - from, 2);
    k = above;
  }
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
