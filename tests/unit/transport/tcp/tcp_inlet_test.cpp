// Frames out of a stream that is cut anywhere.
#include "transport/tcp/tcp_inlet.hpp"

#include <sys/mman.h>

#include <random>

#include "tcp_ranks.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp::test {
namespace {

// Takes everything and writes down what it was.
struct Recorder final : Port {
  bool begin_lines(std::uint32_t count, std::uint32_t bulk_bytes, std::byte*& bulk) override {
    log += "lines " + std::to_string(count) + "+" + std::to_string(bulk_bytes) + ";";
    bulk = chunk.data();
    return count != 99;
  }
  std::uint32_t take_lines(std::span<const std::byte> lines) override {
    const auto whole = static_cast<std::uint32_t>(lines.size() / kLineBytes) / record * record;
    taken += whole;
    return whole;
  }
  bool take_credits(const CreditBody& credits) override {
    log += "credits " + std::to_string(credits.ledger) + ";";
    return true;
  }
  bool begin_write(const FrameHead& head, const FragmentBody& body, std::byte*& to) override {
    log += "write " + std::to_string(head.bytes) + ";";
    to = body.key == 0 ? nullptr : payload.data();
    return body.size_bytes <= payload.size();
  }
  bool take_read(const FrameHead&, const FragmentBody&) override {
    log += "read;";
    return true;
  }
  bool begin_data(const FrameHead& head, std::byte*& to) override {
    log += "data;";
    to = place == nullptr ? payload.data() : place;
    return head.bytes <= payload.size();
  }
  void end_words() override { log += "words;"; }
  bool take_end(const FrameHead& head) override {
    log += "end;";
    return head.code < 100;
  }
  void cannot_place() override { log += "nowhere;"; }
  bool take_done(const FrameHead& head) override {
    log += "done;";
    return head.code < 100;
  }
  bool begin_bye(const FrameHead& head, std::byte*& to) override {
    log += "bye;";
    to = payload.data();
    return head.bytes <= kMostWordBytes;
  }

  std::string log;
  std::byte* place = nullptr;  // of data, in the place of:
  std::uint32_t taken = 0;
  std::uint32_t record = 1;
  std::vector<std::byte> chunk = std::vector<std::byte>(70000);
  std::vector<std::byte> payload = std::vector<std::byte>(70000);
};

class TcpInlet : public TcpSockets {
 protected:
  template <class Plain>
  void add(const Plain& plain) {
    const auto bytes = std::as_bytes(std::span(&plain, 1));
    for (const std::byte one : bytes) stream_.push_back(one);
  }
  void add_bytes(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) stream_.push_back(static_cast<std::byte>(i % 251));
  }
  // In fragments of up to `most` bytes.
  Inlet::Got feed(std::size_t most) {
    std::mt19937 random(3);
    Inlet::Got got = Inlet::Got::nothing;
    for (std::size_t at = 0; at < stream_.size();) {
      const std::size_t bytes = std::min(stream_.size() - at, 1 + random() % most);
      EXPECT_EQ(::send(far_.get(), stream_.data() + at, bytes, 0), static_cast<ssize_t>(bytes));
      at += bytes;
      do got = inlet_.receive(near_.get(), port_, buffer_);
      while (got == Inlet::Got::some);
      if (got == Inlet::Got::garbage) return got;
    }
    return got;
  }

  std::vector<std::byte> stream_;
  Recorder port_;
  Inlet inlet_;
  Inlet::Buffer buffer_;
};

TEST_F(TcpInlet, every_frame_is_taken_however_the_stream_is_cut) {
  for (const std::size_t most : {1UL, 7UL, 100UL, 5000UL, 60000UL}) {
    SetUp();
    stream_.clear();
    port_ = Recorder();
    inlet_ = Inlet();
    add(FrameHead{.kind = FrameKind::lines, .lines = 3});
    add_bytes(3 * kLineBytes);
    add(FrameHead{.kind = FrameKind::lines, .lines = 1, .bytes = 30000});
    add_bytes(30000 + kLineBytes);
    add(FrameHead{.kind = FrameKind::credits});
    add(CreditBody{1, 2, 3});
    add(FrameHead{.kind = FrameKind::write, .code = 1, .bytes = 5});
    add(FragmentBody{1, 1, 20000});
    add_bytes(20000);
    add(FrameHead{.kind = FrameKind::end});
    add(FrameHead{.kind = FrameKind::write});
    add(FragmentBody{1, 0, 20001});
    add_bytes(20001);
    add(FrameHead{.kind = FrameKind::end, .code = 1});
    add(FrameHead{.kind = FrameKind::read});
    add(FragmentBody{1, 1, 7});
    add(FrameHead{.kind = FrameKind::data, .bytes = 9});
    add_bytes(9);
    add(FrameHead{.kind = FrameKind::end});
    add(FrameHead{.kind = FrameKind::done});
    add(FrameHead{.kind = FrameKind::bye});
    add(FrameHead{.kind = FrameKind::bye, .bytes = 8});
    add_bytes(8);
    EXPECT_NE(feed(most), Inlet::Got::garbage);
    EXPECT_EQ(port_.log,
              "lines 3+0;lines 1+30000;credits 2;write 5;end;write 0;end;read;data;end;done;bye;"
              "bye;words;");
    EXPECT_EQ(port_.taken, 4u);
    for (std::size_t i = 0; i < 30000; ++i)
      ASSERT_EQ(port_.chunk[i], static_cast<std::byte>(i % 251)) << i;
    for (std::size_t i = 9; i < 20000; ++i)
      ASSERT_EQ(port_.payload[i], static_cast<std::byte>(i % 251)) << i;
  }
}

