// A message of one line, or a body of one chunk, whose user code runs at once, in the call that met
// it: the general way (take_lines(), run_one()) for that one message, without what serves many.
//
//   lane held -- take(): one was met, and its service has taken it in --> [right to run]
//   -- the caller gives the lane up, lets the service run it, takes it again --> end() --> lane
//   held
//
// Invariants: it is met only where a general turn would find nothing else, no other thread waits in
// the lane, and no user code of any service runs or is due. So it overtakes nothing.
// Owner: a call of one service's; under the lane's lock.
#pragma once

#include <utility>

#include "engine/fast_path.hpp"
#include "engine/services.hpp"

namespace photon::engine {

class QuickRun {
 public:
  enum class Found : std::uint8_t { no, nothing, run };

  QuickRun(Engine& engine, wire::Owner owner) noexcept
      : engine_(engine), services_(*engine.services_), owner_(owner) {}

  // A turn. no: nothing was done, and the general way is due. run: end() has to follow.
  // `service.take_alone(from, line, bytes)`: takes a message of so many bytes in, or does nothing.
  template <class Service>
  [[gnu::always_inline]] Found take(Service& service) noexcept {
    Engine& engine = engine_;
    if (!is_usual()) [[unlikely]]
      return Found::no;
    ++engine.turn_;
    Found found = look(service);
    if (found == Found::nothing) {
      transport::Policy::idle(engine.pause_for_answer());
      found = look(service);
    }
    if (found == Found::nothing) ++engine.empty_polls_;
    if (found == Found::no) --engine.turn_;
    return found;
  }
  // After one was met, and another before it: the next, which is likely there already. Else to look
  // at its line would hold up a peer that is about to write it (take_hot()).
  template <class Service>
  [[gnu::always_inline]] bool take_next(Service& service) noexcept {
    if (!is_row_ || !is_usual()) return false;
    ++engine_.turn_;
    if (look(service) == Found::run) return true;
    --engine_.turn_;
    return false;
  }

  // The lane was taken again, and may be closed by now.
  template <class Service>
  [[gnu::always_inline]] void end(Service& service) noexcept {
    Services::Slot& slot = services_.slot(owner_);
    slot.runner = 0;
    if (services_.is_displaced_ && !services_.is_run_by_caller()) [[unlikely]]
      services_.end_words();
    // Before its slot: who hears of that finds the room, too.
    if (loan_ != Bodies::kNoLoan) services_.give_back(from_, std::exchange(loan_, Bodies::kNoLoan));
    service.ran_alone();
    if (slot.right.take_more()) [[unlikely]]
      engine_.user_code_ |= 1u << static_cast<unsigned>(owner_);
    services_.end_run(slot);
  }

 private:
  [[gnu::always_inline]] bool is_usual() const noexcept {
    const Engine& engine = engine_;
    return ((engine.turn_ + 1) & engine.look_mask_) != 0 && engine.due_ == 0 &&
           engine.doorbell_->get() == engine.doorbell_seen_ &&
           engine.empty_polls_ + 1 < engine.poll_interval_ && engine.user_code_ == 0 &&
           engine.waiters_ == 0 && services_.runs_ == 0;
  }

  // At each hot ring, from the one on that comes next.
  template <class Service>
  [[gnu::always_inline]] Found look(Service& service) noexcept {
    const std::size_t hot = engine_.hot_.size();
    for (std::size_t i = 0; i < hot; ++i) {
      const std::size_t at = hot == 1 ? 0 : (services_.next_quick_ + i) % hot;
      Peer& peer = *engine_.hot_[at];
      const std::uint64_t word = peer.rx.look();
      const auto state = peer.rx.state_of(word);
      if (state == LineConsumer::State::empty) continue;
      if (state != LineConsumer::State::record || !take_from(peer, word, service)) [[unlikely]]
        return Found::no;
      services_.next_quick_ = static_cast<std::uint32_t>(at + 1);
      return Found::run;
    }
    return Found::nothing;
  }

  template <class Service>
  [[gnu::always_inline]] bool take_from(Peer& peer, std::uint64_t word, Service& service) noexcept {
    constexpr std::uint64_t kAllButTagAndId = 0xffff'0000'ffff'0000;
    const auto id = static_cast<std::uint32_t>(word >> 32);
    const std::uint32_t bytes = id & wire::kIdBytesMask;
    const std::uint64_t kind = word & kAllButTagAndId;
    const bool is_line = kind == wire::encode(wire::Kind::message, 0, 0);
    if ((!is_line && kind != wire::encode(wire::Kind::body, 0, 0)) ||
        id >> wire::kOwnerShift != static_cast<std::uint32_t>(owner_) ||
        bytes > wire::kLineDataBytes) [[unlikely]]
      return false;
    // In an exchange the line of the answer comes meanwhile, as in take_hot().
    is_row_ = peer.last_hit + 1 == engine_.turn_;
    if (!is_row_) peer.claim_line();
    if (is_line ? !service.take_alone(peer.rank, peer.rx.line(0), bytes)
                : !take_chunk(peer, bytes, service)) [[unlikely]]
      return false;
    peer.rx.pop(1);
    engine_.has_met(peer);
    Services::Slot& slot = services_.slot(owner_);
    static_cast<void>(slot.right.try_take());  // it is free: nobody runs
    ++services_.runs_;
    slot.runner = Lane::self();
    return true;
  }

  // A body of one chunk, which is lent until end().
  template <class Service>
  bool take_chunk(Peer& peer, std::uint32_t bytes, Service& service) noexcept {
    constexpr unsigned kWords = wire::fixed_words(wire::Kind::body);
    const transport::Line& line = peer.rx.line(0);
    service::AloneChunk chunk;
    const std::uint64_t size_bytes = line.words[0].get();
    if (bytes != sizeof chunk.header || line.words[1].get() != 0 ||
        line.words[2].get() != (size_bytes | wire::kBulkFirst | wire::kBulkLast) ||
        !services_.may_lend(peer, owner_, size_bytes))
      return false;
    chunk.header = {line.words[kWords].get(), line.words[kWords + 1].get()};
    chunk.bytes = {peer.rx_bulk.place(size_bytes), size_bytes};
    if (!service.take_alone(peer.rank, chunk)) return false;
    from_ = peer.rank;
    loan_ = services_.lend(peer, owner_, size_bytes);
    return true;
  }

  Engine& engine_;
  Services& services_;
  const wire::Owner owner_;
  Rank from_ = 0;
  std::uint64_t loan_ = Bodies::kNoLoan;
  bool is_row_ = false;
};

}  // namespace photon::engine
