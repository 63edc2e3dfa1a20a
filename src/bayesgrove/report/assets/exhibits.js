// What a model adds of its own, drawn by kind and without knowing the model.

const EXHIBIT_KINDS = {
  "grid": gridExhibit, "heat map": heatMapExhibit, "lines": linesExhibit, "bars": barsExhibit, "picture": pictureExhibit,
  "texts": textsExhibit,
};
const EXHIBIT_NAME = 24;  // letters of a name beside a figure
const MOST_GRID_ROWS = 500;

function exhibitsView(host, model, state) {
  for (const exhibit of model.data.exhibits) {
    const figure = el("figure", { class: `exhibit exhibit-${exhibit.kind.replace(" ", "-")}` },
      el("figcaption", {}, el("h3", { text: tidy(exhibit.title, 200) }), exhibit.note ? el("p", { class: "note", text: tidy(exhibit.note, 2000) }) : null));
    host.append(figure);
    const draw = EXHIBIT_KINDS[exhibit.kind];
    if (draw) draw(figure, exhibit, model, state);
  }
}

/** Draw when the page is laid out, and again when it changes its width or its colours. */
function redrawWith(state, draw) {
  let isDrawn = false;
  state.on("cut", () => { if (!isDrawn) { isDrawn = true; draw(); } });
  state.on("theme", draw);
}

function gridExhibit(figure, exhibit) {
  const isNumber = exhibit.columns.map((_, j) => exhibit.rows.every((row) => row[j] === null || typeof row[j] === "number"));
  const cell = (value, j) => el("td", { class: isNumber[j] ? "number" : null, text: gridWords(value) });
  const shown = exhibit.rows.slice(0, MOST_GRID_ROWS);
  figure.append(el("div", { class: "scroll exhibit-frame", tabindex: 0, role: "region", "aria-label": tidy(exhibit.title, 200) },
    el("table", {},
      el("thead", {}, el("tr", {}, exhibit.columns.map((name, j) => el("th", { scope: "col", class: isNumber[j] ? "number" : null, text: tidy(name, 80) })))),
      el("tbody", {}, shown.map((row) => el("tr", {}, row.map(cell)))))));
  if (shown.length < exhibit.rows.length) {
    figure.append(el("p", { class: "note", text: `The first ${shown.length} of ${count(exhibit.rows.length, "row")}.` }));
  }
}

/** A cell as text: whole numbers whole, others with three digits. */
function gridWords(value) {
  if (value === null) return "–";
  if (typeof value !== "number") return tidy(value, 300);
  return Number.isInteger(value) ? value.toLocaleString("en").replace("-", "−") : short(value);
}

/** Each text under its name; line by line, so that nothing in it can pass for another part of the page. */
function textsExhibit(figure, exhibit) {
  const lines = (text) => text.split("\n").map((line) => tidy(line, 200)).join("\n");
  figure.append(el("div", { class: "texts" }, exhibit.texts.map((text, k) => el("section", {},
    el("h4", { text: tidy(exhibit.names[k], 120) }),
    el("pre", { class: "scroll", tabindex: 0, role: "region", "aria-label": tidy(exhibit.names[k], 120), text: lines(text) })))));
}

// Heat map

function heatMapExhibit(figure, exhibit, model, state) {
  const grid = readHeatMap(exhibit);
  const repaintLegend = scaleLegend(figure, {
    low: short(grid.low), high: short(grid.high), words: tidy(exhibit.unit, 80), scale: grid.scale, hasMissing: grid.hasMissing,
  });
  const frame = el("div", { class: "cell-map" });
  figure.append(frame);
  const map = cellMap(frame, {
    label: `${tidy(exhibit.title, 200)}. Arrow keys move from cell to cell.`,
    layout: () => heatMapLayout(frame, grid),
    paint: (context, layout) => paintHeatMap(context, layout, grid),
    tip: (i, j) => heatMapTip(exhibit, grid, i, j),
  });
  redrawWith(state, () => { grid.image = null; repaintLegend(); map.draw(); });
}

