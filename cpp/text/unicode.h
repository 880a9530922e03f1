// Characters as Python sees them: \w, \s, str.lower and NFKD, from tables generated at build time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace genus {

struct Character {
  std::uint8_t flags;
  std::int32_t lower_delta;

  enum Flag : std::uint8_t {
    word = 1,             // matches \w
    space = 2,            // matches \s
    cased = 4,            // cased and not case-ignorable
    case_ignorable = 8,   //
    unspaced = 16,        // a letter or mark of a script without spaces between words
    combining = 32,       // a mark with a combining class
    decomposes = 64,      // differs from its NFKD form
    lower_expands = 128,  // its lower case is more than one character
  };
  bool is(Flag flag) const { return (flags & flag) != 0; }
};

const Character& character(std::uint32_t code);

// Appends str.lower of the text, with the final form of sigma where Python puts it.
void append_lower(std::span<const std::uint32_t> text, std::vector<std::uint32_t>& out);

// Appends the NFKD form without combining marks; with ascii_only, without anything beyond ASCII.
void append_without_accents(std::span<const std::uint32_t> text, bool ascii_only,
                            std::vector<std::uint32_t>& out);

}  // namespace genus
