#include "stream/streams.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

using photon::stream::Kind;
using photon::stream::Message;

namespace {

constexpr std::uint32_t kBacklog = 64;

// When a wait of so many microseconds ends; far away stands for never.
ph_streams::Clock::time_point end_of(std::int64_t timeout_us) {
  constexpr std::int64_t kLongestUs = std::int64_t{1} << 50;  // 36 years
  return ph_streams::Clock::now() + std::chrono::microseconds(std::min(timeout_us, kLongestUs));
}

std::int64_t left_us(ph_streams::Clock::time_point end) {
  const auto left = end - ph_streams::Clock::now();
  return std::max<std::int64_t>(std::chrono::ceil<std::chrono::microseconds>(left).count(), 0);
}

photon::stream::Sizes sizes_of(const ph_streams_args& args) {
  photon::stream::Sizes sizes;
  if (args.buffer_bytes != 0) sizes.buffer_bytes = args.buffer_bytes;
  if (args.buffers != 0) sizes.buffers = args.buffers;
  return sizes;
}

}  // namespace

ph_streams::ph_streams(ph_context* context, const ph_streams_args& args, std::uint64_t carried_max)
    : place_{context, carried_max, sizes_of(args)},
      backlog_(args.backlog == 0 ? kBacklog : args.backlog) {
  error_.rank = PH_ANY_RANK;
}

ph_status ph_streams::wrong(ph_status status, ph_rank rank, const char* words) noexcept {
  error_.status = status;
  error_.native_errno = 0;
  error_.rank = rank;
  std::snprintf(error_.text, sizeof error_.text, "%s", words);
  return status;
}

ph_status ph_streams::told(ph_status status) noexcept {
  if (status >= PH_OK) return status;
  ph_error latest{};
  ph_last_error(place_.context, &latest);
  if (latest.status != status) return wrong(status, PH_ANY_RANK, ph_status_text(status));
  error_ = latest;
  return status;
}

// ---- ports

void ph_streams::post(ph_listener& listener, void* buffer) {
  const ph_mailbox_buffer args{sizeof args, buffer, kAskBytes, 0, nullptr, 0};
  // Without memory the port holds one less.
  static_cast<void>(ph_mailbox_post(place_.context, listener.box, &args));
}

ph_status ph_streams::listen(std::uint32_t port, ph_listener*& listener) {
  auto made = std::make_unique<ph_listener>(*this);
  made->memory = std::make_unique<std::byte[]>(backlog_ * kAskBytes);
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = photon::stream::port_address(port);
  args.threshold = 1;
  args.unit = PH_MAILBOX_OPERATIONS;
  args.placing = PH_MAILBOX_MANAGED;
  args.source = PH_ANY_RANK;
  listeners_.push_back(std::move(made));
  ph_listener& ours = *listeners_.back();
  if (const ph_status status = ph_mailbox_open(place_.context, &args, &ours.box); status != PH_OK) {
    listeners_.pop_back();
    return told(status);
  }
  for (std::size_t i = 0; i < backlog_; ++i) post(ours, ours.memory.get() + i * kAskBytes);
  listener = &ours;
  return PH_OK;
}

// Nobody who has asked is left without an answer: those who came hear it here, the others from the
// mailbox, which is closed.
ph_status ph_streams::unlisten(ph_listener& listener) {
  static_cast<void>(ph_mailbox_close(place_.context, listener.box));
  ph_mailbox_event event{};
  while (ph_mailbox_take(place_.context, listener.box, &event) == PH_OK) {
    if (event.why != PH_MAILBOX_COMPLETE) continue;
    const auto asked = photon::stream::decode(
        {static_cast<const std::byte*>(event.data), static_cast<std::size_t>(event.size_bytes)});
    if (asked.has_value() && asked->kind == Kind::connect) refuse(event.from, *asked);
  }
  listeners_.remove_if([&](const auto& one) { return one.get() == &listener; });
  return PH_OK;
}

// It fits into a line, so it is copied in the call; that it does not arrive is its peer's end.
void ph_streams::refuse(ph_rank rank, const Message& asked) {
  Message message;
  message.kind = Kind::refuse;
  const photon::stream::Encoded encoded = encode(message);
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = asked.address;
  args.source = encoded.bytes().data();
  args.size_bytes = encoded.bytes().size();
  args.epoch = PH_ANY_EPOCH;
  args.incarnation = asked.incarnation;
  args.flags = PH_NO_LCE;
  static_cast<void>(ph_mailbox_append(place_.context, rank, &args));
}

// ---- ends

std::unique_ptr<ph_stream> ph_streams::made(ph_rank peer, ph_status& status) {
  constexpr int kTries = 1000;  // other streams of this lane may have the number
  auto stream = std::make_unique<ph_stream>(*this, place_, peer);
  for (int i = 0; i < kTries; ++i) {
    status = stream->end.open(photon::stream::end_address(next_number_++));
    if (status != PH_ERR_STATE) break;
  }
  return stream;
}

