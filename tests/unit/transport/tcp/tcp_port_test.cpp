// What frames of a peer do, sensible ones and others.
#include "transport/tcp/tcp_port.hpp"

#include "tcp_ranks.hpp"

namespace photon::transport::tcp::test {
namespace {

struct PortLog final : PortNews {
  void on_ring(TcpPeer&) override { ++ring; }
  void on_landed(TcpPeer&, std::uint32_t name) override { names.push_back(name); }
  void on_over(TcpPeer&, std::uint64_t token, ph_status status) override { over[token] = status; }
  void on_written(TcpPeer&, std::uint64_t token) override { written.push_back(token); }

  unsigned ring = 0;
  std::vector<std::uint32_t> names;
  std::map<std::uint64_t, ph_status> over;
  std::vector<std::uint64_t> written;
};

class TcpPort : public testing::Test {
 protected:
  TcpPort() {
    peer_.link = std::move(*network::RingOverNetwork::make(tcp_config(), false));
    peer_.link->set_answered();
    peer_.outlet = std::make_unique<Outlet>();
    regions_[5].publish(kItsKey,
                        {reinterpret_cast<std::uintptr_t>(memory_), sizeof memory_, PH_ACCESS_ALL});
  }
  FragmentBody all() const {
    return {reinterpret_cast<std::uintptr_t>(memory_), kItsKey, sizeof memory_};
  }
  FrameHead write_head(std::uint64_t token) const {
    return {.kind = FrameKind::write, .code = 1, .bytes = 77, .token = token};
  }
  PostedFragment fragment(bool is_write) {
    PostedFragment made;
    made.token = 123;
    made.size_bytes = sizeof own_;
    if (is_write)
      made.source = own_;
    else
      made.destination = own_;
    return made;
  }

