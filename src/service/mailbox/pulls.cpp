#include "service/mailbox/pulls.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <utility>

namespace photon::service::mailbox {

void Pulls::set_waiting(Pull& pull, bool is_waiting) noexcept {
  if (pull.is_waiting == is_waiting) return;
  pull.is_waiting = is_waiting;
  if (is_waiting)
    ++waiting_;
  else
    --waiting_;
}

// Those that cannot be given up stay busy.
void Pulls::give_up_gets(Pull& pull) noexcept {
  for (std::uint32_t index = 0; index != Pull::kMostGets; ++index) {
    const std::uint32_t bit = 1u << index;
    if ((pull.busy & bit) != 0 && port_.give_up(pull.handles[index])) pull.busy &= ~bit;
  }
}

// PH_OK: gets are still under way, and it is over with the last of them.
ph_status Pulls::fail(Pull& pull, ph_status status) noexcept {
  pull.status = status;
  set_waiting(pull, false);
  give_up_gets(pull);
  return pull.is_read() ? PH_OK : status;
}

// The next segment, by a handle that is free.
ph_status Pulls::start_one(std::uint64_t number, Pull& pull) noexcept {
  const auto index = static_cast<std::uint32_t>(std::countr_one(pull.busy));
  try {
    std::size_t& reads = reads_[pull.from];
    if (reads >= most_reads()) return PH_AGAIN;
    const auto to =
        pull.outcome.piece(pull.begun_bytes, pull.letter.mail.size_bytes - pull.begun_bytes);
    ph_target source = pull.letter.source;
    source.address += pull.begun_bytes;
    const ph_status status = port_.get(
        pull.from, {source, to, number << kIndexBits | index | kOurs}, pull.handles[index]);
    if (status != PH_OK) return status;
    ++reads;
    pull.busy |= 1u << index;
    pull.begun_bytes += to.size();
    return PH_OK;
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
}

// As many gets as there may be. An error: it is over.
ph_status Pulls::start(std::uint64_t number, Pull& pull) noexcept {
  constexpr std::uint32_t kAllBusy = (1u << Pull::kMostGets) - 1;
  set_waiting(pull, false);
  while (!pull.is_begun() && pull.busy != kAllBusy) {
    const ph_status status = start_one(number, pull);
    if (status == PH_AGAIN) set_waiting(pull, true);
    if (status == PH_AGAIN) return status;
    if (status != PH_OK) return fail(pull, status);
  }
  return PH_OK;
}

ph_status Pulls::begin(const Pull& pull) {
  const auto made = pulls_.emplace_hint(pulls_.end(), next_, pull);
  ++next_;
  const ph_status status = start(made->first, made->second);
  if (status == PH_OK || status == PH_AGAIN) return PH_OK;
  pulls_.erase(made);
  return status;
}

ph_status Pulls::start_next(Pull& failed) noexcept {
  if (waiting_ == 0) return PH_AGAIN;
  for (auto one = pulls_.begin(); one != pulls_.end(); ++one) {
    if (!one->second.is_waiting) continue;
    const ph_status status = start(one->first, one->second);
    if (status == PH_AGAIN) continue;
    if (status == PH_OK) return PH_OK;
    failed = one->second;
    pulls_.erase(one);
    return status;
  }
  return PH_AGAIN;
}

bool Pulls::owe(Rank from, std::uint64_t number, const End& end) noexcept {
  for (auto& [at, pull] : pulls_) {
    if (!pull.is_stray || pull.from != from || pull.number != number) continue;
    pull.is_owed = true;
    pull.owed = end;
    return true;
  }
  return false;
}

std::optional<Pull> Pulls::on_local(Rank from, std::uint64_t token, ph_status status) noexcept {
  if (const auto reads = reads_.find(from); reads != reads_.end() && --reads->second == 0)
    reads_.erase(reads);
  const auto found = pulls_.find((token & ~kOurs) >> kIndexBits);
  const std::uint32_t bit = 1u << (token & (Pull::kMostGets - 1));
  if (found == pulls_.end() || (found->second.busy & bit) == 0) return std::nullopt;
  Pull& pull = found->second;
  pull.busy &= ~bit;
  if (status != PH_OK && pull.status == PH_OK) static_cast<void>(fail(pull, status));
  const bool goes_on = pull.status == PH_OK && !pull.is_stray && !pull.is_begun();
  if (goes_on) set_waiting(pull, true);
  if (goes_on || pull.is_read()) return std::nullopt;
  const Pull over = pull;
  pulls_.erase(found);
  return over;
}

// The one behind it.
Pulls::List::iterator Pulls::give_up(List::iterator one, List& given_up) noexcept {
  const auto next = std::next(one);
  Pull& pull = one->second;
  if (pull.is_called_off) {
    pull.is_stray = pull.is_owed = true;
    pull.owed = {kCalledOff};
    return next;
  }
  set_waiting(pull, false);
  give_up_gets(pull);
  if (!pull.is_read()) {
    given_up.insert(given_up.end(), pulls_.extract(one));
    return next;
  }
  try {
    given_up.emplace_hint(given_up.end(), one->first, pull);
  } catch (const std::bad_alloc&) {
    pull.is_owed = true;
  }
  pull.is_stray = true;
  return next;
}

Pulls::List Pulls::recall(const Window& window, std::uint64_t epoch) noexcept {
  List recalled;
  for (auto one = pulls_.begin(); one != pulls_.end();) {
    const Pull& pull = one->second;
    const bool is_it = pull.window == &window && pull.outcome.epoch == epoch && !pull.is_stray;
    one = is_it ? give_up(one, recalled) : std::next(one);
  }
  return recalled;
}

Pulls::List Pulls::give_up_all() noexcept {
  List all;
  for (auto one = pulls_.begin(); one != pulls_.end();)
    one = one->second.is_stray ? std::next(one) : give_up(one, all);
  return all;
}

Pulls::List::iterator Pulls::at(Rank from, std::uint64_t number) noexcept {
  return std::find_if(pulls_.begin(), pulls_.end(), [&](const auto& one) {
    return one.second.number == number && one.second.from == from && !one.second.is_stray;
  });
}

const Pull* Pulls::find(Rank from, std::uint64_t number) noexcept {
  const auto one = at(from, number);
  return one == pulls_.end() ? nullptr : &one->second;
}

std::optional<Pull> Pulls::call_off(Rank from, std::uint64_t number) noexcept {
  const auto one = at(from, number);
  Pull& pull = one->second;
  set_waiting(pull, false);
  give_up_gets(pull);
  if (pull.is_read()) {
    pull.is_called_off = true;
    pull.status = kCalledOff;  // it begins no more gets
    return std::nullopt;
  }
  const Pull over = pull;
  pulls_.erase(one);
  return over;
}

Pulls::List Pulls::lose(Rank from) noexcept {
  List lost;
  for (auto next = pulls_.begin(); next != pulls_.end();) {
    const auto one = next++;
    if (one->second.from != from || one->second.is_read()) continue;
    set_waiting(one->second, false);
    lost.insert(lost.end(), pulls_.extract(one));
  }
  return lost;
}

}  // namespace photon::service::mailbox
