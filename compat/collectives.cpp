#include "compat/collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "compat/warn.hpp"

namespace photon::classic {

namespace {

// Programs written for libphoton know of no lanes: they cannot want this one.
constexpr std::uint32_t kLaneNumber = 0xc0113c71;

// How long one collective is waited for before others, and the program's own lane, have their turn.
constexpr std::int64_t kAloneUs = 1000;
constexpr std::int64_t kAmongOthersUs = 20;

// FNV-1a over whole numbers, then spread over all 64 bits by the steps that follow.
std::uint64_t name_of(const Members& members, std::uint64_t prepared_before) noexcept {
  std::uint64_t name = 0xcbf29ce484222325U;
  const auto add = [&name](std::uint64_t value) {
    name = (name ^ value) * 0x9e3779b97f4a7c15U;
    name ^= name >> 29;
  };
  for (const ph_rank rank : members) add(rank);
  add(members.size());
  add(prepared_before);
  return name;
}

// Odd, so that it is no array's address. Null never occurs.
std::uintptr_t handle_of(const Members& members) noexcept {
  return reinterpret_cast<std::uintptr_t>(&members) | 1U;
}

}  // namespace

bool Collectives::is_handle(const void* comm) noexcept {
  return (reinterpret_cast<std::uintptr_t>(comm) & 1U) != 0;
}

photon_coll_comm Collectives::keep(Members members) {
  const std::scoped_lock lock(mutex_);
  communicators_.push_back(std::make_unique<const Members>(std::move(members)));
  return reinterpret_cast<photon_coll_comm>(handle_of(*communicators_.back()));
}

std::optional<Members> Collectives::members_of(const void* comm) {
  const std::scoped_lock lock(mutex_);
  for (const auto& one : communicators_)
    if (handle_of(*one) == reinterpret_cast<std::uintptr_t>(comm)) return *one;
  return std::nullopt;
}

bool Collectives::open_lane() {
  if (lane_ != nullptr) return true;
  if (ph_lane_open(context_, kLaneNumber, &lane_) == PH_OK) return true;
  ph_error error{};
  ph_last_error(context_, &error);
  warn("photon_collective_init", error.text);
  return false;
}

// Of a peer that was never spoken to nobody hears that it left or died: so each that will be waited
// for gets a word first.
void Collectives::greet(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::send || greeted_.contains(step.peer)) continue;
    if (ph_notify(lane_, step.peer, 0) != PH_AGAIN) greeted_.insert(step.peer);
  }
}

// Greetings are all that can be probed on the lane.
void Collectives::drop_greetings(ph_context* lane) {
  std::byte id[PH_MAX_ID_BYTES];
  ph_completion found{};
  std::size_t count = 0;
  static_cast<void>(ph_probe(lane, {PH_ANY_RANK, PH_EITHER, id}, &found, 1, &count));
}

photon_rid Collectives::prepare(Collective::Plan plan, const Members& members) {
  const std::scoped_lock lock(mutex_);
  if (!open_lane()) return 0;
  const auto own = std::find(members.begin(), members.end(), ph_rank_of(context_));
  const auto number = static_cast<std::uint32_t>(std::distance(members.begin(), own));
  std::uint64_t& before = prepared_[members];
  plan.steps = schedule_of(plan.kind, members, number);
  if (before == 0) {  // while they are there: of collectives to come too
    greet(schedule_of(PHOTON_COLL_BARRIER, members, number));
    greet(schedule_of(PHOTON_COLL_ALLREDUCE, members, number));
  }
  plan.name = name_of(members, before);
  plan.is_root = number == 0;
  auto collective = std::make_shared<Collective>(std::move(plan));
  Request request;
  request.type = RequestType::collective;
  const photon_rid rid = requests_.add(request);
  try {
    table_.emplace(rid, std::move(collective));
  } catch (...) {
    requests_.remove(rid);
    throw;
  }
  ++before;
  return rid;
}

std::shared_ptr<Collective> Collectives::find(photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(rid);
  return found == table_.end() ? nullptr : found->second;
}

bool Collectives::begin(Collective& collective, const Collective::Work& work) {
  const std::scoped_lock lock(mutex_, collective.mutex);
  if (collective.has_begun()) return false;
  greet(collective.plan().steps);
  collective.begin(work);
  begun_.set(begun_.get() + 1);
  recount();
  return true;
}

void Collectives::progress() {
  if (begun_.get() == 0) return;
  // Who finds another thread at it leaves it to that one.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || lane_ == nullptr) return;
  drop_greetings(lane_);
  for (const auto& [rid, collective] : table_) {
    if (!collective->has_begun() || collective->is_over()) continue;
    const std::unique_lock one(collective->mutex, std::try_to_lock);
    if (one.owns_lock()) collective->advance(lane_, 0);
  }
}

void Collectives::await(Collective& collective) {
  ph_context* lane = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    lane = lane_;
  }
  for (;;) {
    {
      const std::scoped_lock lock(collective.mutex);
      const std::int64_t round_us = begun_.get() > 1 ? kAmongOthersUs : kAloneUs;
      if (lane == nullptr || collective.advance(lane, round_us)) return;
    }
    progress();
    std::size_t count = 0;  // nothing is taken: the program's own peers are served
    static_cast<void>(ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count));
  }
}

void Collectives::conclude(photon_rid rid) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(rid);
  if (found == table_.end()) return;  // another thread took it by its rid
  found->second->tell(untold_);
  if (untold_.size() > most_untold_) {
    untold_.pop_front();
    if (!std::exchange(has_dropped_, true))
      warn(
          "photon_collective_join",
          "as many local ids of blocking collectives as operations may be queued (cap.max_rd) were "
          "not probed: the oldest are dropped; say PHOTON_REQ_PWC_NO_LCE for those that nobody "
          "probes");
  }
  remove(found);
}

std::optional<Collective::Told> Collectives::take_over() {
  const std::scoped_lock lock(mutex_);
  std::list<Collective::Told> told;
  if (!untold_.empty()) {
    told.splice(told.begin(), untold_, untold_.begin());
    recount();
  } else {
    const auto at = std::find_if(table_.begin(), table_.end(), [](const auto& one) {
      return one.second->tells() && !one.second->blocks() && one.second->is_over();
    });
    if (at == table_.end()) return std::nullopt;
    at->second->tell(told);
    remove(at);
  }
  return std::move(told.front());
}

std::size_t Collectives::untold() {
  if (!any()) return 0;
  const std::scoped_lock lock(mutex_);
  const auto count = std::count_if(table_.begin(), table_.end(), [](const auto& one) {
    return one.second->tells() && one.second->has_begun();
  });
  return untold_.size() + static_cast<std::size_t>(count);
}

bool Collectives::take(photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(rid);
  if (found == table_.end()) return false;
  remove(found);
  return true;
}

void Collectives::remove(Table::iterator at) {
  if (at->second->has_begun()) begun_.set(begun_.get() - 1);
  requests_.remove(at->first);
  table_.erase(at);
  recount();
}

void Collectives::recount() noexcept {
  not_taken_.set(begun_.get() + static_cast<std::uint32_t>(untold_.size()));
}

bool Collectives::settle(std::int64_t timeout_us) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || lane_ == nullptr) return lock.owns_lock();
  return ph_flush(lane_, PH_ANY_RANK, timeout_us) <= PH_OK;
}

void Collectives::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  lane_ = nullptr;
  table_.clear();
  prepared_.clear();
  greeted_.clear();
  untold_.clear();
  has_dropped_ = false;
  begun_.set(0);
  recount();
}

}  // namespace photon::classic
