"""All families that have mutants, by name."""

from statistical.mutants import bhc, cross, linked, nested, nrm, trees

FAMILIES = {module.FAMILY.name: module.FAMILY for module in (bhc, cross, linked, nested, nrm, trees)}
