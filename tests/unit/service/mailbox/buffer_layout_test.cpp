// Buffers in segments: one logical range, and what cannot be one.
#include "service/mailbox/buffer_layout.hpp"

#include <array>
#include <string>
#include <vector>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

std::string why(const ph_mailbox_buffer& buffer) {
  const char* const said = why_no_buffer(buffer);
  return said == nullptr ? "" : said;
}

// Four segments with gaps, which stand in memory in another order.
struct InPieces {
  std::byte* at(std::size_t offset) { return memory.data() + offset; }
  ph_mailbox_buffer buffer() const {
    ph_mailbox_buffer made{};
    made.size = sizeof made;
    made.segments = blocks.data();
    made.segment_count = blocks.size();
    return made;
  }
  std::array<std::byte, 100> memory{};
  std::vector<ph_block> blocks = {{at(50), 10}, {at(0), 1}, {at(80), 20}, {at(20), 9}};
};

TEST(BufferLayout, each_offset_has_its_place) {
  InPieces one;
  const Layout layout(one.blocks);
  EXPECT_EQ(layout.size_bytes(), 40u);
  EXPECT_EQ(layout.first().data(), one.at(50));
  std::vector<const std::byte*> places;
  for (const ph_block& block : one.blocks)
    for (std::size_t i = 0; i < block.size_bytes; ++i)
      places.push_back(static_cast<std::byte*>(block.data) + i);
  for (std::uint64_t offset = 0; offset < 40; ++offset) {
    for (const std::uint64_t most : {std::uint64_t{1}, 40 - offset}) {
      const auto piece = layout.piece(offset, most);
      EXPECT_EQ(piece.data(), places[offset]);
      std::uint64_t run = 1;
      while (run < most && places[offset + run] == places[offset] + run) ++run;
      EXPECT_EQ(piece.size(), run) << offset << ", at most " << most;
    }
  }
  EXPECT_TRUE(layout.holds(40, 0));
  EXPECT_TRUE(layout.holds(39, 1));
  EXPECT_FALSE(layout.holds(39, 2));
  EXPECT_FALSE(layout.holds(41, 0));
  EXPECT_FALSE(layout.holds(1, UINT64_MAX));
}

TEST(BufferLayout, meets_what_has_a_byte_in_common) {
  InPieces one;
  const Layout layout(one.blocks);
  std::array<bool, 100> used{};
  for (const ph_block& block : one.blocks)
    for (std::size_t i = 0; i < block.size_bytes; ++i)
      used[static_cast<std::size_t>(static_cast<std::byte*>(block.data) - one.at(0)) + i] = true;
  for (std::size_t begin = 0; begin < 100; ++begin) {
    bool meets = false;
    for (std::size_t size = 1; begin + size <= 100; ++size) {
      meets = meets || used[begin + size - 1];
      const std::span range(one.at(begin), size);
      EXPECT_EQ(layout.meets(range), meets) << begin << " " << size;
      const ph_block block{range.data(), range.size()};
      EXPECT_EQ(layout.meets(Layout(std::span(&block, 1))), meets);
      EXPECT_EQ(Layout(std::span(&block, 1)).meets(layout), meets);
    }
  }
}

TEST(BufferLayout, says_what_cannot_be_a_buffer) {
  InPieces one;
  EXPECT_EQ(why(one.buffer()), "");
  auto with = [&](auto change) {
    InPieces other;
    ph_mailbox_buffer buffer = other.buffer();
    change(other, buffer);
    return why(buffer);
  };
  const auto of_block = [&](ph_block block) {
    return with([&](InPieces& all, auto&) { all.blocks[3] = block; });
  };
  EXPECT_EQ(of_block({nullptr, 9}), "a segment is null or has no bytes");
  EXPECT_EQ(of_block({one.at(1), 0}), "a segment is null or has no bytes");
  EXPECT_EQ(of_block({one.at(1), SIZE_MAX}), "a segment wraps around");
  EXPECT_EQ(with([](InPieces& all, auto&) {
              all.blocks[3] = {all.at(59), 1};
            }),
            "its segments overlap");
  EXPECT_EQ(with([](InPieces& all, auto&) { all.blocks[3] = {all.at(60), 20}; }), "") << "between";
  EXPECT_EQ(with([](InPieces& all, auto&) {
              all.blocks[3] = {all.at(60), 21};
            }),
            "its segments overlap");
  const std::string wraps = "the sum of the segments wraps around";
  EXPECT_EQ(with([](InPieces& all, auto&) {
              for (ph_block& block : all.blocks) block = {all.at(0), SIZE_MAX / 3};
            }),
            wraps);
  EXPECT_EQ(with([](InPieces&, auto& buffer) { buffer.segments = nullptr; }),
            "the segments are null");
  EXPECT_EQ(with([](InPieces&, auto& buffer) { buffer.segment_count = 0; }),
            "there are no segments");
  const std::string both = "it has segments, and data or size_bytes of its own";
  EXPECT_EQ(with([](InPieces& all, auto& buffer) { buffer.data = all.at(0); }), both);
  EXPECT_EQ(with([](InPieces&, auto& buffer) { buffer.size_bytes = 40; }), both);
  EXPECT_EQ(with([](InPieces& all, auto& buffer) {
              buffer.pointer = reinterpret_cast<ph_mailbox_pointer*>(all.at(1));
            }),
            "the pointer is not at a multiple of 64 bytes");
}

