// Which bytes a place may hold where operations overlap: those of every write that touched it and
// that is not known to be older than another one that landed there.
//
//   write: posted --> [allowed in its whole range] -- a later one lands --> there no longer allowed
//
// Invariant: what the memory holds at any moment is allowed. The first write is the background.
// Owner: the memory of one rank. Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "simtest/pattern.hpp"

namespace photon::simtest {

class Overlap {
 public:
  // From now on only the background, over the whole range.
  void reset(Pattern background, std::uint64_t size_bytes) {
    writes_.clear();
    writes_.push_back({0, 0, background, {{0, size_bytes}}});
  }

  // Number 0 is the background's.
  void add(std::uint32_t number, std::uint64_t offset, std::uint64_t size_bytes) {
    const Pattern pattern(Purpose::source, number);
    writes_.push_back({number, offset, pattern, {{offset, offset + size_bytes}}});
  }

  // It was not posted after all.
  void remove(std::uint32_t number) {
    std::erase_if(writes_, [number](const Write& write) { return write.number == number; });
  }

  // [begin, end) holds what was posted after each write that is_older(number) names: they are gone.
  template <class IsOlder>
  void supersede(std::uint64_t begin, std::uint64_t end, IsOlder is_older) {
    for (Write& write : writes_)
      if (write.number == 0 || is_older(write.number)) cut(write, begin, end);
    std::erase_if(writes_, [](const Write& write) { return write.ranges.empty(); });
  }

  // The first offset in [begin, end) whose byte no write explains. `memory` is the whole range.
  std::optional<std::uint64_t> first_wrong(std::span<const std::byte> memory, std::uint64_t begin,
                                           std::uint64_t end) {
    explained_.assign(end - begin, false);
    for (const Write& write : writes_)
      for (const auto& [from, to] : write.ranges)
        for (std::uint64_t i = std::max(from, begin); i < std::min(to, end); ++i)
          if (!explained_[i - begin])
            explained_[i - begin] = memory[i] == write.pattern.at(i - write.offset);
    for (std::uint64_t i = begin; i < end; ++i)
      if (!explained_[i - begin]) return i;
    return std::nullopt;
  }

 private:
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // begin, end
  struct Write {
    std::uint32_t number;
    std::uint64_t offset;
    Pattern pattern;
    Ranges ranges;  // where it is still allowed
  };

  static void cut(Write& write, std::uint64_t begin, std::uint64_t end) {
    Ranges left;
    for (const auto& [from, to] : write.ranges) {
      if (from < std::min(to, begin)) left.emplace_back(from, std::min(to, begin));
      if (std::max(from, end) < to) left.emplace_back(std::max(from, end), to);
    }
    write.ranges = std::move(left);
  }

  std::vector<Write> writes_;
  std::vector<bool> explained_;
};

}  // namespace photon::simtest
