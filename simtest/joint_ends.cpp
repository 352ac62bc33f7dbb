// How collective operations of a program end, and what must be true then.
#include <algorithm>
#include <cstring>
#include <utility>

#include "simtest/joint_runner.hpp"
#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kJointMark = 0x6a6f'696e'0000'0000;  // no other id has that
constexpr std::uint64_t kJointNumber = 0xffff'ffff;
constexpr std::size_t kJointGuard = 32;
constexpr std::byte kJointBackground{0xa5};

Pattern junk(const JointDoing& doing) { return {Purpose::junk, kJointMark | doing.number}; }

std::span<std::byte> within_guards(std::vector<std::byte>& whole) {
  return std::span(whole).subspan(kJointGuard, whole.size() - 2 * kJointGuard);
}
std::span<const std::byte> within_guards(const std::vector<std::byte>& whole) {
  return std::span(whole).subspan(kJointGuard, whole.size() - 2 * kJointGuard);
}

// The buffer's address stays.
void lay_out(const std::vector<std::byte>& bytes, std::vector<std::byte>& whole) {
  whole.resize(bytes.size() + 2 * kJointGuard);
  std::fill(whole.begin(), whole.end(), kJointBackground);
  std::copy(bytes.begin(), bytes.end(), whole.begin() + kJointGuard);
}

bool is_background(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == kJointBackground; });
}

bool has_guards(const std::vector<std::byte>& whole) {
  return is_background(std::span(whole).first(kJointGuard)) &&
         is_background(std::span(whole).last(kJointGuard));
}

}  // namespace

std::string Joints::text_of(const Doing& doing) const {
  std::string text = "doing " + std::to_string(doing.number) + " (rank " +
                     std::to_string(doing.rank) + ", member " + std::to_string(doing.group.own) +
                     " of " + std::to_string(doing.group.members.size()) + ", line " +
                     std::to_string(doing.line) + " at " + std::to_string(doing.at) + ", ";
  if (doing.is_prepared) text += "start " + std::to_string(doing.call.number) + " of ";
  return text + simtest::text_of(*doing.call.joint) + ")";
}

void Joints::wrong(const char* kind, const Doing& doing, const std::string& what) {
  oracle_.report(kind, text_of(doing) + " " + what);
}

// A new one, as it will be begun. How its end is told is its rank's own affair.
JointDoing& Joints::doing_of(ph_rank rank, std::uint32_t line, const Joint& joint) {
  JointPlace& mine = place(rank, line);
  const bool is_one_shot = joint.act == Act::begin;
  if (is_one_shot && mine.doing != kNone && doings_[mine.doing].at == mine.next &&
      doings_[mine.doing].state == State::idle)
    return doings_[mine.doing];
  Doing& doing = doings_.emplace_back();
  doing.joints = this;
  doing.number = static_cast<std::uint32_t>(doings_.size() - 1);
  doing.rank = rank;
  doing.line = line;
  doing.team = program_.joint_lines[line].team;
  doing.at = is_one_shot ? mine.next : 0;
  doing.group = seats_[rank].teams[doing.team].group;
  doing.call = {&joint, static_cast<std::uint32_t>(doing.group.members.size()), doing.group.own, 0};
  if (is_one_shot) mine.doing = doing.number;
  constexpr JointEnd kEnds[] = {JointEnd::request, JointEnd::request, JointEnd::id,
                                JointEnd::id,      JointEnd::handler, JointEnd::chain,
                                JointEnd::silence};
  transport::sim::Random random = transport::sim::Random(joint.seed).stream(0x656e64 + rank);
  doing.end = kEnds[random.up_to(std::size(kEnds) - 1)];
  const bool is_barrier = joint.kind == PH_COLL_BARRIER && is_one_shot;
  if (doing.end == JointEnd::silence && !is_barrier) doing.end = JointEnd::chain;
  if (doing.is_promised() && seats_[rank].promises >= most_promises_) doing.end = JointEnd::handler;
  const std::uint64_t id_max = option_of(program_, "max_cid_size");
  const std::size_t id_size = random.up_to(2) == 0 ? std::min<std::uint64_t>(id_max, 24) : 8;
  doing.id.resize(id_size);
  const std::uint64_t word = kJointMark | doing.number;
  Pattern(Purpose::id, word).fill(doing.id);
  std::memcpy(doing.id.data(), &word, sizeof word);
  doing.fold = fold_of(joint.arithmetic);
  fill(doing);
  return doing;
}

