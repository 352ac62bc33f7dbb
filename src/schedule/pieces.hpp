// What the algorithms are built of: steps, parts and segments of a vector, and distances in a team.
// Invariant: the parts of a vector cover it without overlap, and so do its segments.
// Owner: none; pure functions. Threads: any.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "schedule/schedule.hpp"

namespace photon::schedule {

// Segments of a message are numbered by 16 bits; a longer vector gets longer ones.
inline constexpr std::uint64_t kMostSegments = 65536;
// Segments of `temp` that a chain passes on in turn before it waits for its sends.
inline constexpr std::uint32_t kChainSlots = 8;

inline Step send_to(std::uint32_t peer, std::uint32_t tag, const Range& from) noexcept {
  return {.action = Action::send,
          .peer = peer,
          .tag = tag,
          .from = from,
          .to = {},
          .from_first = false,
          .block = kNoBlock};
}

inline Step receive_from(std::uint32_t peer, std::uint32_t tag, const Range& to) noexcept {
  return {.action = Action::receive,
          .peer = peer,
          .tag = tag,
          .from = {},
          .to = to,
          .from_first = false,
          .block = kNoBlock};
}

inline Step copy_of(const Range& from, const Range& to) noexcept {
  return {.action = Action::copy,
          .peer = 0,
          .tag = 0,
          .from = from,
          .to = to,
          .from_first = false,
          .block = kNoBlock};
}

// to = to op from
inline Step fold_behind(const Range& from, const Range& to) noexcept {
  Step step = copy_of(from, to);
  step.action = Action::fold;
  return step;
}

// to = from op to
inline Step fold_before(const Range& from, const Range& to) noexcept {
  Step step = fold_behind(from, to);
  step.from_first = true;
  return step;
}

// Receives a whole block, that of its sender.
inline Step receive_block(std::uint32_t peer, std::uint32_t tag, const Range& to) noexcept {
  Step step = receive_from(peer, tag, to);
  step.block = peer;
  return step;
}

inline std::uint64_t divide_up(std::uint64_t what, std::uint64_t by) noexcept {
  return what / by + (what % by != 0);
}

inline std::uint32_t floor_log2(std::uint32_t positive) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(positive)) - 1;
}

inline std::uint32_t ceil_log2(std::uint32_t positive) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(positive - 1));
}

// The member that stands `distance` behind, or before, a member; distance < size. Behind the last
// member stands the first.
inline std::uint32_t after(const Call& call, std::uint32_t distance,
                           std::uint32_t member) noexcept {
  return distance < call.size - member ? member + distance : member - (call.size - distance);
}
inline std::uint32_t after(const Call& call, std::uint32_t distance) noexcept {
  return after(call, distance, call.rank);
}
inline std::uint32_t before(const Call& call, std::uint32_t distance,
                            std::uint32_t member) noexcept {
  return distance <= member ? member - distance : member + (call.size - distance);
}
inline std::uint32_t before(const Call& call, std::uint32_t distance) noexcept {
  return before(call, distance, call.rank);
}

inline Space own_space(const Call& call) noexcept { return call.in_place ? Space::out : Space::in; }

// This member's whole input and output, of kinds whose buffers are one vector.
inline Range own_vector(const Call& call) noexcept { return {own_space(call), 0, call.count}; }
inline Range out_vector(const Call& call) noexcept { return {Space::out, 0, call.count}; }

// Where a member's block stands in `in`, and in `out`.
inline Range in_block(const Call& call, std::uint32_t member) noexcept {
  return {Space::in, call.in_blocks.offset_of(member, call.count),
          call.in_blocks.count_of(member, call.count)};
}
inline Range out_block(const Call& call, std::uint32_t member) noexcept {
  return {Space::out, call.out_blocks.offset_of(member, call.count),
          call.out_blocks.count_of(member, call.count)};
}
inline bool is_uniform(const Call& call) noexcept {
  return call.in_blocks.counts == nullptr && call.out_blocks.counts == nullptr;
}

// Part `index` of `parts` parts, the first of which may be one element larger than the others.
inline Range part_of(const Range& whole, std::uint32_t parts, std::uint32_t index) noexcept {
  const std::uint64_t each = whole.count / parts;
  const std::uint64_t more = whole.count % parts;
  return {whole.space, whole.first + index * each + std::min<std::uint64_t>(index, more),
          each + (index < more)};
}

inline std::uint64_t segment_of(const Call& call) noexcept {
  if (call.segment == 0) return std::max<std::uint64_t>(call.count, 1);
  return std::max(call.segment, divide_up(call.count, kMostSegments));
}
inline std::uint64_t segments_of(const Call& call) noexcept {
  return std::max<std::uint64_t>(divide_up(call.count, segment_of(call)), 1);
}
inline Range segment_at(const Call& call, Space space, std::uint64_t index) noexcept {
  const std::uint64_t each = segment_of(call);
  return {space, index * each, std::min(each, call.count - index * each)};
}

}  // namespace photon::schedule
