// What a NIC has to be shown before fragments are posted, for how long, and what becomes of an
// operation whose memory the NIC does not take.
#include <sys/mman.h>

#include "base/resource_limits.hpp"
#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

FakeOptions shown_nics(Posting posting) {
  FakeOptions chosen = nics(posting);
  chosen.local_granule = 4096;
  return chosen;
}

class LocalMemory : public testing::TestWithParam<Posting> {
 protected:
  static FakeOptions options() { return shown_nics(GetParam()); }
  static FakeOptions one_page_at_a_time() {
    FakeOptions chosen = options();
    chosen.config.source_cache_bytes = 16 << 10;
    return chosen;
  }
  static void expect_nothing_held(Nics& two) {
    EXPECT_EQ(two.ranks[0].sources().pins(), 0u);
    EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  }
  // Its three fragments, less 96 bytes, are at rank 1, and both sides hear of it.
  static void expect_put(Nics& two) {
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(first_difference(two.memory.bytes().first(3 * kFragment - 96), 7),
              3 * kFragment - 96);
    expect_nothing_held(two);
  }
  static const transport::PostedFragment& fragment(Nics& two, std::size_t i) {
    return two.posted()[i];
  }
};
INSTANTIATE_TEST_SUITE_P(Postings, LocalMemory, all_postings(), posting_name);

TEST_P(LocalMemory, all_of_an_operations_memory_is_shown_once_and_given_back_when_it_is_over) {
  Nics two(options());
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  EXPECT_EQ(two.posted().size(), 3u);
  EXPECT_EQ(two.seat().locals.size(), 1u);
  EXPECT_EQ(two.ranks[0].sources().pins(), 1u);
  two.land();
  two.serve();
  EXPECT_EQ(two.seat().locals.size(), 1u) << "two fragments are under way";
  two.land_all();
  EXPECT_TRUE(two.seat().locals.empty());
  EXPECT_EQ(two.seat().locals_asked, 1u);
  expect_put(two);
}

TEST_P(LocalMemory, a_gets_destination_is_shown_for_writing) {
  Nics two(options());
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> landing(2 * kFragment);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  two.serve();
  ASSERT_EQ(two.seat().locals.size(), 1u);
  EXPECT_TRUE(two.seat().locals.begin()->second.is_written);
  two.land_all();
  EXPECT_EQ(two.local(), Ids{two.local_id});
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_TRUE(two.seat().locals.empty());
}

TEST_P(LocalMemory, what_is_larger_than_an_entry_goes_part_by_part_and_unannounced) {
  Nics two(one_page_at_a_time());
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  unsigned parts = 0;
  for (two.serve(); !two.posted().empty(); two.serve(), ++parts) {
    ASSERT_EQ(two.posted().size(), 1u) << "the next part has to be shown first";
    EXPECT_FALSE(fragment(two, 0).imm) << "it may have to go on without the NIC";
    two.land();
  }
  EXPECT_GE(parts, 3u);
  expect_put(two);
}

TEST_P(LocalMemory, where_the_nic_takes_no_memory_operations_go_through_records) {
  Nics two(options());
  two.seat().locals_max = 0;
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  EXPECT_EQ(two.seat().posted_count, 0u);
  expect_put(two);
  std::vector<std::byte> landing(2 * kFragment);
  fill(two.memory.bytes(), 3);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.seat().posted_count, 0u);
  EXPECT_EQ(two.ranks[0].sources().counts().refusals, 2u);
  expect_nothing_held(two);
}

TEST_P(LocalMemory, that_the_nic_takes_no_memory_is_told_once_with_the_limit) {
  FakeOptions warned = options();
  warned.config.log = base::LogLevel::warn;
  Nics two(warned);
  two.seat().locals_max = 0;
  testing::internal::CaptureStderr();
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  expect_put(two);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("registers no more memory"), std::string::npos) << said;
  EXPECT_EQ(said.find("registers no more memory"), said.rfind("registers no more memory")) << said;
  const std::uint64_t limit_bytes = base::locked_memory_limit_bytes();
  if (limit_bytes == base::kNoLimit) return;
  const std::string limit = "RLIMIT_MEMLOCK, " + std::to_string(limit_bytes / 1024) + " KiB";
  EXPECT_NE(said.find(limit), std::string::npos) << said;
}

TEST_P(LocalMemory, a_put_that_cannot_go_on_with_the_nic_sends_the_rest_in_chunks) {
  for (const std::uint32_t flags : {0u, std::uint32_t{PH_DELIVERED}}) {
    Nics two(one_page_at_a_time());
    ASSERT_EQ(two.put_fragments(3, flags), PH_OK);
    two.seat().locals_max = 0;
    ASSERT_EQ(two.posted().size(), 1u);
    two.land();
    two.serve();
    EXPECT_TRUE(two.posted().empty());
    EXPECT_EQ(two.seat().posted_count, 1u);
    expect_put(two);
  }
}

