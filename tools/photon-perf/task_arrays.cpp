#include "task_arrays.hpp"

#include <fmt/core.h>
#include <photon/task_collect.h>

#include <cstring>

#include "clock.hpp"
#include "contents.hpp"
#include "means.hpp"
#include "ping_pong.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

enum ArrayHandler : std::uint32_t {
  kArrayLeft,
  kArrayCome,
  kArrayReady,
  kArrayOffer,
  kArrayPacked
};

struct ArrayCard {
  ph_task_descriptor source;
  ph_task_descriptor landing;
};

// Of two PEs of a process the second one's object stands behind the first one's.
TaskArrays& arrays_of(const ph_task_pe* pe, void* user) {
  auto* const first = static_cast<TaskArrays*>(user);
  return first->pe() == pe ? *first : first[1];
}

}  // namespace

std::vector<ph_task_handler> TaskArrays::handlers() {
  return {on_left, on_come, on_ready, on_offer, on_packed};
}

void TaskArrays::join(ph_task_pe* pe, std::uint32_t other_pe) noexcept {
  pe_ = pe;
  other_pe_ = other_pe;
}

ph_task_buffer TaskArrays::make(std::byte* base, std::uint32_t registration,
                                std::uint32_t deregistration) {
  ph_task_buffer_args args{};
  args.size = sizeof args;
  args.address = base;
  args.size_bytes = buffers_->size_bytes;
  args.registration = registration;
  args.deregistration = deregistration;
  args.source_done = kArrayLeft;
  args.destination_done = kArrayCome;
  ph_task_buffer buffer = 0;
  TaskPes::check(pe_, ph_task_buffer_make(pe_, &args, &buffer));
  return buffer;
}

void TaskArrays::lend(Team& team, const Buffers& buffers, std::uint32_t registration) {
  team_ = &team;
  buffers_ = &buffers;
  source_ = make(buffers.source, registration, PH_TASK_NODEREG);
  landing_ = make(buffers.landing[0], registration, PH_TASK_NODEREG);
  ArrayCard mine{};
  TaskPes::check(pe_, ph_task_buffer_describe(pe_, source_, &mine.source));
  TaskPes::check(pe_, ph_task_buffer_describe(pe_, landing_, &mine.landing));
  team.exchange(mine);
  const auto theirs = team.card_of<ArrayCard>(team.other());
  peer_source_ = theirs.source;
  peer_landing_ = theirs.landing;
}

void TaskArrays::take_back() {
  team_->barrier();
  for (const auto buffer : {source_, landing_})
    TaskPes::check(pe_, ph_task_buffer_free(pe_, buffer));
}

void TaskArrays::run_until(const std::uint64_t& met, std::uint64_t wanted) {
  for (;;) {
    if (failed_ != PH_OK) [[unlikely]]
      throw Failure(fmt::format("an operation on a buffer of {} bytes has ended with {}",
                                buffers_->size_bytes, ph_status_text(failed_)));
    if (met >= wanted) return;
    TaskPes::check(pe_, ph_task_run(pe_, 1, nullptr));
  }
}

// `is_lent`: the source is the library's until its source-done.
template <class Send>
Outcome TaskArrays::exchange(std::uint64_t round_trips, bool is_lent, Send send) {
  Contents contents(*buffers_, team_->index());
  begin(*team_);
  const auto left_before = left_;
  const auto come_before = come_;
  auto outcome = half_trips(*team_, contents, round_trips,
                            PingPong{[&](std::uint64_t number) {
                                       if (is_lent) run_until(left_, left_before + number - 1);
                                       contents.write(buffers_->source, number);
                                     },
                                     [&](std::uint64_t) { send(); },
                                     [&](std::uint64_t number) {
                                       run_until(come_, come_before + number);
                                       contents.read(buffers_->landing[0], number);
                                     }});
  const auto total = batches_for(round_trips).total();
  if (is_lent) run_until(left_, left_before + total);
  contents.expect_all(total);
  team_->barrier_while([this] { TaskPes::check(pe_, ph_task_run(pe_, 0, nullptr)); });
  return outcome;
}

Outcome TaskArrays::put(std::uint64_t round_trips) {
  return exchange(round_trips, true,
                  [this] { TaskPes::check(pe_, ph_task_put(pe_, source_, &peer_landing_)); });
}

Outcome TaskArrays::get(std::uint64_t round_trips) {
  return exchange(round_trips, true, [this] {
    TaskPes::check(pe_, ph_task_send(pe_, other_pe_, TaskPes::make(pe_, kArrayReady, 0)));
  });
}

