// Rendezvous over every transport and its settings: whole bytes when the owner hears, each
// announcement taken once and in order, more of them than any ring has lines.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <map>
#include <thread>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {
namespace {

class Rendezvous : public OverSettings {};

constexpr std::uint64_t kTag = 7;

struct As {
  ph_buffer_kind kind;
  std::uint64_t tag;
};

ph_status announce(ph_context* context, ph_rank rank, As as, std::span<std::byte> bytes,
                   ph_request* request) {
  ph_announce_args args{};
  args.size = sizeof args;
  args.kind = as.kind;
  args.tag = as.tag;
  args.buffer = bytes.data();
  args.size_bytes = bytes.size();
  args.request = request;
  if (request == nullptr) args.flags = PH_NO_LCE;
  return insist(context, [&] { return ph_announce(context, rank, &args); });
}

ph_buffer take_buffer(ph_context* context, const ph_match& match) {
  ph_buffer buffer{};
  const ph_status status = ph_wait_buffer(context, &match, &buffer, kTakeTimeoutUs);
  if (status != PH_OK)
    throw std::runtime_error(std::string("no buffer: ") + ph_status_text(status));
  return buffer;
}

// Into [offset, offset + size), nobody to hear of it; the source must outlive the finish.
ph_status put_part(ph_context* context, const ph_buffer& buffer, std::uint64_t offset,
                   std::span<const std::byte> source) {
  ph_put_args args{};
  args.size = sizeof args;
  args.source = source.data();
  args.size_bytes = source.size();
  args.flags = PH_NO_LCE | PH_NO_RCE;
  return insist(context, [&] { return ph_put_buffer(context, &buffer, offset, &args); });
}

ph_status get_part(ph_context* context, const ph_buffer& buffer, std::uint64_t offset,
                   std::span<std::byte> destination) {
  ph_request request = PH_REQUEST_NONE;
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = destination.data();
  args.size_bytes = destination.size();
  args.flags = PH_NO_RCE;
  args.request = &request;
  const ph_status status =
      insist(context, [&] { return ph_get_buffer(context, &buffer, offset, &args); });
  return status != PH_OK ? status : ph_wait_request(context, &request, nullptr, PH_FOREVER);
}

ph_status finish(ph_context* context, const ph_buffer& buffer) {
  return insist(context, [&] { return ph_finish(context, &buffer); });
}

const std::vector<std::size_t> kLentSizes = {0, 1, 8, 63, 192, 193, 4096, 65537, 1 << 20};

TEST_P(Rendezvous, a_buffer_is_whole_when_its_owner_hears_of_the_finish) {
  for (const bool allocated : {false, true}) {
    ThreadJob job(2, options());
    job.run([&](ph_context* context, ph_rank rank) {
      for (const std::size_t size : kLentSizes) {
        if (rank == 0) {
          std::vector<std::byte> own(size);
          ph_region region{};
          if (allocated) {
            ASSERT_EQ(ph_alloc(context, size + 1, &region), PH_OK);
          }
          const std::span<std::byte> bytes(
              allocated ? reinterpret_cast<std::byte*>(region.address) : own.data(), size);
          ph_request request = PH_REQUEST_NONE;
          ASSERT_EQ(announce(context, 1, {PH_RECV_BUFFER, kTag}, bytes, &request), PH_OK);
          ph_result result{};
          ASSERT_EQ(ph_wait_request(context, &request, &result, PH_FOREVER), PH_OK);
          EXPECT_EQ(first_difference(bytes, size), size);
          if (allocated) {
            EXPECT_EQ(ph_free(context, bytes.data()), PH_OK);
          }
          ph_region found{};
          EXPECT_EQ(ph_find_region(context, bytes.data(), size + 1, &found), PH_ERR_NOT_FOUND)
              << "nothing stays registered";
        } else {
          const ph_buffer buffer = take_buffer(context, {PH_RECV_BUFFER, 0, kTag, size});
          EXPECT_EQ(buffer.rank, 0u);
          const std::vector<std::byte> source = filled(size, size);
          const std::span<const std::byte> all(source);
          for (std::size_t at = 0; at < size;) {  // in parts of many sizes
            const std::size_t part = std::min(size - at, 1 + at / 2 * 3);
            ASSERT_EQ(put_part(context, buffer, at, all.subspan(at, part)), PH_OK);
            at += part;
          }
          ASSERT_EQ(finish(context, buffer), PH_OK);
          ASSERT_EQ(ph_flush(context, 0, PH_FOREVER), PH_OK);  // the source goes
        }
      }
      job.meet(context);
    });
  }
}

TEST_P(Rendezvous, what_is_lent_to_get_from_is_read_before_its_owner_has_it_back) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    for (const std::size_t size : kLentSizes) {
      if (rank == 0) {
        std::vector<std::byte> bytes = filled(size, size + 1);
        ph_request request = PH_REQUEST_NONE;
        ASSERT_EQ(announce(context, 1, {PH_SEND_BUFFER, size}, bytes, &request), PH_OK);
        ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
        fill(bytes, 99);
      } else {
        const ph_buffer buffer = take_buffer(context, {PH_SEND_BUFFER, PH_ANY_RANK, size, size});
        std::vector<std::byte> landed(size);
        const std::size_t half = size / 2;
        ASSERT_EQ(get_part(context, buffer, half, std::span(landed).subspan(half)), PH_OK);
        ASSERT_EQ(get_part(context, buffer, 0, std::span(landed).first(half)), PH_OK);
        EXPECT_EQ(first_difference(landed, size + 1), size);
        ASSERT_EQ(finish(context, buffer), PH_OK);
        ASSERT_EQ(ph_finish(context, &buffer), PH_ERR_NOT_FOUND) << "once";
      }
    }
    job.meet(context);
  });
}

