// Threads of a rank that send 8-byte puts to as many threads of its peer, in crews: the threads of
// a crew share a lane, and nothing else. The threads stay: a lane's lock favours the one it knows.
// Both members of the team call run() in step; index 0 sends and returns the rate of all together.
// Owner: the question threads; the lanes are closed with it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "job.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace photon::perf {

class Crews {
 public:
  static constexpr std::uint32_t kMost = 4;

  Crews(Job& job, Team& team);
  ~Crews();
  Crews(const Crews&) = delete;
  Crews& operator=(const Crews&) = delete;

  // `count` puts in all. own_lanes: each thread alone on one; else all on the context's.
  Outcome run(std::uint32_t threads_count, bool own_lanes, std::uint64_t count);

 private:
  void live(std::uint32_t thread);

  Job& job_;
  Team& team_;
  Memory landing_;
  ph_region peer_landing_{};
  std::vector<ph_context*> lanes_;

  std::mutex mutex_;  // of what follows
  std::condition_variable news_;
  std::uint64_t turn_ = 0;                   // changes when there is work
  std::uint32_t working_ = 0;                // threads that have not done this turn's
  std::uint32_t away_ = 0;                   // and that are not back from it
  std::function<void(std::uint32_t)> work_;  // null: the end
  std::vector<std::thread> threads_;
};

}  // namespace photon::perf
