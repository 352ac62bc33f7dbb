// Puts of up to some KiB into memory that only its owner reaches: one chunk of the bulk ring and
// one record, without a request and in a few looks, at both ends.
//
//   put(): on a credit grant, 8-byte ids: chunk, then its record --> take(): bytes and id
//
// Invariant: what either function does not do is left to the general way (put_anyhow(), receive())
// as it was: that says what is wrong with it. Owner: the call, in the lane of the engine.
#pragma once

#include "engine/engine.hpp"

namespace photon::engine {

class EagerChunks {
 public:
  // Whether a record with this first word, whatever its tag, may be such a put.
  static constexpr bool is_one(std::uint64_t header) noexcept {
    constexpr std::uint64_t kTagBits = 0xffff;
    return (header & ~kTagBits) == wire::encode(wire::Kind::bulk, sizeof(std::uint64_t), 0);
  }
  // No: nothing was done.
  static Engine::Fast put(Engine& engine, Peer& peer, ph_const_block source,
                          const ph_target& target, ph_u64_ids ids) noexcept;
  // The next record of the peer's, whose word this is, for a prober who waits for just that; the
  // unexpected queue is empty. False: nothing was done.
  static bool take(Engine& engine, Peer& peer, std::uint64_t header, CompletionSink& sink) noexcept;
  // The same for a sink that stays in registers, which a call would take it from.
  [[gnu::always_inline]] static bool take(Engine& engine, Peer& peer, std::uint64_t header,
                                          SingleSink& sink) noexcept {
    const Met met = meet(engine, peer, header);
    if (!met.is_one) return false;
    sink.put(PH_REMOTE, peer.rank, {met.id, sizeof met.id, PH_OK}, peer.outstanding);
    return true;
  }

 private:
  struct Met {  // in registers, too
    std::uint64_t id = 0;
    bool is_one = false;
  };
  static Met meet(Engine& engine, Peer& peer, std::uint64_t header) noexcept;
  static bool may_go(Engine& engine, const Peer& peer, ph_const_block source,
                     const ph_target& target) noexcept;
};

}  // namespace photon::engine
