#include "transport/ofi/ofi_inlet.hpp"

#include <cstring>

namespace photon::transport::ofi {

Inlet::Took Inlet::take(const MessageHead& head, std::span<const std::byte> body,
                        network::RingOverNetwork& link) {
  if (head.sequence != ++sequence_) return Took::disorder;
  if (head.has_credits > 1) return Took::garbage;
  const bool has_credits = head.has_credits == 1;
  if (has_credits) {
    network::CreditBody credits;
    if (body.size() < sizeof credits) return Took::garbage;
    std::memcpy(&credits, body.data(), sizeof credits);
    body = body.subspan(sizeof credits);
    link.take_credits(credits);
  }
  switch (head.kind) {
    case MessageKind::lines:
    case MessageKind::bulk: {
      const Took took = take_lines(head, body, link);
      return took == Took::nothing && has_credits ? Took::news : took;
    }
    case MessageKind::credits: return has_credits && body.empty() ? Took::news : Took::garbage;
    case MessageKind::bye:
      if (!body.empty() || lines_count_ != 0 || head.lines > 1) return Took::garbage;
      return head.lines == 1 ? Took::left : Took::bye;
    case MessageKind::ask:
    case MessageKind::tell:
    case MessageKind::back:
    case MessageKind::given:
    case MessageKind::seen:
    case MessageKind::landed: return has_credits ? Took::garbage : Took::word;
    default: return Took::garbage;
  }
}

// Against the credit that was given, once for each record.
bool Inlet::begin(const MessageHead& head, network::RingOverNetwork& link) noexcept {
  if (lines_count_ != 0) return head.lines == lines_count_ && head.bulk_bytes == bulk_bytes_;
  if (!link.begin_lines(head.lines, head.bulk_bytes, bulk_to_)) return false;
  lines_count_ = head.lines;
  bulk_bytes_ = head.bulk_bytes;
  bulk_left_ = head.bulk_bytes;
  return true;
}

Inlet::Took Inlet::take_lines(const MessageHead& head, std::span<const std::byte> body,
                              network::RingOverNetwork& link) noexcept {
  if (!begin(head, link)) return Took::garbage;
  const bool is_whole = head.kind == MessageKind::lines;
  const std::size_t lines_bytes = std::size_t{lines_count_} * network::kLineBytes;
  const std::size_t bulk_bytes = is_whole ? bulk_left_ : body.size();
  if (bulk_bytes > bulk_left_ || body.size() != bulk_bytes + (is_whole ? lines_bytes : 0) ||
      body.empty())
    return Took::garbage;
  if (bulk_bytes != 0) {
    std::memcpy(bulk_to_, body.data(), bulk_bytes);
    bulk_to_ += bulk_bytes;
    bulk_left_ -= bulk_bytes;
  }
  if (!is_whole) return Took::nothing;
  const std::uint32_t count = lines_count_;
  lines_count_ = 0;
  return link.take_lines(body.subspan(bulk_bytes)) == count ? Took::news : Took::garbage;
}

}  // namespace photon::transport::ofi
