#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "fold/fold.hpp"

namespace photon::fold {
namespace {

// What the kernel says of the first processor.
bool kernel_knows(const std::string& flag) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("flags")) return (line + " ").find(" " + flag + " ") != std::string::npos;
  return false;
}

TEST(FoldIsa, the_best_is_what_processor_and_kernel_know) {
  Isa best = Isa::baseline;
  if (kernel_knows("avx2") && kernel_knows("f16c") && kernel_knows("fma")) best = Isa::avx2;
  if (best == Isa::avx2 && kernel_knows("avx512f") && kernel_knows("avx512bw") &&
      kernel_knows("avx512dq") && kernel_knows("avx512vl"))
    best = Isa::avx512;
  EXPECT_EQ(best_isa(), best);
}

TEST(FoldIsa, each_has_a_name) {
  EXPECT_EQ(name_of(Isa::baseline), std::string("baseline"));
  EXPECT_EQ(name_of(Isa::avx2), std::string("avx2"));
  EXPECT_EQ(name_of(Isa::avx512), std::string("avx512"));
  EXPECT_EQ(name_of(static_cast<Isa>(9)), std::string("unknown"));
}

}  // namespace
}  // namespace photon::fold
