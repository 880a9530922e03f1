#include "arrays.h"

namespace genus::bindings {

void add_multinomial(nb::module_&) {}

}  // namespace genus::bindings
