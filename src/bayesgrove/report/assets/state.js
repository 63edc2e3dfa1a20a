// The tree as arrays, and what is shown of it: the cut, the selection. Views listen and never talk to each other.

/** The document with its arrays unpacked and the tree linked. Indices of nodes are places in the document's list. */
function makeModel(data) {
  const tree = readTree(data.tree);
  const model = { data, tree, n: data.items.n, noun: data.summary.noun, names: data.items.names, features: data.features || [] };
  model.labels = unpack(data.items.labels);
  model.certainty = unpack(data.clusters.certainty);
  model.profile = unpackProfile(data.profile, tree);
  model.nodeOfItem = new Int32Array(model.n).fill(-1);
  for (let k = 0; k < tree.n; k++) if (tree.item[k] >= 0) model.nodeOfItem[tree.item[k]] = k;
  return model;
}

/** The document with the parts of a view in place of those of the first. */
function documentOfView(data, number) {
  const page = number ? data.views.list[number].page : null;
  return page ? { ...data, ...page, items: { ...page.items, names: data.items.names } } : data;
}

/** A tree of the document with its arrays unpacked, linked from the root down. */
function readTree(t) {
  const tree = {
    n: t.parent.shape[0],
    node: unpack(t.node),
    parent: unpack(t.parent),
    item: unpack(t.item),
    size: unpack(t.size),
    start: unpack(t.start),
    height: unpack(t.height),
    logOdds: unpack(t.log_odds),
    apart: unpack(t.apart),
    firstItem: unpack(t.first_item),
    label: unpack(t.label),
    isOdds: t.is_odds,
    isWhole: t.is_whole,
    cut: t.cut,
  };
  tree.root = tree.n - 1;
  linkChildren(tree);
  placeEnds(tree);
  return tree;
}

/** children of k: tree.child[tree.childStart[k] .. tree.childStart[k + 1] - 1], from left to right. */
function linkChildren(tree) {
  tree.childStart = new Int32Array(tree.n + 1);
  for (let k = 0; k < tree.root; k++) tree.childStart[tree.parent[k] + 1]++;
  for (let k = 0; k < tree.n; k++) tree.childStart[k + 1] += tree.childStart[k];
  tree.child = new Int32Array(Math.max(tree.n - 1, 0));
  const next = tree.childStart.slice();
  const byPlace = d3.range(tree.root).sort((a, b) => tree.start[a] - tree.start[b] || b - a);
  for (const k of byPlace) tree.child[next[tree.parent[k]]++] = k;
}

/** Ends (leaves and folded branches) at 0, 1, 2, ... from the left; `first` and `last` end below every node. */
function placeEnds(tree) {
  tree.isEnd = new Uint8Array(tree.n);
  for (let k = 0; k < tree.n; k++) tree.isEnd[k] = tree.childStart[k] === tree.childStart[k + 1] ? 1 : 0;
  tree.ends = Int32Array.from(d3.range(tree.n).filter((k) => tree.isEnd[k]).sort((a, b) => tree.start[a] - tree.start[b]));
  tree.first = new Int32Array(tree.n).fill(tree.n);
  tree.last = new Int32Array(tree.n).fill(-1);
  tree.ends.forEach((k, place) => { tree.first[k] = tree.last[k] = place; });
  for (let k = 0; k < tree.root; k++) {
    const above = tree.parent[k];
    tree.first[above] = Math.min(tree.first[above], tree.first[k]);
    tree.last[above] = Math.max(tree.last[above], tree.last[k]);
  }
}

function unpackProfile(profile, tree) {
  if (!profile) return null;
  const found = { nRows: profile.n_rows, feature: unpack(profile.feature), cluster: {} };
  for (const part of ["mean", "low", "high", "telling"]) {
    found[part] = unpack(profile[part]);
    found.cluster[part] = unpack(profile.cluster[part]);
  }
  found.width = found.feature.shape[1];
  found.row = new Map();
  unpack(profile.node).forEach((node, row) => found.row.set(node, row));
  return found;
}

/** Name of an item, tidied. */
function itemName(model, item, most) {
  return tidy(model.names ? model.names[item] : `${model.noun} ${item}`, most);
}

/** What sets a node apart: up to `most` of {name, mean, low, high, overall, bits, isRate}, most telling first. */
function traits(model, k, most = 5) {
  const profile = model.profile;
  const row = profile ? profile.row.get(model.tree.node[k]) : undefined;
  if (row === undefined) return [];
  const found = [];
  for (let j = 0; j < profile.width && found.length < most; j++) {
    const at = row * profile.width + j;
    const feature = model.features[profile.feature[at]];
    if (profile.telling[at] < 0.01 || feature.overall === null) continue;
    found.push({
      name: tidy(feature.name, 40), mean: profile.mean[at], low: profile.low[at], high: profile.high[at],
      overall: feature.overall, bits: profile.telling[at], isRate: feature.is_rate,
    });
  }
  return found;
}

/** A number of a trait; rates in percent. */
function traitNumber(trait, value) {
  return trait.isRate && Number.isFinite(value) ? `${short(100 * value)} %` : short(value);
}

/** On which side of all rows a trait is. */
function traitSide(trait) {
  const [above, below] = trait.isRate ? ["often", "seldom"] : ["high", "low"];
  return trait.mean > trait.overall ? above : below;
}

