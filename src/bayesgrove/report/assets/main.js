// The page: which parts there are, what they show first, and how they follow the reader.

const PARTS = [
  { id: "overview", name: "Overview", view: overviewView, has: () => true },
  { id: "tree", name: "Tree", view: treeView, has: () => true },
  { id: "clusters", name: "Clusters", view: clustersView, has: () => true },
  { id: "pairs", name: "Together", view: pairsView, has: (data) => data.similarity !== null },
  { id: "rows", name: "Rows", view: rowsView, has: (data) => data.table !== null || data.embedding !== null },
  { id: "chains", name: "Chains", view: chainsView, has: (data) => data.chains !== null },
  { id: "exhibits", name: "More", view: exhibitsView, has: (data) => data.exhibits.length > 0 },
  { id: "settings", name: "Settings", view: settingsView, has: () => true },
];

/** Build everything from a document; the cut that was shown stays. */
function showPage(data, cut) {
  const model = makeModel(data);
  const state = makeState(model);
  document.getElementById("model").textContent = `${data.model} · ${count(model.n, "row")} × ${count(data.summary.n_columns, "column")}`;
  document.getElementById("title").textContent = tidy(data.title, 200);
  const shown = PARTS.filter((part) => part.has(data));
  for (const part of PARTS) {
    const host = document.getElementById(part.id);
    host.hidden = !shown.includes(part);
    host.replaceChildren(host.querySelector("h2"));
    if (!host.hidden) part.view(host, model, state);
  }
  controlsView(document.getElementById("controls"), model, state);
  document.getElementById("nav").replaceChildren(
    ...shown.map((part) => el("a", { href: `#${part.id}`, text: part.name })),
  );
  state.setCut(cut === undefined ? null : cut);
  return { model, state };
}

/** The four answers, and the law of the number of clusters. */
function overviewView(host, model, state) {
  const words = model.data.summary;
  const trust = words.converged === null ? "plain" : words.converged ? "good" : "bad";
  const card = (id, title, text, kind) => el("div", { class: `card ${kind || ""}`, id }, el("h3", { text: title }), [text].flat().map((words) => el("p", { text: tidy(words, 1500) })));
  host.append(el("div", { class: "cards" },
    card("how-many", "How many clusters?", words.how_many),
    card("how-sure", "How sure?", words.how_sure),
    card("which-features", "What sets them apart?", words.which_features),
    card("trust", "Can it be trusted?", words.trust, trust),
  ));
  if (words.log_evidence !== null) {
    host.append(el("p", { class: "note", text: `Log evidence of the model, a lower bound: ${short(words.log_evidence)}.` }));
  }
  countsFigure(host, model, state);
}

function settingsView(host, model) {
  const grid = (rows) => el("dl", {}, rows.map(([name, value]) => [el("dt", { text: tidy(name, 80) }), el("dd", { text: tidy(value, 2000) })]));
  host.append(el("h3", { text: "Settings" }), grid(model.data.settings));
  host.append(el("h3", { text: "Provenance" }), grid(model.data.provenance));
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  let page = data.waiting ? null : showPage(data);
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
      page = showPage(next, page ? page.state.cut : null);
    });
  }
  document.documentElement.dataset.ready = "yes";
}

start();
