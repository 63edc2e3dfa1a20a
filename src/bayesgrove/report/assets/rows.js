// The rows themselves: their cells as colours in the order of the tree, and all of them in a plane.

const COLUMN_NAME = 20;  // letters of a name above the map
const ROW_NAME = 18;
const NARROWEST_COLUMN = 14;
const MOST_COLUMNS_BESIDE = 34;
const WIDEST_COLUMN = 44;
const TALLEST_TABLE = 620;
const LAST_SHADE = 254;  // 255 is a missing cell

function rowsView(host, model, state) {
  const words = el("span", { class: "note selected-words" });
  const clear = el("button", { type: "button", class: "clear", text: "Clear selection" });
  clear.addEventListener("click", () => state.clearSelection());
  host.append(el("div", { class: "tools" }, clear, words));
  const { table, embedding } = model.data;
  // A wide table needs the whole width, and a plane can do without half of it.
  const pair = el("div", { class: table && table.columns.length > MOST_COLUMNS_BESIDE ? "stacked" : "side-by-side" });
  host.append(pair);
  if (table) tableView(pair.appendChild(el("div", { class: "table-view" })), model, state);
  if (embedding) planeView(pair.appendChild(el("div", { class: "plane-view" })), model, state);
  const items = unpack((table || embedding).items);
  const refresh = () => {
    clear.disabled = !state.selection;
    words.textContent = selectionWords(state, items);
  };
  state.on("cut", refresh);
  state.on("select", refresh);
}

// Cells

function tableView(host, model, state) {
  const table = readTable(model);
  host.append(el("h3", { text: "Cells" }), el("p", { class: "note", text: tableNote(model, table) }));
  const repaintLegend = scaleLegend(host, tableLegend([table]));
  const frame = el("div", { class: "cell-map table-map" });
  host.append(frame);
  const map = cellMap(frame, {
    label: `Cells of the ${model.noun}s. Arrow keys move from cell to cell, Shift and arrows choose ${model.noun}s, Enter selects them.`,
    isRows: true,
    layout: () => tableLayout(frame, model, table),
    paint: (context, layout) => paintTable(context, layout, model, state, table),
    tip: (i, j) => tableTip(model, state, table, i, j),
    choose: (box) => chooseRows(model, state, Array.from(table.items.slice(box.top, box.bottom + 1))),
    chooseStrip: (place) => {
      const label = state.itemLabel[table.items[place]];
      if (label >= 0) state.selectCluster(label);
    },
    clear: () => state.clearSelection(),
  });
  state.on("cut", map.draw);
  state.on("select", map.draw);
  state.on("theme", () => { table.image = null; repaintLegend(); map.draw(); });
  repaintLegend();
}

function readTable(model) {
  const given = model.data.table;
  const table = { ...given, items: unpack(given.items), values: unpack(given.values), image: null };
  table.n = table.items.length;
  table.hasMissing = table.values.includes(255);
  table.shortNames = given.columns.map((name) => tidy(name, COLUMN_NAME));
  return table;
}

function tableNote(model, table) {
  const m = table.columns.length;
  const rows = table.n < model.n ? ` ${table.n.toLocaleString("en")} of ${count(model.n, model.noun)} are shown, evenly spread over the tree.` : "";
  const all = model.data.summary.n_columns;
  const columns = m < all ? ` Of ${count(all, "column")} the ${m} that tell clusters apart best are shown.` : "";
  return `${headNoun(model.noun)} in the order of the hierarchy; the strip shows the colours of their clusters. Drag over ${model.noun}s, or click the strip, to select.${rows}${columns}`;
}

function tableLayout(frame, model, table) {
  const m = Math.max(1, table.columns.length);
  const left = CELL_STRIP + CELL_STRIP_GAP + 6;
  const cellHeight = Math.min(22, Math.max(TALLEST_TABLE / table.n, table.n <= 60 ? 12 : 0));
  const names = cellHeight >= 11 ? longestName(Array.from(table.items, (item) => itemName(model, item, ROW_NAME))) + 10 : 0;
  const longest = longestName(table.shortNames);
  // Names lean by 60 degrees: half of their length is beside their column, most of it above.
  const lean = longest * 0.5 + 8;
  const beside = Math.max(names, lean);
  const room = Math.max(120, frame.clientWidth - 4) - left - beside;
  const cellWidth = Math.max(NARROWEST_COLUMN, Math.min(WIDEST_COLUMN, room / m));
  const top = Math.ceil(longest * 0.87) + 16;
  return {
    rows: table.n, columns: table.columns.length, left, top, cellWidth, cellHeight,
    width: left + m * cellWidth + beside, height: top + table.n * cellHeight + 2, hasNames: names > 0,
  };
}

