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

#include "arguments.hpp"
#include "lane.hpp"
#include "memory.hpp"
#include "types.hpp"

namespace photon {

/**
 * One rank's membership in a job, and its lane 0. Move-only; the destructor finalizes (within the
 * setting finalize_timeout_ms) and destroys. Registrations and allocations may outlive it
 * harmlessly; what puts read must live until their local ids were probed or finalize() returned, so
 * declare buffers before the context, and lanes after it.
 */
class Context : public Lane {
 public:
  /** ph_context_create(): the launcher's job, the bootstrap's, or a job of one rank. */
  explicit Context(const Config &config = {}) : Lane(nullptr, nullptr) {
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
    handle_ = context_ = detail::Handle(context, &ph_context_destroy);
  }

  Context(Context &&) noexcept = default;
  Context &operator=(Context &&) noexcept = default;
  ~Context() {
    if (handle_ != nullptr) ph_finalize(handle_.get());
  }

  /** ph_lane_open(): another lane of this rank; its destructor, or finalize(), closes it. */
  [[nodiscard]] Lane lane(std::uint32_t number) {
    ph_context *opened = nullptr;
    check(ph_lane_open(c_context(), number, &opened));
    return {detail::Handle(opened, detail::CloseLane{context_}), context_};
  }

  /** ph_finalize(), to see its outcome; false: peers did not take all in time. */
  bool finalize() { return check(ph_finalize(c_context())); }

  /** ph_map(): memory of `rank` as an array of T. Empty: it has not met us yet, probe first. */
  template <Plain T>
  [[nodiscard]] std::optional<Mapped<T>> map(Rank rank, const Region &region) {
    void *local = nullptr;
    if (!check(ph_map(c_context(), rank, &region, &local))) return std::nullopt;
    const std::span<T> all(static_cast<T *>(local), region.size_bytes / sizeof(T));
    return Mapped<T>(context_, all);
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
};

}  // namespace photon

#endif
