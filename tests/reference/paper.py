"""Slow, clear twin of the published tree-guided sampler, against a `choose(probabilities)` callback.

The state is a forest: a tuple of trees (nodes of `reference.ibhc`) by smallest item. `outcomes` replays a move with
every sequence of choices, so that its law from a given forest is exact.
"""

import math
from collections import defaultdict

import numpy as np

from reference.ibhc import nodes_of, seq_insert, softplus

VARIANTS = ("code", "mended", "printed")


def outcomes(move):
    """(probability, result) of every sequence of choices `move(choose)` can make."""
    waiting = [[]]
    while waiting:
        script = waiting.pop()
        made = []

        def choose(probabilities, script=script, made=made):
            place = len(made)
            if place < len(script):
                made.append(script[place])
            else:
                possible = [k for k, p in enumerate(probabilities) if p > 0.0]
                waiting.extend([*[k for k, _ in made], k] for k in possible[1:])
                made.append(possible[0])
            made[place] = (made[place], probabilities[made[place]])
            return made[place][0]

        result = move(choose)
        yield math.prod(p for _, p in made), result


def normalised(log_weights):
    weights = np.exp(np.array(log_weights) - max(log_weights))
    return (weights / weights.sum()).tolist()


def by_smallest_item(trees):
    return tuple(sorted(trees, key=lambda tree: tree.items))


def log_join(x):
    """log of 1 / (1 + d)."""
    return -softplus(x)


def log_apart(x):
    """log of d / (1 + d)."""
    return -softplus(-x)


def sample_sub_law(nodes):
    """SampleSub: probability proportional to d + the largest d."""
    largest = max(node.log_d for node in nodes)
    if largest == -math.inf:
        return [1.0 / len(nodes)] * len(nodes)
    return normalised([float(np.logaddexp(node.log_d, largest)) for node in nodes])


def cut_nodes(tree, variant):
    """Nodes a split may cut at."""
    return [node for node in nodes_of(tree) if node.children or variant != "code"]


def log_total(terms, variant, *, empty=0.0):
    """log of the product of factors given by their logs; as printed, of their sum (an empty one is given)."""
    if variant != "printed":
        return math.fsum(terms)
    return float(np.logaddexp.reduce(terms)) if terms else empty


def log_split_reverse(potentials, parts, rest, variant):
    """(3): the probability that these parts are merged, whichever is picked."""
    pickers = []
    for part in parts:
        terms = [log_apart(potentials.log_d(part, o)) for o in rest]
        terms += [log_join(potentials.log_d(part, other)) for other in parts if other is not part]
        pickers.append(log_total(terms, variant))
    return float(np.logaddexp.reduce(pickers)) - math.log(len(rest) + len(parts))


def siblings_above(tree, node):
    """Siblings of a node and of its ancestors, nearest first."""
    found = []
    while tree is not node:
        below = next(child for child in tree.children if set(node.items) <= set(child.items))
        found.insert(0, next(child for child in tree.children if child is not below))
        tree = below
    return found


def split_proposal(choose, potentials, tree, variant):
    """Parts of a tree and the log probability of the choices; None when a leaf is drawn."""
    nodes = cut_nodes(tree, variant)
    law = sample_sub_law(nodes)
    chosen = choose(law)
    if not nodes[chosen].children:
        return None
    log_q, parts = math.log(law[chosen]), list(nodes[chosen].children)
    for block in siblings_above(tree, nodes[chosen]):
        law = normalised([-potentials.log_d(block, part) for part in parts] + [0.0])
        to = choose(law)
        log_q += math.log(law[to])
        if to == len(parts):
            parts.append(block)
        else:
            parts[to] = seq_insert(potentials, parts[to], block)
    return parts, log_q


def cascade(picked, others, variant):
    """The order in which trees are merged."""
    return [picked, *by_smallest_item(others)] if variant == "code" else list(by_smallest_item([picked, *others]))


def merge_proposal(potentials, trees, rest, variant):
    """The cascade of trees, and (4): the log probability of the way back."""
    merged = pair = potentials.join(trees[0], trees[1])
    log_blocks = []
    for j, tree in enumerate(trees[2:], 2):
        merged = potentials.join(merged, tree)
        inverse = [-potentials.log_d(tree, earlier) for earlier in trees[:j]]
        log_blocks.append(-float(np.logaddexp.reduce([0.0, *inverse])))
    nodes = cut_nodes(merged, variant)
    log_e = math.log(sample_sub_law(nodes)[nodes.index(pair)])
    log_rest = [log_apart(potentials.log_d(merged, o)) for o in rest]
    log_reverse = -math.log(len(rest) + 1) + log_e
    return merged, log_reverse + log_total(log_rest, variant) + log_total(log_blocks, variant)


def global_move(choose, potentials, forest, variant):
    """One split or merge of the published sampler."""
    n_trees = len(forest)
    place = choose([1.0 / n_trees] * n_trees)
    picked, others = forest[place], forest[:place] + forest[place + 1 :]
    log_forward, joined, rest = -math.log(n_trees), [], []
    for other in others:
        log_d = potentials.log_d(picked, other)
        law = [math.exp(log_join(log_d)), math.exp(log_apart(log_d))]
        if choose(law) == 0:
            log_forward += log_join(log_d)
            joined.append(other)
        else:
            log_forward += log_apart(log_d)
            rest.append(other)
    if joined:
        trees = cascade(picked, joined, variant)
        merged, log_reverse = merge_proposal(potentials, trees, rest, variant)
        log_r = merged.log_phi - math.fsum(tree.log_phi for tree in trees) + log_reverse - log_forward
        proposed = [merged]
    else:
        split = None if not picked.children else split_proposal(choose, potentials, picked, variant)
        if split is None:
            return forest
        proposed, log_q = split
        log_reverse = log_split_reverse(potentials, proposed, rest, variant)
        log_r = math.fsum(part.log_phi for part in proposed) - picked.log_phi + log_reverse - log_forward - log_q
    accept = math.exp(min(0.0, log_r))
    return by_smallest_item([*rest, *proposed]) if choose([accept, 1.0 - accept]) == 0 else forest


