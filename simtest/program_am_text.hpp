// What a program does with active messages, in words.
// Owner: none; pure functions.
#pragma once

#include <string>

#include "simtest/program.hpp"

namespace photon::simtest {

const char* am_name_of(Verb verb);
std::string am_text(const Step& step);

constexpr bool is_am(Verb verb) noexcept {
  return verb >= Verb::am_small && verb <= Verb::am_begin;
}

}  // namespace photon::simtest
