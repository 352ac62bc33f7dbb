#include "transport/ofi/ofi_outlet.hpp"

#include <algorithm>
#include <cstring>

#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {

static_assert(sizeof(MessageHead) + sizeof(network::CreditBody) +
                      wire::kMaxLines * network::kLineBytes <=
                  kLeastMessageBytes,
              "a record is not cut");

namespace {

void append(std::byte*& to, std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  to += bytes.size();
}

}  // namespace

std::size_t Outlet::compose(std::span<std::byte> room, network::RingOverNetwork& link,
                            MessageHead head) {
  std::size_t at = sizeof head;
  const auto credits = link.changed_credits();
  if (credits) {
    std::memcpy(room.data() + at, &*credits, sizeof *credits);
    at += sizeof *credits;
    head.has_credits = 1;
    head.kind = MessageKind::credits;
  }
  if (!has_run_ && link.has_run()) {
    const std::size_t most_lines = (room.size() - at) / network::kLineBytes;
    run_ = link.next_run(
        static_cast<std::uint32_t>(std::min<std::size_t>(most_lines, network::kMostRunLines)));
    has_run_ = true;
    bulk_done_ = 0;
  }
  if (!has_run_ && !credits) return 0;
  if (has_run_) at += add_run(room.subspan(at), head);
  std::memcpy(room.data(), &head, sizeof head);
  return at;
}

std::size_t Outlet::compose_credits(std::span<std::byte> room, const network::RingOverNetwork& link,
                                    MessageHead head) noexcept {
  const network::CreditBody credits = link.given();
  head.kind = MessageKind::credits;
  head.has_credits = 1;
  std::memcpy(room.data(), &head, sizeof head);
  std::memcpy(room.data() + sizeof head, &credits, sizeof credits);
  return sizeof head + sizeof credits;
}

std::size_t Outlet::add_run(std::span<std::byte> room, MessageHead& head) noexcept {
  const auto bulk_left = run_.bulk.subspan(bulk_done_);
  const std::size_t lines_bytes = std::size_t{run_.lines_count} * network::kLineBytes;
  head.lines = static_cast<std::uint16_t>(run_.lines_count);
  head.bulk_bytes = static_cast<std::uint32_t>(run_.bulk.size());
  std::byte* to = room.data();
  if (bulk_left.size() + lines_bytes > room.size()) {
    head.kind = MessageKind::bulk;
    const auto part = bulk_left.first(std::min(bulk_left.size(), room.size()));
    append(to, part);
    bulk_done_ += part.size();
    return part.size();
  }
  head.kind = MessageKind::lines;
  append(to, bulk_left);
  for (const auto& lines : run_.lines) append(to, lines);
  lines_composed_ += run_.lines_count;
  has_run_ = false;
  return static_cast<std::size_t>(to - room.data());
}

}  // namespace photon::transport::ofi
