/**
 * Photon for C++20: RAII, spans and exceptions over the C interface. Header-only; every function is
 * an inline call of the ph_ function it names, whose comment holds the full promise.
 *
 * Three kinds of outcome: success; back-pressure and time-outs, which are return values (false, an
 * empty optional) because the caller goes on; errors, which are thrown as photon::Error.
 *
 *   photon::Context context({.options = {{"ledger_slots", "128"}}});
 *   auto memory = context.allocate<double>(1000);
 *   const auto regions = context.allgather(memory.region());
 *   while (!context.put(peer, values, photon::at<double>(regions[peer], 10), {.remote = 7}))
 *     (void)context.probe_one(photon::kLocal);  // back-pressure: nothing was sent; this makes room
 *   context.wait(photon::kRemote);
 *   while (const auto news = context.probe_one(photon::kRemote)) handle(news->id);
 */
#ifndef PHOTON_PHOTON_HPP
#define PHOTON_PHOTON_HPP

#if __cplusplus < 202002L
#error "photon.hpp needs C++20: -std=c++20, or target_compile_features(... cxx_std_20)"
#endif

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "types.hpp"

namespace photon {

/** Settings by name and the caller's own way to find the ranks; see ph_config. */
struct Config {
  std::vector<std::pair<std::string, std::string>> options = {};
  const ph_bootstrap *bootstrap = nullptr; /**< Read during construction and collectives. */
};

namespace detail {

/** Rounded up, so that a wait is never shorter than asked; what does not fit is for ever. */
template <class Rep, class Period>
std::int64_t microseconds(std::chrono::duration<Rep, Period> time) {
  using Double = std::chrono::duration<double, std::micro>;
  if (std::chrono::duration_cast<Double>(time).count() > 9e18) return PH_FOREVER;
  const auto count = std::chrono::ceil<std::chrono::microseconds>(time).count();
  return count > 0 ? count : 0;
}

inline ph_query c_query(const Query &query) noexcept {
  return {query.peer, query.kinds, query.id_buffer.data()};
}

template <Word T>
constexpr ph_type type_of() noexcept {
  if (std::same_as<T, float>) return PH_FLOAT;
  if (std::same_as<T, double>) return PH_DOUBLE;
  constexpr bool is_signed = std::is_signed_v<T>;
  if (sizeof(T) == 4) return is_signed ? PH_INT32 : PH_UINT32;
  return is_signed ? PH_INT64 : PH_UINT64;
}

inline bool are_numbers(const Ids &ids) noexcept {
  return ids.local.is_number() && ids.remote.is_number() && ids.request == nullptr;
}

inline std::uint32_t flags_of(const Ids &ids, std::uint32_t flags) noexcept {
  if (ids.local.is_none() && ids.request == nullptr) flags |= PH_NO_LCE;
  if (ids.remote.is_none()) flags |= PH_NO_RCE;
  return flags;
}

}  // namespace detail

/**
 * One rank's membership in a job. Move-only; the destructor finalizes (within the setting
 * finalize_timeout_ms) and destroys. Registrations and allocations may outlive it harmlessly; what
 * puts read must live until their local ids were probed or finalize() returned, so declare buffers
 * before the context.
 * Threads: as the C functions: any number on one context, but for construction, move, destruction.
 */
class Context {
 public:
  /** ph_context_create(): the launcher's job, the bootstrap's, or a job of one rank. */
  explicit Context(const Config &config = {}) {
    std::vector<ph_option> options;
    for (const auto &[name, value] : config.options)
      options.push_back({name.c_str(), value.c_str()});
    const ph_config c_config = {sizeof c_config, config.bootstrap, options.data(), options.size()};
    ph_context *context = nullptr;
    ph_error error = {};
    if (const ph_status status = ph_context_create(&c_config, &context, &error); status != PH_OK) {
      error.status = status;
      throw Error(error);
    }
    handle_ = detail::Handle(context, &ph_context_destroy);
  }

