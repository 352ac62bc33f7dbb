// What ends a photon-perf rank early: a sentence for the user.
// Owner: none.
#pragma once

#include <stdexcept>
#include <string>

namespace photon::perf {

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace photon::perf
