// Texts from Python, borrowed where they lie: str objects, or Arrow string arrays by the C stream interface.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace genus::bindings {

class Texts {
 public:
  // A list or tuple of str, or an object with __arrow_c_stream__. Raises TypeError or ValueError naming the
  // row.
  explicit Texts(nanobind::handle source);
  ~Texts();
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  std::span<const Text> views() const { return views_; }

 private:
  void borrow_sequence(nanobind::handle source);
  void borrow_arrow(nanobind::handle source);

  std::vector<Text> views_;
  nanobind::object owner_;                       // keeps the str objects alive while the GIL is released
  std::vector<std::function<void()>> releases_;  // gives Arrow arrays back
};

}  // namespace genus::bindings
