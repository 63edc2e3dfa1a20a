// Figures with axes, drawn by D3 as SVG: lines and bars of any origin.

const LETTER = 7.5;  // pixels of a letter in the name of an axis
const MOST_TIP_SERIES = 12;
const DASHES = [null, "6 3", "2 3", "8 3 2 3"];  // after the palette's colours are used up

/** A colour of the palette with enough contrast for thin lines on the paper of now. */
function lineColour(colour) {
  const made = d3.hcl(colour);
  made.l = isDark() ? Math.max(made.l, 58) : Math.min(made.l, 62);
  return made.formatHex();
}

/** Colour and dashes of the k-th series. */
function seriesLook(model, k) {
  const palette = model.data.palette;
  return { colour: lineColour(palette[k % palette.length]), dash: DASHES[Math.floor(k / palette.length) % DASHES.length] };
}

/** Ends of some numbers with a little air; of none, or of one number many times, ends that differ. */
function domainOf(values, air = 0.04) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return [0, 1];
  const pad = high > low ? air * (high - low) : Math.abs(high) * 0.1 || 1;
  return [low - pad, high + pad];
}

/** An empty figure as wide as its host, up to `most`; what was there before is gone. */
function makeFigure(host, { height, label, most = 1180, margin }) {
  const width = Math.max(160, Math.min(most, host.clientWidth));
  const svg = d3.create("svg").attr("class", "figure").attr("width", width).attr("height", height)
    .attr("role", "img").attr("aria-label", label);
  host.replaceChildren(svg.node());
  return { svg, width, height, margin: { left: 58, right: 12, top: 10, bottom: 44, ...margin } };
}

/** Ranges of the inner part of a figure. */
function innerRanges({ width, height, margin }) {
  return { x: [margin.left, width - margin.right], y: [height - margin.bottom, margin.top] };
}

/** Pixels to the left of an axis for its numbers and its name. */
function roomForTicks(scale) {
  const format = scale.tickFormat(6);
  return 34 + longestName(scale.ticks(6).map(format));
}

/** Both axes and what they are called. */
function drawAxes(figure, x, y, { xLabel, yLabel, xAxis, yAxis }) {
  const { svg, width, height, margin } = figure;
  const across = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`);
  across.call(xAxis || d3.axisBottom(x).ticks(Math.max(2, Math.round(width / 90))).tickSizeOuter(0));
  const up = svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`);
  up.call(yAxis || d3.axisLeft(y).ticks(Math.max(2, Math.round(height / 50))).tickSizeOuter(0));
  svg.append("text").attr("class", "axis-label").attr("text-anchor", "middle")
    .attr("x", (margin.left + width - margin.right) / 2).attr("y", height - 6).text(tidy(xLabel, Math.floor(width / LETTER)));
  svg.append("text").attr("class", "axis-label").attr("text-anchor", "middle")
    .attr("transform", `translate(13,${(margin.top + height - margin.bottom) / 2}) rotate(-90)`).text(tidy(yLabel, Math.floor(height / LETTER)));
}

/**
 * Lines over one axis. spec: x (numbers), series (list of {name, values, colour, dash}), xLabel, yLabel, label, height,
 * focus (number of the series in front, or null), title(k) (first line of the tip at place k).
 */
function lineFigure(host, spec) {
  const figure = makeFigure(host, spec);
  const y = d3.scaleLinear(domainOf(spec.series.flatMap((one) => Array.from(one.values))), innerRanges(figure).y).nice();
  figure.margin.left = roomForTicks(y);
  const x = d3.scaleLinear(domainOf(spec.x, 0), innerRanges(figure).x);
  drawAxes(figure, x, y, spec);
  const path = d3.line((_, k) => x(spec.x[k]), (value) => y(value)).defined((value, k) => Number.isFinite(value) && Number.isFinite(spec.x[k]));
  const order = d3.range(spec.series.length).sort((a, b) => (a === spec.focus) - (b === spec.focus));
  for (const k of order) {
    const { values, colour, dash } = spec.series[k];
    const isBack = spec.focus !== null && spec.focus !== undefined && k !== spec.focus;
    figure.svg.append("path").attr("class", "series").classed("back", isBack).attr("d", path(Array.from(values)))
      .attr("stroke", colour).attr("stroke-dasharray", dash);
    // A line needs two points next to each other; a lone one would not be seen.
    const lone = d3.range(values.length).filter((i) => Number.isFinite(values[i]) && !Number.isFinite(values[i - 1]) && !Number.isFinite(values[i + 1]));
    figure.svg.selectAll(null).data(lone).join("circle").attr("r", 3).attr("fill", colour)
      .attr("cx", (i) => x(spec.x[i])).attr("cy", (i) => y(values[i]));
  }
  tipsOfLines(figure, spec, x, y);
}

