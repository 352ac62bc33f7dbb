// Start and end, who a PE is, and handlers.
#include <new>

#include "task/api/checks.hpp"
#include "task/buffer/pe_buffers.hpp"
#include "task/run/crew.hpp"
#include "task/start/starting.hpp"

using photon::task::Crew;
using photon::task::handle;
using photon::task::is_here;
using photon::task::of;
using photon::task::Pe;

namespace {

ph_status refused(ph_error& error, const char* text) noexcept {
  error = {.status = PH_ERR_ARGUMENT, .native_errno = 0, .rank = PH_ANY_RANK, .text = {}};
  for (std::size_t i = 0; text[i] != '\0' && i + 1 < sizeof error.text; ++i)
    error.text[i] = text[i];
  return PH_ERR_ARGUMENT;
}

ph_status start(const ph_task_config* config, ph_task_pe** pe, ph_error& error) noexcept {
  if (pe == nullptr) return refused(error, "ph_task_start: pe is null");
  *pe = nullptr;
  if (config == nullptr || config->size != sizeof *config)
    return refused(error, "ph_task_start: config is null, or its size is not that of the struct");
  if (config->pes > PH_TASK_MAX_PES)
    return refused(error, "ph_task_start: more than 254 PEs of one process");
  if (config->pes > 1 && config->main == nullptr)
    return refused(error, "ph_task_start: several PEs, and no main for the others");
  if (config->stack_bytes != 0 && config->stack_bytes < PH_TASK_STACK_LEAST_BYTES)
    return refused(error, "ph_task_start: stack_bytes is less than 16,384");
  if (config->stack_bytes > photon::task::kMostStackBytes)
    return refused(error,
                   "ph_task_start: stack_bytes is more than 2^36 (64 GiB), the most of a thread");
  if (config->guards > PH_TASK_GUARDS_MOST)
    return refused(error, "ph_task_start: guards is neither on, off nor most");
  try {
    Crew* crew = photon::task::start(*config, error);
    if (crew == nullptr) return error.status;
    *pe = handle(&crew->pe(0));
    return PH_OK;
  } catch (const std::bad_alloc&) {
    static_cast<void>(refused(error, "ph_task_start: no memory"));
    return error.status = PH_ERR_MEMORY;
  }
}

}  // namespace

ph_status ph_task_start(const ph_task_config* config, ph_task_pe** pe, ph_error* error) {
  ph_error words{};
  const ph_status status = start(config, pe, words);
  if (error != nullptr) *error = words;
  return status;
}

ph_status ph_task_end(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_end")) return PH_ERR_STATE;
  if (one.rank() != 0)
    return one.fail(PH_ERR_STATE,
                    "ph_task_end: PE %u is not the first of its process: return "
                    "from main there, and call it where ph_task_start() was called",
                    one.number());
  if (one.is_in_task()) return one.fail(PH_ERR_STATE, "ph_task_end: called in a handler");
  const std::unique_ptr<Crew> crew(one.shared().crew);
  crew->end(one);
  return crew->close();
}

ph_status ph_task_shape(const ph_task_pe* pe, ph_task_place* shape) {
  if (pe == nullptr || shape == nullptr || shape->size != sizeof *shape) return PH_ERR_ARGUMENT;
  const Pe& one = of(pe);
  const photon::task::Shared& shared = one.shared();
  *shape = {.size = sizeof *shape,
            .pe = one.number(),
            .pes = shared.pes_of_job(),
            .process = shared.process,
            .processes = shared.processes,
            .rank = one.rank(),
            .pes_per_process = shared.pes};
  return PH_OK;
}

ph_status ph_task_counters(const ph_task_pe* pe, ph_task_counts* counts) {
  if (pe == nullptr || counts == nullptr || counts->size != sizeof *counts) return PH_ERR_ARGUMENT;
  of(pe).count(*counts);
  photon::task::buffers_of(of(pe)).count(*counts);
  return PH_OK;
}

void ph_task_error(const ph_task_pe* pe, ph_error* error) {
  if (pe == nullptr || error == nullptr) return;
  const Pe& one = of(pe);
  *error = one.is_here() ? one.error() : one.shared().outsiders.error();
}

ph_status ph_task_register(ph_task_pe* pe, ph_task_handler handler, void* user, uint32_t* number) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_register")) return PH_ERR_STATE;
  if (handler == nullptr || number == nullptr)
    return one.fail(PH_ERR_ARGUMENT, "ph_task_register: handler or number is null");
  auto& handlers = one.handlers();
  if (handlers.size() >= PH_TASK_MAX_HANDLERS)
    return one.fail(PH_ERR_MEMORY, "ph_task_register: a PE has at most %d handlers",
                    PH_TASK_MAX_HANDLERS);
  try {
    handlers.push_back({handler, user});
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "ph_task_register: no memory");
  }
  *number = static_cast<uint32_t>(handlers.size() - 1);
  return PH_OK;
}

ph_status ph_task_agree(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_agree")) return PH_ERR_STATE;
  return of(pe).shared().crew->agree(of(pe));
}
