#include "transport/carried/shared_settings.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace photon::transport::carried {

namespace {

struct Named {
  const char* name;
  std::uint64_t SharedSettings::*value;
};

constexpr Named kMustBeEqual[] = {
    {"number of ranks", &SharedSettings::ranks_count},
    {"ring_lines", &SharedSettings::ring_lines},
    {"bulk_bytes", &SharedSettings::bulk_bytes},
    {"bulk_chunk", &SharedSettings::bulk_chunk},
    {"ledger_slots", &SharedSettings::ledger_slots},
    {"max_cid_size", &SharedSettings::max_cid_size},
};

}  // namespace

SharedSettings shared_settings(const base::Config& config, std::uint32_t ranks_count) {
  return {.ranks_count = ranks_count,
          .ring_lines = config.ring_lines,
          .bulk_bytes = config.bulk_bytes,
          .bulk_chunk = config.bulk_chunk,
          .ledger_slots = config.ledger_slots,
          .max_cid_size = config.max_cid_size};
}

base::Result<> check_settings(const SharedSettings& mine, const SharedSettings& theirs) {
  for (const Named& one : kMustBeEqual) {
    if (mine.*one.value == theirs.*one.value) continue;
    return base::Error{
        PH_ERR_BOOTSTRAP, 0,
        std::string("setting ") + one.name + " must be the same on all ranks; here it is " +
            std::to_string(mine.*one.value) + ", there " + std::to_string(theirs.*one.value)};
  }
  return {};
}

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

base::Error strange_card(const char* mine, std::span<const std::byte> bytes) {
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
          std::string("malformed ") + mine + " card of " + std::to_string(bytes.size()) + " bytes"};
}

}  // namespace photon::transport::carried
