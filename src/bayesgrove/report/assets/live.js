// Pages of `bayesgrove watch`: ask the own server for news and show them.

/** Ask again and again; a new document goes to `show`, the status into the page's head. */
function follow(live, show) {
  let version = live.version;
  let lastNews = Date.now();
  showStatus(live.status);
  const ask = async () => {
    try {
      const answer = await fetch(`${live.url}?version=${version}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      lastNews = Date.now();
      if (news.document && news.version !== version) {
        version = news.version;
        show(news.document);
        document.documentElement.dataset.version = version;
      }
      showStatus(news.status);
    } catch {
      const seconds = Math.round((Date.now() - lastNews) / 1000);
      showStatus({ state: "alone", words: `No answer from bayesgrove watch for ${count(seconds, "second")}; the page shows the last news.` });
    }
    setTimeout(ask, 1000 * live.seconds);
  };
  setTimeout(ask, 1000 * live.seconds);
}

const STATUS_SIGNS = { running: "●", ended: "■", complete: "■", stopped: "▲", unreadable: "▲", alone: "▲", looking: "○" };

/** One line for the run, and one word per chain. */
function showStatus(status) {
  const host = document.getElementById("live");
  host.hidden = false;
  host.dataset.state = status.state;
  host.dataset.draws = d3.sum(status.chains || [], (chain) => chain.draws);
  const words = [`${STATUS_SIGNS[status.state] || "○"} ${status.words || "Looking at the run …"}`];
  for (const chain of status.chains || []) {
    const joint = chain.log_joint === null ? "" : `, log joint ${short(chain.log_joint)}`;
    words.push(`chain ${chain.chain}: ${chain.draws.toLocaleString("en")} of ${status.n_draws.toLocaleString("en")} draws, sweep ${chain.sweep.toLocaleString("en")}${joint}`);
  }
  host.replaceChildren(...words.map((line) => el("span", { text: line })));
}
