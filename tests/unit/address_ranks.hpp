// Ranks of one process that find each other by addresses.
#pragma once

#include "boot/address_boot.hpp"
#include "boot_ranks.hpp"

namespace photon::test {

inline constexpr std::string_view kJobSecret = "sixteen bytes or more, nobody guesses";

inline base::Result<std::unique_ptr<boot::Boot>> open_address_boot(
    ph_rank rank, std::uint32_t size, std::string_view secret = kJobSecret,
    const char* interface = "127.0.0.1") {
  base::Config config;
  config.tcp_interface = base::word(interface);
  return boot::AddressBoot::open({rank, size, as_bytes(secret)}, config);
}

inline std::vector<std::byte> blob_of(const boot::Boot& boot) {
  const auto address = *boot.address();
  return {address.begin(), address.end()};
}

class AddressRanks {
 public:
  explicit AddressRanks(std::uint32_t size) {
    for (ph_rank rank = 0; rank < size; ++rank)
      boots_.push_back(std::move(*open_address_boot(rank, size)));
  }
  boot::AddressBoot& operator[](ph_rank rank) {
    return static_cast<boot::AddressBoot&>(*boots_[rank]);
  }
  void drop(ph_rank rank) { boots_[rank].reset(); }

 private:
  std::vector<std::unique_ptr<boot::Boot>> boots_;
};

}  // namespace photon::test
