// Nothing is allocated after warm-up: the allocations of this program are counted, by thread. Under
// a sanitizer some of the cases are run.
#include <gtest/gtest.h>

#include <iterator>

#include "allocations.hpp"
#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"
#include "rounds.hpp"

namespace photon::netsim {
namespace {

// Notes how many allocations there were when the warm-up was over, and at the end.
class Counted final : public Watcher {
 public:
  explicit Counted(Time warm) : warm_(warm) {}
  bool is_due() override { return true; }
  void progress(Time now, double) override {
    if (now < warm_) return;
    if (calls_++ == 0) first_ = allocations();
    last_ = allocations();
  }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t after_warm_up() const { return last_ - first_; }

 private:
  Time warm_;
  std::uint64_t calls_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

// The warm-up ends when so much of the run is over.
std::uint64_t allocations_after(double share, const Settings& settings) {
  const auto whole = run(settings);
  EXPECT_TRUE(whole && whole->failure.empty());
  auto simulation = make_simulation(settings);
  if (!whole || !simulation) return 0;
  Counted counts(static_cast<Time>(share * static_cast<double>(whole->last_ps)));
  const std::uint64_t before = allocations();
  EXPECT_EQ((*simulation)->run(&counts).last_ps, whole->last_ps);
  EXPECT_GT(allocations(), before);  // it does count
  EXPECT_GT(counts.calls(), 50U);
  return counts.after_warm_up();
}

Settings settings_of(const TopologySettings& network, const std::string& protocol) {
  Settings settings = table_settings();
  settings.network = network;
  settings.nic.protocol = protocol;
  settings.nic.order = protocol == "rdma-put" ? "hold" : "none";
  return settings;
}

constexpr const char* kProtocols[] = {"bare",         "rdma-usual",      "rdma-equal",   "rdma-put",
                                      "rdma-put-ack", "rdma-put-behind", "rdma-put-imm", "rvma"};

TEST(Allocation, nothing_is_allocated_after_warm_up_on_any_topology) {
  const TopologySettings pairs[] = {{"router", "12"},
                                    {"torus", "3x4"},
                                    {"hyperx", "2x3", "static", 2, 2},
                                    {"hyperx", "2x3", "adaptive", 2, 2},
                                    {"fattree", "3,2:2,2:2"},
                                    {"fattree", "3,2:2,2:2", "adaptive"},
                                    {"dragonfly", "1:3:2:4"},
                                    {"dragonfly", "1:3:2:4", "ugal"},
                                    {"dragonfly", "1:3:2:4", "valiant"}};
  for (std::size_t i = 0; i < std::size(pairs); i += photon::test::rounds(1, 4)) {
    const TopologySettings& network = pairs[i];
    Settings settings = settings_of(network, "bare");
    settings.motif = {"exchange", "3x2x2", 19200, 100, 1};
    EXPECT_EQ(allocations_after(0.9, settings), 0U) << network.topology << ' ' << network.routing;
  }
}

// A card's tables and rings double when more is open at once than ever before. One router keeps the
// ranks in step, so that this happens early.
TEST(Allocation, nothing_is_allocated_after_warm_up_by_any_card) {
  std::uint64_t number = 0;
  for (const char* protocol : kProtocols) {
    for (const char* motif : {"exchange", "alltoall", "sweep3d"}) {
      if (number++ % photon::test::rounds(1, 5) != 0) continue;
      Settings settings = settings_of({"router", "12"}, protocol);
      settings.motif.name = motif;
      settings.motif.ranks = settings.motif.name == "sweep3d" ? "3x4" : "3x2x2";
      if (settings.motif.name == "alltoall") settings.motif.ranks = "12";
      settings.motif.steps = 24;
      EXPECT_EQ(allocations_after(0.5, settings), 0U) << protocol << ' ' << motif;
    }
  }
}

}  // namespace
}  // namespace photon::netsim
