// The clusters shown now, one row each: how large, how sure, what sets them apart, who is in them; their labels as a file.

const FEW_CLUSTERS = 50;
const MANY_CLUSTERS = 1000;
const FEW_TRAITS = 5;
const MOST_TRAITS = 300;
const FEW_EXAMPLES = 4;

const CLUSTER_COLUMNS = [
  { name: "Cluster", key: (cluster) => cluster.label, isNumber: false },
  { name: null, key: (cluster) => -cluster.size, isNumber: true },  // its name is what is clustered
  { name: "Certainty", key: (cluster) => -(cluster.certainty >= 0 ? cluster.certainty : -1), isNumber: false, title: "Probability that what is in the cluster belongs together" },
  { name: "What sets it apart", key: null },
  { name: "Examples", key: null },
];

let clusterOrder = { sortBy: 0, isReversed: false };  // kept when a page that follows a run is built anew

function clustersView(host, model, state) {
  const view = { model, state, order: clusterOrder, most: FEW_CLUSTERS, opened: new Set(), touched: new Map(), ranges: featureRanges(model) };
  view.body = el("tbody");
  view.heads = clusterHeads(view);
  view.more = el("button", { type: "button", id: "more-clusters" });
  view.more.addEventListener("click", () => { view.most = moreClusters(view); fillClusters(view); });
  host.append(
    el("div", { class: "scroll" }, el("table", { id: "cluster-table" }, el("thead", {}, el("tr", {}, view.heads)), view.body)),
    view.more,
    downloadRow(model, state),
    el("p", { class: "note", text: clusterNote(model) }),
  );
  state.on("cut", () => { view.opened.clear(); view.most = FEW_CLUSTERS; prepareClusters(view); fillClusters(view); });
  state.on("select", () => markClusters(view));
  state.on("theme", () => fillClusters(view));
}

function clusterNote(model) {
  const sure = model.tree.logOdds
    ? `Certainty: as fitted, the mean probability that two ${model.noun}s of a cluster are together; at a cut, the probability that the branch is one cluster. `
    : "";
  if (!model.profile) return `${sure}Nothing is known of the columns: this model keeps no table.`;
  const rows = model.profile.nRows < model.n ? ` They were computed from ${count(model.profile.nRows, model.noun)} of ${grouped(model.n)}.` : "";
  return sure + `Bars: the mean of the cluster (dot) with its 95 % interval (band) against the mean of all ${model.noun}s (upright line), ` +
    "on the range of all clusters; for a category, its share. Profiles are conditional on these labels: they do not average over other ways to " +
    `divide the ${model.noun}s, and other columns may differ too.${rows}`;
}

// ---- order

function clusterHeads(view) {
  return CLUSTER_COLUMNS.map((column, i) => {
    const kind = column.isNumber ? "number" : null;
    if (!column.key) return el("th", { scope: "col", text: column.name });
    const button = el("button", { type: "button", class: "sort", text: column.name || headNoun(view.model.noun), title: column.title });
    button.addEventListener("click", () => {
      const { sortBy, isReversed } = view.order;
      view.order = clusterOrder = { sortBy: i, isReversed: sortBy === i && !isReversed };
      fillClusters(view);
    });
    return el("th", { scope: "col", class: kind }, button);
  });
}

/** Large, sure and low-numbered first; a second click turns that round. */
function sortedClusters(view) {
  const key = CLUSTER_COLUMNS[view.order.sortBy].key;
  const sign = view.order.isReversed ? -1 : 1;
  return view.state.clusters.slice().sort((a, b) => sign * (key(a) - key(b)) || a.label - b.label);
}

function showOrder(view) {
  view.heads.forEach((head, i) => {
    if (!CLUSTER_COLUMNS[i].key) return;
    const isDown = (i === 0) === view.order.isReversed;  // numbers of clusters begin with the least, the others with the greatest
    head.setAttribute("aria-sort", i !== view.order.sortBy ? "none" : isDown ? "descending" : "ascending");
  });
}

// ---- rows

/** What rows need that depends on the cut only: a few members of each cluster, from the top of the tree. */
function prepareClusters(view) {
  const { model, state } = view;
  view.members = state.clusters.map(() => []);
  for (const k of model.tree.ends) {
    const label = model.tree.item[k] >= 0 ? state.clusterOf[k] : -1;
    if (label >= 0 && view.members[label].length < FEW_EXAMPLES) view.members[label].push(model.tree.item[k]);
  }
}

