"""All targets by name."""

from fuzzing.cases import Target
from fuzzing.targets import commands, config, estimators, hierarchies, likelihoods, models, reports, runs, tables, trees

TARGETS: dict[str, Target] = {
    module.TARGET.name: module.TARGET
    for module in (tables, trees, hierarchies, likelihoods, config, reports, runs, models, estimators, commands)
}
