#include "base/checksum.h"

#include "bindings/arrays.h"

namespace genus::bindings {

void bind_checksum(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "checksum",
      [](const In<std::uint8_t>& bytes) {
        const nb::gil_scoped_release released;
        return checksum(view(bytes));
      },
      "bytes"_a.noconvert());
}

}  // namespace genus::bindings
