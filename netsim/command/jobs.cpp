#include "netsim/command/jobs.hpp"

#include <charconv>
#include <mutex>
#include <thread>
#include <vector>

namespace photon::netsim::command {

std::uint32_t jobs_of(const std::string& text) {
  std::uint32_t jobs = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  const bool is_number = error == std::errc{} && rest == text.data() + text.size();
  return is_number && jobs <= 256 ? jobs : 0;
}

void in_parallel(std::size_t count, std::uint32_t jobs,
                 const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t next = 0;
  const auto take = [&]() -> std::size_t {
    const std::lock_guard lock(mutex);
    return next < count ? next++ : count;
  };
  const auto run = [&] {
    for (std::size_t i = take(); i < count; i = take()) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t job = 1; job < jobs; ++job) threads.emplace_back(run);
  run();
}

}  // namespace photon::netsim::command
