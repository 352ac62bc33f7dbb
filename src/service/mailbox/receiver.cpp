// The calls by which its owner uses a mailbox.
#include "service/mailbox/receiver.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "service/mailbox/box_policy.hpp"

namespace photon::service::mailbox {

namespace {

constexpr std::uint32_t kMostAfterEarly = 16;  // granted, when a buffer was taken back
constexpr std::size_t kMostPast =
    65'536;  // closed addresses whose epochs are remembered one by one

constexpr std::uint64_t bits_of(std::uint32_t index, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32 | index;
}

}  // namespace

Receiver::From& Receiver::peer(Rank rank) {
  if (peers_[rank] == nullptr) {
    owing_.make_room(peers_.size());
    peers_[rank] = std::make_unique<From>();
  }
  return *peers_[rank];
}

Receiver::Box* Receiver::find(ph_mailbox box) noexcept {
  const auto index = static_cast<std::uint32_t>(box.bits);
  if (index >= boxes_.size()) return nullptr;
  Box* const found = boxes_[index].get();
  const bool is_it = found->window.has_value() && bits_of(index, found->generation) == box.bits;
  return is_it ? found : nullptr;
}

// Free, and in no table yet. What it needs later to hand its events over is there.
Receiver::Box& Receiver::new_box() {
  if (free_.empty()) {
    free_.reserve(boxes_.size() + 1);
    ready_.make_room(boxes_.size() + 1);
    boxes_.push_back(std::make_unique<Box>(static_cast<std::uint32_t>(boxes_.size()), 1));
    free_.push_back(boxes_.back()->index);
  }
  return *boxes_[free_.back()];
}

ph_status Receiver::not_open(const char* call) {
  return port_.fail(PH_ERR_STATE, PH_ANY_RANK,
                    std::string(call) + ": the handle names no open mailbox of this lane");
}

ph_status Receiver::open(const ph_mailbox_args& args, ph_mailbox& box) {
  const auto wrong = [&](ph_status status, const std::string& why) {
    return port_.fail(status, PH_ANY_RANK, "mailbox_open: " + why);
  };
  Policy policy;
  if (const std::string why = policy_of(args, policy); !why.empty())
    return wrong(PH_ERR_ARGUMENT, why);
  if (args.source != PH_ANY_RANK && args.source >= port_.size())
    return wrong(PH_ERR_RANK, "no rank " + std::to_string(args.source) + " in this job");
  if (table_.find(args.address) != nullptr)
    return wrong(PH_ERR_STATE, "address " + std::to_string(args.address) + " is open here");
  if (policy.catches_all && catch_all_ != nullptr)
    return wrong(PH_ERR_STATE, "the lane has a catch-all");
  if (policy.grants) static_cast<void>(port_.contact(args.source));  // a lost one sends nothing
  Box& made = new_box();
  const auto past = past_.find(args.address);
  const std::uint64_t first = past != past_.end() ? past->second.next_epoch : past_floor_;
  table_.add(args.address, &made);
  if (policy.lingers) {
    try {
      lingers_.add(made.index, args.linger_us);
    } catch (const std::bad_alloc&) {
      table_.remove(args.address);
      throw;
    }
  }
  incarnation_ = next_incarnation();
  made.window.emplace(args.address, policy, Window::Life{made.index, incarnation_, first});
  made.source = args.source;
  made.is_open = true;
  if (policy.catches_all) catch_all_ = &made;
  free_.pop_back();
  box.bits = bits_of(made.index, made.generation);
  return PH_OK;
}

ph_status Receiver::post(ph_mailbox handle, const ph_mailbox_buffer& buffer) {
  const auto wrong = [&](ph_status status, const char* why) {
    return port_.fail(status, PH_ANY_RANK, std::string("mailbox_post: ") + why);
  };
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_post");
  if (const char* const why = why_no_buffer(buffer); why != nullptr)
    return wrong(PH_ERR_ARGUMENT, why);
  // Each buffer comes back by one event, and a retained one by one more.
  box->events.make_room(box->window->posted() + 2 * std::uint64_t{box->window->policy().retained} +
                        1);
  const ph_status status = box->window->post({.data = static_cast<std::byte*>(buffer.data),
                                              .size_bytes = buffer.size_bytes,
                                              .threshold = buffer.threshold,
                                              .pointer = buffer.pointer,
                                              .cookie = buffer.cookie},
                                             {buffer.segments, buffer.segment_count});
  if (status == PH_ERR_ARGUMENT)
    return wrong(status, "the threshold is 0, or more than the buffer can ever count");
  if (status == PH_ERR_STATE)
    return wrong(status, "it overlaps a buffer that the mailbox has, or retains");
  if (!box->early.empty()) try_early(*box);
  give_grants(*box);
  return PH_OK;
}

ph_status Receiver::inc_epoch(ph_mailbox handle) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_inc_epoch");
  static_cast<void>(end_grants(*box, kMostAfterEarly));
  const ph_status status = box->window->inc_epoch(*this);
  if (!box->early.empty()) try_early(*box);  // what they waited for may have gone
  watch_linger(*box);
  give_grants(*box);
  return status;
}

