/**
 * Active messages (am.h) for C++. Include photon.hpp.
 *
 *   photon::Messages messages = context.messages();
 *   std::uint64_t sum = 0;
 *   const photon::Handler add = messages.on(1, [&](const photon::Message &message) {
 *     sum += message.value<std::uint64_t>().value_or(0);
 *   });
 *   context.barrier();  // all have registered theirs
 *   while (!messages.send(peer, 1, std::uint64_t{42})) (void)messages.poll();
 *   messages.quiesce();
 *
 * A handler is a callable that takes the message, and a Landing where it wants one; it returns
 * nothing, or a ph_status. A completion handler takes the message and a Part. What am.h says of
 * handlers holds for both: an exception that leaves one ends the process, so what a handler sends
 * or registers is called in a try block where it may fail; Message::reply() says a status.
 */
#ifndef PHOTON_AM_HPP
#define PHOTON_AM_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "am.h"
#include "am_handlers.hpp"
#include "arguments.hpp"
#include "memory.hpp"
#include "types.hpp"

namespace photon {

/**
 * A handler that is registered: ph_am_register(). Move-only; the destructor is ph_am_unregister(),
 * which waits until the handler and its completion handlers have ended. It must not run in a
 * handler of that lane: the process ends (std::terminate).
 */
class Handler {
 public:
  Handler() = default;
  Handler(Handler &&) noexcept = default;
  Handler &operator=(Handler &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(registered_, other.registered_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handler() {
    if (registered_ == nullptr || detail::is_closed(handle_)) return;
    if (ph_am_unregister(handle_.get(), id_) != PH_ERR_STATE) return;
    // A context that was finalized runs no handler any more; inside a handler the poll is allowed.
    if (ph_am_poll(handle_.get(), 0) != PH_ERR_STATE) std::terminate();
  }

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

 private:
  friend class Messages;
  Handler(detail::Handle handle, std::unique_ptr<detail::Registered> registered, std::uint32_t id)
      : handle_(std::move(handle)), registered_(std::move(registered)), id_(id) {}

  detail::Handle handle_;
  std::unique_ptr<detail::Registered> registered_;
  std::uint32_t id_ = 0;
};

/**
 * A span to be filled: ph_am_slot. Move-only; the destructor cancels it if it was not committed.
 * Everything that this rank sends to that one through the bulk ring waits for it: hold it briefly.
 */
class Slot {
 public:
  Slot(Slot &&other) noexcept
      : handle_(std::move(other.handle_)), slot_(std::exchange(other.slot_, {})) {}
  Slot &operator=(Slot &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Slot() { cancel(); }

  /** What may be written, as whole elements. */
  template <Plain T = std::byte>
  [[nodiscard]] std::span<T> data() const noexcept {
    static_assert(alignof(T) <= 64, "slots are at multiples of 64 bytes");
    return {static_cast<T *>(slot_.data), static_cast<std::size_t>(slot_.size_bytes) / sizeof(T)};
  }

  /** ph_am_commit() of the first so many bytes. False: nothing was sent, poll and call again. */
  [[nodiscard]] bool commit(std::uint32_t id, std::uint64_t size_bytes,
                            std::span<const std::byte> header = {}) {
    const ph_status status = ph_am_commit(&slot_, id, {header.data(), header.size()}, size_bytes);
    if (status != PH_AGAIN && status != PH_ERR_ARGUMENT) slot_ = {};  // closed
    return detail::check(handle_.get(), status);
  }

  /** ph_am_cancel(); nothing if it is closed. */
  void cancel() noexcept {
    if (slot_.data != nullptr && !detail::is_closed(handle_)) ph_am_cancel(&slot_);
    slot_ = {};
  }

 private:
  friend class Messages;
  Slot(detail::Handle handle, const ph_am_slot &slot) : handle_(std::move(handle)), slot_(slot) {}

  detail::Handle handle_;
  ph_am_slot slot_ = {};
};

/** The active messages of a lane: Lane::messages(). Copies are the same. */
class Messages {
 public:
  /** ph_am_register(): `handler`, copied or moved, runs for messages with that id. */
  template <class F>
    requires MessageHandler<std::decay_t<F>>
  [[nodiscard]] Handler on(std::uint32_t id, F &&handler) {
    using Made = detail::RegisteredOf<std::decay_t<F>>;
    std::unique_ptr<detail::Registered> made = std::make_unique<Made>(std::forward<F>(handler));
    check(ph_am_register(c_context(), id, &detail::Registered::arrived, made.get()));
    return {handle_, std::move(made), id};
  }

  /**
   * ph_am_send(), or ph_am_send_small(). False: nothing was sent, poll and call again. A payload
   * above `am_carried_max` bytes is lent: until the local completion, or, where nobody is told of
   * it, until quiesce() has returned.
   */
  template <PlainRange R>
  [[nodiscard]] bool send(Rank rank, std::uint32_t id, R &&payload) {
    const auto bytes = std::as_bytes(std::span(payload));
    if (bytes.size() <= PH_AM_SMALL_BYTES) return send_small(rank, id, bytes);
    return send(rank, id, payload, With{});
  }
  template <PlainRange R>
  [[nodiscard]] bool send(Rank rank, std::uint32_t id, R &&payload, const With &with) {
    const ph_am_args args = detail::am_args(id, std::as_bytes(std::span(payload)), with);
    return check(ph_am_send(c_context(), rank, &args));
  }
  template <SmallValue T>
  [[nodiscard]] bool send(Rank rank, std::uint32_t id, const T &value) {
    return send_small(rank, id, detail::bytes_of(value));
  }
  template <SmallValue T>
  [[nodiscard]] bool send(Rank rank, std::uint32_t id, const T &value, const With &with) {
    const ph_am_args args = detail::am_args(id, detail::bytes_of(value), with);
    return check(ph_am_send(c_context(), rank, &args));
  }

  /** ph_am_send() of blocks, one behind the other. False: nothing was sent. */
  [[nodiscard]] bool send_blocks(Rank rank, std::uint32_t id,
                                 std::span<const ph_const_block> blocks, const With &with = {}) {
    ph_am_args args = detail::am_args(id, {}, with);
    args.blocks = blocks.data();
    args.blocks_count = blocks.size();
    return check(ph_am_send(c_context(), rank, &args));
  }

  /** ph_am_prepare(): room for `least` to `most` bytes. None: a slot is open to that rank. */
  [[nodiscard]] std::optional<Slot> prepare(Rank rank, std::uint64_t least, std::uint64_t most) {
    ph_am_slot slot = {};
    if (!check(ph_am_prepare(c_context(), rank, least, most, &slot))) return std::nullopt;
    return Slot(handle_, slot);
  }

  /** ph_am_poll(): true if a handler ran. */
  bool poll() { return check(ph_am_poll(c_context(), 0)); }

  /** ph_am_poll() with PH_AM_VISIT: true if a handler ran; false also if somebody is inside. */
  bool visit() { return check(ph_am_poll(c_context(), PH_AM_VISIT)); }

  /** ph_am_quiesce() without a limit. */
  void quiesce() { check(ph_am_quiesce(c_context(), PH_FOREVER)); }

  /** ph_am_quiesce(); false: the time ran out, and the next call goes on with it. */
  template <class Rep, class Period>
  [[nodiscard]] bool quiesce_for(std::chrono::duration<Rep, Period> timeout) {
    return check(ph_am_quiesce(c_context(), detail::microseconds(timeout)));
  }

  /** ph_am_quiesce_begin(); false: nothing was begun, poll and call again. */
  [[nodiscard]] bool quiesce_begin(ph_request &request) {
    return check(ph_am_quiesce_begin(c_context(), &request));
  }

 private:
  friend class Lane;
  explicit Messages(detail::Handle handle) noexcept : handle_(std::move(handle)) {}

  ph_context *c_context() const noexcept { return handle_.get(); }
  bool check(ph_status status) const { return detail::check(handle_.get(), status); }
  bool send_small(Rank rank, std::uint32_t id, std::span<const std::byte> bytes) {
    return check(ph_am_send_small(c_context(), rank, id, {bytes.data(), bytes.size()}));
  }

  detail::Handle handle_;
};

}  // namespace photon

#endif
