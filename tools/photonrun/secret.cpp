#include "secret.hpp"

#include <span>

#include "call_failed.hpp"

namespace photonrun {

Secret make_secret() {
  Secret secret;
  fill_random(std::as_writable_bytes(std::span(secret)));
  return secret;
}

Term term_of(unsigned generation, const Secret& of_the_first) {
  Term term{.generation = generation, .secret = of_the_first};
  for (unsigned i = 0; i < sizeof generation; ++i)
    term.secret[i] ^= static_cast<std::uint8_t>(generation >> (8 * i));
  return term;
}

}  // namespace photonrun
