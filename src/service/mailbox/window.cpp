#include "service/mailbox/window.hpp"

#include <algorithm>
#include <cstring>

#include "sync/published.hpp"

namespace photon::service::mailbox {

namespace {

bool meet(const Buffer& one, const Buffer& other) noexcept {
  if (one.layout != nullptr && other.layout != nullptr) return one.layout->meets(*other.layout);
  if (one.layout != nullptr) return one.layout->meets({other.data, other.size_bytes});
  if (other.layout != nullptr) return other.layout->meets({one.data, one.size_bytes});
  return one.data < other.data + other.size_bytes && other.data < one.data + one.size_bytes;
}

}  // namespace

Window::~Window() {
  for (std::uint64_t i = buffers_.begin(); i != buffers_.end(); ++i) delete buffers_.at(i).layout;
  while (!retained_.empty()) forget_retained();
}

// The oldest.
void Window::forget_retained() noexcept {
  delete retained_.front().buffer.layout;
  retained_.pop();
}

// The most that a buffer can count: where the receiver says where bytes land, no byte lands twice,
// and each operation has one; elsewhere a byte may count once. A catch-all's buffer takes one
// message.
std::uint64_t Window::reachable(const Buffer& buffer) const noexcept {
  if (policy_.catches_all) return 1;
  const bool lands_once = policy_.placing == PH_MAILBOX_MANAGED ||
                          (policy_.keeps_ranges() && policy_.unit == PH_MAILBOX_BYTES);
  return lands_once ? buffer.total_bytes() : UINT64_MAX;
}

bool Window::overlaps(const Buffer& buffer) const noexcept {
  for (std::uint64_t i = buffers_.begin(); i != buffers_.end(); ++i)
    if (meet(buffers_.at(i), buffer)) return true;
  for (std::uint64_t i = retained_.begin(); i != retained_.end(); ++i)
    if (meet(retained_.at(i).buffer, buffer)) return true;
  return false;
}

ph_status Window::post(const Buffer& buffer, std::span<const ph_block> segments) {
  const bool needs_layout = !segments.empty() || policy_.looks_at_layout();
  if (needs_layout && buffer.layout == nullptr) {
    const ph_block whole{buffer.data, buffer.size_bytes};
    auto layout = std::make_unique<Layout>(segments.empty() ? std::span(&whole, 1) : segments);
    if (policy_.keeps_ranges()) layout->keep_coverage();
    Buffer laid_out = buffer;
    laid_out.layout = layout.get();
    laid_out.data = layout->first().data();
    laid_out.size_bytes = policy_.looks_at_layout() ? 0 : layout->first().size();
    const ph_status status = post(laid_out);
    if (status == PH_OK) static_cast<void>(layout.release());
    return status;
  }
  Buffer posted = buffer;
  if (posted.threshold == 0) posted.threshold = policy_.threshold;
  if (posted.threshold == 0 && policy_.unit == PH_MAILBOX_BYTES)
    posted.threshold = posted.total_bytes();
  if (posted.threshold == 0 || posted.threshold > reachable(posted)) return PH_ERR_ARGUMENT;
  if (overlaps(posted)) return PH_ERR_STATE;
  retained_.make_room(policy_.retained + 1);  // to hand over needs no memory
  buffers_.push(posted);
  return PH_OK;
}

void Window::count_full() noexcept {
  while (full_ < buffers_.size() && buffers_.at(buffers_.begin() + full_).is_full) ++full_;
}

// A catch-all takes puts and appends.
ph_status Window::check_kind(const Mail& mail) const noexcept {
  const bool is_managed = policy_.placing == PH_MAILBOX_MANAGED;
  if (mail.appends && (mail.offset != 0 || mail.size_bytes == 0)) return PH_ERR_ARGUMENT;
  return policy_.catches_all || mail.appends == is_managed ? PH_OK : PH_ERR_ARGUMENT;
}

ph_status Window::check(const Mail& mail) const noexcept {
  if (policy_.is_for_reading) return PH_ERR_ACCESS;
  if (const ph_status status = check_kind(mail); status != PH_OK) return status;
  return check_life(mail);
}

ph_status Window::check_life(const Mail& mail) const noexcept {
  if (mail.incarnation != 0 && mail.incarnation != incarnation_) return PH_ERR_EPOCH;
  if (mail.epoch != PH_ANY_EPOCH && mail.epoch < epoch_) return PH_ERR_EPOCH;
  return PH_OK;
}

Outcome Window::without_buffer(std::uint64_t epoch) const noexcept {
  if (policy_.keeps_early) return {Fate::waits, PH_OK, epoch, nullptr};
  return {Fate::refused, PH_ERR_NO_BUFFER, epoch, nullptr};
}

// The first buffer that an append fits into behind what it holds, or that holds nothing; else the
// number of buffers.
std::uint64_t Window::first_with_room(const Mail& mail) const noexcept {
  std::uint64_t ahead = full_;
  for (; ahead < buffers_.size(); ++ahead) {
    const Buffer& buffer = buffers_.at(buffers_.begin() + ahead);
    if (buffer.is_full) continue;
    if (buffer.filled == 0 || mail.size_bytes <= buffer.total_bytes() - buffer.filled) break;
  }
  return ahead;
}

// Those that an append did not fit into admit nothing more.
void Window::seal_before(std::uint64_t ahead) noexcept {
  for (std::uint64_t i = full_; i < ahead; ++i) buffers_.at(buffers_.begin() + i).is_full = true;
}

Outcome Window::admit(const Mail& mail, Owner& owner) noexcept {
  if (const ph_status status = check(mail); status != PH_OK)
    return {Fate::refused, status, epoch_, nullptr};
  // Where it goes is known when the one before it has landed.
  if (policy_.placing == PH_MAILBOX_MANAGED && landing_ != 0)
    return {Fate::waits, PH_OK, epoch_, nullptr};
  const bool is_placed_here = mail.appends && mail.epoch == PH_ANY_EPOCH;
  const std::uint64_t ahead = is_placed_here               ? first_with_room(mail)
                              : mail.epoch == PH_ANY_EPOCH ? full_
                                                           : mail.epoch - epoch_;
  const std::uint64_t epoch = epoch_ + ahead;
  if (ahead >= buffers_.size()) {
    if (is_placed_here && policy_.keeps_early) {
      seal_before(ahead);
      count_full();
      hand_over_full(owner);
    }
    return without_buffer(epoch);
  }
  Buffer& buffer = buffers_.at(buffers_.begin() + ahead);
  if (buffer.is_full) return {Fate::refused, PH_ERR_EPOCH, epoch, nullptr};
  const std::uint64_t from = mail.appends ? buffer.filled : mail.offset;
  if (from > buffer.size_bytes || mail.size_bytes > buffer.size_bytes - from)
    return admit_apart(mail, ahead, from, owner);
  std::byte* const place = buffer.data + from;
  take_in(mail, ahead, from, owner);
  return {Fate::lands, PH_OK, epoch, place, from};
}

// Of the first buffers the one that is so far `ahead` admits a message that goes to `from`.
[[gnu::always_inline]] inline void Window::take_in(const Mail& mail, std::uint64_t ahead,
                                                   std::uint64_t from, Owner& owner) noexcept {
  Buffer& buffer = buffers_.at(buffers_.begin() + ahead);
  const bool is_placed_here = mail.appends && mail.epoch == PH_ANY_EPOCH;
  buffer.admitted += policy_.unit == PH_MAILBOX_BYTES ? mail.size_bytes : mail.goes_on ? 0 : 1;
  if (mail.appends) buffer.filled = from + mail.size_bytes;
  ++buffer.under_way;
  ++landing_;
  if (is_at_end(buffer)) buffer.is_full = true;
  if (is_placed_here) seal_before(ahead);
  count_full();
  if (is_placed_here && full_ != 0) hand_over_full(owner);  // but for this one, which has to land
}

// The message does not lie in the buffer's first range, or has to be looked at for overlap.
Outcome Window::admit_apart(const Mail& mail, std::uint64_t ahead, std::uint64_t from,
                            Owner& owner) noexcept {
  const Buffer& buffer = buffers_.at(buffers_.begin() + ahead);
  Mail counted = mail;
  if (const ph_status status = cover(buffer, from, counted); status != PH_OK)
    return {Fate::refused, status, epoch_ + ahead, nullptr};
  const Outcome outcome{Fate::scatters, PH_OK, epoch_ + ahead, nullptr, from, buffer.layout};
  take_in(counted, ahead, from, owner);
  return outcome;
}

bool Window::land_word(const WordMail& mail, Owner& owner) noexcept {
  constexpr std::uint64_t kBytes = sizeof(mail.word);
  const bool may_land = takes_words_ && full_ == 0 && !buffers_.empty();
  if (!may_land) return false;
  Buffer& buffer = buffers_.front();
  if (buffer.size_bytes < kBytes || mail.offset > buffer.size_bytes - kBytes) return false;
  std::memcpy(buffer.data + mail.offset, &mail.word, kBytes);
  buffer.admitted += policy_.unit == PH_MAILBOX_BYTES ? kBytes : 1;
  ++buffer.operations;
  buffer.bytes += kBytes;
  buffer.top = std::max(buffer.top, mail.offset + kBytes);
  buffer.named = mail.named;
  buffer.from = mail.from;
  if (buffer.admitted < buffer.threshold) return true;
  buffer.is_full = true;
  count_full();
  hand_over_full(owner);
  return true;
}

void Window::landed(const Mail& mail, const Outcome& outcome, Owner& owner) noexcept {
  Buffer& buffer = of_epoch(outcome.epoch);
  --buffer.under_way;
  --landing_;
  if (!mail.goes_on) ++buffer.operations;
  buffer.named = mail.named;
  buffer.from = mail.from;
  buffer.bytes += mail.size_bytes;
  if (mail.size_bytes != 0) buffer.top = std::max(buffer.top, outcome.offset + mail.size_bytes);
  if (buffer.is_full) hand_over_full(owner);
}

void Window::failed(const Mail& mail, const Outcome& outcome, Owner& owner) noexcept {
  Buffer& buffer = of_epoch(outcome.epoch);
  --buffer.under_way;
  --landing_;
  const bool was_complete = is_at_end(buffer);
  const std::uint64_t bytes = uncover(buffer, mail, outcome);
  buffer.admitted -= policy_.unit == PH_MAILBOX_BYTES ? bytes : 1;
  if (mail.appends) buffer.filled -= mail.size_bytes;
  if (was_complete && !is_at_end(buffer)) {
    buffer.is_full = false;
    full_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(full_, outcome.epoch - epoch_));
  }
  if (buffer.is_full) hand_over_full(owner);
}

