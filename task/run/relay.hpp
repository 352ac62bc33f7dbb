// Messages to many: they go down a tree of processes with four branches, rooted at the sender's
// (docs/tasks.md, "Sending"; route.hpp).
//
//   relay: made by the sender, or come from above --> passed on to up to four children -->
//   each PE (or the process) gets a copy --> the last one gets the message itself, embedded
//
//   list of a group: made --> told to the children before the first message to it --> each of them
//   tells its own, when it has all of it
//
// Where a child is lost, its own children are served in its place; of a group they are told again.
// Invariant: a relay encloses the original body behind 64 bytes, which are a RelayFront while it
// travels, and then the chunk and the header of the embedded message. Behind the body, at a
// multiple of 4, stand the numbers of PEs and of processes of a list.
// Owner: the PE that has the relay.
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <span>

#include "task/pool/embedded.hpp"
#include "task/run/pe.hpp"

namespace photon::task {

struct RelayFront {
  std::uint64_t body_bytes;
  std::uint32_t root;     // process
  std::uint32_t flags;    // PH_TASK_TO_PROCESSES, PH_TASK_WITH_SELF, kListed, kGrouped
  std::uint32_t source;   // PE
  std::uint32_t handler;  // of the original message
  std::uint32_t group;    // its number at the source, or 0
  std::uint32_t pes;      // how many are listed
  std::uint32_t processes;
  std::uint8_t zero[28];

  static constexpr std::uint32_t kListed = 0x100;   // by this relay
  static constexpr std::uint32_t kGrouped = 0x200;  // by a group
};
static_assert(sizeof(RelayFront) == kFrontBytes);

// A part of the list of a group, as it travels; the numbers stand behind it.
struct GroupPiece {
  std::uint32_t maker;   // PE
  std::uint32_t number;  // that the maker has given
  std::uint32_t pes;     // of the whole list
  std::uint32_t processes;
  std::uint32_t first;  // of these numbers in the list
  std::uint32_t count;
  std::uint64_t zero;
};
static_assert(sizeof(GroupPiece) == 32);

// To all, by the sender; the message stays the caller's. Not PH_OK: nothing was sent.
ph_status broadcast(Pe& pe, const Message& message, std::uint32_t flags) noexcept;
// To the PEs of a list, which exist. PH_ERR_ARGUMENT: one stands twice.
ph_status send_list(Pe& pe, std::span<const std::uint32_t> pes, const Message& message) noexcept;
// To the PEs of a group that this PE has made. PH_ERR_NOT_FOUND: it has not.
ph_status multicast(Pe& pe, std::uint32_t group, const Message& message) noexcept;

// What has come (Kind::relay, Kind::group). It is over then.
bool relay(Pe& pe, Message& message) noexcept;
bool take_group(Pe& pe, Message& message) noexcept;

}  // namespace photon::task
