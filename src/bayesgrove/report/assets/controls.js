// The bar that holds for the whole page: the cut, the search, what is selected.

/** Fill the bar; on a page that follows a run, what was typed stays. */
function controlsView(host, model, state) {
  const old = host.querySelector("input[type=search]");
  const typed = old ? { text: old.value, hadFocus: document.activeElement === old } : { text: "", hadFocus: false };
  const search = searchControl(model, state, typed.text);
  host.replaceChildren(el("div", { class: "bar" }, viewControl(model), cutControl(model, state), search, selectionControl(state)));
  if (typed.hadFocus) search.querySelector("input").focus();
  d3.select(document).on("keydown.controls", (event) => {
    if (event.key === "Escape" && state.selection) state.clearSelection();
  });
}

// ---- the view

/** Which view the page shows; nothing where there is only one. */
function viewControl(model) {
  const views = model.data.views;
  if (!views || views.list.length < 2) return null;
  const choice = el("select", { id: "view-choice", "aria-label": "View that the page shows" },
    views.list.map((view, k) => el("option", { value: k, text: tidy(view.name, 30), selected: k === model.shownView })));
  choice.addEventListener("change", () => model.chooseView(Number(choice.value)));
  return choice;
}

// ---- the cut

const CUT_STEPS = 150;

/** Probability at a place of the slider, -CUT_STEPS .. CUT_STEPS: log odds grow like sinh, so both ends have room. */
function cutAtStep(step) {
  if (Math.abs(step) >= CUT_STEPS) return step > 0 ? 1 : 0;
  const logOdds = 1.2 * Math.sinh(3.9 * step / CUT_STEPS);
  const rare = Number(probability(-Math.abs(logOdds)).toPrecision(2));
  return step > 0 ? 1 - rare : rare;
}

/** The place of the slider nearest to a probability. */
function stepOfCut(cut) {
  if (cut <= 0 || cut >= 1) return cut >= 1 ? CUT_STEPS : -CUT_STEPS;
  return Math.round(CUT_STEPS * Math.asinh(Math.log(cut / (1 - cut)) / 1.2) / 3.9);
}

/** A probability in words that stay apart near 0 and 1. */
function cutWords(cut) {
  const rare = Number((cut < 0.5 ? cut : 1 - cut).toPrecision(2));
  if (rare === 0 || rare >= 0.01) return String(cut < 0.5 ? rare : Number((1 - rare).toFixed(4)));
  const text = rare >= 1e-3 ? String(Number(rare.toPrecision(2))) : powerWords(rare);
  return cut < 0.5 ? text : `1 − ${text}`;
}

/** 2.3e-8 as 2.3 × 10⁻⁸. */
function powerWords(value) {
  const [digits, power] = value.toExponential(1).split("e");
  return `${Number(digits)} × ${tenTo(Number(power))}`;
}

