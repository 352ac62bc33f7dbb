// What PEs tell each other for quiescence, and how answers are added up (docs/tasks.md,
// "Quiescence").
//
//   ask:    a PE asks the leader      begin:  a wave, with the dead processes that its leader knows
//   done:   the leader answers        answer: counts of all below a PE, and the dead they know
//
// A message is a WaveFront with sets of processes behind it: one for `begin`, and for `answer` two,
// or one where both are the same. Up to 64 processes a message of a wave so goes in one line.
// Owner: none; plain data.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "task/collect/process_set.hpp"
#include "task/pool/pool.hpp"

namespace photon::task {

enum class Step : std::uint8_t { ask, begin, answer, done };

// Which wave: later ones, and those of a later leader, are greater.
struct WaveName {
  std::uint32_t leader = 0;  // process
  std::uint64_t number = 0;  // from 1 on
  friend auto operator<=>(const WaveName&, const WaveName&) = default;
};

struct WaveFront {
  Step step;
  std::uint8_t is_void;  // of an answer: somebody was lost in the wave
  std::uint16_t sets;    // how many are behind it
  std::uint32_t leader;
  std::uint64_t number;  // of `ask` and `done`: that of the request
  std::uint64_t created;
  std::uint64_t processed;

  WaveName name() const noexcept { return {leader, number}; }
};
static_assert(sizeof(WaveFront) == 32);

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

// The sets, as many as the front says, have one size. Null: no memory.
inline Message* write(Pool& pool, const WaveFront& front, const ProcessSet* first = nullptr,
                      const ProcessSet* second = nullptr) noexcept {
  const std::uint64_t set_bytes = first == nullptr ? 0 : ProcessSet::bytes_of(first->processes());
  Message* message = pool.alloc(sizeof front + front.sets * set_bytes);
  if (message == nullptr) return nullptr;
  std::byte* body = body_of(*message);
  std::memcpy(body, &front, sizeof front);
  if (front.sets > 0) std::memcpy(body + sizeof front, first->words(), set_bytes);
  if (front.sets > 1) std::memcpy(body + sizeof front + set_bytes, second->words(), set_bytes);
  return message;
}

// What came; of a peer, so nothing is believed.
inline std::optional<WaveFront> read(Message& message, std::uint32_t processes) noexcept {
  WaveFront front{};
  if (message.size_bytes < sizeof front) return std::nullopt;
  std::memcpy(&front, body_of(message), sizeof front);
  if (front.step > Step::done || front.leader >= processes) return std::nullopt;
  const bool has_counts = front.step == Step::answer;
  const std::uint16_t least = front.step == Step::begin || has_counts ? 1 : 0;
  if (front.sets < least || front.sets > (has_counts ? 2 : least)) return std::nullopt;
  if (message.size_bytes != sizeof front + front.sets * ProcessSet::bytes_of(processes))
    return std::nullopt;
  return front;
}
inline const std::uint64_t* set_in(Message& message, std::uint32_t number,
                                   std::uint32_t processes) noexcept {
  const std::byte* sets = body_of(message) + sizeof(WaveFront);
  return reinterpret_cast<const std::uint64_t*>(sets + number * ProcessSet::bytes_of(processes));
}

}  // namespace photon::task
