#include "converse/run/leaving.hpp"

#include <unistd.h>

#include <cstring>
#include <optional>

#include "converse/run/process.hpp"
#include "converse/run/schedule.hpp"

namespace photon::converse {

// A PE tells PE 0 this when it leaves, and all PEs are told this when the job is over.
struct Word {
  std::int32_t status;
  std::uint32_t pe;  // who leaves
};

// PE 0 keeps here what it knows of the end; the other PEs use the numbers of the handlers alone.
struct Leaving {
  std::uint32_t on_leave = 0;
  std::uint32_t on_over = 0;
  std::uint32_t on_halt = 0;
  std::uint32_t have_left = 0;  // PEs
  Word first{0, 0};             // the word of the lowest PE with a status that is not 0
};

namespace {

constexpr const char* kExit = "ConverseExit";

Leaving& leaving_of(Pe& pe) noexcept { return *static_cast<Leaving*>(pe.parts.leaving); }

void say(Pe& pe, std::uint32_t to, const Word& word, std::uint32_t handler) noexcept {
  ph_task_message* message = nullptr;
  require(pe, kExit, ph_task_alloc(pe.task, sizeof word, &message));
  std::memcpy(ph_task_body(message), &word, sizeof word);
  ph_task_set_handler(message, handler);
  require(pe, kExit, ph_task_send(pe.task, to, message));
}

Word take_word(Pe& pe, ph_task_message* message) noexcept {
  Word word{};
  if (ph_task_size(message) == sizeof word) std::memcpy(&word, ph_task_body(message), sizeof word);
  require(pe, kExit, ph_task_free(pe.task, message));
  return word;
}

// Nothing that could be said is of use to anybody any more.
[[noreturn]] void end_process(Pe& pe, int status) noexcept {
  const ph_status ended = ph_finalize(pe.context);
  if (ended != PH_OK && status == 0) {
    ph_error error{};
    ph_last_error(pe.context, &error);
    std::fprintf(stderr, "Converse: ConverseExit: %s\n", error.text);
    status = EXIT_FAILURE;
  }
  std::exit(status);
}

// The lane of this PE is not used any more.
[[noreturn]] void halt(Pe& pe) noexcept {
  {
    const std::scoped_lock lock(pe.process->lock);
    ++pe.process->halted;
  }
  pe.process->has_halted.notify_one();
  for (;;) ::pause();
}

// Until then they pass on messages for others, so they serve their lanes.
void await_halts(Pe& pe) noexcept {
  std::uint32_t siblings = 0;
  {
    const std::scoped_lock lock(pe.process->lock);
    siblings = static_cast<std::uint32_t>(pe.process->has_left.size()) - 1;
  }
  const std::uint32_t own = pe.place.pe;
  for (std::uint32_t i = 1; i <= siblings; ++i) say(pe, own + i, {0, own}, leaving_of(pe).on_halt);
  std::unique_lock lock(pe.process->lock);
  pe.process->has_halted.wait(lock, [&] { return pe.process->halted == siblings; });
}

[[noreturn]] void serve_until_halt(Pe& pe) noexcept {
  require(pe, kExit, ph_task_skip_barriers(pe.task));
  while (ph_task_run(pe.task, -1, nullptr) == PH_OK) {
  }
  halt(pe);  // inside a function that may not run messages
}

// This PE has heard that the job is over.
[[noreturn]] void end(Pe& pe, int heard) noexcept {
  pe.is_leaving = true;
  int status = 0;
  {
    const std::scoped_lock lock(pe.process->lock);
    std::optional<int>& ended_with = pe.process->ended_with;
    if (!ended_with) ended_with = heard;
    status = *ended_with;
  }
  if (pe.place.rank != 0) serve_until_halt(pe);
  // A process that has met this one in a barrier of the program has left before.
  const ph_status met = ph_task_barrier(pe.task);
  if (met != PH_ERR_DEPARTED) require(pe, kExit, met);
  await_halts(pe);
  end_process(pe, status);
}

// No function of the program is called on this PE any more.
void begin_leaving(Pe& pe) noexcept {
  pe.is_leaving = true;
  const std::scoped_lock lock(pe.process->lock);
  pe.process->has_left[pe.place.rank] = true;
}

// To each PE itself: another that should pass it on may be in a barrier.
[[noreturn]] void end_job(Pe& pe, int status) noexcept {
  begin_leaving(pe);
  for (std::uint32_t to = 0; to < pe.place.pes; ++to)
    if (to != pe.place.pe) say(pe, to, {status, pe.place.pe}, leaving_of(pe).on_over);
  end(pe, status);
}

std::optional<int> heard(Pe& pe) noexcept {
  const std::scoped_lock lock(pe.process->lock);
  return pe.process->ended_with;
}

[[noreturn]] void wait_for_end(Pe& pe) noexcept {
  for (;;) require(pe, kExit, ph_task_run(pe.task, -1, nullptr));
}

// A process leaves when the job is over, and has told this PE so, which has not looked yet.
void on_departed(Pe& pe) noexcept {
  begin_leaving(pe);
  if (const std::optional<int> status = heard(pe)) end(pe, *status);
  while (ph_task_run(pe.task, -1, nullptr) == PH_OK) {
  }
  end(pe, 0);  // inside a function that may not run messages
}

// On PE 0.
void on_leave(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  ++pe.own_tasks;
  Leaving& leaving = leaving_of(pe);
  const Word word = take_word(pe, message);
  ++leaving.have_left;
  if (word.status != 0 && (leaving.first.status == 0 || word.pe < leaving.first.pe))
    leaving.first = word;
  if (leaving.have_left == pe.place.pes) end_job(pe, leaving.first.status);
}

// On all.
void on_over(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  end(pe, take_word(pe, message).status);
}

// On those above the first of a process.
void on_halt(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  take_word(pe, message);
  halt(pe);
}

}  // namespace

void start_leaving(Pe& pe) {
  auto* const leaving = new Leaving;
  pe.parts.leaving = leaving;
  leaving->on_leave = enroll(pe, on_leave);
  leaving->on_over = enroll(pe, on_over);
  leaving->on_halt = enroll(pe, on_halt);
  pe.on_departed = on_departed;
}

void heed_end(Pe& pe) noexcept {
  if (const std::optional<int> status = heard(pe)) end(pe, *status);
}

void leave(Pe& pe, int status) noexcept {
  begin_leaving(pe);
  say(pe, 0, {status, pe.place.pe}, leaving_of(pe).on_leave);
  wait_for_end(pe);
}

}  // namespace photon::converse

void ConverseExit(int status) { photon::converse::leave(photon::converse::here(__func__), status); }

void CmiExit(int status) { photon::converse::end_job(photon::converse::here(__func__), status); }
