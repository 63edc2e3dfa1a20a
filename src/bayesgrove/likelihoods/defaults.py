"""Names of likelihoods."""

from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.likelihoods.base import LEARN, Likelihood
from bayesgrove.likelihoods.families import NAMED


def named_likelihood(name: str) -> Likelihood:
    """The likelihood of a name, with numbers from the data that stay fixed."""
    try:
        return NAMED[name]()
    except KeyError:
        choices = ", ".join(repr(choice) for choice in (LEARN, *sorted(NAMED)))
        raise InvalidLikelihoodError(f"likelihood must be one of {choices}, got {name!r}.") from None
