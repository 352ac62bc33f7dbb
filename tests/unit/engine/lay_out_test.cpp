// What is wrong with a list or a grid is said before anything starts, with the segment's number.
#include "vectored_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::uint64_t kTop = ~std::uint64_t{0};

// Refused, with words, and without a trace.
void expect_refused(Two& two, const Vectored& what, ph_status wanted, const std::string& words) {
  EXPECT_EQ(two.ranks[0].vectored(1, what), wanted);
  EXPECT_NE(two.ranks[0].last_error().what.find(words), std::string::npos)
      << two.ranks[0].last_error().what;
  EXPECT_NE(two.ranks[0].last_error().what.find(what.call), std::string::npos);
  for (int i = 0; i < 10; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(0, PH_EITHER), 0u);
  EXPECT_EQ(two.count(1, PH_EITHER), 0u);
  EXPECT_TRUE(two.memory.untouched());
  expect_idle(two);
}

TEST(LayOut, each_segment_is_checked_before_any_byte_moves) {
  for (const auto reach : {Reach::Kind::none, Reach::Kind::mapped, Reach::Kind::posted}) {
    Two two(options(reach));
    std::vector<std::byte> own = filled(4000, 1);
    const auto with = [&](auto change) {
      Blocks blocks(two, own);
      blocks.add_many(10, 100);
      change(blocks);
      return blocks;
    };
    Blocks null = with([](Blocks& all) { all.put_segment(3).source = nullptr; });
    expect_refused(two, null.put(), PH_ERR_ARGUMENT, "segment 3 of 10");
    Blocks key = with([](Blocks& all) { all.put_segment(9).target.key ^= 1ull << 40; });
    expect_refused(two, key.put(), PH_ERR_KEY, "segment 9 of 10");
    Blocks range = with([](Blocks& all) { all.get_segment(0).source.address += 70000; });
    expect_refused(two, range.get(), PH_ERR_RANGE, "segment 0 of 10");
    Blocks size = with([](Blocks& all) { all.put_segment(5).size_bytes = kTop - 10; });
    expect_refused(two, size.put(), PH_ERR_ARGUMENT, "segment 5 of 10");
    Blocks wrap = with([](Blocks& all) { all.put_segment(5).target.address = kTop - 10; });
    expect_refused(two, wrap.put(), PH_ERR_RANGE, "segment 5 of 10");
  }
}

TEST(LayOut, what_cannot_be_seen_here_is_checked_all_the_same_for_overflow) {
  Two two(options(Reach::Kind::none, false));
  std::vector<std::byte> own(100);
  Blocks blocks(two, own);
  blocks.add(0, 0, 50).add(50, 50, 50);
  blocks.put_segment(1).target.address = kTop - 10;
  expect_refused(two, blocks.put(), PH_ERR_RANGE, "segment 1 of 2");
}

TEST(LayOut, more_segments_than_the_setting_are_refused_and_null_lists) {
  FakeOptions chosen = options();
  chosen.config.max_segments = 5;
  Two two(chosen);
  std::vector<std::byte> own(1000);
  expect_refused(two, Blocks(two, own).add_many(6, 10).put(), PH_ERR_ARGUMENT,
                 "PHOTON_MAX_SEGMENTS");
  Vectored what = Blocks(two, own).put();
  what.shape = std::span<const ph_put_segment>(static_cast<ph_put_segment*>(nullptr), 3);
  expect_refused(two, what, PH_ERR_ARGUMENT, "null");
  what.shape = Grid{own.data(), ph_at(&two.region, 0), 1, {}};
  const ph_dimension many[] = {{kTop / 2, 1, 1}, {4, 1, 1}};
  std::get<Grid>(what.shape).dimensions = many;
  expect_refused(two, what, PH_ERR_ARGUMENT, "PHOTON_MAX_SEGMENTS");
}

Vectored strided(Two& two, std::span<std::byte> own, std::span<const ph_dimension> dimensions,
                 bool is_get = false) {
  Vectored what = is_get ? Blocks(two, own).get() : Blocks(two, own).put();
  what.call = is_get ? "get_strided" : "put_strided";
  what.shape = Grid{own.data(), ph_at(&two.region, 0), 8, dimensions};
  return what;
}

