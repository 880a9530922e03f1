"""What encoders offer, asked at run time; mypy checks the signatures."""

import numpy as np
import pytest

from genus import WordVectors
from genus.base.protocol import offers
from genus.text.encoder import Encoder, TellsParts
from genus.vectors import as_encoder
from genus.vectors.adapters import MissingEncoder

TABLE = WordVectors.from_words(["goal", "match"], np.eye(2))


@pytest.mark.parametrize(
    ("encoder", "tells_parts"),
    [
        (TABLE, True),
        (as_encoder(lambda texts: np.ones((len(texts), 2)), name="ones"), False),
        (MissingEncoder("gone", 2), False),
    ],
)
def test_encoders_offer_what_they_can_do(encoder: Encoder, tells_parts: bool) -> None:
    assert offers(encoder, Encoder)
    assert offers(encoder, TellsParts) == tells_parts
    assert isinstance(encoder.name, str)
    assert encoder.n_dimensions == 2
