// Characters as Python sees them: \w, \s, str.lower and NFKD, by the tables of one Unicode version: that of
// the interpreter, which the bindings choose when they are imported.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace genus {

struct Character {
  std::int32_t flags;
  std::int32_t lower_delta;

  enum Flag : std::int32_t {
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

// A sorted list of code points, each with a range of replacement code points.
struct Expansions {
  std::span<const std::uint32_t> keys, offsets, targets;
};

// A two-stage table: code point -> page -> record.
struct CharacterTable {
  std::span<const Character> records;
  std::span<const std::uint16_t> page_of, pages;
  Expansions lower, nfkd;  // NFKD without combining marks; Hangul syllables follow a formula
};

// Chooses the tables for this process, before any text is read; false if this version is not compiled in.
bool use_unicode(std::string_view version);

// As use_unicode, with a table from elsewhere; what it points to must live as long as the process.
void use_characters(const CharacterTable& table);

// Appends str.lower of the text, with the final form of sigma where Python puts it.
void append_lower(std::span<const std::uint32_t> text, std::vector<std::uint32_t>& out);

// Appends the NFKD form without combining marks; with ascii_only, without anything beyond ASCII.
void append_without_accents(std::span<const std::uint32_t> text, bool ascii_only,
                            std::vector<std::uint32_t>& out);

}  // namespace genus
