// The tree: what the reader does to it. Where nodes stand is in tree_layout.js, how they look in tree_draw.js.

let treeMode = "dendrogram";  // kept when a page that follows a run is built anew

const TREE_KEYS =
  "Arrow keys go to the parent (left), the first child (right) and the neighbours (up, down); Home to the root. " +
  "Enter selects, space folds or unfolds, plus and minus zoom, 0 shows the whole tree.";

function treeView(host, model, state) {
  const canvas = el("canvas", {
    id: "tree-canvas", tabindex: 0, role: "application", "aria-describedby": "tree-keys",
    "aria-label": `Tree of ${count(model.n, model.noun)}`,
  });
  const view = makeTreeView(canvas, model, state);
  const frame = el("div", { class: "tree-frame" }, canvas);
  host.append(treeButtons(view), el("p", { class: "axis-title", text: axisTitle(view.scale, model.noun) }), frame, view.told, treeNote(view));
  listenToPointer(view);
  canvas.addEventListener("keydown", (event) => pressKey(view, event));
  for (const [name, has] of [["focus", true], ["blur", false]]) {
    canvas.addEventListener(name, () => { view.hasFocus = has && canvas.matches(":focus-visible"); view.redraw(); });
  }
  state.on("cut", () => {
    if (view.followsCut) foldClusters(view);
    setCurrent(view, view.current);
    view.redraw();
  });
  state.on("select", () => { markSelection(view); revealSelection(view); view.redraw(); });
  state.on("theme", () => { resizeTree(view, frame); });
  new ResizeObserver(() => { if (frame.isConnected && frame.clientWidth !== view.width) resizeTree(view, frame); }).observe(frame);
  resizeTree(view, frame);
}

/** All that the drawing and the reader's acts share. */
function makeTreeView(canvas, model, state) {
  const tree = model.tree;
  const scale = levelNodes(tree);
  const view = {
    canvas, model, state, tree, scale, levels: scale.level, ticks: heightTicks(scale), mode: treeMode,
    isFolded: new Uint8Array(tree.n), followsCut: false, stack: new Int32Array(tree.n),
    zoom: d3.zoomIdentity, hover: -1, current: tree.root, hasFocus: false, marked: null, isOwnAct: false, isDrawn: false,
    told: el("p", { id: "node-words" }), nameTexts: [], nNames: 0, font: "12px system-ui, sans-serif", smallFont: "11px system-ui, sans-serif", left: 18,
  };
  view.layout = placeNodes(tree, view.isFolded);
  let isWaiting = false;
  view.redraw = () => {
    if (isWaiting || !view.context) return;
    isWaiting = true;
    requestAnimationFrame(() => { isWaiting = false; drawFrame(view); });
  };
  return view;
}

/** Make a node the one that keys move, and tell of it in the page: keys and fingers have no pointer that hovers. */
function setCurrent(view, k) {
  view.current = k;
  view.told.textContent = nodeWords(view.model, view.state, k).join(" · ");
}

/** Draw, and tell on the canvas what is drawn. */
function drawFrame(view) {
  const begun = performance.now();
  drawTree(view);
  view.isDrawn = true;
  Object.assign(view.canvas.dataset, {
    mode: view.mode, shown: view.layout.ends.length, names: view.nNames, current: view.tree.node[view.current],
    selected: view.state.selection ? view.state.selection.items.size : 0, scale: view.zoom.k.toFixed(3),
    frame: (performance.now() - begun).toFixed(2),
  });
}

function axisTitle(scale, noun) {
  if (scale.kind === "odds") return `Probability that the ${noun}s of a branch are one cluster: surer to the right`;
  return scale.kind === "plain" ? "Height of merges" : "All merges have the same height: drawn by depth";
}

function treeNote(view) {
  const parts = [`Click a branch to select its ${view.model.noun}s, double click to fold or unfold it; wheel, drag or pinch to zoom. `, TREE_KEYS];
  if (view.scale.kind === "odds") parts.push(" A branch stands no surer than its least sure part. The solid line is the cut.");
  if (!view.tree.isWhole) parts.push(` This tree is large: branches at the ends stand for all their ${view.model.noun}s.`);
  return el("p", { class: "note", id: "tree-keys", text: parts.join("") });
}

// ---- size

