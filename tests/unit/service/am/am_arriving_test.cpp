#include "service/am/am_arriving.hpp"

#include "am_receiving_unit.hpp"
#include "service/am/aggregate_items.hpp"

namespace photon::service::am {
namespace {

using namespace test;

TEST(AmArriving, cuts_a_line_into_header_and_payload) {
  Receiver one;
  std::string header;
  one.enroll(2, [&](const ph_am_message& message, ph_am_landing&) {
    header.assign(static_cast<const char*>(message.header), message.header_bytes);
    EXPECT_EQ(message.immediate, 5u);
    EXPECT_EQ(std::string(static_cast<const char*>(message.payload), message.payload_bytes), "xyz");
    return PH_OK;
  });
  Bytes bytes = words_of({word(Op::line, kHasImmediate, 2, 2), 5});
  for (const char c : {'a', 'b', 'x', 'y', 'z'}) bytes.push_back(static_cast<std::byte>(c));
  ASSERT_TRUE(one.come({1, bytes, {}, {}, 0, 0}));
  one.turn();
  EXPECT_EQ(header, "ab");
}

TEST(AmArriving, copies_a_chunk_that_no_call_will_run_and_keeps_one_that_this_call_does) {
  Receiver one;
  ASSERT_TRUE(one.come(part(1, 1, filled(2000), 0, 2000)));
  EXPECT_EQ(one.port.loans(), 0u);
  one.port.runs = true;
  ASSERT_TRUE(one.come(part(1, 1, filled(3000), 0, 3000)));
  EXPECT_EQ(one.port.loans(), 1u);
  one.turn();
  EXPECT_EQ(one.handled, (std::vector<Bytes>{filled(2000), filled(3000)}));
  EXPECT_EQ(one.port.loans(), 0u) << "it is given back when its handler has returned";
}

TEST(AmArriving, gathers_a_body_of_several_chunks) {
  Receiver one;
  one.port.runs = true;
  const Bytes bytes = filled(1000);
  for (const std::size_t at : {0, 300, 600}) ASSERT_TRUE(one.come(part(1, 1, bytes, at, at + 300)));
  one.turn();
  EXPECT_TRUE(one.handled.empty()) << "it is not whole yet";
  ASSERT_TRUE(one.come(part(1, 1, bytes, 900, 1000)));
  one.turn();
  EXPECT_EQ(one.handled, std::vector<Bytes>{bytes});
  EXPECT_EQ(one.port.loans(), 0u);
}

TEST(AmArriving, drops_what_was_gathered_of_a_rank_that_is_lost) {
  Receiver one;
  ASSERT_TRUE(one.come(part(1, 1, filled(1000), 0, 300)));
  one.port.lose(1);
  one.turn();
  EXPECT_TRUE(one.handled.empty());
  EXPECT_EQ(one.am->held(), 0u);
}

TEST(AmArriving, cuts_off_who_sends_without_a_slot_and_names_the_setting) {
  for (const int kind : {0, 1, 2}) {
    Receiver one(4);
    const auto send = [&] {
      return one.come(kind == 0   ? line(1, 1)
                      : kind == 1 ? record(1, 1, filled(100))
                                  : part(1, 1, filled(500), 0, 500));
    };
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(send()) << kind;
    EXPECT_FALSE(send()) << kind;
    EXPECT_NE(one.port.why.find("am_slots"), std::string::npos) << one.port.why;
    one.turn();
    EXPECT_EQ(one.handled.size(), 4u) << "what had come is handled";
  }
}

TEST(AmArriving, cuts_off_who_sends_too_many_bytes_and_names_the_setting) {
  Receiver one;
  one.port.settings.am_carried_max = 1024;
  ASSERT_TRUE(one.come(part(1, 1, filled(1024), 0, 1024)));
  EXPECT_FALSE(one.come(part(1, 1, filled(1025), 0, 1025)));
  EXPECT_NE(one.port.why.find("am_carried_max"), std::string::npos) << one.port.why;
}

TEST(AmArriving, cuts_off_who_replies_unasked) {
  Receiver one;
  EXPECT_FALSE(one.come(line(1, 1, {}, kIsReply)));
  EXPECT_NE(one.port.why.find("nobody waits for"), std::string::npos) << one.port.why;
}

struct Wrong {
  const char* name;
  Coming coming;
};

TEST(AmArriving, ends_the_sender_of_each_malformed_message) {
  const Bytes full = filled(40);
  const auto of = [](std::vector<std::uint64_t> words, Bytes payload = {}) {
    return Coming{1, words_of(words), std::move(payload), {}, 0, 0};
  };
  const auto body = [](std::vector<std::uint64_t> words, std::size_t bytes, std::uint64_t size) {
    return Coming{1, words_of(words), {}, Bytes(bytes), 0, size};
  };
  const Wrong all[] = {
      {"nothing", {1, {}, {}, {}, 0, 0}},
      {"half a word", {1, filled(4), {}, {}, 0, 0}},
      {"no op", of({0})},
      {"an op that is none", of({6})},
      {"an unknown flag", of({word(Op::line, 16)})},
      {"a long header", of({word(Op::line) | 4097ull << 32})},
      {"a reply that wants one", of({word(Op::line, kWantsReply | kIsReply, 1)})},
      {"a line with a payload", of({word(Op::line, 0, 1)}, full)},
      {"a line without its immediate", of({word(Op::line, kHasImmediate, 1)})},
      {"a line whose header is missing", of({word(Op::line, 0, 1, 9), 0})},
      {"handled what was not sent", of({word(Op::line, 0, 1, 0, 1)})},
      {"a record without its size", of({word(Op::record, 0, 1)}, full)},
      {"a record with a word too many", of({word(Op::record, 0, 1), 40, 0}, full)},
      {"a record that is too short", of({word(Op::record, 0, 1), 41}, full)},
      {"a record that is too long", of({word(Op::record, 0, 1), 39}, full)},
      {"a record of a huge size", of({word(Op::record, 0, 1), ~0ull}, full)},
      {"a record without its header", of({word(Op::record, 0, 1, 8), 40}, full)},
      {"a body that is a record", of({word(Op::body, 0, 1), 40}, full)},
      {"a record that is a body", body({word(Op::record, 0, 1), 40}, 40, 40)},
      {"a body without words", body({}, 40, 40)},
      {"a body without its size", body({word(Op::body, 0, 1)}, 40, 40)},
      {"a body that is too short", body({word(Op::body, 0, 1), 41}, 40, 40)},
      {"a body of a huge size", body({word(Op::body, 0, 1), ~0ull}, 40, ~0ull)},
      {"a body of no bytes", body({word(Op::body, 0, 1), 40}, 0, 40)},
      {"a chunk of no body", {1, {}, {}, Bytes(10), 10, 40}},
  };
  for (const Wrong& one : all) {
    Receiver receiver;
    EXPECT_FALSE(receiver.come(one.coming)) << one.name;
    receiver.turn();
    EXPECT_TRUE(receiver.handled.empty()) << one.name;
    EXPECT_TRUE(receiver.come(line(2, 1))) << "another rank, after " << one.name;
  }
}

// An item of that id with a payload of 8 bytes.
void add_item(std::vector<std::uint64_t>& items, std::uint16_t id, std::uint64_t payload) {
  items.push_back(encode_item({0, id, 0, 8}));
  items.push_back(payload);
}
Coming aggregate(const std::vector<std::uint64_t>& items) {
  return {1, words_of({word(Op::aggregate), items.size() * 8}), words_of(items), {}, 0, 0};
}

TEST(AmArriving, takes_an_aggregate_apart_and_tells_of_its_errors_once) {
  Receiver one(4);
  std::vector<std::uint64_t> items;
  add_item(items, 1, 10);
  add_item(items, 9, 11);
  add_item(items, 1, 12);
  add_item(items, 8, 13);
  ASSERT_TRUE(one.come(aggregate(items)));
  Coming chunk = aggregate(items);
  chunk.body = std::exchange(chunk.payload, {});
  chunk.size_bytes = chunk.body.size();
  one.port.runs = true;
  ASSERT_TRUE(one.come(chunk));
  one.turn();
  EXPECT_EQ(one.handled,
            (std::vector<Bytes>{words_of({10}), words_of({12}), words_of({10}), words_of({12})}));
  const auto missing = static_cast<std::uint64_t>(std::int64_t{PH_ERR_NOT_FOUND});
  const std::vector<std::vector<std::uint64_t>> wanted = {{word(Op::refused), 0, missing, 2},
                                                          {word(Op::refused), 1, missing, 2},
                                                          {word(Op::credit), 2}};
  EXPECT_EQ(one.said(), wanted);
  EXPECT_EQ(one.port.loans(), 0u);
}

TEST(AmArriving, ends_the_sender_of_each_malformed_aggregate) {
  std::vector<std::uint64_t> cut, long_header, flagged;
  add_item(cut, 1, 1);
  cut.push_back(encode_item({0, 1, 0, 9}));
  cut.push_back(0);
  long_header = {encode_item({0, 1, 0, 0}) | 4097ull << 32};
  flagged = {encode_item({2, 1, 0, 0})};
  for (const auto& items : {std::vector<std::uint64_t>{}, cut, long_header, flagged}) {
    Receiver one;
    EXPECT_FALSE(one.come(aggregate(items))) << items.size();
    one.turn();
    EXPECT_TRUE(one.handled.empty());
  }
  Receiver one;
  one.port.settings.am_aggregate_bytes = 256;
  EXPECT_FALSE(one.come(aggregate(std::vector<std::uint64_t>(33))));
  EXPECT_NE(one.port.why.find("am_aggregate_bytes"), std::string::npos) << one.port.why;
}

TEST(AmArriving, a_chunk_of_no_bytes_in_a_body_ends_its_sender) {
  Receiver one;
  ASSERT_TRUE(one.come(part(1, 1, filled(100), 0, 50)));
  EXPECT_FALSE(one.come({1, {}, {}, {}, 50, 100}));
  EXPECT_EQ(one.am->held(), 0u);
}

TEST(AmArriving, what_comes_to_a_lane_that_closes_is_over_and_who_asked_hears_it) {
  Receiver one;
  one.am->close();
  ASSERT_TRUE(one.come(line(1, 1)));
  ASSERT_TRUE(one.come(record(1, 1, filled(100))));
  ASSERT_TRUE(one.come(part(1, 1, filled(100), 0, 100)));
  ASSERT_TRUE(one.come(line(1, 1, {}, kTellsHandled | kWantsReply)));
  one.turn();
  EXPECT_TRUE(one.handled.empty());
  const auto departed = static_cast<std::uint64_t>(std::int64_t{PH_ERR_DEPARTED});
  const std::vector<std::vector<std::uint64_t>> wanted = {{word(Op::credit), 2},
                                                          {word(Op::refused, 0, 1), 3, departed, 0},
                                                          {word(Op::unreplied), 1},
                                                          {word(Op::credit), 4}};
  EXPECT_EQ(one.said(), wanted);
  EXPECT_TRUE(one.am->is_idle());
  EXPECT_EQ(one.am->held(), 0u);
}

}  // namespace
}  // namespace photon::service::am
