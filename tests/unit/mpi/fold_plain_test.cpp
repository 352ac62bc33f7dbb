// Every operation on every type that takes it, against one element at a time.
#include <gtest/gtest.h>

#include "interop/mpi/fold/fold.hpp"
#include "reference.hpp"

namespace photon::mpi::test {
namespace {

constexpr std::size_t kMargin = 64;

// Elements at an address of so many bytes more than a multiple of 64, with a margin around them.
class Placed {
 public:
  Placed(const Bytes& elements, std::size_t offset)
      : begin_(kMargin + offset),
        size_(elements.size()),
        memory_(size_ + begin_ + 2 * kMargin, 0xa5) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ += (64 - address % 64) % 64;
    if (size_ != 0) std::memcpy(data(), elements.data(), size_);
  }
  unsigned char* data() { return memory_.data() + begin_; }
  [[nodiscard]] bool is_margin_intact() const {
    const auto is_filling = [](unsigned char byte) { return byte == 0xa5; };
    const auto* begin = memory_.data() + begin_;
    return std::all_of(memory_.data(), begin, is_filling) &&
           std::all_of(begin + size_, memory_.data() + memory_.size(), is_filling);
  }

 private:
  std::size_t begin_, size_;
  Bytes memory_;
};

struct Places {
  std::size_t target, source, result;
};

// What there is, and what becomes of it.
struct Case {
  FoldKind kind;
  std::size_t count;
  Bytes target, source, result, wanted, wanted_result;
};
Case draw(Elements& elements, FoldKind kind, std::size_t count) {
  Case drawn = {kind, count, {}, {}, {}, {}, {}};
  for (Bytes* one : {&drawn.target, &drawn.source, &drawn.result})
    *one = elements.draw(kind.basic, count);
  drawn.wanted = folded(kind, drawn.target, drawn.source);
  drawn.wanted_result = folded({Op::replace, kind.basic}, drawn.result, drawn.target);
  return drawn;
}

void check_fold(const Case& drawn, const Places& places, bool is_fetched) {
  Placed target(drawn.target, places.target), source(drawn.source, places.source),
      result(drawn.result, places.result);
  fold_plain(drawn.kind, target.data(), drawn.kind.op == Op::no_op ? nullptr : source.data(),
             is_fetched ? result.data() : nullptr, drawn.count);
  const FoldKind copied = {Op::replace, drawn.kind.basic};
  ASSERT_EQ(difference(drawn.kind, target.data(), drawn.wanted), "");
  ASSERT_EQ(difference(copied, source.data(), drawn.source), "");
  ASSERT_EQ(difference(copied, result.data(), is_fetched ? drawn.wanted_result : drawn.result), "");
  ASSERT_TRUE(target.is_margin_intact() && result.is_margin_intact());
}

TEST(MpiFoldPlain, each_operation_is_that_of_each_element_at_any_address) {
  Elements elements(1);
  for (const Basic basic : all_basics())
    for (const Op op : all_ops())
      for (const std::size_t count : {0, 1, 2, 3, 7, 16, 33, 300}) {
        if (!takes(op, basic)) continue;
        const Case drawn = draw(elements, {op, basic}, count);
        for (const Places& places :
             {Places{0, 0, 0}, Places{1, 0, 0}, Places{0, 3, 0}, Places{0, 0, 5}, Places{7, 2, 9}})
          for (const bool is_fetched : {false, true}) {
            check_fold(drawn, places, is_fetched);
            if (HasFatalFailure()) return;
          }
      }
}

template <class T>
T folded_one(FoldKind kind, T target, T source) {
  T before = {};
  fold_plain(kind, &target, &source, &before, 1);
  return target;
}

TEST(MpiFoldPlain, results_are_those_written_here) {
  const auto of_int = [](Op op, std::int32_t target, std::int32_t source) {
    return folded_one<std::int32_t>({op, Basic::int32}, target, source);
  };
  EXPECT_EQ(of_int(Op::sum, 40, 2), 42);
  EXPECT_EQ(of_int(Op::prod, -6, 7), -42);
  EXPECT_EQ(of_int(Op::min, -1, 1), -1);
  EXPECT_EQ(of_int(Op::max, -1, 1), 1);
  EXPECT_EQ(of_int(Op::land, 2, 4), 1);
  EXPECT_EQ(of_int(Op::land, 2, 0), 0);
  EXPECT_EQ(of_int(Op::lor, 0, 4), 1);
  EXPECT_EQ(of_int(Op::lor, 0, 0), 0);
  EXPECT_EQ(of_int(Op::lxor, 2, 4), 0);
  EXPECT_EQ(of_int(Op::lxor, 0, 4), 1);
  EXPECT_EQ(of_int(Op::band, 12, 10), 8);
  EXPECT_EQ(of_int(Op::bor, 12, 10), 14);
  EXPECT_EQ(of_int(Op::bxor, 12, 10), 6);
  EXPECT_EQ(of_int(Op::replace, 12, 10), 10);
  EXPECT_EQ(of_int(Op::no_op, 12, 10), 12);
  EXPECT_EQ(folded_one<std::uint32_t>({Op::max, Basic::uint32}, 1, ~0U), ~0U);
  EXPECT_EQ(folded_one<double>({Op::sum, Basic::float64}, 0.5, 0.25), 0.75);
  EXPECT_EQ(folded_one<long double>({Op::prod, Basic::extended}, 0.5L, 0.25L), 0.125L);
  const auto product =
      folded_one<std::complex<float>>({Op::prod, Basic::complex32}, {1, 2}, {3, 4});
  EXPECT_EQ(product, std::complex<float>(-5, 10));
}

TEST(MpiFoldPlain, integers_wrap_around) {
  EXPECT_EQ(folded_one<std::int8_t>({Op::sum, Basic::int8}, 127, 1), -128);
  EXPECT_EQ(folded_one<std::int16_t>({Op::prod, Basic::int16}, 256, 256), 0);
  EXPECT_EQ(folded_one<std::uint16_t>({Op::prod, Basic::uint16}, 65535, 65535), 1);
  EXPECT_EQ(folded_one<std::int32_t>({Op::sum, Basic::int32}, 2'147'483'647, 1), -2'147'483'648);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(folded_one<std::int64_t>({Op::prod, Basic::int64}, most, 2), -2);
}

TEST(MpiFoldPlain, min_and_max_give_a_nan_whichever_operand_it_is) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Op op : {Op::min, Op::max}) {
    EXPECT_TRUE(std::isnan(folded_one<double>({op, Basic::float64}, nan, 1)));
    EXPECT_TRUE(std::isnan(folded_one<double>({op, Basic::float64}, 1, nan)));
    EXPECT_FALSE(std::signbit(folded_one<double>({op, Basic::float64}, 0.0, -0.0)));
    EXPECT_TRUE(std::signbit(folded_one<double>({op, Basic::float64}, -0.0, 0.0)));
  }
}

