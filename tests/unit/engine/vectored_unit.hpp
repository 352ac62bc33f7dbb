// For the unit tests of vectored operations: lists and grids in short. Owner: the test.
#pragma once

#include "engine_unit.hpp"

namespace photon::engine::test {

// A put or get between `own`, which begins with rank 0's bytes, and the memory of rank 1.
class Blocks {
 public:
  Blocks(Two& two, std::span<std::byte> own) : two_(two), own_(own) {}

  Blocks& add(std::uint64_t own, std::uint64_t there, std::uint64_t size_bytes) {
    puts_.push_back({own_.data() + own, size_bytes, ph_at(&two_.region, there)});
    gets_.push_back({own_.data() + own, size_bytes, ph_at(&two_.region, there)});
    return *this;
  }
  // `count` blocks with equal gaps.
  Blocks& add_many(std::uint64_t count, std::uint64_t size_bytes, std::uint64_t gap_bytes = 8) {
    for (std::uint64_t i = 0; i < count; ++i)
      add(i * size_bytes, (i * 7 % count) * (size_bytes + gap_bytes), size_bytes);
    return *this;
  }
  ph_put_segment& put_segment(std::size_t i) { return puts_[i]; }
  ph_get_segment& get_segment(std::size_t i) { return gets_[i]; }

  Vectored put(std::uint32_t flags = 0) {
    Vectored what = common(flags);
    what.call = "put_vector";
    what.shape = std::span<const ph_put_segment>(puts_);
    return what;
  }
  Vectored get(std::uint32_t flags = 0) {
    Vectored what = common(flags);
    what.call = "get_vector";
    what.is_get = true;
    what.shape = std::span<const ph_get_segment>(gets_);
    return what;
  }
  // Whether what is there is what is here.
  bool are_equal() const {
    return std::all_of(puts_.begin(), puts_.end(), [](const ph_put_segment& one) {
      return std::memcmp(one.source, reinterpret_cast<const void*>(one.target.address),
                         one.size_bytes) == 0;
    });
  }

 private:
  Vectored common(std::uint32_t flags) {
    Vectored what;
    what.local = {&two_.local_id, 8};
    what.remote = {&two_.remote_id, 8};
    what.flags = flags;
    return what;
  }

  Two& two_;
  std::span<std::byte> own_;
  std::vector<ph_put_segment> puts_;
  std::vector<ph_get_segment> gets_;
};

// Nothing is held where nothing is under way.
inline void expect_idle(Two& two) {
  for (const Rank rank : {0u, 1u}) {
    EXPECT_EQ(two.ranks[rank].resource_use().requests, 0u) << "rank " << rank;
    EXPECT_EQ(two.ranks[rank].resource_use().blocks, 0u) << "rank " << rank;
    EXPECT_EQ(two.ranks[rank].resource_use().events, 0) << "rank " << rank;
  }
}

}  // namespace photon::engine::test
