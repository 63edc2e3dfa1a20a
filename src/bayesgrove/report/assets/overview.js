// The answers first: a card each, in words and with a small picture.

const MOST_SHOWN_CLUSTERS = 8;
const MOST_SHOWN_FEATURES = 8;
const TRUST_MARKS = { plain: "", good: "✓ ", bad: "✗ " };

function overviewView(host, model, state) {
  const words = model.data.summary;
  const { views } = model.data;
  const pictures = [];
  const card = (id, title, text, draw) => {
    const place = el("div", { class: "card-picture" });
    if (draw) pictures.push(() => draw(place, model, state));
    return el("div", { class: "card", id }, el("h3", { text: title }), [text].flat().map((one) => el("p", { text: tidy(one, 1500) })), draw ? place : null);
  };
  const hasHeat = tellingFeatures(model).length > 0;
  const trust = words.converged === null ? "plain" : words.converged ? "good" : "bad";
  host.append(el("div", { class: "cards" },
    views ? card("how-many-views", "How many views?", views.sentence) : null,
    card("how-many", "How many clusters?", words.how_many, hasCounts(model) ? drawCounts : null),
    card("how-sure", "How sure?", words.how_sure, model.certainty.some((value) => value >= 0) ? drawCertainties : null),
    card("which-features", "What sets them apart?", hasHeat ? [] : words.which_features, hasHeat ? drawHeat : null),
    card("trust", `${TRUST_MARKS[trust]}Can it be trusted?`, words.trust, model.data.chains ? drawAgreement : model.tree.apart ? drawApart : null),
  ));
  host.querySelector("#trust").classList.add(trust);
  if (words.log_evidence !== null) {
    host.append(el("p", { class: "note", text: `Log evidence of the model, a lower bound: ${short(words.log_evidence)}.` }));
  }
  const redraw = () => pictures.forEach((draw) => draw());
  state.on("cut", redraw);
  state.on("theme", redraw);
}

// ---- how sure

/** Certainties of the largest clusters shown now, a bar each. */
function drawCertainties(place, model, state) {
  const all = state.clusters.filter((cluster) => cluster.certainty >= 0 && cluster.size > 1);
  drawSureness(place, model, all, "Certainty of each cluster");
}

/** A bar for each of the largest of some clusters, as long as its certainty. */
function drawSureness(place, model, all, label) {
  const largest = all.slice().sort((a, b) => b.size - a.size || a.label - b.label).slice(0, MOST_SHOWN_CLUSTERS);
  const rows = largest.map((cluster) => el("li", {}, el("span", { text: cluster.label }), certaintyBar(cluster, model.noun)));
  const left = all.length - largest.length;
  place.replaceChildren(
    el("ol", { class: "certainties", "aria-label": label }, rows),
    left > 0 ? el("p", { class: "note", text: `and ${count(left, "smaller cluster")}` }) : "",
  );
}

// ---- what sets clusters apart

/** The features that tell most about all fitted clusters together, weighted by their sizes. */
function tellingFeatures(model) {
  const profile = model.profile && model.profile.cluster;
  const width = model.features.length;
  if (!profile || width === 0 || profile.mean.length < 2 * width) return [];
  const sizes = unpack(model.data.clusters.size);
  const told = d3.range(width).map((j) => d3.sum(d3.range(profile.mean.length / width), (k) => sizes[k] * Math.max(0, profile.telling[k * width + j] || 0)));
  const known = d3.range(width).filter((j) => told[j] >= 0.01 * model.n && model.features[j].overall !== null);
  return known.sort((a, b) => told[b] - told[a]).slice(0, MOST_SHOWN_FEATURES);
}

