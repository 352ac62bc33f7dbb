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

// One that every rank runs into alike. Rank 0 tells the user and fails for all, the others end in
// silence: photonrun ends the job at the first failure, so one of theirs would leave it unheard.
class CommonFailure : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace photon::perf
