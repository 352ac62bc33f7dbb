// The cards' models on a wire: times are computed by hand in docs/netsim-nics.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scripted_port.hpp"

namespace photon::netsim::nic {
namespace {

constexpr const char* kProtocols[] = {"rvma",         "rdma-usual",      "rdma-equal",  "rdma-put",
                                      "rdma-put-ack", "rdma-put-behind", "rdma-put-imm"};

Settings settings_of(const std::string& protocol) {
  Settings s;
  s.protocol = protocol;
  s.dma_GBps = 20;
  s.eager_bytes = 2048;
  s.poll_ns = 10;
  s.cq_ns = 5;
  s.mtu = 2048;
  return s;
}

struct Row {
  const char* protocol;
  std::uint32_t bytes;
  Time told;  // when the receiver has taken the notice
  Time sent;  // and the sender its own
};

// One message, which both ranks are told of at the row's times.
void expect_times(Wire& wire, const Row& row) {
  wire.send(0, row.bytes, 7);
  wire.run();
  const auto told = wire.told_to(1, NoticeKind::message);
  const auto sent = wire.told_to(0, NoticeKind::sent);
  ASSERT_EQ(told.size(), 1U);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(told[0].time, row.told);
  EXPECT_EQ(sent[0].time, row.sent);
}

TEST(Cards, every_protocol_takes_the_time_computed_by_hand) {
  for (const Row& row : {Row{"rvma", 64, 716800, 618200},
                         {"rvma", 4096, 1079040, 819800},
                         {"rdma-equal", 64, 721800, 618200},
                         {"rdma-equal", 4096, 1084040, 819800},
                         {"rdma-usual", 64, 434600, 6400},
                         {"rdma-usual", 4096, 1599840, 2015240},
                         {"rdma-put", 64, 1547600, 1449000},
                         {"rdma-put", 4096, 1909840, 1650600},
                         {"rdma-put-imm", 64, 1552600, 1449000},
                         {"rdma-put-imm", 4096, 1914840, 1650600},
                         {"rdma-put-behind", 64, 1552600, 1449000},
                         {"rdma-put-behind", 4096, 1914840, 1650600},
                         {"rdma-put-ack", 64, 2065200, 1449000},
                         {"rdma-put-ack", 4096, 2328240, 1650600}}) {
    SCOPED_TRACE(std::string(row.protocol) + " " + std::to_string(row.bytes));
    Wire wire(settings_of(row.protocol));
    expect_times(wire, row);
    EXPECT_EQ(wire.failure, "");
  }
}

// 830.8 ns less than the first put that has to ask (docs/netsim-nics.md).
TEST(Cards, a_put_whose_address_is_known_needs_no_exchange) {
  for (const Row& row : {Row{"rdma-put", 64, 716800, 618200},
                         {"rdma-put", 4096, 1079040, 819800},
                         {"rdma-put-imm", 64, 721800, 618200},
                         {"rdma-put-behind", 4096, 1084040, 819800},
                         {"rdma-put-ack", 64, 1234400, 618200},
                         {"rdma-put-ack", 4096, 1497440, 819800}}) {
    SCOPED_TRACE(std::string(row.protocol) + " " + std::to_string(row.bytes));
    Settings settings = settings_of(row.protocol);
    settings.addresses = "known";
    Wire wire(settings);
    expect_times(wire, row);
  }
}

// Messages of one to six packets on a wire where packets overtake. True if a rank was told of one
// before all of its packets had come.
bool is_told_early(const Settings& settings, std::uint64_t seed) {
  Wire wire(settings, 900000, seed);
  wire.frees_at_once = true;
  const std::uint32_t messages = 30;
  for (std::uint16_t tag = 0; tag < messages; ++tag) {
    wire.send(tag * 100000U, 1 + tag % 6 * 2048U, tag);
  }
  wire.run();
  EXPECT_EQ(wire.failure, "");
  std::set<std::uint16_t> tags;
  bool is_early = false;
  for (const Wire::Told& one : wire.told_to(1, NoticeKind::message)) {
    tags.insert(one.notice.tag);
    is_early |= one.packets < 1U + one.notice.tag % 6U;
  }
  EXPECT_EQ(tags.size(), messages);
  EXPECT_EQ(wire.told_to(1, NoticeKind::message).size(), messages);
  EXPECT_EQ(wire.told_to(0, NoticeKind::sent).size(), messages);
  return is_early;
}

TEST(Cards, no_notice_before_the_last_byte) {
  for (const char* protocol : kProtocols) {
    for (const char* turns : {"message", "packet"}) {
      SCOPED_TRACE(std::string(protocol) + " " + turns);
      Settings settings = settings_of(protocol);
      settings.turns = turns;
      std::uint32_t early = 0;
      for (std::uint64_t seed = 0; seed < 20; ++seed) early += is_told_early(settings, seed);
      if (settings.protocol != "rdma-put") {
        EXPECT_EQ(early, 0U);
        continue;
      }
      EXPECT_GT(early, 0U) << "not caught";
      EXPECT_NE(wrong_with(settings, false), "");
      EXPECT_EQ(wrong_with(settings, true), "");
    }
  }
}

TEST(Cards, a_card_that_holds_early_packets_back_makes_every_protocol_safe) {
  for (const char* protocol : kProtocols) {
    if (std::string(protocol) == "rvma") continue;
    SCOPED_TRACE(protocol);
    Settings settings = settings_of(protocol);
    settings.order = "hold";
    EXPECT_EQ(wrong_with(settings, false), "");
    for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_FALSE(is_told_early(settings, seed));
    Wire wire(settings, 900000, 1);
    for (std::uint16_t tag = 0; tag < 5; ++tag) wire.send(0, 20480, tag);
    wire.run();
    EXPECT_GT(wire.card(1).figures().peak_held_bytes, 2048U);
    EXPECT_GT(wire.card(1).figures().out_of_order, 0U);
  }
}

TEST(Cards, every_protocol_runs_out_of_buffers_alike) {
  std::set<std::string> failures;
  for (const char* protocol : kProtocols) {
    SCOPED_TRACE(protocol);
    Settings settings = settings_of(protocol);
    settings.buffers_per_peer = 4;
    Wire waits(settings);
    for (std::uint16_t tag = 0; tag < 9; ++tag) waits.send(0, 64, tag);
    waits.use(9000000);
    waits.use(9000001);
    waits.run();
    EXPECT_EQ(waits.failure, "");
    EXPECT_EQ(waits.told_to(1, NoticeKind::message).size(), 6U);  // 4, and the 2 that were freed
    EXPECT_EQ(std::count_if(waits.sent.begin(), waits.sent.end(),
                            [](const Packet& p) { return p.kind == PacketKind::credit; }),
              1);
    Wire floods(settings);
    for (std::uint32_t message = 0; message < 5; ++message) {
      floods.deliver({{0, 0}, {1, 0}, message, 64, 0, 0, 0, PacketKind::data});
    }
    floods.run();
    EXPECT_NE(floods.failure.find("mailbox of its rank 0 for rank 0 of node 0"), std::string::npos);
    failures.insert(floods.failure);
  }
  EXPECT_EQ(failures.size(), 1U);
}

// A flit has 64 B here, where it has any.
TEST(Cards, a_message_of_one_flit_leaves_before_bulk_that_was_posted_before) {
  for (const char* protocol : kProtocols) {
    for (const std::uint32_t flit_bytes : {0U, 64U}) {
      Settings settings = settings_of(protocol);
      settings.flit_bytes = flit_bytes;
      Wire wire(settings);
      wire.send(0, 2048 * 8, 1);
      wire.send(700, 2048 * 8, 2);
      wire.send(1500000, std::max(8U, flit_bytes), 3);
      wire.run();
      const auto place = [&](std::uint16_t tag) {
        const auto is_its = [&](const Packet& p) {
          return p.kind == PacketKind::data && p.tag == tag;
        };
        return std::find_if(wire.sent.rbegin(), wire.sent.rend(), is_its) - wire.sent.rbegin();
      };
      EXPECT_GT(place(3), place(2)) << protocol;  // counted from the end
      EXPECT_GT(place(1), place(2)) << protocol;
    }
  }
}

TEST(Cards, bulk_messages_leave_in_turn_if_asked_to) {
  Settings settings = settings_of("rvma");
  settings.turns = "packet";
  settings.registration_ns = 0;
  Wire wire(settings);
  wire.send(0, 2048 * 4, 1);
  wire.send(0, 2048 * 4, 2);
  wire.run();
  ASSERT_EQ(wire.sent.size(), 8U);
  std::vector<std::uint16_t> tags;
  for (const Packet& packet : wire.sent) tags.push_back(packet.tag);
  // Two packets of the first message were asked for before the second one came.
  EXPECT_EQ(tags, (std::vector<std::uint16_t>{1, 1, 1, 2, 1, 2, 2, 2}));
}

}  // namespace
}  // namespace photon::netsim::nic
