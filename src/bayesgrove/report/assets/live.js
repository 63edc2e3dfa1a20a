// Pages of `bayesgrove watch`: ask the own server for news and show them.

function follow(live, show) {}