/** Take the room there is; a small tree takes less. */
function resizeTree(view, frame) {
  const wanted = view.layout.total * 20 + AXIS_ROOM + 12;
  view.width = Math.max(200, frame.clientWidth);
  view.height = Math.round(Math.max(190, Math.min(wanted, 640, 0.72 * window.innerHeight)));
  view.bottom = view.height - 8;
  view.context = sizeCanvas(view.canvas, view.width, view.height);
  view.inks = treeInks();
  view.gutter = gutterRoom(view);
  view.right = view.width - view.gutter;
  view.nameTexts = [];
  fitZoom(view);
  if (view.isDrawn) drawFrame(view);  // an empty canvas would flash
  else view.redraw();
}

/** Room right of the leaves: what the longest of some names takes, within bounds. */
function gutterRoom(view) {
  const { context, model, tree } = view;
  context.font = view.font;
  const step = Math.max(1, Math.ceil(tree.ends.length / 200));
  let widest = context.measureText(view.width < 500 ? "00 · 0,000" : `cluster 00 · 0,000 ${model.noun}s`).width;
  for (let i = 0; i < tree.ends.length; i += step) {
    const item = tree.item[tree.ends[i]];
    if (item >= 0) widest = Math.max(widest, context.measureText(itemName(model, item, 40)).width);
  }
  return Math.min(widest + STRIP + 28, view.width < 500 ? 120 : 240);
}

// ---- zoom

/** The zoom for the present room and layout; the same leaves stay in sight. */
function fitZoom(view, anchor = null) {
  const before = anchor === null || !view.unit ? null : { y: yOf(view, anchor.old), room: view.zoom.k * view.unit };
  view.unit = (view.bottom - AXIS_ROOM) / view.layout.total;
  const most = Math.max(1, 30 / view.unit);
  const box = [[0, AXIS_ROOM], [view.width, view.bottom]];
  view.zoomer.scaleExtent([1, most]).extent(box).translateExtent(box);
  let { k, y } = view.zoom;
  if (before) {
    k = before.room / view.unit;
    k = Math.max(1, Math.min(most, k));
    y = before.y - k * (AXIS_ROOM + anchor.place * view.unit);
  }
  moveTo(view, Math.max(1, Math.min(most, k)), y, 0);
}

/** Zoom so that one unit along the leaves is k times as large; y is kept where the tree covers its frame. */
function moveTo(view, k, y, duration = 300) {
  const kept = Math.min(AXIS_ROOM - k * AXIS_ROOM, Math.max(view.bottom - k * view.bottom, y));
  const goal = d3.zoomIdentity.translate(0, kept).scale(k);
  const canvas = d3.select(view.canvas);
  const isStill = duration === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (isStill) canvas.interrupt().call(view.zoomer.transform, goal);
  else canvas.transition().duration(duration).call(view.zoomer.transform, goal);
}

/** Bring places `low` to `high` into sight: all of them, and no larger than needed to read names. */
function lookAt(view, low, high) {
  const fit = 0.9 * (view.bottom - AXIS_ROOM) / ((high - low) * view.unit);
  const most = view.zoomer.scaleExtent()[1];
  const k = Math.max(1, Math.min(most, fit, Math.max(16 / view.unit, view.zoom.k)));
  moveTo(view, k, (AXIS_ROOM + view.bottom) / 2 - k * (AXIS_ROOM + (low + high) / 2 * view.unit));
}

function zoomBy(view, factor) {
  const middle = (AXIS_ROOM + view.bottom) / 2;
  const k = Math.max(1, Math.min(view.zoomer.scaleExtent()[1], view.zoom.k * factor));
  moveTo(view, k, middle - k * (middle - view.zoom.y) / view.zoom.k, 180);
}

// ---- folding

/** Fold or unfold a branch; it stays where it is on the screen. */
function toggleFold(view, k) {
  if (view.tree.isEnd[k]) return;
  view.isFolded[k] = view.isFolded[k] ? 0 : 1;
  view.followsCut = false;
  layOutAgain(view, k);
  say(`${view.isFolded[k] ? "Folded" : "Unfolded"}: branch of ${count(view.tree.size[k], view.model.noun)}`);
}

function layOutAgain(view, k) {
  const old = view.layout.mid[k];
  view.layout = placeNodes(view.tree, view.isFolded);
  let shown = view.current;
  while (view.layout.isHidden[shown]) shown = view.tree.parent[shown];
  setCurrent(view, shown);
  view.hover = -1;
  fitZoom(view, view.layout.isHidden[k] ? null : { old, place: view.layout.mid[k] });
  view.redraw();
}

