/**
 * This header makes bytes of typed arguments, and arguments of bytes. Include <photon/task.hpp>.
 */
#ifndef PHOTON_TASK_ENTRIES_HPP
#define PHOTON_TASK_ENTRIES_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "task_landings.hpp"
#include "task_sources.hpp"
#include "task_types.hpp"

namespace photon::tasks::detail {

template <class T>
inline constexpr bool kIsSpan = Parameter<T>::kIsSpan;

/** A send keeps this of an argument: the value as the handler has it, or the ZeroCopy. */
template <class T, class A>
struct KeptOf {
  static_assert(std::convertible_to<A, T>, "an argument is not of the type that the handler has");
  using Type = T;
};
template <class E, class A>
struct KeptOf<std::span<E>, A> {
  using Type = ZeroCopy<E>;
  static_assert(std::same_as<std::remove_cvref_t<A>, Type>,
                "the handler has a span here: give zero_copy() of the same elements");
};
template <class T, class A>
using Kept = typename KeptOf<T, A>::Type;

/** The arguments of a handler: which of them are values, and where these lie. */
template <class... Ts>
struct Arguments {
  static constexpr std::size_t kCount = sizeof...(Ts);
  static constexpr std::size_t kSpans = (std::size_t{0} + ... + (kIsSpan<Ts> ? 1U : 0U));
  static constexpr std::size_t kValuesBytes =
      (std::size_t{0} + ... + (kIsSpan<Ts> ? 0U : sizeof(Ts)));
  static_assert(kSpans <= 0xffff && kValuesBytes <= 8 * 0xffff, "send a span in their place");

  /** Each argument has its number among the spans here, or where its value begins. */
  static constexpr std::array<std::size_t, kCount + 1> kPlaces = [] {
    std::array<std::size_t, kCount + 1> places{};
    constexpr std::array<bool, kCount + 1> is_span{kIsSpan<Ts>...};
    constexpr std::array<std::size_t, kCount + 1> sizes{sizeof(Ts)...};
    std::size_t spans = 0;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      places[i] = is_span[i] ? spans++ : bytes;
      if (!is_span[i]) bytes += sizes[i];
    }
    return places;
  }();

  template <class Kept>
  static void fill(Kept &kept, std::byte *values, Given *given) {
    fill(kept, values, given, std::make_index_sequence<kCount>{});
  }

 private:
  template <class Kept, std::size_t... kIs>
  static void fill([[maybe_unused]] Kept &kept, [[maybe_unused]] std::byte *values,
                   [[maybe_unused]] Given *given, std::index_sequence<kIs...>) {
    (put<kPlaces[kIs]>(std::get<kIs>(kept), values, given), ...);
  }
  template <std::size_t kPlace, class T>
  static void put(T &value, std::byte *values, Given * /*given*/) {
    std::memcpy(values + kPlace, &value, sizeof value);
  }
  template <std::size_t kPlace, class E>
  static void put(ZeroCopy<E> &span, std::byte * /*values*/, Given *given) {
    const std::span<const std::byte> bytes = std::as_bytes(span.data);
    given[kPlace].data = bytes.data();
    given[kPlace].size_bytes = bytes.size();
    given[kPlace].released = &span.released;
  }
};

/** In the place of a landing function: all elements go to memory of the runtime. */
struct NoLanding {};

template <class L, class F, class Types>
class TypedEntry;

template <class L, class F, class... Ts>
class TypedEntry<L, F, std::tuple<Ts...>> : public Entry {
 public:
  using Types = std::tuple<Ts...>;

  TypedEntry(Landings &all, L landing, F handler)
      : Entry(all), landing_(std::move(landing)), handler_(std::move(handler)) {
    hash = hash_of_types<Ts...>();
    values_bytes = Arguments<Ts...>::kValuesBytes;
    (note<Ts>(), ...);
  }
  static void take(ph_task_pe * /*pe*/, ph_task_message *message, void *user) {
    auto &own = *static_cast<TypedEntry *>(user);
    own.landings.take(own, message);
  }

  void run(const std::byte *values, std::span<Argument> arguments, From from) override {
    run(values, arguments, from, std::index_sequence_for<Ts...>{});
  }
  void land(const std::byte *values, Arrival &arrival) override {
    if constexpr (!std::same_as<L, NoLanding>)
      land(values, arrival, std::index_sequence_for<Ts...>{});
  }

 private:
  template <class T>
  void note() {
    if (kIsSpan<T>) element_bytes.push_back(Parameter<T>::kElementBytes);
  }
  template <class T, std::size_t kPlace>
  static T value_of(const std::byte *values, std::span<Argument> arguments) {
    if constexpr (kIsSpan<T>) {
      using E = typename T::element_type;
      const Argument &argument = arguments[kPlace];
      return {reinterpret_cast<E *>(argument.data), argument.size_bytes / sizeof(E)};
    } else {
      return read<T>(values, kPlace);
    }
  }
  template <std::size_t... kIs>
  void run([[maybe_unused]] const std::byte *values, [[maybe_unused]] std::span<Argument> arguments,
           [[maybe_unused]] From from, std::index_sequence<kIs...>) {
    if constexpr (SignatureOf<F>::kHasFrom)
      handler_(from, value_of<Ts, Arguments<Ts...>::kPlaces[kIs]>(values, arguments)...);
    else
      handler_(value_of<Ts, Arguments<Ts...>::kPlaces[kIs]>(values, arguments)...);
  }

  template <class T, std::size_t kPlace>
  static auto room_of(const std::byte *values, Arrival &arrival) {
    if constexpr (kIsSpan<T>)
      return Room<typename T::element_type>(arrival.arguments[kPlace], arrival.name, kPlace);
    else
      return read<T>(values, kPlace);
  }
  template <std::size_t... kIs>
  void land(const std::byte *values, Arrival &arrival, std::index_sequence<kIs...>) {
    const From from{arrival.from};
    if constexpr (std::invocable<L &, From,
                                 decltype(room_of<Ts, Arguments<Ts...>::kPlaces[kIs]>(values,
                                                                                      arrival))...>)
      landing_(from, room_of<Ts, Arguments<Ts...>::kPlaces[kIs]>(values, arrival)...);
    else
      landing_(room_of<Ts, Arguments<Ts...>::kPlaces[kIs]>(values, arrival)...);
  }

  L landing_;
  F handler_;
};

template <class L, class F>
using EntryOf = TypedEntry<L, F, typename SignatureOf<F>::Types>;

}  // namespace photon::tasks::detail

#endif
