// Views side by side: the tree of the columns above, below it for every view its tree of rows and its cells.

const VIEW_HEAD = 40;  // two lines of words
const COLUMN_TREE = 104;
const VIEW_BAND = 7;  // colour of the view above its cells
const ROW_TREE = 76;
const VIEW_GAP = 26;
const NARROWEST_VIEW = 118;
const LEAST_FITTING_CELL = 6;  // where columns would be narrower than this the reader scrolls, and they may as well be wider
const SCROLLED_CELL = 12;
const WIDEST_CELL = 24;
const TALLEST_VIEW = 430;
const VIEW_NAME = 16;  // letters of a column's name below its cells
const MOST_NAMED = 40;  // columns of a view that the list names

let viewsPlace = 0;  // how far the pictures are scrolled, kept when another view is shown

function viewsView(host, model, state) {
  const figure = readViews(model, state);
  if (figure.panels.length) viewsFigure(host, figure, state);
  host.append(viewsList(figure));
  sameViewMap(host, model, state);
}

/** The pictures; a model that keeps no table has none. */
function viewsFigure(host, figure, state) {
  host.append(el("p", { class: "note", text: viewsNote(figure) }));
  const repaintLegend = scaleLegend(host, tableLegend(figure.panels.map((panel) => panel.table)));
  const canvas = el("canvas", { id: "views-canvas", role: "img", "aria-label": viewsLabel(figure) });
  const frame = el("div", { class: "cell-map views-map", tabindex: 0, role: "region", "aria-label": "Views side by side" }, canvas);
  host.append(frame);
  const draw = () => drawViews(figure, canvas, frame);
  frame.addEventListener("scroll", () => { viewsPlace = frame.scrollLeft; });
  listenToViews(figure, canvas);
  state.on("cut", () => { draw(); frame.scrollLeft = viewsPlace; });
  state.on("select", draw);
  state.on("theme", () => { recolourViews(figure); repaintLegend(); draw(); });
  repaintLegend();
}

/** What the pictures need: every view's rows and cells, and the tree of the columns; panels from left to right. */
function readViews(model, state) {
  const { views } = model.data;
  const figure = { model, state, views, viewOf: unpack(views.view_of), tree: views.tree && readTree(views.tree) };
  figure.panels = views.order.map((number) => readPanel(model, state, number)).filter((panel) => panel.table);
  figure.levels = figure.tree && levelNodes(figure.tree);
  recolourViews(figure);
  return figure;
}

/** One view; the one that the page shows wears the colours of the page. */
function readPanel(model, state, number) {
  const isShown = number === model.shownView;
  const own = isShown ? model : makeModel(documentOfView(model.whole, number));
  const view = model.data.views.list[number];
  return {
    number, isShown, view, model: own, state: isShown ? state : fittedClusters(own),
    table: own.data.table && readTable(own), levels: levelNodes(own.tree), columns: unpack(view.columns), drawn: unpack(view.drawn),
  };
}

function recolourViews(figure) {
  const palette = figure.model.data.palette.map(readable);
  for (const panel of figure.panels) {
    if (!panel.isShown) colourClusters(panel.model, panel.state);
    panel.colour = palette[panel.number % palette.length];
    panel.table.image = null;
  }
}

function viewsNote({ views, panels, tree }) {
  const more = views.n_views - panels.length;
  const left = more > 0 ? ` The ${panels.length} largest of ${count(views.n_views, "view")} are shown.` : "";
  const above = tree ? "Above, the tree of the columns: columns that share a view hang together, in the colour of the view. " : "";
  return `${above}Below, every view with its own tree of the rows and their cells. A row stands at another height in every view: click a `
    + "strip of cluster colours to select its rows and find them in the others. Click a view, or choose it in the bar above, and the "
    + `rest of the page shows it.${left}`;
}

function viewsLabel({ panels }) {
  const words = panels.map(({ view, columns }) => `${tidy(view.name, 40)}: ${count(columns.length, "column")}, ${count(view.n_clusters, "cluster")}`);
  return `Heat maps of ${count(panels.length, "view")}. ${words.join("; ")}`;
}

