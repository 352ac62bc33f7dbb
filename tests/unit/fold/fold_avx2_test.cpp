#include <gtest/gtest.h>

#include "fold_short.hpp"

namespace photon::fold::test {
namespace {

TEST(FoldAvx2, reals_of_16_bits_have_the_same_bits_as_without_it) {
  if (best_isa() < Isa::avx2) GTEST_SKIP() << "this machine has no avx2";
  check_same_bits_as_baseline(Isa::avx2);
}

}  // namespace
}  // namespace photon::fold::test
