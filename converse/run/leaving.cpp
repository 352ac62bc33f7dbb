#include "converse/run/leaving.hpp"

#include <unistd.h>

#include <cstring>
#include <optional>

#include "converse/run/process.hpp"
#include "converse/run/schedule.hpp"

namespace photon::converse {

// What a PE tells PE 0, and PE 0 all.
struct Word {
  std::int32_t status;
  std::uint32_t pe;       // who leaves
  std::uint32_t is_exit;  // CmiExit(): the job is over now
  std::uint32_t zero;
};

// What PE 0 knows of the end; on the others the numbers of handlers alone are used.
struct Leaving {
  std::uint32_t on_leave = 0;
  std::uint32_t on_over = 0;
  std::uint32_t have_left = 0;  // PEs
  Word first{0, 0, 0, 0};       // the word of the lowest PE with a status that is not 0
  bool is_over = false;         // and all are told
};

namespace {

Leaving& leaving_of(Pe& pe) noexcept { return *static_cast<Leaving*>(pe.parts.leaving); }

ph_task_message* make_word(Pe& pe, const Word& word, std::uint32_t handler) noexcept {
  ph_task_message* message = nullptr;
  require(pe, "ConverseExit", ph_task_alloc(pe.task, sizeof word, &message));
  std::memcpy(ph_task_body(message), &word, sizeof word);
  ph_task_set_handler(message, handler);
  return message;
}

Word take_word(Pe& pe, ph_task_message* message) noexcept {
  Word word{};
  if (ph_task_size(message) == sizeof word) std::memcpy(&word, ph_task_body(message), sizeof word);
  require(pe, "ConverseExit", ph_task_free(pe.task, message));
  return word;
}

[[noreturn]] void wait_for_end() noexcept {
  for (;;) ::pause();
}

// All PEs of the job are here: nothing that could be said is of use to anybody any more.
[[noreturn]] void end_process(Pe& pe, int status) noexcept {
  if (pe.place.rank != 0) wait_for_end();
  const ph_status ended = ph_finalize(pe.context);
  if (ended != PH_OK && status == 0) {
    ph_error error{};
    ph_last_error(pe.context, &error);
    std::fprintf(stderr, "Converse: ConverseExit: %s\n", error.text);
    status = EXIT_FAILURE;
  }
  std::exit(status);
}

// The PEs meet: after that all have heard that the job is over.
[[noreturn]] void meet_and_end(Pe& pe, int status) noexcept {
  pe.is_leaving = true;
  {
    const std::scoped_lock lock(pe.process->lock);
    pe.process->ended_with = status;
  }
  const ph_status met = ph_task_barrier(pe.task);
  // A process that has met others in a barrier of the program has left before this one.
  if (met != PH_ERR_DEPARTED) require(pe, "ConverseExit", met);
  end_process(pe, status);
}

void end_job(Pe& pe, const Word& word) noexcept {
  Leaving& leaving = leaving_of(pe);
  if (leaving.is_over) return;
  leaving.is_over = true;
  require(pe, "ConverseExit",
          ph_task_broadcast(pe.task, make_word(pe, word, leaving.on_over), PH_TASK_WITH_SELF));
}

// On PE 0.
void on_leave(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  ++pe.own_tasks;
  Leaving& leaving = leaving_of(pe);
  const Word word = take_word(pe, message);
  if (word.is_exit != 0) return end_job(pe, word);
  ++leaving.have_left;
  if (word.status != 0 && (leaving.first.status == 0 || word.pe < leaving.first.pe))
    leaving.first = word;
  if (leaving.have_left == pe.place.pes) end_job(pe, leaving.first);
}

// On all.
void on_over(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  meet_and_end(pe, take_word(pe, message).status);
}

[[noreturn]] void tell_and_wait(Pe& pe, const Word& word) noexcept {
  pe.is_leaving = true;
  {
    const std::scoped_lock lock(pe.process->lock);
    pe.process->has_left[pe.place.rank] = true;
  }
  require(pe, "ConverseExit",
          ph_task_send(pe.task, 0, make_word(pe, word, leaving_of(pe).on_leave)));
  for (;;) require(pe, "ConverseExit", ph_task_run(pe.task, -1, nullptr));
}

}  // namespace

void start_leaving(Pe& pe) {
  auto* const leaving = new Leaving;
  pe.parts.leaving = leaving;
  leaving->on_leave = enroll(pe, on_leave);
  leaving->on_over = enroll(pe, on_over);
}

void heed_end(Pe& pe) noexcept {
  std::optional<int> status;
  {
    const std::scoped_lock lock(pe.process->lock);
    status = pe.process->ended_with;
  }
  if (status) end_process(pe, *status);
}

void leave(Pe& pe, int status) noexcept { tell_and_wait(pe, {status, pe.place.pe, 0, 0}); }

}  // namespace photon::converse

void ConverseExit(int status) { photon::converse::leave(photon::converse::here(__func__), status); }

void CmiExit(int status) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  photon::converse::tell_and_wait(pe, {status, pe.place.pe, 1, 0});
}
