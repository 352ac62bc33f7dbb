#include "transport/tcp/tcp_port.hpp"

#include <photon/memory.h>

#include <utility>

#include "transport/access.hpp"

namespace photon::transport::tcp {

namespace {

std::byte* at(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

bool PeerPort::begin_lines(std::uint32_t lines_count, std::uint32_t bulk_bytes, std::byte*& bulk) {
  return peer_.link->begin_lines(lines_count, bulk_bytes, bulk);
}

std::uint32_t PeerPort::take_lines(std::span<const std::byte> lines) {
  const std::uint32_t taken = peer_.link->take_lines(lines);
  if (taken != 0) news_.on_ring(peer_);
  return taken;
}

bool PeerPort::take_credits(const CreditBody& credits) {
  peer_.link->take_credits(credits);
  news_.on_ring(peer_);
  return true;
}

// Its own fragments and our answers are all that may wait, so that nobody makes us queue without
// end.
bool PeerPort::may_ask() const noexcept { return peer_.outlet->waiting() < 2 * kMostFragments; }

// The key is looked at before a byte is placed; quiesce() looks again while they come.
bool PeerPort::begin_write(const FrameHead& head, const FragmentBody& body, std::byte*& to) {
  if (!may_ask() || head.code > 1) return false;
  peer_.write = head;
  peer_.write_body = body;
  peer_.write_status =
      check_access(regions_, {body.address, body.key}, body.size_bytes, PH_ACCESS_WRITE);
  to = peer_.write_status == PH_OK ? at(body.address) : nullptr;
  return true;
}

bool PeerPort::take_read(const FrameHead& head, const FragmentBody& body) {
  if (!may_ask() || body.size_bytes == 0 || body.size_bytes > kMostFragmentBytes) return false;
  const ph_status status =
      check_access(regions_, {body.address, body.key}, body.size_bytes, PH_ACCESS_READ);
  peer_.is_asked = true;
  if (status != PH_OK) {
    answer(head.token, status);
    return true;
  }
  Outlet::Item item;
  item.head.kind = FrameKind::data;
  item.head.token = head.token;
  item.head.bytes = static_cast<std::uint32_t>(body.size_bytes);
  item.body = body;
  item.payload = at(body.address);
  item.payload_bytes = body.size_bytes;
  peer_.outlet->add(item);
  return true;
}

bool PeerPort::begin_data(const FrameHead& head, std::byte*& to) {
  Fragments::Slot* slot = peer_.fragments.find(head.token);
  if (slot == nullptr || slot->fragment.destination == nullptr ||
      slot->fragment.size_bytes != head.bytes)
    return false;
  peer_.data_slot = slot;
  to = slot->fragment.destination;
  return true;
}

bool PeerPort::begin_bye(const FrameHead& head, std::byte*& to) {
  if (head.bytes > kMostWordBytes || head.code > 1) return false;
  peer_.said_bye = head.bytes == 0;
  peer_.has_left = head.code == 1;
  peer_.words.resize(head.bytes);
  to = reinterpret_cast<std::byte*>(peer_.words.data());
  return true;
}

// What could not be written here, or not be read there: our own memory is the caller's mistake.
bool PeerPort::take_end(const FrameHead& head) {
  const bool is_data = peer_.data_slot != nullptr;
  const ph_status sent = status_of(head.code);
  if (sent != PH_OK && sent != (is_data ? PH_ERR_ACCESS : PH_ERR_ARGUMENT)) return false;
  if (is_data) {
    const std::uint64_t token = peer_.data_slot->fragment.token;
    Fragments::end(*peer_.data_slot);
    peer_.data_slot = nullptr;
    const ph_status placed = std::exchange(peer_.data_status, PH_OK);
    news_.on_over(peer_, token, sent == PH_OK ? placed : sent);
    return true;
  }
  if (peer_.write_status == PH_OK) peer_.write_status = sent;
  answer(peer_.write.token, peer_.write_status);
  if (peer_.write_status == PH_OK && peer_.write.code == 1)
    news_.on_landed(peer_, peer_.write.bytes);
  return true;
}

void PeerPort::cannot_place() {
  if (peer_.data_slot != nullptr)
    peer_.data_status = PH_ERR_ARGUMENT;
  else
    peer_.write_status = PH_ERR_ACCESS;
}

bool PeerPort::take_done(const FrameHead& head) {
  Fragments::Slot* slot = peer_.fragments.find(head.token);
  if (slot == nullptr) return false;
  const auto status = status_of(head.code);
  const bool is_refusal = status == PH_ERR_KEY || status == PH_ERR_RANGE ||
                          status == PH_ERR_ACCESS || status == PH_ERR_ARGUMENT;
  if (!is_refusal && (status != PH_OK || slot->fragment.source == nullptr)) return false;
  // Its memory is the user's again with this answer.
  if (slot->fragment.source != nullptr && peer_.outlet->still_sends(head.token)) return false;
  const std::uint64_t token = slot->fragment.token;
  Fragments::end(*slot);
  if (status == PH_OK)
    news_.on_written(peer_, token);
  else
    news_.on_over(peer_, token, status);
  return true;
}

void PeerPort::answer(std::uint64_t token, ph_status status) {
  Outlet::Item item;
  item.head.kind = FrameKind::done;
  item.head.code = code_of(status);
  item.head.token = token;
  peer_.outlet->add(item);
}

}  // namespace photon::transport::tcp
