// Rows about arrays that go to and fro: the contests of one size, and from which size on one way of
// sending them is never slower than another.
// Invariant: both members of the team make the same calls.
// Owner: a question.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "contest.hpp"

namespace photon::perf {

class ArrayRows {
 public:
  // `finish` completes each row, which index 0 of the team adds.
  using Finish = std::function<void(Row& row)>;
  ArrayRows(Bench& bench, Team& team, std::uint64_t size_bytes, Finish finish)
      : bench_(bench), team_(team), size_bytes_(size_bytes), finish_(std::move(finish)) {}

  // The ratio of the row; on index 0.
  double add(Entry ours, std::vector<Entry> limits);
  // The best form of a family, which is found first; nothing if there is none. `known`: the form
  // that was best of a smaller size, or empty; of large arrays it is not looked for again.
  void add_best_of(const std::vector<Entry>& all, std::string_view family,
                   const std::vector<Entry>& limits, std::string& known);

 private:
  Contest contest_of(std::vector<Entry> limits) const;
  std::string best_of(const std::vector<Entry>& forms);

  Bench& bench_;
  Team& team_;
  std::uint64_t size_bytes_;
  Finish finish_;
};

struct SizeRatio {
  std::uint64_t size_bytes;
  double message_to_buffer;  // how many times as long a message takes
};

// The smallest size from which on buffers are never slower than messages, in words. The sizes grow.
void say_threshold(const Bench& bench, const std::vector<SizeRatio>& ratios);

}  // namespace photon::perf