function moreClusters(view) {
  return view.state.clusters.length <= MANY_CLUSTERS ? MANY_CLUSTERS : view.most + MANY_CLUSTERS / 2;
}

function fillClusters(view) {
  const { state } = view;
  const order = sortedClusters(view);
  // A few clusters that hold the selection are shown wherever they stand.
  const isAsked = (cluster) => view.touched.size <= FEW_CLUSTERS && view.touched.has(cluster.label);
  const shown = order.filter((cluster, i) => i < view.most || isAsked(cluster));
  view.rows = new Map();
  view.body.replaceChildren(...shown.flatMap((cluster) => clusterRows(view, cluster)));
  const left = state.clusters.length - shown.length;
  view.more.hidden = left === 0;
  const all = grouped(state.clusters.length);
  view.more.textContent = state.clusters.length <= MANY_CLUSTERS ? `show all ${all} clusters` : `show ${MANY_CLUSTERS / 2} more of ${all} clusters`;
  view.body.parentNode.dataset.clusters = state.clusters.length;
  showOrder(view);
  showMarks(view);
}

function clusterRows(view, cluster) {
  const row = el("tr", { tabindex: 0, "data-label": cluster.label },
    el("th", { scope: "row" }, swatch(cluster.colour), ` ${cluster.label}`),
    el("td", { class: "number" }, el("span", { text: grouped(cluster.size) }), el("span", { class: "part" })),
    el("td", {}, certaintyBar(cluster, view.model.noun)),
    el("td", {}, traitCell(view, cluster)),
    el("td", { class: "examples" }, exampleWords(view, cluster)),
  );
  row.addEventListener("click", (event) => { if (!event.target.closest("button")) chooseCluster(view, cluster.label); });
  row.addEventListener("keydown", (event) => pressInRow(view, row, cluster.label, event));
  view.rows.set(cluster.label, row);
  return view.opened.has(cluster.label) ? [row, detailRow(view, cluster)] : [row];
}

function pressInRow(view, row, label, event) {
  if (event.target !== row) return;
  const rows = Array.from(view.rows.values());
  const to = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (to) (rows[rows.indexOf(row) + to] || row).focus();
  else if (event.key === "Enter" || event.key === " ") chooseCluster(view, label);
  else return;
  event.preventDefault();
}

/** Select a cluster; the chosen one again clears. */
function chooseCluster(view, label) {
  if (view.rows.get(label).classList.contains("chosen")) view.state.clearSelection();
  else view.state.selectCluster(label);
}

function swatch(colour) {
  const made = el("span", { class: "swatch", "aria-hidden": "true" });
  made.style.backgroundColor = colour;
  return made;
}

function certaintyBar(cluster, noun) {
  const known = cluster.certainty >= 0 && cluster.size > 1;
  if (!known) return el("span", { class: "soft", text: cluster.size === 1 ? `one ${noun}` : "–" });
  const svg = d3.create("svg:svg").attr("class", "certainty").attr("viewBox", "0 0 60 10").attr("aria-hidden", "true");
  svg.append("rect").attr("class", "ground").attr("width", 60).attr("height", 10).attr("rx", 2);
  svg.append("rect").attr("width", 60 * cluster.certainty).attr("height", 10).attr("rx", 2).attr("fill", cluster.colour);
  return el("span", { class: "sure" }, svg.node(), ` ${chance(cluster.certainty)}`);
}

function exampleWords(view, cluster) {
  const names = view.members[cluster.label].map((item) => el("bdi", { text: itemName(view.model, item, 24) }));
  const parts = names.flatMap((name, i) => (i ? [", ", name] : [name]));
  return names.length && cluster.size > names.length ? [...parts, ", …"] : parts;
}

// ---- what sets clusters apart