/** Fitted clusters from left to right, features from top to bottom: how far each mean lies from that of all rows. */
function drawHeat(place, model) {
  const profile = model.profile.cluster;
  const width = model.features.length;
  const features = tellingFeatures(model);
  const clusters = d3.range(Math.min(MOST_SHOWN_CLUSTERS, profile.mean.length / width));
  const cell = (k, j) => heatCell(model, profile.mean[k * width + j], model.features[j], j, k);
  const head = el("tr", {}, el("td"), clusters.map((k) => el("th", { scope: "col", text: k })));
  const body = features.map((j) => el("tr", {}, el("th", { scope: "row", title: tidy(model.features[j].name, 200) }, el("bdi", { text: tidy(model.features[j].name, 40) })), clusters.map((k) => cell(k, j))));
  const more = unpack(model.data.clusters.size).length - clusters.length;
  const key = el("p", { class: "note" }, heatKey(1), "above ", heatKey(-1), `below the mean of all ${model.noun}s`, more > 0 ? `; ${count(more, "more cluster")} below` : "");
  place.replaceChildren(el("table", { class: "heat", "aria-label": "Mean of each cluster by feature" }, el("thead", {}, head), el("tbody", {}, body)), key);
}

function heatCell(model, mean, feature, j, cluster) {
  const words = `${Number.isFinite(mean) ? traitNumber({ isRate: feature.is_rate }, mean) : "no value"}, all ${model.noun}s ${traitNumber({ isRate: feature.is_rate }, feature.overall)}`;
  const made = el("td", { "data-cluster": cluster }, el("span", { class: "unseen", text: words }));
  made.style.backgroundColor = heatColour(heatShare(model, mean, feature, j));
  made.addEventListener("pointermove", (event) => showTip(event, [`cluster ${cluster}: ${tidy(feature.name, 60)}`, words]));
  made.addEventListener("pointerleave", () => showTip(null, null));
  return made;
}

/** Distance of a mean from that of all rows, as a share of the greatest among the clusters; of rates, of the whole. */
function heatShare(model, mean, feature, j) {
  if (!Number.isFinite(mean)) return 0;
  if (feature.is_rate) return mean - feature.overall;
  const profile = model.profile.cluster;
  const width = model.features.length;
  const most = d3.max(d3.range(j, profile.mean.length, width), (i) => Math.abs(profile.mean[i] - feature.overall));
  return most > 0 ? (mean - feature.overall) / most : 0;
}

function heatColour(share) {
  return d3.interpolateRgb(ink("paper"), ink(share > 0 ? "above" : "below"))(Math.sqrt(Math.abs(share)));
}

function heatKey(share) {
  const made = el("span", { class: "swatch", "aria-hidden": "true" });
  made.style.backgroundColor = heatColour(share);
  return made;
}

// ---- trust

/** How often the largest clusters shown now stay apart from their neighbours in the tree, a bar each. */
function drawApart(place, model, state) {
  const { tree } = model;
  const shown = state.clusters.filter((cluster) => cluster.node >= 0 && cluster.node !== tree.root && cluster.size > 1);
  const sides = shown.map((cluster) => ({ ...cluster, certainty: tree.apart[tree.parent[cluster.node]] })).filter((side) => side.certainty > 0);
  const words = "how often a cluster stays apart from its neighbour in the tree";
  drawSureness(place, model, sides, words);
  if (sides.length) place.append(el("p", { class: "note", text: words }));
}

/** The log joint, or the first scalar there is, draw by draw with a line for each chain: chains that agree overlap. */
function drawAgreement(place, model) {
  const { scalars } = model.data.chains;
  const scalar = scalars.find((one) => one.name === "log_joint") || scalars[0];
  if (!scalar) return;
  const values = unpack(scalar.values);
  const [chains, draws] = values.shape;
  const label = `${tidy(scalar.name, 40)} by draw, a line for each chain`;
  const figure = makeFigure(place, { height: 76, label, margin: { left: 2, right: 2, top: 4, bottom: 4 } });
  const ranges = innerRanges(figure);
  const x = d3.scaleLinear([0, Math.max(1, draws - 1)], ranges.x);
  const y = d3.scaleLinear(domainOf(values), ranges.y);
  const path = d3.line((_, i) => x(i), (value) => y(value)).defined((value) => Number.isFinite(value));
  for (let k = 0; k < chains; k++) {
    const look = seriesLook(model, k);
    figure.svg.append("path").attr("class", "series agreement").attr("d", path(Array.from(values.subarray(k * draws, (k + 1) * draws)))).attr("stroke", look.colour);
  }
  place.append(el("p", { class: "note", text: label }));
}
