/**
 * What handlers of active messages are given: the message, a part of its payload, and a place to
 * choose. Include photon.hpp.
 */
#ifndef PHOTON_AM_HANDLERS_HPP
#define PHOTON_AM_HANDLERS_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "am.h"
#include "memory.hpp"
#include "types.hpp"

namespace photon {

/** What goes with a payload: {.header = bytes, .flags = PH_AM_REPLY, .request = &request}. */
struct With {
  std::span<const std::byte> header = {};
  std::uint64_t immediate = 0;
  std::uint32_t flags = 0; /**< PH_DELIVERED, PH_AM_REPLY, PH_AM_MAY_WAIT. */
  Id local = {};           /**< Neither this nor a request: PH_NO_LCE. */
  ph_request *request = nullptr;
};

/** An object that is sent as it is, copied by the call. */
template <class T>
concept SmallValue = Plain<T> && !std::ranges::range<T> && sizeof(T) <= PH_AM_SMALL_BYTES;

namespace detail {

inline ph_am_args am_args(std::uint32_t id, std::span<const std::byte> payload,
                          const With &with) noexcept {
  ph_am_args args = {};
  args.size = sizeof args;
  args.id = id;
  args.flags = with.flags;
  if (with.local.is_none() && with.request == nullptr) args.flags |= PH_NO_LCE;
  args.header = with.header.data();
  args.header_bytes = with.header.size();
  args.immediate = with.immediate;
  args.payload = payload.data();
  args.payload_bytes = payload.size();
  args.local = with.local.c_id();
  args.request = with.request;
  return args;
}

template <class T>
std::span<const std::byte> bytes_of(const T &value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}

// `size_bytes` at `data` as whole elements.
template <class T, class Void>
auto elements_at(Void *data, std::uint64_t size_bytes) noexcept {
  static_assert(alignof(T) <= 8, "messages are at multiples of 8 bytes");
  const auto count = data == nullptr ? 0 : static_cast<std::size_t>(size_bytes) / sizeof(T);
  return std::span(static_cast<T *>(data), count);
}

}  // namespace detail

/** A message, as its handlers see it. It means something only until its handler returns. */
class Message {
 public:
  explicit Message(const ph_am_message &message) noexcept : message_(&message) {}
  Message(const Message &) = delete;
  Message &operator=(const Message &) = delete;

  [[nodiscard]] const ph_am_message &c_message() const noexcept { return *message_; }
  [[nodiscard]] Rank source() const noexcept { return message_->source; }
  [[nodiscard]] std::uint32_t id() const noexcept { return message_->id; }
  [[nodiscard]] std::uint64_t immediate() const noexcept { return message_->immediate; }
  [[nodiscard]] bool wants_reply() const noexcept { return (message_->flags & PH_AM_REPLY) != 0; }
  [[nodiscard]] bool is_reply() const noexcept { return (message_->flags & PH_AM_IS_REPLY) != 0; }
  /** Of the whole payload, whether it is here or not. */
  [[nodiscard]] std::uint64_t payload_bytes() const noexcept { return message_->payload_bytes; }
  /** Not so: the payload comes when a landing is named. */
  [[nodiscard]] bool is_here() const noexcept {
    return message_->payload != nullptr || message_->payload_bytes == 0;
  }

  /** The header as whole elements; empty in a completion handler. */
  template <Plain T = std::byte>
  [[nodiscard]] std::span<const T> header() const noexcept {
    return detail::elements_at<const T>(message_->header, message_->header_bytes);
  }
  /** The payload as whole elements, if it is here. */
  template <Plain T = std::byte>
  [[nodiscard]] std::span<const T> payload() const noexcept {
    return detail::elements_at<const T>(message_->payload, message_->payload_bytes);
  }
  /** The payload as one object; none if it is not here or has another size. */
  template <Plain T>
  [[nodiscard]] std::optional<T> value() const noexcept {
    if (message_->payload == nullptr || message_->payload_bytes != sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, message_->payload, sizeof value);
    return value;
  }

