// The model of mapped memory, fed by hand with what keeps the promises, and with what breaks them;
// and programs that map memory of peers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "fed_oracle.hpp"
#include "simtest/case.hpp"
#include "simtest/map_model.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

constexpr std::uint64_t kKey = 5;

// Rank 1 owns the memory that rank 0 maps.
class MapModelFed : public testing::Test {
 protected:
  MapModelFed() {
    fed_.oracle.share_memory(true);
    allocate(first_, kKey);
  }
  using Memory = std::array<std::byte, kLentBytes>;

  void allocate(Memory& memory, std::uint64_t key) {
    const ph_region region{address_of(memory.data()), kLentBytes, key};
    maps_.allocated(1, region);
    fed_.oracle.memory(1).lease(Area::arena).bytes = memory;
    fed_.oracle.memory(1).refresh(Area::arena);
    fed_.oracle.enrolled(1, Area::arena, region);
  }
  void free() {
    fed_.oracle.retiring(1, Area::arena);
    fed_.oracle.retired(1, Area::arena);
    maps_.freed(1);
  }
  static std::uint64_t address_of(const std::byte* local) {
    return reinterpret_cast<std::uint64_t>(local);
  }
  static Step step_of(Verb verb, std::uint64_t offset = 0, std::uint64_t size_bytes = kLentBytes) {
    Step step;
    step.verb = verb;
    step.area = Area::arena;
    step.peer = 1;
    step.offset = offset;
    step.size_bytes = size_bytes;
    return step;
  }
  ph_status right_of(const Step& step, const Endpoint& at = 0) {
    return maps_.call_of(at, step).right;
  }
  void map(void* local, ph_status status = PH_OK, const Step& step = step_of(Verb::map)) {
    maps_.mapped(0, step, maps_.call_of(0, step), status, local);
  }
  void load(std::uint64_t offset = 0) { maps_.load(0, step_of(Verb::load, offset)); }
  void store(std::uint64_t offset, std::uint64_t size_bytes) {
    maps_.store(0, step_of(Verb::store, offset, size_bytes));
  }
  std::string finding() const { return fed_.finding(); }

  Memory first_{};
  Memory second_{};
  bool is_reached_ = true;
  FedOracle fed_;
  MapModel maps_{fed_.oracle, fed_.program,
                 [this](ph_rank, ph_rank, std::uint64_t) { return is_reached_; }};
};

TEST_F(MapModelFed, knows_what_each_call_has_to_say) {
  const Step whole = step_of(Verb::map);
  EXPECT_EQ(right_of(whole), PH_OK);
  EXPECT_EQ(right_of(whole, {0, 1}), PH_ERR_ARGUMENT) << "a lane";
  EXPECT_EQ(right_of(whole, 1), PH_ERR_NOT_FOUND) << "its own, which is not shared";
  EXPECT_EQ(right_of(step_of(Verb::map, 0, 0)), PH_ERR_ARGUMENT);
  Step wrong = whole;
  wrong.fault = Fault::stale_key;
  EXPECT_EQ(right_of(wrong), PH_ERR_KEY);
  wrong.fault = Fault::out_of_range;
  EXPECT_EQ(right_of(wrong), PH_ERR_RANGE);
  wrong.peer = 2;
  EXPECT_EQ(right_of(wrong), PH_ERR_RANK);
  is_reached_ = false;
  EXPECT_EQ(right_of(whole), PH_ERR_NOT_FOUND);
  free();
  EXPECT_EQ(right_of(whole), PH_ERR_KEY);
  fed_.oracle.share_memory(false);
  EXPECT_EQ(right_of(whole), PH_ERR_NOT_FOUND);
}

TEST_F(MapModelFed, finds_a_status_and_a_pointer_that_are_wrong) {
  map(first_.data(), PH_OK);
  EXPECT_EQ(finding(), "");
  map(first_.data() + 1, PH_OK);
  EXPECT_EQ(finding(), "region");
}

TEST_F(MapModelFed, finds_a_map_that_should_have_said_something_else) {
  map(nullptr, PH_ERR_NOT_FOUND);
  EXPECT_EQ(finding(), "status");
}

TEST_F(MapModelFed, finds_a_map_of_what_was_freed) {
  free();
  map(first_.data(), PH_OK);
  EXPECT_EQ(finding(), "status");
}

TEST_F(MapModelFed, finds_a_pointer_that_comes_with_an_error) {
  is_reached_ = false;
  map(first_.data(), PH_ERR_NOT_FOUND);
  EXPECT_EQ(finding(), "region");
}

TEST_F(MapModelFed, counts_the_maps_of_a_pointer) {
  map(first_.data());
  map(first_.data());
  map(first_.data() + 8, PH_OK, step_of(Verb::map, 8, 16));
  EXPECT_EQ(maps_.pick(0, 0), first_.data());
  EXPECT_EQ(maps_.pick(0, 3), first_.data() + 8);
  EXPECT_FALSE(maps_.unmapped(0, first_.data()));
  EXPECT_EQ(maps_.stale(0), nullptr);
  EXPECT_TRUE(maps_.unmapped(0, first_.data()));
  EXPECT_EQ(maps_.stale(0), first_.data());
  map(first_.data());
  EXPECT_EQ(maps_.stale(0), nullptr) << "it is mapped again";
  EXPECT_EQ(maps_.pick(1, 0), nullptr);
}

