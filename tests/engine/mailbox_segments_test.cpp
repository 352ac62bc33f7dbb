// Buffers that are lists of memory ranges, over every transport.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class SegmentsOver : public OverSettings {};

// Ranges in the memory of one block, in an order that is not that of their addresses, with gaps
// which nothing may write to.
class Paged {
 public:
  static constexpr std::byte kGap{0x5a};
  static constexpr std::size_t kGapBytes = 24;

  explicit Paged(std::vector<std::size_t> sizes) {
    for (const std::size_t size : sizes) bytes_ += size;
    memory_.assign(bytes_ + kGapBytes * (sizes.size() + 1), kGap);
    std::size_t at = memory_.size();
    for (const std::size_t size : sizes) {  // from the end on
      at -= kGapBytes + size;
      blocks_.push_back({memory_.data() + at, size});
    }
  }
  ph_status post(ph_context* context, ph_mailbox box, std::uint64_t threshold = 0,
                 Pointer* pointer = nullptr) {
    ph_mailbox_buffer buffer{};
    buffer.size = sizeof buffer;
    buffer.threshold = threshold;
    buffer.pointer = pointer == nullptr ? nullptr : &pointer->at;
    buffer.segments = blocks_.data();
    buffer.segment_count = blocks_.size();
    return ph_mailbox_post(context, box, &buffer);
  }
  std::size_t bytes() const { return bytes_; }
  std::byte* first() const { return static_cast<std::byte*>(blocks_.front().data); }
  // The logical range.
  std::vector<std::byte> all() const {
    std::vector<std::byte> found;
    for (const ph_block& one : blocks_) {
      const auto* const data = static_cast<const std::byte*>(one.data);
      found.insert(found.end(), data, data + one.size_bytes);
    }
    return found;
  }
  bool has_gaps() const {
    std::vector<std::byte> copy = memory_;
    for (const ph_block& one : blocks_)
      std::fill_n(copy.begin() + (static_cast<std::byte*>(one.data) - memory_.data()),
                  one.size_bytes, kGap);
    return std::count(copy.begin(), copy.end(), kGap) == static_cast<std::ptrdiff_t>(copy.size());
  }
  void clear() {
    for (const ph_block& one : blocks_) std::memset(one.data, 0, one.size_bytes);
  }

 private:
  std::size_t bytes_ = 0;
  std::vector<std::byte> memory_;
  std::vector<ph_block> blocks_;
};

std::size_t differs_at(const Paged& where, std::size_t offset, std::size_t size,
                       std::uint64_t seed) {
  const std::vector<std::byte> all = where.all();
  return first_difference(std::span(all).subspan(offset, size), seed);
}

