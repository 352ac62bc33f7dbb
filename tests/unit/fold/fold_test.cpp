// Every fold of every set of instructions that this machine has, against one element at a time.
#include "fold/fold.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fold_elements.hpp"

namespace photon::fold::test {
namespace {

constexpr std::size_t kMostElements = 1000;

ph_type fold_type(int number) { return static_cast<ph_type>(number); }
ph_op fold_op(int number) { return static_cast<ph_op>(number); }

std::vector<Isa> isas_here() {
  std::vector<Isa> isas;
  for (int isa = 0; isa <= static_cast<int>(best_isa()); ++isa) isas.push_back(Isa(isa));
  return isas;
}

// Three places in memory of any bytes, each with a gap before it.
struct Places {
  enum class Result { apart, in_left, in_right };

  // The result, and what lies around it.
  Bytes run(Fold fold, std::size_t count, std::size_t size, Result result) {
    Bytes memory[3];
    for (int i = 0; i < 3; ++i) memory[i].assign(gaps[i] + count * size + 64, 0xa5);
    std::copy_n(left.begin(), count * size, memory[0].begin() + static_cast<long>(gaps[0]));
    std::copy_n(right.begin(), count * size, memory[1].begin() + static_cast<long>(gaps[1]));
    const int to = result == Result::apart ? 2 : result == Result::in_left ? 0 : 1;
    fold(memory[0].data() + gaps[0], memory[1].data() + gaps[1], memory[to].data() + gaps[to],
         count);
    EXPECT_EQ(Bytes(memory[to].begin(), memory[to].begin() + static_cast<long>(gaps[to])),
              Bytes(gaps[to], 0xa5));
    EXPECT_EQ(Bytes(memory[to].end() - 64, memory[to].end()), Bytes(64, 0xa5));
    return {memory[to].begin() + static_cast<long>(gaps[to]), memory[to].end() - 64};
  }

  const Bytes& left;
  const Bytes& right;
  std::size_t gaps[3];
};

void check_fold(ph_type type, ph_op op, Isa isa) {
  const Fold fold = find(type, op, isa);
  ASSERT_NE(fold, nullptr);
  Elements elements(static_cast<unsigned>(type * 100 + op));
  const Bytes left = elements.make(type, kMostElements), right = elements.make(type, kMostElements);
  const Bytes all = expected(type, op, left, right);
  const std::size_t size = element_bytes_of(type);
  Places aligned{left, right, {64, 64, 64}}, unaligned{left, right, {1, 3, 7}};
  for (std::size_t count = 0; count <= 68; ++count) {
    const std::size_t elements_count = count == 68 ? kMostElements : count;
    const Bytes wanted(all.begin(), all.begin() + static_cast<long>(elements_count * size));
    for (const auto result :
         {Places::Result::apart, Places::Result::in_left, Places::Result::in_right}) {
      ASSERT_EQ(aligned.run(fold, elements_count, size, result), wanted) << elements_count;
      ASSERT_EQ(unaligned.run(fold, elements_count, size, result), wanted) << elements_count;
    }
  }
}

TEST(Fold, every_type_and_operation_gives_what_one_element_at_a_time_gives) {
  for (const Isa isa : isas_here())
    for (int type = 1; type <= PH_BYTES; ++type)
      for (int op = 1; op <= PH_OP_MAXLOC; ++op) {
        if (!knows(fold_type(type), fold_op(op))) continue;
        SCOPED_TRACE(std::string(name_of(fold_type(type))) + " " + name_of(fold_op(op)) + " " +
                     name_of(isa));
        check_fold(fold_type(type), fold_op(op), isa);
        if (HasFatalFailure()) return;
      }
}

TEST(Fold, what_a_type_does_not_know_is_not_found) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512})
    for (int type = -1; type <= PH_BYTES + 1; ++type)
      for (int op = -1; op <= PH_OP_MAXLOC + 1; ++op) {
        const bool is_known = type >= 1 && type <= PH_BYTES && op >= 1 && op <= PH_OP_MAXLOC &&
                              knows(fold_type(type), fold_op(op));
        EXPECT_EQ(find(fold_type(type), fold_op(op), isa) != nullptr, is_known)
            << type << " " << op << " " << name_of(isa);
      }
  EXPECT_EQ(find(fold_type(std::numeric_limits<int>::min()), PH_OP_ADD, Isa::baseline), nullptr);
  EXPECT_EQ(find(PH_INT32, fold_op(std::numeric_limits<int>::max()), Isa::baseline), nullptr);
}

TEST(Fold, elements_have_the_sizes_of_the_structures_that_programs_see) {
  struct DoubleInt {
    double value;
    std::int32_t index;
  };
  struct Int64Int {
    std::int64_t value;
    std::int32_t index;
  };
  const std::size_t sizes[] = {0,
                               4,
                               4,
                               8,
                               8,
                               4,
                               8,
                               1,
                               1,
                               2,
                               2,
                               2,
                               2,
                               sizeof(long double),
                               8,
                               16,
                               2 * sizeof(long double),
                               8,
                               sizeof(DoubleInt),
                               8,
                               sizeof(Int64Int),
                               1,
                               0};
  for (int type = 0; type <= PH_BYTES + 1; ++type)
    EXPECT_EQ(element_bytes_of(fold_type(type)), sizes[type]) << type;
  EXPECT_EQ(element_bytes_of(fold_type(-1)), 0u);
}

TEST(Fold, each_type_and_operation_has_a_name_of_its_own) {
  std::vector<std::string> names;
  for (int type = 1; type <= PH_BYTES; ++type) names.emplace_back(name_of(fold_type(type)));
  for (int op = 1; op <= PH_OP_MAXLOC; ++op) names.emplace_back(name_of(fold_op(op)));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(name_of(PH_FLOAT), std::string("float"));
  EXPECT_EQ(name_of(PH_OP_ADD), std::string("add"));
  for (const int none : {-1, 0, 100}) {
    EXPECT_EQ(name_of(fold_type(none)), std::string("unknown"));
    EXPECT_EQ(name_of(fold_op(none)), std::string("unknown"));
  }
}

}  // namespace
}  // namespace photon::fold::test