TEST_F(TcpInlet, the_end_of_the_stream_comes_behind_what_was_sent) {
  add(FrameHead{.kind = FrameKind::done});
  EXPECT_EQ(feed(100), Inlet::Got::last);
  EXPECT_EQ(inlet_.receive(near_.get(), port_, buffer_), Inlet::Got::nothing);
  far_.reset();
  EXPECT_EQ(inlet_.receive(near_.get(), port_, buffer_), Inlet::Got::closed);
  EXPECT_EQ(port_.log, "done;");
}

TEST_F(TcpInlet, frames_that_there_are_not_or_that_are_refused_are_garbage) {
  const FrameHead bad[] = {{.kind = FrameKind{0}},
                           {.kind = FrameKind{9}},
                           {.kind = FrameKind::end},
                           {.kind = FrameKind::bye, .bytes = kMostWordBytes + 1},
                           {.kind = FrameKind{255}},
                           {.kind = FrameKind::lines, .lines = 99},
                           {.kind = FrameKind::done, .code = 100},
                           {.kind = FrameKind::data, .bytes = 70001}};
  for (const FrameHead& head : bad) {
    SetUp();
    inlet_ = Inlet();
    stream_.clear();
    add(head);
    EXPECT_EQ(feed(100), Inlet::Got::garbage) << static_cast<int>(head.kind);
  }
  inlet_ = Inlet();
  stream_.clear();
  add(FrameHead{.kind = FrameKind::write});
  add(FragmentBody{1, 1, 0});
  EXPECT_EQ(feed(100), Inlet::Got::garbage) << "a write of nothing";
}

TEST_F(TcpInlet, a_payload_that_is_followed_by_anything_but_its_end_is_garbage) {
  add(FrameHead{.kind = FrameKind::write});
  add(FragmentBody{1, 1, 30});
  add_bytes(30);
  add(FrameHead{.kind = FrameKind::done});
  EXPECT_EQ(feed(1000), Inlet::Got::garbage);
}

// The caller has unmapped it: the stream stays in step, and who owns the memory hears of it.
TEST_F(TcpInlet, a_payload_whose_place_is_gone_goes_nowhere_and_what_follows_is_taken) {
  constexpr std::size_t kBytes = 60'000;
  void* const gone = ::mmap(nullptr, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  port_.place = static_cast<std::byte*>(gone);
  const FrameHead head{.kind = FrameKind::data, .bytes = kBytes};
  ASSERT_EQ(::send(far_.get(), &head, sizeof head, 0), static_cast<ssize_t>(sizeof head));
  ASSERT_EQ(inlet_.receive(near_.get(), port_, buffer_), Inlet::Got::last);
  add_bytes(kBytes);
  add(FrameHead{.kind = FrameKind::end});
  add(FrameHead{.kind = FrameKind::done});
  EXPECT_NE(feed(20'000), Inlet::Got::garbage);
  EXPECT_EQ(port_.log, "data;nowhere;end;done;");
  ::munmap(gone, 1 << 16);
}

// As above, of what came with its head, however much of that.
TEST_F(TcpInlet, a_payload_that_came_with_its_head_is_not_written_where_its_place_is_gone) {
  constexpr std::size_t kMapped = 1 << 16;
  constexpr std::size_t kPlaced = 4096;
  auto* const place = static_cast<std::byte*>(
      ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(place, MAP_FAILED);
  for (const int protection : {PROT_NONE, PROT_READ}) {
    ASSERT_EQ(::mprotect(place + kPlaced, kMapped - kPlaced, protection), 0);
    for (const std::uint32_t bytes : {3U, 100U, 4000U, 20'000U}) {
      for (const std::size_t before : {0, 2}) {
        SetUp();
        stream_.clear();
        port_ = Recorder();
        inlet_ = Inlet();
        port_.place = place + kPlaced - before;
        add(FrameHead{.kind = FrameKind::data, .bytes = bytes});
        add_bytes(bytes);
        add(FrameHead{.kind = FrameKind::end});
        add(FrameHead{.kind = FrameKind::done});
        ASSERT_EQ(::send(far_.get(), stream_.data(), stream_.size(), 0),
                  static_cast<ssize_t>(stream_.size()));
        ASSERT_EQ(inlet_.receive(near_.get(), port_, buffer_), Inlet::Got::last);
        EXPECT_EQ(port_.log, "data;nowhere;end;done;") << bytes << ", " << before;
      }
    }
  }
  ::munmap(place, kMapped);
}

TEST_F(TcpInlet, a_frame_that_ends_within_a_record_is_garbage) {
  port_.record = 4;
  add(FrameHead{.kind = FrameKind::lines, .lines = 6});
  add_bytes(6 * kLineBytes);
  EXPECT_EQ(feed(1000), Inlet::Got::garbage);
}

TEST_F(TcpInlet, random_bytes_end_or_wait_and_touch_nothing_else) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    SetUp();
    inlet_ = Inlet();
    stream_.resize(300);
    for (std::byte& one : stream_) one = static_cast<std::byte>(random());
    stream_[0] = static_cast<std::byte>(1 + round % 8);
    feed(100);
  }
}

}  // namespace
}  // namespace photon::transport::tcp::test
