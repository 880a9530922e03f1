"""Several labels per text: models, the choice of labels from their probabilities, and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genus._lazy import lazy_names

if TYPE_CHECKING:
    from genus.multilabel.decoding import LabelDecoder
    from genus.multilabel.likelihood_ratio import LikelihoodRatioMultilabel
    from genus.multilabel.metrics import label_scores, ranking_scores, set_scores
    from genus.multilabel.powerset import LabelPowerset

__all__ = [
    "LabelDecoder",
    "LabelPowerset",
    "LikelihoodRatioMultilabel",
    "label_scores",
    "ranking_scores",
    "set_scores",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "LabelDecoder": "genus.multilabel.decoding",
        "LikelihoodRatioMultilabel": "genus.multilabel.likelihood_ratio",
        "label_scores": "genus.multilabel.metrics",
        "ranking_scores": "genus.multilabel.metrics",
        "set_scores": "genus.multilabel.metrics",
        "LabelPowerset": "genus.multilabel.powerset",
    },
)