TEST(BufferLayout, has_at_most_so_many_segments) {
  std::vector<std::byte> memory(2 * (PH_MAILBOX_MOST_SEGMENTS + 1));
  std::vector<ph_block> blocks;
  for (std::size_t i = 0; i <= PH_MAILBOX_MOST_SEGMENTS; ++i)
    blocks.push_back({memory.data() + 2 * i, 1});
  ph_mailbox_buffer buffer{};
  buffer.segments = blocks.data();
  buffer.segment_count = PH_MAILBOX_MOST_SEGMENTS;
  EXPECT_EQ(why(buffer), "");
  buffer.segment_count = PH_MAILBOX_MOST_SEGMENTS + 1;
  EXPECT_EQ(why(buffer), "there are more than 1,024 segments");
}

// ---- mailboxes with such buffers

ph_status post(Mailing& one, ph_mailbox box, const InPieces& pieces, std::uint64_t threshold = 0) {
  ph_mailbox_buffer buffer = pieces.buffer();
  buffer.threshold = threshold;
  return one.receiver().post(box, buffer);
}

TEST(BufferLayout, of_a_buffer_is_overlapped_by_no_other_of_its_mailbox) {
  Mailing one;
  ph_mailbox_args args = Mailing::box_args();
  args.retained = 1;
  const ph_mailbox box = one.open(args);
  InPieces pieces;
  ASSERT_EQ(post(one, box, pieces, 1), PH_OK);
  EXPECT_EQ(post(one, box, pieces), PH_ERR_STATE);
  EXPECT_EQ(one.post(box, {pieces.at(99), 1}), PH_ERR_STATE);
  EXPECT_EQ(one.post(box, {pieces.at(1), 19}), PH_OK) << "between its segments";
  const InPieces elsewhere;
  InPieces across;
  across.blocks = {elsewhere.blocks[0], {pieces.at(19), 1}};
  EXPECT_EQ(post(one, box, across), PH_ERR_STATE) << "with a plain buffer";
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.take().size(), 1u);
  EXPECT_EQ(post(one, box, pieces), PH_ERR_STATE) << "it is retained";
  ASSERT_EQ(one.receiver().release(box, 0), PH_OK);
  EXPECT_EQ(post(one, box, pieces), PH_OK);
}

TEST(BufferLayout, bounds_messages_by_the_sum_of_the_segments) {
  Mailing one;
  const ph_mailbox box = one.open();
  InPieces pieces;
  ASSERT_EQ(post(one, box, pieces), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), 0, 33)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(1), 0, UINT64_MAX)));
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_ERR_RANGE), verdict(1, PH_ERR_RANGE)}));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), 0, 32)));
  EXPECT_TRUE(one.take().empty());
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(32), 0, 0)));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data, pieces.at(50));
  EXPECT_EQ(events[0].bytes, 40u);
  EXPECT_EQ(events[0].size_bytes, 40u);
  EXPECT_EQ(events[0].posted_bytes, 40u);
}

TEST(BufferLayout, of_a_managed_buffer_is_filled_up_to_its_end) {
  Mailing one;
  const ph_mailbox box = one.open_managed();
  InPieces pieces, next;
  ASSERT_EQ(post(one, box, pieces), PH_OK);
  ASSERT_EQ(post(one, box, next), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(30), kAppends)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(11), kAppends)));
  auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_FULL);
  EXPECT_EQ(events[0].bytes, 30u);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(29, 3), kAppends)));
  events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_COMPLETE);
  EXPECT_EQ(*next.at(50), some(1)[0]);
  EXPECT_EQ(*next.at(0), some(11)[10]) << "the second segment";
  EXPECT_EQ(*next.at(28), some(29, 3)[28]) << "the last byte";
}