function readHeatMap(exhibit) {
  const values = unpack(exhibit.values);
  const [low, high] = exhibit.range || d3.extent(values.filter(Number.isFinite));
  const grid = { values, rows: exhibit.rows.length, columns: exhibit.columns.length, low: low ?? 0, high: high ?? 0, image: null };
  grid.scale = shade;
  if (exhibit.middle !== null) {
    // Both sides have one length, so that equal colours are equally far from the middle.
    const reach = Math.max(grid.high - exhibit.middle, exhibit.middle - grid.low) || 1;
    Object.assign(grid, { low: exhibit.middle - reach, high: exhibit.middle + reach, scale: twoSided });
  }
  const span = grid.high - grid.low || 1;
  grid.codes = Uint8Array.from(values, (value) => (Number.isFinite(value) ? Math.round((LAST_SHADE * (value - grid.low)) / span) : 255));
  grid.hasMissing = grid.codes.includes(255);
  grid.rowNames = exhibit.rows.map((name) => tidy(name, EXHIBIT_NAME));
  grid.columnNames = exhibit.columns.map((name) => tidy(name, EXHIBIT_NAME));
  return grid;
}

/** Blue below the middle, orange above it, the paper's colour at it. */
function twoSided(share) {
  const [blue, orange] = isDark() ? ["#5db8f5", "#f59a4a"] : ["#00568a", "#b04a00"];
  const middle = isDark() ? "#23282e" : "#f4f4f2";
  return share < 0.5 ? d3.interpolateLab(blue, middle)(2 * share) : d3.interpolateLab(middle, orange)(2 * share - 1);
}

function heatMapLayout(frame, grid) {
  const cellHeight = Math.min(26, Math.max(2, grid.rows <= 60 ? 15 : 620 / grid.rows));
  const names = cellHeight >= 11 ? longestName(grid.rowNames) + 10 : 0;
  const longest = longestName(grid.columnNames);
  const beside = Math.max(names, longest * 0.5 + 8);
  const room = Math.max(120, frame.clientWidth - 4) - beside - 2;
  const cellWidth = Math.max(NARROWEST_COLUMN, Math.min(WIDEST_COLUMN, room / Math.max(1, grid.columns)));
  const top = Math.ceil(longest * 0.87) + 16;
  return {
    rows: grid.rows, columns: grid.columns, left: 2, top, cellWidth, cellHeight,
    width: 2 + grid.columns * cellWidth + beside, height: top + grid.rows * cellHeight + 2, hasNames: names > 0,
  };
}

function paintHeatMap(context, layout, grid) {
  if (!grid.image) {
    const colours = codeColours(grid.scale, LAST_SHADE);
    grid.image = cellImage(grid.rows, grid.columns, (i, j) => colours[grid.codes[i * grid.columns + j]]);
  }
  paintImage(context, layout, grid.image, grid.hasMissing);
  paintColumnNames(context, layout, (j) => grid.columnNames[j], layout.top - 6);
  if (layout.hasNames) paintRowNames(context, layout, (i) => grid.rowNames[i]);
}

function heatMapTip(exhibit, grid, i, j) {
  if (i < 0) return [tidy(exhibit.columns[j])];
  if (j < 0) return [tidy(exhibit.rows[i])];
  const value = grid.values[i * grid.columns + j];
  return [Number.isFinite(value) ? `${short(value)} ${tidy(exhibit.unit, 60)}` : "missing", tidy(exhibit.rows[i]), tidy(exhibit.columns[j])];
}

// Lines and bars

function linesExhibit(figure, exhibit, model, state) {
  const keys = el("div", { class: "chain-keys", role: "group", "aria-label": "Line in front" });
  const place = el("div", { class: "exhibit-figure" });
  figure.append(place, keys);
  const x = Array.from(unpack(exhibit.x));
  const lines = exhibit.series.map(({ name, values }) => ({ name, values: unpack(values) }));
  let focus = null;
  const draw = () => {
    const series = lines.map((line, k) => ({ ...line, ...seriesLook(model, k) }));
    seriesKeys(keys, series, focus, (k) => { focus = k; draw(); });
    lineFigure(place, {
      x, series, focus, height: 280, most: 760, xLabel: exhibit.x_label, yLabel: exhibit.y_label,
      label: `${tidy(exhibit.title, 200)}: ${count(series.length, "line")} over ${tidy(exhibit.x_label)}`,
      title: (k) => `${tidy(exhibit.x_label, 40)} ${short(x[k])}`,
    });
  };
  redrawWith(state, draw);
}