  Context(Context &&) noexcept = default;
  Context &operator=(Context &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Context() {
    if (handle_ != nullptr) ph_finalize(handle_.get());
  }

  /** For calls of the C interface on the same context. */
  [[nodiscard]] ph_context *c_context() const noexcept { return handle_.get(); }
  [[nodiscard]] Rank rank() const noexcept { return ph_rank_of(c_context()); }
  [[nodiscard]] std::uint32_t size() const noexcept { return ph_size_of(c_context()); }

  /** ph_finalize(), to see its outcome; false: peers did not take all in time. */
  bool finalize() { return check(ph_finalize(c_context())); }

  /** ph_register(). */
  template <PlainRange R>
  [[nodiscard]] Registration register_memory(R &&memory, std::uint32_t access = PH_ACCESS_ALL) {
    static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>);
    const std::span bytes = std::as_writable_bytes(std::span(memory));
    Region region = {};
    check(ph_register(c_context(), bytes.data(), bytes.size(), access, &region));
    return {handle_, region};
  }

  /** ph_alloc() of `count` zeroed elements. */
  template <Plain T>
  [[nodiscard]] Allocation<T> allocate(std::size_t count) {
    static_assert(alignof(T) <= 64, "ph_alloc() aligns to 64 bytes");
    constexpr std::size_t kMaxCount = static_cast<std::size_t>(-1) / sizeof(T);
    if (count > kMaxCount) throw Error({PH_ERR_MEMORY, 0, kAnyRank, "allocate: size overflows"});
    Region region = {};
    check(ph_alloc(c_context(), count * sizeof(T), &region));
    return {handle_, region};
  }

  /**
   * ph_put(): write `source` at `target` of `rank`. False: nothing was sent, probe and call again.
   * The source must stay unchanged until its local id is probed; with 8-byte ids and no flags this
   * is the fast path ph_put_u64().
   */
  template <PlainRange R>
  [[nodiscard]] bool put(Rank rank, R &&source, Target target, const Ids &ids,
                         std::uint32_t flags = 0) {
    const auto bytes = std::as_bytes(std::span(source));
    if (flags == 0 && detail::are_numbers(ids))
      return check(ph_put_u64(c_context(), rank, {bytes.data(), bytes.size()}, target,
                              {ids.local.number(), ids.remote.number()}));
    const ph_put_args args = {sizeof args,
                              bytes.data(),
                              bytes.size(),
                              target,
                              ids.local.c_id(),
                              ids.remote.c_id(),
                              detail::flags_of(ids, flags),
                              ids.request};
    return check(ph_put(c_context(), rank, &args));
  }

  /** A notification: a put of nothing. False: nothing was sent, probe and call again. */
  [[nodiscard]] bool notify(Rank rank, const Id &remote) {
    if (remote.is_number()) return check(ph_notify(c_context(), rank, remote.number()));
    return put(rank, std::span<const std::byte>(), Target{}, {.remote = remote});
  }

  /** ph_get(): read `source` of `rank` into `destination`. False: nothing was started. */
  template <PlainRange R>
  [[nodiscard]] bool get(Rank rank, R &&destination, Target source, const Ids &ids,
                         std::uint32_t flags = 0) {
    const auto bytes = std::as_writable_bytes(std::span(destination));
    if (flags == 0 && detail::are_numbers(ids))
      return check(ph_get_u64(c_context(), rank, {bytes.data(), bytes.size()}, source,
                              {ids.local.number(), ids.remote.number()}));
    const ph_get_args args = {sizeof args,
                              bytes.data(),
                              bytes.size(),
                              source,
                              ids.local.c_id(),
                              ids.remote.c_id(),
                              detail::flags_of(ids, flags),
                              ids.request};
    return check(ph_get(c_context(), rank, &args));
  }

  /** ph_atomic(): change a word of `rank`. False: nothing was started, probe and call again. */
  template <Word T>
  [[nodiscard]] bool atomic(Rank rank, const Change<T> &change, const Ids &ids) {
    ph_atomic_args args = {};
    args.size = sizeof args;
    args.target = change.target;
    args.op = change.op;
    args.type = detail::type_of<T>();
    std::memcpy(&args.operand, &change.operand, sizeof change.operand);
    std::memcpy(&args.compare, &change.compare, sizeof change.compare);
    args.fetched = change.fetched;
    args.local = ids.local.c_id();
    args.remote = ids.remote.c_id();
    args.flags = detail::flags_of(ids, 0);
    args.request = ids.request;
    return check(ph_atomic(c_context(), rank, &args));
  }

