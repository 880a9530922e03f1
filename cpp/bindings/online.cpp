// Learning online, for Python.
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "bindings/arrays.h"
#include "online/learner.h"

namespace genus::bindings {
namespace {

using namespace nb::literals;

// A learner that threads of Python may share: many score at a time, one learns.
class SharedLearner {
 public:
  explicit SharedLearner(OnlineLearner&& learner) : learner_(std::move(learner)) {}

  // Calls work(learner) without the GIL; arrays borrowed by the caller stay alive in its frame.
  template <class Work>
  auto reading(Work&& work) const {
    const nb::gil_scoped_release released;
    const std::shared_lock lock(mutex_);
    return work(learner_);
  }
  template <class Work>
  auto writing(Work&& work) {
    const nb::gil_scoped_release released;
    const std::unique_lock lock(mutex_);
    return work(learner_);
  }

 private:
  OnlineLearner learner_;
  mutable std::shared_mutex mutex_;
};

OnlineOptions options(bool binary, bool joint, bool average, double half_life, double min_loss) {
  return {binary, joint, average, half_life, min_loss};
}

using Sides = std::tuple<Out<double>, Out<double>>;

Sides give_sides(OnlineLearner::Evidence&& found) {
  return {give(std::move(found.in)), give(std::move(found.out))};
}

template <class Value>
void add_for(nb::class_<SharedLearner>& learner) {
  learner.def(
      "learn",
      [](SharedLearner& self, const In<std::int64_t>& rows, const In<std::int32_t>& columns,
         const In<Value>& values, const In<std::int32_t>& codes, const In<double>& weights,
         const In<std::int64_t>& order, int n_threads) {
        const auto documents = csr<Value>(rows, columns, values);
        const auto n = documents.rows();
        require(std::ssize(view(codes)) == n && std::ssize(view(weights)) == n,
                "learn: one class and one weight for each document are needed");
        self.writing([&](OnlineLearner& l) {
          for (const auto d : view(order)) require(d >= 0 && d < n, "learn: there is no such document");
          for (const auto c : view(codes)) require(c >= 0 && c < l.n_classes(), "learn: no such class");
          l.learn(documents, view(codes), view(weights), view(order), n_threads);
        });
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "codes"_a.noconvert(),
      "weights"_a.noconvert(), "order"_a.noconvert(), "n_threads"_a);
  learner.def(
      "score",
      [](const SharedLearner& self, const In<std::int64_t>& rows, const In<std::int32_t>& columns,
         const In<Value>& values, const In<std::int32_t>& place, const Matrix& out, int n_threads) {
        const auto documents = csr<Value>(rows, columns, values);
        self.reading([&](const OnlineLearner& l) {
          const auto n = std::ssize(view(place));
          require(n <= l.n_classes() && static_cast<std::int64_t>(out.shape(1)) == n &&
                      static_cast<std::int64_t>(out.shape(0)) == documents.rows(),
                  "score: arrays do not belong together");
          for (const auto c : view(place)) require(c >= 0 && c < n, "score: no such class");
          l.score(documents, view(place), view(out), n_threads);
        });
      },
      "rows"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "place"_a.noconvert(),
      "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace

void bind_online(nb::module_& m) {
  nb::class_<OnlineOptions>(m, "OnlineOptions", "How an OnlineLearner counts.")
      .def(nb::new_(&options), "binary"_a, "joint"_a, "average"_a, "half_life"_a, "min_loss"_a)
      .def_ro("binary", &OnlineOptions::binary)
      .def_ro("joint", &OnlineOptions::joint)
      .def_ro("average", &OnlineOptions::average)
      .def_ro("half_life", &OnlineOptions::half_life)
      .def_ro("min_loss", &OnlineOptions::min_loss);

  nb::class_<SharedLearner> learner(m, "OnlineLearner", "Evidence counted by a model's own mistakes.");
  learner
      .def(nb::new_([](const OnlineOptions& o) { return new SharedLearner(OnlineLearner(o)); }), "options"_a)
      .def_static(
          "over",
          [](const OnlineOptions& o, std::int64_t n_words, std::int32_t n_classes, double fading,
             double n_learned, const In<std::int64_t>& starts, const In<std::int32_t>& words,
             const In<double>& rows, const In<double>& sums) {
            return new SharedLearner(OnlineLearner(o, {n_words, n_classes, fading, n_learned, view(starts),
                                                       view(words), view(rows), view(sums)}));
          },
          "options"_a, "n_words"_a, "n_classes"_a, "fading"_a, "n_learned"_a, "starts"_a.noconvert(),
          "words"_a.noconvert(), "rows"_a.noconvert(), "sums"_a.noconvert(), nb::keep_alive<0, 8>(),
          "A learner that reads these rows where they are, until it learns.")
      .def(
          "grow",
          [](SharedLearner& self, std::int64_t n_words, std::int32_t n_classes) {
            self.writing([&](OnlineLearner& l) { l.grow(n_words, n_classes); });
          },
          "n_words"_a, "n_classes"_a)
      .def("averaged",
           [](const SharedLearner& self) {
             return new SharedLearner(self.reading([](const OnlineLearner& l) { return l.averaged(); }));
           })
      .def(
          "evidence",
          [](const SharedLearner& self, std::int32_t c, const In<std::int64_t>& words) {
            return give_sides(
                self.reading([&](const OnlineLearner& l) { return l.evidence(c, view(words)); }));
          },
          "c"_a, "words"_a.noconvert())
      .def(
          "totals",
          [](const SharedLearner& self, std::int32_t c) {
            return give_sides(self.reading([&](const OnlineLearner& l) { return l.totals(c); }));
          },
          "c"_a)
      .def("arrays",
           [](const SharedLearner& self) {
             OnlineLearner::Arrays all = self.reading([](const OnlineLearner& l) { return l.arrays(); });
             return std::make_tuple(give(std::move(all.starts)), give(std::move(all.words)),
                                    give(std::move(all.rows)), give(std::move(all.sums)));
           })
      .def_prop_ro("n_words",
                   [](const SharedLearner& self) {
                     return self.reading([](const OnlineLearner& l) { return l.n_words(); });
                   })
      .def_prop_ro("fading",
                   [](const SharedLearner& self) {
                     return self.reading([](const OnlineLearner& l) { return l.fading(); });
                   })
      .def_prop_ro("n_learned", [](const SharedLearner& self) {
        return self.reading([](const OnlineLearner& l) { return l.n_learned(); });
      });
  add_for<float>(learner);
  add_for<double>(learner);
  add_for<std::int64_t>(learner);
}

}  // namespace genus::bindings
