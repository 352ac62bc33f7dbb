// What services are told of without a whole turn: messages and bodies of one line, in a row; and
// that whatever is wrong with one goes the general way.
#include <cstring>

#include "engine/fast_path.hpp"
#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

using Heard = std::vector<std::string>;
constexpr std::uint64_t kLinesRing = 8 << 10;

struct Lined : Probed {
  void send(std::uint64_t bytes, const std::string& header = "h", std::byte fill = std::byte{1}) {
    std::span<std::byte> room;
    ASSERT_EQ(at(0).port.reserve(1, bytes, room), PH_OK);
    std::memset(room.data(), std::to_integer<int>(fill), room.size());
    ASSERT_EQ(at(0).port.commit({1, ProbeService::bytes(header), {}}, bytes), PH_OK);
  }
  // The first body from a peer goes the general way, which makes what they need.
  void begin() {
    send(100);
    heard(2);
    at(1).heard.clear();
    at(1).body.clear();
  }
  Engine::Served probe_quickly() {
    ph_completion found[2];
    CompletionSink sink{{PH_ANY_RANK, PH_EITHER, nullptr}, found, 2};
    return ranks[1].serve_asked(sink);
  }
};

TEST(ServiceLines, of_messages_and_bodies_are_shown_in_a_row_and_in_order) {
  Lined two;
  two.begin();
  ASSERT_EQ(two.at(0).say(1, "first"), PH_OK);
  two.send(1000, "second", std::byte{2});
  ASSERT_EQ(two.at(0).say(1, "third"), PH_OK);
  two.send(70, "fourth", std::byte{4});
  EXPECT_EQ(two.probe_quickly(), Engine::Served::yes);
  EXPECT_EQ(two.at(1).heard, (Heard{"first|", "second(", ")", "third|", "fourth(", ")"}));
  std::vector<std::byte> bytes(1000, std::byte{2});
  bytes.resize(1070, std::byte{4});
  EXPECT_EQ(two.at(1).body, bytes);
}

TEST(ServiceLines, give_the_room_of_their_chunks_back_without_a_whole_turn) {
  Lined two;
  two.begin();
  int quick = 0;
  for (int i = 0; i < 64; ++i) {
    two.send(kLinesRing / 4 - 64);
    if (two.probe_quickly() == Engine::Served::yes)
      ++quick;
    else
      two.ranks[1].serve();  // each 32nd is general, whatever is there
  }
  EXPECT_EQ(two.at(1).heard.size(), 128u);
  EXPECT_GE(quick, 60);
}

TEST(ServiceLines, of_chunks_may_be_kept_and_are_given_back) {
  Lined two;
  two.begin();
  two.at(1).verdict = service::Verdict::kept;
  two.send(1000, "k", std::byte{7});
  ASSERT_EQ(two.probe_quickly(), Engine::Served::yes);
  ASSERT_EQ(two.at(1).kept.size(), 1u);
  two.at(1).verdict = service::Verdict::taken;
  for (int i = 0; i < 4; ++i) {
    two.send(1500);
    ASSERT_EQ(two.probe_quickly(), Engine::Served::yes);
  }
  std::span<std::byte> room;
  EXPECT_EQ(two.at(0).port.reserve(1, kLinesRing / 4, room), PH_AGAIN)
      << "behind the one that is kept";
  const std::vector<std::byte> bytes(1000, std::byte{7});
  const auto kept = two.at(1).kept.front().bytes;
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), bytes.begin(), bytes.end()));
  two.at(1).port.give_back(0, two.at(1).kept.front().loan);
  EXPECT_EQ(two.at(0).port.reserve(1, kLinesRing / 4, room), PH_OK);
  two.at(0).port.cancel_room(1);
}

TEST(ServiceLines, of_a_chunk_that_is_refused_end_its_sender) {
  Lined two;
  two.begin();
  two.at(1).verdict = service::Verdict::malformed;
  two.send(100);
  ASSERT_EQ(two.at(0).say(1, "more"), PH_OK);
  EXPECT_EQ(two.probe_quickly(), Engine::Served::yes);
  EXPECT_EQ(two.at(1).lost, (std::vector{std::pair(Rank{0}, PH_ERR_PROTOCOL)}));
  EXPECT_EQ(two.at(1).heard.back(), ")") << "nothing more was shown";
}

// A body of one line, as a peer may write it.
struct ForgedBody {
  std::uint64_t size = 100, offset = 0, bulk = 100 | wire::kBulkFirst | wire::kBulkLast;
  std::uint32_t header_bytes = 8;
};

TEST(ServiceLines, that_are_wrong_in_any_field_are_left_to_the_general_way_untouched) {
  const std::uint64_t both = wire::kBulkFirst | wire::kBulkLast;
  const ForgedBody wrong[] = {
      {0, 0, both, 8},                      // of no bytes, and not the rest of one
      {100, 0, 99 | both, 8},               // the last that is not
      {100, 64, 100 | both, 8},             // not the first
      {100, 0, 100 | wire::kBulkFirst, 8},  // the flags lie
      {100, 0, 100 | wire::kBulkLast, 8},
      {kLinesRing, 0, kLinesRing | both, 8},  // larger than a chunk may be
      {~std::uint64_t{0}, 0, 100 | both, 8},
  };
  for (const ForgedBody& one : wrong) {
    Lined two;
    two.begin();
    auto& lines = two.ranks.net().way(0, 1).lines;
    const std::uint64_t at = two.at(0).port.mark(1);
    auto& line = lines[at % lines.size()];
    line.words[0].set(one.size);
    line.words[1].set(one.offset);
    line.words[2].set(one.bulk);
    const std::uint64_t tag = lines[(at - 1) % lines.size()].head.load(std::memory_order_relaxed);
    line.head.store(
        (tag & 0xffff) | wire::encode(wire::Kind::body, one.header_bytes, 0, ProbeService::kOwner),
        std::memory_order_release);
    EXPECT_EQ(two.probe_quickly(), Engine::Served::no);
    EXPECT_EQ(two.at(1).heard, Heard{});
    for (int i = 0; i < 10; ++i) two.ranks[1].serve();
    EXPECT_EQ(two.at(1).lost, (std::vector{std::pair(Rank{0}, PH_ERR_PROTOCOL)}))
        << one.size << " " << one.offset << " " << one.bulk;
    EXPECT_EQ(two.at(1).heard, Heard{});
  }
}

}  // namespace
}  // namespace photon::engine::test
