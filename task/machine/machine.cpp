#include "task/machine/machine.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <thread>

namespace photon::task {

// In one write, for several processes may end at once.
void Machine::die(const char* format, ...) noexcept {
  char words[512] = "photon task: ";
  const std::size_t before = std::strlen(words);
  std::va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
  std::vsnprintf(words + before, sizeof words - before - 1, format, arguments);
  va_end(arguments);
  const std::size_t bytes = std::strlen(words);
  words[bytes] = '\n';
  static_cast<void>(!::write(STDERR_FILENO, words, bytes + 1));
  std::abort();
}

ph_status Machine::close() noexcept {
  if (lane_ == nullptr) return PH_OK;
  for (const ph_rank process : targets_)
    for (Message* message = peers_[process].first; message != nullptr;) {
      Message* next = named(message->link);
      config_.pool->free(*message);
      message = next;
    }
  targets_.clear();
  ph_context* lane = lane_;
  lane_ = nullptr;
  return ph_lane_close(lane);
}

ph_status Machine::open(ph_context* lane) noexcept {
  try {
    peers_.resize(ph_size_of(lane));
    targets_.reserve(ph_size_of(lane));
  } catch (...) {
    return PH_ERR_MEMORY;
  }
  const ph_status status = ph_am_register(lane, kId, on_message, this);
  if (status == PH_OK) lane_ = lane;
  return status;
}

ph_status Machine::post(const Message& message, ph_rank process) noexcept {
  const std::uint64_t bytes = wire_bytes(message);
  if (bytes <= PH_AM_SMALL_BYTES)
    return ph_am_send_small(lane_, process, kId, {&message.wire, bytes});
  const std::uint64_t address = name_of(&message);
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kId;
  args.payload = &message.wire;
  args.payload_bytes = bytes;
  args.flags = is_lent(message) ? PH_DELIVERED : PH_NO_LCE;
  if (is_lent(message)) args.local = {&address, sizeof address};
  return ph_am_send(lane_, process, &args);
}

ph_status Machine::send(Message& message, ph_rank process) noexcept {
  Peer& peer = peers_[process];
  const ph_status status = peer.first != nullptr ? PH_AGAIN : post(message, process);
  if (is_lost(status)) drop(message);
  if (status != PH_OK && !is_for_later(status)) return status;
  peer.flow.sent += weight(message.wire, true);
  if (status == PH_OK)
    sent(message);
  else
    append(message, process);
  return PH_OK;
}

// What is copied at the call may be read by other holders meanwhile, so nothing is written to it.
ph_status Machine::post_copy(const WireWord& wire, const Message& message,
                             ph_rank process) noexcept {
  const std::uint64_t bytes = wire_bytes(message);
  if (bytes <= PH_AM_SMALL_BYTES) {
    std::byte line[PH_AM_SMALL_BYTES];
    std::memcpy(line, &wire, sizeof wire);
    std::memcpy(line + sizeof wire, &message + 1, message.size_bytes);
    return ph_am_send_small(lane_, process, kId, {line, bytes});
  }
  const ph_const_block blocks[] = {{&wire, sizeof wire}, {&message + 1, message.size_bytes}};
  ph_am_args args{};
  args.size = sizeof args;
  args.id = kId;
  args.flags = PH_NO_LCE;
  args.blocks = blocks;
  args.blocks_count = std::size(blocks);
  return ph_am_send(lane_, process, &args);
}

ph_status Machine::send_copy(const WireWord& wire, const Message& message,
                             ph_rank process) noexcept {
  if (!is_lent(message) && peers_[process].first == nullptr) {
    const ph_status status = post_copy(wire, message, process);
    if (status == PH_OK) peers_[process].flow.sent += weight(wire, true);
    if (status == PH_OK) return PH_OK;
    if (is_lost(status)) ++losses_.dropped;
    if (!is_for_later(status)) return status;
  }
  Message* copy = config_.pool->alloc(message.size_bytes);
  if (copy == nullptr) return PH_ERR_MEMORY;
  copy->wire = wire;
  std::memcpy(body_of(*copy), &message + 1, message.size_bytes);
  const ph_status status = send(*copy, process);
  if (status != PH_OK && !is_lost(status)) config_.pool->free(*copy);
  return status;
}

void Machine::sent(Message& message) noexcept {
  if (!is_lent(message)) {
    config_.pool->free(message);
    return;
  }
  chunk_of(message).is_queued = 1;
  ++lent_;
}

void Machine::drop(Message& message) noexcept {
  ++losses_.dropped;
  config_.pool->free(message);
}

void Machine::append(Message& message, ph_rank process) noexcept {
  ++losses_.waited;
  chunk_of(message).is_queued = 1;
  message.link = 0;
  Peer& peer = peers_[process];
  if (peer.first == nullptr) {
    peer.first = &message;
    targets_.push_back(process);
  } else {
    peer.last->link = name_of(&message);
  }
  peer.last = &message;
}

bool Machine::send_waiting() noexcept {
  bool moved = false;
  for (std::size_t i = 0; i < targets_.size();) {
    moved |= send_waiting_to(targets_[i]);
    if (peers_[targets_[i]].first != nullptr) {
      ++i;
      continue;
    }
    targets_[i] = targets_.back();
    targets_.pop_back();
  }
  return moved;
}

bool Machine::send_waiting_to(ph_rank process) noexcept {
  Peer& peer = peers_[process];
  bool moved = false;
  while (peer.first != nullptr) {
    Message& message = *peer.first;
    Message* next = named(message.link);
    const ph_status status = post(message, process);
    if (is_for_later(status)) break;
    peer.first = next;
    moved = true;
    if (status == PH_OK) {
      sent(message);
      continue;
    }
    if (!is_lost(status)) peer.flow.returned += weight(message.wire, false);
    drop(message);
  }
  return moved;
}

// Lent messages come back by their ids, their addresses; an id of 0 says that one that was copied
// was refused; those of operations on buffers have a highest byte.
// PH_DELIVERED gives each id once: else a message that was read would come back a second time if
// its target refuses it then, or dies.
bool Machine::take_ends() noexcept {
  for (unsigned i = 0; i < kProbes; ++i) {
    const ph_u64_completion end = ph_probe_u64(lane_, PH_ANY_RANK, PH_EITHER);
    if (end.kind == 0) return i != 0;
    if (end.kind == PH_REMOTE) ++peers_[end.peer].flow.arrived;
    if (end.kind == PH_REMOTE || end.id >> kAddressBits != 0) {
      if (rdma_.taken != nullptr) rdma_.taken(rdma_.user, end);
      continue;
    }
    if (end.status != PH_OK) ++losses_.dropped;
    if (end.id == 0) continue;
    --lent_;
    config_.pool->free(*named(end.id));
  }
  return true;
}

bool Machine::progress() noexcept {
  const std::uint64_t arrived = arrived_;
  bool moved = take_ends();
  if (!targets_.empty()) moved |= send_waiting();
  if (rdma_.watch_us != 0) moved |= rdma_.looked(rdma_.user, moved || arrived != arrived_);
  return moved || arrived != arrived_;
}

// Where ph_wait() does not sleep, as all peers are lost: siblings push still, and wake() makes the
// lane's descriptor readable. False: there is none.
bool Machine::wait_alone(std::int64_t timeout_us) noexcept {
  constexpr std::int64_t kSecondUs = 1'000'000;
  pollfd news{-1, POLLIN, 0};
  if (ph_event_fd(lane_, &news.fd) != PH_OK) return false;
  const ph_status armed = ph_event_arm(lane_);
  if (armed != PH_OK) return armed == PH_AGAIN;
  const timespec limit{timeout_us / kSecondUs, timeout_us % kSecondUs * 1000};
  ::ppoll(&news, 1, timeout_us == PH_FOREVER ? nullptr : &limit, nullptr);
  return true;
}

// After the end of the context, and where a lane has no descriptor, it does not sleep: then the
// others of the process are what is left to wait for, and the core is theirs.
bool Machine::wait(std::int64_t timeout_us) noexcept {
  if (has_waiting() && timeout_us > kWhileWaitingUs) timeout_us = kWhileWaitingUs;
  if (rdma_.watch_us != 0 && timeout_us > rdma_.watch_us) timeout_us = rdma_.watch_us;
  const ph_query ends{PH_ANY_RANK, PH_EITHER, nullptr};
  const ph_status status = ph_wait(lane_, ends, timeout_us);
  if (status >= 0) return true;
  is_ended_ |= status == PH_ERR_STATE;
  if (is_lost(status) && wait_alone(timeout_us)) return true;
  std::this_thread::yield();
  return false;
}

ph_status Machine::on_message(void* user, const ph_am_message* came, ph_am_landing* landing) {
  Machine& self = here(user);
  if (came->payload_bytes < sizeof(WireWord)) return PH_ERR_PROTOCOL;
  const std::uint64_t body_bytes = came->payload_bytes - sizeof(WireWord);
  if (body_bytes > SizeClass::kMostBytes - kFrontBytes) return PH_ERR_PROTOCOL;  // it lies
  Message* message = self.config_.pool->alloc(body_bytes);
  if (message == nullptr)
    die("there is no memory for a message of %llu bytes from process %u: send less at a time",
        static_cast<unsigned long long>(body_bytes), came->source);
  if (came->payload != nullptr) {
    std::memcpy(&message->wire, came->payload, came->payload_bytes);
    return self.arrive(*message, came->source);
  }
  landing->buffer = &message->wire;
  landing->buffer_bytes = came->payload_bytes;
  landing->done = on_landed;
  landing->argument = message;
  // The landing knows its message, and the message the machine of the lane.
  message->link = reinterpret_cast<std::uintptr_t>(user);
  return PH_OK;
}

ph_status Machine::on_landed(void* user, const ph_am_message* came, const ph_am_part* part) {
  Message& message = *static_cast<Message*>(user);
  Machine& self = here(reinterpret_cast<void*>(static_cast<std::uintptr_t>(message.link)));
  if (part->status == PH_OK) return self.arrive(message, came->source);
  ++self.peers_[came->source].flow.arrived;  // waves are too short for a landing of their own
  ++self.losses_.refused;
  self.drop(message);
  return PH_OK;
}

// What a peer sent is checked before it is anything.
ph_status Machine::arrive(Message& message, ph_rank process) noexcept {
  const WireWord& wire = message.wire;
  const bool is_for_one = wire.target < config_.pes || wire.target == kAnyPe;
  if (!is_for_one || wire.source >= config_.pes || static_cast<std::size_t>(wire.kind) >= kKinds ||
      wire.zero != 0) {
    drop(message);
    return PH_ERR_PROTOCOL;
  }
  message.source = process * config_.pes + wire.source;
  ++arrived_;
  peers_[process].flow.arrived += weight(wire, false);
  config_.receiver.arrived(config_.receiver.user, message);
  return PH_OK;
}

}  // namespace photon::task
