// The fixture of the tests of fragments that NICs move: rank 0 posts to memory of rank 1.
// Skips, visibly, transports without NICs. Owner: the test.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <photon/memory.h>

#include "transport_harness.hpp"

namespace photon::test {

using transport::PostedFragment;
using transport::Reach;

inline constexpr std::uint64_t kKey = 0x1200 + 5;  // in slot 5
inline constexpr std::size_t kSlot = 5;
inline constexpr std::size_t kBytes = 16 << 10;

inline std::vector<std::byte> pattern(std::size_t size_bytes, unsigned seed) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i)
    bytes[i] = static_cast<std::byte>(1 + (i * 7 + seed) % 200);  // never 0, never 0xee
  return bytes;
}

// Rank 0 posts to memory that rank 1 exposes. Tokens are the numbers of the fragments.
class Nics {
 public:
  explicit Nics(const TransportKind& kind) : job(kind, 3), memory(kBytes) {
    if (!job.opened() || !job.join(0, 1)) throw std::runtime_error("two ranks cannot be joined");
    publish(PH_ACCESS_ALL);
  }
  bool can_post() { return job[0].transport().reach(1, at(0), kBytes).kind == Reach::Kind::posted; }
  bool is_named() { return job[0].transport().has_imm(1); }

  void publish(std::uint32_t access) {
    job[1].transport().regions()[kSlot].publish(kKey, {at(0), kBytes, access});
  }
  void revoke() {
    job[1].transport().regions()[kSlot].revoke();
    job[1].transport().quiesce();
  }
  // What a registration grants stays the same until it is revoked.
  void republish(std::uint32_t access) {
    revoke();
    publish(access);
  }
  std::uint64_t at(std::size_t offset) {
    return reinterpret_cast<std::uintptr_t>(memory.data() + offset);
  }
  PostedFragment write(std::size_t offset, std::span<const std::byte> source) {
    PostedFragment fragment = between(offset, source.size());
    fragment.source = source.data();
    fragment.local = shown(source, false);
    return fragment;
  }
  PostedFragment read(std::size_t offset, std::span<std::byte> destination) {
    PostedFragment fragment = between(offset, destination.size());
    fragment.destination = destination.data();
    fragment.local = shown(destination, true);
    return fragment;
  }
  // Now or when the queue has room.
  bool post(const PostedFragment& fragment) {
    return job.eventually([&] { return job[0].transport().post(fragment); });
  }
  std::vector<Peer::Done>& done() { return job[0].done(); }
  std::vector<std::uint32_t>& names() { return job[1].names(); }
  bool over(std::size_t count) {
    return job.eventually([&] { return done().size() >= count; });
  }
  // One fragment and what becomes of it.
  ph_status outcome(const PostedFragment& fragment) {
    done().clear();
    if (!post(fragment) || !over(1)) throw std::runtime_error("a fragment was never over");
    if (done()[0].token != fragment.token) throw std::runtime_error("another fragment was over");
    return done()[0].status;
  }
  bool there(std::size_t offset, std::span<const std::byte> bytes) const {
    return std::equal(bytes.begin(), bytes.end(), memory.begin() + static_cast<long>(offset));
  }

  TransportHarness job;
  std::vector<std::byte> memory;

 private:
  PostedFragment between(std::size_t offset, std::size_t size_bytes) {
    PostedFragment fragment;
    fragment.rank = 1;
    fragment.address = at(offset);
    fragment.key = kKey;
    fragment.size_bytes = size_bytes;
    fragment.token = next_token_++;
    return fragment;
  }
  // To rank 0's NIC, where it wants to know: whole granules, until the transport ends.
  std::uint64_t shown(std::span<const std::byte> own, bool is_written) {
    transport::Transport& nic = job[0].transport();
    const std::uint64_t granule = nic.local_granule();
    if (granule == 0) return 0;
    const auto address = reinterpret_cast<std::uintptr_t>(own.data());
    const std::uint64_t begin = address & ~(granule - 1);
    const std::uint64_t bytes = (address + own.size() - begin + granule - 1) & ~(granule - 1);
    const auto made =
        nic.register_local({reinterpret_cast<const std::byte*>(begin), bytes}, is_written);
    if (!made) throw std::runtime_error("a NIC takes no memory: " + made.error().what);
    return *made;
  }

  std::uint64_t next_token_ = 1000;
};

class PostedConformance : public TransportConformance {
 protected:
  void SetUp() override {
    TransportConformance::SetUp();
    if (IsSkipped()) return;
    nics_ = std::make_unique<Nics>(GetParam());
    if (!nics_->can_post()) GTEST_SKIP() << "no NIC reaches a peer's memory";
  }
  Nics& nics() { return *nics_; }
  void renew() { nics_ = std::make_unique<Nics>(GetParam()); }

 private:
  std::unique_ptr<Nics> nics_;
};

}  // namespace photon::test
