function clustersView(host, model, state) {}
