// Which operations go with which types, against MPI's tables written out by hand.
#include "interop/mpi/fold/element.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "elements.hpp"

namespace photon::mpi::test {
namespace {

constexpr const char* kOfIntegers = "sum prod min max land lor lxor band bor bxor replace no_op";
constexpr const char* kOfReals = "sum prod min max replace no_op";
constexpr const char* kOfComplexes = "sum prod replace no_op";
constexpr const char* kOfLogicals = "land lor lxor replace no_op";
constexpr const char* kOfPairs = "minloc maxloc replace no_op";

struct Line {
  std::size_t bytes;
  const char* ops;
  bool is_atomic, takes_swap;
};
const std::map<Basic, Line>& lines() {
  static const std::map<Basic, Line> kLines = {
      {Basic::none, {0, "", false, false}},
      {Basic::int8, {1, kOfIntegers, true, true}},
      {Basic::int16, {2, kOfIntegers, true, true}},
      {Basic::int32, {4, kOfIntegers, true, true}},
      {Basic::int64, {8, kOfIntegers, true, true}},
      {Basic::uint8, {1, kOfIntegers, true, true}},
      {Basic::uint16, {2, kOfIntegers, true, true}},
      {Basic::uint32, {4, kOfIntegers, true, true}},
      {Basic::uint64, {8, kOfIntegers, true, true}},
      {Basic::float32, {4, kOfReals, true, false}},
      {Basic::float64, {8, kOfReals, true, false}},
      {Basic::extended, {16, kOfReals, false, false}},
      {Basic::complex32, {8, kOfComplexes, true, false}},
      {Basic::complex64, {16, kOfComplexes, false, false}},
      {Basic::complex_extended, {32, kOfComplexes, false, false}},
      {Basic::logical8, {1, kOfLogicals, true, true}},
      {Basic::logical32, {4, kOfLogicals, true, true}},
      {Basic::byte, {1, "band bor bxor replace no_op", true, true}},
      {Basic::opaque8, {1, "replace no_op", true, false}},
      {Basic::opaque32, {4, "replace no_op", true, false}},
      {Basic::float_int, {8, kOfPairs, false, false}},
      {Basic::double_int, {16, kOfPairs, false, false}},
      {Basic::long_int, {16, kOfPairs, false, false}},
      {Basic::int_int, {8, kOfPairs, false, false}},
      {Basic::short_int, {8, kOfPairs, false, false}},
      {Basic::extended_int, {32, kOfPairs, false, false}},
      {Basic::float_float, {8, kOfPairs, false, false}},
      {Basic::double_double, {16, kOfPairs, false, false}},
  };
  return kLines;
}

bool names(const char* ops, Op op) {
  std::istringstream words(ops);
  for (std::string word; words >> word;)
    if (word == kOpNames[static_cast<std::size_t>(op)]) return true;
  return false;
}

TEST(MpiElement, each_type_takes_what_mpi_defines_for_it) {
  ASSERT_EQ(lines().size(), kBasics);
  for (const auto& [basic, line] : lines())
    for (const Op op : all_ops())
      EXPECT_EQ(takes(op, basic), names(line.ops, op)) << name_of(op, basic);
}

TEST(MpiElement, each_type_has_its_size_and_its_way) {
  for (const auto& [basic, line] : lines()) {
    const auto* name = kBasicNames[static_cast<std::size_t>(basic)];
    EXPECT_EQ(bytes_of(basic), line.bytes) << name;
    EXPECT_EQ(is_atomic(basic), line.is_atomic) << name;
    EXPECT_EQ(takes_swap(basic), line.takes_swap) << name;
    std::size_t bytes = 0;
    with_type(basic, [&]<class T>() { bytes = sizeof(T); });
    EXPECT_EQ(bytes, line.bytes) << name;
  }
}

TEST(MpiElement, a_number_that_names_nothing_takes_nothing) {
  for (unsigned number = kBasics; number < 256; ++number) {
    const auto basic = static_cast<Basic>(number);
    EXPECT_EQ(bytes_of(basic), 0U);
    EXPECT_FALSE(is_atomic(basic));
    EXPECT_FALSE(takes_swap(basic));
    for (const Op op : all_ops()) EXPECT_FALSE(takes(op, basic));
  }
  for (unsigned number = kOps; number < 256; ++number)
    for (const Basic basic : all_basics()) EXPECT_FALSE(takes(static_cast<Op>(number), basic));
}

}  // namespace
}  // namespace photon::mpi::test
