// The messages of late_writes.cpp, who sends them, and what all ranks know of them.
#pragma once

#include <photon/photon.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rank_calls.hpp"

namespace photon::test {

inline constexpr std::uint32_t kRanks = 4;
inline constexpr std::uint64_t kAddress = 7;
inline constexpr std::uint32_t kMost = 200'000;  // messages of a sender in one job
inline constexpr std::size_t kUnderWay = 8;      // messages of a sender
inline constexpr int kFound = 3;
// A machine that is full of other work may leave the receiver little time.
inline constexpr std::int64_t kVerdictUs = 200'000'000;

// What becomes of a message, as its sender knows.
enum class Told : std::uint8_t { nothing, sent, landed, refused };

// What all ranks and the process that makes them see.
struct Shared {
  std::array<pid_t, kRanks> pids{};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> done{0};
  std::atomic<std::uint64_t> recalls{0};  // of all jobs
  std::array<std::array<std::atomic<Told>, kMost>, kRanks> told{};
  std::array<std::array<std::uint8_t, kMost>, kRanks> counted{};
};

struct Head {
  std::uint32_t from = 0;
  std::uint32_t number = 0;
  std::uint64_t size_bytes = 0;
};

inline std::uint64_t size_of(ph_rank from, std::uint32_t number) {
  constexpr std::array<std::uint64_t, 8> kSizes = {20'000, 64, 70'000, 40'001,
                                                   9000,   24, 3000,   100'003};
  return kSizes[(number * 3 + from + number / 8) % kSizes.size()];
}

inline unsigned char byte_at(ph_rank from, std::uint32_t number, std::uint64_t at) {
  const Head head{from, number, size_of(from, number)};
  if (at < sizeof head) return reinterpret_cast<const unsigned char*>(&head)[at];
  return static_cast<unsigned char>(from * 89 + number * 31 + at * 7 + (at >> 8));
}

inline void fill(ph_rank from, std::uint32_t number, std::vector<unsigned char>& bytes) {
  bytes.resize(size_of(from, number));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(from, number, i);
}

[[noreturn]] inline void found(const Shared& shared, const char* what) {
  std::fprintf(stderr, "%s, after %llu take-backs\n", what,
               static_cast<unsigned long long>(shared.recalls.load()));
  for (ph_rank rank = 1; rank < kRanks; ++rank) ::kill(shared.pids[rank], SIGKILL);
  std::_Exit(kFound);
}

class Sender {
 public:
  Sender(Shared& shared, ph_context* context)
      : shared_(shared), context_(context), rank_(ph_rank_of(context)) {}

  void run() {
    for (std::uint32_t number = 0; number < kMost && !shared_.stop.load();) {
      Slot& slot = slots_[number % kUnderWay];
      await(slot);
      number += append(slot, number) ? 1 : 0;
    }
    for (Slot& slot : slots_) await(slot);
  }

 private:
  struct Slot {
    std::vector<unsigned char> bytes;
    std::uint32_t number = 0;
    ph_request request = PH_REQUEST_NONE;
  };

  bool append(Slot& slot, std::uint32_t number) {
    fill(rank_, number, slot.bytes);
    slot.number = number;
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kAddress;
    args.source = slot.bytes.data();
    args.size_bytes = slot.bytes.size();
    args.epoch = PH_ANY_EPOCH;
    args.request = &slot.request;
    shared_.told[rank_][number] = Told::sent;
    const ph_status status = ph_mailbox_append(context_, 0, &args);
    if (status == PH_OK) return true;
    if (status != PH_AGAIN) fail(context_, "append", status);
    shared_.told[rank_][number] = Told::nothing;
    std::size_t count = 0;
    ph_completion one{};
    require(context_, ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, &one, 1, &count),
            "probe");
    return false;
  }
  void await(Slot& slot) {
    if (slot.request == PH_REQUEST_NONE) return;
    const ph_status status = ph_wait_request(context_, &slot.request, nullptr, kVerdictUs);
    if (status != PH_OK && status != PH_ERR_NOT_FOUND) fail(context_, "a verdict", status);
    shared_.told[rank_][slot.number] = status == PH_OK ? Told::landed : Told::refused;
    std::fill(slot.bytes.begin(), slot.bytes.end(), static_cast<unsigned char>(0xdd));
  }

  Shared& shared_;
  ph_context* const context_;
  const ph_rank rank_;
  std::array<Slot, kUnderWay> slots_;
};

}  // namespace photon::test
