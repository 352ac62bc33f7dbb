// Ranks that find each other by addresses which the program hands around: no call is collective,
// and nobody is known before connect() has its address, or it has said who it is at first contact.
//
//   a rank: unknown -- connect(), its introduction --> known, for good: by that address alone
//
// Invariants: a refused address changes nothing. The first message to a rank says who we are, so it
// is enough that one of two has the other's address. Within a host is who answers there: a socket's
// name is random, and both see the same (docs/bootstrap.md, "By addresses").
// Owner: the Context; one thread at a time.
#pragma once

#include "boot/address_blob.hpp"
#include "boot/datagram_boot.hpp"

namespace photon::boot {

// What the program says of the job.
struct Job {
  Rank rank = 0;
  std::uint32_t size = 0;
  std::span<const std::byte> secret;
};

inline constexpr std::size_t kLeastSecretBytes = 16;
inline constexpr std::size_t kMostSecretBytes = 4096;
// Some 60 bytes each, before anybody is met.
inline constexpr std::uint32_t kMostRanks = 1 << 22;

class AddressBoot final : public DatagramBoot {
 public:
  // PH_ERR_ARGUMENT: what the program says is no job. PH_ERR_CONFIG: a build that cannot prove.
  // Without an interface for other hosts it opens; then it is an error to connect() to one.
  static base::Result<std::unique_ptr<Boot>> open(const Job& job, const base::Config& config);

  bool knows_hosts() const override { return false; }
  base::Result<std::span<const std::byte>> address() const override;
  base::Result<Rank> connect(std::span<const std::byte> address) override;
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const Serve& serve) override;
  base::Result<> barrier(const Serve& serve) override;

 private:
  AddressBoot(const Job& job, Parts parts) : DatagramBoot({job.rank, job.size}, std::move(parts)) {}

  base::Result<> introduce(const base::Config& config);
  bool on_address(Rank from, std::span<const std::byte> bytes, const Secret* key) override;
  base::Result<bool> is_near(const AddressBlob& blob) const;
  base::Result<> check_route(const AddressBlob& blob) const;
  void keep(const AddressBlob& blob, bool near);

  AddressBlob own_;
  base::Error unreachable_;  // why there is no side channel
};

}  // namespace photon::boot