TEST_P(LocalMemory, a_get_that_cannot_go_on_with_the_nic_is_answered_by_the_owner) {
  Nics two(one_page_at_a_time());
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> landing(3 * kFragment);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  two.serve();
  two.seat().locals_max = 0;
  two.land();
  two.serve();
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two.seat().posted_count, 1u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  expect_nothing_held(two);
}

TEST_P(LocalMemory, who_finds_the_nic_full_waits_for_the_fragments_that_use_it) {
  Nics two(options());
  two.seat().locals_max = 1;
  std::vector<std::byte> landing(2 * kFragment);
  fill(two.memory.bytes(), 7);
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  two.local_id = 12;
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  two.serve();
  EXPECT_EQ(two.posted().size(), 2u) << "the put's";
  const auto asked = two.seat().locals_asked;
  two.serve();
  EXPECT_EQ(two.seat().locals_asked, asked) << "nothing has changed";
  two.land();
  two.land();
  two.serve();
  EXPECT_EQ(two.posted().size(), 2u) << "the get's";
  two.land_all();
  EXPECT_EQ(two.local(), (Ids{11, 12}));
  EXPECT_EQ(two.ranks[0].sources().counts().refusals, 0u);
  expect_nothing_held(two);
}

TEST_P(LocalMemory, what_the_caller_has_registered_stays_known_until_it_is_taken_back) {
  Nics two(options());
  std::vector<std::byte> source = filled(4 * kFragment, 7);
  const ph_region region = two.ranks.add(0, source);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(two.ranks[0].put(1, two.put(std::span(source).subspan(i * kFragment, kFragment))),
              PH_OK);
    two.land_all();
  }
  EXPECT_EQ(two.seat().locals_asked, 1u);
  EXPECT_EQ(two.ranks[0].sources().counts().hits, 3u);
  ASSERT_EQ(two.seat().locals.size(), 1u);
  EXPECT_EQ(remove_region(two.ranks[0], region.key), PH_OK);
  EXPECT_TRUE(two.seat().locals.empty());
  two.ranks.probe(0, PH_LOCAL);
  expect_nothing_held(two);
}

TEST_P(LocalMemory, memory_of_ph_alloc_is_forgotten_before_it_can_be_somebody_elses) {
  Nics two(options());
  ph_region region{};
  ASSERT_EQ(two.ranks[0].allocate(2 * kFragment, region), PH_OK);
  auto* base = reinterpret_cast<std::byte*>(region.address);
  ASSERT_EQ(two.ranks[0].put(1, two.put({base, 2 * kFragment})), PH_OK);
  two.land_all();
  EXPECT_EQ(two.seat().locals.size(), 1u);
  EXPECT_EQ(free_memory(two.ranks[0], base), PH_OK);
  EXPECT_TRUE(two.seat().locals.empty());
}

// A program that maps other pages where it had a source: the NIC must see those.
TEST_P(LocalMemory, pages_that_were_replaced_are_shown_anew) {
  Nics two(options());
  constexpr std::size_t kBytes = 2 * kFragment;
  void* place = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  const std::span<std::byte> source(static_cast<std::byte*>(place), kBytes);
  for (unsigned round = 1; round <= 3; ++round) {
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    EXPECT_EQ(two.seat().locals_asked, round);
    two.land_all();
    ASSERT_TRUE(two.seat().locals.empty()) << "the operation is over and nothing is promised";
    ASSERT_EQ(::mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                     -1, 0),
              place);
  }
  ::munmap(place, kBytes);
}

TEST_P(LocalMemory, a_peer_that_is_lost_leaves_nothing_pinned) {
  FakeOptions chosen = options();
  chosen.nic_queue = 2;
  Nics two(chosen);
  ASSERT_EQ(two.put_fragments(4), PH_OK);
  ASSERT_EQ(two.put_as(2, 12, 2), PH_OK);
  two.seat().gone[1] = {PH_ERR_PEER, 0, "it has ended", 1};
  two.serve();
  EXPECT_EQ(two.ranks[0].sources().pins(), 1u) << "NICs use it";
  two.refuse(PH_ERR_PEER);
  two.refuse(PH_ERR_PEER);
  two.serve();
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 2u);
  expect_nothing_held(two);
  EXPECT_TRUE(two.seat().locals.empty());
}

// Another peer's operations may need the NIC's room.
TEST(LocalMemoryOfNamed, is_not_pinned_for_who_has_no_line_for_its_record) {
  Nics two(shown_nics(Posting::named));
  two.fill_ring();
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  EXPECT_EQ(two.ranks[0].sources().pins(), 0u);
  EXPECT_EQ(two.seat().locals_asked, 0u);
  two.serve(1);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
}

TEST_P(LocalMemory, a_refusal_by_the_peers_nic_gives_it_back) {
  Nics two(options());
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  two.refuse();
  two.serve();
  EXPECT_EQ(two.seat().locals.size(), 1u);
  two.land();
  two.land();
  two.serve();
  EXPECT_TRUE(two.seat().locals.empty());
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).at(0).status, PH_ERR_KEY);
  EXPECT_EQ(two.ranks[0].sources().pins(), 0u);
}

}  // namespace
}  // namespace photon::engine::test