function tenTo(power) {
  return "10" + Array.from(String(power), (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
}

function cutControl(model, state) {
  if (!model.tree.logOdds) {
    return el("p", { class: "note cut-note", text: "Clusters as fitted: this tree has no probabilities, so it cannot be cut anew." });
  }
  const slider = el("input", { type: "range", id: "cut", "aria-label": "Probability to cut the tree at", min: -CUT_STEPS, max: CUT_STEPS, step: 1 });
  const words = el("output", { id: "cut-words", for: "cut" });
  const fitted = el("button", { type: "button", id: "as-fitted", text: "as fitted" });
  let waiting = false;
  slider.addEventListener("input", () => {
    if (waiting) return;  // a drag gives more events than frames
    waiting = true;
    requestAnimationFrame(() => { waiting = false; state.setCut(cutAtStep(Number(slider.value))); });
  });
  fitted.addEventListener("click", () => state.setCut(null));
  state.on("cut", () => showCut(model, state, slider, words, fitted));
  const track = el("div", { class: "track" }, countCurve(model), slider);
  return el("div", { class: "cut" },
    el("label", { for: "cut", text: "Cut at", title: "A branch is one cluster when its probability is at least this" }),
    track, words, fitted);
}

/** Let the slider and its words follow the state. */
function showCut(model, state, slider, words, fitted) {
  const cut = state.cut === null ? model.tree.cut : state.cut;
  const clusters = count(state.clusters.length, "cluster");
  slider.value = stepOfCut(cut === null ? 0.5 : cut);
  const at = cut === null ? "as fitted" : `p = ${cutWords(cut)}`;
  words.replaceChildren(el("span", { class: "at", text: at }), " ", el("strong", { text: clusters }));
  words.dataset.cut = state.cut === null ? "fitted" : String(state.cut);
  words.dataset.step = slider.value;
  slider.setAttribute("aria-valuetext", `${cut === null ? "as fitted" : `probability ${cutWords(cut)}`}, ${clusters}`);
  fitted.setAttribute("aria-pressed", String(state.cut === null));
}

/** Number of clusters at every place of the slider: a node is one for cuts above all its ancestors' odds, up to its own. */
function countsByStep(tree) {
  const odds = d3.range(-CUT_STEPS, CUT_STEPS + 1).map((step) => {
    const cut = cutAtStep(step);
    return cut <= 0 ? -Infinity : cut >= 1 ? Infinity : Math.log(cut / (1 - cut));
  });
  const change = new Float64Array(odds.length + 1);
  const above = new Int32Array(tree.n);  // the first step at which all ancestors are open
  for (let k = tree.root; k >= 0; k--) {
    const opens = tree.isEnd[k] ? odds.length : tree.logOdds[k] >= -Infinity ? d3.bisectRight(odds, tree.logOdds[k]) : 0;
    const from = k === tree.root ? 0 : above[tree.parent[k]];
    above[k] = Math.max(from, opens);
    if (opens > from) { change[from]++; change[opens]--; }
  }
  return d3.cumsum(change).slice(0, odds.length);
}

/** The number of clusters along the slider, on a log scale: where it is flat, the cut hardly matters. */
function countCurve(model) {
  const counts = countsByStep(model.tree);
  const x = d3.scaleLinear([0, counts.length - 1], [0, 100]);
  const y = d3.scaleLog([1, Math.max(2, d3.max(counts))], [19, 1]);
  const svg = d3.create("svg:svg").attr("viewBox", "0 0 100 20").attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
  svg.append("path").attr("d", d3.area().curve(d3.curveStep).x((_, i) => x(i)).y0(20).y1((d) => y(Math.max(1, d)))(Array.from(counts)));
  return svg.node();
}

// ---- the search

function searchControl(model, state, text) {
  const input = el("input", { type: "search", id: "search", placeholder: "find by name", "aria-label": "Find an item by its name", autocomplete: "off", spellcheck: "false" });
  const found = el("span", { id: "found", role: "status" });
  const button = (id, sign, label) => el("button", { type: "button", id, text: sign, "aria-label": label, title: label, disabled: true });
  const back = button("found-back", "‹", "Previous item found");
  const next = button("found-next", "›", "Next item found");
  const search = { matches: [], at: -1, find: nameFinder(model) };
  const show = () => {
    const n = grouped(search.matches.length);
    found.textContent = !input.value.trim() ? "" : search.at < 0 ? `${n} found` : `${grouped(search.at + 1)} of ${n}`;
    back.disabled = next.disabled = search.matches.length === 0;
  };
  const look = () => { search.matches = search.find(input.value); search.at = -1; show(); };
  const go = (by) => {
    const n = search.matches.length;
    if (!n) return;
    search.at = search.at < 0 ? (by > 0 ? 0 : n - 1) : (search.at + by + n) % n;
    show();
    state.selectNode(model.nodeOfItem[search.matches[search.at]]);
    document.getElementById("tree-canvas").scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); go(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape" && input.value) { input.value = ""; look(); }
  });
  back.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));
  input.value = text;
  if (text) look();
  return el("div", { class: "search", role: "search" }, input, back, next, found);
}

/** A function from a text to the items whose names hold it: equal ones first, then beginnings, each from the top down. */
function nameFinder(model) {
  let names = null;
  return (text) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const items = itemsBelow(model, model.tree.root);
    names = names || items.map((item) => (model.names ? String(model.names[item]) : `${model.noun} ${item}`).toLowerCase());
    const ranks = [[], [], []];
    names.forEach((name, i) => {
      const place = name.indexOf(wanted);
      if (place >= 0) ranks[name === wanted ? 0 : place === 0 ? 1 : 2].push(items[i]);
    });
    return ranks.flat();
  };
}

// ---- the selection

function selectionControl(state) {
  const words = el("span", { id: "selected" });
  const clear = el("button", { type: "button", id: "clear", text: "clear", title: "Clear the selection (Escape)" });
  const box = el("div", { class: "selected" }, words, clear);
  clear.addEventListener("click", () => state.clearSelection());
  state.on("select", () => {
    // The bar keeps its height: else the page would move under the pointer that selects.
    box.classList.toggle("none", state.selection === null);
    clear.disabled = state.selection === null;
    words.textContent = state.selection === null ? "nothing selected" : state.selection.words;
  });
  return box;
}
