"""How well a classifier does: metrics computed in constant memory, and an HTML report of them.

>>> from genus import TextClassifier
>>> clf = TextClassifier().fit(["a good film", "good fun", "a dull film", "dull"], ["+", "+", "-", "-"])
>>> result = evaluate(clf, ["good", "dull film", "good but dull dull"], ["+", "-", "+"])
>>> round(result.accuracy, 3), [(m.truth, m.predicted) for m in result.mistakes]
(0.667, [('+', '-')])
"""

from genus.report.label_sets import LabelEvaluation
from genus.report.marks import marks_page
from genus.report.metrics import Bin, ClassScore, Evaluation, Mistake, evaluate
from genus.report.page import explanation_page, make_page

__all__ = [
    "Bin",
    "ClassScore",
    "Evaluation",
    "LabelEvaluation",
    "Mistake",
    "evaluate",
    "explanation_page",
    "make_page",
    "marks_page",
]
