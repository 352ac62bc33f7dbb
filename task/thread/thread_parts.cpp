#include "task/thread/thread_parts.hpp"

#include <vector>

#include "task/thread/threads.hpp"

namespace photon::task {

namespace {

struct ThreadParts {
  StackLimit limit{StackLimit::mappings_of_kernel()};
  std::vector<std::unique_ptr<Threads>> of;  // by rank
};

bool take_token(Pe& pe, Message& token) noexcept { return threads_of(pe).take(token); }
void leave_threads(Pe& pe) noexcept { threads_of(pe).leave(); }

}  // namespace

std::shared_ptr<void> make_threads(Crew& crew, const ThreadSettings& settings) {
  auto parts = std::make_shared<ThreadParts>();
  Shared& shared = crew.shared();
  StackLimit* limit = settings.guards != PH_TASK_GUARDS_OFF ? &parts->limit : nullptr;
  const bool goes_on = settings.guards == PH_TASK_GUARDS_MOST;
  const std::uint64_t stack_bytes =
      settings.stack_bytes != 0 ? settings.stack_bytes : Threads::kStackBytes;
  for (std::uint32_t rank = 0; rank < shared.pes; ++rank) {
    Pe& pe = crew.pe(rank);
    parts->of.push_back(std::make_unique<Threads>(pe, limit, goes_on, stack_bytes));
    pe.set_part(Part::thread, parts->of.back().get());
  }
  shared.on(Kind::token) = take_token;
  shared.on_leave[static_cast<std::size_t>(Part::thread)] = leave_threads;
  return parts;
}

}  // namespace photon::task