// Null: it is not posted yet, or is over and not retained.
const Buffer* Window::find(std::uint64_t epoch) const noexcept {
  if (epoch >= epoch_)
    return epoch - epoch_ < buffers_.size() ? &buffers_.at(buffers_.begin() + (epoch - epoch_))
                                            : nullptr;
  for (std::uint64_t i = retained_.begin(); i != retained_.end(); ++i)
    if (retained_.at(i).epoch == epoch) return &retained_.at(i).buffer;
  return nullptr;
}

// A buffer that is leaving is read no more.
const Buffer* Window::of_read(const Read& what, std::uint64_t& epoch) const noexcept {
  epoch = what.epoch == PH_ANY_EPOCH ? epoch_ + full_ : what.epoch;
  const Buffer* const found = find(epoch);
  return found != nullptr && !(found->is_leaving && epoch >= epoch_) ? found : nullptr;
}

Outcome Window::read(const Read& what) noexcept {
  if (what.incarnation != 0 && what.incarnation != incarnation_)
    return {Fate::refused, PH_ERR_EPOCH, epoch_, nullptr};
  std::uint64_t epoch = 0;
  const Buffer* const buffer = of_read(what, epoch);
  if (buffer == nullptr)
    return {Fate::refused, epoch < epoch_ + full_ ? PH_ERR_EPOCH : PH_ERR_NO_BUFFER, epoch,
            nullptr};
  if (what.offset <= buffer->size_bytes && what.size_bytes <= buffer->size_bytes - what.offset)
    return {Fate::lands, PH_OK, epoch, buffer->data + what.offset, what.offset};
  if (buffer->layout == nullptr || !buffer->layout->holds(what.offset, what.size_bytes))
    return {Fate::refused, PH_ERR_RANGE, epoch, nullptr};
  return {Fate::scatters, PH_OK, epoch, nullptr, what.offset, buffer->layout};
}

