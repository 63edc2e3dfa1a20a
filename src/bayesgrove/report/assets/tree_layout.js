// Where the nodes of the tree stand: along the leaves, given what is folded, and along the heights. Nothing recurses.

/** Room of an end: a leaf takes 1, a folded branch more, but far less than its rows would. */
function roomOf(size) {
  return 1 + Math.log2(Math.max(1, size));
}

/**
 * Places along the leaves.
 *
 * isHidden   nodes inside of folded branches
 * ends       nodes drawn without children, from the top
 * edge       where each of these begins; one more for the end of the last
 * low, high  room of every shown node
 * mid        where its branch is drawn: midway between its outer children's
 */
function placeNodes(tree, isFolded) {
  const isHidden = new Uint8Array(tree.n);
  const shownAs = new Int32Array(tree.n).fill(tree.root);
  for (let k = tree.root; k >= 0; k--) {
    const above = k === tree.root ? k : tree.parent[k];
    isHidden[k] = k !== tree.root && (isHidden[above] || isFolded[above]) ? 1 : 0;
    shownAs[k] = isHidden[k] ? shownAs[above] : k;
  }
  const ends = [];
  for (let place = 0; place < tree.ends.length;) {
    const end = shownAs[tree.ends[place]];
    ends.push(end);
    place = tree.last[end] + 1;
  }
  const layout = { isHidden, ends, isFolded, edge: new Float64Array(ends.length + 1) };
  for (const part of ["low", "mid", "high"]) layout[part] = new Float64Array(tree.n);
  placeEndsShown(tree, layout);
  placeInner(tree, layout);
  return layout;
}

function placeEndsShown(tree, layout) {
  let at = 0;
  layout.ends.forEach((end, i) => {
    const next = at + roomOf(tree.size[end]);
    layout.low[end] = layout.edge[i] = at;
    layout.high[end] = layout.edge[i + 1] = next;
    layout.mid[end] = (at + next) / 2;
    at = next;
  });
  layout.total = at;
}

function placeInner(tree, layout) {
  for (let k = 0; k < tree.n; k++) {
    if (layout.isHidden[k] || isShownEnd(tree, layout, k)) continue;
    const first = tree.child[tree.childStart[k]];
    const last = tree.child[tree.childStart[k + 1] - 1];
    layout.low[k] = layout.low[first];
    layout.high[k] = layout.high[last];
    layout.mid[k] = (layout.mid[first] + layout.mid[last]) / 2;
  }
}

function isShownEnd(tree, layout, k) {
  return tree.isEnd[k] === 1 || layout.isFolded[k] === 1;
}

const INNER_SHARE = 0.96;

/**
 * Places along the heights: 0 at the root, 1 at the leaves.
 *
 * kind     "odds" (asinh of the height), "plain" (the height) or "depth" when heights tell nothing apart
 * level    by node, never less than the parent's
 * levelOf  of a height
 * span     least and greatest height
 */
function levelNodes(tree) {
  const span = d3.extent(tree.height, (height) => (Number.isFinite(height) ? height : undefined));
  const warp = tree.isOdds ? Math.asinh : (height) => height;
  const [least, most] = span[0] === undefined ? [0, 0] : span.map(warp);
  if (!(most > least)) return { kind: "depth", level: levelsByDepth(tree), levelOf: () => NaN, span };
  // The surest merges would lie on the leaves themselves: they get the last part of the width.
  const levelOf = (height) => INNER_SHARE * (most - warp(Math.max(span[0], Math.min(span[1], height)))) / (most - least);
  const level = new Float64Array(tree.n);
  for (let k = tree.root; k >= 0; k--) {
    const above = k === tree.root ? 0 : level[tree.parent[k]];
    const height = tree.height[k];
    const isLow = tree.item[k] >= 0 && !(height > span[0]);
    level[k] = isLow ? 1 : Math.max(above, Number.isNaN(height) ? above : levelOf(height));
  }
  return { kind: tree.isOdds ? "odds" : "plain", level, levelOf, span };
}

function levelsByDepth(tree) {
  const depth = new Float64Array(tree.n);
  for (let k = tree.root - 1; k >= 0; k--) depth[k] = depth[tree.parent[k]] + 1;
  const most = Math.max(1, d3.max(depth));
  return depth.map((d, k) => (tree.isEnd[k] ? 1 : INNER_SHARE * d / most));
}

