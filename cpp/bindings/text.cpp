#include "arrays.h"

namespace genus::bindings {

void add_text(nb::module_&) {}

}  // namespace genus::bindings
