"""Discriminative naive Bayes as its authors carried it out in WEKA, and as their paper has it: plain loops.

A model is one class against the rest, with two sides. Evidence is what losses have added; W = ln A + evidence.
"""

from __future__ import annotations

import math


class Side:
    """What one side of a model has seen: per word, of all words, of documents."""

    def __init__(self):
        self.words = {}
        self.all_words = 0.0
        self.documents = 0.0

    def add(self, loss, amounts):
        for w, amount in amounts.items():
            self.words[w] = self.words.get(w, 0.0) + loss * amount
        self.all_words += loss * sum(amounts.values())
        self.documents += loss

    def fade(self, factor):
        self.words = {w: factor * e for w, e in self.words.items()}
        self.all_words *= factor
        self.documents *= factor

    def copy(self):
        other = Side()
        other.words, other.all_words, other.documents = dict(self.words), self.all_words, self.documents
        return other

    def plus(self, other):
        total = self.copy()
        for w, e in other.words.items():
            total.words[w] = total.words.get(w, 0.0) + e
        total.all_words += other.all_words
        total.documents += other.documents
        return total


class Learner:
    """One document at a time. Labels count from their first document on, unless declared before."""

    def __init__(self, n_words, *, binary=True, variant="weka", decay=None, average=False, min_loss=0.0, labels=()):
        self.n_words = n_words
        self.binary, self.joint = binary, variant == "paper"
        self.decay, self.average, self.min_loss = decay, average, min_loss
        self.labels, self.models = [], []
        self.past = []  # copies of the models after each document
        for label in labels:
            self.declare(label)

    def declare(self, label):
        if label in self.labels:
            return
        self.labels.append(label)
        k = len(self.labels)
        for models in (self.models, *self.past):
            if self.joint or k == 1 or k > 3:
                models.append((Side(), Side()))
            elif k == 3:  # the second class, so far the rest of the first, has a model of its own from now on
                inside, outside = models[0]
                models += [(outside.copy(), inside.copy()), (Side(), Side())]

    def features(self, x):
        if self.binary:
            return {w: 1.0 for w, value in enumerate(x) if value > 0}
        return {w: float(value) for w, value in enumerate(x) if value > 0}

    def log_odds(self, models, words):
        big_a = max(self.n_words, 1) + 1
        word_prior, total_prior = (
            (1.0, max(self.n_words, 1)) if self.joint else (math.log(big_a), big_a * math.log(big_a))
        )

        def ratio(inside, outside, prior):
            return math.log((prior + inside) / (prior + outside))

        def log_odds(inside, outside):
            terms = [ratio(inside.documents, outside.documents, 1)]
            for w, x in words.items():
                terms.append(x * ratio(inside.words.get(w, 0.0), outside.words.get(w, 0.0), word_prior))
                terms.append(-x * ratio(inside.all_words, outside.all_words, total_prior))
            return math.fsum(terms)

        return [log_odds(inside, outside) for inside, outside in models]

    def scores(self, x):
        """The log odds of each class, in the order in which they came; with two classes, of the first and 0."""
        models = self.averaged() if self.average and self.past else self.models
        found = self.log_odds(models, self.features(x))
        return found if self.joint or len(self.labels) != 2 else [*found, 0.0]

    def averaged(self):
        zero = [(Side(), Side()) for _ in self.models]
        for moment in self.past:
            zero = [(a.plus(c), b.plus(d)) for (a, b), (c, d) in zip(zero, moment, strict=True)]
        for inside, outside in zero:
            inside.fade(1 / len(self.past))
            outside.fade(1 / len(self.past))
        return zero

    def learn(self, x, label, weight=1.0):
        self.declare(label)
        if weight == 0:
            return
        own, words = self.labels.index(label), self.features(x)
        if self.decay is not None:
            for inside, outside in self.models:
                inside.fade(2 ** (-1 / self.decay))
                outside.fade(2 ** (-1 / self.decay))
        odds = self.log_odds(self.models, words)
        amounts = dict.fromkeys(words, 1.0) if self.joint else words
        if self.joint:
            loss = 1 - softmax(odds)[own]
            if loss > self.min_loss:
                self.models[own][0].add(weight * loss, amounts)
        else:
            for m, (model, s) in enumerate(zip(self.models, odds, strict=True)):
                loss = sigmoid(-s) if m == own else sigmoid(s)
                if loss > self.min_loss:
                    model[0 if m == own else 1].add(weight * loss, amounts)
        if self.average:
            self.past.append([(a.copy(), b.copy()) for a, b in self.models])


def sigmoid(s):
    return 1 / (1 + math.exp(-s)) if s > -700 else 0.0


def softmax(scores):
    largest = max(scores)
    terms = [math.exp(s - largest) for s in scores]
    return [t / sum(terms) for t in terms]