function paintTable(context, layout, model, state, table) {
  if (!table.image) table.image = tableImage(table);
  paintImage(context, layout, table.image, table.hasMissing);
  paintVeil(context, layout, state, table.items, false);
  paintStrip(context, layout, state, table.items, "left");
  paintColumnNames(context, layout, (j) => table.shortNames[j], layout.top - 6);
  if (layout.hasNames) paintRowNames(context, layout, (i) => itemName(model, table.items[i], ROW_NAME));
}

/** Cells as colours: from low to high within a column, categories in colours that have no order. */
function tableImage(table) {
  const m = table.columns.length;
  const shades = codeColours(shade, LAST_SHADE);
  const colours = table.columns.map((_, j) => {
    const labels = table.categories[String(j)];
    return labels ? codeColours((share) => categoryColour(Math.round(share * (labels.length - 1))), LAST_SHADE) : shades;
  });
  return cellImage(table.n, m, (i, j) => colours[j][table.values[i * m + j]]);
}

function categoryColour(k) {
  return d3.schemeSet2[k % d3.schemeSet2.length];
}

/** What the colours of the cells of some tables mean. */
function tableLegend(tables) {
  const n = d3.sum(tables, (table) => Object.keys(table.categories).length);
  const hasScale = n < d3.sum(tables, (table) => table.columns.length);
  const words = [hasScale ? "within each column" : "", n ? "categories have colours without order" : ""].filter(Boolean).join("; ");
  return { low: hasScale ? "low" : "", high: "high", words, scale: shade, hasMissing: tables.some((table) => table.hasMissing) };
}

function tableTip(model, state, table, i, j) {
  const column = () => tidy(table.columns[j], 120);
  if (i < 0) return [column()];
  const item = table.items[i];
  const about = clusterWords(state, item);
  if (j < 0) return [itemName(model, item), ...about];
  return [`${column()}: ${cellWords(table, i, j)}`, itemName(model, item), ...about];
}

/** A cell in words. Its shade is one of 255 steps, and cells beyond the ends of a scale have the shade of the end. */
function cellWords(table, i, j) {
  const code = table.values[i * table.columns.length + j];
  if (code === 255) return "missing";
  const [low, high] = [table.low[j], table.high[j]];
  const value = low + (code / LAST_SHADE) * (high - low);
  const labels = table.categories[String(j)];
  if (labels) return labels.length <= LAST_SHADE + 1 ? tidy(labels[Math.round(value)]) : "one of many categories";
  if (code === 0 && table.least[j] < low) return `${short(low)} or less`;
  if (code === LAST_SHADE && table.most[j] > high) return `${short(high)} or more`;
  return short(value);
}

function chooseRows(model, state, items) {
  if (items.length === 0) return;
  state.selectItems(items, items.length === 1 ? itemName(model, items[0]) : count(items.length, model.noun));
}

// Plane

const PLANE_SHAPES = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolCross, d3.symbolStar, d3.symbolWye];
const PLANE_MARGIN = { left: 56, right: 10, top: 10, bottom: 42 };
const MOST_LEGEND = 16;

/** Seven shapes and eight colours: clusters of one colour differ in shape. */
function clusterShape(label) {
  return PLANE_SHAPES[label % PLANE_SHAPES.length];
}

function planeView(host, model, state) {
  const plane = readPlane(model);
  host.append(el("h3", { text: "Plane of greatest variance" }), el("p", { class: "note", text: planeNote(model, plane) }));
  const canvas = el("canvas", {
    tabindex: 0, role: "application", "aria-roledescription": "scatter plot",
    "aria-label": `${headNoun(model.noun)} by their first two principal components. Left and right arrow go from ${model.noun} to ${model.noun} in the order of the hierarchy, Enter selects.`,
  });
  const legend = el("div", { class: "plane-legend" });
  host.append(el("div", { class: "plane-map" }, canvas), legend);
  const view = { host, canvas, model, state, plane, lasso: null, at: -1 };
  view.draw = () => drawPlane(view);
  listenPlane(view);
  canvas.addEventListener("keydown", (event) => planeKey(view, event));
  canvas.addEventListener("blur", () => { if (view.at >= 0) { view.at = -1; showTip(null, null); view.draw(); } });
  const recolour = () => { showPlaneLegend(legend, state, plane); view.draw(); };
  state.on("cut", recolour);
  state.on("select", view.draw);
  state.on("theme", recolour);
}

