// Streams over every transport: every byte once and in order, ends, back-pressure, lost peers.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test::streams {
namespace {

constexpr std::uint32_t kPort = 7;

class StreamOver : public OverSettings {};

// All streams of a rank, and what a test does with them.
class Rank {
 public:
  explicit Rank(ph_context* context, ph_streams_args args = {}) : context_(context) {
    args.size = sizeof args;
    EXPECT_EQ(ph_streams_open(context, &args, &streams_), PH_OK);
  }
  ~Rank() { close(); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void close() {
    EXPECT_EQ(ph_streams_close(std::exchange(streams_, nullptr), kTakeTimeoutUs), PH_OK);
  }
  ph_listener* listening() {
    ph_listener* listener = nullptr;
    EXPECT_EQ(ph_stream_listen(streams_, kPort, &listener), PH_OK) << why();
    return listener;
  }
  ph_stream* connected(ph_rank rank) {
    ph_stream* stream = nullptr;
    EXPECT_EQ(insist(context_, [&] { return ph_stream_connect(streams_, rank, kPort, &stream); }),
              PH_OK)
        << why();
    return stream;
  }
  std::string why() {
    ph_error error{};
    ph_streams_error(streams_, &error);
    return error.text;
  }
  ph_streams* get() { return streams_; }

 private:
  ph_context* const context_;
  ph_streams* streams_ = nullptr;
};

ph_stream* accepted(ph_listener* listener) {
  ph_stream* stream = nullptr;
  EXPECT_EQ(ph_stream_accept(listener, &stream, kTakeTimeoutUs), PH_OK);
  return stream;
}

ph_status until_ready(ph_stream* stream, std::uint32_t wanted) {
  std::uint32_t ready = 0;
  const ph_status status = ph_stream_wait(stream, wanted, &ready, kTakeTimeoutUs);
  EXPECT_EQ(ready, status == PH_OK ? wanted : 0);
  return status;
}

ph_status write_all(ph_stream* stream, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::size_t count = 0;
    ph_status status = ph_stream_write(stream, bytes.data(), bytes.size(), &count);
    EXPECT_EQ(count != 0, status == PH_OK);
    if (status == PH_AGAIN) status = until_ready(stream, PH_STREAM_WRITABLE);
    if (status != PH_OK) return status;
    bytes = bytes.subspan(count);
  }
  return PH_OK;
}

ph_status write_all(ph_stream* stream, const std::string& text) {
  return write_all(stream, std::as_bytes(std::span(text)));
}

// What is read up to the end, and how it ended.
std::vector<std::byte> read_all(ph_stream* stream, ph_status& status, std::size_t piece = 5000) {
  std::vector<std::byte> all;
  for (;;) {
    const std::size_t have = all.size();
    all.resize(have + piece);
    std::size_t count = 0;
    status = ph_stream_read(stream, all.data() + have, piece, &count);
    all.resize(have + count);
    if (status == PH_OK && count == 0) return all;
    if (status == PH_AGAIN) status = until_ready(stream, PH_STREAM_READABLE);
    if (status != PH_OK) return all;
  }
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_P(StreamOver, both_ways_carry_each_byte_once_and_in_order) {
  constexpr std::size_t kBytes = 1'000'003;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Rank all(context);
    ph_listener* const listener = rank == 1 ? all.listening() : nullptr;
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ph_stream* const stream = rank == 0 ? all.connected(1) : accepted(listener);
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(ph_stream_peer(stream), 1 - rank);
    std::thread writer([&] {
      std::mt19937 random(rank + 1);
      const std::vector<std::byte> bytes = filled(kBytes, rank);
      for (std::size_t at = 0; at < kBytes;) {
        const std::size_t part = std::min<std::size_t>(1 + random() % 40'000, kBytes - at);
        ASSERT_EQ(write_all(stream, std::span(bytes).subspan(at, part)), PH_OK);
        at += part;
      }
      EXPECT_EQ(ph_stream_shutdown(stream), PH_OK);
    });
    ph_status status = PH_AGAIN;
    const std::vector<std::byte> got = read_all(stream, status, 7001);
    writer.join();
    EXPECT_EQ(status, PH_OK);
    ASSERT_EQ(got.size(), kBytes);
    EXPECT_EQ(first_difference(got, 1 - rank), kBytes);
    ASSERT_EQ(ph_stream_close(stream), PH_OK);
    all.close();
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(count_now(context, PH_EITHER), 0u) << "nothing of it comes to the program's probes";
  });
}

// The one asks, ends its way, and still reads the answer.
TEST_P(StreamOver, a_way_that_was_ended_leaves_the_other_one_open) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Rank all(context);
    ph_listener* const listener = rank == 1 ? all.listening() : nullptr;
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ph_stream* const stream = rank == 0 ? all.connected(1) : accepted(listener);
    ph_status status = PH_AGAIN;
    std::size_t count = 0;
    if (rank == 0) {
      ASSERT_EQ(write_all(stream, "what is it?"), PH_OK);
      ASSERT_EQ(ph_stream_shutdown(stream), PH_OK);
      EXPECT_EQ(ph_stream_shutdown(stream), PH_ERR_STATE);
      EXPECT_EQ(ph_stream_write(stream, "x", 1, &count), PH_ERR_STATE);
      EXPECT_NE(all.why(), "");
      EXPECT_EQ(text_of(read_all(stream, status)), "it is so");
    } else {
      EXPECT_EQ(text_of(read_all(stream, status)), "what is it?");
      char more = 0;
      EXPECT_EQ(ph_stream_read(stream, &more, 1, &count), PH_OK);
      EXPECT_EQ(count, 0u) << "the end stays the end";
      ASSERT_EQ(write_all(stream, "it is so"), PH_OK);
    }
    EXPECT_EQ(status, PH_OK);
    ASSERT_EQ(ph_stream_close(stream), PH_OK);
    all.close();
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// A reader that does not read stops its own writer, and nobody else.
TEST_P(StreamOver, back_pressure_stops_the_writer_and_no_other_stream) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Rank all(context, {.buffer_bytes = 1024, .buffers = 3});
    ph_listener* const listener = rank == 1 ? all.listening() : nullptr;
    ASSERT_EQ(ph_barrier(context), PH_OK);
    constexpr std::size_t kMost = 3 * (1024 - 8);
    const std::vector<std::byte> bytes = filled(2 * kMost, 5);
    if (rank == 0) {
      ph_stream* const full = all.connected(1);
      ph_stream* const other = all.connected(1);
      ASSERT_EQ(until_ready(full, PH_STREAM_WRITABLE), PH_OK);
      std::size_t taken = 0;
      while (taken < kMost) {
        std::size_t count = 0;
        const ph_status status =
            ph_stream_write(full, bytes.data() + taken, bytes.size() - taken, &count);
        ASSERT_GE(status, PH_OK);
        if (status == PH_AGAIN) std::this_thread::yield();
        taken += count;
      }
      EXPECT_EQ(taken, kMost);
      std::uint32_t ready = 9;
      EXPECT_EQ(ph_stream_wait(full, PH_STREAM_WRITABLE, &ready, 0), PH_TIMEOUT);
      EXPECT_EQ(ready, 0u);
      ASSERT_EQ(write_all(other, "go on"), PH_OK);
      ASSERT_EQ(ph_stream_close(other), PH_OK);
      ASSERT_EQ(write_all(full, std::span(bytes).subspan(taken)), PH_OK);
      ASSERT_EQ(ph_stream_close(full), PH_OK);
    } else {
      ph_stream* const full = accepted(listener);
      ph_stream* const other = accepted(listener);
      ph_status status = PH_AGAIN;
      EXPECT_EQ(text_of(read_all(other, status)), "go on");
      const std::vector<std::byte> got = read_all(full, status, 100);
      EXPECT_EQ(status, PH_OK);
      ASSERT_EQ(got.size(), bytes.size());
      EXPECT_EQ(first_difference(got, 5), got.size());
    }
    all.close();
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(StreamOver, a_port_that_nobody_listens_at_refuses) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Rank all(context);
    if (rank == 0) {
      ph_stream* const stream = all.connected(1);
      EXPECT_EQ(until_ready(stream, PH_STREAM_WRITABLE), PH_OK);
      std::size_t count = 0;
      EXPECT_EQ(ph_stream_write(stream, "x", 1, &count), PH_ERR_NOT_FOUND);
      ph_status status = PH_AGAIN;
      EXPECT_TRUE(read_all(stream, status).empty());
      EXPECT_EQ(status, PH_ERR_NOT_FOUND);
      ASSERT_EQ(ph_stream_close(stream), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    // And a port that is closed refuses those that wait there.
    ph_listener* const listener = rank == 1 ? all.listening() : nullptr;
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ph_stream* const stream = all.connected(1);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, 3); }), PH_OK);
      ph_status status = PH_AGAIN;
      read_all(stream, status);
      EXPECT_EQ(status, PH_ERR_NOT_FOUND);
    } else {
      take_remote(context, 0);
      ASSERT_EQ(ph_listener_close(listener), PH_OK);
    }
    all.close();
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// What the peer has not read when it closes is lost, and the writer hears of it.
TEST_P(StreamOver, a_peer_that_closes_gives_the_end_and_refuses_writes) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Rank all(context);
    ph_listener* const listener = rank == 1 ? all.listening() : nullptr;
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      ph_stream* const stream = accepted(listener);
      ASSERT_EQ(write_all(stream, "good bye"), PH_OK);
      ASSERT_EQ(ph_stream_close(stream), PH_OK);
    } else {
      ph_stream* const stream = all.connected(1);
      ph_status status = PH_OK;
      const std::vector<std::byte> bytes = filled(1000, 1);
      while (status >= PH_OK) {
        std::size_t count = 0;
        status = ph_stream_write(stream, bytes.data(), bytes.size(), &count);
        if (status == PH_AGAIN) until_ready(stream, PH_STREAM_WRITABLE);
      }
      EXPECT_EQ(status, PH_ERR_NOT_FOUND);
      EXPECT_EQ(text_of(read_all(stream, status)), "good bye");
      EXPECT_EQ(status, PH_OK);
    }
    all.close();
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// As much text as `bytes` from rank 0 to rank 1, over streams of that context or lane.
void send_over(ph_context* context, ph_rank rank, std::size_t bytes) {
  Rank all(context);
  ph_listener* const listener = rank == 1 ? all.listening() : nullptr;
  if (rank == 1) {
    ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, 1); }), PH_OK);
    ph_stream* const stream = accepted(listener);
    ph_status status = PH_AGAIN;
    const std::vector<std::byte> got = read_all(stream, status);
    EXPECT_EQ(status, PH_OK);
    ASSERT_EQ(got.size(), bytes);
    EXPECT_EQ(first_difference(got, 3), bytes);
  } else {
    take_remote(context, 1);
    ph_stream* const stream = all.connected(1);
    ASSERT_EQ(write_all(stream, filled(bytes, 3)), PH_OK);
    ASSERT_EQ(ph_stream_close(stream), PH_OK) << "what was written is read all the same";
  }
}

