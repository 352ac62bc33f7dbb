#include "service/rendezvous/announcements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "shortage.hpp"

namespace photon::service::rendezvous {
namespace {

constexpr std::uint32_t kNone = Announcements::kNone;

ph_buffer of(ph_rank rank, std::uint64_t tag, std::uint64_t size_bytes = 100,
             ph_buffer_kind kind = PH_RECV_BUFFER) {
  ph_buffer buffer{};
  buffer.rank = rank;
  buffer.kind = kind;
  buffer.tag = tag;
  buffer.size_bytes = size_bytes;
  buffer.target = {4096, 1};
  return buffer;
}
std::uint32_t add(Announcements& all, const ph_buffer& buffer, std::uint64_t owner_token = 1) {
  all.make_room();
  return all.add(buffer, owner_token, kNone);
}
ph_match exactly(ph_rank rank, std::uint64_t tag, std::uint64_t size_bytes = PH_ANY_SIZE) {
  return {PH_RECV_BUFFER, rank, tag, size_bytes};
}

TEST(Announcements, a_match_finds_the_oldest_of_its_kind_rank_tag_and_size) {
  Announcements all;
  EXPECT_EQ(all.find(exactly(0, 0)), kNone);
  const auto first = add(all, of(1, 5, 100));
  const auto second = add(all, of(1, 5, 200));
  const auto third = add(all, of(2, 5, 100));
  const auto fourth = add(all, of(1, 6, 100));
  add(all, of(1, 5, 100, PH_SEND_BUFFER));
  EXPECT_EQ(all.find(exactly(1, 5)), first);
  EXPECT_EQ(all.find(exactly(1, 5, 200)), second);
  EXPECT_EQ(all.find(exactly(PH_ANY_RANK, PH_ANY_TAG)), first);
  EXPECT_EQ(all.find(exactly(PH_ANY_RANK, 6)), fourth);
  EXPECT_EQ(all.find(exactly(2, PH_ANY_TAG)), third);
  EXPECT_EQ(all.find(exactly(2, 6)), kNone);
  EXPECT_EQ(all.find(exactly(1, 5, 101)), kNone);
  all.take(first);
  EXPECT_EQ(all.find(exactly(1, 5)), second);
  EXPECT_EQ(all.find(exactly(1, 5, 100)), kNone);
  all.release(second);
  EXPECT_EQ(all.find(exactly(PH_ANY_RANK, PH_ANY_TAG)), third);
}

TEST(Announcements, only_what_was_handed_out_is_found_as_taken_and_only_until_it_is_released) {
  Announcements all;
  const auto index = add(all, of(1, 5));
  const ph_buffer waiting = all.at(index).buffer;
  EXPECT_EQ(all.find_taken(waiting), kNone) << "not taken yet";
  const ph_buffer taken = all.take(index);
  EXPECT_EQ(all.find_taken(taken), index);
  const auto is_found = [&](auto change) {
    ph_buffer wrong = taken;
    change(wrong);
    return all.find_taken(wrong) != kNone;
  };
  EXPECT_FALSE(is_found([](auto& one) { one.token = 0; }));
  EXPECT_FALSE(is_found([](auto& one) { one.token += 1; }));
  EXPECT_FALSE(is_found([](auto& one) { one.token += std::uint64_t{1} << 32; }));
  EXPECT_FALSE(is_found([](auto& one) { one.rank = 2; }));
  EXPECT_FALSE(is_found([](auto& one) { one.kind = PH_SEND_BUFFER; }));
  EXPECT_FALSE(is_found([](auto& one) { one.tag = 6; }));
  EXPECT_FALSE(is_found([](auto& one) { ++one.size_bytes; }));
  EXPECT_FALSE(is_found([](auto& one) { ++one.target.address; }));
  EXPECT_FALSE(is_found([](auto& one) { one.target.key = 9; })) << "of another context";
  EXPECT_FALSE(is_found([&](auto& one) { one.data = &all; }));
  all.release(index);
  EXPECT_EQ(all.find_taken(taken), kNone);
  const auto again = add(all, of(1, 5));
  ASSERT_EQ(again, index);
  all.take(again);
  EXPECT_EQ(all.find_taken(taken), kNone) << "of the one before";
}

TEST(Announcements, what_a_rank_left_goes_with_it_but_for_what_came_whole) {
  Announcements all;
  const auto taken = add(all, of(1, 1));
  all.take(taken);
  add(all, of(1, 2));
  add(all, of(1, 3, 100, PH_SEND_REQUEST));
  const auto kept = add(all, of(2, 2));
  all.make_room();
  const auto block = all.blocks().take();
  ph_buffer whole = of(1, 4, 100, PH_SEND_BUFFER);
  whole.target = {};
  const auto small = all.add(whole, 1, block);
  add(all, of(1, 5, 100, PH_SEND_BUFFER));
  all.forget(1);
  EXPECT_EQ(all.held(), 3u);
  EXPECT_EQ(all.find(exactly(PH_ANY_RANK, PH_ANY_TAG)), kept);
  EXPECT_EQ(all.find({PH_SEND_BUFFER, 1, PH_ANY_TAG, PH_ANY_SIZE}), small);
  EXPECT_EQ(all.find({PH_SEND_REQUEST, 1, 3, PH_ANY_SIZE}), kNone);
  EXPECT_EQ(all.at(taken).state, Announcements::Entry::State::taken);
  all.release(small);
  EXPECT_EQ(all.blocks().used(), 0u);
}

TEST(Announcements, an_owner_names_its_own_and_only_while_they_wait) {
  Announcements all;
  const auto first = add(all, of(1, 5), 77);
  add(all, of(2, 5), 78);
  EXPECT_EQ(all.find_named(exactly(1, 5), 77), first);
  EXPECT_EQ(all.find_named(exactly(2, 5), 77), kNone) << "another rank's";
  EXPECT_EQ(all.find_named(exactly(1, 5), 79), kNone);
  all.take(first);
  EXPECT_EQ(all.find_named(exactly(1, 5), 77), kNone);
}

// Against a list that is searched from its beginning.
TEST(Announcements, thousands_are_found_as_in_a_plain_list) {
  Announcements all;
  std::vector<std::pair<std::uint32_t, ph_buffer>> plain;
  std::mt19937_64 random(7);
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 5 < 3) {
      const ph_buffer buffer = of(static_cast<ph_rank>(random() % 3), random() % 7, random() % 2,
                                  static_cast<ph_buffer_kind>(1 + random() % 3));
      plain.emplace_back(add(all, buffer), buffer);
      continue;
    }
    const ph_match match{
        static_cast<ph_buffer_kind>(1 + random() % 3),
        random() % 3 == 0 ? PH_ANY_RANK : static_cast<ph_rank>(random() % 3),
        random() % 3 == 0 ? PH_ANY_TAG : random() % 7,
        random() % 2 == 0 ? PH_ANY_SIZE : random() % 2,
    };
    const auto right = std::find_if(plain.begin(), plain.end(), [&](const auto& one) {
      const ph_buffer& buffer = one.second;
      return buffer.kind == match.kind &&
             (match.rank == PH_ANY_RANK || match.rank == buffer.rank) &&
             (match.tag == PH_ANY_TAG || match.tag == buffer.tag) &&
             (match.size_bytes == PH_ANY_SIZE || match.size_bytes == buffer.size_bytes);
    });
    const auto found = all.find(match);
    ASSERT_EQ(found, right == plain.end() ? kNone : right->first) << "step " << step;
    if (found == kNone) continue;
    if (random() % 2 == 0) all.take(found);
    all.release(found);
    plain.erase(right);
  }
  EXPECT_EQ(all.held(), plain.size());
}

TEST(Announcements, nothing_is_allocated_where_there_were_as_many_before) {
  using photon::test::allocations_of;
  Announcements all;
  std::vector<std::uint32_t> indices(1000);
  const auto fill = [&] {
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = add(all, of(1, i));
  };
  EXPECT_GT(allocations_of(fill), 0);
  for (const auto index : indices) all.release(index);
  EXPECT_EQ(allocations_of(fill), 0);
  all.make_room();
  EXPECT_EQ(allocations_of([&] { all.add(of(1, 1), 1, kNone); }), 0) << "after make_room()";
}

}  // namespace
}  // namespace photon::service::rendezvous