TEST(BufferLayout, a_threshold_above_the_sum_is_refused_and_leaves_nothing) {
  Mailing one;
  const ph_mailbox box = one.open_managed();
  InPieces pieces;
  EXPECT_EQ(post(one, box, pieces, 41), PH_ERR_ARGUMENT);
  EXPECT_EQ(post(one, box, pieces, 40), PH_OK);
}

// A large message is read by a get for each segment that it touches.
TEST(BufferLayout, an_offer_lands_when_the_last_of_its_gets_is_over) {
  Mailing one;
  const ph_mailbox box = one.open();
  InPieces pieces;
  ASSERT_EQ(post(one, box, pieces), PH_OK);
  const Bytes source = some(38);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, 0, 1)));
  ASSERT_EQ(one.port.gets(), 4u);
  for (int i = 0; i < 3; ++i) one.port.end_get();
  EXPECT_EQ(one.said_to(1), Texts{kept(0)}) << "it is not over";
  one.port.end_get();
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_OK)});
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(2), 0, 0)));
  EXPECT_EQ(one.take().size(), 1u);
  EXPECT_EQ(*pieces.at(0), source[9]);
  EXPECT_EQ(*pieces.at(27), source[37]);
}

TEST(BufferLayout, an_offer_is_taken_back_from_all_segments) {
  Mailing one;
  const ph_mailbox box = one.open();
  InPieces first, second;
  ASSERT_EQ(post(one, box, first), PH_OK);
  ASSERT_EQ(post(one, box, second), PH_OK);
  const Bytes source = some(40);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  one.port.gets_are_stuck = true;
  ASSERT_EQ(one.receiver().inc_epoch(box), PH_OK);
  EXPECT_EQ(one.port.gets(), 8u);
  for (int i = 0; i < 3; ++i) one.port.end_get();
  EXPECT_TRUE(one.take().empty()) << "it is still written to";
  one.port.end_get();
  auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_EARLY);
  EXPECT_EQ(events[0].bytes, 0u);
  for (int i = 0; i < 4; ++i) one.port.end_get();
  events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data, second.at(50));
  EXPECT_EQ(events[0].bytes, 40u);
  EXPECT_EQ(one.receiver().held(), 0u);
}

// One get that fails ends the message when the others write no more.
TEST(BufferLayout, an_offer_whose_get_fails_counts_for_nothing) {
  for (const bool are_stuck : {false, true}) {
    Mailing one;
    const ph_mailbox box = one.open();
    InPieces pieces;
    ASSERT_EQ(post(one, box, pieces), PH_OK);
    const Bytes source = some(40);
    ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
    one.port.gets_are_stuck = are_stuck;
    one.port.end_get();
    one.port.end_get(PH_ERR_KEY);
    EXPECT_EQ(one.said_to(1).size(), are_stuck ? 1u : 2u);
    one.port.end_get();
    one.port.end_get();
    EXPECT_EQ(one.said_to(1), are_stuck ? Texts{verdict(0, PH_ERR_KEY)} : Texts{});
    EXPECT_EQ(one.receiver().held(), 0u);
    ASSERT_EQ(one.receiver().close(box), PH_OK);
    const auto events = one.take();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].bytes + events[0].operations, 0u);
  }
}

TEST(BufferLayout, the_buffers_that_a_mailbox_has_are_told_in_order) {
  Mailing one;
  Bytes memory(192);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, std::span(memory).first(64)), PH_OK);
  const ph_block segments[] = {{memory.data() + 64, 5}, {memory.data() + 80, 6}};
  ph_mailbox_buffer second{};
  second.cookie = 9;
  second.segments = segments;
  second.segment_count = 2;
  ASSERT_EQ(one.receiver().post(box, second), PH_OK);
  ph_mailbox_posted all[2] = {};
  std::size_t count = 0;
  ASSERT_EQ(one.receiver().buf_ptrs(box, all, count), PH_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(all[0].data, memory.data());
  EXPECT_EQ(all[0].size_bytes, 64u);
  EXPECT_EQ(all[1].epoch, 1u);
  EXPECT_EQ(all[1].data, memory.data() + 64);
  EXPECT_EQ(all[1].size_bytes, 11u);
  EXPECT_EQ(all[1].cookie, 9u);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(64))));
  ASSERT_EQ(one.receiver().buf_ptrs(box, {all, 1}, count), PH_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(all[0].epoch, 1u);
  EXPECT_EQ(one.receiver().buf_ptrs({}, {}, count), PH_ERR_STATE);
}

}  // namespace
}  // namespace photon::service::mailbox::test
