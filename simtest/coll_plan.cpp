#include "simtest/coll_plan.hpp"

#include <algorithm>
#include <bit>
#include <random>

namespace photon::simtest::coll {

using schedule::Algorithm;
using schedule::Kind;

namespace {

using Random = std::mt19937_64;

bool is_prime(std::uint32_t number) {
  for (std::uint32_t i = 2; i * i <= number; ++i)
    if (number % i == 0) return false;
  return number > 1;
}

std::uint64_t below(Random& random, std::uint64_t end) { return random() % end; }

template <class T>
T one_of(Random& random, const std::vector<T>& all) {
  return all[below(random, all.size())];
}

bool may_be_known(Kind kind, Algorithm algorithm, std::uint32_t size) {
  schedule::Call call;
  call.kind = kind;
  call.algorithm = algorithm;
  call.size = size;
  call.count = 1;
  const schedule::Hosts hosts;
  call.hosts = &hosts;
  if (schedule::knows(call)) return true;
  call.in_order = true;
  return schedule::knows(call);
}

bool has_segments(Algorithm algorithm) {
  return algorithm == Algorithm::chain || algorithm == Algorithm::circulant ||
         algorithm == Algorithm::leaders;
}

std::vector<std::uint32_t> roots_of(const CollCase& one, Random& random) {
  if (!is_rooted(one.kind)) return {0};
  std::vector<std::uint32_t> roots;
  if (one.size <= kMostWithAllRoots) {
    for (std::uint32_t i = 0; i < one.size; ++i) roots.push_back(i);
    return roots;
  }
  roots = {0, 1, one.size - 1};
  for (int i = 0; i < 3; ++i)
    roots.push_back(static_cast<std::uint32_t>(2 + below(random, one.size - 3)));
  return roots;
}

// Of a vector: fewer elements than members, as many, and some that no part divides.
std::vector<std::uint64_t> counts_of(const CollCase& one, Random& random) {
  const std::uint64_t size = one.size;
  const bool is_large = size > kMostWithAllRoots;
  if (one.kind == Kind::barrier) return {0};
  if (has_blocks(one.kind)) {
    if (is_large) return {1};
    return {0, 1, 3};
  }
  const std::uint64_t drawn = 1 + below(random, 3 * size);
  if (is_large && is_rooted(one.kind)) return {1, drawn};
  // Each member has another value of each element.
  const bool is_scan = one.kind == Kind::scan || one.kind == Kind::exscan;
  if (is_large && is_scan) return {1 + drawn % 16};
  if (is_large) return {drawn % 3 == 0 ? 1 : size + drawn % size};
  return {0, 1, size - 1, size, 2 * size + 1, drawn};
}

std::vector<std::uint64_t> segments_of(const CollCase& one, Random& random) {
  if (!has_segments(one.algorithm) || one.count < 2) return {0};
  std::vector<std::uint64_t> segments = {one.count / 9 + 1};
  if (one.size > kMostWithAllRoots) return segments;
  segments.push_back(0);
  segments.push_back(one.count / 16 + 1 + below(random, one.count));
  if (one.count <= 16) segments.push_back(1);
  return segments;
}

std::vector<Order> orders_of(Kind kind) {
  if (!folds(kind)) return {Order::any};
  return {Order::any, Order::kept, Order::loop};
}

std::vector<Places> places_of(Kind kind) {
  if (!may_be_in_place(kind)) return {Places::separate};
  if (is_rooted(kind)) return {Places::separate, Places::all};
  return {Places::separate, Places::all, Places::some};
}

std::vector<Counts> blocks_of(const CollCase& one) {
  std::vector<Counts> all = {Counts::uniform};
  if (!has_blocks(one.kind)) return all;
  all.push_back(Counts::drawn);
  all.push_back(Counts::zeros);
  const bool sends_in_place = one.kind == Kind::alltoall && one.places != Places::separate;
  // Whoever passes on the blocks of others has to know their counts.
  if (one.algorithm == Algorithm::linear && may_have_room(one.kind) && !sends_in_place)
    all.push_back(Counts::room);
  return all;
}

// Cases of one kind, algorithm and size.
class Cases {
 public:
  Cases(const CollCase& one, std::uint64_t seed, const Each& each)
      : one_(one), random_(seed), each_(each) {}