TEST_P(StreamOver, little_credit_for_mail_slows_them_down_and_loses_nothing) {
  ThreadJob job(2, options({{"mailbox_early_bytes", "1024"}, {"mailbox_carried_max", "700"}}));
  job.run([&](ph_context* context, ph_rank rank) { send_over(context, rank, 60'000); });
}

TEST_P(StreamOver, a_lane_has_streams_of_its_own) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* const lane = open_lane(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    send_over(lane, rank, 60'000);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(ph_lane_close(lane), PH_OK);
  });
}

TEST_P(StreamOver, many_connect_to_one_and_to_themselves) {
  constexpr std::uint32_t kRanks = 4;
  ThreadJob job(kRanks, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Rank all(context, {.buffer_bytes = 64, .buffers = 1});
    ph_listener* const listener = rank == 0 ? all.listening() : nullptr;
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ph_stream* const mine = all.connected(0);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::thread server([&] {
      for (std::uint32_t i = 0; rank == 0 && i < kRanks; ++i) {
        ph_stream* const one = accepted(listener);
        ph_status status = PH_AGAIN;
        const std::string text = text_of(read_all(one, status));
        EXPECT_EQ(text, std::string(1000, static_cast<char>('a' + ph_stream_peer(one))));
        EXPECT_EQ(write_all(one, text + "!"), PH_OK);
        EXPECT_EQ(ph_stream_close(one), PH_OK);
      }
    });
    const std::string text(1000, static_cast<char>('a' + rank));
    ASSERT_EQ(write_all(mine, text), PH_OK);
    ASSERT_EQ(ph_stream_shutdown(mine), PH_OK);
    ph_status status = PH_AGAIN;
    EXPECT_EQ(text_of(read_all(mine, status)), text + "!");
    server.join();
    all.close();
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(All, StreamOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test::streams