def local_items(choose, forest, depth):
    """Items that the local move visits, in order: leaves below the node SampleSub reaches in every tree."""
    items = []
    for tree in forest:
        node = tree
        for _ in range(depth):
            if node.children:
                nodes = nodes_of(node)
                node = nodes[choose(sample_sub_law(nodes))]
        items.extend(leaf.items[0] for leaf in nodes_of(node) if not leaf.children)
    return tuple(items)


def without(potentials, tree, item):
    """The tree with one leaf spliced out; None when nothing is left."""
    leaf = next(node for node in nodes_of(tree) if node.items == (item,))
    siblings = siblings_above(tree, leaf)
    rest = siblings[0] if siblings else None
    for sibling in siblings[1:]:
        rest = potentials.join(rest, sibling)
    return rest


def move_item(choose, potentials, forest, item):
    """Gibbs for one item; where it moves it is detached and inserted."""
    home = next(place for place, tree in enumerate(forest) if item in tree.items)
    rest, leaf = without(potentials, forest[home], item), potentials.leaf(item)
    trees = [rest if place == home else tree for place, tree in enumerate(forest)]
    homes = [place for place, tree in enumerate(trees) if tree is not None]
    law = normalised([potentials.union(trees[p], leaf) - trees[p].log_phi for p in homes] + [leaf.log_phi])
    chosen = choose(law)
    if chosen == len(homes):
        return forest if rest is None else by_smallest_item([*(trees[p] for p in homes), leaf])
    if homes[chosen] == home:
        return forest
    trees[homes[chosen]] = seq_insert(potentials, trees[homes[chosen]], leaf)
    return by_smallest_item([trees[p] for p in homes])


def local_move(choose, potentials, forest, depth):
    """The published local move."""
    for item in local_items(choose, forest, depth):
        forest = move_item(choose, potentials, forest, item)
    return forest


def all_forests(potentials, n):
    """All forests of n items: every item in turn becomes a root or joins any node of what there is."""
    forests = {()}
    for item in range(n):
        leaf = potentials.leaf(item)
        grown = set()
        for forest in forests:
            grown.add((*forest, leaf))
            for place, tree in enumerate(forest):
                for node in nodes_of(tree):
                    new = potentials.join(node, leaf)
                    for sibling in siblings_above(tree, node):
                        new = potentials.join(new, sibling)
                    grown.add((*forest[:place], new, *forest[place + 1 :]))
        forests = grown
    return sorted(forests)


def law_from(move):
    """Probability of each result."""
    law = defaultdict(float)
    for probability, result in outcomes(move):
        law[result] += probability
    return law


class Chain:
    """Transition matrices over all forests."""

    def __init__(self, potentials, n):
        self.potentials, self.n = potentials, n
        self.forests = all_forests(potentials, n)
        self.place = {forest: k for k, forest in enumerate(self.forests)}

    def matrix(self, move):
        """Of `move(choose, forest)`."""
        table = np.zeros((len(self.forests),) * 2)
        for k, forest in enumerate(self.forests):
            for result, probability in law_from(lambda choose, forest=forest: move(choose, forest)).items():
                table[k, self.place[result]] += probability
        return table

    def global_matrix(self, variant):
        return self.matrix(lambda choose, forest: global_move(choose, self.potentials, forest, variant))

    def local_matrix(self, depth):
        """The items are fixed before any moves, so that a list of them is a product of matrices of one item each."""
        of_item = [
            self.matrix(lambda choose, forest, i=i: move_item(choose, self.potentials, forest, i))
            for i in range(self.n)
        ]
        table = np.zeros((len(self.forests),) * 2)
        for k, forest in enumerate(self.forests):
            law = law_from(lambda choose, forest=forest: local_items(choose, forest, depth))
            for items, probability in law.items():
                row = np.zeros(len(self.forests))
                row[k] = probability
                for item in items:
                    row = row @ of_item[item]
                table[k] += row
        return table

    def partition_of(self, forest):
        return tuple(tree.items for tree in forest)


def stationary(matrix):
    """The law that a transition matrix leaves as it is."""
    n = len(matrix)
    system = np.vstack([matrix.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]


def partition_law(chain, law):
    """From forests to partitions."""
    found = defaultdict(float)
    for forest, probability in zip(chain.forests, law, strict=True):
        found[chain.partition_of(forest)] += probability
    return found


def posterior(chain):
    """The exact law over partitions."""
    partitions = sorted({chain.partition_of(forest) for forest in chain.forests})
    log_joint = [math.fsum(map(chain.potentials.log_phi, blocks)) for blocks in partitions]
    return dict(zip(partitions, normalised(log_joint), strict=True))


def total_variation(first, second):
    return 0.5 * math.fsum(abs(first[key] - second[key]) for key in second)


def mean_clusters(law):
    return math.fsum(len(blocks) * probability for blocks, probability in law.items())
