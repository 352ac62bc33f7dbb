// Motifs on ranks without cards and network: what they send, that they finish, whatever the order.
#include <gtest/gtest.h>

#include <functional>

#include "fake_ranks.hpp"
#include "netsim/motif/allreduce.hpp"
#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

MotifSettings motif_of(const std::string& name, const std::string& ranks) {
  MotifSettings settings;
  settings.name = name;
  settings.ranks = ranks;
  return settings;
}

std::unique_ptr<Motif> made_of(const MotifSettings& settings) {
  auto motif = make_motif(settings);
  EXPECT_TRUE(motif) << motif.error();
  return std::move(*motif);
}

// Plays it with many orders of delivery; every rank ends once and every buffer is given back once.
std::vector<FakeRanks::Sent> play_well(const MotifSettings& settings) {
  std::vector<FakeRanks::Sent> sent;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto motif = made_of(settings);
    FakeRanks ranks(*motif, seed, seed == 0 ? 0 : seed % 2 == 0 ? 1000 : 100'000'000);
    ranks.play();
    for (std::uint32_t rank = 0; rank < motif->ranks(); ++rank) {
      EXPECT_EQ(ranks.finished[rank], 1U) << settings.name << ", rank " << rank;
    }
    EXPECT_FALSE(ranks.released_too_much);
    EXPECT_EQ(ranks.held_in_all(), 0) << settings.name << ' ' << settings.ranks;
    if (seed == 0) sent = ranks.sent;
    EXPECT_EQ(ranks.sent.size(), sent.size());
  }
  return sent;
}

std::map<std::uint32_t, std::size_t> by_bytes(const std::vector<FakeRanks::Sent>& sent) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const auto& one : sent) ++counts[one.message.bytes];
  return counts;
}

using Counts = std::map<std::uint32_t, std::size_t>;

TEST(Motif, a_sweep_hands_on_24_blocks_of_19200_bytes) {
  MotifSettings settings = motif_of("sweep3d", "4x3");
  EXPECT_EQ(by_bytes(play_well(settings)), (Counts{{19200, 24 * (3 * 3 + 4 * 2)}}));
  settings.steps = 3;
  EXPECT_EQ(play_well(settings).size(), 3 * 24U * (3 * 3 + 4 * 2));
  settings = motif_of("sweep3d", "1x1");
  EXPECT_EQ(play_well(settings).size(), 0U);
  settings = motif_of("sweep3d", "1x5");
  EXPECT_EQ(play_well(settings).size(), 24U * 4);
  settings = motif_of("sweep3d", "5x1");
  settings.nx = 10;
  settings.kba = 1;  // more bits than a word has
  EXPECT_EQ(by_bytes(play_well(settings)), (Counts{{1920, 240 * 4}}));
}

// Without latency the sweep's time is that of its longest chain of blocks.
TEST(Motif, a_sweep_computes_11_2_us_a_block_along_its_longest_chain) {
  const auto motif = made_of(motif_of("sweep3d", "4x3"));
  FakeRanks ranks(*motif, 1, 0);
  ranks.play();
  EXPECT_EQ(ranks.computed, 12U * 24 * 11'200'000);
  // Four corners twice. The next sweep fills from its corner while the last one drains.
  EXPECT_GE(ranks.last, (24U + 2 * (3 + 2)) * 11'200'000);
  EXPECT_LE(ranks.last, (24U + 8 * (3 + 2)) * 11'200'000);
}

// A rank sends its block only when both faces of that block have come.
TEST(Motif, no_rank_of_a_sweep_sends_before_its_faces_have_come) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto motif = made_of(motif_of("sweep3d", "3x3"));
    FakeRanks ranks(*motif, seed, 50'000'000);
    ranks.play();
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, Time> when;
    for (const auto& one : ranks.sent)
      when[{one.from, one.message.peer, one.message.tag}] = one.time;
    for (const auto& [what, time] : when) {
      const auto [from, to, tag] = what;
      for (std::uint32_t before = 0; before < 9; ++before) {
        const auto found = when.find({before, from, tag});
        if (found == when.end()) continue;
        EXPECT_GE(time, found->second + 11'200'000);
      }
    }
  }
}