void Joints::fill(Doing& doing) {
  doing.begun = buffers_of(doing.call, kJointBackground);
  lay_out(doing.begun.in, doing.in);
  lay_out(doing.begun.out, doing.out);
  const std::vector<std::uint64_t>& counts = doing.begun.out_counts;
  doing.told_counts.resize(counts.size());
  std::copy(counts.begin(), counts.end(), doing.told_counts.begin());
  doing.is_poisoned = false;
}

ph_coll_args Joints::args_of(Doing& doing) {
  ph_coll_args args{};
  args.size = sizeof args;
  describe(*doing.call.joint, doing.fold, args);
  args.root = root_of(doing.call);
  const bool in_place = is_in_place(doing.call);
  const bool is_scatter = args.kind == PH_COLL_SCATTER || args.kind == PH_COLL_SCATTERV;
  args.in = in_place && !is_scatter ? PH_IN_PLACE : doing.in.data() + kJointGuard;
  args.out = in_place && is_scatter ? PH_IN_PLACE : doing.out.data() + kJointGuard;
  const auto of = [](auto& all) { return all.empty() ? nullptr : all.data(); };
  args.in_counts = of(doing.begun.in_counts);
  args.in_offsets = of(doing.begun.in_offsets);
  args.out_counts = of(doing.told_counts);
  args.out_offsets = of(doing.begun.out_offsets);
  switch (doing.end) {
    case JointEnd::request: args.request = &doing.request; break;
    case JointEnd::id:
      args.local = {doing.id.data(), static_cast<std::uint32_t>(doing.id.size())};
      break;
    case JointEnd::handler:
    case JointEnd::chain:
      args.handler = &Joints::on_handler;
      args.user = &doing;
      break;
    case JointEnd::silence: args.flags |= PH_NO_LCE; break;
  }
  return args;
}

// ---- the call

void Joints::began(Doing& doing) {
  JointSeat& seat = seats_[doing.rank];
  oracle_.note(doing.rank, "begin " + text_of(doing));
  if (!doing.is_prepared) doing.sequence = place(doing.rank, doing.line).begun++;
  doing.state = State::under_way;
  seat.under_way.push_back(doing.number);
  if (doing.is_promised() && !doing.is_prepared) ++seat.promises;
  if (doing.end == JointEnd::silence) seat.teams[doing.team].has_silent = true;
  if (doing.end == JointEnd::silence) std::erase(seat.under_way, doing.number);
  if (doing.is_promised()) oracle_.also_under_way(doing.rank, doing.rank);
}

// The call said PH_AGAIN: nothing was begun, and there must be a reason. False.
bool Joints::come_again(Doing& doing) {
  JointSeat& seat = seats_[doing.rank];
  oracle_.note(doing.rank, "doing " + std::to_string(doing.number) + " = again");
  if (doing.state != State::under_way) wrong("unexpected", doing, "is over, and was not begun");
  doing.state = State::idle;
  std::erase(seat.under_way, doing.number);
  if (doing.is_promised() && !doing.is_prepared) --seat.promises;
  if (!doing.is_prepared) --place(doing.rank, doing.line).begun;
  const bool is_full =
      std::any_of(seat.under_way.begin(), seat.under_way.end(), [&](std::uint32_t number) {
        const Doing& other = doings_[number];
        return other.line == doing.line && other.sequence + window_ == doing.sequence;
      });
  if (!doing.is_promised() && !is_full && !seat.teams[doing.team].has_silent)
    wrong("unexpected", doing, "was refused with PH_AGAIN, though the team's window has room");
  return false;
}

// The call gave no request: it was over when that returned.
void Joints::over_at_once(Doing& doing) {
  if (doing.end == JointEnd::request && doing.request == PH_REQUEST_NONE) ended(doing, PH_OK);
}

// Not more than the window may be under way: who was that many before is over, and cannot be while
// a member has not begun it.
void Joints::check_window(const Doing& doing) {
  const bool has_lost =
      std::any_of(doing.group.members.begin(), doing.group.members.end(),
                  [&](ph_rank rank) { return oracle_.is_dead(rank) || oracle_.is_leaving(rank); });
  if (has_lost) return;
  for (const std::uint32_t number : seats_[doing.rank].under_way) {
    const Doing& other = doings_[number];
    const bool is_before = other.line == doing.line && !other.is_prepared &&
                           other.sequence + window_ <= doing.sequence;
    const ph_coll_kind kind = other.call.joint->kind;
    const bool needs_all =
        kind == PH_COLL_BARRIER || (kind == PH_COLL_ALLREDUCE && other.call.joint->count != 0);
    if (!is_before || !needs_all || other.state != State::under_way) continue;
    for (const ph_rank member : other.group.members)
      if (place(member, other.line).next < other.at)
        wrong("unexpected", doing,
              "was begun though " + text_of(other) + " is under way, which is a window before");
  }
}

