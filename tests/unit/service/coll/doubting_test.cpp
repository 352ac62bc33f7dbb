// A member in whose page of lines stands garbage, and what becomes of the others: each operation of
// theirs ends, well or with an error that names that member, and nothing beside their buffers is
// touched.
#include <string>

#include "coll_lines.hpp"

namespace photon::test {
namespace {

using service::coll::BoardPage;
using service::coll::FlatPage;

constexpr Rank kForger = 2;
constexpr std::size_t kWords = sizeof(FlatPage) / sizeof(std::uint64_t);

// When it is written: between operations; when the forger has begun one, and others read it; when
// others have begun one, and wait for the forger.
enum class Moment { between, said, awaited };

class GarbageLines {
 public:
  GarbageLines() {
    share_all(members_);
    expect_sum_by_lines(members_, 1, 0);
    expect_sum_by_lines(members_, 1, 0);
  }

  std::uint64_t& word(std::size_t at) {
    const auto& board = members_.world(0).channels.one_shot().board;
    const BoardPage* const page = board->others[kForger].page;
    return reinterpret_cast<std::uint64_t*>(const_cast<BoardPage*>(page))[at];
  }
  // One operation, in whose course the word is forged; and some after it.
  void play(Moment moment, std::size_t at, std::uint64_t value, int kind) {
    if (moment == Moment::between) word(at) = value;
    if (moment == Moment::said) begin(kForger, kind);
    if (moment == Moment::said) word(at) = value;
    for (Rank rank = 0; rank < kAllMembers; ++rank)
      if (rank != kForger) begin(rank, kind);
    if (moment == Moment::awaited) settle();
    if (moment == Moment::awaited) word(at) = value;
    if (moment != Moment::said) begin(kForger, kind);
    end();
    for (int i = 0; i < 4; ++i) {
      for (Rank rank = 0; rank < kAllMembers; ++rank) begin(rank, kind == 3 ? kind : kind + i);
      end();
    }
  }
  bool is_anyone_hurt() const { return is_hurt_; }

 private:
  static constexpr int kKinds = 5;

  void begin(Rank rank, int kind) {
    ops_[rank] = nullptr;
    sums_[rank] = Sum(kind % kKinds == 1 ? 100 : 1, rank);
    ph_coll_args args = sums_[rank].args;
    args.in = sums_[rank].in.data();
    args.out = sums_[rank].out.data();
    if (kind % kKinds == 2) args.kind = PH_COLL_BARRIER;
    if (kind % kKinds >= 3) args.kind = PH_COLL_BCAST;
    if (kind % kKinds == 4) args.root = kForger;
    const ph_status status = members_[rank].begin(members_.world(rank), args, &ops_[rank]);
    if (status != PH_OK) note(rank, status);
    if (status != PH_OK) ops_[rank] = nullptr;
  }
  bool are_over() const {
    for (Rank rank = 0; rank < kAllMembers; ++rank)
      if (rank != kForger && ops_[rank] != nullptr && ops_[rank]->state != OpState::over)
        return false;
    return true;
  }
  // For longer than a page is doubted. What is cut at one end is cut at the other.
  void settle() {
    constexpr int kLeast = 15;
    constexpr int kMost = 65;
    for (int i = 0; i < kLeast || (i < kMost && !are_over()); ++i) {
      members_.run();
      for (Rank one = 0; one < kAllMembers; ++one)
        for (Rank other = 0; other < kAllMembers; ++other)
          if (members_.port(one).state(other) != PH_OK && members_.port(other).state(one) == PH_OK)
            members_.port(other).lose(one, PH_ERR_PEER);
      for (Rank rank = 0; rank < kAllMembers; ++rank) {
        members_[rank].before_sleep();
        members_.port(rank).pass(25'000'000);
      }
    }
  }
  void end() {
    settle();
    for (Rank rank = 0; rank < kAllMembers; ++rank) {
      if (ops_[rank] == nullptr) continue;
      EXPECT_TRUE(rank == kForger || ops_[rank]->state == OpState::over) << "rank " << rank;
      if (ops_[rank]->state != OpState::over) continue;
      if (const ph_status status = members_[rank].done(*ops_[rank]); status != PH_OK)
        note(rank, status);
    }
  }
  // The words name whoever is to blame.
  void note(Rank rank, ph_status status) {
    if (rank == kForger) return;
    is_hurt_ = true;
    EXPECT_TRUE(status == PH_ERR_ARGUMENT || status == PH_ERR_PROTOCOL || status == PH_ERR_PEER)
        << status;
    const std::string& words = members_.port(rank).last_error().what;
    EXPECT_NE(words.find("member 2"), std::string::npos) << words;
  }

  Members members_;
  std::array<Operation*, kAllMembers> ops_{};
  std::array<Sum, kAllMembers> sums_{Sum(1, 0), Sum(1, 0), Sum(1, 0), Sum(1, 0)};
  bool is_hurt_ = false;
};

constexpr std::uint64_t kDeltas[] = {1, ~std::uint64_t{0}, std::uint64_t{1} << 31,
                                     std::uint64_t{1} << 32, ~std::uint64_t{0} / 3};

// Each word of the page, those of small blocks among them.
TEST(CollGarbageLines, end_nobody_s_wait_but_with_an_error_that_names_the_forger) {
  for (std::size_t at = 0; at < kWords; ++at)
    for (const Moment moment : {Moment::between, Moment::said, Moment::awaited})
      for (int kind = 0; kind < 5; ++kind)
        for (const std::uint64_t delta : kDeltas) {
          GarbageLines lines;
          const std::uint64_t value = lines.word(at) + delta;
          SCOPED_TRACE("word " + std::to_string(at) + " moment " +
                       std::to_string(static_cast<int>(moment)) + " kind " + std::to_string(kind) +
                       " value " + std::to_string(value));
          lines.play(moment, at, value, kind);
          if (testing::Test::HasFailure()) return;
        }
}

}  // namespace
}  // namespace photon::test
