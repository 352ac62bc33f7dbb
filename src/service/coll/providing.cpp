#include "service/coll/providing.hpp"

#include <algorithm>
#include <utility>

namespace photon::service::coll {

namespace {

constexpr std::string_view kOwnWay = "default";
constexpr std::size_t kMostNameBytes = 63;

}  // namespace

// The lane has ended: nobody runs any more.
Providing::~Providing() {
  for (const auto& seat : seats_) leave(*seat);
}

// ---- which

const char* Providing::add(ph_context* context, const ph_coll_provider& provider) {
  if (provider.name == nullptr || provider.takes == nullptr || provider.join == nullptr ||
      provider.leave == nullptr || provider.begin == nullptr || provider.advance == nullptr ||
      provider.cancel == nullptr)
    return "the provider has no name, or lacks a function";
  const std::string name = provider.name;
  if (name.empty() || name.size() > kMostNameBytes || name == kOwnWay)
    return "the provider's name is empty, longer than 63 bytes, or \"default\"";
  for (const Known& one : known_)
    if (one.name == name) return "a provider of that name is known already";
  known_.push_back({name, provider});
  context_ = context;
  return nullptr;
}

ph_status Providing::choose() {
  if (is_chosen_) return PH_OK;
  const std::string_view wanted = port_.config().coll.view();
  for (const Known& one : known_)
    if (one.name == wanted) chosen_ = &one;
  if (chosen_ == nullptr && wanted != kOwnWay) {
    words_ =
        "the setting coll is \"" + std::string(wanted) + "\", which is no provider here; known: ";
    words_ += kOwnWay;
    for (const Known& one : known_) words_ += ", " + one.name;
    words_ += " (others: ph_coll_provider_register() before the first team)";
    return PH_ERR_ARGUMENT;
  }
  is_chosen_ = true;
  return PH_OK;
}

// ---- operations

void Providing::show(const Plan& plan, const Team& team, ph_coll_call& call) noexcept {
  call = {};
  call.size = sizeof call;
  call.kind = static_cast<ph_coll_kind>(plan.described.kind);
  call.root = plan.call.root;
  call.count = plan.is_v ? 0 : plan.call.count;
  call.type = static_cast<ph_type>(plan.described.type);
  call.op = static_cast<ph_op>(std::max(plan.described.op, 0));
  call.element_bytes = plan.element_bytes;
  call.flags = plan.described.flags & (PH_REPRODUCIBLE | PH_COUNTS_FROM_SENDERS);
  call.commutes = plan.call.keeps_order ? 0 : 1;
  call.team_count = team.size();
}

// What members may differ in.
void Providing::show_own(const Operation& op, ph_coll_call& call) noexcept {
  const Plan& plan = op.plan;
  const bool is_scatter = plan.call.kind == schedule::Kind::scatter;
  call.digest = plan.digest;
  call.channel = op.channel;
  call.sequence = op.sequence;
  call.in = plan.call.in_place && !is_scatter ? PH_IN_PLACE : plan.in;
  call.out = plan.call.in_place && is_scatter ? PH_IN_PLACE : plan.out;
  if (!plan.is_v) return;
  call.own_count = plan.call.count;
  call.in_counts = plan.call.in_blocks.counts;
  call.in_offsets = plan.call.in_blocks.offsets;
  call.out_counts = plan.call.out_blocks.counts;
  call.out_offsets = plan.call.out_blocks.offsets;
  call.told_counts = plan.told_counts;
}

bool Providing::takes(const Plan& plan, const Team& team) const {
  if (chosen_ == nullptr || team.size() == 1) return false;
  ph_coll_call call;
  show(plan, team, call);
  return chosen_->table.takes(chosen_->table.user, &call) != 0;
}

void Providing::ask(Plan& plan, const Team& team) const {
  plan.is_provided = takes(plan, team);
  if (!plan.is_provided) return;
  plan.described.flags |= kProvidedFlag;
  plan.digest = digest_of(plan.described);
}

void Providing::reserve() {
  if (doing_.size() == doing_.capacity()) doing_.reserve(2 * doing_.size() + 1);
  if (spare_.empty()) spare_.push_back(std::make_unique<Doing>());
  if (spare_.capacity() < spare_.size() + doing_.size() + 1)  // so that each can be given back
    spare_.reserve(2 * (spare_.size() + doing_.size() + 1));
}

void Providing::begin(Operation& op) noexcept {
  std::unique_ptr<Doing> doing = std::move(spare_.back());
  spare_.pop_back();
  *doing = {};
  doing->op = &op;
  doing_.push_back(std::move(doing));
  eager_until_ns_ = port_.now_ns() + kEagerNs;
  port_.wants_run();
}

Providing::Seat& Providing::seat_of(Team& team) {
  for (const auto& seat : seats_)
    if (seat->team == &team) return *seat;
  auto seat = std::make_unique<Seat>();
  for (const Member& member : team.members) seat->ranks.push_back(member.rank);
  seat->shown.size = sizeof seat->shown;
  seat->shown.context = context_;
  seat->shown.ranks = seat->ranks.data();
  seat->shown.count = team.size();
  seat->shown.own = team.own;
  seat->shown.number = team.number;
  seat->team = &team;
  seats_.push_back(std::move(seat));
  return *seats_.back();
}

void Providing::freed(Team& team) noexcept {
  for (const auto& seat : seats_) {
    if (seat->team != &team) continue;
    seat->team = nullptr;
    seat->is_freed = true;
    port_.wants_run();
  }
}

// Nobody is inside run(): the engine has seen to that.
void Providing::close() noexcept {
  if (is_running_) return;
  for (const auto& doing : doing_) {
    if (doing->has_begun && !doing->is_held)
      static_cast<void>(
          chosen_->table.cancel(chosen_->table.user, doing->seat->state, doing->handle));
    doing->status = PH_ERR_DEPARTED;  // what is not over ends with the lane
  }
  ran();
}

// ---- turns

void Providing::turn() noexcept {
  next_turn_ns_ = INT64_MAX;
  if (!doing_.empty() || (!is_running_ && is_idling())) port_.wants_run();
}

// Nothing is under way, but others may wait for what the provider has queued.
bool Providing::is_idling() const noexcept {
  return doing_.empty() && chosen_ != nullptr && chosen_->table.progress != nullptr &&
         std::ranges::any_of(seats_, [](const auto& seat) { return seat->is_joined; });
}

// What stands here when run() begins: all that it needs of what others may change meanwhile.
void Providing::collect() {
  shown_.clear();
  leaving_.clear();
  for (const auto& doing : doing_) {
    Operation& op = *doing->op;
    if (doing->seat == nullptr) {
      doing->seat = &seat_of(*op.team);
      show(op.plan, *op.team, doing->call);
      show_own(op, doing->call);
      doing->call.fold = fold;
      doing->call.fold_user = doing.get();
    }
    doing->is_called_off = op.state == OpState::failing;
    if (doing->is_held) continue;  // it is over, and waits for the words
    shown_.push_back(doing.get());
  }
  for (const auto& seat : seats_)
    if (seat->is_freed) leaving_.push_back(seat.get());
  const bool has_joined =
      std::ranges::any_of(seats_, [](const auto& one) { return one->is_joined; });
  moves_idly_ = shown_.empty() && has_joined && chosen_->table.progress != nullptr;
  is_running_ = true;
}

void Providing::run() noexcept {
  if (moves_idly_) chosen_->table.progress(chosen_->table.user);
  for (Doing* const doing : shown_) step(*doing);
  for (Seat* const seat : leaving_) leave(*seat);
}

void Providing::step(Doing& doing) const noexcept {
  const ph_coll_provider& table = chosen_->table;
  doing.status = PH_AGAIN;
  if (!doing.has_begun) {
    if (doing.is_called_off) {
      doing.status = PH_OK;
      return;
    }
    ph_status status = join(*doing.seat);
    if (status == PH_OK)
      status = table.begin(table.user, doing.seat->state, &doing.call, &doing.handle);
    if (status != PH_OK) {
      doing.status = status;
      return;
    }
    doing.has_begun = true;
  }
  const auto call = doing.is_called_off ? table.cancel : table.advance;
  doing.status = call(table.user, doing.seat->state, doing.handle);
  if (doing.status == PH_OK && doing.has_thrown) doing.status = PH_ERR_ARGUMENT;
}

ph_status Providing::join(Seat& seat) const noexcept {
  if (seat.is_joined) return PH_OK;
  const ph_status status = chosen_->table.join(chosen_->table.user, &seat.shown, &seat.state);
  seat.is_joined = status == PH_OK;
  return status;
}

void Providing::leave(Seat& seat) const noexcept {
  if (std::exchange(seat.is_joined, false)) chosen_->table.leave(chosen_->table.user, seat.state);
}

// No exception of the user's passes through a provider.
void Providing::fold(void* user, const void* left, const void* right, void* out,
                     std::uint64_t count) noexcept {
  Doing& doing = *static_cast<Doing*>(user);
  const Plan& plan = doing.op->plan;
  if (plan.fold != nullptr)
    return plan.fold(static_cast<const std::byte*>(left), static_cast<const std::byte*>(right),
                     static_cast<std::byte*>(out), count);
  try {
    plan.user.function(plan.user.user, left, right, out, count);
  } catch (...) {
    doing.has_thrown = true;
  }
}

// Its provider has met another member's call. The members that differ tell each other by
// themselves, and their words name both; without them it ends by what the provider says.
bool Providing::waits_for_words(Doing& doing) noexcept {
  if (doing.status != PH_ERR_ARGUMENT || doing.has_thrown) return false;
  if (doing.op->state != OpState::running) return false;
  if (!std::exchange(doing.is_held, true)) doing.held_until_ns = port_.now_ns() + kWordsNs;
  return port_.now_ns() < doing.held_until_ns;
}

void Providing::ran() noexcept {
  is_running_ = false;
  shown_.clear();
  for (std::size_t i = doing_.size(); i-- > 0;) {
    if (doing_[i]->status == PH_AGAIN || waits_for_words(*doing_[i])) continue;
    spare_.push_back(std::move(doing_[i]));  // begin() has made room
    doing_.erase(doing_.begin() + static_cast<std::ptrdiff_t>(i));
    Operation& op = *spare_.back()->op;
    runner_.provided(op, spare_.back()->status);
    eager_until_ns_ = port_.now_ns() + kEagerNs;
  }
  std::erase_if(seats_, [](const auto& seat) { return seat->is_freed && !seat->is_joined; });
  leaving_.clear();
  const bool is_idling = this->is_idling();
  if (doing_.empty() && !is_idling) return;
  const std::int64_t now = port_.now_ns();
  if (now < eager_until_ns_)
    port_.wants_turn();
  else
    next_turn_ns_ = now + (is_idling ? kIdlePauseNs : kPauseNs);
}

}  // namespace photon::service::coll