/** One trait in words. */
function traitWords(trait, noun) {
  return `${traitSide(trait)} ${trait.name}: ${traitNumber(trait, trait.mean)} (all ${noun}s ${traitNumber(trait, trait.overall)})`;
}

/** Items below a node; of folded branches none. */
function itemsBelow(model, k) {
  const found = [];
  for (let place = model.tree.first[k]; place <= model.tree.last[k]; place++) {
    const item = model.tree.item[model.tree.ends[place]];
    if (item >= 0) found.push(item);
  }
  return found;
}

/**
 * What the page shows, and who wants to know when it changes.
 *
 * state.cut          probability of the cut, null for the clusters as fitted
 * state.clusters     list of {label, node (index, -1 when no branch), size, certainty, colour}, by label
 * state.clusterOf    label by node, -1 above the cut
 * state.itemLabel    label by item (Int32Array), -1 where unknown
 * state.selection    null or {node, items (Set), words}
 * state.on(what, f)  what: "cut", "select", "theme"
 */
function makeState(model) {
  const listeners = { cut: [], select: [], theme: [] };
  const state = { cut: null, selection: null, noun: model.noun };
  state.on = (what, listener) => listeners[what].push(listener);
  const tell = (what) => listeners[what].forEach((listener) => listener());
  state.setCut = (cut) => {
    state.cut = cut;
    Object.assign(state, cut === null ? fittedClusters(model) : clustersAt(model, cut));
    colourClusters(model, state);
    state.selection = null;
    tell("cut");
    tell("select");
  };
  state.selectNode = (k, called) => {
    const tree = model.tree;
    const words = called || (tree.item[k] >= 0 ? itemName(model, tree.item[k]) : `branch of ${count(tree.size[k], model.noun)}`);
    state.selection = { node: k, items: new Set(itemsBelow(model, k)), words };
    tell("select");
    say(`Selected: ${words}`);
  };
  state.selectItems = (items, words) => {
    state.selection = { node: -1, items: new Set(items), words };
    tell("select");
    say(`Selected: ${words}`);
  };
  state.selectCluster = (label) => {
    const cluster = state.clusters[label];
    const words = `cluster ${label}, ${count(cluster.size, model.noun)}`;
    if (cluster.node >= 0) state.selectNode(cluster.node, words);
    else state.selectItems(d3.range(model.n).filter((item) => state.itemLabel[item] === label), words);
  };
  state.clearSelection = () => { state.selection = null; tell("select"); say("Nothing selected"); };
  state.retheme = () => { colourClusters(model, state); tell("theme"); };
  state.setCut(null);
  return state;
}

/** Clusters by the labels of the fit. */
function fittedClusters(model) {
  const tree = model.tree;
  const sizes = unpack(model.data.clusters.size);
  const clusters = Array.from(sizes, (size, label) => ({ label, node: -1, size, certainty: model.certainty[label] }));
  for (let k = 0; k < tree.n; k++) {
    const label = tree.label[k];
    if (label >= 0 && tree.size[k] === sizes[label]) clusters[label].node = k;  // the highest such node comes last
  }
  const itemLabel = model.labels || new Int32Array(model.n).fill(-1);
  return { clusters, clusterOf: Int32Array.from(tree.label), itemLabel };
}

/** Clusters by cutting: from the root down, stop at the first node of at least this probability. */
function clustersAt(model, cut) {
  const tree = model.tree;
  const least = cut <= 0 ? -Infinity : cut >= 1 ? Infinity : Math.log(cut / (1 - cut));
  const isWhole = new Uint8Array(tree.n);
  const front = [];
  for (let k = tree.root; k >= 0; k--) {
    if (k !== tree.root && isWhole[tree.parent[k]]) { isWhole[k] = 1; continue; }
    if (tree.isEnd[k] || tree.logOdds[k] >= least) { isWhole[k] = 1; front.push(k); }
  }
  front.sort((a, b) => tree.size[b] - tree.size[a] || tree.firstItem[a] - tree.firstItem[b]);
  const clusterOf = new Int32Array(tree.n).fill(-1);
  const clusters = front.map((k, label) => ({
    label, node: k, size: tree.size[k], certainty: tree.size[k] === 1 ? 1 : probability(tree.logOdds[k]),
  }));
  front.forEach((k, label) => { clusterOf[k] = label; });
  for (let k = tree.root; k >= 0; k--) if (clusterOf[k] < 0 && isWhole[k]) clusterOf[k] = clusterOf[tree.parent[k]];
  const itemLabel = new Int32Array(model.n).fill(-1);
  for (let k = 0; k < tree.n; k++) if (tree.item[k] >= 0) itemLabel[tree.item[k]] = clusterOf[k];
  return { clusters, clusterOf, itemLabel };
}

/** A colour that stands out from the paper: on dark paper the darkest are lifted. */
function readable(colour) {
  const { l, a, b } = d3.lab(colour);
  return isDark() && l < 45 ? d3.lab(45, a, b).formatHex() : colour;
}

/** Colours from left to right, so that neighbours in the tree differ. */
function colourClusters(model, state) {
  const tree = model.tree;
  const palette = model.data.palette.map(readable);
  let rank = 0;
  const seen = new Set();
  for (const k of tree.ends) {
    const label = state.clusterOf[k];
    if (label < 0 || seen.has(label)) continue;
    seen.add(label);
    state.clusters[label].colour = palette[rank++ % palette.length];
  }
  for (const cluster of state.clusters) cluster.colour = cluster.colour || ink("mixed");
}
