#include "transport/network/info_head.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "wire/record.hpp"

namespace photon::transport::network {

namespace {

// Which way to settings that fit: those of a rank that shared memory is refused to differ by
// themselves.
base::Error reached_otherwise(const std::string& theirs, const char* mine) {
  return {PH_ERR_BOOTSTRAP, 0,
          "it is reached by " + theirs + ", and this rank by " + mine +
              "; settings transport and network must be the same on all ranks (where shared memory "
              "is refused to some of them, set PHOTON_TRANSPORT=tcp)"};
}

}  // namespace

base::Error strange_info(const char* mine, std::span<const std::byte> bytes) {
  constexpr std::size_t kMagicBytes = 8;
  std::string begin;
  for (const std::byte one : bytes.first(std::min(bytes.size(), kMagicBytes)))
    begin += std::to_integer<char>(one);
  const std::string name = begin.size() == kMagicBytes ? begin.substr(1, 3) : "";
  const auto is_letter = [](char one) { return one >= 'a' && one <= 'z'; };
  if (begin == "p" + name + "card" && std::ranges::all_of(name, is_letter) && name != mine)
    return reached_otherwise(name, mine);
  if (begin == std::string_view("phoffer", kMagicBytes))
    return reached_otherwise("shared memory", mine);
  return {PH_ERR_PROTOCOL, 0,
          std::string("malformed ") + mine + " endpoint info of " + std::to_string(bytes.size()) +
              " bytes"};
}

base::Result<> check_info_head(const InfoKind& kind, std::span<const std::byte> bytes) {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  if (bytes.size() >= sizeof magic + sizeof version) {
    std::memcpy(&magic, bytes.data(), sizeof magic);
    std::memcpy(&version, bytes.data() + sizeof magic, sizeof version);
  }
  if (magic != kind.magic) return strange_info(kind.transport, bytes);
  if (version != wire::kVersion)
    return base::Error{
        PH_ERR_BOOTSTRAP, 0,
        "it speaks version " + std::to_string(version) + " of the wire format, this rank version " +
            std::to_string(wire::kVersion) + "; run all ranks with one version of the library"};
  if (bytes.size() != kind.size_bytes) return strange_info(kind.transport, bytes);
  return {};
}

}  // namespace photon::transport::network
