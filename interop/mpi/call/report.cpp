#include "interop/mpi/call/report.hpp"

#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <string>

namespace photon::mpi {

namespace {

// A code for each text; the texts are literals. The class, where MPI gives none.
int code_of(const Outcome& outcome) noexcept {
  static std::mutex mutex;
  static std::map<const char*, int> codes;
  try {
    const std::lock_guard guard(mutex);
    const auto [at, is_new] = codes.try_emplace(outcome.words, outcome.error_class);
    int code = 0;
    if (!is_new || real().Add_error_code == nullptr ||
        real().Add_error_code(outcome.error_class, &code) != MPI_SUCCESS)
      return at->second;
    std::string text = "photon: ";
    text += outcome.words;
    real().Add_error_string(code, text.c_str());
    at->second = code;
    return code;
  } catch (const std::bad_alloc&) {
    return outcome.error_class;
  }
}

// MPICH has no texts of codes in classes of its own, so the words are in the log as well.
int log_code(const Outcome& outcome) noexcept {
  if (Job* const job = Job::current(); job != nullptr) job->say("%s", outcome.words);
  return code_of(outcome);
}

// Where no call of MPI may be made.
int say(const Outcome& outcome) noexcept {
  std::fprintf(stderr, "photon: %s\n", outcome.words);
  return outcome.error_class;
}

}  // namespace

int report_error(MPI_Win win, const Outcome& outcome) noexcept {
  if (InFunction::is_here()) return say(outcome);
  const int code = log_code(outcome);
  real().Win_call_errhandler(win, code);
  return code;
}

int report_on(MPI_Comm comm, const Outcome& outcome) noexcept {
  if (outcome.is_good()) [[likely]]
    return MPI_SUCCESS;
  if (InFunction::is_here()) return say(outcome);
  const int code = log_code(outcome);
  if (comm != MPI_COMM_NULL) real().Comm_call_errhandler(comm, code);
  return code;
}

Outcome check_member(const Window& window, int rank) noexcept {
  if (rank >= 0 && static_cast<std::uint32_t>(rank) < window.size()) [[likely]]
    return {};
  return {MPI_ERR_RANK, "no member of the window has that rank"};
}

}  // namespace photon::mpi
