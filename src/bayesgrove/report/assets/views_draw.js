// Views side by side: how they look. What the reader does to them is in views.js.

/** Panels from left to right: {x, width} of each and the layout of its cells; gives the size of the whole. */
function layOutViews(figure, frame) {
  const { panels, tree } = figure;
  const beside = ROW_TREE + CELL_STRIP + CELL_STRIP_GAP + 7;
  const room = Math.max(120, frame.clientWidth - 6) - panels.length * (beside + VIEW_GAP) + VIEW_GAP;
  const fitting = room / d3.sum(panels, (panel) => panel.table.columns.length);
  const cellWidth = fitting >= LEAST_FITTING_CELL ? Math.min(WIDEST_CELL, fitting) : SCROLLED_CELL;
  const top = VIEW_HEAD + (tree ? COLUMN_TREE : 0) + VIEW_BAND + 4;
  const names = Math.ceil(longestName(panels.flatMap(({ table }) => table.columns.map((name) => tidy(name, VIEW_NAME))))) + 8;
  let x = 2;
  for (const panel of panels) {
    const { n, columns } = panel.table;
    const height = Math.min(TALLEST_VIEW, Math.max(150, n * 11));
    const width = Math.max(NARROWEST_VIEW, beside + columns.length * cellWidth);
    panel.box = { x, width };
    panel.layout = { rows: n, columns: columns.length, left: x + beside, top, cellWidth, cellHeight: height / n };
    panel.bottom = top + height;
    x += width + VIEW_GAP;
  }
  return { width: Math.max(x - VIEW_GAP + 4, 0), height: d3.max(panels, (panel) => panel.bottom) + names + 4 };
}

function drawViews(figure, canvas, frame) {
  const { width, height } = layOutViews(figure, frame);
  const context = sizeCanvas(canvas, width, height);
  for (const panel of figure.panels) {
    if (panel.isShown && figure.panels.length > 1) frameView(context, panel, height);
    writeHead(context, panel);
    paintPanel(context, figure, panel);
  }
  if (figure.tree) drawColumnTree(context, figure);
  canvas.dataset.panels = JSON.stringify(figure.panels.map(({ number, box, layout, isShown }) => ({ number, isShown, box, layout })));
}

/** The view that the page shows stands on paper of its own. */
function frameView(context, { box }, height) {
  context.fillStyle = ink("raised");
  context.strokeStyle = ink("accent");
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(box.x - 1, 1, box.width + 4, height - 2, 6);
  context.fill();
  context.stroke();
}

function writeHead(context, { view, box, columns, isShown }) {
  const family = getComputedStyle(document.body).fontFamily;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = ink(isShown ? "accent" : "ink");
  context.font = `600 13px ${family}`;
  context.fillText(fitText(context, tidy(view.name, 60), box.width - 12), box.x + 6, 13);
  context.fillStyle = ink("soft");
  context.font = `11px ${family}`;
  const long = `${count(columns.length, "column")}, ${count(view.n_clusters, "cluster")}`;
  const short = `${grouped(columns.length)} col., ${grouped(view.n_clusters)} cl.`;
  const words = context.measureText(long).width <= box.width - 12 ? long : short;
  context.fillText(fitText(context, words, box.width - 12), box.x + 6, 29);
}

function paintPanel(context, figure, panel) {
  const { layout, table, state } = panel;
  const m = layout.columns;
  if (!table.image) table.image = tableImage(table);
  context.fillStyle = panel.colour;
  context.fillRect(layout.left, layout.top - VIEW_BAND - 2, m * layout.cellWidth, VIEW_BAND);
  paintImage(context, layout, table.image, table.hasMissing);
  const seen = { itemLabel: state.itemLabel, clusters: state.clusters, selection: figure.state.selection };
  paintVeil(context, layout, seen, table.items, false);
  paintStrip(context, layout, seen, table.items, "left");
  drawRowTree(context, panel);
  writeColumns(context, panel);
}

/** Names below the columns, upright; where columns are narrow, of every second or third. */
function writeColumns(context, { layout, table, bottom }) {
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.fillStyle = ink("ink");
  context.textAlign = "right";
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(11 / layout.cellWidth));
  for (let j = 0; j < layout.columns; j += every) {
    context.save();
    context.translate(layout.left + (j + 0.5) * layout.cellWidth, bottom + 5);
    context.rotate(-Math.PI / 2);
    context.fillText(tidy(table.columns[j], VIEW_NAME), 0, 0);
    context.restore();
  }
}

