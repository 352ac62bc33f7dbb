/**
 * These are the types that programs give and get in sends of typed arguments. Include
 * <photon/task.hpp>.
 */
#ifndef PHOTON_TASK_TYPES_HPP
#define PHOTON_TASK_TYPES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "task.h"

namespace photon::tasks {

/** The first parameter of a handler or landing function that wants to know it. */
struct From {
  std::uint32_t pe;
};

/** A send that ends without its handler. Both sides hear of it: Tasks::on_failure(). */
struct Failure {
  ph_status status;
  std::uint32_t pe;      /**< The other side. */
  std::uint32_t handler; /**< Its number. */
  bool is_sender;        /**< This PE has sent it. */
};

/** A value of such a type travels as its bytes. */
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                !std::is_reference_v<T>;

/** An argument that is read where it lies: zero_copy(). */
template <Plain T>
struct ZeroCopy {
  std::span<const T> data;
  std::function<void()> released; /**< May be empty. */
};

/**
 * Send these elements from where they lie. They must not be changed, nor their memory be freed,
 * until they are released: then `released` runs on this PE, once, as a task and never inside the
 * call. A program that needs no such word may know by an answer of the handler that it was run.
 */
template <std::ranges::contiguous_range R>
  requires std::ranges::borrowed_range<R>
[[nodiscard]] auto zero_copy(R &&elements, std::function<void()> released = {}) {
  using T = std::ranges::range_value_t<R>;
  return ZeroCopy<T>{{std::ranges::data(elements), std::ranges::size(elements)},
                     std::move(released)};
}

/** Names a zero-copy argument that waits for its memory; plain data, of one PE. */
template <Plain T>
struct Ticket {
  std::uint64_t arrival = ~std::uint64_t{0};
  std::uint32_t argument = 0;
  std::size_t count = 0; /**< Elements. */
};

namespace detail {

inline constexpr std::uint32_t kNoHandler = PH_TASK_NO_HANDLER;

/** One zero-copy argument at its target.
 *
 *   come -- into() --> named -----+--> landing --> landed
 *        -- nothing --> runtime's +       |
 *        -- later() --> later -- post() --+--> landed (it was packed)
 *        -- refuse() --> refused --> failed
 *        -- drop(), too small, its bytes cannot be got --> failed
 */
struct Argument {
  enum class State : std::uint8_t { come, named, later, refused, landing, landed, failed };