/** Every cluster that is a branch becomes one triangle, now and after every cut to come. */
function foldClusters(view) {
  view.isFolded.fill(0);
  for (const cluster of view.state.clusters) if (cluster.node >= 0 && !view.tree.isEnd[cluster.node]) view.isFolded[cluster.node] = 1;
  view.followsCut = true;
  layOutAgain(view, view.tree.root);
}

function unfoldAll(view) {
  view.isFolded.fill(0);
  view.followsCut = false;
  layOutAgain(view, view.tree.root);
}

// ---- selection

/** How many selected ends there are left of each place; null when nothing is selected. */
function markSelection(view) {
  const { tree, state } = view;
  view.marked = null;
  if (state.selection === null) return;
  const { node, items } = state.selection;
  view.marked = new Int32Array(tree.ends.length + 1);
  tree.ends.forEach((k, place) => {
    const isIn = node >= 0 ? place >= tree.first[node] && place <= tree.last[node] : items.has(tree.item[k]);
    view.marked[place + 1] = view.marked[place] + (isIn ? 1 : 0);
  });
}

/** A branch or leaf that was selected elsewhere is unfolded and brought into sight. */
function revealSelection(view) {
  const selection = view.state.selection;
  if (selection === null || view.isOwnAct) return;
  const items = selection.items.size === 1 ? [...selection.items] : [];
  const k = selection.node >= 0 ? selection.node : items.length ? view.model.nodeOfItem[items[0]] : -1;
  if (k >= 0) reveal(view, k);
}

function reveal(view, k) {
  const tree = view.tree;
  let above = k;
  let isChanged = false;
  while (above !== tree.root) {
    above = tree.parent[above];
    if (view.isFolded[above]) { view.isFolded[above] = 0; view.followsCut = false; isChanged = true; }
  }
  if (isChanged) layOutAgain(view, tree.root);
  setCurrent(view, k);
  const { low, high } = view.layout;
  const isInSight = yOf(view, low[k]) >= AXIS_ROOM - 1 && yOf(view, high[k]) <= view.bottom + 1;
  const isReadable = tree.size[k] > 1 ? yOf(view, high[k]) - yOf(view, low[k]) > 8 : view.zoom.k * view.unit >= NAME_ROOM;
  if (!isInSight || !isReadable) lookAt(view, low[k], high[k]);
}

/** Select as the reader's own act: the view stays as it is. A second time takes the selection back. */
function selectHere(view, k) {
  const selection = view.state.selection;
  view.isOwnAct = true;
  if (selection && selection.node === k) view.state.clearSelection();
  else view.state.selectNode(k);
  view.isOwnAct = false;
}

// ---- pointer

/** The node under the pointer; right of the leaves where no names are shown, the cluster. */
function nodeUnder(view, event) {
  const [x, y] = d3.pointer(event, view.canvas);
  const { tree, layout } = view;
  if (y < AXIS_ROOM || y > view.bottom) return -1;
  const place = ((y - view.zoom.y) / view.zoom.k - AXIS_ROOM) / view.unit;
  const room = (k) => (layout.high[k] - layout.low[k]) * view.unit * view.zoom.k;
  if (x > view.right && view.zoom.k * view.unit < NAME_ROOM) {
    const label = view.state.clusterOf[endAt(layout, place)];
    const node = label < 0 ? -1 : view.state.clusters[label].node;
    if (node >= 0 && !layout.isHidden[node] && room(node) >= 3) return node;
  }
  let k = branchAt(tree, layout, view.levels, place, Math.max(0, (x - view.left) / (view.right - view.left)));
  while (k !== tree.root && room(tree.parent[k]) < 2) k = tree.parent[k];  // what cannot be told apart is taken together
  return k;
}

function listenToPointer(view) {
  const canvas = d3.select(view.canvas);
  canvas.on("click", (event) => {
    const k = nodeUnder(view, event);
    if (k < 0 || event.detail > 1) return;
    setCurrent(view, k);
    selectHere(view, k);
  });
  canvas.on("dblclick", (event) => {
    const k = nodeUnder(view, event);
    if (k < 0) return;
    event.preventDefault();
    if (view.tree.isEnd[k]) lookAt(view, view.layout.low[k], view.layout.high[k]);
    else toggleFold(view, k);
  });
  canvas.on("pointermove", (event) => {
    const k = event.pointerType === "touch" ? -1 : nodeUnder(view, event);
    showTip(event, k < 0 ? null : nodeWords(view.model, view.state, k));
    if (k !== view.hover) { view.hover = k; view.redraw(); }
  });
  canvas.on("pointerleave", (event) => { showTip(event, null); view.hover = -1; view.redraw(); });
  listenToZoom(view, canvas);
}

