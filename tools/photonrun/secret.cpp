#include "secret.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace photonrun {

Secret make_secret() {
  Secret secret;
  if (::getrandom(secret.data(), secret.size(), 0) < 0) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return secret;
}

Term term_of(unsigned generation, const Secret& of_the_first) {
  Term term{.generation = generation, .secret = of_the_first};
  for (unsigned i = 0; i < sizeof generation; ++i)
    term.secret[i] ^= static_cast<std::uint8_t>(generation >> (8 * i));
  return term;
}

}  // namespace photonrun
