// The page: which parts there are, what they show first, and how they follow the reader.

const PARTS = [
  { id: "overview", name: "Overview", view: overviewView, has: () => true },
  { id: "views", name: "Views", view: viewsView, has: (data) => Boolean(data.views) },
  { id: "tree", name: "Tree", view: treeView, has: () => true },
  { id: "clusters", name: "Clusters", view: clustersView, has: () => true },
  { id: "pairs", name: "Together", view: pairsView, has: (data) => data.similarity !== null },
  { id: "rows", name: "Rows", ofTrees: "Features", view: rowsView, has: (data) => data.table !== null || data.embedding !== null },
  { id: "chains", name: "Chains", view: chainsView, has: (data) => data.chains !== null },
  { id: "exhibits", name: "More", view: exhibitsView, has: (data) => data.exhibits.length > 0 },
  { id: "settings", name: "Settings", view: settingsView, has: () => true },
];

const OF_A_VIEW = ["overview", "tree", "clusters", "pairs", "rows"];

/** Build everything from a document; the cut that was shown stays. `number`: which of its views, where it has several. */
function showPage(whole, cut, number = 0) {
  const data = documentOfView(whole, number);
  const model = makeModel(data);
  const state = makeState(model);
  model.whole = whole;
  model.shownView = number;
  model.chooseView = (chosen) => switchView(whole, state, chosen);
  const nColumns = data.views ? data.views.columns.length : data.summary.n_columns;
  const size = model.noun === "row" ? `${count(model.n, "row")} × ${count(nColumns, "column")}` : count(model.n, model.noun);
  document.getElementById("model").textContent = `${data.model} · ${size}`;
  document.getElementById("title").textContent = tidy(data.title, 200);
  const shown = PARTS.filter((part) => part.has(data));
  for (const part of PARTS) {
    const host = document.getElementById(part.id);
    host.hidden = !shown.includes(part);
    host.replaceChildren(host.querySelector("h2"));
    const head = host.querySelector("h2");
    if (part.ofTrees) head.textContent = partName(part, model);
    if (data.views && OF_A_VIEW.includes(part.id)) head.dataset.view = tidy(data.views.list[number].name, 60);
    else delete head.dataset.view;
    if (!host.hidden) part.view(host, model, state);
  }
  controlsView(document.getElementById("controls"), model, state);
  document.getElementById("nav").replaceChildren(
    ...shown.map((part) => el("a", { href: `#${part.id}`, text: partName(part, model) })),
  );
  state.setCut(cut === undefined ? null : cut);
  page = { model, state };
}

/** Data that are no rows of a table have features, which stand where rows have their cells. */
function partName(part, model) {
  return part.ofTrees && model.noun !== "row" ? part.ofTrees : part.name;
}

let page = null;

/** Show another view: the rows that are selected stay so, and what the reader clicked stays under the pointer. */
function switchView(whole, state, chosen) {
  const { selection } = state;
  const place = document.getElementById("views");
  const before = place.getBoundingClientRect().bottom;
  const hadFocus = document.activeElement && document.activeElement.id;
  showPage(whole, null, chosen);
  if (selection) page.state.selectItems(selection.items, selection.words);
  window.scrollBy(0, place.getBoundingClientRect().bottom - before);
  if (hadFocus && document.getElementById(hadFocus)) document.getElementById(hadFocus).focus({ preventScroll: true });
  say(`The page shows ${tidy(whole.views.list[chosen].name, 60)}`);
}

function settingsView(host, model) {
  const grid = (rows) => el("dl", {}, rows.map(([name, value]) => [el("dt", { text: tidy(name, 80) }), el("dd", { text: tidy(value, 2000) })]));
  host.append(el("h3", { text: "Settings" }), grid(model.data.settings));
  host.append(el("h3", { text: "Provenance" }), grid(model.data.provenance));
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data.waiting) showPage(data);
  document.querySelector("main").hidden = page === null;
  const redraw = () => { if (page) page.state.retheme(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) { width = window.innerWidth; redraw(); }
  });
  if (data.live) {
    follow(data.live, (next) => {
      document.querySelector("main").hidden = false;
      showPage(next, page ? page.state.cut : null);
    });
  }
  document.documentElement.dataset.ready = "yes";
}

start();
