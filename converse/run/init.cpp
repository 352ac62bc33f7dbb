// ConverseInit(): from the arguments of a program to its PEs.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "converse/run/dispatch.hpp"
#include "converse/run/hosts.hpp"
#include "converse/run/leaving.hpp"
#include "converse/run/parts.hpp"
#include "converse/run/process.hpp"
#include "converse/run/schedule.hpp"

namespace photon::converse {

namespace {

constexpr const char* kInit = "ConverseInit";
constexpr std::uint32_t kLanesByDefault = 8;

// +p and +ppn mean the same: PEs of each process.
std::uint32_t take_pes(char** argv) noexcept {
  int pes = 1;
  for (const char* name : {"+p", "+ppn", "++ppn"})
    if (CmiGetArgInt(argv, name, &pes) != 0 && (pes < 1 || pes > PH_TASK_MAX_PES))
      refuse(kInit, "%d PEs of a process are asked for by %s: 1 to %d are possible", pes, name,
             PH_TASK_MAX_PES);
  return static_cast<std::uint32_t>(pes);
}

// "+stacksize 64K": bytes of a thread for which CthCreate() names none; K, M and G may stand
// behind.
std::uint64_t take_stack_bytes(char** argv) noexcept {
  constexpr double kLeast = 65536;  // converse/thread has no smaller ones either
  constexpr double kMost = double{1ULL << 36};
  char* text = nullptr;
  if (CmiGetArgString(argv, "+stacksize", &text) == 0) return 0;
  double bytes = std::strtod(text, nullptr);
  for (const char* const unit : {"Gg", "Mm", "Kk"}) {
    if (std::strpbrk(text, unit) == nullptr) continue;
    bytes *= *unit == 'G' ? 1ULL << 30 : *unit == 'M' ? 1ULL << 20 : 1ULL << 10;
    break;
  }
  if (!(bytes > 0)) return 0;
  if (bytes > kMost) refuse(kInit, "+stacksize %s: a thread has at most 64G", text);
  return static_cast<std::uint64_t>(std::max(bytes, kLeast));
}

ph_context* join_job(std::uint32_t pes) {
  const std::string lanes = std::to_string(pes + 1);
  const ph_option option{"max_lanes", lanes.c_str()};
  ph_config config{};
  config.size = sizeof config;
  if (pes + 1 > kLanesByDefault) {
    config.options = &option;
    config.options_count = 1;
  }
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(&config, &context, &error) != PH_OK) refuse(kInit, "%s", error.text);
  return context;
}

// Makes the PE of the calling thread. It stays until the process ends.
Pe& make_pe(Process& process, ph_task_pe* task) {
  Pe& pe = *new Pe;
  pe.task = task;
  pe.context = process.context;
  pe.process = &process;
  pe.place.size = sizeof pe.place;
  set_current(&pe);
  require(pe, kInit, ph_task_shape(task, &pe.place));
  CrnSrand(0);
  enroll_dispatch(pe);
  start_parts(pe);
  require(pe, kInit, ph_task_agree(task));
  return pe;
}

[[noreturn]] void run_program(Pe& pe, char** argv) {
  const Process& process = *pe.process;
  pe.arguments = argv;
  process.start(CmiGetArgc(argv), argv);
  if (!process.user_schedules) run_messages(pe, "CsdScheduler", -1);
  leave(pe, 0);
}

// What the threads of the PEs above the first run.
void run_thread(ph_task_pe* task, void* user) {
  Process& process = *static_cast<Process*>(user);
  Pe& pe = make_pe(process, task);
  run_program(pe, CmiCopyArgs(process.argv));
}

void init(int argc, char** argv, Process& process) {
  if (current() != nullptr) refuse(kInit, "this thread is a PE already: call it once");
  if (process.start == nullptr) refuse(kInit, "the start function is null");
  if (argv == nullptr || argc < 0 || argv[argc] != nullptr)
    refuse(kInit, "argv has to be a list of argc arguments with a null behind them");
  const std::uint32_t pes = take_pes(argv);
  const std::uint64_t stack_bytes = take_stack_bytes(argv);
  process.argv = CmiCopyArgs(argv);
  process.has_left.resize(pes);
  static_cast<void>(start_of_clock());
  process.context = join_job(pes);
  find_hosts(process);
  ph_task_config config{};
  config.size = sizeof config;
  config.context = process.context;
  config.pes = pes;
  config.stack_bytes = stack_bytes;
  config.guards = PH_TASK_GUARDS_MOST;
  config.main = run_thread;
  config.user = &process;
  ph_task_pe* task = nullptr;
  ph_error error{};
  if (ph_task_start(&config, &task, &error) != PH_OK) refuse(kInit, "%s", error.text);
  Pe& pe = make_pe(process, task);
  if (!process.init_returns) run_program(pe, argv);
}

}  // namespace

}  // namespace photon::converse

void ConverseInit(int argc, char** argv, CmiStartFn start, int user_schedules, int init_returns) {
  try {
    auto* const process = new photon::converse::Process;
    process->start = start;
    process->user_schedules = user_schedules != 0;
    process->init_returns = init_returns != 0;
    photon::converse::init(argc, argv, *process);
  } catch (const std::bad_alloc&) {
    photon::converse::refuse(__func__, "no memory for the PEs");
  }
}
