#include "service/coll/runner.hpp"

#include <algorithm>
#include <cstring>

namespace photon::service::coll {

Operation& Runner::make() {
  if (free_.empty()) {
    free_.reserve(all_.size() + 1);
    busy_.reserve(all_.size() + 1);
    auto made = std::make_unique<Operation>();
    made->place = static_cast<std::uint32_t>(all_.size());
    all_.push_back(std::move(made));
    free_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
  }
  Operation& op = *all_[free_.back()];
  free_.pop_back();
  return op;
}

void Runner::free(Operation& op) noexcept {
  const std::uint32_t place = op.place;
  op = Operation();
  op.place = place;
  free_.push_back(place);
}

void Runner::begin(Operation& op) {
  Team& team = *op.team;
  const std::uint64_t needed =
      op.plan.is_provided ? 0 : schedule::temp_of(op.plan.call) * op.plan.element_bytes;
  if (needed > op.temp_bytes) {
    op.temp = std::make_unique_for_overwrite<std::byte[]>(needed);
    op.temp_bytes = needed;
  }
  op.is_with_provider = op.plan.is_provided;
  const bool is_small = !op.plan.is_provided && Lines::takes(team, op.plan, op.channel);
  op.way = is_small ? Way::asked : Way::messages;
  lines_.reserve(op);
  if (op.plan.told_counts != nullptr) op.plan.told_counts[team.own] = op.plan.own_count;
  op.receives_left = 0;
  op.asks = false;
  op.retries = false;
  op.is_short = false;
  op.is_changed = false;
  op.blame = {};
  Channel& channel = *team.channels.find(op.channel);
  op.sequence = channel.begun++;
  if (op.sequence % Team::kMostAhead == 0) team.forget_far();
  if ((op.plan.described.flags & kCheckedFlag) != 0) number(op);
  op.state = OpState::running;
  ++under_way_;
  if (op.channel == 0) {
    team.one_shot(op.sequence) = &op;
    team.history[op.sequence % team.window.size()] = op.plan.described;
  }
  if (!channel.early.empty()) {
    op.early = channel.early.front();
    channel.early.pop();
  }
  begin_phases(op);
  if (op.way == Way::asked) lines_.join(op);
  const Told* const told = team.told(op.channel, op.sequence);
  const Blame why = told == nullptr ? Blame{} : told->blame;
  try {
    if (told != nullptr) return fail(op, why);
    if (op.way == Way::messages) lines_.watch(op);
    if (op.state == OpState::running) check_digests(op);
  } catch (const std::bad_alloc&) {  // it has begun: the next turn ends it
    op.is_short = true;
    return want_turn(op);
  }
  if (op.state != OpState::running) return;  // a member that was told something is lost
  advance(op);
  if (op.state == OpState::running && !op.waits && op.plan.size_bytes >= kLongBytes)
    port_.wants_company();
}

// By lines an operation is one phase without steps.
void Runner::begin_phases(Operation& op) noexcept {
  op.phases = op.way == Way::messages ? schedule::phases_of(op.plan.call) : 1;
  if (op.plan.is_provided) op.phases = 0;
  op.index = 0;
  op.step = 0;
  op.step_bytes = 0;
  op.phase.count = 0;
  if (op.way == Way::messages && op.phases != 0) schedule::phase_at(op.plan.call, 0, op.phase);
}

bool Runner::by_lines(Operation& op) {
  const auto is_other = [&](const Arrival& what) { return what.digest != op.plan.digest; };
  if (op.way == Way::asked && !op.early.empty())
    if (const Arrival* const other = early_.find(op.early, is_other); other != nullptr)
      ask(op, other->member);
  switch (lines_.step(op)) {
    case Lines::Outcome::waits: return false;
    case Lines::Outcome::over: op.index = op.phases; break;
    case Lines::Outcome::messages:
      op.way = Way::messages;
      begin_phases(op);
      break;
  }
  return true;
}

void Runner::advance(Operation& op) {
  if (op.is_advancing) return;
  op.is_advancing = true;
  try {
    if (op.is_short) fail_short(op);
    if (op.retries) retry(op);
    while (op.state == OpState::running && step_on(op)) {
    }
  } catch (const std::bad_alloc&) {  // the next turn says so to all members
    op.is_short = true;
    want_turn(op);
  }
  op.is_advancing = false;
  settle(op);
}

void Runner::provided(Operation& op, ph_status status) {
  op.is_with_provider = false;
  if (status == PH_OK || op.state != OpState::running) return settle(op);
  const Blame& broken = op.team->broken;
  try {
    check(op, status, status == broken.status ? broken.member : op.team->own);
  } catch (const std::bad_alloc&) {  // the next turn says so to all members
    op.is_short = true;
    want_turn(op);
  }
}

void Runner::fail_short(Operation& op) {
  check(op, PH_ERR_MEMORY, op.team->own);
  op.is_short = false;
}

// True: something was done, and there may be more.
bool Runner::step_on(Operation& op) {
  if (op.index == op.phases) return false;
  if (op.way != Way::messages) return by_lines(op);
  if (op.step == op.phase.count) return op.receives_left == 0 && next_phase(op);
  if (op.step == 0 && op.phase.after_sends && !op.sent.empty()) return false;
  const schedule::Step& step = op.phase.steps[op.step];
  switch (step.action) {
    case schedule::Action::send: send(op, step); break;
    case schedule::Action::receive: receive(op, op.step); break;
    default: return op.receives_left == 0 && work(op, step);
  }
  ++op.step;
  return true;
}

bool Runner::next_phase(Operation& op) {
  op.step = 0;
  if (++op.index < op.phases) schedule::phase_at(op.plan.call, op.index, op.phase);
  return true;
}

// A piece at a time: other operations, and other users of the lane, have their turns between.
bool Runner::work(Operation& op, const schedule::Step& step) {
  const std::uint64_t element = op.plan.element_bytes;
  const std::uint64_t all = step.to.count * element;
  const std::uint64_t most = std::max(kPieceBytes / element * element, element);
  const std::uint64_t size = std::min(all - op.step_bytes, most);
  if (size != 0 && step.action == schedule::Action::copy)
    std::memmove(op.at(step.to) + op.step_bytes, op.at(step.from) + op.step_bytes, size);
  else if (size != 0)
    fold(op, step, op.step_bytes / element, size / element);
  op.step_bytes += size;
  if (op.step_bytes < all) {
    want_turn(op);
    return false;
  }
  op.step_bytes = 0;
  ++op.step;
  return op.state == OpState::running;
}

void Runner::fold(Operation& op, const schedule::Step& step, std::uint64_t first,
                  std::uint64_t count) {
  const std::uint64_t offset = first * op.plan.element_bytes;
  std::byte* const from = op.at(step.from) + offset;
  std::byte* const to = op.at(step.to) + offset;
  const std::byte* const left = step.from_first ? from : to;
  const std::byte* const right = step.from_first ? to : from;
  fold_all(op, left, right, to, count);
}

void Runner::fold_into(Operation& op, const std::byte* right, std::uint64_t count) {
  fold_all(op, op.plan.out, right, op.plan.out, count);
}

void Runner::fold_all(Operation& op, const std::byte* left, const std::byte* right, std::byte* to,
                      std::uint64_t count) {
  if (op.plan.fold != nullptr) return op.plan.fold(left, right, to, count);
  const ph_fold& user = op.plan.user;
  try {
    user.function(user.user, left, right, to, count);
  } catch (...) {
    Blame why;
    why.status = PH_ERR_ARGUMENT;
    why.member = op.team->own;
    why.own = op.plan.described;
    fail(op, why);
  }
}

void Runner::want_turn(Operation& op) {
  if (op.is_busy) return;
  op.is_busy = true;
  busy_.push_back(op.place);
  port_.wants_turn();
}

bool Runner::turn() {
  lines_.turn();
  post_.pay_late();
  const std::size_t count = busy_.size();
  for (std::size_t i = 0; i < count; ++i) {
    Operation& op = *all_[busy_[i]];
    op.is_busy = false;
    if (op.is_under_way()) advance(op);
  }
  busy_.erase(busy_.begin(), busy_.begin() + static_cast<std::ptrdiff_t>(count));
  return !busy_.empty();
}

void Runner::settle(Operation& op) {
  if (op.is_advancing || !op.is_quiet()) return;
  const bool has_run = op.state == OpState::running && op.index == op.phases;
  if (!has_run && op.state != OpState::failing) return;
  drop_early(op);  // a peer may have sent what no step takes
  end(op);
}

void Runner::end(Operation& op) noexcept {
  Team& team = *op.team;
  op.state = OpState::over;
  --under_way_;
  if (op.channel == 0) team.one_shot(op.sequence) = nullptr;
  lines_.ended(op);
  if (!op.is_prepared) op.temp.reset();
  if (!op.is_prepared) op.temp_bytes = 0;
  ends_.ended(op);
}

void Runner::on_local(std::uint64_t token, ph_status status) {
  const std::uint64_t place = token / schedule::Phase::kMostSteps;
  if (place >= all_.size()) return;
  Operation& op = *all_[place];
  const auto index = static_cast<std::uint32_t>(token % schedule::Phase::kMostSteps);
  const schedule::Step& step = op.phase.steps[index];
  --op.pulls;
  const Team& team = *op.team;
  static_cast<void>(
      post_.answer(team.members[step.peer].rank, name_at(team, step.peer, op, step.tag), status));
  if (status == PH_OK && op.state == OpState::running)
    landed(op, index);
  else if (status != PH_OK)
    check(op, status, step.peer);
  advance(op);
}

Name Runner::name_at(const Team& team, std::uint32_t member, const Operation& op,
                     std::uint32_t tag) const noexcept {
  return {team.members[member].slot, team.number, op.channel, op.sequence, tag};
}

EarlyPool::List* Runner::early_of(Team& team, std::uint32_t channel, std::uint32_t sequence) {
  Channel* const order = team.channels.reach(channel);
  if (order == nullptr) return nullptr;
  const std::uint32_t ahead = sequence - order->begun;
  if (ahead >= Team::kMostAhead) return nullptr;
  while (order->early.size() <= ahead) order->early.push({});
  return &order->early.at(order->early.begin() + ahead);
}

}  // namespace photon::service::coll
