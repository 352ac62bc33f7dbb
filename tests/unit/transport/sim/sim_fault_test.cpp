// Faults that the simulated network injects: one, into the packet it is meant for.
#include <gtest/gtest.h>

#include <vector>

#include "transport/sim/sim_network.hpp"
#include "wire/record.hpp"

namespace photon::transport::sim {
namespace {

Packet notice(std::uint64_t position) {
  Packet packet{.kind = Packet::Kind::record, .from = 0, .position = position};
  packet.lines.resize(1);
  packet.lines[0][0] = wire::encode(wire::Kind::put, 8, 0) | (position + 1);  // its tag
  packet.lines[0][3] = 100 + position;                                        // its id
  return packet;
}

// Six notices and what arrives of them.
std::vector<Packet> carried(const Fault& fault) {
  SimNetwork network(2, {.seed = 1, .max_delay_ns = 100, .fault = fault});
  for (std::uint64_t i = 0; i < 6; ++i) network.post(1, notice(i));
  std::vector<Packet> due;
  for (int looks = 0; looks < 100; ++looks) network.take_due(1, due);
  return due;
}

std::vector<std::uint64_t> ids(const std::vector<Packet>& packets) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < packets.size(); ++i) found.push_back(packets[i].lines[0][3]);
  return found;
}

// Each place keeps its position and its tag.
void expect_places(const std::vector<Packet>& packets) {
  for (std::uint64_t i = 0; i < packets.size(); ++i) {
    EXPECT_EQ(packets[i].position, i);
    EXPECT_EQ(packets[i].lines[0][0] & 0xffff, i + 1);
  }
}

TEST(SimFault, none_changes_nothing) {
  EXPECT_EQ(ids(carried({})), (std::vector<std::uint64_t>{100, 101, 102, 103, 104, 105}));
}

TEST(SimFault, drop_loses_one_record) {
  EXPECT_EQ(ids(carried({Fault::Kind::drop, 2})),
            (std::vector<std::uint64_t>{100, 101, 103, 104, 105}));
}

TEST(SimFault, swap_exchanges_two_records_and_leaves_their_places) {
  const auto packets = carried({Fault::Kind::swap, 2});
  EXPECT_EQ(ids(packets), (std::vector<std::uint64_t>{100, 101, 103, 102, 104, 105}));
  expect_places(packets);
}

TEST(SimFault, repeat_puts_one_record_in_the_place_of_the_next) {
  const auto packets = carried({Fault::Kind::repeat, 2});
  EXPECT_EQ(ids(packets), (std::vector<std::uint64_t>{100, 101, 102, 102, 104, 105}));
  expect_places(packets);
}

TEST(SimFault, early_has_the_bulk_bytes_of_one_record_come_after_it) {
  SimNetwork network(2, {.seed = 1, .max_delay_ns = 100, .fault = {Fault::Kind::early, 1}});
  for (std::uint64_t i = 0; i < 3; ++i) {
    Packet packet = notice(i);
    packet.bulk.assign(8, std::byte{7});
    network.post(1, packet);
  }
  std::vector<Packet> due;
  while (due.size() < 4) network.take_due(1, due);
  EXPECT_EQ(due[0].bulk[0], std::byte{7});
  EXPECT_EQ(due[1].lines.size(), 1u);
  EXPECT_TRUE(due[1].bulk.empty());
  EXPECT_EQ(due[2].bulk[7], std::byte{7});
  EXPECT_TRUE(due[3].lines.empty());
  EXPECT_EQ(due[3].bulk, std::vector<std::byte>(8, std::byte{7}));
  EXPECT_EQ(due[3].bulk_position, due[1].bulk_position);
}

TEST(SimFault, credit_forgets_one_id_for_good) {
  SimNetwork network(2, {.seed = 1, .max_delay_ns = 100, .fault = {Fault::Kind::credit, 1}});
  for (std::uint64_t ids_given = 1; ids_given <= 3; ++ids_given)
    network.post(1, {.kind = Packet::Kind::credits, .from = 0, .credits = {.ledger = ids_given}});
  std::vector<Packet> due;
  while (due.size() < 3) network.take_due(1, due);
  EXPECT_EQ(due[0].credits.ledger, 1u);
  EXPECT_EQ(due[1].credits.ledger, 1u);
  EXPECT_EQ(due[2].credits.ledger, 2u);
}

}  // namespace
}  // namespace photon::transport::sim
