// Our fragments that are under way to one peer, by the token that travels with them.
// Invariant: at most kMostFragments; a token names one fragment for ever, so that an answer that
// comes twice, or was made up, names none. Owner: TcpTransport.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "transport/tcp/tcp_frame.hpp"
#include "transport/transport.hpp"

namespace photon::transport::tcp {

class Fragments {
 public:
  struct Slot {
    PostedFragment fragment;
    std::uint64_t token = 0;  // 0: free
  };

  // Null: all are under way.
  const Slot* add(const PostedFragment& fragment) noexcept {
    for (Slot& slot : slots_) {
      if (slot.token != 0) continue;
      const auto index = static_cast<std::uint64_t>(&slot - slots_.data());
      slot = {fragment, ++count_ << 8 | index};
      return &slot;
    }
    return nullptr;
  }
  bool is_one() const noexcept {
    return std::count_if(slots_.begin(), slots_.end(),
                         [](const Slot& slot) { return slot.token != 0; }) == 1;
  }
  Slot* find(std::uint64_t token) noexcept {
    const std::uint64_t index = token & 0xff;
    if (token == 0 || index >= slots_.size() || slots_[index].token != token) return nullptr;
    return &slots_[index];
  }
  static void end(Slot& slot) noexcept { slot = {}; }
  std::array<Slot, kMostFragments>& all() noexcept { return slots_; }

 private:
  std::array<Slot, kMostFragments> slots_{};
  std::uint64_t count_ = 0;
};

}  // namespace photon::transport::tcp
