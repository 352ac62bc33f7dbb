// Copies by the kernel that worked and are refused later, at any moment of any operation.
#include <cstring>

#include "vectored_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::size_t kBytes = 40000;  // more than twice the bulk ring: a put may learn

// What rank 0 does with the memory of rank 1, one after the other. Each id has to come once.
class Doing {
 public:
  explicit Doing(unsigned calls) : two_(options(Reach::Kind::call)) {
    two_.ranks.net().seats[0].calls_left = calls;
  }

  // The fourth put of a size, and the fourth get, is the first that the kernel makes.
  void do_all() {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) put(seed, seed % 2 == 0 ? 0 : PH_DELIVERED);
    for (std::uint64_t seed = 5; seed <= 8; ++seed) get(seed);
    put_blocks(9);
    get_blocks(10);
    put(11, 0);
    get(12);
  }
  bool was_refused() { return two_.ranks.net().seats[0].calls_left == 0; }
  unsigned calls() { return two_.ranks.net().seats[0].calls_count; }

 private:
  std::span<std::byte> there() { return two_.memory.bytes().first(kBytes); }

  void expect_done(const char* what, std::uint64_t seed) {
    SCOPED_TRACE(std::string(what) + ' ' + std::to_string(seed));
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, two_.remote_id);
    const ph_completion done = two_.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(done.id, two_.local_id);
    EXPECT_EQ(done.status, PH_OK);
    for (int i = 0; i < 50; ++i) two_.ranks.turn();
    EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
    EXPECT_EQ(two_.count(1, PH_REMOTE), 0u);
    EXPECT_TRUE(two_.memory.guards_whole());
    expect_idle(two_);
  }

  void put(std::uint64_t seed, std::uint32_t flags) {
    const auto source = filled(kBytes, seed);
    ASSERT_EQ(two_.ranks[0].put(1, two_.put(source, flags)), PH_OK);
    expect_done("put", seed);
    EXPECT_EQ(first_difference(there(), seed), kBytes);
  }

  void get(std::uint64_t seed) {
    fill(there(), seed);
    std::vector<std::byte> landing(kBytes);
    ASSERT_EQ(two_.ranks[0].get(1, two_.get(landing)), PH_OK);
    expect_done("get", seed);
    EXPECT_EQ(first_difference(landing, seed), kBytes);
  }

  void put_blocks(std::uint64_t seed) {
    std::vector<std::byte> own = filled(12 * 3000, seed);
    Blocks blocks(two_, own);
    blocks.add_many(12, 3000);
    ASSERT_EQ(two_.ranks[0].vectored(1, blocks.put()), PH_OK);
    expect_done("put_vector", seed);
    EXPECT_TRUE(blocks.are_equal());
  }

  void get_blocks(std::uint64_t seed) {
    fill(there(), seed);
    std::vector<std::byte> own(12 * 3000);
    Blocks blocks(two_, own);
    blocks.add_many(12, 3000);
    ASSERT_EQ(two_.ranks[0].vectored(1, blocks.get()), PH_OK);
    expect_done("get_vector", seed);
    EXPECT_TRUE(blocks.are_equal());
  }

  Two two_;
};

TEST(RefusedCopies, at_any_call_of_any_operation_the_peer_copies_what_is_left) {
  unsigned refused_at = 1;
  for (bool was_refused = true; was_refused && !HasFailure(); ++refused_at) {
    SCOPED_TRACE("refused at call " + std::to_string(refused_at));
    Doing doing(refused_at);
    doing.do_all();
    was_refused = doing.was_refused();
    if (was_refused) {
      EXPECT_EQ(doing.calls(), refused_at) << "asked again";
    }
  }
  // The first put and the first get by the kernel take ten calls each. What comes later goes by the
  // way that has been faster so far, which depends on what else the machine does.
  EXPECT_GT(refused_at, 20u) << "the operations were not the kernel's";
}

TEST(RefusedCopies, a_get_that_copied_a_part_under_its_way_comes_whole_from_its_owner) {
  Two two(options(Reach::Kind::call));
  fill(two.memory.bytes(), 3);
  two.get_until_kernel(20000);
  ASSERT_EQ(two.ranks.net().seats[0].calls_count, 0u);
  two.ranks.net().seats[0].calls_left = 3;
  std::vector<std::byte> landing(20000);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_EQ(two.ranks.net().seats[0].calls_count, 3u);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_TRUE(two.ranks[0].last_error().what.empty()) << "a way that is left is no error";
}

}  // namespace
}  // namespace photon::engine::test