  static constexpr std::uint64_t kItsKey = 64 + 5;
  std::byte memory_[256] = {};
  std::byte own_[32] = {};
  std::vector<RegionEntry> regions_ = std::vector<RegionEntry>(64);
  TcpPeer peer_{1};
  PortLog log_;
  PeerPort port_{peer_, regions_, log_};
};

TEST_F(TcpPort, a_write_lands_where_its_key_allows_and_is_told_and_answered) {
  std::byte* to = nullptr;
  ASSERT_TRUE(port_.begin_write(write_head(9), all(), to));
  EXPECT_EQ(to, memory_);
  EXPECT_TRUE(log_.names.empty());
  ASSERT_TRUE(port_.take_end({.kind = FrameKind::end}));
  EXPECT_EQ(log_.names, std::vector<std::uint32_t>{77});
  EXPECT_EQ(peer_.outlet->waiting(), 1u);
}

TEST_F(TcpPort, a_write_that_its_key_does_not_allow_goes_nowhere_and_is_not_told) {
  const FragmentBody bodies[] = {{all().address, kItsKey + 64, 8},
                                 {all().address, 0, 8},
                                 {all().address + 250, kItsKey, 8},
                                 {all().address - 1, kItsKey, 8},
                                 {all().address, kItsKey, ~std::uint64_t{0}},
                                 {~std::uint64_t{0} - 3, kItsKey, 8}};
  for (const FragmentBody& body : bodies) {
    std::byte* to = memory_;
    ASSERT_TRUE(port_.begin_write(write_head(9), body, to));
    EXPECT_EQ(to, nullptr);
    ASSERT_TRUE(port_.take_end({.kind = FrameKind::end}));
  }
  EXPECT_TRUE(log_.names.empty());
  EXPECT_EQ(peer_.outlet->waiting(), std::size(bodies));
}

TEST_F(TcpPort, who_asks_for_more_than_can_be_under_way_is_cut_off) {
  unsigned taken = 0;
  while (taken < 1000 && port_.take_read({.kind = FrameKind::read, .token = taken}, all())) ++taken;
  EXPECT_EQ(taken, 2 * kMostFragments);
  std::byte* to = nullptr;
  EXPECT_FALSE(port_.begin_write(write_head(9), all(), to));
}

TEST_F(TcpPort, reads_of_nothing_or_of_more_than_a_frame_holds_are_cut_off) {
  FragmentBody body = all();
  body.size_bytes = 0;
  EXPECT_FALSE(port_.take_read({.kind = FrameKind::read}, body));
  body.size_bytes = kMostFragmentBytes + 1;
  EXPECT_FALSE(port_.take_read({.kind = FrameKind::read}, body));
}

TEST_F(TcpPort, answers_to_what_nobody_asked_are_cut_off) {
  std::byte* to = nullptr;
  EXPECT_FALSE(port_.take_done({.kind = FrameKind::done, .token = 0}));
  EXPECT_FALSE(port_.take_done({.kind = FrameKind::done, .token = 0x100}));
  EXPECT_FALSE(port_.begin_data({.kind = FrameKind::data, .bytes = 8, .token = 0x1ff}, to));
  const std::uint64_t wire = peer_.fragments.add(fragment(true))->token;
  EXPECT_FALSE(port_.begin_data({.kind = FrameKind::data, .bytes = 32, .token = wire}, to))
      << "a write has no data";
  EXPECT_FALSE(port_.take_done({.kind = FrameKind::done, .code = 200, .token = wire}));
  ASSERT_TRUE(port_.take_done({.kind = FrameKind::done, .token = wire}));
  EXPECT_EQ(log_.written, std::vector<std::uint64_t>{123});
  EXPECT_TRUE(log_.over.empty());
  EXPECT_FALSE(port_.take_done({.kind = FrameKind::done, .token = wire})) << "twice";
}

TEST_F(TcpPort, the_data_of_a_read_has_its_size_and_goes_to_its_place) {
  const std::uint64_t wire = peer_.fragments.add(fragment(false))->token;
  std::byte* to = nullptr;
  EXPECT_FALSE(port_.begin_data({.kind = FrameKind::data, .bytes = 33, .token = wire}, to));
  EXPECT_FALSE(port_.take_done({.kind = FrameKind::done, .token = wire}))
      << "a read is not over without its bytes";
  ASSERT_TRUE(port_.begin_data({.kind = FrameKind::data, .bytes = 32, .token = wire}, to));
  EXPECT_EQ(to, own_);
  EXPECT_TRUE(log_.over.empty());
  ASSERT_TRUE(port_.take_end({.kind = FrameKind::end}));
  EXPECT_EQ(log_.over.at(123), PH_OK);
}

// The mistake of who has written: nothing of it is told, and he hears that it was his.
TEST_F(TcpPort, a_write_whose_source_could_not_be_read_is_not_told_and_so_answered) {
  std::byte* to = nullptr;
  ASSERT_TRUE(port_.begin_write(write_head(9), all(), to));
  ASSERT_TRUE(port_.take_end({.kind = FrameKind::end, .code = code_of(PH_ERR_ARGUMENT)}));
  EXPECT_TRUE(log_.names.empty());
  EXPECT_EQ(peer_.outlet->waiting(), 1u);
  ASSERT_TRUE(port_.begin_write(write_head(9), all(), to));
  EXPECT_FALSE(port_.take_end({.kind = FrameKind::end, .code = code_of(PH_ERR_KEY)}));
}

TEST_F(TcpPort, a_read_says_whose_memory_could_not_be_used) {
  struct {
    ph_status sent;
    bool is_placed;
    ph_status told;
  } const cases[] = {
      {PH_OK, false, PH_ERR_ARGUMENT}, {PH_ERR_ACCESS, true, PH_ERR_ACCESS}, {PH_OK, true, PH_OK}};
  for (const auto& one : cases) {
    const std::uint64_t wire = peer_.fragments.add(fragment(false))->token;
    std::byte* to = nullptr;
    ASSERT_TRUE(port_.begin_data({.kind = FrameKind::data, .bytes = 32, .token = wire}, to));
    if (!one.is_placed) port_.cannot_place();
    ASSERT_TRUE(port_.take_end({.kind = FrameKind::end, .code = code_of(one.sent)}));
    EXPECT_EQ(log_.over.at(123), one.told);
  }
}

TEST_F(TcpPort, words_behind_a_bye_say_that_we_are_cut_off) {
  std::byte* to = nullptr;
  EXPECT_FALSE(port_.begin_bye({.kind = FrameKind::bye, .bytes = kMostWordBytes + 1}, to));
  EXPECT_FALSE(port_.begin_bye({.kind = FrameKind::bye, .code = 2}, to));
  ASSERT_TRUE(port_.begin_bye({.kind = FrameKind::bye, .bytes = 3}, to));
  std::memcpy(to, "why", 3);
  EXPECT_FALSE(peer_.is_cut_off);
  port_.end_words();
  EXPECT_TRUE(peer_.is_cut_off);
  EXPECT_EQ(peer_.words, "why");
  EXPECT_FALSE(peer_.said_bye) << "that is another's to say";
}

TEST_F(TcpPort, an_answer_to_a_write_that_was_not_sent_is_cut_off) {
  const std::uint64_t wire = peer_.fragments.add(fragment(true))->token;
  Outlet::Item item;
  item.head = {.kind = FrameKind::write, .token = wire};
  peer_.outlet->add(item);
  EXPECT_FALSE(port_.take_done({.kind = FrameKind::done, .token = wire}));
  EXPECT_FALSE(
      port_.take_done({.kind = FrameKind::done, .code = code_of(PH_ERR_KEY), .token = wire}));
  EXPECT_TRUE(log_.over.empty() && log_.written.empty()) << "its memory is still read";
}

TEST_F(TcpPort, a_refusal_is_told_with_its_status) {
  const std::uint64_t wire = peer_.fragments.add(fragment(false))->token;
  ASSERT_TRUE(
      port_.take_done({.kind = FrameKind::done, .code = code_of(PH_ERR_RANGE), .token = wire}));
  EXPECT_EQ(log_.over.at(123), PH_ERR_RANGE);
}

}  // namespace
}  // namespace photon::transport::tcp::test
