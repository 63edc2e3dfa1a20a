// Whether the chains can be trusted: the verdict, the numbers it rests on, traces and ranks.

const FAULTS = {
  mean: "took values that are not finite", r_hat: "r_hat too high", ess_bulk: "too few effective draws", mcse: "standard error too large",
};
const VERDICTS = {
  "trusted": "✓ No sign of trouble", "partly trusted": "✗ Some statements are not to be trusted yet", "not trusted": "✗ Not to be trusted yet",
};
const chainsShown = { scalar: "log_joint", focus: null, order: { key: null, isUp: true } };  // kept when a live page is built anew
const CHAIN_COLUMNS = [
  { key: "mean", name: "mean", format: short },
  { key: "sd", name: "sd", format: short },
  { key: "r_hat", name: "r_hat", format: (value) => (value > 100 ? ">100" : value.toFixed(3)) },
  { key: "ess_bulk", name: "bulk ESS", format: (value) => Math.round(value).toLocaleString("en") },
  { key: "ess_tail", name: "tail ESS", format: (value) => Math.round(value).toLocaleString("en") },
  { key: "mcse", name: "MCSE", format: short },
];

function chainsView(host, model, state) {
  const { chains } = model.data;
  host.append(verdictBox(chains));
  if (chains.distance) host.append(el("p", { class: "distance", text: tidy(chains.distance, 600) }));
  if (chains.scalars.length > 0) scalarsView(host, model, state);
  diagnosticsTable(host, model);
}

function verdictBox(chains) {
  const drawn = `${count(chains.n_chains, "chain")} of ${count(chains.n_draws, "draw")}`;
  return el("div", { class: `verdict ${chains.converged ? "good" : "bad"}` },
    el("p", { class: "verdict-word", text: VERDICTS[chains.status] }),
    el("p", { text: tidy(chains.verdict, 1500) }),
    el("p", { class: "note", text: `${drawn}. Rules: chains differ no more than chance explains (5 % false alarms for all scalars together); a bulk effective sample size (ESS) of at least 400; pairs known to .05.` }),
  );
}

// Table

/** What is wrong with a row of the table by the rules of the verdict, by column; empty when nothing is. */
function rowFaults(row) {
  return Object.fromEntries(row.faults.map((column) => [column, FAULTS[column]]));
}

function diagnosticsTable(host, model) {
  const { chains } = model.data;
  const body = el("tbody");
  const { order } = chainsShown;
  const heads = [{ key: "name", name: "scalar" }, ...CHAIN_COLUMNS].map((column) => sortHead(column, order, () => fill()));
  const fill = () => {
    body.replaceChildren(...sortedRows(chains.table, order).map((row) => diagnosticsRow(row, model)));
    for (const head of heads) head.refresh();
  };
  fill();
  const broken = chains.table.filter((row) => Object.keys(rowFaults(row)).length > 0).length;
  const words = broken ? `${broken} of ${count(chains.table.length, "scalar")} break a rule (marked ✗).` : `All ${count(chains.table.length, "scalar")} keep the rules (marked ✓).`;
  host.append(
    el("h3", { text: "Diagnostics" }),
    el("p", { class: "note", text: `${words} “together[i,j]” is 1 in draws in which ${chains.item}s i and j are in one ${chains.group}; “distance[c]” is the share of pairs on which a draw differs from the last draw of chain c. MCSE is the standard error of the mean, which a longer run makes smaller.` }),
    el("div", { class: "scroll diagnostics", tabindex: 0, role: "region", "aria-label": "Table of diagnostics" },
      el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => head.cell), el("th", { scope: "col", text: "remark" }))), body)),
  );
}

