// Bytes from where they lie into a socket that takes what it likes.
#include "transport/tcp/tcp_outlet.hpp"

#include <sys/mman.h>

#include <thread>

#include "tcp_ranks.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp::test {
namespace {

// Sevens, and behind the middle nothing that can be read.
class HalfMapped {
 public:
  explicit HalfMapped(std::size_t size_bytes)
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        mapped_(std::max(size_bytes, 2 * page_)),
        size_bytes_(size_bytes),
        all_(static_cast<std::byte*>(
            ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (all_ == MAP_FAILED) throw std::bad_alloc();
    std::fill_n(all_, mapped_ / 2, std::byte{7});
    if (::mprotect(all_ + mapped_ / 2, mapped_ / 2, PROT_NONE) != 0) throw std::bad_alloc();
  }
  HalfMapped(const HalfMapped&) = delete;
  HalfMapped& operator=(const HalfMapped&) = delete;
  ~HalfMapped() { ::munmap(all_, mapped_); }
  const std::byte* begin() const { return all_ + mapped_ / 2 - size_bytes_ / 2; }

 private:
  const std::size_t page_;
  const std::size_t mapped_;
  const std::size_t size_bytes_;
  std::byte* const all_;
};

class TcpOutlet : public TcpSockets {
 protected:
  // All that is to be sent, read as it comes.
  std::vector<std::byte> sent(std::size_t size_bytes) {
    std::vector<std::byte> all;
    for (auto flushed = flush(); all.size() < size_bytes; flushed = flush()) {
      if (flushed == Outlet::Flushed::broken) break;
      const auto more = arrived();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
  Outlet::Flushed flush() { return outlet_.flush(near_.get(), *link_, regions_, scratch_); }
  std::vector<std::byte> arrived() {
    std::vector<std::byte> all;
    std::byte buffer[4096];
    for (;;) {
      const ssize_t got = ::recv(far_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got <= 0) return all;
      all.insert(all.end(), buffer, buffer + got);
    }
  }
  void publish(wire::Kind kind, std::uint64_t third_word) {
    producer_.line(0).words[2].set(third_word);
    producer_.publish(wire::encode(kind, wire::kNoId, 0), wire::lines_for(kind, wire::kNoId, 0));
  }
  static FrameHead head_at(std::span<const std::byte> bytes, std::size_t at) {
    FrameHead head;
    std::memcpy(&head, bytes.data() + at, sizeof head);
    return head;
  }
  Outlet::Item data_item(std::span<const std::byte> from, std::uint64_t key) {
    Outlet::Item item;
    item.head = {
        .kind = FrameKind::data, .bytes = static_cast<std::uint32_t>(from.size()), .token = 4};
    item.body = {reinterpret_cast<std::uintptr_t>(from.data()), key, from.size()};
    item.payload = from.data();
    item.payload_bytes = from.size();
    return item;
  }

  std::unique_ptr<network::RingOverNetwork> link_ =
      std::move(*network::RingOverNetwork::make(tcp_config(), false));
  sync::LineProducer<Policy> producer_{link_->view().tx_lines, link_->view().tx_credits, 6};
  std::vector<RegionEntry> regions_ = std::vector<RegionEntry>(64);
  Outlet outlet_;
  std::array<std::byte, Outlet::kSmallBytes> scratch_;
};

TEST_F(TcpOutlet, nothing_sends_nothing) {
  EXPECT_TRUE(outlet_.is_idle(*link_));
  EXPECT_EQ(flush(), Outlet::Flushed::all);
  EXPECT_TRUE(arrived().empty());
}

TEST_F(TcpOutlet, says_whether_a_write_is_still_to_be_sent) {
  const std::vector<std::byte> source(4 << 20, std::byte{7});
  Outlet::Item item;
  item.head = {.kind = FrameKind::write, .token = 9};
  item.body = {0x1000, 5, source.size()};
  item.payload = source.data();
  item.payload_bytes = source.size();
  outlet_.add(item);
  EXPECT_TRUE(outlet_.still_sends(9)) << "it waits";
  ASSERT_EQ(flush(), Outlet::Flushed::blocked);
  EXPECT_TRUE(outlet_.still_sends(9)) << "it is half sent";
  EXPECT_FALSE(outlet_.still_sends(8));
  for (auto flushed = Outlet::Flushed::blocked; flushed == Outlet::Flushed::blocked;) {
    static_cast<void>(arrived());
    flushed = flush();
  }
  EXPECT_FALSE(outlet_.still_sends(9));
}

TEST_F(TcpOutlet, records_share_a_frame_and_a_chunk_stands_before_its_record) {
  publish(wire::Kind::bye, 0);
  publish(wire::Kind::bye, 0);
  publish(wire::Kind::bulk, 100);
  ASSERT_EQ(flush(), Outlet::Flushed::all);
  const auto bytes = arrived();
  ASSERT_EQ(bytes.size(), 16u + 128 + 16 + 100 + 64);
  EXPECT_EQ(head_at(bytes, 0).lines, 2);
  EXPECT_EQ(head_at(bytes, 144).bytes, 100u);
  EXPECT_EQ(head_at(bytes, 144).lines, 1);
  EXPECT_TRUE(outlet_.is_idle(*link_));
}

// A refusal must not overtake what was published before the key was taken back.
TEST_F(TcpOutlet, lines_go_before_items) {
  outlet_.add({{.kind = FrameKind::done, .token = 9}, {}, nullptr, 0});
  for (int i = 0; i < 50; ++i) publish(wire::Kind::bulk, 8);
  ASSERT_EQ(flush(), Outlet::Flushed::all);
  const auto bytes = arrived();
  ASSERT_EQ(bytes.size(), 50u * (16 + 8 + 64) + 16);
  EXPECT_EQ(head_at(bytes, bytes.size() - 16).kind, FrameKind::done);
}

TEST_F(TcpOutlet, a_socket_that_takes_little_gets_everything_in_order) {
  const int small = 4096;
  ASSERT_EQ(::setsockopt(near_.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
  std::vector<std::byte> payload(3 << 20);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i % 251);
  Outlet::Item item;
  item.head = {.kind = FrameKind::write, .token = 4};
  item.payload = payload.data();
  item.payload_bytes = payload.size();
  outlet_.add(item);
  publish(wire::Kind::bye, 0);
  ASSERT_EQ(flush(), Outlet::Flushed::blocked);
  EXPECT_FALSE(outlet_.is_idle(*link_));
  std::vector<std::byte> bytes;
  for (Outlet::Flushed now = Outlet::Flushed::blocked; now == Outlet::Flushed::blocked;) {
    const auto more = arrived();
    bytes.insert(bytes.end(), more.begin(), more.end());
    now = flush();
    ASSERT_NE(now, Outlet::Flushed::broken);
  }
  const auto more = arrived();
  bytes.insert(bytes.end(), more.begin(), more.end());
  ASSERT_EQ(bytes.size(), 16u + 64 + 16 + 24 + payload.size() + 16);
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), bytes.begin() + 16 + 64 + 16 + 24));
}

TEST_F(TcpOutlet, a_lone_payload_arrives_whole_however_it_is_cut) {
  for (const std::size_t size : {49151, 49152, 65536, 81919, 81920}) {
    std::vector<std::byte> source(size);
    for (std::size_t i = 0; i < size; ++i) source[i] = static_cast<std::byte>(i * 7 + (i >> 8));
    Outlet::Item item;
    item.head = {.kind = FrameKind::write, .token = size};
    item.body = {0x1000, 5, size};
    item.payload = source.data();
    item.payload_bytes = size;
    item.is_alone = true;
    outlet_.add(item);
    outlet_.add({{.kind = FrameKind::done, .token = 3}, {}, nullptr, 0});
    std::vector<std::byte> all;
    const std::size_t whole =
        sizeof(FrameHead) + sizeof(FragmentBody) + size + 2 * sizeof(FrameHead);
    for (auto flushed = flush(); all.size() < whole; flushed = flush()) {
      ASSERT_NE(flushed, Outlet::Flushed::broken);
      const auto more = arrived();
      all.insert(all.end(), more.begin(), more.end());
    }
    ASSERT_EQ(all.size(), whole);
    EXPECT_EQ(head_at(all, 0).token, size);
    const auto first = all.begin() + sizeof(FrameHead) + sizeof(FragmentBody);
    EXPECT_TRUE(std::equal(source.begin(), source.end(), first)) << size;
    EXPECT_EQ(head_at(all, whole - sizeof(FrameHead)).token, 3u);
  }
}

// Its caller has unmapped it; the frame's length was promised, and the frames behind it follow.
TEST_F(TcpOutlet, a_payload_that_cannot_be_read_is_filled_up_with_zeros_and_its_end_says_so) {
  for (const std::size_t bytes : {2UL << 10, 8UL << 10, 64UL << 10}) {
    SetUp();
    const HalfMapped source(bytes);
    Outlet::Item item;
    item.head = {.kind = FrameKind::write, .token = 4};
    item.payload = source.begin();
    item.payload_bytes = bytes;
    outlet_.add(item);
    outlet_.add({{.kind = FrameKind::done, .token = 3}, {}, nullptr, 0});
    const std::size_t whole = 40 + bytes + 16 + 16;
    const auto all = sent(whole);
    ASSERT_EQ(all.size(), whole);
    EXPECT_EQ(std::count(all.end() - 32 - bytes / 2, all.end() - 32, std::byte{0}),
              static_cast<std::ptrdiff_t>(bytes / 2));
    EXPECT_EQ(head_at(all, whole - 32).kind, FrameKind::end);
    EXPECT_EQ(status_of(head_at(all, whole - 32).code), PH_ERR_ARGUMENT);
    EXPECT_EQ(head_at(all, whole - 16).token, 3u);
  }
}

TEST_F(TcpOutlet, memory_that_was_unmapped_and_whose_key_is_gone_is_served_as_zeros) {
  constexpr std::size_t kBytes = 1 << 20;
  const HalfMapped memory(kBytes);
  regions_[5].publish(5, {reinterpret_cast<std::uintptr_t>(memory.begin()), kBytes, PH_ACCESS_ALL});
  outlet_.add(data_item({memory.begin(), kBytes}, 5));
  ASSERT_EQ(flush(), Outlet::Flushed::blocked);
  regions_[5].revoke();
  ASSERT_TRUE(outlet_.let_go(regions_));
  const auto all = sent(16 + kBytes + 16);
  ASSERT_EQ(all.size(), 16 + kBytes + 16);
  EXPECT_EQ(status_of(head_at(all, 16 + kBytes).code), PH_ERR_ACCESS);
}

TEST_F(TcpOutlet, a_socket_without_another_end_is_broken_and_kills_nobody) {
  far_.reset();
  publish(wire::Kind::bye, 0);
  EXPECT_EQ(flush(), Outlet::Flushed::broken);
}

TEST_F(TcpOutlet, what_waits_to_be_read_is_refused_once_its_key_is_gone) {
  const std::vector<std::byte> memory(64, std::byte{5});
  regions_[5].publish(5, {reinterpret_cast<std::uintptr_t>(memory.data()), 64, PH_ACCESS_ALL});
  outlet_.add(data_item(memory, 5));
  regions_[5].revoke();
  ASSERT_TRUE(outlet_.let_go(regions_));
  ASSERT_EQ(flush(), Outlet::Flushed::all);
  const auto bytes = arrived();
  ASSERT_EQ(bytes.size(), 16u);
  EXPECT_EQ(head_at(bytes, 0).kind, FrameKind::done);
  EXPECT_EQ(status_of(head_at(bytes, 0).code), PH_ERR_KEY);
}

TEST_F(TcpOutlet, what_is_on_its_way_is_not_read_any_more_once_its_key_is_gone) {
  std::vector<std::byte> memory(1 << 20, std::byte{5});
  regions_[5].publish(
      5, {reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), PH_ACCESS_ALL});
  outlet_.add(data_item(memory, 5));
  ASSERT_EQ(flush(), Outlet::Flushed::blocked);
  regions_[5].revoke();
  ASSERT_TRUE(outlet_.let_go(regions_));
  std::fill(memory.begin(), memory.end(), std::byte{0xee});
  std::vector<std::byte> bytes;
  while (bytes.size() < 16 + memory.size()) {
    const auto more = arrived();
    bytes.insert(bytes.end(), more.begin(), more.end());
    flush();
  }
  EXPECT_EQ(std::count(bytes.begin() + 16, bytes.end(), std::byte{5}),
            static_cast<std::ptrdiff_t>(memory.size()));
}

}  // namespace
}  // namespace photon::transport::tcp::test
