#include "service/mailbox/pulls.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace photon::service::mailbox {

ph_status Pulls::start(std::uint64_t number, Pull& pull) noexcept {
  ph_status status = PH_ERR_MEMORY;
  try {
    std::size_t& reads = reads_[pull.from];
    if (reads >= kMostReads) return PH_AGAIN;
    const std::span<std::byte> to(pull.outcome.place, pull.letter.mail.size_bytes);
    status = port_.get(pull.from, {pull.letter.source, to, number | kOurs}, pull.handle);
    if (status == PH_OK) ++reads;
  } catch (const std::bad_alloc&) {
  }
  pull.is_read = status == PH_OK;
  return status;
}

ph_status Pulls::begin(const Pull& pull) {
  const auto made = pulls_.emplace_hint(pulls_.end(), next_, pull);
  ++next_;
  const ph_status status = start(made->first, made->second);
  if (status == PH_AGAIN) ++waiting_;
  if (status == PH_OK || status == PH_AGAIN) return PH_OK;
  pulls_.erase(made);
  return status;
}

ph_status Pulls::start_next(Pull& failed) noexcept {
  if (waiting_ == 0) return PH_AGAIN;
  for (auto one = pulls_.begin(); one != pulls_.end(); ++one) {
    if (one->second.is_read) continue;
    const ph_status status = start(one->first, one->second);
    if (status == PH_AGAIN) continue;
    --waiting_;
    if (status == PH_OK) return PH_OK;
    failed = one->second;
    pulls_.erase(one);
    return status;
  }
  return PH_AGAIN;
}

bool Pulls::owe(Rank from, std::uint64_t number, ph_status status) noexcept {
  for (auto& [at, pull] : pulls_) {
    if (!pull.is_stray || pull.from != from || pull.number != number) continue;
    pull.is_owed = true;
    pull.owed = status;
    return true;
  }
  return false;
}

std::optional<Pull> Pulls::on_local(Rank from, std::uint64_t token) noexcept {
  if (const auto reads = reads_.find(from); reads != reads_.end() && --reads->second == 0)
    reads_.erase(reads);
  const auto found = pulls_.find(token & ~kOurs);
  if (found == pulls_.end()) return std::nullopt;
  const Pull pull = found->second;
  pulls_.erase(found);
  return pull;
}

// The one behind it.
Pulls::List::iterator Pulls::give_up(List::iterator one, List& given_up) noexcept {
  const auto next = std::next(one);
  Pull& pull = one->second;
  if (pull.is_called_off) {
    pull.is_stray = pull.is_owed = true;
    pull.owed = kCalledOff;
    return next;
  }
  if (!pull.is_read) --waiting_;
  if (!pull.is_read || port_.give_up(pull.handle)) {
    pull.is_read = false;
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
  if (pull.is_read && !port_.give_up(pull.handle)) {
    pull.is_called_off = true;
    return std::nullopt;
  }
  if (!pull.is_read) --waiting_;
  const Pull over = pull;
  pulls_.erase(one);
  return over;
}

Pulls::List Pulls::lose(Rank from) noexcept {
  List lost;
  for (auto next = pulls_.begin(); next != pulls_.end();) {
    const auto one = next++;
    if (one->second.from != from || one->second.is_read) continue;
    --waiting_;
    lost.insert(lost.end(), pulls_.extract(one));
  }
  return lost;
}

}  // namespace photon::service::mailbox