TEST_F(MapModelFed, stores_and_operations_write_the_same_bytes) {
  map(first_.data());
  load();
  store(100, 50);
  load();
  Operation& put = fed_.post(0, put_to(1, Area::arena, 120, 16));
  load();
  fed_.arrive(put);
  load();
  fed_.remote(put);
  store(110, 20);
  load();
  Operation& get = fed_.post(1, get_from(1, Area::arena, 100, 60));
  fed_.fetch(get);
  store(100, 10);
  fed_.local(get);
  EXPECT_EQ(finding(), "");
}

TEST_F(MapModelFed, finds_a_store_that_the_owner_does_not_see) {
  map(first_.data());
  const Memory before = first_;
  store(100, 50);
  std::copy(before.begin(), before.end(), first_.begin());
  load();
  EXPECT_EQ(finding(), "bytes");
}

TEST_F(MapModelFed, finds_a_get_that_misses_a_store_before_it) {
  map(first_.data());
  const Memory before = first_;
  store(100, 50);
  Operation& get = fed_.post(0, get_from(1, Area::arena, 100, 50));
  std::copy(before.begin() + 100, before.begin() + 150, get.destination().begin());
  fed_.local(get);
  EXPECT_EQ(finding(), "bytes");
}

TEST_F(MapModelFed, finds_a_put_that_had_landed_and_comes_again_over_a_store) {
  map(first_.data());
  Operation& put = fed_.post(0, put_to(1, Area::arena, 120, 16));
  fed_.arrive(put);
  fed_.remote(put);
  store(120, 16);
  std::memcpy(&first_[120], put.buffer.data(), 16);
  load();
  EXPECT_EQ(finding(), "bytes");
}

TEST_F(MapModelFed, what_was_freed_is_its_holders_alone) {
  map(first_.data());
  free();
  load();
  store(7, 9);
  load();
  allocate(second_, kKey + 1);
  load();
  EXPECT_EQ(finding(), "");
  first_[3] ^= std::byte{1};
  load();
  EXPECT_EQ(finding(), "bytes");
}

TEST_F(MapModelFed, finds_memory_that_is_given_out_before_all_have_let_go) {
  map(first_.data());
  free();
  allocate(first_, kKey + 1);
  EXPECT_EQ(finding(), "region");
}

TEST_F(MapModelFed, memory_that_nobody_holds_any_more_is_given_out_again) {
  map(first_.data());
  free();
  EXPECT_TRUE(maps_.unmapped(0, first_.data()));
  allocate(first_, kKey + 1);
  map(first_.data());
  free();
  maps_.gone(0);
  allocate(first_, kKey + 2);
  EXPECT_EQ(finding(), "");
}

TEST_F(MapModelFed, a_dead_owner_may_be_known_or_not) {
  fed_.oracle.died(1);
  map(first_.data());
  map(nullptr, PH_ERR_PEER);
  map(nullptr, PH_ERR_NOT_FOUND);
  load();
  EXPECT_EQ(finding(), "");
  map(nullptr, PH_ERR_DEPARTED);
  EXPECT_EQ(finding(), "status");
}

std::size_t count_of(const std::string& history, const std::string& words) {
  std::size_t count = 0;
  for (auto at = history.find(words); at != std::string::npos; at = history.find(words, at + 1))
    ++count;
  return count;
}

// Each of these events stands in docs/simulation.md.
TEST(MapPrograms, map_store_load_and_keep_the_promises) {
  for (const Profile profile : kProfiles) {
    std::size_t mapped = 0, freed = 0;
    for (std::uint64_t seed = 1; seed <= seeds_of(30); ++seed) {
      Case one{seed, profile, 4, 200, {}};
      one.maps = Maps::all;
      const Result first = run_and_repeat(one);
      mapped += count_of(first.history, "store to ");
      freed += count_of(first.history, "which was freed");
    }
    if (kIsBrief) continue;
    const bool is_shared = profile == Profile::mapped;
    EXPECT_EQ(mapped > 100, is_shared) << mapped;
    EXPECT_EQ(freed > 30, is_shared) << freed;
  }
}

TEST(MapPrograms, a_third_of_the_programs_map_and_the_others_are_what_they_were) {
  std::uint64_t with = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Choice choice;
    const std::string drawn = text_of(generate(seed, 4, 40, choice));
    choice.maps = Maps::none;
    const std::string without = text_of(generate(seed, 4, 40, choice));
    EXPECT_EQ(without.find(": unmap "), std::string::npos);
    with += drawn == without ? 0 : 1;
    choice.maps = Maps::all;
    EXPECT_NE(text_of(generate(seed, 4, 40, choice)), without);
  }
  EXPECT_GT(with, 75u);
  EXPECT_LT(with, 125u);
}

}  // namespace
}  // namespace photon::simtest
