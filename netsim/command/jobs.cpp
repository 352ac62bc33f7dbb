#include "netsim/command/jobs.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <mutex>

#include "netsim/run/threads.hpp"

namespace photon::netsim::command {

std::uint32_t jobs_of(const std::string& text) {
  std::uint32_t jobs = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  const bool is_number = error == std::errc{} && rest == text.data() + text.size();
  return is_number && jobs <= 256 ? jobs : 0;
}

bool in_parallel(std::size_t count, std::uint32_t jobs,
                 const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t next = 0;
  const auto take = [&]() -> std::size_t {
    const std::lock_guard lock(mutex);
    return next < count ? next++ : count;
  };
  const auto threads = static_cast<std::uint32_t>(std::min<std::size_t>(jobs, count));
  const std::string wrong = in_threads(threads, [&](std::uint32_t) {
    for (std::size_t i = take(); i < count; i = take()) work(i);
  });
  if (!wrong.empty()) std::fprintf(stderr, "photon-netsim: --jobs %u: %s\n", jobs, wrong.c_str());
  return wrong.empty();
}

}  // namespace photon::netsim::command
