#include "netsim/run/threads.hpp"

#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace photon::netsim {

std::string in_threads(std::uint32_t count, const std::function<void(std::uint32_t)>& work) {
  std::latch decision(1);
  bool is_complete = false;  // read behind the decision
  std::string wrong;
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    for (std::uint32_t number = 1; number < count; ++number) {
      threads.emplace_back([&, number] {
        decision.wait();
        if (is_complete) work(number);
      });
    }
    is_complete = true;
  } catch (const std::bad_alloc&) {
    decision.count_down();  // those that are there end, so that they can be joined
    throw;
  } catch (const std::system_error& error) {
    wrong = "of " + std::to_string(count) + " threads the system gives only " +
            std::to_string(threads.size() + 1) + ": " + error.code().message();
  }
  decision.count_down();
  if (is_complete) work(0);
  return wrong;
}

}  // namespace photon::netsim
