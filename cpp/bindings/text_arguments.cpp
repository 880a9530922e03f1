#include "bindings/text_arguments.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>
#include <string_view>

namespace nb = nanobind;

extern "C" {
// The Arrow C data interface: a fixed ABI, laid out as its specification says.
struct ArrowSchema {
  const char *format, *name, *metadata;
  std::int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace genus::bindings {
namespace {

constexpr std::size_t longest_text = std::size_t{1} << 30;

void check_length(std::size_t row, std::size_t length) {
  if (length > longest_text)
    throw nb::value_error(
        ("row " + std::to_string(row) + ": the text is longer than 2^30 characters").c_str());
}

#ifdef Py_LIMITED_API
// The stable ABI does not show how a str lies in memory. It gives UTF-8: for ASCII, the str's own bytes; for
// other texts a copy that the str keeps. A str with lone surrogates has no UTF-8, and is copied for this
// call.
Text view_of_str(PyObject* s, std::vector<std::function<void()>>& releases) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(s, &size);
  if (utf8 != nullptr) {
    const bool ascii = size == PyUnicode_GetLength(s);
    return {utf8, static_cast<std::size_t>(size), ascii ? Text::Encoding::ascii : Text::Encoding::utf8};
  }
  PyErr_Clear();
  Py_UCS4* codes = PyUnicode_AsUCS4Copy(s);
  if (codes == nullptr) throw nb::python_error();
  releases.emplace_back([codes] { PyMem_Free(codes); });
  return {codes, static_cast<std::size_t>(PyUnicode_GetLength(s)), Text::Encoding::ucs4};
}
#else
Text view_of_str(PyObject* s, std::vector<std::function<void()>>&) {
  const auto encoding = [&] {
    if (PyUnicode_IS_ASCII(s)) return Text::Encoding::ascii;
    switch (PyUnicode_KIND(s)) {
      case PyUnicode_1BYTE_KIND:
        return Text::Encoding::latin1;
      case PyUnicode_2BYTE_KIND:
        return Text::Encoding::ucs2;
      default:
        return Text::Encoding::ucs4;
    }
  };
  return {PyUnicode_DATA(s), static_cast<std::size_t>(PyUnicode_GET_LENGTH(s)), encoding()};
}
#endif

bool is_null(const ArrowArray& array, std::int64_t i) {
  if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return false;
  return (static_cast<const std::uint8_t*>(array.buffers[0])[i / 8] >> (i % 8) & 1) == 0;
}

template <class Offset>
Text by_offsets(const ArrowArray& array, std::int64_t i) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  const auto* bytes = static_cast<const char*>(array.buffers[2]);
  return {bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]), Text::Encoding::utf8};
}

// A view: the length, then up to 12 bytes in place, or a prefix, a buffer's number and an offset in it.
Text by_view(const ArrowArray& array, std::int64_t i) {
  const char* view = static_cast<const char*>(array.buffers[1]) + 16 * i;
  std::int32_t fields[4];
  std::memcpy(fields, view, sizeof fields);
  const auto length = static_cast<std::size_t>(fields[0]);
  if (length <= 12) return {view + 4, length, Text::Encoding::utf8};
  return {static_cast<const char*>(array.buffers[2 + fields[2]]) + fields[3], length, Text::Encoding::utf8};
}

std::int64_t code_at(const ArrowArray& array, char format, std::int64_t i) {
  const auto read = [&](auto type) {
    return static_cast<std::int64_t>(static_cast<const decltype(type)*>(array.buffers[1])[i]);
  };
  switch (format) {
    case 'c':
      return read(std::int8_t{});
    case 'C':
      return read(std::uint8_t{});
    case 's':
      return read(std::int16_t{});
    case 'S':
      return read(std::uint16_t{});
    case 'i':
      return read(std::int32_t{});
    case 'I':
      return read(std::uint32_t{});
    default:
      return read(std::int64_t{});
  }
}

}  // namespace

Texts::Texts(nb::handle source) {
  if (nb::hasattr(source, "__arrow_c_stream__")) {
    borrow_arrow(source);
  } else {
    borrow_sequence(source);
  }
}

Texts::~Texts() {
  for (const auto& release : releases_) release();
}

void Texts::borrow_sequence(nb::handle source) {
  // A tuple of our own: the caller's list may change while the GIL is released, the tuple cannot.
  owner_ = nb::steal(PySequence_Tuple(source.ptr()));
  if (!owner_.is_valid()) throw nb::python_error();
  const std::size_t n = nb::len(owner_);
  views_.reserve(n);
  constexpr std::size_t ahead = 8;
  for (std::size_t row = 0; row < n; ++row) {
    if (row + ahead < n)
      __builtin_prefetch(NB_TUPLE_GET_ITEM(owner_.ptr(), static_cast<Py_ssize_t>(row + ahead)));
    PyObject* item = NB_TUPLE_GET_ITEM(owner_.ptr(), static_cast<Py_ssize_t>(row));
    if (!PyUnicode_Check(item))
      throw nb::type_error(("row " + std::to_string(row) + ": expected a text (str), got " +
                            nb::cast<std::string>(nb::handle(item).type().attr("__name__")))
                               .c_str());
    views_.push_back(view_of_str(item, releases_));
    check_length(row, views_.back().length);
  }
}

void Texts::borrow_arrow(nb::handle source) {
  owner_ = nb::borrow(source).attr("__arrow_c_stream__")();
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(owner_.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* why = stream->get_last_error(stream);
    throw std::runtime_error(std::string("reading the Arrow array: ") + (why ? why : "unknown error"));
  };
  ArrowSchema schema{};
  check(stream->get_schema(stream, &schema));
  const std::string format = schema.format;
  const std::string value_format = schema.dictionary ? schema.dictionary->format : schema.format;
  const bool encoded = schema.dictionary != nullptr;
  schema.release(&schema);
  if (value_format != "u" && value_format != "U" && value_format != "vu")
    throw nb::type_error(
        ("expected an Arrow array of strings, got one of Arrow format '" + value_format + "'").c_str());
  const auto text_at = [&](const ArrowArray& array, std::int64_t i) {
    return value_format == "u"   ? by_offsets<std::int32_t>(array, i)
           : value_format == "U" ? by_offsets<std::int64_t>(array, i)
                                 : by_view(array, i);
  };

  while (true) {
    auto* array = new ArrowArray{};
    releases_.emplace_back([array] {
      if (array->release) array->release(array);
      delete array;
    });
    check(stream->get_next(stream, array));
    if (array->release == nullptr) break;
    for (std::int64_t k = 0; k < array->length; ++k) {
      const ArrowArray* values = array;
      std::int64_t i = array->offset + k;
      bool null = is_null(*array, i);
      if (encoded && !null) {
        values = array->dictionary;
        i = values->offset + code_at(*array, format[0], i);
        null = is_null(*values, i);
      }
      if (null)
        throw nb::value_error(("row " + std::to_string(views_.size()) + " holds no text (null)").c_str());
      views_.push_back(text_at(*values, i));
      check_length(views_.size() - 1, views_.back().length);
    }
  }
}

}  // namespace genus::bindings
