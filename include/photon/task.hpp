/**
 * Tasks for C++ programs: sends of typed arguments, large ones from where they lie
 * (docs/tasks.md, "For programs"). A layer over <photon/task.h>; links libphoton_task.
 *
 *   photon::tasks::Tasks tasks(pe);
 *   const auto on_row = tasks.on(
 *       [&](photon::tasks::Room<double> row, int block) { row.into(halo_of(block)); },
 *       [&](std::span<double> row, int block) { compute(block, row); });
 *   tasks.agree();
 *   tasks.send(peer, on_row, photon::tasks::zero_copy(edge, [&] { --unsent; }), 7);
 *
 * A handler gets the values of a send, and a span for each of its zero_copy arguments. A landing
 * function stands before it and gets the same values, and a Room in the place of each span. It says
 * where the elements go: into memory of the program now, or later() by post(). What it says nothing
 * of, and all if there is none, lies in memory of the runtime, at a multiple of 64, until the
 * handler returns. Whether elements were packed into the message or read where they lie makes no
 * difference to any of this. Nobody registers memory.
 *
 * Order: a handler runs when all its elements are there. So between sends with zero_copy arguments,
 *         and between these and others, there is none.
 * Errors: a status, and ph_task_error() has the words. A send that was accepted and whose handler
 *         cannot be run is told to both sides, on_failure(). If the target's process is lost, the
 *         sender hears of spans that were offered, once for each, and of packed sends nothing.
 * Threads: that of the PE. An exception that leaves a function which is called here ends the
 *         process, as any that leaves a handler.
 */
#ifndef PHOTON_TASK_HPP
#define PHOTON_TASK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "task_entries.hpp"
#include "task_landings.hpp"
#include "task_sources.hpp"
#include "task_types.hpp"
#include "task_ways.hpp"

namespace photon::tasks {

/**
 * The typed sends of one PE. Each PE makes one, before it registers handlers of its own, and
 * registers the same functions in the same order. It is destroyed before ph_task_end(); spans that
 * are not released then are the program's again when all PEs have ended. No tasks are run on the PE
 * after it is destroyed.
 */
class Tasks {
 public:
  explicit Tasks(ph_task_pe *pe) : core_(pe), sources_(core_), landings_(core_) {
    enroll<&detail::Sources::take_done>(sources_, core_.own.source_done);
    enroll<&detail::Landings::take_done>(landings_, core_.own.destination_done);
    enroll<&detail::Sources::take_released>(sources_, core_.own.released);
    enroll<&detail::Sources::take_refused>(sources_, core_.own.refused);
    enroll<&detail::Landings::take_ready>(landings_, core_.own.ready);
    note(ph_task_register(pe, &Tasks::take_answer, this, &core_.own.answer));
    enroll<&detail::Sources::take_lost>(sources_, core_.own.lost);
  }
  Tasks(const Tasks &) = delete;
  Tasks &operator=(const Tasks &) = delete;

  [[nodiscard]] ph_task_pe *pe() const noexcept { return core_.pe; }
  [[nodiscard]] const ph_task_place &place() const noexcept { return core_.place; }

  /** Register a handler: a callable with one signature. */
  template <class F>
  auto on(F handler) {
    return add<detail::NoLanding>(detail::NoLanding{}, std::move(handler));
  }
  /** The same with a landing function, which takes a Room for each span of the handler. */
  template <class L, class F>
  auto on(L landing, F handler) {
    return add<L>(std::move(landing), std::move(handler));
  }

  /** After all handlers: ph_task_agree(). Says also what a registration has failed with. */
  [[nodiscard]] ph_status agree() {
    return registered_ != PH_OK ? registered_ : ph_task_agree(core_.pe);
  }

