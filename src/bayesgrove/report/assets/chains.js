function chainsView(host, model, state) {}