// In the line, in the payload, in a body of one chunk and of several, and read by the receiver by
// one get, by a few, and by more than are read at a time.
TEST_P(SegmentsOver, are_one_logical_range_for_messages_of_any_size) {
  const std::size_t sizes[] = {0, 8, 30, 1000, 60'000, 65'537, 400'000, 1'500'000};
  std::size_t whole = 0;
  for (const std::size_t size : sizes) whole += size;
  std::vector<std::size_t> pages = {20};
  for (std::size_t left = whole - 20, i = 0; left != 0; ++i) {
    pages.push_back(std::min<std::size_t>(left, i % 4 == 3 ? 1 : 25'000 + i));
    left -= pages.back();
  }
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Paged paged(pages);
    Pointer pointer;
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context);
      ASSERT_EQ(paged.post(context, box, 0, &pointer), PH_OK) << last_error(context).text;
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::size_t offset = 0;
    for (const std::size_t size : sizes) {
      if (rank == 0) {
        const auto source = filled(size, size);
        ASSERT_EQ(verdict(context, 1, mail(source, offset)), PH_OK) << size;
      }
      offset += size;
    }
    if (rank == 0) {
      const auto source = filled(8, 1);
      EXPECT_EQ(verdict(context, 1, mail(source)), PH_OK) << "in the next buffer";
    } else {
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
      EXPECT_EQ(event.data, paged.first());
      EXPECT_EQ(event.bytes, whole);
      EXPECT_EQ(event.size_bytes, whole);
      EXPECT_EQ(event.posted_bytes, whole);
      EXPECT_EQ(event.operations, std::size(sizes));
      EXPECT_EQ(pointer.at.address, paged.first());
      EXPECT_EQ(pointer.at.size_bytes, whole);
      std::size_t at = 0;
      for (const std::size_t size : sizes) {
        EXPECT_EQ(differs_at(paged, at, size, size), size);
        at += size;
      }
      EXPECT_TRUE(paged.has_gaps());
      Paged next({1, 2, 5});
      ASSERT_EQ(next.post(context, box), PH_OK);
      EXPECT_EQ(taken(context, box).bytes, 8u);
      EXPECT_EQ(differs_at(next, 0, 8, 1), 8u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Appended and divided: the segments of all buffers are one stream of bytes.
TEST_P(SegmentsOver, take_split_messages_one_behind_the_other) {
  constexpr std::size_t kMessages = 30;
  const auto size_of = [](std::size_t i) { return 1 + i * i * 53 % 4000; };
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<Paged> paged(3, Paged({}));
    for (Paged& one : paged) one = Paged({7, 300, 1, 692});
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context, {.placing = PH_MAILBOX_MANAGED, .flags = PH_MAILBOX_SPLIT});
      for (Paged& one : paged) ASSERT_EQ(one.post(context, box), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (std::size_t i = 0; i < kMessages; ++i)
        ASSERT_EQ(verdict(context, 1, mail(filled(size_of(i), i)), true), PH_OK);
    } else {
      std::size_t whole = 0;
      for (std::size_t i = 0; i < kMessages; ++i) whole += size_of(i);
      std::vector<std::byte> found;
      for (std::size_t turn = 0; found.size() + 1000 <= whole; ++turn) {
        Paged& one = paged[turn % 3];
        const ph_mailbox_event event = taken(context, box);
        ASSERT_EQ(event.data, one.first());
        ASSERT_EQ(event.bytes, 1000u);
        const auto all = one.all();
        found.insert(found.end(), all.begin(), all.end());
        ASSERT_TRUE(one.has_gaps());
        ASSERT_EQ(one.post(context, box), PH_OK);
      }
      std::size_t at = 0;
      for (std::size_t i = 0; i < kMessages && at < found.size(); at += size_of(i++)) {
        const std::size_t size = std::min(size_of(i), found.size() - at);
        EXPECT_EQ(first_difference(std::span(found).subspan(at, size), i), size) << i;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(SegmentsOver, are_read_by_gets_also_when_they_are_retained) {
  constexpr std::size_t kBytes = 200'000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Paged paged({10, 65'000, 65'535, 65'000, 4455});
    ph_mailbox box{};
    ASSERT_EQ(paged.bytes(), kBytes);
    if (rank == 1) {
      box = opened(context, {.retained = 1});
      ASSERT_EQ(paged.post(context, box), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto source = filled(kBytes, 9);
      ASSERT_EQ(verdict(context, 1, mail(source)), PH_OK);
      for (const std::size_t size :
           {std::size_t{4}, std::size_t{24}, std::size_t{1000}, kBytes - 3}) {
        std::vector<std::byte> here(size);
        ph_request request = PH_REQUEST_NONE;
        ph_mailbox_get_args args{};
        args.size = sizeof args;
        args.address = kAddress;
        args.offset = 3;
        args.destination = here.data();
        args.size_bytes = size;
        args.epoch = 0;
        args.request = &request;
        ASSERT_EQ(insist(context, [&] { return ph_mailbox_get(context, 1, &args); }), PH_OK);
        ph_result result{};
        ASSERT_EQ(ph_wait_request(context, &request, &result, kTakeTimeoutUs), PH_OK) << size;
        EXPECT_TRUE(std::equal(here.begin(), here.end(), source.begin() + 3)) << size;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      EXPECT_EQ(taken(context, box).bytes, kBytes);
      Paged other({8});
      EXPECT_EQ(paged.post(context, box), PH_ERR_STATE) << "it is retained";
      ASSERT_EQ(ph_mailbox_release(context, box, 0), PH_OK);
      EXPECT_EQ(paged.post(context, box), PH_OK);
      EXPECT_EQ(other.post(context, box), PH_OK);
      EXPECT_EQ(post(context, box, {paged.first() + 9, 1}), PH_ERR_STATE) << "in a segment";
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Buffers are taken back in the middle of a message that is read by several gets: nothing changes
// in one that came back, and the message lands whole in another.
TEST_P(SegmentsOver, are_given_up_together_where_their_buffer_is_taken_back) {
  constexpr std::uint64_t kCount = 12;
  const std::vector<std::size_t> pages(40, 5000);  // more than are read at a time
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    const auto size_of = [](std::uint64_t i) { return 150'000 + 1000 * i; };
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(verdict(context, 1, mail(filled(size_of(i), i))), PH_OK) << i;
    } else {
      const ph_mailbox box = opened(context, {.unit = PH_MAILBOX_OPERATIONS});
      std::map<void*, Paged> all;
      for (int i = 0; i < 6; ++i) {
        Paged one(pages);
        auto* const first = one.first();
        ASSERT_EQ(all.emplace(first, std::move(one)).first->second.post(context, box, 1), PH_OK);
      }
      std::uint64_t landed = 0;
      for (std::uint64_t turn = 1; landed < kCount; ++turn) {
        // Ever more rarely: where a message needs many turns it would never land.
        if (std::has_single_bit(turn)) {
          const ph_status status = ph_mailbox_inc_epoch(context, box);
          ASSERT_TRUE(status == PH_OK || status == PH_AGAIN);
        }
        ph_mailbox_event event{};
        const ph_status status = ph_mailbox_take(context, box, &event);
        if (status == PH_AGAIN) continue;
        ASSERT_EQ(status, PH_OK);
        Paged& one = all.at(event.data);
        if (event.operations != 0) {
          ASSERT_EQ(event.bytes, size_of(landed));
          ASSERT_EQ(differs_at(one, 0, event.bytes, landed), event.bytes) << landed;
          ++landed;
          turn = 1;
        }
        one.clear();
        ph_probe_u64(context, PH_ANY_RANK, PH_LOCAL);  // progress
        ASSERT_EQ(std::count(one.first(), one.first() + 5000, std::byte{0}), 5000)
            << "it changed after it had been handed over";
        const auto now = one.all();
        ASSERT_EQ(std::count(now.begin(), now.end(), std::byte{0}),
                  static_cast<std::ptrdiff_t>(now.size()));
        ASSERT_TRUE(one.has_gaps());
        ASSERT_EQ(one.post(context, box, 1), PH_OK);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, SegmentsOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