/** The views in words: number of columns and clusters, and the columns' names. */
function viewsList({ model, views }) {
  const rows = views.list.map((view, k) => {
    const columns = unpack(view.columns);
    const button = el("button", { type: "button", id: `show-view-${k}`, "aria-pressed": String(k === model.shownView), text: tidy(view.name, 40) });
    button.addEventListener("click", () => model.chooseView(k));
    const names = Array.from(columns.slice(0, MOST_NAMED), (column) => el("bdi", { text: tidy(views.columns[column], 40) }));
    const more = columns.length > names.length ? ` and ${count(columns.length - names.length, "more column")}` : "";
    return el("tr", { "data-view": k },
      el("th", { scope: "row" }, button), el("td", { class: "number", text: grouped(columns.length) }),
      el("td", { class: "number", text: grouped(view.n_clusters) }), el("td", {}, names.flatMap((name, i) => (i ? [", ", name] : [name])), more));
  });
  const head = ["View", "Columns", "Clusters", "Names of the columns"];
  return el("div", { class: "scroll" }, el("table", { id: "view-table" },
    el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null, text })))),
    el("tbody", {}, rows)));
}

/** How probable it is that two columns share a view. */
function sameViewMap(host, model, state) {
  const { together, columns } = model.data.views;
  if (!together) return;
  const names = Array.from(unpack(together.columns), (column) => columns[column]);
  const unit = together.is_sampled ? "of the draws have both in one view" : "probability of one view";
  const most = names.length < columns.length ? ` ${names.length} of ${count(columns.length, "column")} are shown.` : "";
  const figure = el("figure", { class: "exhibit same-view" }, el("figcaption", {},
    el("h3", { text: "Which columns share a view" }),
    el("p", { class: "note", text: `Columns in the order of their tree; a block with clear edges is a sure view.${most}` })));
  host.append(figure);
  const exhibit = { title: "Which columns share a view", unit, rows: names, columns: names, values: together.values, middle: null, range: [0, 1] };
  heatMapExhibit(figure, exhibit, model, state);
}

// ---- what the reader does

/** What is at a place: {panel, row, column (-1 beside the cells), node (of the column tree, -1)}; null between views. */
function placeInViews(figure, event, canvas) {
  const [x, y] = d3.pointer(event, canvas);
  const panel = figure.panels.find(({ box }) => x >= box.x && x < box.x + box.width);
  if (!panel) return null;
  const { left, top, cellWidth, cellHeight, rows, columns } = panel.layout;
  const column = x < left ? -1 : Math.min(columns - 1, Math.floor((x - left) / cellWidth));
  const row = Math.floor((y - top) / cellHeight);
  return { panel, column, row: row >= 0 && row < rows ? row : -1, node: row < 0 && column >= 0 ? columnNodeAt(figure, panel, column, y) : -1 };
}

/** The branch of the column tree above a column at a height. */
function columnNodeAt(figure, panel, column, y) {
  const { tree, levels } = figure;
  if (!tree || y < VIEW_HEAD) return -1;
  const level = (y - VIEW_HEAD) / COLUMN_TREE;
  let k = tree.item.indexOf(panel.drawn[column]);
  while (k >= 0 && k !== tree.root && levels.level[tree.parent[k]] >= level) k = tree.parent[k];
  return k;
}

function listenToViews(figure, canvas) {
  canvas.addEventListener("pointermove", (event) => {
    const at = placeInViews(figure, event, canvas);
    showTip(event, at && viewsTip(figure, at));
  });
  canvas.addEventListener("pointerleave", () => showTip(null, null));
  canvas.addEventListener("click", (event) => {
    const at = placeInViews(figure, event, canvas);
    if (!at) return;
    showTip(null, null);
    if (at.row >= 0 && at.column < 0) selectClusterOf(figure, at);
    else if (!at.panel.isShown) figure.model.chooseView(at.panel.number);
  });
}

function selectClusterOf(figure, { panel, row }) {
  const { itemLabel } = panel.state;
  const label = itemLabel[panel.table.items[row]];
  if (label < 0) return;
  if (panel.isShown) figure.state.selectCluster(label);
  else {
    const items = d3.range(figure.model.n).filter((item) => itemLabel[item] === label);
    figure.state.selectItems(items, `cluster ${label} of ${tidy(panel.view.name, 30)}, ${count(items.length, "row")}`);
  }
}

function viewsTip(figure, { panel, row, column, node }) {
  const name = tidy(panel.view.name, 60);
  const { tree } = figure;
  if (row >= 0) return [...tableTip(panel.model, panel.state, panel.table, row, column), name];
  if (node >= 0 && tree.item[node] < 0) {
    const odds = tree.logOdds && !Number.isNaN(tree.logOdds[node]) ? [`One view with probability ${nodeChance(tree, node)}`] : [];
    return [`Branch of ${count(tree.size[node], "column")}`, ...odds];
  }
  const words = `${count(panel.columns.length, "column")}, ${count(panel.view.n_clusters, "cluster")}`;
  return column >= 0 ? [tidy(panel.table.columns[column], 120), name, words] : [name, words];
}
