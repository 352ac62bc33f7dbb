/**
 * A lane of a context: what threads post, probe and wait by. Include photon.hpp.
 */
#ifndef PHOTON_LANE_HPP
#define PHOTON_LANE_HPP

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "am.hpp"
#include "collectives.hpp"
#include "memory.hpp"
#include "transfers.hpp"
#include "types.hpp"

namespace photon {

/**
 * Rings, queues and order of its own: ph_lane_open(), Context::lane(). Move-only; the destructor
 * closes it, as ph_lane_close() does. Registrations and allocations may outlive it: they are its
 * context's. A Context is its own lane 0.
 * Threads: as the C functions: any number on one lane, but for construction, move, destruction.
 */
class Lane : public Transfers {
 public:
  Lane(Lane &&) noexcept = default;
  Lane &operator=(Lane &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Lane() = default;

  [[nodiscard]] Rank rank() const noexcept { return ph_rank_of(c_context()); }
  [[nodiscard]] std::uint32_t size() const noexcept { return ph_size_of(c_context()); }
  [[nodiscard]] std::uint32_t number() const noexcept { return ph_lane_of(c_context()); }

  /** ph_lane_close(), to see its outcome; false: peers did not take all in time. Of a lane only. */
  bool close() {
    ph_context *const lane = handle_.get();
    auto *const closing = std::get_deleter<detail::CloseLane>(handle_);
    if (closing == nullptr) return check(ph_lane_close(lane));
    closing->is_closed = true;
    handle_.reset();
    return detail::check(context_.get(), ph_lane_close(lane));
  }

  /** ph_contact(): meet `rank` without sending anything, so that its end is told here. */
  void contact(Rank rank) { check(ph_contact(c_context(), rank)); }

  /** ph_peer_state(): what is known of `rank` now. */
  [[nodiscard]] ph_contact_state peer_state(Rank rank) const {
    ph_contact_state state = PH_PEER_UNKNOWN;
    check(ph_peer_state(c_context(), rank, &state));
    return state;
  }

  /** ph_team_world(): all ranks, whose collectives this lane makes progress for. */
  [[nodiscard]] Team world() {
    ph_team *team = nullptr;
    check(ph_team_world(c_context(), &team));
    return {handle_, team, true};
  }

  /** Active messages of this lane: am.hpp. */
  [[nodiscard]] Messages messages() const { return Messages(handle_); }

  /** ph_register(). */
  template <PlainRange R>
  [[nodiscard]] Registration register_memory(R &&memory, std::uint32_t access = PH_ACCESS_ALL) {
    static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>);
    const std::span bytes = std::as_writable_bytes(std::span(memory));
    Region region = {};
    check(ph_register(c_context(), bytes.data(), bytes.size(), access, &region));
    return {context_, region};
  }

  /** ph_alloc() of `count` zeroed elements. */
  template <Plain T>
  [[nodiscard]] Allocation<T> allocate(std::size_t count) {
    static_assert(alignof(T) <= 64, "ph_alloc() aligns to 64 bytes");
    constexpr std::size_t kMaxCount = static_cast<std::size_t>(-1) / sizeof(T);
    if (count > kMaxCount) throw Error({PH_ERR_MEMORY, 0, kAnyRank, "allocate: size overflows"});
    Region region = {};
    check(ph_alloc(c_context(), count * sizeof(T), &region));
    return {context_, region};
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

  /** ph_wake(): a wait() that sleeps, or the next one, returns. */
  void wake() { check(ph_wake(c_context())); }

  /** ph_event_fd(): the descriptor to wait for. The library's. */
  [[nodiscard]] int event_fd() {
    int fd = -1;
    check(ph_event_fd(c_context(), &fd));
    return fd;
  }

  /** ph_event_arm(); false: something has come, so look at all first. */
  [[nodiscard]] bool event_arm() { return check(ph_event_arm(c_context())); }

  /** ph_progress_start(), ph_progress_stop(). */
  void progress_start() { check(ph_progress_start(c_context())); }
  void progress_stop() { check(ph_progress_stop(c_context())); }

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

  /** ph_count(): begin or stop counting. */
  void count(bool on) { check(ph_count(c_context(), on ? 1 : 0)); }

  /** ph_counters() of one peer, or of all together and the rank itself. */
  [[nodiscard]] std::vector<ph_counter> counters(Rank rank = kAnyRank) const {
    std::size_t count = 0;
    check(ph_counters(c_context(), rank, nullptr, 0, &count));
    std::vector<ph_counter> found(count);
    check(ph_counters(c_context(), rank, found.data(), found.size(), &count));
    return found;
  }

  /** ph_coll_counters(): what was done, by kind and algorithm. */
  [[nodiscard]] std::vector<ph_coll_counter> coll_counters() const {
    std::size_t count = 0;
    check(ph_coll_counters(c_context(), nullptr, 0, &count));
    std::vector<ph_coll_counter> found(count);
    check(ph_coll_counters(c_context(), found.data(), found.size(), &count));
    found.resize(count < found.size() ? count : found.size());
    return found;
  }

  /** ph_coll_choice(): by which algorithm it would be done; the sizes of both need not be set. */
  [[nodiscard]] ph_coll_answer coll_choice(ph_coll_question question) const {
    question.size = sizeof question;
    ph_coll_answer answer{};
    answer.size = sizeof answer;
    check(ph_coll_choice(c_context(), &question, &answer));
    return answer;
  }

 protected:
  using Transfers::Transfers;

  friend class Context;
};

}  // namespace photon

#endif
