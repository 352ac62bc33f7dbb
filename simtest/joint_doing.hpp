// One doing of a collective operation by one rank, and where the rank stands.
//
//   idle -- begun --> under way -- its end is told --> over
//   idle -- refused by the call --> over
//
// Owner: Joints. Threads: one.
#pragma once

#include <photon/coll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simtest/joint_values.hpp"

namespace photon::simtest {

// A team as one rank sees it.
struct JointGroup {
  std::vector<ph_rank> members;
  std::uint32_t own = kNone;  // its number; kNone: it is not in it
};

// How its end is told; `chain`: by a handler that begins the next one.
enum class JointEnd : std::uint8_t { request, handler, chain, id, silence };

class Joints;

struct JointDoing {
  enum class State : std::uint8_t { idle, under_way, over };

  Joints* joints = nullptr;
  std::uint32_t number = 0;
  ph_rank rank = 0;
  std::uint32_t team = 0;
  std::uint32_t line = 0;
  std::size_t at = 0;
  JointGroup group;
  JointCall call;  // its number: of the start
  JointEnd end = JointEnd::request;
  State state = State::idle;
  bool is_prepared = false;
  std::uint64_t starts = 0;
  std::uint64_t sequence = 0;  // among the one-shot operations of its team
  ph_request request = PH_REQUEST_NONE;
  ph_fold fold{};
  std::vector<std::byte> id;

  // With guards around both; the addresses never change.
  std::vector<std::byte> in, out;
  JointBuffers begun;  // as they were filled, without guards
  std::vector<std::uint64_t> told_counts;
  bool is_poisoned = false;

  bool is_promised() const noexcept { return end == JointEnd::request || end == JointEnd::id; }
};

// Where a rank stands in a line.
struct JointPlace {
  std::size_t next = 0;
  std::size_t wanted = 0;
  std::uint64_t begun = 0;      // one-shot operations
  std::uint32_t doing = kNone;  // of a prepared one
  ph_coll* coll = nullptr;
  bool is_prepared = false;  // or could not be
  bool is_called = false;    // an agreement, which goes on
};

struct JointMade {
  enum class State : std::uint8_t { unmade, alive, absent, freed };
  State state = State::unmade;
  ph_team* handle = nullptr;
  JointGroup group;
  bool has_failed = false;      // its making
  bool has_silent = false;      // something without a completion was begun
  std::vector<ph_status> lost;  // by member, as was agreed last
};

struct JointSeat {
  std::vector<JointMade> teams;
  std::vector<std::uint32_t> under_way;  // doings
  std::uint64_t promises = 0;
  std::size_t handled = 0;
  bool is_pumping = false;
  bool is_gone = false;
};

}  // namespace photon::simtest