/** The rows' tree left of their cells, in the colours of clusters; its leaves stand at the height of their rows. */
function drawRowTree(context, { model, state, levels, layout, box }) {
  const { tree } = model;
  const room = layout.cellHeight * layout.rows / model.n;
  const right = layout.left - CELL_STRIP - CELL_STRIP_GAP - 7;
  const x = (k) => box.x + 8 + levels.level[k] * (right - box.x - 8);
  const y = new Float64Array(tree.n);
  for (let k = 0; k < tree.n; k++) {
    if (tree.isEnd[k]) y[k] = layout.top + (tree.start[k] + tree.size[k] / 2) * room;
    else y[k] = (y[tree.child[tree.childStart[k]]] + y[tree.child[tree.childStart[k + 1] - 1]]) / 2;
  }
  const mixed = ink("mixed");
  context.lineWidth = 1;
  for (let k = 0; k < tree.n; k++) {
    const label = state.clusterOf[k];
    context.strokeStyle = context.fillStyle = label < 0 ? mixed : state.clusters[label].colour;
    if (tree.isEnd[k] && tree.size[k] > 1) foldedRows(context, x(k), right, y[k], tree.size[k] * room);
    if (!tree.isEnd[k]) joinChildren(context, tree, k, (child) => [x(k), y[child], tree.isEnd[child] ? right : x(child)]);
  }
}

/** A branch whose rows are not on the page. */
function foldedRows(context, x, right, y, height) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(right, y - height / 2);
  context.lineTo(right, y + height / 2);
  context.closePath();
  context.globalAlpha = 0.45;
  context.fill();
  context.globalAlpha = 1;
}

/** A bracket from child to child and a stem to each: `ends(child)` gives where the bracket stands, the child and the stem's end. */
function joinChildren(context, tree, k, ends) {
  context.beginPath();
  context.moveTo(...ends(tree.child[tree.childStart[k]]));
  context.lineTo(...ends(tree.child[tree.childStart[k + 1] - 1]));
  for (let i = tree.childStart[k]; i < tree.childStart[k + 1]; i++) {
    const [x, y, stop] = ends(tree.child[i]);
    context.moveTo(x, y);
    context.lineTo(stop, y);
  }
  context.stroke();
}

/** The tree of the columns above them; branches without any column on the page are left out. */
function drawColumnTree(context, figure) {
  const { tree, levels, panels } = figure;
  const bottom = VIEW_HEAD + COLUMN_TREE;
  const at = columnPlaces(panels);
  const y = (k) => VIEW_HEAD + 4 + levels.level[k] * (COLUMN_TREE - 4);
  drawHalf(context, levels, panels);
  const x = new Float64Array(tree.n).fill(NaN);
  const colours = new Map(panels.map((panel) => [panel.number, panel.colour]));
  const mixed = ink("mixed");
  context.lineWidth = 1.5;
  for (let k = 0; k < tree.n; k++) {
    if (tree.item[k] >= 0) { x[k] = at.has(tree.item[k]) ? at.get(tree.item[k]) : NaN; continue; }
    const children = Array.from(tree.child.subarray(tree.childStart[k], tree.childStart[k + 1])).filter((child) => !Number.isNaN(x[child]));
    if (!children.length) continue;
    const [low, high] = d3.extent(children, (child) => x[child]);
    x[k] = (low + high) / 2;
    context.strokeStyle = colours.get(tree.label[k]) || mixed;
    context.beginPath();
    context.moveTo(low, y(k));
    context.lineTo(high, y(k));
    for (const child of children) {
      context.moveTo(x[child], y(k));
      context.lineTo(x[child], tree.item[child] >= 0 ? bottom : y(child));
    }
    context.stroke();
  }
}

/** Middle of every column that is drawn. */
function columnPlaces(panels) {
  const at = new Map();
  for (const panel of panels) {
    panel.drawn.forEach((column, j) => at.set(column, panel.layout.left + (j + 0.5) * panel.layout.cellWidth));
  }
  return at;
}

/** The line of probability one half. */
function drawHalf(context, levels, panels) {
  if (levels.kind !== "odds" || !(levels.span[0] < 0 && levels.span[1] > 0)) return;
  const y = Math.round(VIEW_HEAD + 4 + levels.levelOf(0) * (COLUMN_TREE - 4)) + 0.5;
  const last = panels[panels.length - 1].box;
  context.strokeStyle = ink("line");
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(panels[0].box.x + 38, y);
  context.lineTo(last.x + last.width, y);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = ink("soft");
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(HALF, panels[0].box.x + 5, y);
}
