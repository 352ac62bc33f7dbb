#include "host_handshake.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace photonrun {
namespace {

std::string of_versions(std::uint32_t magic, std::uint16_t version, std::uint16_t launch_version) {
  if (magic != kHostMagic) return "is no photonrun";
  if (version != kHostVersion || launch_version != PH_LAUNCH_VERSION) {
    return fmt::format(
        "speaks versions {} and {} of the protocols, here are {} and {}; use the "
        "photonrun of one release on all hosts",
        version, launch_version, kHostVersion, +PH_LAUNCH_VERSION);
  }
  return {};
}

}  // namespace

std::string objection(const Hello& hello) {
  if (auto why = of_versions(hello.magic, hello.version, hello.launch_version); !why.empty()) {
    return why;
  }
  return hello.ranks == 0 || hello.ranks > kMaxRanks ? "asks for no sensible number of ranks" : "";
}

std::string objection(const Challenge& challenge) {
  return of_versions(challenge.magic, challenge.version, challenge.launch_version);
}

std::string host_of(const Hello& hello) {
  std::string name(hello.host.begin(), std::ranges::find(hello.host, '\0'));
  std::ranges::replace_if(
      name, [](char one) { return one <= ' ' || one > '~'; }, '?');
  return name.empty() ? "?" : name;
}

void apply_mask(const Proof& mask, std::array<std::uint8_t, PH_LAUNCH_SECRET_BYTES>& secret) {
  for (std::size_t i = 0; i < secret.size(); ++i)
    secret[i] ^= std::to_integer<std::uint8_t>(mask[i]);
}

}  // namespace photonrun
