#include "boot/address_blob.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "boot/packet.hpp"

namespace photon::boot {

namespace {

// Different labels, and other lengths than what is said on a connection: what is made here for one
// use is good for no other.
std::vector<std::byte> labelled(std::string_view label, std::span<const std::byte> bytes) {
  const auto first = std::as_bytes(std::span(label));
  std::vector<std::byte> said(first.begin(), first.end());
  said.insert(said.end(), bytes.begin(), bytes.end());
  return said;
}

Claim claim_of(std::span<const std::byte> said) {
  return {.role = Role::acceptor, .hello = said, .acceptor = {}};
}

// Zeros if the library fails, which nobody may believe.
Proof made_of(const Secret& secret, std::string_view label, std::span<const std::byte> bytes) {
  return prove(secret, claim_of(labelled(label, bytes)));
}

JobId job_id(const Secret& secret) {
  const Proof made = made_of(secret, "photon: the number of the job", {});
  JobId id;
  std::copy_n(made.begin(), id.size(), id.begin());
  return id;
}

std::vector<std::byte> sealed(const AddressBlob& blob) {
  return labelled("photon: the address of a rank",
                  bytes_of(blob).first(offsetof(AddressBlob, seal)));
}

std::string version_text(std::uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

base::Error wrong(ph_status status, std::string what, Rank rank = PH_ANY_RANK) {
  return {status, 0, "connect: " + std::move(what), rank};
}

}  // namespace

Secret job_secret(std::span<const std::byte> given) {
  return made_of({}, "photon: the secret of the job", given);
}

Secret sender_key(const Secret& secret, const std::array<std::byte, 16>& name) {
  return made_of(secret, "photon: the datagrams of a rank", name);
}

void seal(const Secret& secret, AddressBlob& blob) {
  blob.library = PHOTON_VERSION_NUMBER;
  blob.job = job_id(secret);
  blob.seal = prove(secret, claim_of(sealed(blob)));
}

base::Result<AddressBlob> read_blob(std::span<const std::byte> bytes, const Secret& secret,
                                    std::uint32_t size) {
  AddressBlob blob;
  if (bytes.size() < offsetof(AddressBlob, job))
    return wrong(PH_ERR_ARGUMENT, "these " + std::to_string(bytes.size()) +
                                      " bytes are no address of a rank: that has " +
                                      std::to_string(sizeof blob));
  std::memcpy(&blob, bytes.data(), std::min(bytes.size(), sizeof blob));
  if (blob.magic != kBlobMagic)
    return wrong(PH_ERR_ARGUMENT, "these bytes are no address of a rank");
  constexpr std::uint32_t kMinor = 100;  // versions that differ in the patch alone work together
  if (blob.version != kBlobVersion || blob.library / kMinor != PHOTON_VERSION_NUMBER / kMinor)
    return wrong(PH_ERR_BOOTSTRAP, "the address is of version " + version_text(blob.library) +
                                       " of the library (addresses of kind " +
                                       std::to_string(blob.version) + "), and this is " +
                                       version_text(PHOTON_VERSION_NUMBER) + " (kind " +
                                       std::to_string(kBlobVersion) + "); all ranks need the same");
  if (bytes.size() != sizeof blob)
    return wrong(PH_ERR_ARGUMENT, "the address has " + std::to_string(sizeof blob) +
                                      " bytes, and " + std::to_string(bytes.size()) +
                                      " were given: it was cut off, or something was added");
  if (blob.job != job_id(secret))
    return wrong(PH_ERR_BOOTSTRAP, "the address is of another job: of one with another secret");
  if (!is_proof(secret, claim_of(sealed(blob)), blob.seal))
    return wrong(PH_ERR_ARGUMENT, "the address was damaged on its way");
  if (blob.size != size)
    return wrong(PH_ERR_BOOTSTRAP,
                 "the address is of a rank to whom the job has " + std::to_string(blob.size) +
                     " ranks; here it has " + std::to_string(size),
                 blob.rank);
  if (blob.rank >= size)
    return wrong(PH_ERR_RANK,
                 "the address is of rank " + std::to_string(blob.rank) + ", and the job has " +
                     std::to_string(size) + " ranks",
                 blob.rank);
  if (blob.endpoint_info.magic != kInfoMagic || blob.endpoint_info.version != kInfoVersion)
    return wrong(PH_ERR_BOOTSTRAP, "the address is of another version of the library", blob.rank);
  return blob;
}

}  // namespace photon::boot