// A member is lost.
void Joints::refused(Doing& doing, ph_status status) {
  if (oracle_.failed()) return;
  if (doing.state == State::over)
    return wrong("unexpected", doing, "is over, and its call said " + std::to_string(status));
  oracle_.note(doing.rank,
               "doing " + std::to_string(doing.number) + " refused = " + std::to_string(status));
  if (!may_fail(doing.team, doing.rank, status))
    wrong("status", doing, "was refused by the call with " + std::to_string(status));
  over(doing);
}

// ---- the end

// By who has died or left. A team of a split is no good either where a member of the parent has
// failed in that, and may have none.
bool Joints::may_fail(std::uint32_t team, ph_rank rank, ph_status status) const {
  const JointGroup group = group_of(team, rank);
  const bool is_lost = std::any_of(group.members.begin(), group.members.end(), [&](ph_rank member) {
    return (status == PH_ERR_PEER && oracle_.is_dead(member)) ||
           (status == PH_ERR_DEPARTED && oracle_.is_leaving(member));
  });
  const std::uint32_t parent = program_.joint_teams[team].parent;
  const bool is_split = parent != kNone && !program_.joint_teams[team].is_shrunk;
  if (is_lost || !is_split) return is_lost;
  const JointGroup from = group_of(parent, rank);
  const bool has_failed =
      std::any_of(from.members.begin(), from.members.end(), [&](ph_rank member) {
        const JointMade& made = seats_[member].teams[team];
        return made.has_failed || made.state == JointMade::State::unmade;
      });
  return has_failed && may_fail(parent, rank, status);
}

// It begins the next one of its line, if that can be now.
void Joints::on_handler(void* user, ph_status status) {
  Doing& doing = *static_cast<Doing*>(user);
  Joints& all = *doing.joints;
  if (all.oracle_.failed()) return;
  all.ended(doing, status);
  JointSeat& seat = all.seats_[doing.rank];
  ++seat.handled;
  if (doing.end != JointEnd::chain || status != PH_OK || seat.is_gone || all.oracle_.failed())
    return;
  const JointPlace& mine = all.place(doing.rank, doing.line);
  const auto& joints = all.program_.joint_lines[doing.line].joints;
  if (mine.next >= joints.size() || std::exchange(seat.is_pumping, true)) return;
  const Act act = joints[mine.next].act;
  const bool is_quiet = std::none_of(
      doing.group.members.begin(), doing.group.members.end(),
      [&](ph_rank rank) { return all.oracle_.is_dead(rank) || all.oracle_.is_leaving(rank); });
  if (is_quiet && (act == Act::begin || act == Act::start)) all.advance(doing.rank, doing.line);
  seat.is_pumping = false;
}

ph_request* Joints::request_of(ph_rank rank, const Step& step) {
  for (const std::uint32_t number : seats_[rank].under_way) {
    Doing& doing = doings_[number];
    if (doing.line == step.operand && doing.at == step.order && doing.end == JointEnd::request)
      return &doing.request;
  }
  return nullptr;
}

void Joints::tested(ph_rank rank, const ph_request* request, const ph_result& result) {
  for (const std::uint32_t number : seats_[rank].under_way) {
    Doing& doing = doings_[number];
    if (&doing.request != request) continue;
    if (doing.request != PH_REQUEST_NONE || result.peer != rank)
      return wrong("unexpected", doing,
                   "has a request that ended with rank " + std::to_string(result.peer));
    return ended(doing, result.status);
  }
}

bool Joints::completed(const Endpoint& at, const ph_completion& one) {
  if ((one.id & ~kJointNumber) != kJointMark) return false;
  if (oracle_.failed()) return true;
  const std::uint64_t number = one.id & kJointNumber;
  if (number >= doings_.size()) {
    oracle_.report("id", "rank " + std::to_string(at.rank) + " probed an id of no collective");
    return true;
  }
  Doing& doing = doings_[number];
  const bool has_id =
      one.id_size_bytes == doing.id.size() &&
      (one.long_id == nullptr || std::memcmp(one.long_id, doing.id.data(), doing.id.size()) == 0);
  if (!has_id || one.kind != PH_LOCAL || doing.rank != at.rank || one.peer != at.rank ||
      at.lane != 0 || doing.end != JointEnd::id)
    wrong("unexpected", doing, "yields another completion than it was begun with");
  else
    ended(doing, one.status);
  return true;
}

