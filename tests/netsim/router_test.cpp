// The router model, rule by rule. The times are worked out by hand from docs/netsim-router.md:
// F 1,280, X 853, L 40,000, I and O 50,000 ps.
#include <gtest/gtest.h>

#include "netsim/net/torus.hpp"
#include "wire_bench.hpp"

namespace photon::netsim {
namespace {

// Writes down when each packet is routed at a router.
class Watched final : public Topology {
 public:
  struct Routed {
    Time at;
    std::uint32_t router;
    std::uint32_t name;
  };
  explicit Watched(const Topology& inner) : inner_(inner) {}
  Wiring wire() const override { return inner_.wire(); }
  Hop route(const Here& here, Packet& packet) const override {
    routed_.push_back({part_->now(), here.router, packet.cargo[0]});
    return inner_.route(here, packet);
  }
  std::uint32_t vcs() const override { return inner_.vcs(); }
  bool is_ordered() const override { return inner_.is_ordered(); }
  std::string link_class(std::uint32_t router, std::uint32_t port) const override {
    return inner_.link_class(router, port);
  }
  void watch(const Part& part) { part_ = &part; }
  const std::vector<Routed>& routed() const { return routed_; }

 private:
  const Topology& inner_;
  const Part* part_ = nullptr;
  mutable std::vector<Routed> routed_;
};

Parameters with_buffers(std::uint32_t flits, std::uint32_t vcs = 1) {
  Parameters parameters;
  parameters.buffer_flits = parameters.card_flits = flits;
  parameters.vcs = vcs;
  return parameters;
}

TEST(Router, a_packet_takes_the_time_of_the_example) {
  const SingleRouter router(2);
  WireBench bench(router, with_buffers(1000));
  bench.send(0, packet_of(0, 1, 128), 7);
  EXPECT_EQ(bench.run(), (std::vector<Delivery>{{183'404, 1, 7}}));
  EXPECT_EQ(bench.part().what_is_left(), "");
}

TEST(Router, a_packet_is_routed_once_when_it_heads_its_queue) {
  const SingleRouter router(3);
  Watched watched(router);
  WireBench bench(watched, with_buffers(1000));
  watched.watch(bench.part());
  // Packets 1 and 2 of host 0 arrive at 91,280 and 92,560; that of host 2 competes for the output.
  bench.send(0, packet_of(0, 1, 1), 1);
  bench.send(0, packet_of(0, 1, 1), 2);
  bench.send(0, packet_of(2, 1, 100), 3);
  bench.run();
  ASSERT_EQ(watched.routed().size(), 3U);
  EXPECT_EQ(watched.routed()[0].at, 91'280U);  // on arrival: it is the head
  EXPECT_EQ(watched.routed()[1].at, 91'280U);
  EXPECT_EQ(watched.routed()[2].name, 2U);
  EXPECT_EQ(watched.routed()[2].at, 92'560U);  // the one before it left at edge 108, 92,124
}

TEST(Router, a_packet_behind_another_is_routed_at_the_edge_that_frees_the_place) {
  const SingleRouter router(3);
  Watched watched(router);
  WireBench bench(watched, with_buffers(1000));
  watched.watch(bench.part());
  // Host 0's first packet is granted at edge 108 and keeps the output busy for 100 X. Host 2's
  // first one waits for that, its second one comes in the meantime.
  bench.send(0, packet_of(0, 1, 100), 1);
  bench.send(0, packet_of(2, 1, 1), 2);
  bench.send(0, packet_of(2, 1, 1), 3);
  bench.run();
  ASSERT_EQ(watched.routed().size(), 3U);
  EXPECT_EQ(watched.routed()[2].name, 3U);
  EXPECT_EQ(watched.routed()[2].at, 208U * 853);
}

TEST(Router, first_granted_of_an_edge_stands_last) {
  const SingleRouter router(4);
  WireBench bench(router, with_buffers(1000));
  // Both are granted at edge 108: input 0 first, so input 1 comes before it at edge 110.
  bench.send(0, packet_of(0, 2, 1), 1);
  bench.send(0, packet_of(1, 3, 1), 2);
  bench.send(0, packet_of(0, 2, 1), 3);
  bench.send(0, packet_of(1, 2, 1), 4);
  std::vector<std::uint32_t> at_two;
  for (const Delivery& delivery : bench.run()) {
    if (delivery.host == 2) at_two.push_back(delivery.name);
  }
  EXPECT_EQ(at_two, (std::vector<std::uint32_t>{1, 4, 3}));
}

TEST(Router, the_order_of_least_recent_grant_survives_its_renumbering) {
  const SingleRouter router(3);
  WireBench bench(router, with_buffers(1000));
  // Inputs 0 and 1 compete for output 2 for a long time: they take turns.
  for (std::uint32_t i = 0; i < 400; ++i) {
    bench.send(i * 2560, packet_of(0, 2, 1), 0);
    bench.send(i * 2560, packet_of(1, 2, 1), 1);
  }
  const std::vector<Delivery>& deliveries = bench.run();
  ASSERT_EQ(deliveries.size(), 800U);
  for (std::size_t i = 2; i < deliveries.size(); ++i) {
    ASSERT_NE(deliveries[i].name, deliveries[i - 1].name) << i;
  }
}

TEST(Router, credits_take_their_way_back) {
  const SingleRouter router(2);
  WireBench bench(router, with_buffers(128));
  bench.send(0, packet_of(0, 1, 128), 1);
  bench.send(183'000, packet_of(0, 1, 128), 2);
  // The first is granted at 92,124; its credit is at the card at 182,124 (O + L), while the card
  // has nothing to send: so it looks at 183,404, where the second has been queued for 404 ps. That
  // is at the router at 273,404, granted at edge 321 (273,813), and the port looks at 275,093; the
  // card's room came back at 183,404 + 1,000 + 90,000 = 274,404, in time.
  EXPECT_EQ(bench.run(), (std::vector<Delivery>{{183'404, 1, 1}, {365'093, 1, 2}}));
  EXPECT_EQ(bench.part().what_is_left(), "");
}

TEST(Router, a_credit_from_router_to_router_takes_as_long_as_a_packet) {
  const Torus ring({4}, 1);
  WireBench bench(ring, with_buffers(128, 2));
  bench.send(0, packet_of(0, 1, 128), 1);
  bench.send(0, packet_of(0, 1, 128), 2);
  // The FIFO of the card has room for one packet, so the second is refused and lost here.
  EXPECT_EQ(bench.run().size(), 1U);
  bench.send(500'000, packet_of(0, 1, 128), 3);
  EXPECT_EQ(bench.run().size(), 2U);
  EXPECT_EQ(bench.part().what_is_left(), "");
}

TEST(Router, a_starved_port_looks_when_its_credit_comes) {
  const Torus ring({4}, 1);
  WireBench bench(ring, with_buffers(128, 2));
  bench.send(0, packet_of(0, 1, 128), 1);
  bench.send(1'280 + 1, packet_of(0, 1, 128), 2);
  // Packet 1 leaves router 0 at 93,404 and is granted at router 1 at edge 274 (233,722): the credit
  // is back at 373,722. Packet 2 leaves the card at 183,404 and joins the output at 273,813; the
  // port looks at 275,093 in vain, is armed by the credit, and sends at 375,002. At router 1 at
  // 515,002, edge 604 (515,212), F, O + L.
  EXPECT_EQ(bench.run(), (std::vector<Delivery>{{325'002, 1, 1}, {606'492, 1, 2}}));
  EXPECT_EQ(bench.part().what_is_left(), "");
}

TEST(Router, delivery_at_the_tail_is_so_many_flits_later) {
  const SingleRouter router(2);
  Parameters parameters = with_buffers(1000);
  parameters.is_delivered_at_tail = true;
  WireBench bench(router, parameters);
  bench.send(0, packet_of(0, 1, 128), 7);
  EXPECT_EQ(bench.run(), (std::vector<Delivery>{{183'404 + 128 * 1'280, 1, 7}}));
}

}  // namespace
}  // namespace photon::netsim