TEST(LayOut, a_destination_that_overlaps_itself_is_refused_and_a_source_may) {
  Two two;
  std::vector<std::byte> own = filled(4000, 1);
  const ph_dimension near[] = {{4, 8, 7}};
  expect_refused(two, strided(two, own, near), PH_ERR_ARGUMENT, "overlaps itself");
  const ph_dimension still[] = {{4, 8, 0}};
  expect_refused(two, strided(two, own, still), PH_ERR_ARGUMENT, "overlaps itself");
  const ph_dimension rows[] = {{4, 8, 8}, {3, 32, -24}};
  expect_refused(two, strided(two, own, rows), PH_ERR_ARGUMENT, "overlaps itself");
  const ph_dimension into[] = {{4, 0, 8}};
  expect_refused(two, strided(two, own, into, true), PH_ERR_ARGUMENT, "overlaps itself");
  // One word to many places; and columns between columns.
  const ph_dimension spread[] = {{4, 0, 16}, {2, 0, 8}};
  ASSERT_EQ(two.ranks[0].vectored(1, strided(two, own, spread)), PH_OK);
  two.ranks.take(1, PH_REMOTE);
  two.ranks.take(0, PH_LOCAL);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(std::memcmp(two.memory.data() + i * 8, own.data(), 8), 0);
  expect_idle(two);
}

TEST(LayOut, strides_that_leave_region_or_address_space_are_refused_with_the_block) {
  Two two;
  std::vector<std::byte> own(4000);
  const ph_dimension beyond[] = {{5, 8, 16383}};  // the fifth block begins inside and ends outside
  expect_refused(two, strided(two, own, beyond), PH_ERR_RANGE, "block 4");
  const ph_dimension before[] = {{3, 8, 100}, {2, 24, -300}};
  expect_refused(two, strided(two, own, before), PH_ERR_RANGE, "block 3");
  const ph_dimension far[] = {{3, 8, INT64_MAX}};
  expect_refused(two, strided(two, own, far), PH_ERR_RANGE, "address space");
  const ph_dimension mine[] = {{3, INT64_MIN, 8}};
  expect_refused(two, strided(two, own, mine), PH_ERR_ARGUMENT, "address space");
}

// Against the definition of the strides, block by block.
TEST(LayOut, grids_of_many_forms_are_what_their_strides_say) {
  Two two(options(Reach::Kind::mapped));
  std::vector<std::byte> own = filled(64 << 10, 3);
  const std::vector<std::vector<ph_dimension>> forms = {
      {},
      {{1, 5, 5}},
      {{6, 8, 8}},
      {{6, 8, 100}},
      {{6, 100, 8}},
      {{6, -8, 16}, {3, 200, 300}},
      {{3, 24, 40}, {1, 0, 0}, {4, 100, 200}, {2, 1000, 5000}},
      {{2, 8, 8}, {2, 16, 16}, {3, 32, 64}},
      {{4, 0, 1000}, {5, 8, 40}},
  };
  for (const auto& form : forms) {
    std::fill(two.memory.bytes().begin(), two.memory.bytes().end(), std::byte{0});
    Vectored what = strided(two, own, form);
    std::get<Grid>(what.shape).own += 32000;
    ASSERT_EQ(two.ranks[0].vectored(1, what), PH_OK);
    two.ranks.take(1, PH_REMOTE);
    two.ranks.take(0, PH_LOCAL);
    std::vector<std::byte> wanted(two.memory.bytes().size());
    std::vector<std::size_t> index(form.size());
    for (bool more = true; more;) {
      std::ptrdiff_t here = 32000, there = 0;
      for (std::size_t d = 0; d < form.size(); ++d) {
        here += static_cast<std::ptrdiff_t>(index[d]) * form[d].local_stride_bytes;
        there += static_cast<std::ptrdiff_t>(index[d]) * form[d].remote_stride_bytes;
      }
      std::memcpy(wanted.data() + there, own.data() + here, 8);
      more = false;
      for (std::size_t d = 0; d < form.size() && !more; ++d) {
        more = ++index[d] < form[d].count;
        if (!more) index[d] = 0;
      }
    }
    EXPECT_EQ(std::memcmp(wanted.data(), two.memory.data(), wanted.size()), 0) << form.size();
  }
  expect_idle(two);
}

TEST(LayOut, a_count_of_nothing_is_a_bare_notification) {
  Two two;
  std::vector<std::byte> own(100);
  const ph_dimension none[] = {{4, 8, 8}, {0, 8, 8}};
  ASSERT_EQ(two.ranks[0].vectored(1, strided(two, own, none)), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  Blocks empty(two, own);
  empty.add(0, 0, 0).add(0, 0, 0);
  empty.put_segment(0).source = nullptr;
  empty.put_segment(1).target = {};
  ASSERT_EQ(two.ranks[0].vectored(1, empty.put()), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_TRUE(two.memory.untouched());
}

}  // namespace
}  // namespace photon::engine::test
