// How a message is laid out, and which way it takes.
#include "service/am/carrying.hpp"

#include "am_sending.hpp"

namespace photon::service::am::sending_test {
namespace {

// A draft of blocks with so many bytes each.
struct Drawn {
  Drawn(const std::vector<std::size_t>& sizes, std::size_t header_bytes, std::uint64_t immediate)
      : header(some(header_bytes, 99)) {
    for (const std::size_t size : sizes) {
      pieces.push_back(some(size, pieces.size()));
      payload.insert(payload.end(), pieces.back().begin(), pieces.back().end());
    }
    for (const Bytes& one : pieces) blocks.push_back({one.data(), one.size()});
    draft.payload = blocks;
    draft.payload_bytes = payload.size();
    draft.header = header;
    draft.immediate = immediate;
    draft.head.word.id = 5;
    draft.head.word.header_bytes = static_cast<std::uint16_t>(header_bytes);
    draft.head.word.flags = immediate != 0 ? kHasImmediate : 0;
  }
  std::vector<Bytes> pieces;
  Bytes payload;
  Bytes header;
  std::vector<ph_const_block> blocks;
  Draft draft;
};

void expect_same(const Drawn& drawn, const Met& met) {
  EXPECT_EQ(met.payload, drawn.payload);
  EXPECT_EQ(met.header, drawn.header);
  EXPECT_EQ(met.immediate, drawn.draft.immediate);
  EXPECT_EQ(met.word.id, 5u);
}

TEST(AmCarrying, every_size_takes_the_smallest_way_that_holds_it) {
  struct WayRow {
    std::size_t payload, header;
    std::uint64_t immediate;
    Way apart, in_a_row;
  };
  const WayRow rows[] = {
      {0, 0, 0, Way::line, Way::line},       {48, 0, 0, Way::line, Way::line},
      {49, 0, 0, Way::record, Way::record},  {40, 0, 1, Way::line, Way::line},
      {41, 0, 1, Way::record, Way::record},  {8, 40, 0, Way::line, Way::line},
      {8, 41, 0, Way::record, Way::record},  {192, 0, 9, Way::record, Way::record},
      {193, 0, 0, Way::body, Way::record},   {185, 8, 0, Way::body, Way::record},
      {184, 8, 0, Way::record, Way::record}, {1024, 0, 0, Way::body, Way::record},
      {1025, 0, 0, Way::body, Way::body},    {1000, 25, 0, Way::body, Way::body},
      {0, 1024, 0, Way::body, Way::record},  {0, 4096, 1, Way::body, Way::body},
  };
  for (const WayRow& row : rows) {
    Drawn drawn({row.payload}, row.header, row.immediate);
    choose_way(drawn.draft, 192);
    EXPECT_EQ(drawn.draft.head.way, row.apart) << row.payload << " and " << row.header;
    choose_way(drawn.draft, 1024);
    EXPECT_EQ(drawn.draft.head.way, row.in_a_row) << row.payload << " and " << row.header;
  }
}

TEST(AmCarrying, its_target_takes_apart_what_was_laid_out) {
  const std::vector<std::vector<std::size_t>> lists = {
      {}, {0}, {3}, {8}, {0, 5, 0, 9}, {48}, {30, 30}, {190, 3}, {500, 500, 24}, {700, 1, 900}};
  for (const auto& sizes : lists)
    for (const std::size_t header : {0, 1, 8, 31, 4096})
      for (const std::uint64_t immediate : {0, 77})
        for (const bool by_reserve : {false, true}) {
          AmSending one;
          one.port.reserves = by_reserve;
          Drawn drawn(sizes, header, immediate);
          choose_way(drawn.draft, 1024);
          const auto entry = EntryPool(0).make(drawn.draft);
          const bool is_body = drawn.draft.head.way == Way::body;
          const ph_status status = say_draft(one.port, 1, drawn.draft);
          EXPECT_EQ(status, is_body && !by_reserve ? PH_AGAIN : PH_OK);
          if (status == PH_AGAIN) {
            EXPECT_EQ(say_lent(one.port, 1, entry->head, entry->bytes(), Sender::kToken), PH_OK);
          } else if (is_body) {
            EXPECT_EQ(say_chunk(one.port, 1, entry->head, entry->bytes()), PH_OK);
          } else {
            EXPECT_EQ(say_packed(one.port, 1, entry->head, entry->bytes()), PH_OK);
          }
          const std::vector<Met> all = one.meet();
          ASSERT_EQ(all.size(), status == PH_AGAIN ? 1u : 2u);
          for (const Met& met : all) expect_same(drawn, met);
        }
}

// Else bytes of whatever lay in the ring before would be part of what was not sent.
TEST(AmCarrying, the_gap_in_front_of_a_header_is_zero) {
  AmSending one;
  one.port.reserves = true;
  Drawn drawn({1027}, 9, 0);
  choose_way(drawn.draft, 1024);
  ASSERT_EQ(say_draft(one.port, 1, drawn.draft), PH_OK);
  Said said;
  ASSERT_TRUE(one.port.take(said));
  for (std::size_t i = 1027; i < 1032; ++i) EXPECT_EQ(said.body[i], std::byte{0}) << i;
  EXPECT_EQ(said.body.size(), 1041u);
}

TEST(AmCarrying, room_without_a_line_is_given_back) {
  AmSending one;
  one.port.reserves = true;
  Drawn drawn({2000}, 0, 0);
  choose_way(drawn.draft, 1024);
  one.port.refuse(1);  // the commit
  EXPECT_EQ(say_draft(one.port, 1, drawn.draft), PH_AGAIN);
  EXPECT_FALSE(one.port.is_reserved());
  EXPECT_EQ(one.port.waiting(), 0u);
}

}  // namespace
}  // namespace photon::service::am::sending_test