TEST(Motif, a_halo_sends_faces_and_an_allreduce) {
  MotifSettings settings = motif_of("halo3d", "3x2x2");
  settings.nx = 4;
  settings.ny = 5;
  settings.nz = 6;
  settings.reduce = false;
  EXPECT_EQ(by_bytes(play_well(settings)), (Counts{{240, 16}, {192, 12}, {160, 12}}));
  settings.reduce = true;
  settings.steps = 4;  // 12 ranks: 4 pairs, 8 in 3 rounds
  EXPECT_EQ(by_bytes(play_well(settings)), (Counts{{8, 4 * 32}, {240, 64}, {192, 48}, {160, 48}}));
}

TEST(Motif, a_halo_of_26_sends_8192_256_and_8_bytes) {
  MotifSettings settings = motif_of("halo3d26", "3x3x3");
  settings.nx = settings.ny = settings.nz = 32;
  settings.reduce = false;
  EXPECT_EQ(by_bytes(play_well(settings)), (Counts{{8192, 108}, {256, 144}, {8, 64}}));
  settings.reduce = true;
  settings.steps = 3;  // 27 ranks: 11 pairs, 16 in 4 rounds
  EXPECT_EQ(by_bytes(play_well(settings)),
            (Counts{{8192, 3 * 108}, {256, 3 * 144}, {8, 3 * (64 + 22 + 64)}}));
}

TEST(Motif, an_allreduce_ends_for_any_number_of_ranks) {
  for (std::uint32_t ranks = 1; ranks <= 20; ++ranks) {
    MotifSettings settings = motif_of("halo3d", "1x1x" + std::to_string(ranks));
    settings.steps = 3;
    play_well(settings);
  }
}