// After something has landed, or buffers have gone: its time runs from the first byte that is seen
// in the buffer that is current.
void Receiver::watch_linger(const Box& box) noexcept {
  if (!box.window->policy().lingers || !box.is_open) return;
  std::uint64_t epoch = 0;
  if (!box.window->has_bytes(epoch)) return lingers_.stop(box.index);
  if (lingers_.lingers(box.index, epoch)) return;
  lingers_.began(box.index, epoch, port_.now_ns());
  port_.wake();  // who sleeps does not know of that time yet
}

void Receiver::end_lingers() noexcept {
  if (lingers_.next_ns() == INT64_MAX) return;
  const std::int64_t now_ns = port_.now_ns();
  const Round round(*this);
  while (const auto due = lingers_.next_due(now_ns)) {
    Box& box = *boxes_[*due];
    std::uint64_t epoch = 0;  // that buffer may have gone meanwhile
    if (box.window->has_bytes(epoch) && epoch == lingers_.epoch_of(box.index))
      static_cast<void>(box.window->inc_epoch(*this, PH_MAILBOX_LINGER));
    if (!box.early.empty()) try_early(box);
    watch_linger(box);
  }
}

ph_status Receiver::epoch(ph_mailbox handle, std::uint64_t& epoch, std::uint32_t& incarnation) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_epoch");
  epoch = box->window->epoch();
  incarnation = box->window->incarnation();
  return PH_OK;
}

ph_status Receiver::release(ph_mailbox handle, std::uint64_t epoch) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_release");
  if (box->window->release(epoch) == PH_OK) return PH_OK;
  return port_.fail(PH_ERR_STATE, PH_ANY_RANK,
                    "mailbox_release: epoch " + std::to_string(epoch) + " is not retained");
}

ph_status Receiver::rewind(ph_mailbox handle, std::uint64_t epoch) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_rewind");
  box->events.make_room(box->window->posted() + 2 * std::uint64_t{box->window->policy().retained} +
                        1);
  static_cast<void>(take_back_grants(*box));
  const ph_status status = box->window->rewind(epoch, next_incarnation(), *this);
  if (status != PH_OK) give_grants(*box);
  if (status == PH_ERR_STATE)
    return port_.fail(status, PH_ANY_RANK,
                      "mailbox_rewind: epoch " + std::to_string(epoch) + " is not retained");
  if (status != PH_OK) return status;
  incarnation_ = next_incarnation();
  try_early(*box);
  watch_linger(*box);
  give_grants(*box);
  return PH_OK;
}

ph_status Receiver::retained(ph_mailbox handle, std::span<ph_mailbox_event> events,
                             std::size_t& count) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_retained");
  const Window& window = *box->window;
  count = window.retained();
  for (std::size_t i = 0; i < std::min(events.size(), count); ++i)
    events[i] = event_of(handle, window, window.retained(i));
  return PH_OK;
}

ph_status Receiver::buf_ptrs(ph_mailbox handle, std::span<ph_mailbox_posted> buffers,
                             std::size_t& count) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_buf_ptrs");
  const Window& window = *box->window;
  count = window.posted();
  for (std::size_t i = 0; i < std::min(buffers.size(), count); ++i) {
    const Buffer& one = window.posted(i);
    buffers[i] = {window.epoch() + i, one.data, one.total_bytes(), one.cookie};
  }
  return PH_OK;
}

ph_status Receiver::ranges(ph_mailbox handle, std::uint64_t epoch,
                           std::span<ph_mailbox_range> ranges, std::size_t& count) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_ranges");
  const Coverage* const coverage = box->window->coverage(epoch);
  if (coverage == nullptr)
    return port_.fail(PH_ERR_STATE, PH_ANY_RANK,
                      "mailbox_ranges: the mailbox keeps no ranges, or has no buffer of epoch " +
                          std::to_string(epoch));
  count = coverage->ranges().size();
  auto next = coverage->ranges().begin();
  for (std::size_t i = 0; i < std::min(ranges.size(), count); ++i, ++next)
    ranges[i] = {next->first, next->second - next->first};
  return PH_OK;
}

