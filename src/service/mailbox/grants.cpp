#include "service/mailbox/grants.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "service/mailbox/receiver.hpp"
#include "service/mailbox/sender.hpp"

namespace photon::service::mailbox {

bool Grants::is_held(const Window& window) const noexcept {
  return std::ranges::any_of(held_, [&](const Held& one) { return one.window == &window; });
}

// False: not now. Without a grant its messages are read from their sender, so nothing is lost.
bool Grants::grant(const Window& window, Rank source, Buffer& buffer, bool is_first) noexcept {
  Exposed exposed;
  try {
    // Half of the registrations are left to others.
    if (given_.size() >= port_.config().max_regions / 2) return false;
    if (held_.capacity() < held_.size() + given_.size() + 1)
      held_.reserve(2 * (held_.size() + given_.size() + 1));  // take_back() needs no memory
    const auto made = given_.try_emplace(given_.end(), next_);
    if (port_.expose_alone({buffer.data, buffer.size_bytes}, PH_ACCESS_WRITE, exposed) != PH_OK) {
      given_.erase(made);
      return false;
    }
    made->second = exposed;
    const Encoded words =
        encode(Granted{.address = window.address(),
                       .number = next_,
                       .place = exposed.target,
                       .size_bytes = buffer.size_bytes,
                       .threshold = buffer.threshold,
                       .counts_operations = window.policy().unit == PH_MAILBOX_OPERATIONS,
                       .is_first = is_first});
    Saying what;
    what.to = source;
    what.header = std::as_bytes(std::span(words.words));
    what.must_go = true;
    if (port_.say(what) == PH_OK) {
      buffer.grant = next_++;
      return true;
    }
    given_.erase(made);
  } catch (const std::bad_alloc&) {
    given_.erase(next_);
  }
  port_.conceal(exposed);
  return false;
}

bool Grants::give(Window& window, Rank source, std::uint64_t most) noexcept {
  const ph_status status = port_.can_store_here(source);
  if (status != PH_OK || is_held(window)) return status != PH_AGAIN;
  bool is_first = true;
  for (std::uint64_t epoch = window.current_epoch(); epoch != window.end_epoch(); ++epoch) {
    if (epoch - window.current_epoch() >= most) break;
    Buffer& buffer = window.of_epoch(epoch);
    if (buffer.grant == 0 && (buffer.admitted != 0 || buffer.is_full || buffer.layout != nullptr ||
                              !grant(window, source, buffer, is_first)))
      break;
    is_first = false;
  }
  return true;
}

bool Grants::take_back(Window& window, Rank source) noexcept {
  if (is_held(window)) return false;
  if (window.current_grant() == 0) return true;  // nor is one behind it
  bool is_any = false;
  const auto each = [&](auto visit) {
    for (std::uint64_t epoch = window.epoch(); epoch != window.end_epoch(); ++epoch)
      if (window.of_epoch(epoch).grant != 0) visit(epoch, window.of_epoch(epoch));
  };
  each([&](std::uint64_t, Buffer& buffer) {
    port_.revoke(given_.at(buffer.grant));
    is_any = true;
  });
  if (!is_any) return true;
  port_.fence();
  bool is_quiet = true;
  each([&](std::uint64_t epoch, Buffer& buffer) {
    const auto given = given_.find(std::exchange(buffer.grant, 0));
    if (!port_.forget(given->second, source)) {
      held_.push_back({&window, epoch, source, given->second});  // grant() has made room
      window.hold(epoch);
      is_quiet = false;
    }
    given_.erase(given);
  });
  return is_quiet;
}

void Grants::complete(std::uint64_t number) noexcept {
  const auto given = given_.find(number);
  if (given == given_.end()) return;
  port_.conceal(given->second);
  given_.erase(given);
}

Window* Grants::free_next(Window::Owner& owner) noexcept {
  for (Held& one : held_) {
    if (!port_.forget(one.exposed, one.source)) continue;
    const Held freed = one;
    one = held_.back();
    held_.pop_back();
    freed.window->free(freed.epoch, owner);
    return freed.window;
  }
  return nullptr;
}

// ---- of the window

void Window::hold(std::uint64_t epoch) noexcept {
  ++of_epoch(epoch).under_way;
  if (!of_epoch(epoch).is_leaving) ++landing_;
}

void Window::free(std::uint64_t epoch, Owner& owner) noexcept {
  if (!of_epoch(epoch).is_leaving) --landing_;
  let_go(epoch, owner);
}

// ---- of the receiver

// True: a message whose bytes lie already in the buffer that it goes to.
bool Receiver::land_stored(Box& box, const Arrival& mail) noexcept {
  Window& window = *box.window;
  if (!mail.letter.is_stored || mail.letter.grant == 0 ||
      window.current_grant() != mail.letter.grant)
    return false;
  const Outcome outcome = window.admit(mail.letter.mail, *this);
  if (outcome.fate == Fate::waits) return false;
  if (outcome.fate == Fate::lands) window.landed(mail.letter.mail, outcome, *this);
  reports_.say(mail.from, Op::verdict, mail.number, {outcome.status, outcome.epoch});
  owe(mail.from, Sender::charge(0));
  if (box.most_granted != kAllGranted) {
    box.most_granted = std::min(2 * box.most_granted, kAllGranted);
    give_grants(box);
  }
  return true;
}

// False: its source is in the middle of a copy, and nothing else may land.
bool Receiver::take_back_grants(Box& box) noexcept {
  if (!box.window->policy().grants || grants_.take_back(*box.window, box.source)) return true;
  held_by_ns_ = port_.now_ns() + kHeldNs;
  return false;
}

// The same, and no more than so many are granted until messages are stored again: each of them
// doubles it. So a source that sends in other ways costs no grants.
bool Receiver::end_grants(Box& box, std::uint32_t most) noexcept {
  if (box.window->current_grant() != 0) box.most_granted = std::min(box.most_granted, most);
  return take_back_grants(box);
}

// Another message, or a taking back, may have left an untouched buffer in front.
void Receiver::give_grants(Box& box) noexcept {
  if (!box.is_open || !box.window->policy().grants) return;
  const Round round(*this);
  if (grants_.give(*box.window, box.source, box.most_granted) || box.is_wanting) return;
  try {
    wanting_.push_back(box.index);
    box.is_wanting = true;
    wanting_by_ns_ = std::min(wanting_by_ns_, port_.now_ns() + kWantingNs);
  } catch (const std::bad_alloc&) {  // it is a matter of speed
  }
}

// To sources that were still being met.
void Receiver::give_late_grants() noexcept {
  if (wanting_.empty()) return;
  wanting_by_ns_ = INT64_MAX;
  for (std::size_t left = wanting_.size(); left != 0; --left) {
    Box& box = *boxes_[wanting_.front()];
    wanting_.pop_front();
    box.is_wanting = false;
    if (box.window) give_grants(box);
  }
}

// The source is lost.
void Receiver::drop_grants(Rank source) noexcept {
  if (grants_.empty()) return;
  for (const auto& box : boxes_)
    if (box->is_open && box->source == source) static_cast<void>(take_back_grants(*box));
}

void Receiver::free_held() noexcept {
  if (!grants_.has_held()) return;
  const Round round(*this);
  while (Window* const window = grants_.free_next(*this)) {
    Box& box = *boxes_[window->tag()];
    if (!box.early.empty()) try_early(box);
    if (box.window) give_grants(box);
  }
  held_by_ns_ = grants_.has_held() ? port_.now_ns() + kHeldNs : INT64_MAX;
}

}  // namespace photon::service::mailbox
