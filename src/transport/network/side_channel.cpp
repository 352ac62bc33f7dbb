#include "transport/network/side_channel.hpp"

#include <algorithm>

namespace photon::transport::network {

namespace {

constexpr unsigned kMessagesPerLook = 64;
constexpr std::int64_t kLookNs = 50'000;
constexpr std::int64_t kLookSoonNs = 5'000;  // for a while after our own question
constexpr std::int64_t kSoonNs = 20'000'000;
constexpr std::uint32_t kFruitlessEnds = 16;
constexpr std::int64_t kLeftOutUs = 10'000;

}  // namespace

base::Result<bool> SideChannel::send(Rank to, std::span<const std::byte> bytes) {
  is_due_.set(1);
  return boot_.send(to, bytes, {});
}

bool SideChannel::is_due(std::int64_t now_ns, unsigned patience) noexcept {
  if (is_broken()) return false;
  const bool is_soon = now_ns - asked_ns_ < kSoonNs;
  const std::int64_t pause_ns = patience * (is_soon ? kLookSoonNs : kLookNs);
  if (is_due_.get() == 0 && now_ns - looked_ns_ < pause_ns) return false;
  looked_ns_ = now_ns;
  return true;
}

void SideChannel::begin_look() noexcept {
  is_due_.set(0);
  left_ = kMessagesPerLook;
}

base::Result<std::optional<boot::Message>> SideChannel::next() {
  if (left_ == 0) {
    is_due_.set(1);
    return std::optional<boot::Message>();
  }
  --left_;
  auto received = boot_.receive();
  if (!received) is_broken_.set(1);
  if (received && *received) ends_.set(0);
  return received;
}

SideChannel::Wait SideChannel::sleep_on(std::int64_t limit_us) noexcept {
  if (is_broken()) return {-1, limit_us};
  if (ends_.get() < kFruitlessEnds) return {fd_, limit_us};
  ends_.set(kFruitlessEnds / 2);
  is_due_.set(1);
  return {-1, limit_us < 0 ? kLeftOutUs : std::min(limit_us, kLeftOutUs)};
}

void SideChannel::slept() noexcept {
  is_due_.set(1);
  ends_.set(ends_.get() + 1);  // next() clears it
}

}  // namespace photon::transport::network
