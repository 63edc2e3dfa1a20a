function pairsView(host, model, state) {}