function readPlane(model) {
  const { items, xy, share } = model.data.embedding;
  const places = unpack(xy);
  const read = { items: unpack(items), share };
  read.n = read.items.length;
  read.x = Float64Array.from({ length: read.n }, (_, i) => places[2 * i]);
  read.y = Float64Array.from({ length: read.n }, (_, i) => places[2 * i + 1]);
  return read;
}

function planeNote(model, plane) {
  const percent = Math.round(100 * (plane.share[0] + plane.share[1]));
  const most = plane.n < model.n ? ` ${plane.n.toLocaleString("en")} of ${count(model.n, model.noun)} are shown.` : "";
  return `${headNoun(model.noun)} by their first two principal components, which hold ${percent} % of the variance of the columns: what is apart here is `
    + `apart, what overlaps may still differ. Draw a loop around points to select them.${most}`;
}

function planeScales(view, width, height) {
  const { plane } = view;
  const padded = (values) => {
    const [low, high] = d3.extent(values);
    const pad = high > low ? 0.05 * (high - low) : 1;
    return [low - pad, high + pad];
  };
  const m = PLANE_MARGIN;
  return {
    x: d3.scaleLinear(padded(plane.x), [m.left, width - m.right]),
    y: d3.scaleLinear(padded(plane.y), [height - m.bottom, m.top]),
  };
}

function drawPlane(view) {
  const width = Math.max(200, Math.min(560, view.canvas.parentNode.clientWidth));
  const height = Math.round(Math.min(460, width * 0.9));
  const context = sizeCanvas(view.canvas, width, height);
  const scales = planeScales(view, width, height);
  view.scales = scales;
  view.px = view.plane.x.map((value) => scales.x(value));
  view.py = view.plane.y.map((value) => scales.y(value));
  paintPlaneAxes(context, view.plane.share, scales, width, height);
  paintPoints(context, view);
  if (view.lasso) paintLasso(context, view.lasso);
}