/** A column's head that sorts by it, first one way and then the other. */
function sortHead(column, order, changed) {
  const isNumber = column.key !== "name";
  const button = el("button", { type: "button", class: "order-by", text: column.name });
  const cell = el("th", { scope: "col", class: isNumber ? "number" : null }, button);
  button.addEventListener("click", () => {
    order.isUp = order.key === column.key ? !order.isUp : !isNumber;
    order.key = column.key;
    changed();
  });
  const refresh = () => {
    const isOwn = order.key === column.key;
    cell.setAttribute("aria-sort", isOwn ? (order.isUp ? "ascending" : "descending") : "none");
    button.textContent = `${column.name}${isOwn ? (order.isUp ? " ▴" : " ▾") : ""}`;
  };
  return { cell, refresh };
}

/** Rows in order; missing numbers last, either way. */
function sortedRows(rows, { key, isUp }) {
  if (key === null) return rows;
  const compare = isUp ? d3.ascending : d3.descending;
  return rows.slice().sort((a, b) => (a[key] === null) - (b[key] === null) || compare(a[key], b[key]));
}

function diagnosticsRow(row, model) {
  const faults = rowFaults(row);
  const fault = Object.values(faults).join(", ");
  const sign = fault ? "✗" : row.state ? "·" : "✓";
  const name = el("th", { scope: "row", title: row.pair && row.pair.map((name) => tidy(name)).join(" and ") }, el("span", { class: `sign ${fault ? "bad" : "good"}`, "aria-hidden": "true", text: sign }), ` ${tidy(row.name, 60)}`);
  const cells = CHAIN_COLUMNS.map(({ key, format }) => el("td", { class: faults[key] ? "number fault" : "number", text: row[key] === null ? "–" : format(row[key]) }));
  return el("tr", { class: fault ? "broken" : null }, name, cells, el("td", { text: fault || tidy(row.state, 40) }));
}

// Traces and ranks of one scalar

function scalarsView(host, model, state) {
  const scalars = orderedScalars(model);
  const box = el("select", { id: "scalar" }, scalars.map((scalar, k) => el("option", { value: k, selected: scalar.name === chainsShown.scalar, text: tidy(scalar.name, 60) })));
  const keys = el("div", { class: "chain-keys", role: "group", "aria-label": "Chain in front" });
  const trace = el("div", { class: "trace-figure" });
  const ranks = el("div", { class: "rank-figure" });
  host.append(
    el("div", { class: "tools" }, el("label", { for: "scalar", text: "Scalar" }), box, keys),
    el("div", { class: "side-by-side" },
      el("div", {}, el("h3", { text: "Trace" }), el("p", { class: "note", text: "Chains that explore the same distribution look alike: they overlap from beginning to end, without steps or drift." }), trace),
      el("div", {}, el("h3", { text: "Ranks" }), el("p", { class: "note", text: ranksNote(model) }), ranks)),
  );
  const draw = () => {
    const scalar = scalars[Number(box.value)];
    chainsShown.scalar = scalar.name;
    const series = chainSeries(model, scalar);
    const focus = chainsShown.focus < series.length ? chainsShown.focus : null;
    seriesKeys(keys, series, focus, (k) => { chainsShown.focus = k; draw(); });
    drawTrace(trace, scalar, series, focus);
    drawRanks(ranks, scalar, series, focus);
  };
  box.addEventListener("change", draw);
  state.on("theme", draw);
  state.on("cut", () => { if (!trace.firstChild) draw(); });  // the first news says that the page is laid out
}

/** The log joint density first: it is what most say of a chain. */
function orderedScalars(model) {
  const scalars = model.data.chains.scalars.map((scalar) => ({
    name: scalar.name, draws: unpack(scalar.draws), values: unpack(scalar.values), ranks: unpack(scalar.ranks),
  }));
  return scalars.sort((a, b) => (b.name === "log_joint") - (a.name === "log_joint"));
}

function chainSeries(model, { values, ranks }) {
  const [chains, draws] = values.shape;
  const bins = ranks.shape[1];
  return d3.range(chains).map((chain) => ({
    name: `chain ${chain}`,
    values: values.subarray(chain * draws, (chain + 1) * draws),
    ranks: ranks.subarray(chain * bins, (chain + 1) * bins),
    ...seriesLook(model, chain),
  }));
}

