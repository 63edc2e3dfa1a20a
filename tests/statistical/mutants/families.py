"""All families that have mutants, by name."""

from statistical.mutants import bhc, cross, nested, nrm, trees

FAMILIES = {module.FAMILY.name: module.FAMILY for module in (bhc, cross, nested, nrm, trees)}