  std::byte *data = nullptr;   /**< Where its elements go. */
  std::byte *packed = nullptr; /**< Where they lie in the message. */
  std::uint64_t size_bytes = 0;
  std::uint64_t room_bytes = 0;    /**< Of what was named. */
  ph_task_message *held = nullptr; /**< The runtime's. */
  ph_task_buffer buffer = 0;
  ph_task_descriptor source{}; /**< If it was offered. */
  std::uint64_t offer = 0;     /**< The same. */
  bool is_offered = false;
  bool was_begun = false; /**< Then the sender hears of its end by a done. */
  State state = State::come;
};

template <class P>
struct ParameterOf {
  using Type = std::remove_cvref_t<P>;
  static constexpr bool kIsSpan = false;
  static constexpr std::size_t kElementBytes = 0;
  static_assert(Plain<Type>, "arguments of handlers are spans and trivially copyable values");
};
template <class E>
struct ParameterOf<std::span<E>> {
  using Type = std::span<std::remove_const_t<E>>;
  static constexpr bool kIsSpan = true;
  static constexpr std::size_t kElementBytes = sizeof(E);
  static_assert(Plain<std::remove_const_t<E>>, "elements travel as their bytes");
  static_assert(alignof(E) <= 64, "elements lie at multiples of 64 bytes");
};
template <class P>
using Parameter = ParameterOf<std::remove_cvref_t<P>>;

/** The arguments of a callable; its first parameter may be a From. */
template <class... Ps>
struct Parameters {
  using Types = std::tuple<typename Parameter<Ps>::Type...>;
  static constexpr bool kHasFrom = false;
};
template <class First, class... Ps>
  requires std::same_as<std::remove_cvref_t<First>, From>
struct Parameters<First, Ps...> {
  using Types = std::tuple<typename Parameter<Ps>::Type...>;
  static constexpr bool kHasFrom = true;
};

template <class F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <class... Ps>
struct SignatureOf<void (*)(Ps...)> : Parameters<Ps...> {};
template <class... Ps>
struct SignatureOf<void (*)(Ps...) noexcept> : Parameters<Ps...> {};
template <class C, class... Ps>
struct SignatureOf<void (C::*)(Ps...)> : Parameters<Ps...> {};
template <class C, class... Ps>
struct SignatureOf<void (C::*)(Ps...) const> : Parameters<Ps...> {};
template <class C, class... Ps>
struct SignatureOf<void (C::*)(Ps...) noexcept> : Parameters<Ps...> {};
template <class C, class... Ps>
struct SignatureOf<void (C::*)(Ps...) const noexcept> : Parameters<Ps...> {};

/** Equal for equal lists of types, in programs of one C++ ABI: FNV-1a of their names and sizes. */
class TypesHash {
 public:
  template <class T>
  void add() noexcept {
    mix(Parameter<T>::kIsSpan ? 's' : 'v');
    for (const char *name = typeid(T).name(); *name != '\0'; ++name)
      mix(static_cast<unsigned char>(*name));
    for (std::size_t size = sizeof(T) + 256 * Parameter<T>::kElementBytes; size != 0; size /= 256)
      mix(size % 256);
  }
  [[nodiscard]] std::uint32_t value() const noexcept {
    return static_cast<std::uint32_t>(hash_ ^ hash_ >> 32);
  }

 private:
  void mix(std::uint64_t byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001b3U; }
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

template <class... Ts>
std::uint32_t hash_of_types() noexcept {
  TypesHash hash;
  (hash.template add<Ts>(), ...);
  return hash.value();
}

}  // namespace detail

/** A handler that was registered: Tasks::on(). Copies are the same. */
template <class... Ts>
class Handler {
 public:
  Handler() = default; /**< Of nothing: a send to it is refused. */
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

 private:
  friend class Tasks;
  Handler(std::uint32_t number, std::uint32_t hash) : number_(number), hash_(hash) {}
  std::uint32_t number_ = detail::kNoHandler;
  std::uint32_t hash_ = 0;
};

/** In the place of a span: where a landing function says where its elements go. */
template <Plain T>
class Room {
 public:
  Room(detail::Argument &argument, std::uint64_t arrival, std::uint32_t index) noexcept
      : argument_(&argument), arrival_(arrival), index_(index) {}

  /** Elements that come. */
  [[nodiscard]] std::size_t size() const noexcept { return argument_->size_bytes / sizeof(T); }
  /** Into this memory, which is the library's until the handler runs. If it is smaller nothing of
   * the whole send is moved, and it fails with PH_ERR_RANGE. */
  void into(std::span<T> memory) noexcept {
    if (!is_open()) return;
    argument_->data = reinterpret_cast<std::byte *>(memory.data());
    argument_->room_bytes = memory.size_bytes();
    argument_->state = detail::Argument::State::named;
  }
  /** Tasks::post() or Tasks::drop() will say it, once. */
  [[nodiscard]] Ticket<T> later() noexcept {
    if (is_open()) argument_->state = detail::Argument::State::later;
    return {arrival_, index_, size()};
  }
  /** The send fails with PH_ERR_NO_BUFFER. */
  void refuse() noexcept {
    if (is_open()) argument_->state = detail::Argument::State::refused;
  }

 private:
  [[nodiscard]] bool is_open() const noexcept {
    return argument_->state == detail::Argument::State::come ||
           argument_->state == detail::Argument::State::named;
  }
  detail::Argument *argument_;
  std::uint64_t arrival_;
  std::uint32_t index_;
};

}  // namespace photon::tasks

#endif
