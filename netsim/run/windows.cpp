#include "netsim/run/windows.hpp"

#include <algorithm>
#include <array>
#include <barrier>

#include "netsim/run/threads.hpp"

namespace photon::netsim {
namespace {

// What a worker tells the others at a barrier. Two sets: one is written in a window while the other
// one may still be read.
struct alignas(64) Told {
  std::array<Time, 2> next;
  std::array<bool, 2> has_fault;
};

class Windows {
 public:
  Windows(std::span<const std::unique_ptr<Worker>> workers, const WindowSettings& settings)
      : workers_(workers),
        look_ahead_(settings.look_ahead),
        bound_(settings.bound),
        watcher_(settings.watcher),
        told_(workers.size()),
        barrier_(static_cast<std::ptrdiff_t>(workers.size())) {}

  void run(std::size_t number) {
    Worker& worker = *workers_[number];
    Time end = 0;
    for (unsigned set = 0;; set ^= 1U) {
      worker.part().begin_window(set);
      worker.run_until(end);
      told_[number].next[set] = worker.part().next_time();
      told_[number].has_fault[set] = !worker.part().fault().empty();
      barrier_.arrive_and_wait();
      for (const auto& other : workers_) {
        worker.part().take_in(other->part().outbox(set, static_cast<std::uint32_t>(number)));
      }
      Time first = kNever;
      bool has_fault = false;
      for (const Told& told : told_) {
        first = std::min(first, told.next[set]);
        has_fault = has_fault || told.has_fault[set];
      }
      if (has_fault || first == kNever || first > bound_) return;
      if (number == 0 && watcher_ != nullptr && watcher_->is_due()) {
        watcher_->progress(first, worker.share_done());
      }
      end = std::min(first + look_ahead_, bound_ == kNever ? kNever : bound_ + 1);
    }
  }

 private:
  std::span<const std::unique_ptr<Worker>> workers_;
  Time look_ahead_;
  Time bound_;
  Watcher* watcher_;
  std::vector<Told> told_;
  std::barrier<> barrier_;
};

}  // namespace

std::string run_windows(std::span<const std::unique_ptr<Worker>> workers,
                        const WindowSettings& settings) {
  Windows windows(workers, settings);
  return in_threads(static_cast<std::uint32_t>(workers.size()),
                    [&windows](std::uint32_t number) { windows.run(number); });
}

}  // namespace photon::netsim
