// What only the interface of atomics checks, and each operation on each type, of one's own word.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace photon {
namespace {

class AtomicApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_register(context_, words_, sizeof words_, PH_ACCESS_ALL, &region_), PH_OK);
  }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  // On the second word; what it held before, and what it holds now, in the type's member.
  template <class T>
  std::pair<T, T> change(ph_op op, ph_type type, T word, T operand, T compare = {}) {
    ph_atomic_args args{};
    args.size = sizeof args;
    args.target = ph_at(&region_, 8);
    args.op = op;
    args.type = type;
    std::memcpy(&args.operand, &operand, sizeof operand);
    std::memcpy(&args.compare, &compare, sizeof compare);
    std::memcpy(&words_[1], &word, sizeof word);
    T before{};
    args.fetched = &before;
    args.flags = PH_NO_RCE;
    ph_request request = 1;
    args.request = &request;
    EXPECT_EQ(ph_atomic(context_, 0, &args), PH_OK);
    EXPECT_EQ(ph_wait_request(context_, &request, nullptr, PH_FOREVER), PH_OK);
    std::memcpy(&word, &words_[1], sizeof word);
    EXPECT_EQ(words_[0], 0u);
    EXPECT_EQ(words_[2], 0u);
    return {before, word};
  }
  template <class T>
  void check_integer(ph_type type) {
    using Pair = std::pair<T, T>;
    constexpr T kMost = std::numeric_limits<T>::max();
    constexpr T kLeast = std::numeric_limits<T>::min();
    const T minus = static_cast<T>(-1);
    EXPECT_EQ(change<T>(PH_OP_ADD, type, 40, 2), (Pair{40, 42}));
    EXPECT_EQ(change<T>(PH_OP_ADD, type, kMost, 1), (Pair{kMost, kLeast})) << "wraps around";
    EXPECT_EQ(change<T>(PH_OP_SWAP, type, 1, minus), (Pair{1, minus}));
    EXPECT_EQ(change<T>(PH_OP_COMPARE_SWAP, type, 5, 6, 5), (Pair{5, 6}));
    EXPECT_EQ(change<T>(PH_OP_COMPARE_SWAP, type, 5, 6, 4), (Pair{5, 5}));
    EXPECT_EQ(change<T>(PH_OP_MIN, type, 3, minus), (Pair{3, std::min<T>(3, minus)}));
    EXPECT_EQ(change<T>(PH_OP_MAX, type, 3, minus), (Pair{3, std::max<T>(3, minus)}));
    EXPECT_EQ(change<T>(PH_OP_AND, type, 12, 10), (Pair{12, 8}));
    EXPECT_EQ(change<T>(PH_OP_OR, type, 12, 10), (Pair{12, 14}));
    EXPECT_EQ(change<T>(PH_OP_XOR, type, 12, 10), (Pair{12, 6}));
  }

  ph_context* context_ = nullptr;
  alignas(8) std::uint64_t words_[3] = {};
  ph_region region_{};
};

TEST_F(AtomicApi, every_operation_on_every_integer) {
  check_integer<std::int32_t>(PH_INT32);
  check_integer<std::uint32_t>(PH_UINT32);
  check_integer<std::int64_t>(PH_INT64);
  check_integer<std::uint64_t>(PH_UINT64);
}

TEST_F(AtomicApi, reals_are_added_and_know_nothing_else) {
  EXPECT_EQ(change<float>(PH_OP_ADD, PH_FLOAT, 1.5F, 2.25F), (std::pair{1.5F, 3.75F}));
  EXPECT_EQ(change<double>(PH_OP_ADD, PH_DOUBLE, -1.5, 0.5), (std::pair{-1.5, -1.0}));
  ph_atomic_args args{};
  args.size = sizeof args;
  args.target = ph_at(&region_, 8);
  args.type = PH_DOUBLE;
  for (const ph_op op : {PH_OP_SWAP, PH_OP_COMPARE_SWAP, PH_OP_MIN, PH_OP_MAX, PH_OP_XOR}) {
    args.op = op;
    EXPECT_EQ(ph_atomic(context_, 0, &args), PH_ERR_ARGUMENT);
  }
}

TEST_F(AtomicApi, what_is_wrong_is_refused_and_changes_nothing) {
  ph_atomic_args right{};
  right.size = sizeof right;
  right.target = ph_at(&region_, 8);
  right.op = PH_OP_ADD;
  right.type = PH_UINT32;
  right.operand.uint32 = 1;
  EXPECT_EQ(ph_atomic(context_, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_atomic(nullptr, 0, &right), PH_ERR_STATE);
  EXPECT_EQ(ph_atomic(context_, 1, &right), PH_ERR_RANK);
  const auto refused = [&](auto change) {
    ph_atomic_args args = right;
    change(args);
    return ph_atomic(context_, 0, &args);
  };
  EXPECT_EQ(refused([](auto& args) { args.size -= 8; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(refused([](auto& args) { args.op = static_cast<ph_op>(9); }), PH_ERR_ARGUMENT);
  EXPECT_EQ(refused([](auto& args) { args.type = static_cast<ph_type>(0); }), PH_ERR_ARGUMENT);
  EXPECT_EQ(refused([](auto& args) { args.flags = PH_DELIVERED; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(refused([](auto& args) { args.target.address += 2; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(refused([](auto& args) { args.local.size_bytes = 9; }), PH_ERR_ID_SIZE);
  EXPECT_EQ(refused([](auto& args) {
              args.type = PH_INT64;
              args.target.address += 4;
            }),
            PH_ERR_ARGUMENT);
  for (const std::uint64_t word : words_) EXPECT_EQ(word, 0u);
}

// And numbers whose low bits name one that atomics know.
TEST_F(AtomicApi, what_only_collectives_know_is_refused_and_changes_nothing) {
  ph_atomic_args args{};
  args.size = sizeof args;
  args.target = ph_at(&region_, 8);
  args.operand.uint64 = 1;
  args.flags = PH_NO_RCE;
  ph_request request = 1;
  std::uint64_t before = 7;
  for (const bool is_fast : {false, true}) {  // by a request, and fetching
    args.request = is_fast ? &request : nullptr;
    args.fetched = is_fast ? &before : nullptr;
    for (int type = -1; type <= PH_BYTES + 1; ++type)
      for (int op = -1; op <= PH_OP_MAXLOC + 1; ++op) {
        if (type >= PH_INT32 && type <= PH_DOUBLE && op >= PH_OP_ADD && op <= PH_OP_XOR) continue;
        args.type = static_cast<ph_type>(type);
        args.op = static_cast<ph_op>(op);
        EXPECT_EQ(ph_atomic(context_, 0, &args), PH_ERR_ARGUMENT) << type << " " << op;
      }
    for (const int more : {0x100, 0x10000, std::numeric_limits<int>::min()}) {
      args.type = static_cast<ph_type>(PH_INT64 + more);
      args.op = PH_OP_ADD;
      EXPECT_EQ(ph_atomic(context_, 0, &args), PH_ERR_ARGUMENT) << "type with " << more;
      args.type = PH_INT64;
      args.op = static_cast<ph_op>(PH_OP_ADD + more);
      EXPECT_EQ(ph_atomic(context_, 0, &args), PH_ERR_ARGUMENT) << "op with " << more;
    }
  }
  for (const std::uint64_t word : words_) EXPECT_EQ(word, 0u);
  EXPECT_EQ(before, 7u);
  EXPECT_EQ(request, 1u);
}

}  // namespace
}  // namespace photon