/** Fitted clusters know all their features; branches only the most telling. */
function clusterTraits(view, cluster, most) {
  const { model, state } = view;
  const label = state.cut === null ? cluster.label : fittedLabel(view, cluster);
  const profile = model.profile && model.profile.cluster;
  const width = model.features.length;
  if (!profile || label < 0 || (label + 1) * width > profile.mean.length) return cluster.node < 0 ? [] : traits(model, cluster.node, most);
  const at = d3.range(label * width, (label + 1) * width).filter((i) => profile.telling[i] >= 0 || most > FEW_TRAITS);
  at.sort((a, b) => d3.descending(profile.telling[a], profile.telling[b]));
  const isTold = (i) => most > FEW_TRAITS || profile.telling[i] >= 0.01;
  return at.filter((i) => isTold(i) && model.features[i - label * width].overall !== null).slice(0, most).map((i) => {
    const feature = model.features[i - label * width];
    return {
      name: tidy(feature.name, 40), mean: profile.mean[i], low: profile.low[i], high: profile.high[i],
      overall: feature.overall, bits: profile.telling[i], isRate: feature.is_rate,
    };
  });
}

/** The fitted cluster with the same rows, or -1. */
function fittedLabel(view, cluster) {
  const tree = view.model.tree;
  const label = cluster.node < 0 ? -1 : tree.label[cluster.node];
  view.fittedSizes = view.fittedSizes || unpack(view.model.data.clusters.size);
  return label >= 0 && view.fittedSizes[label] === cluster.size ? label : -1;
}

/** Least and greatest end of the intervals of each feature, by its tidied name: bars of a feature share a scale. */
function featureRanges(model) {
  const ranges = new Map();
  const profile = model.profile && model.profile.cluster;
  const width = model.features.length;
  model.features.forEach((feature, j) => {
    let [low, high] = [feature.overall, feature.overall];
    for (let i = j; profile && i < profile.mean.length; i += width) {
      if (profile.low[i] < low) low = profile.low[i];
      if (profile.high[i] > high) high = profile.high[i];
    }
    ranges.set(tidy(feature.name, 40), [low, high]);
  });
  return ranges;
}

function traitCell(view, cluster) {
  const found = clusterTraits(view, cluster, FEW_TRAITS);
  if (!found.length) return el("span", { class: "soft", text: cluster.size === 1 || !view.model.profile ? "–" : "no feature stands out" });
  const list = el("ul", { class: "traits" }, found.map((trait) => traitLine(view, trait, cluster.colour)));
  const isOpen = view.opened.has(cluster.label);
  const button = el("button", { type: "button", class: "open", "aria-expanded": String(isOpen), text: isOpen ? "fewer" : "all known", "aria-label": `All known features of cluster ${cluster.label}` });
  button.addEventListener("click", () => toggleDetail(view, cluster.label));
  return [list, button];
}

function toggleDetail(view, label) {
  if (!view.opened.delete(label)) view.opened.add(label);
  fillClusters(view);
  view.rows.get(label).querySelector(".open").focus();
}

function traitLine(view, trait, colour) {
  const interval = `95 % interval ${traitNumber(trait, trait.low)} to ${traitNumber(trait, trait.high)}, all ${view.model.noun}s ${traitNumber(trait, trait.overall)}`;
  return el("li", { title: interval },
    el("span", { class: "side", "aria-hidden": "true", text: trait.isRate ? "" : trait.mean > trait.overall ? "▲" : "▼" }),
    el("span", { class: "unseen", text: `${traitSide(trait)} ` }),
    el("bdi", { class: "trait", text: trait.name }),
    intervalBar(view, trait, colour),
    el("span", { class: "mean", text: traitNumber(trait, trait.mean) }),
    el("span", { class: "unseen", text: `, ${interval}` }),
  );
}

/** Interval and mean of a trait against the mean of all rows; a rate is the filled share of the whole. */
function intervalBar(view, trait, colour) {
  const ends = d3.extent([...(view.ranges.get(trait.name) || []), trait.low, trait.mean, trait.high, trait.overall]);  // some may be NaN
  const x = d3.scaleLinear(trait.isRate ? [0, 1] : ends, [3, 77]).clamp(true);
  const svg = d3.create("svg:svg").attr("class", "interval").attr("viewBox", "0 0 80 14").attr("aria-hidden", "true");
  svg.append("line").attr("class", "ground").attr("x1", 0).attr("x2", 80).attr("y1", 7).attr("y2", 7);
  if (trait.isRate && Number.isFinite(trait.mean)) {
    svg.append("rect").attr("x", x(0)).attr("width", Math.max(1, x(trait.mean) - x(0))).attr("y", 2).attr("height", 10).attr("rx", 2).attr("fill", colour);
  } else if (trait.high >= trait.low) {
    svg.append("rect").attr("x", x(trait.low)).attr("width", Math.max(2, x(trait.high) - x(trait.low))).attr("y", 4).attr("height", 6).attr("rx", 2).attr("fill", colour).attr("opacity", 0.55);
  }
  svg.append("line").attr("class", "overall").attr("x1", x(trait.overall)).attr("x2", x(trait.overall)).attr("y1", 0).attr("y2", 14);
  if (!trait.isRate && Number.isFinite(trait.mean)) svg.append("circle").attr("cx", x(trait.mean)).attr("cy", 7).attr("r", 3).attr("fill", colour);
  return svg.node();
}