void TaskArrays::give_back_once() {
  if (once_ != 0) TaskPes::check(pe_, ph_task_buffer_free(pe_, once_));
  once_ = 0;
}

Outcome TaskArrays::offer(std::uint64_t round_trips, bool is_made_each_time) {
  const auto outcome = exchange(round_trips, true, [this, is_made_each_time] {
    give_back_once();
    if (is_made_each_time) once_ = make(buffers_->source, PH_TASK_REG, PH_TASK_DEREG);
    ph_task_message* const message = TaskPes::make(pe_, kArrayOffer, sizeof(ph_task_descriptor));
    auto* const descriptor = static_cast<ph_task_descriptor*>(ph_task_body(message));
    TaskPes::check(pe_, ph_task_buffer_describe(pe_, once_ != 0 ? once_ : source_, descriptor));
    TaskPes::check(pe_, ph_task_send(pe_, other_pe_, message));
  });
  give_back_once();
  return outcome;
}

// The owner of the source, for each get.
void TaskArrays::let_be_read(std::uint64_t count, bool from_barrier) {
  Contents contents(*buffers_, team_->index());
  const auto left_before = left_;
  for (std::uint64_t number = 1; number <= count; ++number) {
    contents.write(buffers_->source, number);
    team_->area().means[1].ready[0].line.flag.store_release(number);
    if (from_barrier) TaskPes::check(pe_, ph_task_barrier(pe_));
    run_until(left_, left_before + number);
  }
}

Outcome TaskArrays::get_each(std::uint64_t count, bool from_barrier) {
  begin(*team_);
  Outcome outcome;
  if (team_->index() != 0) {
    let_be_read(count, from_barrier);
  } else {
    const auto& ready = team_->area().means[1].ready[0].line.flag;
    Contents contents(*buffers_, team_->index());
    const auto come_before = come_;
    for (std::uint64_t number = 1; number <= count; ++number) {
      while (ready.load_acquire() != number) TaskPes::check(pe_, ph_task_run(pe_, 0, nullptr));
      const auto start_ns = now_ns();
      fetch(peer_source_);
      run_until(come_, come_before + number);
      contents.read(buffers_->landing[0], number);
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns));
      if (from_barrier) TaskPes::check(pe_, ph_task_barrier(pe_));
    }
    contents.expect_all(count);
  }
  team_->barrier_while([this] { TaskPes::check(pe_, ph_task_run(pe_, 0, nullptr)); });
  return outcome;
}

Outcome TaskArrays::pack(std::uint64_t round_trips) {
  return exchange(round_trips, false, [this] {
    ph_task_message* const message = TaskPes::make(pe_, kArrayPacked, buffers_->size_bytes);
    std::memcpy(ph_task_body(message), buffers_->source, buffers_->size_bytes);
    TaskPes::check(pe_, ph_task_send(pe_, other_pe_, message));
  });
}

void TaskArrays::take_done(ph_task_message* message) {
  const auto& done = *static_cast<const ph_task_done*>(ph_task_body(message));
  if (done.status != PH_OK) failed_ = done.status;
  static_cast<void>(ph_task_free(pe_, message));
}

void TaskArrays::on_left(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& self = arrays_of(pe, user);
  self.take_done(message);
  ++self.left_;
}

void TaskArrays::on_come(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& self = arrays_of(pe, user);
  self.take_done(message);
  ++self.come_;
}

void TaskArrays::fetch(const ph_task_descriptor& source) {
  const auto status = ph_task_get(pe_, landing_, &source);
  if (status != PH_OK) failed_ = status;
}

void TaskArrays::on_ready(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& self = arrays_of(pe, user);
  static_cast<void>(ph_task_free(pe, message));
  self.fetch(self.peer_source_);
}

void TaskArrays::on_offer(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& self = arrays_of(pe, user);
  self.fetch(*static_cast<const ph_task_descriptor*>(ph_task_body(message)));
  static_cast<void>(ph_task_free(pe, message));
}

void TaskArrays::on_packed(ph_task_pe* pe, ph_task_message* message, void* user) {
  auto& self = arrays_of(pe, user);
  std::memcpy(self.buffers_->landing[0], ph_task_body(message), ph_task_size(message));
  static_cast<void>(ph_task_free(pe, message));
  ++self.come_;
}

}  // namespace photon::perf