  bool all() {
    for (const std::uint32_t root : roots_of(one_, random_)) {
      one_.root = root;
      for (const Order order : orders_of(one_.kind)) {
        one_.order = order;
        if (!of_places()) return false;
      }
    }
    return true;
  }

 private:
  bool of_places() {
    std::vector<Places> all = places_of(one_.kind);
    if (one_.size > kMostWithAllRoots) all = {one_of(random_, all)};
    for (const Places places : all) {
      one_.places = places;
      std::vector<Counts> blocks = blocks_of(one_);
      if (one_.size > kMostWithAllRoots) blocks = {one_of(random_, blocks)};
      for (const Counts counts : blocks) {
        one_.blocks = counts;
        if (!of_counts()) return false;
      }
    }
    return true;
  }
  bool of_counts() {
    one_.count = 0;
    std::vector<std::uint64_t> counts = {0};
    if (one_.blocks == Counts::uniform) counts = counts_of(one_, random_);
    for (const std::uint64_t count : counts) {
      one_.count = count;
      for (const std::uint64_t segment : segments_of(one_, random_)) {
        one_.segment = segment;
        one_.timing = static_cast<Timing>(below(random_, kTimingNames.size()));
        one_.seed = below(random_, 1'000'000);
        if (!each_(one_)) return false;
      }
    }
    return true;
  }

  CollCase one_;
  Random random_;
  const Each& each_;
};

std::uint32_t drawn_size(Random& random, const std::vector<std::uint32_t>& sizes) {
  if (!sizes.empty()) return one_of(random, sizes);
  const std::uint64_t drawn = below(random, 100);
  if (drawn < 65) return static_cast<std::uint32_t>(1 + below(random, 20));
  if (drawn < 99) return static_cast<std::uint32_t>(1 + below(random, kMostWithAllRoots));
  return static_cast<std::uint32_t>(1 + below(random, kMostMembersPlanned));
}

}  // namespace

Filter everything() {
  Filter all;
  for (std::uint32_t i = 0; i < schedule::kKinds; ++i) all.kinds.push_back(static_cast<Kind>(i));
  for (std::uint32_t i = 0; i < schedule::kAlgorithms; ++i)
    all.algorithms.push_back(static_cast<Algorithm>(i));
  return all;
}

std::vector<std::uint32_t> planned_sizes() {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 1; i <= kMostMembersPlanned; ++i) {
    const bool is_near_power =
        std::has_single_bit(i) || std::has_single_bit(i - 1) || std::has_single_bit(i + 1);
    if (i <= kMostWithAllRoots || is_near_power || is_prime(i)) sizes.push_back(i);
  }
  return sizes;
}

void every_case(const Filter& filter, std::uint64_t seed, const Each& each) {
  const std::vector<std::uint32_t> sizes = filter.sizes.empty() ? planned_sizes() : filter.sizes;
  for (const Kind kind : filter.kinds)
    for (const Algorithm algorithm : filter.algorithms)
      for (const std::uint32_t size : sizes) {
        if (!may_be_known(kind, algorithm, size)) continue;
        CollCase one;
        one.kind = kind;
        one.algorithm = algorithm;
        one.size = size;
        const std::uint64_t own_seed = seed * 1'000'003 + size * 1009ULL;
        if (!Cases(one, own_seed, each).all()) return;
      }
}

std::optional<CollCase> drawn_case(const Filter& filter, std::uint64_t seed, std::uint64_t number) {
  Random random(seed * 0x9e37'79b9'7f4a'7c15 + number);
  CollCase one;
  one.kind = one_of(random, filter.kinds);
  one.size = drawn_size(random, filter.sizes);
  std::vector<Algorithm> known;
  for (const Algorithm algorithm : filter.algorithms)
    if (may_be_known(one.kind, algorithm, one.size)) known.push_back(algorithm);
  if (known.empty()) return std::nullopt;
  one.algorithm = one_of(random, known);
  one.root = one_of(random, roots_of(one, random));
  one.order = one_of(random, orders_of(one.kind));
  one.places = one_of(random, places_of(one.kind));
  one.blocks = one_of(random, blocks_of(one));
  if (one.blocks == Counts::uniform) one.count = one_of(random, counts_of(one, random));
  one.segment = one_of(random, segments_of(one, random));
  one.timing = static_cast<Timing>(below(random, kTimingNames.size()));
  one.seed = below(random, 1'000'000);
  return one;
}

}  // namespace photon::simtest::coll
