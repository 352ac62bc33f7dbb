// Pictures to fields and back. Failures throw std::runtime_error: the file's name and the cause.
#pragma once

#include <string>

#include "field.hpp"

namespace heat2d {

// Any PNG, grey or colour, with or without transparency: brightness 0 .. 1 is the temperature.
Field read_png(const std::string& path);

// Fails now if write_png() could not create `path` later: before the work, not after it.
void require_writable(const std::string& path);

// The coldest cell black, the hottest white, by way of violet, red and yellow.
void write_png(const std::string& path, const Field& field);

}  // namespace heat2d
