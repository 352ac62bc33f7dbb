#include "cores.hpp"

#include <sched.h>

#include <memory>

namespace photonrun {
namespace {

constexpr int kMaxCores = 8192;  // CONFIG_NR_CPUS of the largest distribution kernels

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CoreSet = std::unique_ptr<cpu_set_t, FreeSet>;

CoreSet empty_set() {
  CoreSet set(CPU_ALLOC(kMaxCores));
  CPU_ZERO_S(CPU_ALLOC_SIZE(kMaxCores), set.get());
  return set;
}

}  // namespace

std::vector<int> usable_cores() {
  const std::size_t set_bytes = CPU_ALLOC_SIZE(kMaxCores);
  const CoreSet set = empty_set();
  std::vector<int> cores;
  if (::sched_getaffinity(0, set_bytes, set.get()) == 0) {
    for (int core = 0; core < kMaxCores; ++core) {
      if (CPU_ISSET_S(core, set_bytes, set.get())) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

bool pin_to(int core) {
  const std::size_t set_bytes = CPU_ALLOC_SIZE(kMaxCores);
  const CoreSet set = empty_set();
  CPU_SET_S(core, set_bytes, set.get());
  return ::sched_setaffinity(0, set_bytes, set.get()) == 0;
}

}  // namespace photonrun