/** A rule at the nearest x, dots on the lines, and their values beside the pointer. */
function tipsOfLines(figure, spec, x, y) {
  const { svg, height, margin } = figure;
  const rule = svg.append("g").attr("class", "rule").attr("visibility", "hidden");
  rule.append("line").attr("y1", margin.top).attr("y2", height - margin.bottom);
  svg.on("pointermove", (event) => {
    const at = d3.pointer(event, svg.node())[0];
    const k = d3.leastIndex(spec.x, (a, b) => Math.abs(x(a) - at) - Math.abs(x(b) - at));
    if (k === undefined || k < 0) return;
    rule.attr("visibility", "visible").select("line").attr("x1", x(spec.x[k])).attr("x2", x(spec.x[k]));
    const seen = spec.series.filter((one) => Number.isFinite(one.values[k]));
    rule.selectAll("circle").data(seen).join("circle").attr("r", 3.5).attr("fill", (one) => one.colour)
      .attr("cx", x(spec.x[k])).attr("cy", (one) => y(one.values[k]));
    const lines = spec.series.slice(0, MOST_TIP_SERIES).map((one) => `${tidy(one.name, 40)}: ${short(one.values[k])}`);
    showTip(event, [spec.title(k), ...lines]);
  });
  svg.on("pointerleave", () => { rule.attr("visibility", "hidden"); showTip(null, null); });
}

/** A button per series that brings it to the front; `shown` is the number in front or null. */
function seriesKeys(host, series, shown, choose) {
  host.replaceChildren(...series.map((one, k) => {
    const button = el("button", { type: "button", class: "key", "aria-pressed": String(k === shown) }, lineKey(one), tidy(one.name, 40));
    button.addEventListener("click", () => {
      choose(k === shown ? null : k);
      host.children[k].focus();  // the buttons have been made anew
    });
    return button;
  }));
}

function lineKey({ colour, dash }) {
  const svg = d3.create("svg").attr("width", 22).attr("height", 10).attr("aria-hidden", "true");
  svg.append("rect").attr("width", 22).attr("height", 10).attr("rx", 2).attr("class", "key-paper");
  svg.append("line").attr("x1", 1).attr("x2", 21).attr("y1", 5).attr("y2", 5).attr("stroke", colour).attr("stroke-width", 3).attr("stroke-dasharray", dash);
  return svg.node();
}

function hasCounts(model) {
  return Boolean(model.data.counts) && model.data.counts.counts.length > 0;
}

/** How probable each number of clusters, or of the components they are unions of, is; the number shown is marked. */
function drawCounts(place, model, state) {
  const distribution = model.data.counts;
  const shown = distribution.n_components === null ? state.clusters.length : distribution.n_components;
  const words = distribution.is_sampled ? "share of draws" : "probability";
  const noun = distribution.n_components === null ? "cluster" : "component";
  const label = `${words} of numbers of ${noun}s: ${distribution.counts.map((n, k) => `${n}: ${chance(distribution.probability[k])}`).slice(0, 30).join(", ")}`;
  const figure = makeFigure(place, { height: 170, most: 620, label, margin: { top: 24 } });
  const ranges = innerRanges(figure);
  const isNear = shown >= distribution.counts[0] - 3 && shown <= distribution.counts[distribution.counts.length - 1] + 3;
  const numbers = isNear ? [...distribution.counts, shown] : distribution.counts;
  const x = d3.scaleLinear([d3.min(numbers) - 0.6, d3.max(numbers) + 0.6], ranges.x);
  const y = d3.scaleLinear([0, d3.max(distribution.probability)], ranges.y).nice();
  const whole = x.ticks(Math.max(2, Math.round(figure.width / 60))).filter(Number.isInteger);
  drawAxes(figure, x, y, {
    xLabel: `number of ${noun}s`, yLabel: words,
    xAxis: d3.axisBottom(x).tickValues(whole).tickFormat(d3.format(",d")).tickSizeOuter(0),
  });
  const width = Math.min(34, Math.max(1, (x(1) - x(0)) * 0.8));
  figure.svg.selectAll(null).data(distribution.counts).join("rect").attr("class", "pillar").classed("shown", (n) => n === shown)
    .attr("x", (n) => x(n) - width / 2).attr("width", width)
    .attr("y", (_, k) => y(distribution.probability[k])).attr("height", (_, k) => y(0) - y(distribution.probability[k]))
    .on("pointermove", (event, n) => showTip(event, [count(n, noun), `${words} ${chance(distribution.probability[distribution.counts.indexOf(n)])}`]))
    .on("pointerleave", () => showTip(null, null));
  const height = distribution.probability[distribution.counts.indexOf(shown)] || 0;
  markShown(figure, x, y(height), shown, isNear);
}

/** The number shown, in words and with an arrow, as its probability may be too small to see a bar. */
function markShown(figure, x, bottom, shown, isNear) {
  const { svg, width, margin } = figure;
  const at = isNear ? x(shown) : shown < x.domain()[0] ? x.range()[0] : x.range()[1];
  const text = `${shown.toLocaleString("en")} shown`;
  const anchor = at > width - 70 ? "end" : at < margin.left + 50 ? "start" : "middle";
  svg.append("text").attr("class", "mark").attr("x", at).attr("y", 12).attr("text-anchor", anchor).text(isNear ? `${text} ▾` : `${text}, beyond this axis`);
  if (isNear) svg.append("line").attr("class", "mark-line").attr("x1", at).attr("x2", at).attr("y1", 17).attr("y2", bottom);
}
