#include "compat/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "compat/warn.hpp"

namespace photon::classic {

namespace {

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
  kept_.push_back(std::make_unique<const Members>(std::move(members)));
  return reinterpret_cast<photon_coll_comm>(handle_of(*kept_.back()));
}

std::optional<Members> Collectives::members_of(const void* comm) {
  const std::scoped_lock lock(mutex_);
  for (const auto& one : kept_)
    if (handle_of(*one) == reinterpret_cast<std::uintptr_t>(comm)) return *one;
  return std::nullopt;
}

std::shared_ptr<Communicator> Collectives::communicator_of(const Members& members) {
  const auto found = communicators_.find(members);
  if (found != communicators_.end()) return found->second;
  auto made = std::make_shared<Communicator>(members);
  communicators_.emplace(members, made);
  return made;
}

photon_rid Collectives::prepare(photon_coll kind, std::list<Told> told, const Members& members) {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(has_registered_,
                     true))  // before the first team; who needs it hears of a failure
    static_cast<void>(ph_coll_provider_register(context_, &provider_));
  const auto collective = std::make_shared<Collective>();
  collective->kind = kind;
  collective->told = std::move(told);
  collective->communicator = communicator_of(members);
  collective->is_root = members.front() == ph_rank_of(context_);
  Communicator& communicator = *collective->communicator;
  meeting_.reserve(meeting_.size() + 1);
  Request request;
  request.type = RequestType::collective;
  const photon_rid rid = requests_.add(request);
  try {
    table_.emplace(rid, collective);
    communicator.unplaced.push_back(collective);
  } catch (...) {
    table_.erase(rid);
    requests_.remove(rid);
    throw;
  }
  if (communicator.unplaced.size() == 1) meeting_.push_back(collective->communicator);
  communicator.look(context_);
  place_all(communicator);
  if (communicator.status() == PH_ERR_ARGUMENT) {  // the setting `coll` names nobody
    warn("photon_collective_init", communicator.words());
    remove(table_.find(rid));
    return 0;
  }
  return rid;
}

Collectives::Handle Collectives::find(photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(rid);
  return found == table_.end() ? nullptr : found->second;
}

ph_status Collectives::join(Collective& collective, const Work& work) {
  const std::scoped_lock lock(mutex_);
  if (collective.state != State::prepared) return PH_ERR_NOT_FOUND;
  collective.work = work;
  give_room(collective);
  if (collective.place != nullptr)
    if (const ph_status status = change(collective); status == PH_ERR_ARGUMENT) return status;
  collective.state = State::joined;
  ++joined_;
  taking_part_.set(taking_part_.get() + 1);
  recount();
  step(collective);
  return PH_OK;
}

void Collectives::progress() {
  if (taking_part_.get() == 0) return;
  // Who finds another thread at it leaves it to that one.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) step_all();
}

ph_status Collectives::await(Collective& collective) {
  for (;;) {
    ph_request request = PH_REQUEST_NONE;
    bool is_begun = false;
    {
      const std::scoped_lock lock(mutex_);
      step_all();
      if (collective.state == State::over) return collective.status;
      is_begun = collective.state == State::begun;
      request = collective.request;
    }
    if (is_begun)
      await_end(collective, request);
    else
      await_team(*collective.communicator);
  }
}

bool Collectives::has_joined(const Collective& collective) {
  const std::scoped_lock lock(mutex_);
  return collective.state != State::prepared;
}

bool Collectives::is_over(const Collective& collective) {
  const std::scoped_lock lock(mutex_);
  return collective.state == State::over;
}

void Collectives::conclude(photon_rid rid) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(rid);
  if (found == table_.end()) return;  // another thread took it by its rid
  untold_.splice(untold_.end(), found->second->told);
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

std::optional<Told> Collectives::take_over() {
  const std::scoped_lock lock(mutex_);
  std::list<Told> told;
  if (!untold_.empty()) {
    told.splice(told.begin(), untold_, untold_.begin());
    recount();
  } else {
    const auto at = std::find_if(table_.begin(), table_.end(), [](const auto& one) {
      return one.second->tells() && !one.second->blocks() && one.second->state == State::over;
    });
    if (at == table_.end()) return std::nullopt;
    told.splice(told.begin(), at->second->told);
    remove(at);
  }
  return std::move(told.front());
}

std::size_t Collectives::untold() {
  if (!any()) return 0;
  const std::scoped_lock lock(mutex_);
  const auto count = std::count_if(table_.begin(), table_.end(), [](const auto& one) {
    return one.second->tells() && one.second->state != State::prepared;
  });
  return untold_.size() + static_cast<std::size_t>(count);
}

std::size_t Collectives::under_way() {
  if (!any()) return 0;
  const std::scoped_lock lock(mutex_);
  const auto count = std::count_if(table_.begin(), table_.end(), [](const auto& one) {
    return one.second->state == State::begun;
  });
  return static_cast<std::size_t>(count);
}

bool Collectives::take(photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(rid);
  if (found == table_.end()) return false;
  drop(*found->second);
  remove(found);
  return true;
}

void Collectives::remove(Table::iterator at) {
  if (at->second->state != State::prepared) taking_part_.set(taking_part_.get() - 1);
  requests_.remove(at->first);
  table_.erase(at);
  recount();
}

void Collectives::recount() noexcept {
  not_taken_.set(taking_part_.get() + static_cast<std::uint32_t>(untold_.size()));
}

void Collectives::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  table_.clear();
  communicators_.clear();
  meeting_.clear();
  untold_.clear();
  has_dropped_ = false;
  joined_ = 0;
  taking_part_.set(0);
  recount();
}

}  // namespace photon::classic
