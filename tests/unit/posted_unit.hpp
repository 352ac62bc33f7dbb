// For the unit tests of puts and gets by NICs: two ranks, and the test plays the NICs.
// Owner: the test. Threads: one.
#pragma once

#include <string>
#include <vector>

#include "engine_unit.hpp"

namespace photon::engine::test {

using transport::PostedFragment;

// Whether the NICs tell targets of fragments.
enum class Posting : std::uint8_t { unnamed, named };

inline constexpr std::size_t kFragment = 4096;  // posted_piece_bytes of small_config()

inline FakeOptions nics(Posting posting = Posting::named) {
  FakeOptions chosen = options(Reach::Kind::posted, false);
  chosen.has_imm = posting == Posting::named;
  chosen.config.max_cid_size = 40;
  return chosen;
}

struct Nics : Two {
  explicit Nics(const FakeOptions& chosen) : Two(chosen) {}
  explicit Nics(Posting posting = Posting::named) : Two(nics(posting)) {}

  photon::test::FakeNet::Seat& seat() { return ranks.net().seats[0]; }
  auto& posted() { return seat().posted; }
  // So that everything that may be posted is.
  void serve(Rank rank = 0) {
    for (int i = 0; i < 20; ++i) ranks[rank].serve();
  }
  void land(std::size_t index = 0) {
    const bool is_told = posted().at(index).imm.has_value();
    ranks.net().land(0, index);
    if (is_told) serve(1);
  }
  void refuse(ph_status why = PH_ERR_KEY, std::size_t index = 0) {
    ranks.net().refuse(0, why, index);
  }
  void land_all() {
    for (serve(); !posted().empty(); serve()) land();
  }

  // A put of that many fragments, the last one smaller, to the beginning of rank 1's memory.
  ph_status put_fragments(std::size_t count, std::uint32_t flags = 0) {
    return put_as(local_id, remote_id, count, flags);
  }
  ph_status put_as(std::uint64_t local, std::uint64_t remote, std::size_t count,
                   std::uint32_t flags = 0) {
    source = filled(count * kFragment - (count > 1 ? 96 : 0), 7);
    local_id = local;
    remote_id = remote;
    const ph_status status = ranks[0].put(1, put(source, flags));
    sources.push_back(std::move(source));  // stays
    serve();
    return status;
  }
  // So many ids that rank 1's application does not take: a ledger of 4.
  void fill_ledger() {
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(ranks[0].put(1, notice(100 + i)), PH_OK);
  }
  // Lines without ids until the next record begins at `line`.
  void go_to_line(std::uint64_t line) {
    while (tail() < line) {
      EXPECT_EQ(ranks[0].put(1, put({memory.data(), 8}, PH_NO_LCE | PH_NO_RCE)), PH_OK);
      serve(1);
    }
  }
  // So that no line is left, rank 1 standing still.
  void fill_ring() {
    const std::uint64_t credit = ranks.net().way(0, 1).credits.lines_given();
    while (tail() < 63 + credit)  // the last is kept for a jump
      EXPECT_EQ(ranks[0].put(1, put({memory.data(), 8}, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  }
  ph_put_args notice(const std::uint64_t& id) {
    number = id;
    ph_put_args args = put_args({}, {}, local_id, number);
    args.flags = PH_NO_LCE;
    return args;
  }

  std::vector<std::uint64_t> ids(Rank rank, std::uint32_t kinds) {
    std::vector<std::uint64_t> found;
    for (const ph_completion& one : ranks.probe(rank, kinds)) {
      EXPECT_EQ(one.status, PH_OK);
      found.push_back(one.id);
    }
    return found;
  }
  // Rank 0's local and rank 1's remote completion bear this id of more than 8 bytes.
  void expect_long_ids(const std::string& id) {
    for (const auto& [rank, kind] : {std::pair(Rank{0}, PH_LOCAL), std::pair(Rank{1}, PH_REMOTE)}) {
      std::byte room[40];
      ph_completion one{};
      CompletionSink sink{{PH_ANY_RANK, static_cast<std::uint32_t>(kind), room}, &one, 1};
      EXPECT_EQ(ranks[rank].probe(sink), PH_OK);
      ASSERT_EQ(sink.count, 1u);
      ASSERT_EQ(one.id_size_bytes, id.size());
      EXPECT_EQ(std::memcmp(room, id.data(), id.size()), 0);
    }
  }
  std::vector<std::uint64_t> local() { return ids(0, PH_LOCAL); }
  std::vector<std::uint64_t> remote() {
    serve(1);
    return ids(1, PH_REMOTE);
  }

  // What rank 0 wrote at this line of its ring.
  wire::Header sent(std::uint64_t line) {
    const auto header = wire::decode(at(line).tag_word() & ~0xffffull);
    return header ? *header : wire::Header{};
  }
  std::uint64_t word_sent(std::uint64_t line, int word) { return at(line).words[word].get(); }
  // Where its next record will begin.
  std::uint64_t tail() {
    while ((at(written).tag_word() & 0xffff) == written / 64 + 1) ++written;
    return written;
  }
  const transport::Line& at(std::uint64_t line) { return ranks.link(0, 1).tx_lines[line % 64]; }

  std::uint64_t written = 0;
  std::uint64_t number = 0;
  std::vector<std::byte> source;
  std::vector<std::vector<std::byte>> sources;
};

using Ids = std::vector<std::uint64_t>;
constexpr auto kCounted = wire::Kind::counted;
constexpr auto kWithdrawn1 = wire::Kind::withdrawn;

inline std::string posting_name(const testing::TestParamInfo<Posting>& one) {
  constexpr const char* kNames[] = {"unnamed", "named"};
  return kNames[static_cast<std::size_t>(one.param)];
}
inline auto all_postings() { return testing::Values(Posting::unnamed, Posting::named); }

}  // namespace photon::engine::test
