// One operation to be proved: its arguments at all members, their inputs, and what has to be in
// their outputs. A case is also text, so that it can be repeated alone.
//
//   allreduce:ring:size=7:root=0:count=5:segment=0:order=any:places=some:blocks=uniform:
//   timing=late:seed=12          (one line)
//
// Invariants: a case is a pure function of its text; elements of `out` that no kind speaks of stay
// as they were.
// Owner: whoever verifies. Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedule/choice.hpp"
#include "schedule/hosts.hpp"
#include "simtest/coll_verify.hpp"

namespace photon::simtest::coll {

enum class Order : std::uint8_t { any, kept, loop };       // of operands; loop: reproducible
enum class Places : std::uint8_t { separate, all, some };  // who is in place
// Elements of a block. room: receivers give more than comes (PH_COUNTS_FROM_SENDERS).
enum class Counts : std::uint8_t { uniform, drawn, zeros, room };
inline constexpr std::array kOrderNames = {"any", "kept", "loop"};
inline constexpr std::array kPlacesNames = {"separate", "all", "some"};
inline constexpr std::array kCountsNames = {"uniform", "drawn", "zeros", "room"};

struct CollCase {
  schedule::Kind kind = schedule::Kind::barrier;
  schedule::Algorithm algorithm = schedule::Algorithm::linear;
  std::uint32_t size = 1;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  std::uint64_t segment = 0;
  Order order = Order::any;
  Places places = Places::separate;
  Counts blocks = Counts::uniform;
  Timing timing = Timing::early;
  std::uint64_t seed = 1;
};

std::string text_of(const CollCase& one);
std::optional<CollCase> case_of(const std::string& text);
std::optional<schedule::Kind> kind_of(const std::string& name);
std::optional<schedule::Algorithm> algorithm_of(const std::string& name);

bool is_rooted(schedule::Kind kind) noexcept;
bool folds(schedule::Kind kind) noexcept;
bool may_be_in_place(schedule::Kind kind) noexcept;
// Whether blocks may have counts of their own; whether receivers may give room.
bool has_blocks(schedule::Kind kind) noexcept;
bool may_have_room(schedule::Kind kind) noexcept;

struct Proof {
  bool is_known = true;  // else nothing was run
  std::string fault;     // empty: it is proved
  std::uint64_t messages = 0;
  std::uint64_t steps = 0;
};
Proof prove(const CollCase& one, const Schedule& schedule = {});

// The arguments of all members. They stay where they are as long as this.
class Setup {
 public:
  explicit Setup(const CollCase& one);
  Setup(const Setup&) = delete;  // calls point into it
  Setup& operator=(const Setup&) = delete;

  std::vector<Member>& members() { return members_; }
  // The first fault of the outputs, in words; empty: there is none.
  std::string compare(const Values& values) const;

 private:
  // Where the blocks of a member stand.
  struct Layout {
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> offsets;
    std::uint64_t elements = 0;
  };
  struct Wanted;

  bool is_in_place(std::uint32_t member) const;
  std::uint64_t count_between(std::uint32_t from, std::uint32_t to) const;
  std::uint64_t count_of(std::uint32_t member) const { return count_between(member, 0); }
  bool has_in_blocks(std::uint32_t member) const;
  bool has_out_blocks(std::uint32_t member) const;
  void make_layouts(std::uint32_t member);
  void place(Layout& layout, std::uint64_t drawn) const;
  void make_call(std::uint32_t member);
  void fill(std::uint32_t member);
  std::uint64_t in_elements(std::uint32_t member) const;
  std::uint64_t out_elements(std::uint32_t member) const;
  std::uint64_t in_offset(std::uint32_t member, std::uint32_t block) const;
  std::uint64_t out_offset(std::uint32_t member, std::uint32_t block) const;
  std::vector<Wanted> wanted_of(std::uint32_t member) const;
  void want_blocks(std::uint32_t member, std::vector<Wanted>& wanted) const;
  void want_folds(std::uint32_t member, std::vector<Wanted>& wanted) const;
  std::string compare(std::uint32_t member, const Values& values, std::uint64_t all) const;
  bool is_right(const Values& values, Value value, const Wanted& wanted, std::uint64_t all) const;

  CollCase one_;
  bool is_v_;
  schedule::Hosts hosts_;
  std::vector<Layout> in_;
  std::vector<Layout> out_;
  std::vector<Member> members_;
};

}  // namespace photon::simtest::coll
