"""The page on topics, run against BERTopic and Toponymy."""

import json

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from recipes.pages import run_section

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
MISSING = "{} is not installed here: `make recipes` makes an environment that has it"
THEMES = {
    "planets": "planet star orbit telescope moon galaxy comet",
    "particles": "electron quark photon collider boson proton spin",
    "football": "goal striker league penalty keeper pitch corner",
    "tennis": "serve racket volley set umpire court deuce",
    "bread": "flour yeast oven crust dough loaf knead",
    "wine": "grape cellar vintage cork barrel vineyard harvest",
}
COMMON = ["report", "today", "people", "year", "place", "small", "large", "first", "group", "result", "number", "part"]
SCIENCE, SPORT, FOOD = ["research", "laboratory"], ["team", "match"], ["taste", "kitchen"]
FIELDS = dict(zip(THEMES, (SCIENCE, SCIENCE, SPORT, SPORT, FOOD, FOOD), strict=True))


@pytest.fixture(scope="module")
def texts():
    """Documents of six themes in three fields, in random order, their themes and embeddings."""
    rng = np.random.default_rng(0)
    names, themes = list(THEMES), rng.integers(0, len(THEMES), 600)
    documents = [
        " ".join([*rng.choice(THEMES[names[k]].split(), 9), *rng.choice(FIELDS[names[k]], 4), *rng.choice(COMMON, 4)])
        for k in themes
    ]
    tf_idf = TfidfVectorizer().fit(documents)
    svd = TruncatedSVD(20, random_state=0).fit(tf_idf.transform(documents))
    return documents, themes, lambda texts: svd.transform(tf_idf.transform(texts))


def test_bertopic(texts):
    pytest.importorskip("bertopic", reason=MISSING.format("bertopic"))
    documents, themes, embed = texts
    names = run_section("topics.md", "BERTopic", {"documents": documents, "embeddings": embed(documents)})
    topic_model, clusters = names["topic_model"], names["clusters"]
    assert adjusted_rand_score(themes, names["topics"]) > 0.95
    assert topic_model.get_topic_info()["Topic"].tolist() == list(range(clusters.n_clusters_))
    assert topic_model.get_topic_info()["Count"].tolist() == np.bincount(clusters.labels_).tolist()
    assert names["probabilities"].tolist() == clusters.probabilities_.tolist()
    assert list(names["new_topics"]) == list(names["topics"])[:10]
    words = {word for word, _ in topic_model.get_topic(int(topic_model.topics_[0]))[:3]}
    assert words & set(list(THEMES.values())[themes[0]].split())

    run_section("topics.md", "The hierarchy", names)
    assert is_valid_linkage(names["linkage"])
    steps = names["hierarchy"]
    assert len(steps) == clusters.n_clusters_ - 1
    joined = {frozenset(topics) for topics in steps["Topics"]}
    nodes = {frozenset(clusters.labels_[clusters.tree_.items_below(k)]) for k in range(clusters.tree_.n_nodes)}
    assert joined <= nodes
    assert names["figure"].data


def test_bertopic_in_batches(texts):
    pytest.importorskip("bertopic", reason=MISSING.format("bertopic"))
    documents, themes, embed = texts
    order = np.concatenate([np.flatnonzero(themes < 4), np.flatnonzero(themes >= 4)])
    documents, themes = [documents[i] for i in order], themes[order]
    embeddings = embed(documents)
    names = run_section("topics.md", "Batches", {**imports(), "documents": documents, "embeddings": embeddings})
    model = names["online_model"]
    topics = model.hdbscan_model.seen_labels_
    assert topics.size == len(documents)
    assert adjusted_rand_score(themes, topics) > 0.9
    for k in np.unique(themes):
        topic = np.bincount(topics[themes == k]).argmax()
        words = {word for word, _ in model.get_topic(int(topic))[:7]}
        assert len(words & set(list(THEMES.values())[k].split())) >= 4


def imports():
    """What the page imported before this section."""
    import bertopic

    import bayesgrove as bg

    return {"bg": bg, "BERTopic": bertopic.BERTopic, "PCA": PCA}


def test_toponymy(texts):
    pytest.importorskip("toponymy", reason=MISSING.format("toponymy"))
    documents, themes, embed = texts
    embeddings = embed(documents)
    names = {
        "documents": documents,
        "embeddings": embeddings,
        "reduced": PCA(5, random_state=0).fit_transform(embeddings),
        "llm_wrapper": namer(),
        "text_embedding_model": Embedder(embed),
    }
    topic_model = run_section("topics.md", "Toponymy", names)["topic_model"]
    fine, coarse = (layer.cluster_labels for layer in topic_model.cluster_layers_)
    assert adjusted_rand_score(themes, fine) > 0.95
    assert np.unique(np.column_stack([fine, coarse]), axis=0).shape[0] == fine.max() + 1  # nested
    assert [len(layer) for layer in topic_model.topic_names_] == [fine.max() + 1, 3]
    assert all(name.startswith("Name ") for layer in topic_model.topic_names_ for name in layer)
    for k in range(3):
        assert sorted(topic_model.cluster_tree_[1, k]) == [(0, int(label)) for label in np.unique(fine[coarse == k])]


class Embedder:
    """Embeddings of texts without a language model."""

    def __init__(self, embed):
        self.embed = embed

    def encode(self, texts, show_progress_bar=None, **_):
        return self.embed(list(texts))


def namer():
    """A language model that always gives the same kind of answer, so that nothing leaves this machine."""
    from toponymy.llm_wrappers import LLMWrapper

    class Namer(LLMWrapper):
        n_calls = 0

        def _call_llm(self, prompt, temperature, max_tokens):
            self.n_calls += 1
            return json.dumps({"topic_name": f"Name {self.n_calls}", "topic_specificity": 0.5})

        def _call_llm_with_system_prompt(self, prompt, temperature, max_tokens):
            return self._call_llm(prompt, temperature, max_tokens)

    return Namer()