// The epochs of a closed address go on when it is opened again: those of so many are remembered one
// by one, and the others begin where all that were forgotten had ended.
ph_status Receiver::close(ph_mailbox handle) {
  Box* const box = find(handle);
  if (box == nullptr || !box->is_open) return not_open("mailbox_close");
  Window& window = *box->window;
  if (past_.size() >= kMostPast) {
    for (const auto& [address, past] : past_) past_floor_ = std::max(past_floor_, past.next_epoch);
    past_.clear();
  }
  past_[window.address()] = {window.epoch() + window.posted(), window.policy().closes_silently};
  static_cast<void>(take_back_grants(*box));
  shut(*box);
  window.close(*this);
  drop_early(*box, PH_ERR_NOT_FOUND);
  if (box->events.empty() && window.posted() == 0) retire(*box);
  return PH_OK;
}

// No message finds it any more.
void Receiver::shut(Box& box) noexcept {
  box.is_open = false;
  lingers_.remove(box.index);
  table_.remove(box.window->address());
  if (catch_all_ == &box) catch_all_ = nullptr;
}

// Its handle names nothing from here on, and whoever waits for an event of it has to hear that.
void Receiver::retire(Box& box) noexcept {
  box.window.reset();
  box.events.trim(0);
  if (++box.generation == 0) box.generation = 1;
  free_.push_back(box.index);  // new_box() has made room
  port_.wake();
}

ph_mailbox_event Receiver::event_of(ph_mailbox box, const Window& window,
                                    const HandedOver& over) noexcept {
  const Buffer& buffer = over.buffer;
  return {.box = box,
          .address = window.address(),
          .epoch = over.epoch,
          .data = buffer.data,
          .size_bytes = buffer.top,
          .posted_bytes = buffer.total_bytes(),
          .bytes = buffer.bytes,
          .operations = buffer.operations,
          .cookie = buffer.cookie,
          .incarnation = over.incarnation,
          .why = over.why,
          .named = buffer.operations != 0 ? buffer.named : window.address(),
          .from = buffer.from,
          .withdrawn_bytes = buffer.withdrawn_bytes,
          .withdrawn_operations = buffer.withdrawn_operations};
}

void Receiver::handed_over(Window& window, const HandedOver& over) noexcept {
  Box& box = *boxes_[window.tag()];
  if (over.buffer.grant != 0) grants_.complete(over.buffer.grant);
  box.events.push_unchecked(event_of({bits_of(box.index, box.generation)}, window, over));
  if (!std::exchange(box.is_ready, true)) ready_.push_unchecked(box.index);
  port_.wake();
}

ph_status Receiver::state(ph_mailbox handle) noexcept {
  if (handle.bits == 0) return ready_.empty() ? PH_AGAIN : PH_OK;
  const Box* const box = find(handle);
  if (box == nullptr) return PH_ERR_STATE;
  return box->events.empty() ? PH_AGAIN : PH_OK;
}

ph_status Receiver::take(ph_mailbox handle, ph_mailbox_event& event) noexcept {
  if (const ph_status status = state(handle); status != PH_OK) return status;
  Box& box = handle.bits == 0 ? *boxes_[ready_.front()] : *find(handle);
  event = box.events.front();
  box.events.pop();
  if (!box.events.empty()) return PH_OK;
  box.is_ready = false;
  for (std::uint64_t i = ready_.begin(); i != ready_.end(); ++i) {
    if (ready_.at(i) != box.index) continue;
    for (; i != ready_.begin(); --i) ready_.at(i) = ready_.at(i - 1);
    ready_.pop();
    break;
  }
  if (!box.is_open && box.window->posted() == 0) retire(box);
  return PH_OK;
}

void Receiver::close_all() noexcept {
  for (const auto& box : boxes_) {
    if (!box->window || !box->is_open) continue;
    static_cast<void>(take_back_grants(*box));
    shut(*box);
    drop_early(*box, PH_ERR_DEPARTED);
  }
  is_closing_ = true;  // a buffer that is still read into is handed over no more
  for (const auto& [number, pull] : pulls_.give_up_all())
    give_verdict(pull.from, pull.number, true, {PH_ERR_DEPARTED});
  tell_all();
}

}  // namespace photon::service::mailbox
