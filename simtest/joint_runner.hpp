// The collective operations of a program: what each rank calls, and whether what comes of it is
// what photon/team.h and photon/coll.h promise.
//
//   of a rank:   a line is done in its order, as far as it is wanted, as soon as it can be
//   of a doing:  begun -- its end is told: bytes are checked, buffers poisoned --> over, once
//
// A rank waits for nobody here but in ph_coll_run(), with a time limit. Each doing that was begun
// is told of once: with PH_OK the bytes are those of a loop over the members; with an error a
// member has died or left. Buffers are poisoned when a doing is over, and looked at when they are
// used again, and at the end. Owner: the runner. Threads: one.
#pragma once

#include <photon/coll.h>

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "simtest/joint_doing.hpp"
#include "simtest/joint_verdicts.hpp"
#include "simtest/oracle.hpp"
#include "simtest/program.hpp"

namespace photon::simtest {

class Joints {
 public:
  using Contexts = std::function<ph_context*(ph_rank)>;
  Joints(Oracle& oracle, const Program& program, Contexts contexts);
  Joints(const Joints&) = delete;
  Joints& operator=(const Joints&) = delete;

  // ---- of a rank, in its context
  void want(ph_rank rank, std::uint32_t line, std::size_t at);
  void want_all(ph_rank rank);
  // Does what is wanted and can be done now, and hears of what is over. How much that was.
  std::size_t pump(ph_rank rank);
  // By ph_coll_run(), if it is the next of its line; or so long in the call by which its members
  // agree. PH_AGAIN: nothing was begun.
  ph_status run(ph_rank rank, const Step& step);
  // The request of that joint, if it is under way here and has one.
  ph_request* request_of(ph_rank rank, const Step& step);
  void tested(ph_rank rank, const ph_request* request, const ph_result& result);
  // Whether it is over here, or does not concern this rank.
  bool is_over(ph_rank rank, const Step& step) const;
  // Whether a completion is of these; then it was checked.
  bool completed(const Endpoint& at, const ph_completion& one);

  // It leaves or dies: nobody looks at its operations any more. After it has finalized its memory
  // is its own.
  void gone(ph_rank rank) noexcept { seats_[rank].is_gone = true; }
  void left(ph_rank rank);
  bool is_settled() const;
  void report_pending();
  void check_memory();

 private:
  using Doing = JointDoing;
  using State = JointDoing::State;

  JointPlace& place(ph_rank rank, std::uint32_t line) noexcept {
    return places_[rank * program_.joint_lines.size() + line];
  }
  const JointPlace& place(ph_rank rank, std::uint32_t line) const noexcept {
    return places_[rank * program_.joint_lines.size() + line];
  }
  // joint_runner.cpp
  void mark_live();
  void mark(std::uint32_t line, std::size_t at);
  void want_before(ph_rank rank, std::uint32_t line, std::size_t at);
  JointGroup group_of(std::uint32_t team, ph_rank rank) const;
  ph_team* handle_of(ph_rank rank, std::uint32_t team);
  bool advance(ph_rank rank, std::uint32_t line);
  bool carry_out(ph_rank rank, std::uint32_t line, const Joint& joint);
  ph_status make(ph_rank rank, const Joint& joint, std::int64_t limit_us);
  bool may_make(ph_rank rank, const JointTeam& team) const;
  ph_status make_once(ph_rank rank, std::uint32_t number, JointGroup& from, std::int64_t limit_us);
  void check_made(ph_rank rank, std::uint32_t number, ph_status status, const JointGroup& from);
  bool free_team(ph_rank rank, const Joint& joint);
  bool is_free(ph_rank rank, std::uint32_t team) const;
  bool begin(ph_rank rank, std::uint32_t line, const Joint& joint);
  bool prepare(ph_rank rank, const Joint& joint);
  bool start(ph_rank rank, std::uint32_t line);
  bool free_prepared(ph_rank rank, std::uint32_t line);
  // joint_agreements.cpp
  bool is_agreement(const Joint& joint) const noexcept {
    return joint.act == Act::agree ||
           (joint.act == Act::make && program_.joint_teams[joint.team].is_shrunk);
  }
  ph_status agree(ph_rank rank, std::uint32_t line, const Joint& joint, std::int64_t limit_us);
  ph_status agree_on(ph_rank rank, std::uint32_t line, const Joint& joint, std::int64_t limit_us);
  ph_status shrink_once(ph_rank rank, std::uint32_t number, JointGroup& from,
                        std::int64_t limit_us);
  JointAgreement called(ph_rank rank, std::uint32_t line, std::size_t at, std::uint64_t bits);
  void agreed(ph_rank rank, const JointAgreement& name, std::uint32_t team, std::uint64_t bits);
  // joint_ends.cpp
  Doing& doing_of(ph_rank rank, std::uint32_t line, const Joint& joint);
  void fill(Doing& doing);
  ph_coll_args args_of(Doing& doing);
  void began(Doing& doing);
  bool come_again(Doing& doing);
  void refused(Doing& doing, ph_status status);
  void over_at_once(Doing& doing);
  void check_window(const Doing& doing);
  static void on_handler(void* user, ph_status status);
  void ended(Doing& doing, ph_status status);
  void over(Doing& doing);
  void check_result(Doing& doing);
  void poison(Doing& doing);
  void check_poison(const Doing& doing);
  bool may_fail(std::uint32_t team, ph_rank rank, ph_status status) const;
  void wrong(const char* kind, const Doing& doing, const std::string& what);
  std::string text_of(const Doing& doing) const;

  Oracle& oracle_;
  const Program& program_;
  const Contexts contexts_;
  const std::uint64_t window_;
  const std::uint64_t most_promises_;
  std::vector<std::vector<bool>> live_;                         // by line and place
  std::vector<std::pair<std::uint32_t, std::size_t>> made_at_;  // by team: line and place
  std::vector<JointPlace> places_;                              // by rank and line
  std::vector<JointSeat> seats_;                                // by rank
  std::deque<Doing> doings_;
  JointVerdicts verdicts_;
  // Results that all members must share: line, place, start, the first member.
  std::map<std::tuple<std::uint32_t, std::size_t, std::uint64_t, ph_rank>, std::vector<std::byte>>
      agreed_;
};

}  // namespace photon::simtest
