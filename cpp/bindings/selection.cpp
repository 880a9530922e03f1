#include <algorithm>

#include "bindings/arrays.h"
#include "tables/information_gain.h"

namespace genus::bindings {

void add_selection(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "information_gain",
      [](const In<std::int64_t>& indptr, const In<std::int32_t>& classes, const In<std::int64_t>& counts,
         const In<std::int64_t>& totals, int n_threads) {
        const auto n = static_cast<std::int64_t>(totals.size());
        const auto ids = view(classes);
        if (indptr.size() == 0 || classes.size() != counts.size() ||
            std::any_of(ids.begin(), ids.end(), [n](std::int32_t c) { return c < 0 || c >= n; }))
          throw std::invalid_argument("information gain: arrays do not belong together");
        std::vector<double> gain;
        {
          const nb::gil_scoped_release released;
          gain = information_gain({view(indptr), ids, view(counts)}, view(totals), n_threads);
        }
        return give(std::move(gain));
      },
      "indptr"_a.noconvert(), "classes"_a.noconvert(), "counts"_a.noconvert(), "totals"_a.noconvert(),
      "n_threads"_a);
}

}  // namespace genus::bindings