function detailRow(view, cluster) {
  const found = clusterTraits(view, cluster, MOST_TRAITS), { noun } = view.model;
  const cell = (text) => el("td", { class: "number", text });
  const rows = found.map((trait) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", { text: trait.name })),
    el("td", {}, intervalBar(view, trait, cluster.colour)),
    cell(traitNumber(trait, trait.mean)),
    cell(`${traitNumber(trait, trait.low)} to ${traitNumber(trait, trait.high)}`),
    cell(traitNumber(trait, trait.overall)),
    cell(short(trait.bits)),
  ));
  const heads = ["Feature", "", "Mean", "95 % interval", `All ${noun}s`, `Bits per ${noun}`];
  const table = el("table", { class: "detail" },
    el("thead", {}, el("tr", {}, heads.map((text, i) => el("th", { scope: "col", class: i > 1 ? "number" : null, text })))),
    el("tbody", {}, rows));
  return el("tr", { class: "detail-row", "data-detail": cluster.label }, el("td", { colspan: CLUSTER_COLUMNS.length }, table));
}

// ---- selection

/** How many selected rows lie in each cluster. */
function touchedClusters(model, state) {
  const touched = new Map();
  if (state.selection === null) return touched;
  const { node, items } = state.selection;
  const add = (label, n) => { if (label >= 0) touched.set(label, (touched.get(label) || 0) + n); };
  if (node >= 0) {
    const tree = model.tree;
    for (let place = tree.first[node]; place <= tree.last[node]; place++) add(state.clusterOf[tree.ends[place]], tree.size[tree.ends[place]]);
  } else {
    for (const item of items) add(state.itemLabel[item], 1);
  }
  return touched;
}

function markClusters(view) {
  view.touched = touchedClusters(view.model, view.state);
  const isMissing = view.touched.size <= FEW_CLUSTERS && Array.from(view.touched.keys()).some((label) => !view.rows.has(label));
  if (isMissing) fillClusters(view);
  else showMarks(view);
}

function showMarks(view) {
  const only = view.touched.size === 1;
  for (const [label, row] of view.rows) {
    const n = view.touched.get(label) || 0;
    const size = view.state.clusters[label].size;
    row.classList.toggle("touched", n > 0);
    row.classList.toggle("chosen", only && n === size);
    if (only && n === size) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    row.querySelector(".part").textContent = n > 0 && n < size ? `${grouped(n)} selected` : "";
  }
}

// ---- labels as a file

function downloadRow(model, state) {
  const button = el("button", { type: "button", id: "download-labels", text: "Download labels (CSV)" });
  const words = el("span", { class: "note" });
  button.disabled = model.labels === null;
  button.addEventListener("click", () => download("labels.csv", labelsFile(model, state), "text/csv;charset=utf-8"));
  state.on("cut", () => {
    const at = state.cut === null ? "as fitted" : `at probability ${cutWords(state.cut)}`;
    words.textContent = model.labels === null
      ? `This page holds no labels of single ${model.noun}s: the fit has more than 20,000 (${grouped(model.n)}).`
      : `${count(model.n, model.noun)}, ${count(state.clusters.length, "cluster")} ${at}.`;
  });
  return el("p", { class: "download" }, button, " ", words);
}

/** row (or tree),name,cluster of the cut shown now. */
function labelsFile(model, state) {
  const lines = [`${model.noun},name,cluster`];
  for (let item = 0; item < model.n; item++) {
    lines.push(`${item},${csvCell(model.names ? model.names[item] : `${model.noun} ${item}`)},${state.itemLabel[item]}`);
  }
  return lines.join("\n") + "\n";
}