// An allreduce that one rank begins later than the others.
class Reducing final : public Motif {
 public:
  Reducing(std::uint32_t ranks, std::uint32_t late)
      : ranks_(ranks), late_(late), allreduce_(ranks, 0) {}
  std::uint32_t ranks() const override { return ranks_; }
  std::uint32_t most_bytes() const override { return 8; }
  void start(std::uint32_t rank, Ranks& ranks) override {
    ranks.compute(rank, rank == late_ ? 1'000'000 : 0);
  }
  void on_computed(std::uint32_t rank, Ranks& ranks) override {
    if (allreduce_.begin(rank, 0, ranks)) ranks.finish(rank);
  }
  void on_message(std::uint32_t rank, std::uint32_t, std::uint16_t tag, Ranks& ranks) override {
    if (allreduce_.on_message(rank, tag, ranks)) ranks.finish(rank);
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t late_;
  Allreduce allreduce_;
};

TEST(Motif, no_rank_ends_an_allreduce_before_all_have_begun_it) {
  for (std::uint32_t count = 2; count <= 17; ++count) {
    for (std::uint32_t late = 0; late < count; ++late) {
      Reducing motif(count, late);
      FakeRanks ranks(motif, late, 1000);
      ranks.play();
      for (std::uint32_t rank = 0; rank < count; ++rank) {
        EXPECT_GE(ranks.ends[rank], 1'000'000U) << count << " ranks, late " << late;
      }
    }
  }
}

TEST(Motif, a_uniform_load_offers_what_was_asked) {
  MotifSettings settings = motif_of("uniform", "16");
  settings.bytes = 1000;
  settings.load = 0.4;
  settings.warmup_us = 20;
  settings.measure_us = 80;
  const auto sent = play_well(settings);
  // 16 ranks x 100 us x 5 GB/s / 1000 B
  EXPECT_NEAR(static_cast<double>(sent.size()), 8000, 400);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
  for (const auto& one : sent) {
    EXPECT_NE(one.from, one.message.peer);
    EXPECT_EQ(one.message.tag, one.time < 20'000'000 ? 0 : 1);
    ++pairs[{one.from, one.message.peer}];
  }
  EXPECT_EQ(pairs.size(), 16U * 15);
}

TEST(Motif, whole_runs_on_a_torus_send_every_message) {
  for (const char* name : {"sweep3d", "halo3d", "halo3d26", "uniform"}) {
    Settings settings = table_settings();
    settings.network = {"torus", "4x3x2"};
    settings.motif = motif_of(name, name[0] == 's' ? "4x6" : "4x3x2");
    std::vector<Time> ends;
    for (settings.threads = 1; settings.threads <= 3; ++settings.threads) {
      const auto result = run(settings);
      ASSERT_TRUE(result) << result.error();
      EXPECT_EQ(result->failure, "") << name;
      if (settings.threads == 1) ends = result->finished_ps;
      EXPECT_EQ(result->finished_ps, ends) << name;
    }
  }
}

TEST(Motif, many_ranks_of_a_node_play_every_motif) {
  for (const char* name : {"sweep3d", "halo3d", "halo3d26", "uniform"}) {
    Settings settings = table_settings();
    settings.network = {"router", "4"};
    settings.ranks_per_node = 6;
    settings.local_ns = name[0] == 'h' ? 0 : 500;
    settings.motif = motif_of(name, name[0] == 's' ? "4x6" : "4x3x2");
    const auto result = run(settings);
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(result->failure, "") << name;
  }
}

// 8 ranks: 3 rounds of 8 messages, and 14 steps of 8.
TEST(Motif, the_schedules_that_ship_play_on_a_torus) {
  const std::string folder = std::string(__FILE__).substr(0, std::string(__FILE__).rfind("tests/"));
  const std::pair<const char*, std::uint64_t> files[] = {{"doubling", 3 * 8 * 8},
                                                         {"ring", 14 * 8 * 131072}};
  for (const auto& [name, bytes] : files) {
    Settings settings = table_settings();
    settings.network = {"torus", "2x2x2"};
    settings.motif.name = "schedule";
    settings.motif.file = folder + "netsim/schedules/allreduce-" + name + "-8.txt";
    const auto result = run(settings);
    ASSERT_TRUE(result) << result.error();
    EXPECT_EQ(result->failure, "");
    EXPECT_EQ(result->posted_bytes, bytes);
  }
}

TEST(Motif, bad_settings_are_one_sentence_with_key_value_and_what_is_allowed) {
  const std::vector<std::pair<std::string, std::function<void(MotifSettings&)>>> cases = {
      {"motif.kba = 7: allowed is a divisor of motif.nz = 30", [](MotifSettings& s) { s.kba = 7; }},
      {"motif.kba = 0: allowed is", [](MotifSettings& s) { s.kba = 0; }},
      {"motif.ranks = 2x2x2: allowed is a grid of two numbers",
       [](MotifSettings& s) { s.ranks = "2x2x2"; }},
      {"motif.ranks = 4x4: allowed is a grid of three numbers",
       [](MotifSettings& s) { s.name = "halo3d"; }},
      {"motif.ny = 4294967295: allowed is", [](MotifSettings& s) { s.ny = 4294967295U; }},
      {"motif.kba = 1: allowed is",
       [](MotifSettings& s) {
         s.kba = 1;
         s.nz = 5000;
       }},
      {"run.iterations = 4294967295: allowed is", [](MotifSettings& s) { s.steps = ~0U; }},
      {"run.iterations = 0: allowed is", [](MotifSettings& s) { s.steps = 0; }},
      {"motif.compute_ns = -2: allowed is", [](MotifSettings& s) { s.compute_ns = -2; }},
      {"motif.load = 0: allowed is",
       [](MotifSettings& s) {
         s.name = "uniform";
         s.load = 0;
       }},
      {"motif.ranks = 1: allowed is",
       [](MotifSettings& s) {
         s.name = "uniform";
         s.ranks = "1";
       }},
      {"motif.file = /nowhere: allowed is a file that can be read",
       [](MotifSettings& s) {
         s.name = "schedule";
         s.file = "/nowhere";
       }},
      {"motif.file = /: allowed is a file that can be read",
       [](MotifSettings& s) {
         s.name = "schedule";
         s.file = "/";
       }},
      {"motif.compute_ns = 1e+09: allowed is",
       [](MotifSettings& s) {
         s.compute_ns = 1e9;
         s.steps = 1000;
       }},
      {"motif.load = 1e-06: allowed is",
       [](MotifSettings& s) {
         s.name = "uniform";
         s.load = 1e-6;
         s.bytes = ~0U;
       }},
      {"motif.name = dance: allowed is", [](MotifSettings& s) { s.name = "dance"; }},
  };
  for (const auto& [text, change] : cases) {
    MotifSettings settings = motif_of("sweep3d", "4x4");
    change(settings);
    const auto motif = make_motif(settings);
    ASSERT_FALSE(motif) << text;
    EXPECT_EQ(motif.error().substr(0, text.size()), text);
  }
}

}  // namespace
}  // namespace photon::netsim