void Window::was_read(const Read& what, const Outcome& outcome, Owner& owner) noexcept {
  if (!policy_.is_for_reading || outcome.epoch < epoch_) return;
  Buffer& buffer = of_epoch(outcome.epoch);
  if (buffer.is_full) return;
  const std::uint64_t operation = what.is_last ? 1 : 0;
  buffer.admitted += policy_.unit == PH_MAILBOX_BYTES ? what.size_bytes : operation;
  buffer.bytes += what.size_bytes;
  buffer.operations += operation;
  if (what.size_bytes != 0) buffer.top = std::max(buffer.top, what.offset + what.size_bytes);
  if (buffer.admitted < buffer.threshold) return;
  buffer.is_full = true;
  count_full();
  hand_over_full(owner);
}

void Window::let_go(std::uint64_t epoch, Owner& owner) noexcept {
  --of_epoch(epoch).under_way;
  hand_over_full(owner);
}

void Window::hand_over_full(Owner& owner) noexcept {
  while (!buffers_.empty() && buffers_.front().is_full && buffers_.front().under_way == 0) {
    const Buffer& front = buffers_.front();
    const bool is_complete = front.admitted >= front.threshold;
    hand_over(front.is_leaving ? front.why
              : is_complete    ? why_complete(front)
                               : PH_MAILBOX_FULL,
              owner);
  }
}