function barsExhibit(figure, exhibit, model, state) {
  const place = el("div", { class: "exhibit-figure" });
  figure.append(place);
  const bars = { values: unpack(exhibit.values), low: unpack(exhibit.low), high: unpack(exhibit.high) };
  redrawWith(state, () => drawBars(place, exhibit, bars));
}

/** Bars lie, so that names of any number and length can be read. */
function drawBars(place, exhibit, bars) {
  const names = exhibit.names.map((name) => tidy(name, EXHIBIT_NAME));
  const left = Math.min(longestName(names), place.clientWidth * 0.42) + 14;
  const margin = { left, right: 16, top: 4, bottom: 42 };
  const figure = makeFigure(place, {
    height: names.length * 22 + 46, most: 760, margin,
    label: `${tidy(exhibit.title, 200)}: ${names.slice(0, 30).map((name, k) => `${name} ${short(bars.values[k])}`).join(", ")}`,
  });
  const ranges = innerRanges(figure);
  const all = [0, ...bars.values, ...(bars.low || []), ...(bars.high || [])].filter(Number.isFinite);
  const [low, high] = d3.extent(all);
  const x = d3.scaleLinear([low, high > low ? high : low + 1], ranges.x).nice();
  const y = d3.scaleBand(d3.range(names.length), [ranges.y[1], ranges.y[0]]).paddingInner(0.25);
  drawAxes(figure, x, y, {
    xLabel: exhibit.y_label, yLabel: "", yAxis: d3.axisLeft(y).tickFormat((k) => names[k]).tickSize(0).tickPadding(6),
  });
  drawBarParts(figure.svg, exhibit, bars, x, y);
}

function drawBarParts(svg, exhibit, bars, x, y) {
  const seen = d3.range(bars.values.length).filter((k) => Number.isFinite(bars.values[k]));
  svg.selectAll(null).data(seen).join("rect").attr("class", "pillar whole").attr("y", (k) => y(k)).attr("height", y.bandwidth())
    .attr("x", (k) => Math.min(x(0), x(bars.values[k]))).attr("width", (k) => Math.max(1, Math.abs(x(bars.values[k]) - x(0))));
  if (bars.low && bars.high) {
    const both = seen.filter((k) => Number.isFinite(bars.low[k]) && Number.isFinite(bars.high[k]));
    const middle = (k) => y(k) + y.bandwidth() / 2;
    svg.selectAll(null).data(both).join("path").attr("class", "whisker")
      .attr("d", (k) => `M${x(bars.low[k])},${middle(k) - 4}v8m0,-4H${x(bars.high[k])}m0,-4v8`);
  }
  svg.append("line").attr("class", "level").attr("x1", x(0)).attr("x2", x(0)).attr("y1", y.range()[0]).attr("y2", y.range()[1]);
  svg.selectAll(null).data(d3.range(bars.values.length)).join("rect").attr("class", "catcher")
    .attr("x", 0).attr("width", svg.attr("width")).attr("y", (k) => y(k)).attr("height", y.step())
    .on("pointermove", (event, k) => showTip(event, barTip(exhibit, bars, k)))
    .on("pointerleave", () => showTip(null, null));
}

function barTip(exhibit, bars, k) {
  const interval = bars.low && bars.high ? [`interval ${short(bars.low[k])} to ${short(bars.high[k])}`] : [];
  return [tidy(exhibit.names[k]), `${tidy(exhibit.y_label, 40)} ${short(bars.values[k])}`, ...interval];
}

function pictureExhibit(figure, exhibit) {
  figure.append(el("img", { src: `data:image/png;base64,${exhibit.png}`, alt: tidy(exhibit.alt, 1000) }));
}