TEST(MpiFoldPlain, of_equal_values_the_lower_index_is_the_result_and_nan_beats_numbers) {
  using DoubleInt = Pair<double, int>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Op op : {Op::minloc, Op::maxloc}) {
    const FoldKind kind = {op, Basic::double_int};
    EXPECT_EQ(folded_one<DoubleInt>(kind, {1, 5}, {1, 3}).index, 3);
    EXPECT_EQ(folded_one<DoubleInt>(kind, {1, 3}, {1, 5}).index, 3);
    EXPECT_EQ(folded_one<DoubleInt>(kind, {nan, 5}, {1, 3}).index, 5);
    EXPECT_EQ(folded_one<DoubleInt>(kind, {1, 3}, {nan, 5}).index, 5);
    EXPECT_EQ(folded_one<DoubleInt>(kind, {nan, 5}, {nan, 3}).index, 3);
    EXPECT_EQ(folded_one<DoubleInt>(kind, {1, 1}, {2, 2}).index, op == Op::minloc ? 1 : 2);
  }
}

TEST(MpiFoldPlain, complex_products_are_the_textbooks) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto product =
      folded_one<std::complex<double>>({Op::prod, Basic::complex64}, {infinity, 0}, {1, 0});
  EXPECT_EQ(product.real(), infinity);
  EXPECT_TRUE(std::isnan(product.imag()));
}

TEST(MpiFoldPlain, swaps_where_the_bytes_are_equal_at_any_address) {
  Elements elements(2);
  for (const Basic basic : all_basics()) {
    if (!takes_swap(basic)) continue;
    const std::size_t size = bytes_of(basic);
    for (std::size_t differing = 0; differing <= size; ++differing)  // which byte; size: none
      for (const std::size_t offset : {0, 1, 3, 6}) {
        const Bytes old = elements.draw(basic, 1), fresh = elements.draw(basic, 1);
        Bytes compare = old;
        if (differing < size) compare[differing] ^= 0x10;
        Placed target(old, offset), source(fresh, 7 - offset), expected(compare, offset + 2),
            result(Bytes(size), offset + 1);
        swap_plain(basic, target.data(), source.data(), expected.data(), result.data());
        const Bytes& wanted = differing == size ? fresh : old;
        EXPECT_EQ(std::memcmp(target.data(), wanted.data(), size), 0);
        EXPECT_EQ(std::memcmp(result.data(), old.data(), size), 0);
        EXPECT_TRUE(target.is_margin_intact() && result.is_margin_intact());
      }
  }
}

}  // namespace
}  // namespace photon::mpi::test
