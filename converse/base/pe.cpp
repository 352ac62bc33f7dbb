#include "converse/base/pe.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace photon::converse {

constinit thread_local Pe* pe_of_thread [[gnu::tls_model("initial-exec")]] = nullptr;

void refuse_stranger(const char* call) noexcept {
  std::fprintf(stderr, "Converse: %s: this thread is no PE: call it from ConverseInit() on\n",
               call);
  std::abort();
}

void refuse(const char* call, const char* format, ...) noexcept {
  char words[PH_TASK_ABORT_BYTES];
  std::va_list arguments;
  va_start(arguments, format);
  const int before = std::snprintf(words, sizeof words, "%s: ", call);
  const auto used = std::min(static_cast<std::size_t>(std::max(before, 0)), sizeof words - 1);
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(words + used, sizeof words - used, format, arguments);
  const bool are_all = size >= 0 && used + static_cast<std::size_t>(size) < sizeof words;
  char* whole = nullptr;
  if (!are_all && ::vasprintf(&whole, format, again) >= 0)
    std::fprintf(stderr, "Converse: %s: %s\n", call, whole);
  va_end(again);
  va_end(arguments);
  if (pe_of_thread != nullptr && pe_of_thread->task != nullptr)
    ph_task_abort(pe_of_thread->task, words);
  std::fprintf(stderr, "Converse: %s\n", words);
  std::abort();
}

void require(Pe& pe, const char* call, ph_status status) noexcept {
  if (status == PH_OK) [[likely]]
    return;
  if (status == PH_ERR_DEPARTED && pe.on_departed != nullptr) pe.on_departed(pe);
  ph_error error{};
  ph_task_error(pe.task, &error);
  refuse(call, "%s", error.status == status ? error.text : ph_status_text(status));
}

std::uint32_t enroll(Pe& pe, ph_task_handler handler) noexcept {
  std::uint32_t number = 0;
  require(pe, "ConverseInit", ph_task_register(pe.task, handler, &pe, &number));
  return number;
}

}  // namespace photon::converse