// The front buffer is over. Its owner is told after the pointer: who hears of the one may read it.
void Window::hand_over(ph_mailbox_why why, Owner& owner) noexcept {
  const HandedOver over{buffers_.front(), epoch_, incarnation_, why};
  buffers_.pop();
  ++epoch_;
  if (full_ != 0)
    --full_;
  else
    count_full();
  if (policy_.retained != 0) {
    retained_.push_unchecked(over);
    if (retained_.size() > policy_.retained) forget_retained();
  }
  if (over.buffer.pointer != nullptr)
    sync::publish_to_user(over.buffer.pointer->size_bytes, over.buffer.top,
                          over.buffer.pointer->address, static_cast<void*>(over.buffer.data));
  owner.handed_over(*this, over);
  if (over.buffer.layout == nullptr) return;
  if (policy_.retained == 0)
    delete over.buffer.layout;
  else if (policy_.keeps_ranges())
    over.buffer.layout->coverage()->settle();
}

// Its landings are recalled before anything else is admitted: they are the first in the next epoch.
void Window::leave(Buffer& buffer, ph_mailbox_why why, Owner& owner, std::uint64_t epoch) noexcept {
  buffer.is_full = buffer.is_leaving = true;
  buffer.why = why;
  count_full();
  landing_ -= buffer.under_way;
  if (buffer.under_way != 0) owner.recall(*this, epoch);
}

// So many of the first buffers are.
std::uint64_t Window::first_not_leaving() const noexcept {
  std::uint64_t ahead = 0;
  while (ahead < buffers_.size() && buffers_.at(buffers_.begin() + ahead).is_leaving) ++ahead;
  return ahead;
}

bool Window::has_bytes(std::uint64_t& epoch) const noexcept {
  const std::uint64_t ahead = first_not_leaving();
  epoch = epoch_ + ahead;
  return ahead < buffers_.size() && buffers_.at(buffers_.begin() + ahead).bytes != 0;
}

ph_status Window::inc_epoch(Owner& owner, ph_mailbox_why why) noexcept {
  const std::uint64_t ahead = first_not_leaving();
  if (ahead == buffers_.size()) return PH_AGAIN;
  leave(buffers_.at(buffers_.begin() + ahead), why, owner, epoch_ + ahead);
  hand_over_full(owner);
  return PH_OK;
}

ph_status Window::release(std::uint64_t epoch) noexcept {
  for (std::uint64_t i = retained_.begin(); i != retained_.end(); ++i) {
    if (retained_.at(i).epoch != epoch) continue;
    Layout* const layout = retained_.at(i).buffer.layout;
    for (; i != retained_.begin(); --i) retained_.at(i) = retained_.at(i - 1);
    retained_.pop();
    delete layout;
    return PH_OK;
  }
  return PH_ERR_STATE;
}

ph_status Window::rewind(std::uint64_t epoch, std::uint32_t incarnation, Owner& owner) noexcept {
  std::uint64_t found = retained_.begin();
  while (found != retained_.end() && retained_.at(found).epoch != epoch) ++found;
  if (found == retained_.end()) return PH_ERR_STATE;
  for (std::uint64_t i = buffers_.begin(); i != buffers_.end(); ++i)
    if (buffers_.at(i).under_way != 0) return PH_AGAIN;
  for (std::uint64_t i = found + 1; i != retained_.end(); ++i) {
    HandedOver over = retained_.at(i);
    over.why = PH_MAILBOX_REWOUND;
    owner.handed_over(*this, over);
  }
  for (; retained_.end() - 1 != found; retained_.pop_back()) delete retained_.back().buffer.layout;
  for (std::uint64_t i = buffers_.begin(); i != buffers_.end(); ++i) {
    Buffer& buffer = buffers_.at(i);
    buffer.admitted = buffer.filled = buffer.bytes = buffer.operations = buffer.top = 0;
    buffer.withdrawn_bytes = buffer.withdrawn_operations = 0;
    buffer.from = PH_ANY_RANK;
    buffer.is_full = false;
    if (buffer.layout != nullptr && policy_.keeps_ranges()) buffer.layout->coverage()->clear();
  }
  full_ = 0;
  epoch_ = epoch + 1;
  incarnation_ = incarnation;
  return PH_OK;
}

void Window::close(Owner& owner) noexcept {
  const std::uint64_t last = epoch_ + buffers_.size();
  for (std::uint64_t epoch = epoch_; epoch != last; ++epoch) {
    if (epoch < epoch_) continue;  // handed over by now
    Buffer& buffer = of_epoch(epoch);
    const bool is_complete = buffer.under_way == 0 && buffer.admitted >= buffer.threshold;
    if (!buffer.is_leaving)
      leave(buffer, is_complete ? why_complete(buffer) : PH_MAILBOX_CLOSED, owner, epoch);
  }
  hand_over_full(owner);
}

}  // namespace photon::service::mailbox
