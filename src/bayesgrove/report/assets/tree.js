// The controls that hold for the whole page, and the tree.

function controlsView(host, model, state) { host.replaceChildren(); }

function treeView(host, model, state) {}
