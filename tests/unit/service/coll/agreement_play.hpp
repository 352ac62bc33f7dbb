// Agreements of four members in any order of messages that their links allow: each pair has a queue
// of its own, and who dies has sent a part of what it said to each.
// Owner: the test. Threads: one.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coll_unit.hpp"

namespace photon::test {

// Which of so many comes next.
using Choose = std::function<std::size_t(std::size_t)>;

// Every sequence of choices once: the last that has another choice left is raised.
class AllChoices {
 public:
  std::size_t choose(std::size_t count) {
    if (at_ == path_.size()) path_.push_back({0, count});
    return path_[at_++].taken;
  }
  // False: there is none that was not tried.
  bool next() {
    at_ = 0;
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct One {
    std::size_t taken;
    std::size_t count;
  };
  std::vector<One> path_;
  std::size_t at_ = 0;
};

class AgreementPlay {
 public:
  static constexpr std::uint32_t kCount = Members::kCount;
  struct Death {
    std::size_t step = 0;
    Rank who = 0;
    ph_status why = PH_ERR_PEER;
  };
  // What a member was told.
  struct Answer {
    std::uint64_t bits = 0;
    std::array<ph_status, kCount> lost{};
    Team* smaller = nullptr;
    friend bool operator==(const Answer& a, const Answer& b) {
      return a.bits == b.bits && a.lost == b.lost;
    }
  };
  static constexpr std::uint64_t bits_of(Rank rank, std::uint32_t round) {
    return ~(std::uint64_t{1} << (rank + 8 * round));
  }

  // Calls of each member: 'a' agrees, 's' shrinks.
  AgreementPlay(Choose choose, std::string calls, std::vector<Death> deaths = {})
      : choose_(std::move(choose)), calls_(std::move(calls)), deaths_(std::move(deaths)) {
    for (Rank rank = 0; rank < kCount; ++rank) members_.world(rank);
  }

  Members& members() { return members_; }
  bool is_dead(Rank rank) const { return is_dead_[rank]; }
  const std::vector<Answer>& answers(Rank rank) const { return answers_[rank]; }
  std::size_t steps() const { return steps_; }

  // Until nothing moves any more.
  void run() {
    for (;; ++steps_) {
      for (const Death& death : deaths_)
        if (death.step == steps_ && !is_dead_[death.who]) kill(death.who, death.why);
      struct Move {
        Rank from, to;
      };
      std::vector<Move> moves;
      for (Rank from = 0; from < kCount; ++from)
        for (Rank to = 0; to < kCount; ++to)
          if (!queues_[from][to].empty() && !is_dead_[to]) moves.push_back({from, to});
      for (Rank rank = 0; rank < kCount; ++rank)
        if (!has_begun_[rank] && !is_dead_[rank]) moves.push_back({rank, rank});
      if (moves.empty()) return;
      const Move move = moves[moves.size() == 1 ? 0 : choose_(moves.size())];
      if (move.from == move.to)
        has_begun_[move.to] = true;
      else
        deliver(move.from, move.to);
      go_on(move.to);
    }
  }

  // All that live were told all, and all were told the same, the dead too.
  void expect_one_answer(const std::string& how) const {
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      const Answer* first = nullptr;
      for (Rank rank = 0; rank < kCount; ++rank) {
        if (!is_dead_[rank]) {
          ASSERT_EQ(answers_[rank].size(), calls_.size()) << how << ", rank " << rank;
        }
        if (answers_[rank].size() <= call) continue;
        const Answer& answer = answers_[rank][call];
        if (first == nullptr) first = &answer;
        ASSERT_EQ(answer, *first) << how << ", rank " << rank << ", call " << call;
        for (Rank other = 0; other < kCount; ++other) {
          if (is_dead_[other]) continue;
          ASSERT_EQ(answer.lost[other], PH_OK) << how << ": it lives: " << other;
          ASSERT_TRUE(calls_[call] == 's' ||
                      (answer.bits & ~bits_of(other, static_cast<std::uint32_t>(call))) == 0)
              << how << ", rank " << other << " took part";
        }
      }
    }
  }

 private:
  struct Sent {
    std::optional<Said> said;  // none: the end of its sender
    ph_status why = PH_OK;
  };

  // Calls again what is under way, and then the next; what it says goes to its links.
  void go_on(Rank rank) {
    members_.port(rank).run_turns();
    while (has_begun_[rank] && answers_[rank].size() < calls_.size()) {
      Answer answer;
      const std::size_t call = answers_[rank].size();
      Team& world = members_.world(rank);
      answer.bits = bits_of(rank, static_cast<std::uint32_t>(call));
      const ph_status status = calls_[call] == 'a' ? members_[rank].agree(world, answer.bits)
                                                   : members_[rank].shrink(world, answer.smaller);
      if (status == PH_TIMEOUT) break;
      ASSERT_EQ(status, PH_OK) << members_.port(rank).last_error().what;
      if (calls_[call] == 's') answer.bits = 0;
      for (Rank other = 0; other < kCount; ++other)
        answer.lost[other] = Collectives::lost(world, other);
      answers_[rank].push_back(answer);
    }
    members_.port(rank).run_turns();
    for (Said said; members_.port(rank).take(said);)
      if (!is_dead_[said.to]) queues_[rank][said.to].push_back({said, PH_OK});
  }

  void deliver(Rank from, Rank to) {
    const Sent sent = queues_[from][to].front();
    queues_[from][to].pop_front();
    if (!sent.said) return members_.port(to).lose(from, sent.why);
    ASSERT_TRUE(members_.port(to).deliver({from, sent.said->header, sent.said->payload, {}, 0, 0}))
        << "rank " << to << " finds fault with a message of " << from;
  }

  // Who dies before the first step is known to be dead.
  void kill(Rank rank, ph_status why) {
    is_dead_[rank] = true;
    for (Rank to = 0; to < kCount; ++to) {
      if (to == rank || is_dead_[to]) continue;
      if (steps_ == 0) {
        members_.port(to).lose(rank, why);
        continue;
      }
      std::deque<Sent>& queue = queues_[rank][to];
      if (why == PH_ERR_PEER && !queue.empty())
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(choose_(queue.size() + 1)),
                    queue.end());
      queue.push_back({std::nullopt, why});
    }
  }

  Members members_;
  Choose choose_;
  const std::string calls_;
  const std::vector<Death> deaths_;
  std::size_t steps_ = 0;
  std::array<std::array<std::deque<Sent>, kCount>, kCount> queues_;
  std::array<bool, kCount> is_dead_{}, has_begun_{};
  std::array<std::vector<Answer>, kCount> answers_;
};

}  // namespace photon::test
