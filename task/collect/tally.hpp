// What PEs tell each other for quiescence, and how answers are added up (docs/tasks.md,
// "Quiescence").
//
//   ask:    a PE asks the leader      begin:  a wave, with the dead processes that its leader knows
//   done:   the leader answers        answer: counts of all below a PE, and the dead they know
//
// A message is a WaveFront with sets of processes behind it: one for `begin`, two for `answer`.
// Owner: none; plain data.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "task/collect/process_set.hpp"
#include "task/pool/pool.hpp"

namespace photon::task {

enum class Step : std::uint32_t { ask, begin, answer, done };

// Which wave: later ones, and those of a later leader, are greater.
struct WaveName {
  std::uint64_t leader = 0;  // process
  std::uint64_t number = 0;  // from 1 on
  friend auto operator<=>(const WaveName&, const WaveName&) = default;
};

struct WaveFront {
  Step step;
  std::uint32_t is_void;  // of an answer: somebody was lost in the wave
  WaveName name;          // of `ask` and `done`: the number of the request
  std::uint64_t created;
  std::uint64_t processed;
};

struct Tally {
  explicit Tally(std::uint32_t processes) : any(processes), every(processes) {}

  void begin(std::uint64_t own_created, std::uint64_t own_processed, const ProcessSet& dead) {
    created = own_created;
    processed = own_processed;
    is_void = false;
    any = dead;
    every = dead;
  }
  void add(const Tally& other) noexcept {
    created += other.created;
    processed += other.processed;
    is_void |= other.is_void;
    any.unite(other.any);
    every.intersect(other.every);
  }
  // All that was created is processed, and all PEs know the same dead processes.
  bool is_even() const noexcept { return !is_void && created == processed && any == every; }
  friend bool operator==(const Tally&, const Tally&) = default;

  std::uint64_t created = 0;
  std::uint64_t processed = 0;
  bool is_void = false;
  ProcessSet any;    // dead for somebody
  ProcessSet every;  // dead for all
};

// Null: no memory.
inline Message* write(Pool& pool, const WaveFront& front, const ProcessSet* one = nullptr,
                      const ProcessSet* other = nullptr) noexcept {
  const std::uint64_t set_bytes = one == nullptr ? 0 : ProcessSet::bytes_of(one->processes());
  Message* message = pool.alloc(sizeof front + (other == nullptr ? 1 : 2) * set_bytes);
  if (message == nullptr) return nullptr;
  std::byte* body = body_of(*message);
  std::memcpy(body, &front, sizeof front);
  if (one != nullptr) std::memcpy(body + sizeof front, one->words(), set_bytes);
  if (other != nullptr) std::memcpy(body + sizeof front + set_bytes, other->words(), set_bytes);
  return message;
}

// What came; of a peer, so nothing is believed. Sets: how many stood behind the front.
inline std::optional<WaveFront> read(Message& message, std::uint32_t processes) noexcept {
  WaveFront front{};
  if (message.size_bytes < sizeof front) return std::nullopt;
  std::memcpy(&front, body_of(message), sizeof front);
  if (front.step > Step::done || front.name.leader >= processes) return std::nullopt;
  const std::uint64_t sets = front.step == Step::begin ? 1 : front.step == Step::answer ? 2 : 0;
  if (message.size_bytes != sizeof front + sets * ProcessSet::bytes_of(processes))
    return std::nullopt;
  return front;
}
inline const std::uint64_t* set_in(Message& message, std::uint32_t number,
                                   std::uint32_t processes) noexcept {
  const std::byte* sets = body_of(message) + sizeof(WaveFront);
  return reinterpret_cast<const std::uint64_t*>(sets + number * ProcessSet::bytes_of(processes));
}

}  // namespace photon::task
