#include "transport/ofi/ofi_fragments.hpp"

#include <algorithm>
#include <utility>

#include <photon/memory.h>

namespace photon::transport::ofi {

namespace {

// Of one fragment with an imm, in a row, by RMA endpoints that ended because we wished it when the
// fragment had failed: that must not hide a fault of the provider's for ever.
constexpr unsigned kMostFailures = 16;

bool is_refusal(std::int32_t status) noexcept {
  return status == PH_ERR_KEY || status == PH_ERR_RANGE || status == PH_ERR_ACCESS ||
         status == PH_ERR_MEMORY || status == PH_ERR_SYSTEM;
}

}  // namespace

// As check_access() says it, of a registration that its owner has described.
ph_status Fragments::Grant::check(const PostedFragment& fragment) const noexcept {
  const std::uint64_t offset = fragment.address - address;  // below it: larger than any region
  if (fragment.size_bytes > size_bytes || offset > size_bytes - fragment.size_bytes)
    return PH_ERR_RANGE;
  const std::uint32_t wanted = fragment.source != nullptr ? PH_ACCESS_WRITE : PH_ACCESS_READ;
  return (access & wanted) != 0 ? PH_OK : PH_ERR_ACCESS;
}

Fragments::Fragments(std::uint32_t rank, std::size_t slots_count, Words& words)
    : words_(words), slots_(slots_count) {
  for (std::size_t i = 0; i < slots_count; ++i) {
    slots_[i].operation.rank = rank;
    slots_[i].operation.index = static_cast<std::uint32_t>(i);
    slots_[i].operation.is_fragment = true;
  }
}

Fragments::Slot* Fragments::add(const PostedFragment& fragment) noexcept {
  for (Slot& slot : slots_) {
    if (slot.state != Slot::State::free) continue;
    slot.state = Slot::State::waits;
    slot.fragment = fragment;
    slot.failed = slot.number = 0;
    slot.failures = 0;
    return &slot;
  }
  return nullptr;
}

void Fragments::ask(RkeyLease& lease, std::uint64_t key) {
  lease.state = RkeyLease::State::asked;
  say(MessageKind::ask, key);
}

Fragments::Next Fragments::next(const Slot& slot) {
  const std::uint64_t key = slot.fragment.key;
  const auto over = [](ph_status status) {
    return Next{.kind = Next::Kind::over, .place = {}, .rma_endpoint = 0, .status = status};
  };
  if (slot.was_told()) return over(PH_OK);
  if (slot.failures > kMostFailures) return {.kind = Next::Kind::fault};
  if (key == 0) return over(PH_ERR_KEY);  // of no registration
  const auto found = leases_.find(key);
  if (found == leases_.end()) {
    RkeyLease& lease = leases_[key];
    lease.is_kept = has_used(key);
    ask(lease, key);
    return {};
  }
  RkeyLease& lease = found->second;
  const Grant& granted = lease.granted;
  switch (lease.state) {
    case RkeyLease::State::asked:
    case RkeyLease::State::called: return {};
    case RkeyLease::State::refused:
      if (!slot.is_in_doubt()) return over(granted.status);
      ask(lease, key);  // behind the end of that RMA endpoint
      return {};
    case RkeyLease::State::held: break;
  }
  if (slot.is_in_doubt()) return {};  // until the end of that RMA endpoint
  if (slot.failed == granted.rma_endpoint) return {.kind = Next::Kind::fault};
  if (lease.is_tainted) return {};
  if (const ph_status status = granted.check(slot.fragment); status != PH_OK) return over(status);
  if (slot.has_imm() && room_for_imm() == 0) return {};  // until it has heard of some
  return {.kind = Next::Kind::go,
          .place = {granted.begin.address + (slot.fragment.address - granted.address),
                    granted.begin.key},
          .rma_endpoint = granted.rma_endpoint};
}

void Fragments::taken(Slot& slot, std::uint64_t rma_endpoint) {
  slot.state = Slot::State::under_way;
  slot.rma_endpoint = rma_endpoint;
  if (slot.has_imm()) {
    slot.number = ++with_imm_;
    slot.fate = Slot::Fate::in_doubt;
  }
  first_ = (slot.operation.index + 1) % slots_.size();
  ++under_way_;
  ++leases_[slot.fragment.key].under_way;
}

void Fragments::leave(Slot& slot) {
  slot.state = Slot::State::waits;
  --under_way_;
  --leases_[slot.fragment.key].under_way;
}

// One that went by an RMA endpoint that has ended since is proved over already.
void Fragments::recall(Slot& slot) {
  leave(slot);
  RkeyLease& lease = leases_[slot.fragment.key];
  const bool is_of_lease = lease.granted.rma_endpoint == slot.rma_endpoint;
  if (is_of_lease) lease.is_tainted = true;
  if (is_of_lease || slot.is_in_doubt()) want_end_of(slot.rma_endpoint);
}

void Fragments::want_end_of(std::uint64_t rma_endpoint) {
  if (std::exchange(ending_, rma_endpoint) != rma_endpoint)
    words_.push({MessageKind::given, {.key = 0, .rma_endpoint = rma_endpoint}, 0});
}

void Fragments::over(Slot& slot) {
  leave(slot);
  if (slot.is_in_doubt()) {
    const std::size_t at = slot.number % kMostNumbers;
    ++told_[at];
    last_[at] = {slot.number, slot.rma_endpoint, *slot.fragment.imm};
    if (!slot.operation.data) {  // it could not tell by itself
      say(MessageKind::landed, imm_data(*slot.fragment.imm, slot.number));
      last_[at] = {};
    }
  }
  slot.state = Slot::State::free;
}

// Its first bytes may stand in what the owner's RMA endpoint has yet to read: that RMA endpoint has
// to end before the lease is given back, as after recall(). Only then it is known, too, whether the
// peer was told of it: so of one with an imm that is asked for, and before the question, which is
// answered behind it.
void Fragments::failed(Slot& slot, std::uint64_t rma_endpoint) {
  const bool was_under_way = slot.state == Slot::State::under_way;
  if (was_under_way) leave(slot);
  slot.failed = rma_endpoint;
  if (was_under_way && slot.is_in_doubt()) want_end_of(rma_endpoint);
  const auto found = leases_.find(slot.fragment.key);
  if (found == leases_.end()) return;
  RkeyLease& lease = found->second;
  if (was_under_way && lease.granted.rma_endpoint == rma_endpoint) lease.is_tainted = true;
  if (lease.state == RkeyLease::State::held && lease.granted.rma_endpoint == rma_endpoint)
    ask(lease, slot.fragment.key);
}

bool Fragments::told(const TellBody& answer) {
  const auto found = leases_.find(answer.key);
  if (found == leases_.end() || found->second.state != RkeyLease::State::asked) return false;
  const bool is_well = answer.status == PH_OK
                           ? answer.rma_endpoint != 0 && answer.size_bytes != 0 &&
                                 answer.rma_endpoint_bytes <= answer.rma_endpoint_address.size()
                           : is_refusal(answer.status);
  if (!is_well || !learn(answer.told)) return false;
  if (found->second.granted.rma_endpoint != answer.rma_endpoint) found->second.is_tainted = false;
  found->second.granted = {.status = static_cast<ph_status>(answer.status),
                           .access = answer.access,
                           .address = answer.address,
                           .size_bytes = answer.size_bytes,
                           .begin = {answer.begin, answer.rma_endpoint_key},
                           .rma_endpoint = answer.rma_endpoint};
  found->second.state = answer.status == PH_OK ? RkeyLease::State::held : RkeyLease::State::refused;
  return true;
}

// One more: it was told. Else it never will be if its RMA endpoint has ended; should we have wished
// that, it may be a fault of the provider's that it failed.
void Fragments::learn_of(Slot& slot, std::int32_t more, const ToldBody& heard) noexcept {
  if (more > 0) {
    slot.fate = Slot::Fate::told;
    const std::size_t at = slot.number % kMostNumbers;
    ++told_[at];
    last_[at] = {};
  } else if (slot.rma_endpoint <= heard.ended) {
    slot.fate = Slot::Fate::lost;
    slot.failures = slot.rma_endpoint <= heard.wished ? slot.failures + 1 : 0;
    ++lost_;
  }
}

// A fragment that was over and well before its peer has heard of it: if the RMA endpoint ended
// then, a NIC may have thrown away what it had to tell. The peer hears of fragments in the order of
// their ends, so one less than we know of is the latest of that number, and none in doubt was heard
// after it.
bool Fragments::learn(const ToldBody& heard) {
  std::array<std::int32_t, kMostNumbers> more{};
  for (std::size_t at = 0; at < more.size(); ++at)
    more[at] = static_cast<std::int32_t>(heard.told[at] - told_[at]);
  std::array<bool, kMostNumbers> is_in_doubt{};
  for (Slot& slot : slots_) {
    if (!slot.is_in_doubt()) continue;
    const std::size_t at = slot.number % kMostNumbers;
    is_in_doubt[at] = true;
    learn_of(slot, more[at], heard);
  }
  for (std::size_t at = 0; at < more.size(); ++at) {
    if (more[at] > 1 || (more[at] > 0 && !is_in_doubt[at])) return false;
    if (more[at] >= 0 || last_[at].number == 0 || last_[at].rma_endpoint > heard.ended) continue;
    say(MessageKind::landed, imm_data(last_[at].imm, last_[at].number));
    last_[at] = {};
  }
  return true;
}

bool Fragments::seen(std::uint64_t count) {
  if (count < seen_ || count + lost_ > with_imm_) return false;
  seen_ = count;
  return true;
}

std::size_t Fragments::room_for_imm() const noexcept {
  std::uint64_t from_oldest = 0;  // in doubt on
  for (const Slot& slot : slots_)
    if (slot.is_in_doubt()) from_oldest = std::max(from_oldest, with_imm_ + 1 - slot.number);
  const std::uint64_t unheard = with_imm_ - seen_ - lost_;
  if (unheard >= slots_.size() || from_oldest >= kMostNumbers) return 0;
  return std::min<std::size_t>(slots_.size() - unheard, kMostNumbers - from_oldest);
}

std::size_t Fragments::imm_room() const noexcept {
  const auto waiting =
      static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
        return slot.state == Slot::State::waits && slot.has_imm();
      }));
  const std::size_t room = room_for_imm();
  return room - std::min(room, waiting);
}