function drawTrace(place, scalar, series, focus) {
  lineFigure(place, {
    x: Array.from(scalar.draws), series, focus, height: 270, xLabel: "draw", yLabel: scalar.name,
    label: `Trace of ${tidy(scalar.name)}: ${series.map((one) => `${one.name} mean ${short(d3.mean(one.values))}`).join(", ")}`,
    title: (k) => `draw ${scalar.draws[k].toLocaleString("en")}`,
  });
}

function ranksNote(model) {
  if (model.data.chains.n_chains < 2) return "Ranks compare chains with each other; there is only one.";
  return "All draws are ranked together. Where chains agree, each has its share of draws at every rank: bars stay near the line. Bars beyond the "
    + "shaded band (two standard deviations of independent draws) at one end say that a chain is too high or too low.";
}

/** A panel per chain: draws per bin of ranks, from the level that is expected when chains agree. */
function drawRanks(place, scalar, series, focus) {
  place.replaceChildren();
  if (series.length < 2) return;
  const levels = expectedRanks(series);
  const top = d3.max([...series.flatMap((one) => Array.from(one.ranks)), ...levels.map((level) => level.high)]);
  for (const [k, one] of series.entries()) {
    const panel = el("div", { class: "rank-panel" });
    place.append(panel);
    rankPanel(panel, one, levels, top, scalar.name, focus !== null && focus !== k);
  }
}

/**
 * Expected number of a chain's draws per bin, and two standard deviations of the binomial distribution around it.
 *
 * A bin's share is taken from all chains: for a scalar of many values that is one in so many bins, and for one with
 * ties, such as the number of clusters, it is what chains that agree would have.
 */
function expectedRanks(series) {
  return d3.range(series[0].ranks.length).map((bin) => {
    const draws = d3.sum(series[0].ranks);
    const mean = d3.mean(series, (one) => one.ranks[bin]);
    const sd = draws ? Math.sqrt(mean * (1 - mean / draws)) : 0;
    return { mean, low: Math.max(0, mean - 2 * sd), high: mean + 2 * sd };
  });
}

function rankPanel(panel, one, levels, top, name, isBack) {
  const far = levels.filter((level, k) => one.ranks[k] < level.low || one.ranks[k] > level.high).length;
  const figure = makeFigure(panel, { height: 140, label: `Ranks of ${tidy(name)}, ${one.name}: ${far} of ${levels.length} bars beyond the band`, margin: { top: 18, bottom: 36, left: 44 } });
  const ranges = innerRanges(figure);
  const x = d3.scaleLinear([0, levels.length], ranges.x);
  const y = d3.scaleLinear([0, top], ranges.y).nice();
  const step = d3.curveStepAfter;
  const ends = [...levels, levels[levels.length - 1]];
  figure.svg.append("path").attr("class", "band").attr("d", d3.area((_, k) => x(k), (level) => y(level.low), (level) => y(level.high)).curve(step)(ends));
  figure.svg.selectAll(null).data(one.ranks).join("rect").attr("class", "rank").classed("back", isBack).attr("fill", one.colour)
    .attr("x", (_, k) => x(k) + 0.5).attr("width", Math.max(1, x(1) - x(0) - 1))
    .attr("y", (value, k) => y(Math.max(value, levels[k].mean)))
    .attr("height", (value, k) => Math.max(1, Math.abs(y(value) - y(levels[k].mean))))
    .on("pointermove", (event, value) => showTip(event, [one.name, `${count(value, "draw")} of these ranks`]))
    .on("pointerleave", () => showTip(null, null));
  figure.svg.append("path").attr("class", "level").attr("d", d3.line((_, k) => x(k), (level) => y(level.mean)).curve(step)(ends));
  drawAxes(figure, x, y, {
    xLabel: "rank, low to high", yLabel: "draws",
    xAxis: d3.axisBottom(x).tickValues([]).tickSizeOuter(0), yAxis: d3.axisLeft(y).ticks(3).tickSizeOuter(0),
  });
  figure.svg.append("text").attr("class", "mark").attr("x", figure.margin.left).attr("y", 12).text(one.name);
}
