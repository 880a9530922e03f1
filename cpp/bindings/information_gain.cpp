#include "tables/information_gain.h"

#include "bindings/word_tables.h"

namespace genus::bindings {

void bind_information_gain(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "information_gain",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<std::int64_t>& counts,
         const In<std::int64_t>& totals, int n_threads) {
        const auto present = word_table<std::int64_t>(indptr, classes, counts);
        require(within(present.classes, static_cast<std::int64_t>(totals.size())),
                "information gain: arrays do not belong together");
        std::vector<double> gain;
        {
          const nb::gil_scoped_release released;
          gain = information_gain(present, view(totals), n_threads);
        }
        return give(std::move(gain));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "totals"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace genus::bindings