  /**
   * Run a handler on a PE with these arguments: a zero_copy() for each of its spans, and values
   * that convert to the others.
   * Status: PH_ERR_ARGUMENT (a handler of nothing, elements at null), PH_ERR_STATE (another thread
   *         than the PE's), as ph_task_send() and ph_task_alloc(). Of an error nothing was
   *         sent, and no span is read or released.
   */
  template <class... Ts, class... As>
  ph_status send(std::uint32_t to, Handler<Ts...> handler, As &&...arguments) {
    static_assert(sizeof...(Ts) == sizeof...(As), "as many arguments as the handler has");
    using Types = detail::Arguments<Ts...>;
    std::array<std::byte, Types::kValuesBytes + 1> values;
    std::array<detail::Given, Types::kSpans + 1> given;
    std::tuple<detail::Kept<Ts, As>...> kept(std::forward<As>(arguments)...);
    Types::fill(kept, values.data(), given.data());
    return sources_.send({to, handler.number_, handler.hash_, {values.data(), Types::kValuesBytes}},
                         {given.data(), Types::kSpans});
  }

  /**
   * Give an argument its memory. The handler runs when all are there, never inside this call.
   * Status: PH_ERR_RANGE (it is smaller; nothing was moved and the ticket holds), PH_ERR_NOT_FOUND
   *         (the ticket was used, or its send has failed), PH_ERR_MEMORY.
   */
  template <Plain T>
  ph_status post(const Ticket<T> &ticket, std::span<T> memory) {
    return landings_.post(ticket.arrival, ticket.argument, std::as_writable_bytes(memory));
  }
  /** Give none: the send fails with PH_ERR_NO_BUFFER. Status: PH_ERR_NOT_FOUND, PH_ERR_MEMORY. */
  template <Plain T>
  ph_status drop(const Ticket<T> &ticket) {
    return landings_.drop(ticket.arrival, ticket.argument);
  }

  /** Sends that were accepted and not run, on both sides; without a function, a line to stderr. */
  void on_failure(std::function<void(const Failure &)> function) {
    core_.on_failure = std::move(function);
  }
  /** Spans of this PE that are not released: those offered, and those packed with a word. */
  [[nodiscard]] std::uint64_t unreleased() const noexcept { return sources_.open(); }

  /** Elements for this PE are read where they lie from so many bytes on, as learnt so far; 0 if
   * there is no such PE. */
  [[nodiscard]] std::uint64_t threshold(std::uint32_t pe) {
    if (pe >= core_.place.pes) return 0;
    return core_.ways.threshold(core_.process_of(pe));
  }
  /** All that was learnt of its process, by size; nothing if there is no such PE. */
  [[nodiscard]] std::vector<Learnt> learnt(std::uint32_t pe) {
    if (pe >= core_.place.pes) return {};
    return core_.ways.learnt(core_.process_of(pe));
  }
  /** The threshold is this from now on, and nothing is learnt. */
  void fix_threshold(std::uint64_t bytes) noexcept { core_.ways.fix(bytes); }

 private:
  template <class L, class F>
  auto add(L landing, F handler) {
    using Made = detail::EntryOf<L, F>;
    auto made = std::make_unique<Made>(landings_, std::move(landing), std::move(handler));
    note(ph_task_register(core_.pe, &Made::take, made.get(), &made->number));
    const auto known = handler_of(*made, static_cast<typename Made::Types *>(nullptr));
    entries_.push_back(std::move(made));
    return known;
  }
  template <class... Ts>
  static Handler<Ts...> handler_of(const detail::Entry &entry, std::tuple<Ts...> * /*types*/) {
    return {entry.number, entry.hash};
  }

  template <auto kTake, class Side>
  void enroll(Side &side, std::uint32_t &number) {
    const ph_task_handler handler = [](ph_task_pe * /*pe*/, ph_task_message *message, void *user) {
      (static_cast<Side *>(user)->*kTake)(message);
    };
    note(ph_task_register(core_.pe, handler, &side, &number));
  }
  static void take_answer(ph_task_pe *pe, ph_task_message *message, void *user) {
    std::uint32_t number = 0;
    if (ph_task_size(message) == sizeof number)
      std::memcpy(&number, ph_task_body(message), sizeof number);
    const std::uint32_t from = ph_task_source(message);
    (void)ph_task_free(pe, message);
    static_cast<Tasks *>(user)->core_.ways.end(number, from);
  }
  void note(ph_status status) noexcept {
    if (registered_ == PH_OK) registered_ = status;
  }

  detail::Core core_;
  detail::Sources sources_;
  detail::Landings landings_;
  std::vector<std::unique_ptr<detail::Entry>> entries_;
  ph_status registered_ = PH_OK;
};

}  // namespace photon::tasks

#endif
