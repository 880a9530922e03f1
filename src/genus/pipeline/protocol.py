"""What a fitted classifier of texts can do: `TextPipeline`, `Pool` and `LabelPool` all do it.

A question that one of them cannot answer raises a ValueError that says why and what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from numpy.typing import ArrayLike

from genus.base.arrays import Float64
from genus.base.labels import Labels
from genus.base.protocol import Label, Params, Targets
from genus.pipeline.evidence import Evidence
from genus.pipeline.vector_reader import Reader
from genus.text.inputs import Texts
from genus.text.weighting import TermWeighting

if TYPE_CHECKING:
    from genus.pipeline.label_pool import LabelPool
    from genus.pipeline.pool import Pool
    from genus.pipeline.single import TextPipeline

ChooseClasses: TypeAlias = Callable[[Float64], tuple[int, int]]  # from log P(c | d): a class and its rival, by number


class PoolMember(Protocol):
    """A member of a pool, as it is shown to users."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Params: ...

    @property
    def vectorizer(self) -> Reader: ...


class FittedPipeline(Protocol):
    """Texts in, labels, probabilities and evidence out."""

    # What it is

    @property
    def name(self) -> str: ...

    @property
    def exclusive(self) -> bool:
        """Whether a text has one label."""

    @property
    def classes_(self) -> Labels: ...

    @property
    def vectorizer(self) -> Reader: ...

    @property
    def weighting(self) -> TermWeighting | None: ...

    @property
    def model(self) -> Any:
        """The fitted model; a pool is its own."""

    @property
    def members(self) -> Sequence[PoolMember]: ...

    @property
    def pipelines(self) -> Sequence[TextPipeline]:
        """The members that have a model of their own."""

    # Answers. With ``reject``, texts less typical than that share of held-out texts are answered with None.

    def log_proba(self, texts: Texts) -> Float64: ...

    def answers(self, texts: Texts, reject: float | None = None) -> Targets:
        """An array of labels; a list of sets, where a text has several."""

    def answer_one(self, text: str) -> Label | set[Label]: ...

    def top(self, texts: Texts, k: int, reject: float | None = None) -> tuple[Labels, Float64]: ...

    def answer_nodes(
        self, texts: Texts, level: int | None, min_proba: float | None, reject: float | None = None
    ) -> tuple[Labels, Float64]: ...

    def typicality(self, texts: Texts) -> Float64: ...

    def leave_one_out(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> Float64: ...

    # Evidence

    def explained(self, text: str, choose: ChooseClasses) -> tuple[Float64, Evidence]:
        """log P(c | text), and the evidence for one class against another; the text is counted and scored once."""

    def top_words(self, c: int, n: int) -> list[tuple[str, float]]: ...

    # Learning

    def writable(self) -> Self:
        """A copy that can learn while this one answers: nothing that they share is changed.

        Models that learn online are not copied: these change while they answer.
        """

    @property
    def learns_online(self) -> bool: ...

    def learn_one(self, text: str, label: Label, weight: float) -> None: ...

    def partial_fit(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None: ...

    def unlearn(self, texts: Texts, labels: Labels, sample_weight: ArrayLike | None) -> None: ...

    def unlearn_documents(self, numbers: ArrayLike) -> None: ...


if TYPE_CHECKING:

    def _every(
        single: TextPipeline, pool: Pool, label_pool: LabelPool
    ) -> tuple[FittedPipeline, FittedPipeline, FittedPipeline]:
        return single, pool, label_pool
