"""The models in words and formulas, as documents state them."""

CELLS = {
    "Bernoulli": "x ~ Bernoulli(p), p ~ Beta(a, b)",
    "Categorical": "x ~ Categorical(p) over 0 .. n_categories - 1, p ~ Dirichlet(pseudo_count, ..., pseudo_count)",
    "GaussianDiagonal": "x ~ Normal(m, 1 / t), m ~ Normal(mean, 1 / (strength t)), t ~ Gamma(shape, rate)",
    "GaussianKnownVariance": "x ~ Normal(m, variance), m ~ Normal(prior_mean, prior_variance)",
    "Poisson": "x ~ Poisson(r), r ~ Gamma(shape, rate)",
}
"""Law of a cell given its cluster's parameters and the prior of these, by family."""

CLUSTERS = [
    "Rows of one cluster share the parameters of every column, which are independent and integrated out; m(X_c) is "
    "the marginal density of the observed cells of cluster c. A null is a missing cell and counts for nothing.",
]
PROCESSES = {
    "dp": [
        "Dirichlet process mixture. A partition of n rows into K clusters has the prior alpha^K Gamma(alpha) / "
        "Gamma(alpha + n) prod_c Gamma(|c|), alpha = concentration.",
        "p(X, partition) = prior times prod_c m(X_c).",
        *CLUSTERS,
    ],
    "nggp": [
        "Mixture under a normalised generalised gamma process, alpha = concentration: with u = Gamma(n, 1) / total "
        "mass, p(X, partition, u) = u^(n-1) / Gamma(n) exp(-alpha ((1+u)^sigma - 1)) prod_c k(|c|, u) m(X_c), k(m, "
        "u) = alpha sigma Gamma(m - sigma) / Gamma(1 - sigma) (1+u)^(sigma - m). u is integrated out. sigma = 1/2 "
        "is the normalised inverse Gaussian process.",
        *CLUSTERS,
    ],
    "pitman-yor": [
        "Mixture under a Pitman-Yor process, alpha = concentration. A partition of n rows into K clusters has the "
        "prior prod_{i=1}^{K-1} (alpha + i sigma) Gamma(alpha + 1) / Gamma(alpha + n) prod_c Gamma(|c| - sigma) / "
        "Gamma(1 - sigma).",
        "p(X, partition) = prior times prod_c m(X_c).",
        *CLUSTERS,
    ],
    "mfm": [
        "Mixture of finite mixtures, alpha = concentration: the number k of components less one is Poisson with the "
        "mean given in components, their weights are symmetric Dirichlet(alpha). A partition of n rows into K clusters "
        "has the prior sum_k P(k) k! / (k - K)! Gamma(alpha k) / Gamma(alpha k + n) prod_c Gamma(|c| + alpha) / "
        "Gamma(alpha).",
        "p(X, partition) = prior times prod_c m(X_c).",
        *CLUSTERS,
    ],
}
VIEWS = [
    "Cross-categorisation. The columns are divided into views by a Chinese restaurant process with "
    "column_concentration; in each view the rows are divided into clusters by a Chinese restaurant process of its "
    "own with row_concentration. CRP(alpha): alpha^K Gamma(alpha) / Gamma(alpha + n) prod Gamma(size).",
    "p(X, views, row partitions) = CRP(views) prod_v [CRP(z_v) prod over clusters c of z_v and columns j of v of "
    "m_j(X_cj)], m_j the marginal density of the observed cells of column j in cluster c. A null is a missing cell.",
    'The partition "column_j" is that of the rows in the view of column j.',
]
NESTED = [
    "Bayesian hierarchical mixture clustering. Rows are put on the leaves of a tree of fixed depth by a nested "
    "Chinese restaurant process: at each node above the leaves the rows are divided among its children by "
    "CRP(alpha).",
    "Weights: beta_root ~ GEM(gamma0), beta_z ~ DP(gamma, beta_parent of z). Row n on leaf z has component c_n ~ "
    "beta_z; x_n ~ Normal(theta_c, component_variance I), theta_k ~ Normal(0, base_variance I).",
    'The partition "level_l" is that of the rows by their nodes at level l, 1 below the root; the last level are the '
    'leaves. Only children are kept. "n_components" counts components that have rows.',
]
PENALTY = {
    "max": [
        "Every node z below the root has a vector eta_z ~ Normal(0, discriminant_scale^2 I). For row n, its node v "
        "at a level and each sibling z of v, zeta = margin - (eta_v - eta_z)'x_n. The law is multiplied by prod_n "
        "exp(-2 C max(0, largest zeta of row n over all levels and siblings)), 1 where there are no siblings.",
    ],
    "chance": [
        "Every node z below the root has a vector eta_z ~ Normal(0, discriminant_scale^2 I). For row n, its node v "
        "at a level and each sibling z of v, zeta = margin - (eta_v - eta_z)'x_n. The law is multiplied by the "
        "product over rows, levels and siblings of exp(-2 C max(0, zeta)) / g_n, g_n the mean of exp(-2 C max(0, "
        "t)) for t ~ Normal(margin, 2 discriminant_scale^2 |x_n|^2).",
    ],
}
"""What RBHMC multiplies the law of NESTED by."""
TREES = [
    "Dirichlet process mixture of switching-parent bottom-up hidden-tree Markov models: the trees are divided by "
    "CRP(concentration), every cluster has tables of its own, integrated out. All rows of all tables are symmetric "
    "Dirichlet with prior_strength per cell.",
    "Every node u of a tree has a hidden state Q_u of n_states and emits its label from row Q_u of the emission "
    "table. A leaf at position l has Q_u from row l of the initial table (row 0: a root that is a leaf). An inner "
    "node has a switch S_u in 1 .. max_outdegree from the switching table, and Q_u from row (S_u, state of the "
    "child at S_u) of the transition table; an absent child is in the extra state bottom.",
]
MISSING = {
    "bottom_prior": "Rows 1, 2, ... of the initial table have a cell for bottom, and every absent child of an inner"
    " node at position l contributes the factor initial[l, bottom].",
    "bottom": "Absent children contribute no factor of their own, and the initial table has no cell for bottom.",
}
