"""Classes in a tree: a word comes from the class, from a node above it, or from the uniform distribution.

    P(w|c) = sum over nodes v on the path from c to the root of P(v|c) * P(w|v)  +  P(uniform|c) / N      (eq. 1)

Hierarchical shrinkage (McCallum and others, 1998) takes for P(w|v) the pooled counts of all classes below v, and
finds the weights P(v|c) by EM on estimates that leave out the document at hand. The hierarchical mixture also moves
words between levels: general ones up, special ones down,

    P(v|c,w) = P(w|v) P(v|c) / sum over v' of P(w|v') P(v'|c)                                             (eq. 5)
    P(w|v)   = sum over classes c below v of n_cw P(v|c,w), normalised over words                         (eq. 6)
    P(v|c)   = sum over words w of left-out counts n_cw P(v|c,w), normalised over nodes                   (eq. 7)

Toutanova, K., Chen, F., Popat, K., Hofmann, T.: Text classification in a hierarchical mixture model for small
training sets (CIKM 2001).
"""

from __future__ import annotations

import math

from genus.base.validation import check_number, check_steps
from genus.models.hierarchical.base import TreeClassifier
from genus.models.hierarchical.choose_iterations import choose_iterations


class HierarchicalShrinkage(TreeClassifier):
    """Naive Bayes whose classes are smoothed by the nodes above them in a tree.

    EM for the weights is in ``cpp/mixtures/tree_em.cpp``, scores in ``cpp/tables/path_scores.cpp``.

    Parameters
    ----------
    tree : LabelTree, or what makes one, default=None
        A `LabelTree`, a dict (of parents, or nested), a networkx graph or a list of paths: every label must be in it,
        and its leaves are classes even without documents. "learn" groups classes that use the same words, "flat" is
        a root alone. None takes labels such as "hardware/printer" for paths, and is flat where they are none.
    weights : {"tied", "per-class"}, default="tied"
        Whether classes that are equally deep share the weights P(v|c), or each class has its own.
    shrink_to : {"path", "root"}, default="path"
        Whether a class draws on all nodes above it, or on the root alone. The tree then serves answers at its levels
        only. See the notes of `HierarchicalMixture`.
    document_weights : {"equal", "length"}, default="equal"
        Whether every document counts as one, or by its length as in the paper.
    n_weight_steps : int, default=10
        EM steps for the weights.
    prior_scale : float, default=1.0
        Multiplies the log prior; 0 ignores it. Not negative.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    tree_ : LabelTree
        The tree that was given, read from the labels, or learned.
    n_features_in_ : int
        The number of words N.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        The documents' summed weights, and log P(c).
    feature_log_prob_ : array of shape (n_classes, n_features)
        log P(w|c). Dense, made anew each time it is asked for.

    See Also
    --------
    HierarchicalMixture : also moves words between the levels.

    Notes
    -----
    Documents are kept, since leaving one out needs them: learning more, merging and unlearning are exact, and the
    weights are found again at the next prediction. A document that is learned under several labels is left out of all
    of them at once.

    An inner node may be a class; it then has a leaf of its own beside its children. A class without documents is
    estimated from its ancestors, with the prior of half a document.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import HierarchicalShrinkage
    >>> X = np.array([[2, 1, 0, 0], [2, 0, 1, 0], [0, 0, 1, 3], [1, 2, 0, 0], [0, 1, 0, 2]])
    >>> y = ["pets/cat", "pets/dog", "cars", "pets/cat", "cars"]
    >>> clf = HierarchicalShrinkage().fit(X, y)
    >>> clf.predict([[1, 0, 0, 0], [0, 0, 0, 1]], level=1).tolist()
    ['pets', 'cars']
    """

    def __init__(
        self,
        tree: object = None,
        *,
        weights: str = "tied",
        shrink_to: str = "path",
        document_weights: str = "equal",
        n_weight_steps: int = 10,
        prior_scale: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.tree = tree
        self.weights = weights
        self.shrink_to = shrink_to
        self.document_weights = document_weights
        self.n_weight_steps = n_weight_steps
        self.prior_scale = prior_scale
        self.n_jobs = n_jobs


class HierarchicalMixture(TreeClassifier):
    """A tree of classes in which each word finds its level: general words above, special ones below.

    EM is in ``cpp/mixtures/tree_em.cpp``, scores in ``cpp/tables/path_scores.cpp``.

    Parameters
    ----------
    tree : LabelTree, or what makes one, default=None
        A `LabelTree`, a dict (of parents, or nested), a networkx graph or a list of paths: every label must be in it,
        and its leaves are classes even without documents. "learn" groups classes that use the same words, "flat" is
        a root alone. None takes labels such as "hardware/printer" for paths, and is flat where they are none.
    weights : {"tied", "per-class"}, default="tied"
        Whether classes that are equally deep share the weights P(v|c), or each class has its own.
    shrink_to : {"path", "root"}, default="path"
        Whether a class draws on all nodes above it, or on the root alone. The tree then serves answers at its levels
        only. See the notes.
    document_weights : {"equal", "length"}, default="equal"
        Whether every document counts as one, or by its length as in the paper.
    n_iterations : int or "auto", default=2
        How often words are moved between the nodes (eq. 5 and 6); more than 5 overfit. "auto" takes 0, 1 or 2,
        whichever scores held-out training documents best: fitting takes a few times as long. See the notes.
    tempering : float, default=1.0
        Exponent of P(w|v) in eq. 5, above 0 and at most 1: smaller moves words less decidedly.
    n_weight_steps : int, default=10
        EM steps for the weights, at first and whenever words were moved.
    prior_scale : float, default=1.0
        Multiplies the log prior; 0 ignores it. Not negative.
    n_jobs : int, default=None
        Threads; None and -1 use every core. Results do not depend on it.

    Attributes
    ----------
    classes_, tree_, n_features_in_, class_count_, class_log_prior_, feature_log_prob_
        As in `HierarchicalShrinkage`.
    n_iterations_ : int
        How often words were moved.

    See Also
    --------
    HierarchicalShrinkage : the same where words stay where they are; its notes hold here too.

    Notes
    -----
    =========  ================================================  =========================
    symbol     here                                              shape
    =========  ================================================  =========================
    P(w|c)     ``exp(feature_log_prob_)``                        (n_classes, n_features)
    P(v|c)     ``path_weights(label)``                           by node
    P(v|c,w)   ``word_levels(word, label)``                      by node
    P(c|d)     ``predict_proba``                                 (n_documents, n_classes)
    =========  ================================================  =========================

    Moving words takes from the nodes above what is special to several classes below, and with it what these nodes
    knew of classes that have not seen the word. That gains where classes have words of their own, as newsgroups do,
    and loses where many share theirs, as the categories of arXiv do: "auto" finds out, by cross-validation.

    Nodes between the root and a class make the classes below them more alike, and these are the ones that are confused.
    Where the class is all that is asked for, ``shrink_to="root"`` does better on newsgroups and on arXiv, by half a
    point to two; held-out documents do not predict reliably whether it will.

    Examples
    --------
    >>> import numpy as np
    >>> from genus import HierarchicalMixture
    >>> X = np.array([[2, 1, 0, 0], [2, 0, 1, 0], [0, 0, 1, 3], [1, 2, 0, 0], [0, 1, 0, 2]])
    >>> y = ["cat", "dog", "cars", "cat", "cars"]
    >>> clf = HierarchicalMixture(tree={"cat": "pets", "dog": "pets", "cars": None, "pets": None}).fit(X, y)
    >>> clf.predict([[1, 1, 0, 0]]).tolist(), clf.predict([[1, 1, 0, 0]], min_proba=0.9).tolist()
    (['cat'], ['pets'])
    """

    def __init__(
        self,
        tree: object = None,
        *,
        weights: str = "tied",
        shrink_to: str = "path",
        document_weights: str = "equal",
        n_iterations: int | str = 2,
        tempering: float = 1.0,
        n_weight_steps: int = 10,
        prior_scale: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.tree = tree
        self.weights = weights
        self.shrink_to = shrink_to
        self.document_weights = document_weights
        self.n_iterations = n_iterations
        self.tempering = tempering
        self.n_weight_steps = n_weight_steps
        self.prior_scale = prior_scale
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (isinstance(self.n_iterations, str) and self.n_iterations == "auto"):
            check_steps("n_iterations", self.n_iterations, 0, "'auto' or ")
        check_number("tempering", self.tempering, math.ulp(0.0), 1, "a number above 0, at most 1")

    @property
    def n_iterations_(self) -> int:
        """How often words were moved."""
        return self._parameters.n_iterations

    def _choose_iterations(self) -> int:
        if self.n_iterations == "auto":
            return choose_iterations(self, self._documents.in_order)
        return int(self.n_iterations)

    @property
    def _tempering(self) -> float:
        return float(self.tempering)