  /**
   * ph_am_reply(), its status: a source that is gone does not end who answers it. A handler may
   * return it.
   */
  template <PlainRange R>
  ph_status reply(std::uint32_t id, R &&payload, const With &with = {}) const {
    return reply_bytes(id, std::as_bytes(std::span(payload)), with);
  }
  template <SmallValue T>
  ph_status reply(std::uint32_t id, const T &value, const With &with = {}) const {
    return reply_bytes(id, detail::bytes_of(value), with);
  }

 private:
  ph_status reply_bytes(std::uint32_t id, std::span<const std::byte> payload,
                        const With &with) const {
    const ph_am_args args = detail::am_args(id, payload, with);
    return ph_am_reply(message_, &args);
  }

  const ph_am_message *message_;
};

/** What a completion handler is told of: ph_am_part. */
class Part {
 public:
  explicit Part(const ph_am_part &part) noexcept : part_(&part) {}
  Part(const Part &) = delete;
  Part &operator=(const Part &) = delete;

  /** PH_OK, or why the rest will not come. */
  [[nodiscard]] ph_status status() const noexcept { return part_->status; }
  [[nodiscard]] bool is_last() const noexcept { return part_->is_last != 0; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return part_->offset; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return part_->size_bytes; }
  /** Where it lies, as whole elements; empty where the landing has several blocks. */
  template <Plain T = std::byte>
  [[nodiscard]] std::span<T> data() const noexcept {
    return detail::elements_at<T>(part_->data, part_->size_bytes);
  }

 private:
  const ph_am_part *part_;
};

/** A completion handler of a landing. */
template <class F>
concept PartHandler = std::invocable<F &, const Message &, const Part &>;

namespace detail {

// Calls a handler; one that returns nothing is content.
template <class F, class... Arguments>
ph_status status_of(F &handler, const Arguments &...arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<F &, const Arguments &...>>) {
    handler(arguments...);
    return PH_OK;
  } else {
    return handler(arguments...);
  }
}

// A completion handler from its naming to its last call. Handlers of one lane never run at the same
// time, so the list of them has no lock. What is left when a lane closes goes with its Handler.
struct OpenLanding {
  using List = std::list<std::unique_ptr<OpenLanding>>;
  OpenLanding() = default;
  OpenLanding(const OpenLanding &) = delete;
  OpenLanding &operator=(const OpenLanding &) = delete;
  virtual ~OpenLanding() = default;
  virtual ph_status run(const Message &message, const Part &part) = 0;

  static ph_status arrived(void *argument, const ph_am_message *message, const ph_am_part *part) {
    auto *const open = static_cast<OpenLanding *>(argument);
    const ph_status status = open->run(Message(*message), Part(*part));
    if (part->is_last != 0) open->home->erase(open->place);
    return status;
  }

  List *home = nullptr;
  List::iterator place = {};
};

template <PartHandler F>
struct OpenLandingOf final : OpenLanding {
  explicit OpenLandingOf(F wanted) : done(std::move(wanted)) {}
  ph_status run(const Message &message, const Part &part) override {
    return status_of(done, message, part);
  }
  F done;
};

}  // namespace detail

namespace detail {
struct Registered;
}

/**
 * Where a payload shall land: ph_am_landing, filled by one of these. The memory is the library's
 * until `done` was called with the last part; `done` is copied or moved, and goes then.
 */
class Landing {
 public:
  Landing(ph_am_landing &landing, detail::OpenLanding::List &open) noexcept
      : landing_(&landing), open_(&open) {}
  Landing(const Landing &) = delete;
  Landing &operator=(const Landing &) = delete;

  [[nodiscard]] ph_am_landing &c_landing() noexcept { return *landing_; }