/** Zoom, but never hold up a reader who scrolls past: the wheel zooms only when its gesture began on the tree. */
function listenToZoom(view, canvas) {
  let lastPassed = -1000;
  const passes = (event) => {
    const isOut = view.zoom.k <= 1.001 && event.deltaY > 0;
    if (isOut || event.timeStamp - lastPassed < 350) { lastPassed = event.timeStamp; return true; }
    return false;
  };
  d3.select(window).on("wheel.tree", (event) => { if (event.target !== view.canvas) lastPassed = event.timeStamp; }, { passive: true });
  view.zoomer = d3.zoom()
    .filter((event) => {
      if (event.type === "wheel") return event.ctrlKey || !passes(event);
      if (event.touches) return event.touches.length > 1 || view.zoom.k > 1.001;
      return !event.button && !event.ctrlKey;
    })
    .on("zoom", (event) => {
      view.zoom = event.transform;
      view.canvas.classList.toggle("zoomed", event.transform.k > 1.001);
      if (event.sourceEvent) showTip(event.sourceEvent, null);
      view.redraw();
    });
  canvas.call(view.zoomer).on("dblclick.zoom", null);
}

// ---- keys and buttons

const TREE_WAYS = { ArrowLeft: "parent", ArrowRight: "child", ArrowUp: "previous", ArrowDown: "next" };

function pressKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const acts = {
    Enter: () => selectHere(view, view.current),
    " ": () => toggleFold(view, view.current),
    Home: () => goTo(view, view.tree.root),
    "+": () => zoomBy(view, 2),
    "=": () => zoomBy(view, 2),
    "-": () => zoomBy(view, 0.5),
    0: () => moveTo(view, 1, 0),
  };
  const way = TREE_WAYS[event.key];
  const act = way ? () => goTo(view, neighbourOf(view.tree, view.layout, view.levels, view.current, way)) : acts[event.key];
  if (!act) return;
  event.preventDefault();
  view.hasFocus = true;
  act();
  view.redraw();
}

/** Make a node the current one, bring it into sight and read it out. */
function goTo(view, k) {
  setCurrent(view, k);
  const { low, high } = view.layout;
  const top = yOf(view, low[k]);
  const bottom = yOf(view, high[k]);
  const isInSight = bottom > AXIS_ROOM + 4 && top < view.bottom - 4;
  if (!isInSight || bottom - top < 3) lookAt(view, low[k], high[k]);
  say(nodeWords(view.model, view.state, k).join(". "));
}

function treeButtons(view) {
  const button = (id, text, act, more) => {
    const made = el("button", { type: "button", id, text, ...more });
    made.addEventListener("click", act);
    return made;
  };
  const modes = ["dendrogram", "icicle"].map((mode) => button(`mode-${mode}`, mode, () => {
    view.mode = treeMode = mode;
    modes.forEach((other, i) => other.setAttribute("aria-pressed", String(["dendrogram", "icicle"][i] === mode)));
    view.redraw();
  }, { "aria-pressed": String(mode === treeMode) }));
  const group = (label, ...buttons) => el("div", { class: "group", role: "group", "aria-label": label }, buttons);
  return el("div", { class: "toolbar" },
    group("Form of the tree", ...modes),
    group("Zoom",
      button("zoom-in", "+", () => zoomBy(view, 2), { "aria-label": "Zoom in", title: "Zoom in" }),
      button("zoom-out", "−", () => zoomBy(view, 0.5), { "aria-label": "Zoom out", title: "Zoom out" }),
      button("zoom-all", "whole tree", () => moveTo(view, 1, 0))),
    group("Folding",
      button("fold-branch", "fold / unfold", () => toggleFold(view, view.current), { title: "Fold or unfold the branch clicked last" }),
      button("fold-clusters", "fold clusters", () => foldClusters(view)),
      button("unfold-all", "unfold all", () => unfoldAll(view))),
  );
}