// Not one that we have given back meanwhile, nor one that ended with its RMA endpoint.
void Fragments::called_back(std::uint64_t key) {
  const auto found = leases_.find(key);
  if (found != leases_.end() && found->second.state == RkeyLease::State::held)
    found->second.state = RkeyLease::State::called;
}

// What is under way by it fails, and waits for the answer.
void Fragments::rma_endpoint_ended(std::uint64_t rma_endpoint) {
  for (auto one = leases_.begin(); one != leases_.end();) {
    auto& [key, lease] = *one;
    const bool is_by_it =
        (lease.state == RkeyLease::State::held || lease.state == RkeyLease::State::called) &&
        lease.granted.rma_endpoint == rma_endpoint;
    if (is_by_it && lease.under_way == 0) {
      one = leases_.erase(one);
      continue;
    }
    if (is_by_it) ask(lease, key);
    ++one;
  }
}

bool Fragments::is_waiting() const noexcept {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.state == Slot::State::waits; });
}

bool Fragments::is_wanted(std::uint64_t key) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(), [key](const Slot& slot) {
    return slot.state == Slot::State::waits && slot.fragment.key == key;
  });
}

void Fragments::tidy() {
  for (auto one = leases_.begin(); one != leases_.end();) {
    auto& [key, lease] = *one;
    const bool is_held = lease.state == RkeyLease::State::held;
    const bool is_called = lease.state == RkeyLease::State::called;
    const bool is_refused = lease.state == RkeyLease::State::refused;
    if (lease.under_way != 0 || (lease.is_tainted && !is_refused) ||
        !(is_called || is_refused || (is_held && !lease.is_kept)) || (is_held && is_wanted(key))) {
      ++one;
      continue;
    }
    if (!is_refused) {
      say(MessageKind::given, key);
      remember(key);
    }
    if (is_called && is_wanted(key)) {
      ask(lease, key);
      ++one;
    } else {
      one = leases_.erase(one);
    }
  }
}

void Fragments::give_all() {
  for (Slot& slot : slots_)  // nobody will hear of them, and nothing is asked for them any more
    if (slot.state == Slot::State::waits) slot.state = Slot::State::free;
  for (auto& [key, lease] : leases_)
    if (lease.state == RkeyLease::State::held) lease.state = RkeyLease::State::called;
  tidy();
}

void Fragments::remember(std::uint64_t key) noexcept {
  if (!has_used(key)) used_[used_count_++ % used_.size()] = key;
}

bool Fragments::has_used(std::uint64_t key) const noexcept {
  return std::find(used_.begin(), used_.end(), key) != used_.end();
}

}  // namespace photon::transport::ofi
