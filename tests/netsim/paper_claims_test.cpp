// The matrix of the paper's figures, and verdicts on times that no run has.
#include "netsim/command/paper_claims.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "netsim/run/keys.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim::command {
namespace {

PaperMatrix matrix_of(const char* figure, const char* nodes = "8192") {
  auto matrix = paper_matrix(figure, nodes);
  EXPECT_TRUE(matrix) << (matrix ? "" : matrix.error());
  return matrix ? *matrix : PaperMatrix{};
}

PaperMatrix with_times(const char* figure, const std::function<Time(const PaperCell&)>& time) {
  PaperMatrix matrix = matrix_of(figure);
  for (PaperCell& cell : matrix.cells) cell.last_ps = time(cell);
  return matrix;
}

bool is_rvma(const PaperCell& cell) { return cell.side == kRvma; }

std::string verdict_of(const PaperMatrix& matrix, std::size_t claim) {
  return claims_of(matrix)[claim].verdict();
}

TEST(PaperMatrix, has_each_cell_once_and_all_are_good) {
  for (const char* figure : {"7", "8"}) {
    const std::size_t cells = figure[0] == '7' ? 476 : 448;
    for (const char* nodes : {"64", "512", "8192"}) {
      const PaperMatrix matrix = matrix_of(figure, nodes);
      EXPECT_EQ(matrix.cells.size(), cells);
      std::set<std::string> all;
      for (const PaperCell& cell : matrix.cells) {
        all.insert(complete_text(cell.settings));
        const auto topology = make_topology(cell.settings.network);
        ASSERT_TRUE(topology) << topology.error();
        EXPECT_EQ(nic::wrong_with(cell.settings.nic, (*topology)->is_ordered()), "");
        const auto motif = make_motif(cell.settings.motif);
        ASSERT_TRUE(motif) << motif.error();
        EXPECT_EQ((*motif)->ranks(), matrix.nodes * cell.settings.ranks_per_node);
      }
      EXPECT_EQ(all.size(), cells);
    }
  }
}

// What is run once for several cards.
TEST(PaperMatrix, cards_that_stand_for_others_take_the_same_time) {
  std::size_t stand_ins = 0;
  for (const char* figure : {"7", "8"}) {
    for (const PaperCell& cell : matrix_of(figure, "64").cells) {
      const bool is_itself = complete_text(cell.settings) == complete_text(cell.run_as);
      const bool is_tried = cell.Gbps == 100 || cell.Gbps == 2000;
      if (is_itself || !is_tried || cell.settings.ranks_per_node > 1) continue;
      const auto its = run(cell.settings);
      const auto same = run(cell.run_as);
      ASSERT_TRUE(its && same);
      EXPECT_EQ(its->failure, "");
      EXPECT_EQ(its->finished_ps, same->finished_ps) << cell.form << cell.topology << cell.side;
      ++stand_ins;
    }
  }
  EXPECT_EQ(stand_ins, 2U * 4 * 7 * 2);
}

TEST(PaperMatrix, a_card_with_costs_of_its_own_stands_for_itself) {
  nic::Settings card;
  card.protocol = "rdma-equal";
  EXPECT_EQ(nic::stand_in_for(card).protocol, "rvma");
  card.cq_ns = 1;
  EXPECT_EQ(nic::stand_in_for(card).protocol, "rdma-equal");
  card = {};
  card.protocol = "rdma-put-imm";
  EXPECT_EQ(nic::stand_in_for(card).protocol, "rdma-put-imm");
  card.addresses = "known";
  EXPECT_EQ(nic::stand_in_for(card).protocol, "rvma");
  card.order = "hold";
  EXPECT_EQ(nic::stand_in_for(card).protocol, "rdma-put-imm");
}

TEST(PaperMatrix, its_networks_have_as_many_hosts_as_it_says) {
  for (const char* nodes : {"64", "512", "8192"}) {
    const PaperMatrix matrix = matrix_of("8", nodes);
    for (const PaperCell& place : matrix.places_of("halo3d")) {
      if (place.Gbps != 100) continue;
      EXPECT_EQ((*make_topology(place.settings.network))->wire().hosts, matrix.nodes)
          << place.settings.network.shape;
    }
  }
}

TEST(PaperMatrix, has_the_rungs_of_all_ladders) {
  for (const char* figure : {"7", "8"}) {
    const PaperMatrix matrix = matrix_of(figure);
    std::size_t orders = 0;
    for (const std::string& form : matrix.forms) {
      for (const PaperCell& place : matrix.places_of(form)) {
        for (const Ladder& ladder : matrix.ladders_at(place)) {
          EXPECT_EQ(matrix.cells_of(place, ladder).size(), ladder.rungs.size());
          orders += ladder.name == "order" ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(orders, figure[0] == '7' ? 26U : 24U);
  }
}

TEST(PaperMatrix, refuses_other_figures_and_nodes) {
  EXPECT_EQ(paper_matrix("9", "64").error(), "--figure 9: allowed is 7 or 8");
  EXPECT_EQ(paper_matrix("7", "65").error(), "--nodes 65: allowed is 64, 512 or 8192");
}

TEST(PaperClaims, the_papers_own_figures_are_confirmed) {
  const PaperMatrix sweep = with_times("7", [](const PaperCell& cell) -> Time {
    if (is_rvma(cell)) return 1000;
    if (cell.Gbps == 2000) return cell.routing == "ugal" ? 4300 : 4250;
    return 3300;
  });
  for (const Claim& claim : claims_of(sweep)) {
    EXPECT_EQ(claim.verdict(), "confirmed") << claim.words << claim.least() << claim.most();
  }
  const PaperMatrix halo = with_times("8", [](const PaperCell& cell) -> Time {
    const Time unit = cell.topology == "torus" ? 1600 : 1000;
    if (is_rvma(cell)) return unit;
    if (cell.topology == "hyperx") return cell.Gbps == 2000 ? 1890 : 1640;
    return unit * 3 / 2;
  });
  for (const Claim& claim : claims_of(halo)) {
    EXPECT_EQ(claim.verdict(), "confirmed") << claim.words << claim.least() << claim.most();
  }
}

TEST(PaperClaims, equal_cards_confirm_no_speed_up) {
  for (const char* figure : {"7", "8"}) {
    const PaperMatrix matrix = with_times(figure, [](const PaperCell&) -> Time { return 5; });
    const std::vector<Claim> claims = claims_of(matrix);
    ASSERT_EQ(claims.size(), figure[0] == '7' ? 4U : 7U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(claims[i].verdict(), "not confirmed");
    EXPECT_EQ(claims.back().verdict(), figure[0] == '7' ? "confirmed" : "not confirmed");
  }
}

TEST(PaperClaims, a_speed_up_beside_some_cards_alone_is_said_so) {
  const PaperMatrix matrix = with_times("8", [](const PaperCell& cell) -> Time {
    const bool is_slow = cell.side == kUsual || cell.side == "rdma-put-ack";
    return is_slow && cell.form == "halo3d" ? 157 : 100;
  });
  EXPECT_EQ(verdict_of(matrix, 0), "only with halo3d against rdma-usual, rdma-put-ack");
  const PaperMatrix other = with_times("8", [](const PaperCell& cell) -> Time {
    return cell.form == "halo3d26" && !is_rvma(cell) ? 157 : 100;
  });
  EXPECT_EQ(verdict_of(other, 0), "only with halo3d26 against each card");
}

TEST(PaperClaims, the_mean_is_over_all_places) {
  const PaperMatrix matrix = with_times("8", [](const PaperCell& cell) -> Time {
    return !is_rvma(cell) && cell.topology == "torus" && cell.Gbps == 200 ? 1500 : 1000;
  });
  const Claim mean = claims_of(matrix)[0];
  ASSERT_EQ(mean.findings.size(), 14U);
  for (const Finding& finding : mean.findings) {
    EXPECT_NEAR(finding.value, 1 + 0.5 / 28, 1e-12);
  }
}

TEST(PaperClaims, at_least_two_is_of_the_slowest_place_of_todays_rates) {
  const auto times = [](Time at_400, Time at_2000) {
    return with_times("7", [=](const PaperCell& cell) -> Time {
      if (is_rvma(cell)) return 100;
      if (cell.Gbps == 2000) return at_2000;
      return cell.Gbps == 400 && cell.topology == "fattree" ? at_400 : 300;
    });
  };
  EXPECT_EQ(verdict_of(times(200, 100), 1), "confirmed");
  EXPECT_EQ(verdict_of(times(199, 300), 1),
            "only with sweep3d, minimal compute, 32 ranks a node against each card");
}

TEST(PaperClaims, topologies_are_compared_at_each_rate) {
  const PaperMatrix matrix = with_times("8", [](const PaperCell& cell) -> Time {
    const bool is_slow = cell.topology == "torus" && cell.Gbps == 200;
    return is_slow && (is_rvma(cell) || cell.side == kUsual) ? 150 : 100;
  });
  for (std::size_t i : {3, 5, 6}) EXPECT_EQ(verdict_of(matrix, i), "not confirmed");
  EXPECT_EQ(verdict_of(matrix, 4),
            "only with halo3d against rdma-usual; halo3d26 against "
            "rdma-usual");
}

TEST(PaperClaims, one_routing_of_either_card_that_is_slower_matters) {
  const auto times = [](const char* side, Time time) {
    return with_times("7", [=](const PaperCell& cell) -> Time {
      return cell.side == side && cell.topology == "hyperx" && cell.routing == "static" ? time
                                                                                        : 100;
    });
  };
  EXPECT_EQ(verdict_of(times(kRvma, 110), 3), "confirmed");
  EXPECT_EQ(verdict_of(times(kRvma, 112), 3),
            "only with sweep3d, minimal compute, 32 ranks a node against each card");
  EXPECT_EQ(verdict_of(times(kRvma, 89), 3),
            "only with sweep3d, minimal compute, 32 ranks a node against each card");
  EXPECT_EQ(claims_of(times(kUsual, 112))[3].most(), 1.12);
}

}  // namespace
}  // namespace photon::netsim::command