// Also where they are posted and not waited for: the finish does not overtake them.
TEST_P(Rendezvous, a_finish_stays_behind_gets_and_puts_that_are_under_way) {
  constexpr std::size_t kBytes = 300'000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> sent = filled(kBytes, 5), received(kBytes), source = filled(kBytes, 6);
    if (rank == 0) {
      ph_request requests[2] = {};
      ASSERT_EQ(announce(context, 1, {PH_SEND_BUFFER, 1}, sent, &requests[0]), PH_OK);
      ASSERT_EQ(announce(context, 1, {PH_RECV_BUFFER, 2}, received, &requests[1]), PH_OK);
      ASSERT_EQ(ph_wait_request(context, &requests[0], nullptr, PH_FOREVER), PH_OK);
      fill(sent, 77);
      ASSERT_EQ(ph_wait_request(context, &requests[1], nullptr, PH_FOREVER), PH_OK);
      EXPECT_EQ(first_difference(received, 6), kBytes);
    } else {
      const ph_buffer out = take_buffer(context, {PH_SEND_BUFFER, 0, 1, PH_ANY_SIZE});
      const ph_buffer in = take_buffer(context, {PH_RECV_BUFFER, 0, PH_ANY_TAG, PH_ANY_SIZE});
      ph_get_args get{};
      get.size = sizeof get;
      get.destination = received.data();
      get.size_bytes = kBytes;
      get.flags = PH_NO_RCE;
      ph_request landed = PH_REQUEST_NONE;
      get.request = &landed;
      ASSERT_EQ(insist(context, [&] { return ph_get_buffer(context, &out, 0, &get); }), PH_OK);
      ASSERT_EQ(finish(context, out), PH_OK);
      ASSERT_EQ(put_part(context, in, 0, source), PH_OK);
      ASSERT_EQ(finish(context, in), PH_OK);
      ASSERT_EQ(ph_wait_request(context, &landed, nullptr, PH_FOREVER), PH_OK);
      EXPECT_EQ(first_difference(received, 5), kBytes);
      ASSERT_EQ(ph_flush(context, 0, PH_FOREVER), PH_OK);
    }
    job.meet(context);
  });
}

// The original wedged after 64 FINs a peer.
TEST_P(Rendezvous, no_number_of_finishes_wedges_a_peer) {
  constexpr std::uint64_t kRounds = 1000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t word = 0;
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&word, 1));
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      if (rank == 0) {
        ph_request request = PH_REQUEST_NONE;
        ASSERT_EQ(announce(context, 1, {PH_RECV_BUFFER, i}, bytes, &request), PH_OK);
        ASSERT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
        ASSERT_EQ(word, i);
      } else {
        const ph_buffer buffer = take_buffer(context, {PH_RECV_BUFFER, 0, i, 8});
        word = i;
        ASSERT_EQ(put_part(context, buffer, 0, bytes), PH_OK);
        ASSERT_EQ(finish(context, buffer), PH_OK);
        ASSERT_EQ(ph_flush(context, 0, PH_FOREVER), PH_OK);
      }
    }
    job.meet(context);
  });
}

// Rank 0 looks for anything of anybody, the others announce all kinds under few tags.
TEST_P(Rendezvous, anything_of_anybody_is_taken_once_and_each_ranks_in_its_order) {
  constexpr std::uint64_t kEach = 60;
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank != 0) {
      for (std::uint64_t i = 0; i < kEach; ++i) {  // small ones, and wishes: over at once
        const auto kind = i % 2 == 0 ? PH_SEND_BUFFER : PH_SEND_REQUEST;
        ph_request request = 1;
        ASSERT_EQ(
            announce(context, 0, {kind, i % 3}, std::as_writable_bytes(std::span(&i, 1)), &request),
            PH_OK);
        EXPECT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
      }
    } else {
      std::map<ph_rank, std::uint64_t> next;
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const ph_buffer buffer =
            take_buffer(context, {PH_SEND_BUFFER, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE});
        std::uint64_t word = 0;
        ASSERT_EQ(get_part(context, buffer, 0, std::as_writable_bytes(std::span(&word, 1))), PH_OK);
        EXPECT_EQ(word, next[buffer.rank]) << "of rank " << buffer.rank;
        EXPECT_EQ(buffer.tag, word % 3);
        next[buffer.rank] = word + 2;
        ASSERT_EQ(finish(context, buffer), PH_OK);
      }
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const ph_match match{PH_SEND_REQUEST, static_cast<ph_rank>(1 + i % 2), PH_ANY_TAG, 8};
        EXPECT_EQ(take_buffer(context, match).token, 0u) << "nothing to finish";
      }
      ph_buffer none{};
      for (const auto kind : {PH_RECV_BUFFER, PH_SEND_BUFFER, PH_SEND_REQUEST}) {
        const ph_match any{kind, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE};
        EXPECT_EQ(ph_test_buffer(context, &any, &none), PH_AGAIN);
      }
    }
    job.meet(context);
  });
}

