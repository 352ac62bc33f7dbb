#include "stream/stream_end.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace photon::stream {

// ---- set-up

ph_status End::open(std::uint64_t address) {
  const std::size_t buffers = std::size_t{place_.sizes.buffers} + kSpare;
  if (memory_ == nullptr) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(buffers * place_.sizes.buffer_bytes);
    to_post_.reserve(buffers);  // what is taken later needs no memory
    came_.make_room(place_.sizes.buffers);
  }
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = address;
  args.threshold = 1;
  args.unit = PH_MAILBOX_OPERATIONS;
  args.placing = PH_MAILBOX_MANAGED;
  args.source = peer_;
  if (const ph_status status = ph_mailbox_open(place_.context, &args, &box_); status != PH_OK)
    return status;
  is_box_open_ = true;
  address_ = address;
  std::uint64_t epoch = 0;
  static_cast<void>(ph_mailbox_epoch(place_.context, box_, &epoch, &incarnation_));
  for (std::size_t i = 0; i < buffers; ++i) post(memory_.get() + i * place_.sizes.buffer_bytes);
  return to_post_.empty() ? PH_OK : PH_ERR_MEMORY;
}

ph_status End::connect(std::uint32_t port) {
  Message asked;
  asked.kind = Kind::connect;
  asked.address = address_;
  asked.sizes = place_.sizes;
  asked.incarnation = incarnation_;
  return send_control(port_address(port), asked);
}

void End::accept(const Message& asked) {
  meet(asked);
  owed_ |= kAccept;
  send_owed();
}

// What the peer can take is known from here on.
void End::meet(const Message& peer) {
  slot_bytes_ = static_cast<std::size_t>(std::min<std::uint64_t>(
      {peer.sizes.buffer_bytes, place_.sizes.buffer_bytes, place_.carried_max}));
  const std::uint64_t count = std::min(peer.sizes.buffers, place_.sizes.buffers);
  slots_ = std::make_unique_for_overwrite<std::byte[]>(count * slot_bytes_);
  requests_.assign(count, PH_REQUEST_NONE);
  slots_count_ = count;
  peer_address_ = peer.address;
  peer_incarnation_ = peer.incarnation;
}

// ---- what comes

// A buffer is the mailbox's again; without memory for that, later.
void End::post(std::byte* buffer) {
  const ph_mailbox_buffer args{sizeof args, buffer, place_.sizes.buffer_bytes, 0, nullptr, 0};
  if (ph_mailbox_post(place_.context, box_, &args) != PH_OK) to_post_.push_back(buffer);
}

void End::post_waiting() {
  for (std::size_t left = to_post_.size(); left > 0; --left) {
    std::byte* const buffer = to_post_.back();
    to_post_.pop_back();
    post(buffer);
  }
  if (to_post_.empty()) consumed_ = finished_;
}

void End::take(const ph_mailbox_event& event) {
  if (event.why != PH_MAILBOX_COMPLETE) return;  // the mailbox was closed
  auto* const buffer = static_cast<std::byte*>(event.data);
  const auto message = decode({buffer, static_cast<std::size_t>(event.size_bytes)});
  if (is_closing_ || read_fault_ != PH_OK) return;
  if (!message.has_value() || message->consumed < acknowledged_ || message->consumed > sent_)
    return fail(PH_ERR_PROTOCOL);
  acknowledged_ = message->consumed;
  on_message(*message, buffer);
}

void End::on_message(const Message& message, std::byte* buffer) {
  const bool is_answer = message.kind == Kind::accept || message.kind == Kind::refuse;
  // After fin the peer may still give credit, and close.
  const bool is_late = has_ended_ && (message.kind == Kind::data || message.kind == Kind::fin);
  if (is_late || is_answer != (peer_address_ == 0)) return fail(PH_ERR_PROTOCOL);
  switch (message.kind) {
    case Kind::data: return on_data(message, buffer);
    case Kind::accept: on_accepted(message); break;
    case Kind::fin:
    case Kind::close: on_end(message); break;
    case Kind::refuse: fail(PH_ERR_NOT_FOUND); break;
    case Kind::connect: fail(PH_ERR_PROTOCOL); break;
    case Kind::credit: break;
  }
  post(buffer);
}

void End::on_data(const Message& message, std::byte* buffer) {
  if (received_ - consumed_ >= place_.sizes.buffers) return fail(PH_ERR_PROTOCOL);
  ++received_;
  received_bytes_ += message.bytes;
  came_.push_unchecked({{buffer + kHeadBytes, static_cast<std::size_t>(message.bytes)}, buffer});
}

void End::on_accepted(const Message& message) {
  try {
    meet(message);
  } catch (const std::bad_alloc&) {
    fail(PH_ERR_MEMORY);
  }
}

