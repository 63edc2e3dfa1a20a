// What stands right of the leaves: the clusters' colours, names, and which part of the tree is in sight.

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
  const words = view.width < 500 ? `${run.label} · ${grouped(cluster.size)}` : `cluster ${run.label} · ${count(cluster.size, view.model.noun)}`;
  context.fillText(words, view.right + STRIP + 12, (top + bottom) / 2);
}

/** Name of a leaf or size of a folded branch. */
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
    const size = count(tree.size[k], view.model.noun);
    return label >= 0 && state.clusters[label].node === k && view.width >= 500 ? `cluster ${label} · ${size}` : size;
  }
  // Names may be long: each is cut to its room once.
  if (view.nameTexts[k] === undefined) view.nameTexts[k] = fitText(view.context, itemName(view.model, tree.item[k], 80), view.gutter - STRIP - 20);
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
