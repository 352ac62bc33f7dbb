// Messages of one peer that have overtaken others, by a provider that keeps no order: they wait
// here for the ones that are missing.
//
//   keep() --> kept -- the ones before it were taken: next() --> gone
//
// Owner: OfiPeer, under the transport's lock. Throws bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/ofi/ofi_message.hpp"

namespace photon::transport::ofi {

class Early {
 public:
  struct Message {
    MessageHead head;
    std::vector<std::byte> body;
  };

  // False: there was one with that number, or there are more than `most`.
  bool keep(const MessageHead& head, std::span<const std::byte> body, std::uint64_t most) {
    if (kept_.size() >= most) return false;
    return kept_.try_emplace(head.sequence, Message{head, {body.begin(), body.end()}}).second;
  }
  std::optional<Message> next(std::uint32_t sequence) {
    const auto found = kept_.find(sequence);
    if (found == kept_.end()) return std::nullopt;
    Message message = std::move(found->second);
    kept_.erase(found);
    return message;
  }

 private:
  std::map<std::uint32_t, Message> kept_;
};

}  // namespace photon::transport::ofi