void Joints::ended(Doing& doing, ph_status status) {
  if (oracle_.failed()) return;
  oracle_.note(doing.rank,
               "doing " + std::to_string(doing.number) + " over = " + std::to_string(status));
  if (doing.state != State::under_way)
    return wrong("twice", doing, "was told of, though nothing of it is under way");
  const bool is_mine = seats_[doing.rank].is_gone;  // it ends itself what it leaves undone
  if (status != PH_OK && !is_mine && !may_fail(doing.team, doing.rank, status))
    wrong("status", doing, "ended with " + std::to_string(status));
  if (status == PH_OK) check_result(doing);
  over(doing);
}

void Joints::over(Doing& doing) {
  JointSeat& seat = seats_[doing.rank];
  if (!has_guards(doing.in) || !has_guards(doing.out))
    wrong("bytes", doing, "has written beside its buffers");
  if (!std::ranges::equal(within_guards(doing.in), doing.begun.in))
    wrong("bytes", doing, "has changed its input");
  doing.state = State::over;
  std::erase(seat.under_way, doing.number);
  if (doing.is_promised() && !doing.is_prepared) --seat.promises;
  poison(doing);
}

void Joints::check_result(Doing& doing) {
  JointBuffers right = doing.begun;
  apply(doing.call, right);
  const std::span<const std::byte> out = within_guards(std::as_const(doing.out));
  if (doing.call.joint->counts_come && doing.told_counts != right.out_counts)
    return wrong("bytes", doing, "was told other counts than were sent");
  if (doing.call.joint->arithmetic == Arithmetic::double_any) {
    const std::tuple name{doing.line, doing.at, doing.call.number, doing.group.members[0]};
    const auto [found, is_first] = agreed_.try_emplace(name, out.begin(), out.end());
    if (!std::ranges::equal(found->second, out))
      wrong("bytes", doing, "gave other bits than another member has");
    return;
  }
  const std::uint64_t size = told_bytes(doing.call, right);
  for (std::uint64_t at = 0; at < size; ++at)
    if (out[at] != right.out[at])
      return wrong("bytes", doing,
                   "gave a wrong byte at " + std::to_string(at) + " of " + std::to_string(size));
}

void Joints::poison(Doing& doing) {
  junk(doing).fill(doing.in);
  junk(doing).fill(doing.out);
  doing.is_poisoned = true;
}

void Joints::check_poison(const Doing& doing) {
  if (junk(doing).difference(doing.in) || junk(doing).difference(doing.out))
    wrong("late", doing, "was written after its end");
}

// ---- the end of all

void Joints::left(ph_rank rank) {
  seats_[rank].under_way.clear();
  for (Doing& doing : doings_)
    if (doing.rank == rank) poison(doing);
}

bool Joints::is_settled() const {
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    if (seats_[rank].is_gone) continue;
    if (!seats_[rank].under_way.empty()) return false;
    for (std::uint32_t line = 0; line < program_.joint_lines.size(); ++line)
      if (place(rank, line).next < program_.joint_lines[line].joints.size()) return false;
  }
  return true;
}

void Joints::report_pending() {
  std::string text;
  int named = 0;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    if (seats_[rank].is_gone) continue;
    for (const std::uint32_t number : seats_[rank].under_way)
      if (++named <= 8) text += " " + text_of(doings_[number]) + " is not over;";
    for (std::uint32_t line = 0; line < program_.joint_lines.size(); ++line) {
      const std::size_t next = place(rank, line).next;
      if (next < program_.joint_lines[line].joints.size() && ++named <= 8)
        text += " rank " + std::to_string(rank) + " has not come to " +
                simtest::text_of(program_.joint_lines[line].joints[next]) + " of line " +
                std::to_string(line) + ";";
    }
  }
  if (!text.empty()) oracle_.report("lost", "collectives:" + text);
}

void Joints::check_memory() {
  for (const Doing& doing : doings_)
    if (doing.is_poisoned) check_poison(doing);
}

}  // namespace photon::simtest