void End::on_end(const Message& message) {
  if (message.bytes != received_bytes_) return fail(PH_ERR_PROTOCOL);
  has_ended_ = true;
  if (message.kind != Kind::close) return;
  owed_ &= ~std::uint32_t{kFin | kCredit};
  if (write_fault_ == PH_OK) write_fault_ = PH_ERR_NOT_FOUND;
}

// Nothing more comes or goes; what has come is still read.
void End::fail(ph_status status) noexcept {
  if (read_fault_ == PH_OK) read_fault_ = status;
  if (write_fault_ == PH_OK) write_fault_ = status;
  owed_ = 0;
}

// Why the peer sends nothing more than what is there now; PH_OK: it may.
ph_status End::loss() const noexcept {
  // The mailbox of an open stream closes behind a close, or with its whole lane.
  if (gone_ != PH_OK)
    return gone_ == PH_ERR_NOT_FOUND && peer_address_ != 0 ? PH_ERR_DEPARTED : gone_;
  ph_contact_state state = PH_PEER_UNKNOWN;
  const ph_status status = ph_peer_state(place_.context, peer_, &state);
  if (status != PH_OK) return status;
  if (state == PH_PEER_DEAD) return PH_ERR_PEER;
  return state == PH_PEER_DEPARTED ? PH_ERR_DEPARTED : PH_OK;
}

bool End::take_all() {
  const std::uint32_t most = place_.sizes.buffers + kSpare;  // others want their turn
  std::uint32_t count = 0;
  ph_mailbox_event event{};
  for (; count < most && ph_mailbox_take(place_.context, box_, &event) == PH_OK; ++count)
    take(event);
  return count != 0;
}

// The loss is looked at first: what is lost by then has nothing under way.
void End::turn() {
  for (;;) {
    const ph_status lost = loss();
    if (is_led) break;  // a thread has what comes, and calls this when it has told of it
    if (!take_all() && lost != PH_OK) fail(lost);
    reap();
    if (read_fault_ != PH_OK || (lost == PH_OK && gone_ == PH_OK)) break;
  }
  post_waiting();
  reap();
  send_owed();
}

ph_status End::read(std::span<std::byte> to, std::size_t& count) {
  if (came_.empty() || owed_ != 0 || !to_post_.empty()) turn();
  while (!came_.empty() && count < to.size()) {
    Came& first = came_.front();
    const std::size_t part = std::min(first.bytes.size(), to.size() - count);
    std::memcpy(to.data() + count, first.bytes.data(), part);
    count += part;
    first.bytes = first.bytes.subspan(part);
    if (!first.bytes.empty()) break;
    std::byte* const buffer = first.buffer;
    came_.pop();
    post(buffer);
    ++finished_;
  }
  if (to_post_.empty()) consumed_ = finished_;
  const std::uint64_t half = std::max<std::uint64_t>(slots_count_ / 2, 1);
  if (consumed_ - told_ >= half && !has_ended_ && read_fault_ == PH_OK) {
    owed_ |= kCredit;
    send_owed();
  }
  if (count != 0 || to.empty() || has_ended_) return PH_OK;
  return read_fault_ == PH_OK ? PH_AGAIN : read_fault_;
}

// ---- what goes

ph_status End::append(std::uint64_t to, std::span<const std::byte> bytes, ph_request& request) {
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = to;
  args.source = bytes.data();
  args.size_bytes = bytes.size();
  args.epoch = PH_ANY_EPOCH;
  args.incarnation = to == peer_address_ ? peer_incarnation_ : 0;  // it is no catch-all's
  args.request = &request;
  return ph_mailbox_append(place_.context, peer_, &args);
}

bool End::send_data(std::span<const std::byte> bytes) {
  const std::size_t slot = static_cast<std::size_t>(sent_ % slots_count_);
  std::byte* const at = slots_.get() + slot * slot_bytes_;
  const std::uint64_t first = head(Kind::data, consumed_);
  std::memcpy(at, &first, kHeadBytes);
  std::memcpy(at + kHeadBytes, bytes.data(), bytes.size());
  const ph_status status = append(peer_address_, {at, kHeadBytes + bytes.size()}, requests_[slot]);
  is_short = status != PH_OK;
  if (status == PH_OK) {
    ++sent_;
    sent_bytes_ += bytes.size();
    told_ = consumed_;
    owed_ &= ~std::uint32_t{kCredit};
    return true;
  }
  if (status < PH_OK) fail(status);
  return false;
}

