#include "transport/network/shared_settings.hpp"

#include <string>

namespace photon::transport::network {

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

}  // namespace photon::transport::network
