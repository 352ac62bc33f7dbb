#include <gtest/gtest.h>

#include "fold_short.hpp"

namespace photon::fold::test {
namespace {

TEST(FoldAvx512, reals_of_16_bits_have_the_same_bits_as_without_it) {
  if (best_isa() < Isa::avx512) GTEST_SKIP() << "this machine has no avx512";
  check_same_bits_as_baseline(Isa::avx512);
}

}  // namespace
}  // namespace photon::fold::test
