// 64 bits of each text, by which a text that was learned is told from others.
//
// The hash is that of the text's UTF-8 bytes, so that it does not depend on how Python or Arrow keeps the
// text. (A surrogate alone, which UTF-8 does not have, is encoded as if it had.) Model files hold these
// numbers: changing them needs a new format version.
//
// Cost: one wide multiplication per 16 bytes; texts beyond ASCII are encoded first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace genus {

std::vector<std::uint64_t> text_keys(std::span<const Text> texts, int n_threads);

}  // namespace genus
