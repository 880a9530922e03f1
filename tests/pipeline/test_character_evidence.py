"""N-grams of characters are told as the words that they are in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from genus import Vectorizer
from genus.pipeline.evidence import spread_over_words

TEXT = st.text(st.sampled_from("aAbé .,!\n\t\u00a0\x1cİßΣ日"), max_size=30)


def spread(vectorizer, text):
    """The words with what they contribute, and the sum of what the n-grams do."""
    rows = vectorizer._transform_rows([text])[0]
    values = np.random.default_rng(0).normal(size=len(rows.indices))
    return spread_over_words(vectorizer, text, rows, values), float(values.sum())


@given(
    text=TEXT,
    other=TEXT,
    ngram_range=st.sampled_from([(1, 1), (1, 3), (3, 5)]),
    analyzer=st.sampled_from(["char", "char_wb"]),
    strip_accents=st.sampled_from([None, "unicode", "ascii"]),
    n_hash=st.sampled_from([None, 7]),
)
@settings(deadline=None, max_examples=300)
@example("", "", (3, 5), "char", None, None)
@example("  ", "", (1, 1), "char", None, None)
def test_contributions_of_words_add_up_to_those_of_n_grams(text, other, ngram_range, analyzer, strip_accents, n_hash):
    vectorizer = Vectorizer(analyzer=analyzer, ngram_range=ngram_range, strip_accents=strip_accents, n_hash=n_hash)
    vectorizer.fit([f"some words {other}"])
    words, total = spread(vectorizer, text)
    assert sum(value for _, value in words.values()) == pytest.approx(total, abs=1e-9)


def test_presence_is_shared_among_all_places():
    vectorizer = Vectorizer(analyzer="char", ngram_range=(2, 2), binary=True).fit(["abab ab"])
    words, total = spread(vectorizer, "abab ab")
    assert sum(value for _, value in words.values()) == pytest.approx(total)
    assert {word: n for word, (n, _) in words.items()} == {"abab": 1, "ab": 1}


def test_an_n_gram_from_word_to_word_is_shared_by_its_characters():
    vectorizer = Vectorizer(analyzer="char", ngram_range=(4, 4), vocabulary=["w fa"])
    rows = vectorizer._transform_rows(["How far, HOW far?"])[0]
    assert rows.data.tolist() == [2]
    assert spread_over_words(vectorizer, "How far, HOW far?", rows, np.array([4.0])) == {
        "how": (2, pytest.approx(2.0)),
        "far": (2, pytest.approx(2.0)),
    }
