function exhibitsView(host, model, state) {}
