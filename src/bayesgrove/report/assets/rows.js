function rowsView(host, model, state) {}