ph_status ph_streams::connect(ph_rank rank, std::uint32_t port, ph_stream*& stream) {
  ph_status status = PH_OK;
  open_.push_back(made(rank, status));
  ph_stream& ours = *open_.back();
  if (status == PH_OK) status = ours.end.connect(port);
  if (status == PH_OK) {
    stream = &ours;
    return PH_OK;
  }
  const ph_status said = told(status);
  static_cast<void>(close(ours));
  return said;
}

ph_status ph_streams::close(ph_stream& stream) {
  stream.end.begin_close();
  const auto found =
      std::ranges::find_if(open_, [&](const auto& one) { return one.get() == &stream; });
  closing_.splice(closing_.end(), open_, found);
  turn();
  return PH_OK;
}

void ph_streams::close_all() {
  while (!listeners_.empty()) static_cast<void>(unlisten(*listeners_.front()));
  while (!open_.empty()) static_cast<void>(close(*open_.front()));
}

ph_status ph_streams::close_within(std::int64_t timeout_us) noexcept {
  const auto end = end_of(timeout_us);
  const std::scoped_lock lock(mutex);
  close_all();
  for (;;) {
    turn();
    if (closing_.empty()) return PH_OK;
    const std::int64_t left = std::min(left_us(end), kSliceUs);
    if (left == 0)
      return wrong(PH_TIMEOUT, closing_.front()->end.peer(),
                   "streams_close: a peer has not taken all that was sent to it");
    if (!closing_.front()->end.wait_request(left)) std::this_thread::yield();
  }
}

void ph_streams::turn() {
  closing_.remove_if([](const auto& one) { return one->end.is_over(); });
}

// ---- accepting

// PH_AGAIN: what came was no connection.
ph_status ph_streams::answer(ph_listener& listener, const ph_mailbox_event& event,
                             ph_stream*& stream) {
  if (event.why != PH_MAILBOX_COMPLETE) return PH_AGAIN;
  const auto asked = photon::stream::decode(
      {static_cast<const std::byte*>(event.data), static_cast<std::size_t>(event.size_bytes)});
  post(listener, event.data);
  if (!asked.has_value() || asked->kind != Kind::connect) return PH_AGAIN;
  ph_status status = PH_ERR_MEMORY;
  try {
    open_.push_back(made(event.from, status));
    ph_stream& ours = *open_.back();
    if (status == PH_OK) {
      ours.end.accept(*asked);
      stream = &ours;
      return PH_OK;
    }
    static_cast<void>(close(ours));
  } catch (const std::bad_alloc&) {
    status = PH_ERR_MEMORY;
  }
  refuse(event.from, *asked);
  return wrong(status, event.from,
               "stream_accept: a connection was refused, for its end could not be made");
}

ph_status ph_streams::accept(ph_listener& listener, ph_stream*& stream, std::int64_t timeout_us) {
  const auto end = end_of(timeout_us);
  for (;;) {
    ph_mailbox_event event{};
    const ph_status status =
        timeout_us == 0 ? ph_mailbox_take(place_.context, listener.box, &event)
                        : ph_mailbox_wait(place_.context, listener.box, &event, left_us(end));
    const std::scoped_lock lock(mutex);
    turn();
    if (status != PH_OK) return told(status);
    const ph_status answered = answer(listener, event, stream);
    if (answered != PH_AGAIN) return answered;
  }
}

// ---- waiting

// An event of the end is taken, or the time is over.
void ph_streams::lead(std::unique_lock<std::mutex>& lock, End& end, std::int64_t timeout_us) {
  end.is_led = true;
  lock.unlock();
  ph_mailbox_event event{};
  const ph_status status = ph_mailbox_wait(place_.context, end.box(), &event, timeout_us);
  lock.lock();
  end.is_led = false;
  if (status == PH_OK) end.take(event);
  changed_.notify_all();
}

ph_status ph_streams::wait(ph_stream& stream, std::uint32_t wanted, std::uint32_t& ready,
                           std::int64_t timeout_us) {
  const auto end = end_of(timeout_us);
  std::unique_lock lock(mutex);
  for (;;) {
    turn();
    stream.end.turn();
    ready = stream.end.ready() & wanted;
    if (ready != 0) return PH_OK;
    const std::int64_t slice = stream.end.is_short ? kShortUs : kSliceUs;
    const std::int64_t left = std::min(left_us(end), slice);
    if (left == 0) return PH_TIMEOUT;
    stream.end.is_short = false;
    if (stream.end.is_led)
      changed_.wait_for(lock, std::chrono::microseconds(left));
    else
      lead(lock, stream.end, left);
  }
}
