// The built-in table of algorithms. For few bytes it takes algorithms of few rounds; for many bytes
// those by which each byte passes through members' memory as seldom as possible. It was written by
// hand from measurements (docs/benchmarks.md); its rows mean the same as those of photon-perf tune.
// Invariant: rows are sorted by kind, members and bytes, and each kind begins with a row of two
// members and no bytes.
// Owner: none; constants.
#pragma once

#include "schedule/choice.hpp"

namespace photon::schedule {

inline constexpr std::uint64_t kKiB = 1024;

// Makes a row for any layout. Kinds stand by their numbers, which are those of ph_coll_kind less
// one.
constexpr Rule rule(NamedKind kind, std::uint32_t members, std::uint64_t bytes,
                    Algorithm algorithm) noexcept {
  return {kind, Rule::kAnyLayout, members, bytes, algorithm};
}

// Makes a row for teams on several hosts alone, or within one host alone.
constexpr Rule across(NamedKind kind, std::uint32_t members, std::uint64_t bytes,
                      Algorithm algorithm) noexcept {
  return {kind, 1U << static_cast<unsigned>(Layout::several_hosts), members, bytes, algorithm};
}
constexpr Rule within(NamedKind kind, std::uint32_t members, std::uint64_t bytes,
                      Algorithm algorithm) noexcept {
  return {kind, 1U << static_cast<unsigned>(Layout::one_host), members, bytes, algorithm};
}

inline constexpr Rule kBuiltInRules[] = {
    // barrier
    rule(0, 2, 0, Algorithm::dissemination),
    across(0, 3, 0, Algorithm::leaders),
    // bcast
    rule(1, 2, 0, Algorithm::linear),
    across(1, 3, 0, Algorithm::leaders),
    within(1, 5, 0, Algorithm::binomial),
    within(1, 5, 64 * kKiB, Algorithm::linear),
    within(1, 9, 0, Algorithm::binomial),
    within(1, 9, 64 * kKiB, Algorithm::scatter_allgather),
    within(1, 9, 256 * kKiB + 1, Algorithm::circulant),
    within(1, 17, 0, Algorithm::binomial),
    within(1, 17, 64 * kKiB, Algorithm::scatter_allgather),
    within(1, 17, 320 * kKiB + 1, Algorithm::circulant),
    within(1, 33, 0, Algorithm::binomial),
    within(1, 33, 64 * kKiB, Algorithm::scatter_allgather),
    within(1, 33, 384 * kKiB + 1, Algorithm::circulant),
    within(1, 65, 0, Algorithm::knomial),
    within(1, 65, 64 * kKiB, Algorithm::scatter_allgather),
    within(1, 65, 512 * kKiB + 1, Algorithm::circulant),
    within(1, 257, 0, Algorithm::knomial),
    within(1, 257, 64 * kKiB, Algorithm::scatter_allgather),
    within(1, 257, 640 * kKiB + 1, Algorithm::circulant),
    // reduce
    rule(2, 2, 0, Algorithm::linear),
    across(2, 3, 0, Algorithm::leaders),
    across(2, 3, 32 * kKiB, Algorithm::rabenseifner),
    within(2, 4, 0, Algorithm::binomial),
    within(2, 4, 32 * kKiB, Algorithm::rabenseifner),
    // allreduce
    rule(3, 2, 0, Algorithm::recursive_doubling),
    rule(3, 2, 32 * kKiB, Algorithm::direct),
    across(3, 3, 0, Algorithm::leaders),
    across(3, 3, 32 * kKiB, Algorithm::direct),
    across(3, 17, 0, Algorithm::leaders),
    within(3, 17, 0, Algorithm::recursive_doubling),
    rule(3, 17, 32 * kKiB, Algorithm::rabenseifner),
    rule(3, 17, 1024 * kKiB, Algorithm::ring),
    // scan
    rule(4, 2, 0, Algorithm::recursive_doubling),
    rule(4, 4, 0, Algorithm::recursive_doubling),
    rule(4, 4, 256 * kKiB, Algorithm::chain),
    // exscan
    rule(5, 2, 0, Algorithm::recursive_doubling),
    rule(5, 4, 0, Algorithm::recursive_doubling),
    rule(5, 4, 256 * kKiB, Algorithm::chain),
    // gather, gatherv
    rule(6, 2, 0, Algorithm::linear),
    rule(6, 9, 0, Algorithm::binomial),
    rule(6, 9, 2 * kKiB, Algorithm::linear),
    rule(7, 2, 0, Algorithm::linear),
    // scatter, scatterv
    rule(8, 2, 0, Algorithm::linear),
    rule(8, 9, 0, Algorithm::binomial),
    rule(8, 9, 2 * kKiB, Algorithm::linear),
    rule(9, 2, 0, Algorithm::linear),
    // allgather, allgatherv; recursive_doubling is replaced by bruck unless the members are a power
    // of two
    rule(10, 2, 0, Algorithm::linear),
    rule(10, 3, 0, Algorithm::recursive_doubling),
    rule(10, 3, 8 * kKiB, Algorithm::linear),
    rule(10, 17, 0, Algorithm::recursive_doubling),
    rule(10, 17, 8 * kKiB, Algorithm::ring),
    rule(11, 2, 0, Algorithm::linear),
    rule(11, 17, 0, Algorithm::ring),
    // alltoall, alltoallv
    rule(12, 2, 0, Algorithm::linear),
    rule(12, 2, 32 * kKiB, Algorithm::pairwise),
    rule(12, 9, 0, Algorithm::bruck),
    rule(12, 9, 257, Algorithm::linear),
    rule(12, 9, 32 * kKiB, Algorithm::pairwise),
    rule(13, 2, 0, Algorithm::linear),
    // reduce_scatter_block, reduce_scatter
    rule(14, 2, 0, Algorithm::direct),
    rule(14, 17, 0, Algorithm::rabenseifner),
    rule(14, 17, 16 * kKiB, Algorithm::pairwise),
    rule(14, 17, 256 * kKiB, Algorithm::ring),
    rule(15, 2, 0, Algorithm::direct),
    rule(15, 17, 0, Algorithm::pairwise),
};

}  // namespace photon::schedule