const HALF = "p = ½";

/** Marks of the height axis as {level, text}, the most wanted first. */
function heightTicks(scale) {
  if (scale.kind === "depth") return [];
  const [low, high] = scale.span;
  const inside = (height) => height >= low && height <= high;
  if (scale.kind === "plain") {
    return d3.ticks(low, high, 6).filter(inside).map((height) => ({ level: scale.levelOf(height), text: short(height) }));
  }
  return oddsTicks().filter((tick) => inside(tick.height)).map((tick) => ({ level: scale.levelOf(tick.height), text: tick.text }));
}

/** Probabilities that read well, from the middle outwards. */
function oddsTicks() {
  const ticks = [{ height: 0, text: HALF }];
  for (const [digits, text] of [[1, "0.1"], [2, "0.01"], [4], [10], [30], [100], [300], [1000], [3000], [10000], [100000]]) {
    const height = digits > 15 ? digits * Math.LN10 : Math.log(10 ** digits - 1);
    ticks.push({ height, text: text || tenTo(-digits) });
    if (digits <= 4) ticks.push({ height: -height, text: digits === 1 ? "0.9" : digits === 2 ? "0.99" : `1 − ${tenTo(-digits)}` });
    else ticks.push({ height: -height, text: `1 − ${tenTo(-digits)}` });
  }
  return ticks;
}

/** The shown end at a place along the leaves. */
function endAt(layout, place) {
  const i = d3.bisectRight(layout.edge, place) - 1;
  return layout.ends[Math.max(0, Math.min(layout.ends.length - 1, i))];
}

/** The branch that passes a place along the leaves at a level: from its end upwards, as long as parents lie right of it. */
function branchAt(tree, layout, levels, place, level) {
  let k = endAt(layout, place);
  while (k !== tree.root && levels[tree.parent[k]] >= level) k = tree.parent[k];
  return k;
}

/** Parent, first child or neighbour of a node as keys ask for it; the node itself where there is none. */
function neighbourOf(tree, layout, levels, k, way) {
  if (way === "parent") return k === tree.root ? k : tree.parent[k];
  if (way === "child") return isShownEnd(tree, layout, k) ? k : tree.child[tree.childStart[k]];
  const place = way === "next" ? layout.high[k] + 1e-6 : layout.low[k] - 1e-6;
  if (place < 0 || place > layout.total) return k;
  let sibling = endAt(layout, place);
  while (sibling !== tree.root && tree.parent[sibling] !== tree.parent[k]) sibling = tree.parent[sibling];
  return sibling !== tree.root ? sibling : branchAt(tree, layout, levels, place, levels[k]);
}

/** Probability that a node is one cluster; finite odds are never certain, however large. */
function nodeChance(tree, k) {
  const odds = tree.logOdds[k];
  return chance(probability(Number.isFinite(odds) ? Math.max(-30, Math.min(30, odds)) : odds));
}

/** What a node is, in words: a line each for its name or size, its probability, its cluster, its features. */
function nodeWords(model, state, k) {
  const tree = model.tree;
  const lines = [tree.item[k] >= 0 ? itemName(model, tree.item[k], 120) : `Branch of ${count(tree.size[k], model.noun)}`];
  const isUnion = tree.apart !== null && tree.apart[k] > 0;
  if (tree.size[k] > 1 && tree.logOdds && !Number.isNaN(tree.logOdds[k])) {
    lines.push(`One ${isUnion ? "component" : "cluster"} with probability ${nodeChance(tree, k)}`);
  }
  if (isUnion) lines.push(`Its sides are different clusters with probability ${chance(tree.apart[k])}`);
  const label = state.clusterOf[k];
  if (label >= 0) {
    const cluster = state.clusters[label];
    lines.push(cluster.node === k ? `This is cluster ${label}` : `In cluster ${label} of ${count(cluster.size, model.noun)}`);
  } else {
    lines.push("Holds several clusters");
  }
  return lines.concat(traits(model, k, 3).map((trait) => traitWords(trait, model.noun)));
}