TEST_P(Rendezvous, threads_that_look_for_the_same_get_each_announcement_once) {
  constexpr std::uint64_t kEach = 100;
  constexpr int kThreads = 3;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kEach * kThreads; ++i)
        ASSERT_EQ(announce(context, 1, {PH_SEND_REQUEST, i}, {}, nullptr), PH_OK);
    } else {
      std::vector<std::vector<std::uint64_t>> taken(kThreads);
      std::vector<std::thread> threads;
      for (int one = 0; one < kThreads; ++one)
        threads.emplace_back([&, one] {
          for (std::uint64_t i = 0; i < kEach; ++i)
            taken[one].push_back(
                take_buffer(context, {PH_SEND_REQUEST, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE}).tag);
        });
      for (std::thread& thread : threads) thread.join();
      std::vector<std::uint64_t> all;
      for (const auto& some : taken) {
        EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
        all.insert(all.end(), some.begin(), some.end());
      }
      std::sort(all.begin(), all.end());
      for (std::uint64_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
    }
    job.meet(context);
  });
}

TEST_P(Rendezvous, what_nobody_has_taken_can_be_called_back) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> bytes(5000);
    if (rank == 0) {
      ph_request request = PH_REQUEST_NONE;
      ASSERT_EQ(announce(context, 1, {PH_RECV_BUFFER, kTag}, bytes, &request), PH_OK);
      ph_outcome outcome{};
      ASSERT_EQ(ph_cancel(context, &request, &outcome), PH_OK);
      if (outcome == PH_TOO_LATE) {
        EXPECT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_ERR_NOT_FOUND);
      } else {
        EXPECT_EQ(outcome, PH_CANCELLED);
      }
      ASSERT_EQ(announce(context, 1, {PH_SEND_REQUEST, kTag}, {}, nullptr), PH_OK);
    } else {
      take_buffer(context, {PH_SEND_REQUEST, 0, kTag, PH_ANY_SIZE});
      ph_buffer buffer{};
      const ph_match match{PH_RECV_BUFFER, 0, kTag, PH_ANY_SIZE};
      // Taken before the word came that it is called back, or never.
      EXPECT_EQ(ph_test_buffer(context, &match, &buffer), PH_AGAIN);
    }
    job.meet(context);
  });
}

TEST_P(Rendezvous, a_small_send_buffer_outlives_its_owner_and_waits_for_the_others_end) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t word = 42;
    std::vector<std::byte> lent(9000);
    if (rank == 0) {
      ASSERT_EQ(announce(context, 1, {PH_SEND_BUFFER, 1},
                         std::as_writable_bytes(std::span(&word, 1)), nullptr),
                PH_OK);
      ASSERT_EQ(ph_finalize(context), PH_OK);
      return;
    }
    ph_buffer buffer{};
    const ph_match big{PH_RECV_BUFFER, 0, PH_ANY_TAG, PH_ANY_SIZE};
    EXPECT_EQ(ph_wait_buffer(context, &big, &buffer, kTakeTimeoutUs), PH_ERR_DEPARTED);
    const ph_match small{PH_SEND_BUFFER, 0, 1, 8};
    ASSERT_EQ(ph_test_buffer(context, &small, &buffer), PH_OK);
    ASSERT_NE(buffer.data, nullptr);
    EXPECT_EQ(*static_cast<const std::uint64_t*>(buffer.data), 42u);
    EXPECT_EQ(ph_finish(context, &buffer), PH_OK);
    EXPECT_EQ(ph_finish(context, &buffer), PH_ERR_NOT_FOUND);
    EXPECT_EQ(ph_wait_buffer(context, &small, &buffer, kTakeTimeoutUs), PH_ERR_DEPARTED);
    const ph_match any{PH_SEND_BUFFER, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE};
    EXPECT_EQ(ph_wait_buffer(context, &any, &buffer, 1000), PH_TIMEOUT) << "others may come";
  });
}

// Both leave with announcements that nobody has taken, or taken and not finished.
TEST_P(Rendezvous, ranks_that_leave_let_each_other_go) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> lent(9000), untaken(9000);
    ph_request requests[2] = {};
    ASSERT_EQ(announce(context, 1 - rank, {PH_RECV_BUFFER, 1}, lent, &requests[0]), PH_OK);
    ASSERT_EQ(announce(context, 1 - rank, {PH_RECV_BUFFER, 2}, untaken, &requests[1]), PH_OK);
    take_buffer(context, {PH_RECV_BUFFER, 1 - rank, 1, PH_ANY_SIZE});
    job.meet();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(ph_finalize(context), PH_OK);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(4));
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Rendezvous, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