function paintPlaneAxes(context, share, { x, y }, width, height) {
  const m = PLANE_MARGIN;
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.strokeStyle = ink("line");
  context.strokeRect(m.left, m.top, width - m.left - m.right, height - m.top - m.bottom);
  context.fillStyle = ink("soft");
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of x.ticks(5)) context.fillText(short(tick), x(tick), height - m.bottom + 5);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of y.ticks(5)) context.fillText(short(tick), m.left - 5, y(tick));
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  context.fillStyle = ink("ink");
  context.textAlign = "center";
  const name = height < 330 ? "component" : "principal component";
  const title = (k) => `${name} ${k + 1} (${Math.round(100 * share[k])} % of ${height < 330 ? "" : "the "}variance)`;
  context.fillText(title(0), (m.left + width - m.right) / 2, height - 10);
  context.save();
  context.translate(10, (m.top + height - m.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(title(1), 0, 0);
  context.restore();
}

/** What is selected lies above the rest, which steps back. */
function paintPoints(context, view) {
  const { plane, state } = view;
  const chosen = state.selection ? state.selection.items : null;
  const isAny = chosen !== null && plane.items.some((item) => chosen.has(item));
  const area = plane.n > 400 ? 34 : 56;
  const colours = { ink: ink("ink"), rim: isDark() ? ink("soft") : ink("halo") };  // dark colours need a lighter rim on dark paper
  const paths = PLANE_SHAPES.map((shape) => new Path2D(d3.symbol(shape, area)()));
  const draw = (i, isChosen) => {
    const label = state.itemLabel[plane.items[i]];
    context.save();
    context.translate(view.px[i], view.py[i]);
    context.globalAlpha = isAny && !isChosen ? 0.15 : 0.85;
    context.fillStyle = itemColour(state, plane.items[i]);
    const path = paths[Math.max(0, label) % paths.length];
    context.fill(path);
    context.lineWidth = isAny && isChosen ? 1.6 : 0.8;
    context.strokeStyle = isAny && isChosen ? colours.ink : colours.rim;
    context.stroke(path);
    context.restore();
  };
  for (let i = 0; i < plane.n; i++) if (!isAny || !chosen.has(plane.items[i])) draw(i, false);
  if (isAny) for (let i = 0; i < plane.n; i++) if (chosen.has(plane.items[i])) draw(i, true);
  if (view.at >= 0) ringPoint(context, view.px[view.at], view.py[view.at]);
}

function ringPoint(context, x, y) {
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.strokeStyle = ink("ink");
  context.lineWidth = 2;
  context.stroke();
}

function paintLasso(context, lasso) {
  context.beginPath();
  lasso.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.fillStyle = ink("accent");
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = ink("accent");
  context.lineWidth = 1.5;
  context.stroke();
}

/** The nearest point within a finger's width; -1 when there is none. */
function pointNear(view, [x, y]) {
  let [best, nearest] = [-1, 14];
  for (let i = 0; i < view.plane.n; i++) {
    const distance = Math.hypot(view.px[i] - x, view.py[i] - y);
    if (distance < nearest) [best, nearest] = [i, distance];
  }
  return best;
}

function listenPlane(view) {
  const { canvas } = view;
  let start = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = d3.pointer(event, canvas);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = d3.pointer(event, canvas);
    if (start && !view.lasso && Math.hypot(here[0] - start[0], here[1] - start[1]) > CLICK_SLACK) view.lasso = [start];
    if (view.lasso) { view.lasso.push(here); view.draw(); }
    const near = view.lasso ? -1 : pointNear(view, here);
    showTip(event, near < 0 ? null : pointTip(view, near));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!start) return;
    const { lasso } = view;
    start = view.lasso = null;
    const near = pointNear(view, d3.pointer(event, canvas));
    const inside = lasso ? d3.range(view.plane.n).filter((i) => d3.polygonContains(lasso, [view.px[i], view.py[i]])) : near < 0 ? [] : [near];
    chooseRows(view.model, view.state, inside.map((i) => view.plane.items[i]));
    view.draw();
  });
  canvas.addEventListener("pointercancel", () => { start = view.lasso = null; view.draw(); });
  canvas.addEventListener("pointerleave", () => showTip(null, null));
}

function pointTip(view, i) {
  const item = view.plane.items[i];
  return [itemName(view.model, item), ...clusterWords(view.state, item), `components ${short(view.plane.x[i])} and ${short(view.plane.y[i])}`];
}

/** From row to row in the order of the tree, so that neighbours follow each other. */
function planeKey(view, event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step) {
    view.at = view.at < 0 ? 0 : (view.at + step + view.plane.n) % view.plane.n;
    view.draw();
    const box = view.canvas.getBoundingClientRect();
    say(pointTip(view, view.at).join(", "));
    showTip({ clientX: box.left + view.px[view.at], clientY: box.top + view.py[view.at] }, pointTip(view, view.at));
  } else if ((event.key === "Enter" || event.key === " ") && view.at >= 0) {
    chooseRows(view.model, view.state, [view.plane.items[view.at]]);
  } else if (event.key === "Escape") {
    view.state.clearSelection();
  } else return;
  event.preventDefault();
}

/** A button per cluster that is drawn, the largest first. */
function showPlaneLegend(legend, state, plane) {
  const drawn = new Set(Array.from(plane.items, (item) => state.itemLabel[item]));
  const shown = state.clusters.filter((cluster) => drawn.has(cluster.label)).sort((a, b) => b.size - a.size || a.label - b.label);
  const buttons = shown.slice(0, MOST_LEGEND).map((cluster) => {
    const button = el("button", { type: "button", class: "key" }, shapeKey(cluster), `cluster ${cluster.label} (${cluster.size.toLocaleString("en")})`);
    button.addEventListener("click", () => state.selectCluster(cluster.label));
    return button;
  });
  const more = shown.length - buttons.length;
  legend.replaceChildren(...buttons, more > 0 ? el("span", { class: "note", text: `and ${count(more, "smaller cluster")}` }) : "");
}

/** Shape and colour of a cluster as a small picture. */
function shapeKey(cluster) {
  const svg = d3.create("svg").attr("viewBox", "-8 -8 16 16").attr("width", 16).attr("height", 16).attr("aria-hidden", "true");
  svg.append("path").attr("d", d3.symbol(clusterShape(cluster.label), 90)()).attr("fill", cluster.colour);
  return svg.node();
}
