"""The receipt of a `TextClassifier`: of texts, their labels and weights (see `genus.base.receipt`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numpy.typing import ArrayLike

from genus.base.arrays import Int64, n_threads
from genus.base.labels import Labels
from genus.base.protocol import RemembersDocuments, Unlearns, offers
from genus.base.receipt import NeverLearnedError, Receipt
from genus.base.validation import check_weights
from genus.pipeline.protocol import FittedPipeline
from genus.pipeline.single import TextPipeline
from genus.text.inputs import GivenLabels, ReadTexts, holds_sets, pair, split_unlabeled


def no_receipt(pipeline: FittedPipeline) -> Receipt | None:
    """The receipt of no texts; None for classifiers that cannot unlearn.

    Where words are hashed and the model keeps sums, the receipt has no hashes of texts, so that memory stays bounded.
    """
    parts = pipeline.pipelines
    if not parts or not all(offers(part.model, Unlearns) for part in parts):
        return None
    hashed = any(part.vectorizer.n_hash is not None for part in parts)
    return Receipt(0, 0, None if hashed and not numbers_documents(pipeline) else ())


def numbers_documents(pipeline: FittedPipeline) -> bool:
    """Whether documents have numbers, by which they can be unlearned."""
    return isinstance(pipeline, TextPipeline) and offers(pipeline.model, RemembersDocuments)


def with_texts(
    before: Receipt | None, texts: ReadTexts, labels: Labels, sample_weight: ArrayLike | None, n_jobs: int | None
) -> Receipt | None:
    """The receipt with more texts; None where it was not known before."""
    return None if before is None else before.plus(_receipt_of(texts, labels, sample_weight, n_jobs))


def with_labeled(
    before: Receipt | None, texts: ReadTexts, labels: GivenLabels, sample_weight: ArrayLike | None, n_jobs: int | None
) -> Receipt | None:
    """As `with_texts`, where some texts may be without label: these do not count."""
    if before is None or holds_sets(labels):
        return None
    given = split_unlabeled(texts, labels, sample_weight, None, None)
    return with_texts(before, *pair(given.texts, given.labels), given.sample_weight, n_jobs)


def without_texts(
    before: Receipt | None, texts: ReadTexts, labels: Labels, sample_weight: ArrayLike | None, n_jobs: int | None
) -> Receipt | None:
    """The receipt as if these texts had never come. Raises ValueError where one never did."""
    if before is None:
        return None
    with _naming(labels):
        return before.without(_receipt_of(texts, labels, sample_weight, n_jobs))


def numbers_of(
    known: Receipt, texts: ReadTexts, labels: Labels, sample_weight: ArrayLike | None, n_jobs: int | None
) -> Int64:
    """The numbers of these texts among those that were learned. Raises ValueError where one never was."""
    with _naming(labels):
        return known.locate(_receipt_of(texts, labels, sample_weight, n_jobs))


@contextmanager
def _naming(labels: Labels) -> Iterator[None]:
    """A ValueError that names the text which was never learned."""
    try:
        yield
    except NeverLearnedError as error:
        label = labels[error.number : error.number + 1].tolist()[0]
        raise ValueError(
            f"Text {error.number} was never learned with the label {label!r} and this weight; nothing was unlearned."
        ) from None


def _receipt_of(texts: ReadTexts, labels: Labels, sample_weight: ArrayLike | None, n_jobs: int | None) -> Receipt:
    return Receipt.of_texts(texts, labels, check_weights(sample_weight, len(labels)), n_threads(n_jobs))