ph_status End::write(std::span<const std::byte> from, std::size_t& count) {
  if (is_shut_) return PH_ERR_STATE;
  if (write_fault_ == PH_OK && (!has_room() || is_short || owed_ != 0 || gone_ != PH_OK)) turn();
  while (write_fault_ == PH_OK && count < from.size() && has_room() && (owed_ & kAccept) == 0) {
    const std::size_t part = std::min(from.size() - count, slot_bytes_ - kHeadBytes);
    if (!send_data(from.subspan(count, part))) break;
    count += part;
    if (!has_room()) reap();
  }
  if (count != 0) return PH_OK;
  if (write_fault_ != PH_OK) return write_fault_;
  return from.empty() ? PH_OK : PH_AGAIN;
}

ph_status End::shut_down() {
  if (is_shut_) return PH_ERR_STATE;
  if (write_fault_ != PH_OK) return write_fault_;
  is_shut_ = true;
  owed_ |= kFin;
  turn();
  return PH_OK;
}

// A message without data, from a place of its own.
ph_status End::send_control(std::uint64_t to, const Message& message) {
  for (std::size_t i = 0; i < kControls; ++i) {
    if (!reap(control_requests_[i])) continue;
    controls_[i] = encode(message);
    return append(to, controls_[i].bytes(), control_requests_[i]);
  }
  return PH_AGAIN;
}

// True: it has gone, or was not owed.
bool End::send_owed(Owed which, Kind kind) {
  if ((owed_ & which) == 0) return true;
  Message message;
  message.kind = kind;
  message.consumed = consumed_;
  message.address = address_;
  message.incarnation = incarnation_;
  message.sizes = place_.sizes;
  message.bytes = sent_bytes_;
  const ph_status status = send_control(peer_address_, message);
  if (status == PH_AGAIN) return false;
  if (status != PH_OK) {
    fail(status);
    return false;
  }
  owed_ &= ~std::uint32_t{which};
  told_ = consumed_;
  return true;
}

void End::send_owed() {
  if (owed_ == 0 || peer_address_ == 0) return;
  static_cast<void>(send_owed(kAccept, Kind::accept) && send_owed(kCredit, Kind::credit) &&
                    send_owed(kFin, Kind::fin) && send_owed(kClose, Kind::close));
}

// True: it is over, whatever its end. One that was refused, or lost, says that the peer has gone.
bool End::reap(ph_request& request) {
  if (request == PH_REQUEST_NONE) return true;
  const ph_status status = ph_test(place_.context, &request, nullptr);
  if (status == PH_AGAIN) return false;
  request = PH_REQUEST_NONE;
  if (status == PH_OK || is_closing_) return true;
  gone_ = status;
  return true;
}

void End::reap() {
  while (over_ < sent_ && reap(requests_[static_cast<std::size_t>(over_ % slots_count_)])) ++over_;
  for (ph_request& request : control_requests_) static_cast<void>(reap(request));
}

std::uint32_t End::ready() const noexcept {
  const bool is_readable = !came_.empty() || has_ended_ || read_fault_ != PH_OK;
  const bool is_writable =
      is_shut_ || write_fault_ != PH_OK || (has_room() && !is_short && (owed_ & kAccept) == 0);
  std::uint32_t ready = 0;
  if (is_readable) ready |= PH_STREAM_READABLE;
  if (is_writable) ready |= PH_STREAM_WRITABLE;
  return ready;
}

// ---- the end

void End::begin_close() {
  is_closing_ = true;
  came_.clear();
  owed_ = read_fault_ == PH_OK && write_fault_ == PH_OK && peer_address_ != 0
              ? (owed_ & kAccept) | kClose
              : 0;
}

bool End::is_over() {
  reap();
  send_owed();
  if (owed_ != 0) {  // room comes with progress, which a message that is refused does not make
    ph_mailbox_event unread{};
    static_cast<void>(ph_mailbox_take(place_.context, box_, &unread));
    return false;
  }
  if (std::exchange(is_box_open_, false)) {
    static_cast<void>(ph_mailbox_close(place_.context, box_));
    ph_mailbox_event event{};
    while (ph_mailbox_take(place_.context, box_, &event) == PH_OK) {
    }
  }
  return over_ == sent_ && std::ranges::all_of(control_requests_, [](ph_request request) {
           return request == PH_REQUEST_NONE;
         });
}

bool End::wait_request(std::int64_t timeout_us) {
  const auto wait_for = [&](ph_request& request) {
    const ph_status status = ph_wait_request(place_.context, &request, nullptr, timeout_us);
    if (status != PH_TIMEOUT) request = PH_REQUEST_NONE;
    return true;
  };
  if (over_ < sent_) return wait_for(requests_[static_cast<std::size_t>(over_ % slots_count_)]);
  for (ph_request& request : control_requests_)
    if (request != PH_REQUEST_NONE) return wait_for(request);
  return false;
}

}  // namespace photon::stream
