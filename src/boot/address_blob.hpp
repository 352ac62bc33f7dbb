// The address of a rank, as the program hands it around (ph_address(), ph_connect()), and as a rank
// introduces itself by it at first contact: who it is, where its socket is, and where its
// side channel listens. Plain data, the same size for all; believed when its seal is right.
//
//   bytes -- magic, version --> of this library -- job --> of this job -- seal --> as it was made
//            -- rank, size --> believed;  anything else --> an error that says which
//
// Invariants: the magic and the versions stay where they are in all versions to come. The job's
// secret cannot be found from it. Whoever has altered one bit has broken the seal.
// Owner: none (values and pure functions).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/result.hpp"
#include "boot/endpoint_info.hpp"
#include "boot/net_address.hpp"
#include "boot/proof.hpp"

namespace photon::boot {

inline constexpr std::uint64_t kBlobMagic = 0x00'72'64'64'61'2d'68'70ULL;  // "ph-addr"
inline constexpr std::uint32_t kBlobVersion = 2;  // and of what is said at first contact

using JobId = std::array<std::byte, 16>;

struct AddressBlob {
  std::uint64_t magic = kBlobMagic;
  std::uint32_t version = kBlobVersion;
  std::uint32_t library = 0;  // ph_version()
  JobId job{};
  std::uint32_t rank = 0;
  std::uint32_t size = 0;        // ranks of the job
  EndpointInfo endpoint_info{};  // without its nonce, which is a secret elsewhere
  Addresses addresses{};         // of the side channel, if it has any
  Proof seal{};                  // of all that is before it
};
static_assert(sizeof(AddressBlob) == 392);
static_assert(std::has_unique_object_representations_v<AddressBlob>, "it travels");

// From what the program calls the job's secret, of any length.
Secret job_secret(std::span<const std::byte> given);
// What a rank's datagrams are believed by; another one for each rank.
Secret sender_key(const Secret& secret, const std::array<std::byte, 16>& name);

// job and seal are made here.
void seal(const Secret& secret, AddressBlob& blob);

// PH_ERR_ARGUMENT: no address, or damaged; PH_ERR_BOOTSTRAP: of another version, job or size of the
// job; PH_ERR_RANK: of a rank that the job has not.
base::Result<AddressBlob> read_blob(std::span<const std::byte> bytes, const Secret& secret,
                                    std::uint32_t size);

}  // namespace photon::boot