  /** ph_probe(): advance everything; the part of `storage` that was filled. */
  [[nodiscard]] std::span<Completion> probe(std::span<Completion> storage,
                                            const Query &query = {}) {
    std::size_t count = 0;
    check(ph_probe(c_context(), detail::c_query(query), storage.data(), storage.size(), &count));
    return storage.first(count);
  }

  /** ph_probe() for at most one. */
  [[nodiscard]] std::optional<Completion> probe_one(const Query &query = {}) {
    Completion completion = {};
    if (probe({&completion, 1}, query).empty()) return std::nullopt;
    return completion;
  }

  /**
   * ph_probe_each(): `handler(const Completion&)` for each completion found; how many there were.
   * An exception of the handler is thrown on from here, after the other completions of this call
   * were handed over too: each exists only once.
   */
  template <std::invocable<const Completion &> F>
  std::size_t probe_each(F &&handler, const Query &query = {}) {
    struct Call {
      std::remove_reference_t<F> *handler;
      std::exception_ptr thrown;
    } call = {std::addressof(handler), nullptr};
    const auto invoke = [](void *user, const Completion *completion) noexcept {
      Call &self = *static_cast<Call *>(user);
      try {
        (*self.handler)(*completion);
      } catch (...) {
        if (self.thrown == nullptr) self.thrown = std::current_exception();
      }
    };
    std::size_t count = 0;
    const ph_status status =
        ph_probe_each(c_context(), detail::c_query(query), invoke, &call, &count);
    if (call.thrown != nullptr) std::rethrow_exception(call.thrown);
    check(status);
    return count;
  }

  /** ph_wait(): sleep until a probe would find something; false: the time ran out. */
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout, const Query &query = {}) {
    return check(ph_wait(c_context(), detail::c_query(query), detail::microseconds(timeout)));
  }

  /** ph_wait() without a limit. */
  void wait(const Query &query = {}) {
    check(ph_wait(c_context(), detail::c_query(query), PH_FOREVER));
  }

  /** ph_test(): whether it is over, taken then; an operation that failed throws its error. */
  [[nodiscard]] bool test(ph_request &request) {
    return check(ph_test(c_context(), &request, nullptr));
  }

  /** ph_wait_request(): true when it is over, taken then; false: the time ran out. */
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout, ph_request &request) {
    return check(ph_wait_request(c_context(), &request, nullptr, detail::microseconds(timeout)));
  }

  /** ph_wait_request() without a limit. */
  void wait(ph_request &request) {
    check(ph_wait_request(c_context(), &request, nullptr, PH_FOREVER));
  }

  /** ph_cancel(). */
  [[nodiscard]] ph_outcome cancel(ph_request &request) {
    ph_outcome outcome = PH_TOO_LATE;
    check(ph_cancel(c_context(), &request, &outcome));
    return outcome;
  }

  /** ph_fence(): what was put to `rank` before is written before what follows; false: try again. */
  [[nodiscard]] bool fence(Rank rank) { return check(ph_fence(c_context(), rank)); }

  /** ph_flush(): true when all puts to `rank` landed; false: not in this time, call again. */
  template <class Rep, class Period>
  [[nodiscard]] bool flush(Rank rank, std::chrono::duration<Rep, Period> timeout) {
    return check(ph_flush(c_context(), rank, detail::microseconds(timeout)));
  }

  /** ph_allgather() of one object of at most 64 KiB, in rank order. Collective. */
  template <Plain T>
  [[nodiscard]] std::vector<T> allgather(const T &mine) {
    std::vector<T> all(size());
    check(ph_allgather(c_context(), &mine, all.data(), sizeof(T)));
    return all;
  }

  /** ph_barrier(). Collective. */
  void barrier() { check(ph_barrier(c_context())); }

 private:
  bool check(ph_status status) const { return detail::check(c_context(), status); }

  detail::Handle handle_;
};

}  // namespace photon

#endif