  /** Into a buffer, of which `done` is told when all is there, or for each chunk of so many bytes.
   */
  template <PlainRange R, PartHandler F>
  void into(R &&buffer, F &&done, std::uint64_t chunk_bytes = 0) {
    set_buffer(std::as_writable_bytes(std::span(buffer)), chunk_bytes, 0);
    name(std::forward<F>(done));
  }
  /** Nobody is told when it is there: the sender hears by PH_DELIVERED, quiesce() waits for it. */
  template <PlainRange R>
  void into(R &&buffer) {
    set_buffer(std::as_writable_bytes(std::span(buffer)), 0, 0);
    forget();
  }
  /** PH_AM_CYCLE: into a ring of whole chunks, which may be smaller than the payload. */
  template <PlainRange R, PartHandler F>
  void into_ring(R &&ring, std::uint64_t chunk_bytes, F &&done) {
    set_buffer(std::as_writable_bytes(std::span(ring)), chunk_bytes, PH_AM_CYCLE);
    name(std::forward<F>(done));
  }
  /** Into several blocks, one behind the other. The list of them may go when the handler returns.
   */
  template <PartHandler F>
  void into_blocks(std::span<const ph_block> blocks, F &&done, std::uint64_t chunk_bytes = 0) {
    set_buffer({}, chunk_bytes, 0);
    landing_->blocks = blocks.data();
    landing_->blocks_count = static_cast<std::uint32_t>(blocks.size());
    name(std::forward<F>(done));
  }
  /** PH_AM_DROP: the payload is not wanted. */
  void drop() {
    set_buffer({}, 0, PH_AM_DROP);
    forget();
  }

 private:
  friend struct detail::Registered;

  void forget() noexcept {
    if (named_ != nullptr) open_->erase(named_->place);
    named_ = nullptr;
    landing_->done = nullptr;
    landing_->argument = nullptr;
  }
  void set_buffer(std::span<std::byte> buffer, std::uint64_t chunk_bytes,
                  std::uint32_t flags) noexcept {
    landing_->flags = flags;
    landing_->buffer = buffer.data();
    landing_->buffer_bytes = buffer.size();
    landing_->blocks = nullptr;
    landing_->blocks_count = 0;
    landing_->chunk_bytes = chunk_bytes;
  }

  template <class F>
  void name(F &&done) {
    forget();
    using Open = detail::OpenLandingOf<std::decay_t<F>>;
    open_->push_front(std::make_unique<Open>(std::forward<F>(done)));
    named_ = open_->front().get();
    named_->home = open_;
    named_->place = open_->begin();
    landing_->done = &detail::OpenLanding::arrived;
    landing_->argument = named_;
  }

  ph_am_landing *landing_;
  detail::OpenLanding::List *open_;
  detail::OpenLanding *named_ = nullptr;
};

/** A header handler: it takes the message alone, or chooses a landing as well. */
template <class F>
concept MessageHandler =
    std::invocable<F &, const Message &, Landing &> || std::invocable<F &, const Message &>;

namespace detail {

struct Registered {
  Registered() = default;
  Registered(const Registered &) = delete;
  Registered &operator=(const Registered &) = delete;
  virtual ~Registered() = default;
  virtual ph_status run(const Message &message, Landing &landing) = 0;

  static ph_status arrived(void *user, const ph_am_message *message, ph_am_landing *c_landing) {
    auto &self = *static_cast<Registered *>(user);
    Landing landing(*c_landing, self.open);
    const ph_status status = self.run(Message(*message), landing);
    if (status != PH_OK) landing.forget();  // it is ignored: `done` is never called
    return status;
  }

  OpenLanding::List open;
};

template <MessageHandler F>
struct RegisteredOf final : Registered {
  explicit RegisteredOf(F wanted) : handler(std::move(wanted)) {}
  ph_status run(const Message &message, Landing &landing) override {
    if constexpr (std::invocable<F &, const Message &, Landing &>) {
      const auto call = [&](const Message &one) { return handler(one, landing); };
      return status_of(call, message);
    } else {
      return status_of(handler, message);
    }
  }
  F handler;
};

}  // namespace detail

}  // namespace photon

#endif
