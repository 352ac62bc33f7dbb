#include "service/coll/post.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::decode;
using service::coll::encode;
using service::coll::Head;
using service::coll::HeadWords;
using service::coll::Op;
using service::coll::Post;

TEST(CollPost, names_a_step_in_three_words) {
  const Head head{9,
                  {service::coll::kMostSlots - 1, 0xfedcba98, 0x12345678, 0xffffffff, 0x89abcdef},
                  0x13572468};
  const Head back = decode(encode(head));
  EXPECT_EQ(back.op, head.op);
  EXPECT_EQ(back.name.slot, head.name.slot);
  EXPECT_EQ(back.name.number, head.name.number);
  EXPECT_EQ(back.name.channel, head.name.channel);
  EXPECT_EQ(back.name.sequence, head.name.sequence);
  EXPECT_EQ(back.name.tag, head.name.tag);
  EXPECT_EQ(back.digest, head.digest);
}

TEST(CollPost, never_has_more_under_way_than_its_grant) {
  MemberPort port(0);
  port.settings.coll_early_bytes = 4096;
  Post post(port);
  std::uint64_t taken = 0;
  while (post.take_grant(1, 100)) taken += Post::charge_of(100);
  EXPECT_LE(taken, 4096u);
  EXPECT_GT(taken + Post::charge_of(100), 4096u);
  EXPECT_TRUE(post.take_grant(2, 100)) << "each rank has a grant of its own";
  EXPECT_TRUE(post.credited(1, Post::charge_of(100)));
  EXPECT_TRUE(post.take_grant(1, 100));
  EXPECT_FALSE(post.credited(1, 4097)) << "it gives back more than it has got";
  EXPECT_FALSE(post.take_grant(3, wire::kMaxPackedBytes + 1)) << "no record holds so much";
}

TEST(CollPost, gives_credit_back_in_quarters) {
  MemberPort port(0);
  port.settings.coll_early_bytes = 4096;
  Post post(port);
  for (std::uint64_t spent = 0; spent < 1024 - 128; spent += 128) post.spent(1, 64);
  EXPECT_EQ(port.waiting(), 0u);
  post.spent(1, 64);
  Said said;
  ASSERT_TRUE(port.take(said));
  EXPECT_EQ(words_in(said.header)[1], 1024u);
}

TEST(CollPost, notices_what_a_peer_sends_beyond_its_grant) {
  MemberPort port(0);
  port.settings.coll_early_bytes = 4096;
  Post post(port);
  for (std::uint64_t sent = 0; sent < 4096; sent += 128) EXPECT_TRUE(post.came(1, 64)) << sent;
  EXPECT_FALSE(post.came(1, 0));
  EXPECT_TRUE(post.came(2, 64)) << "each rank has a grant of its own";
  for (std::uint64_t spent = 0; spent < 1024; spent += 128) post.spent(2, 64);
  MemberPort other(0);
  other.settings.coll_early_bytes = 4096;
  Post ours(other);
  for (int lap = 0; lap < 1000; ++lap) {
    ASSERT_TRUE(ours.came(1, 64)) << lap;
    ours.spent(1, 64);
  }
}

TEST(CollPost, cuts_off_whom_it_cannot_answer_for_lack_of_memory) {
  Members members;  // a port tells its service of losses
  Post post(members.port(0));
  members.port(0).lacks_words = true;
  EXPECT_EQ(post.answer(1, {}, PH_OK), PH_ERR_MEMORY);
  EXPECT_EQ(members.port(0).state(1), PH_ERR_PROTOCOL);
  EXPECT_EQ(post.blame(2, Op::failed, {}, {}), PH_ERR_MEMORY);
  EXPECT_EQ(members.port(0).state(2), PH_ERR_PROTOCOL);
  EXPECT_EQ(members.port(0).state(3), PH_OK);
}

TEST(CollPost, keeps_the_grant_of_what_found_no_memory) {
  MemberPort port(0);
  port.settings.coll_early_bytes = 4096;
  Post post(port);
  port.lacks_words = true;
  const Bytes bytes(100);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(post.take_grant(1, bytes.size())) << i;
    EXPECT_EQ(post.payload(1, {}, bytes), PH_ERR_MEMORY);
  }
}

TEST(CollPost, pays_late_what_found_no_memory) {
  MemberPort port(0);
  port.settings.coll_early_bytes = 4096;
  Post post(port);
  port.lacks_words = true;
  for (std::uint64_t sent = 0; sent < 1024; sent += 128) {
    EXPECT_TRUE(post.came(1, 64));
    post.spent(1, 64);
  }
  EXPECT_EQ(port.waiting(), 0u);
  post.pay_late();
  port.lacks_words = false;
  post.pay_late();
  Said said;
  ASSERT_TRUE(port.take(said));
  EXPECT_EQ(words_in(said.header)[1], 1024u);
  post.pay_late();
  EXPECT_EQ(port.waiting(), 0u) << "once";
}

TEST(CollPost, puts_small_payloads_into_the_header) {
  MemberPort port(0);
  Post post(port);
  for (const std::size_t size : {0, 1, 8, 31, 32, 33, 1024}) {
    const Bytes bytes(size, std::byte{0x5a});
    ASSERT_EQ(post.payload(1, {}, bytes), PH_OK);
    Said said;
    ASSERT_TRUE(port.take(said));
    const std::size_t inside = said.header.size() - sizeof(HeadWords);
    EXPECT_EQ(inside, size <= 32 ? (size + 7) / 8 * 8 : 0) << size;
    EXPECT_EQ(said.payload.size(), size <= 32 ? 0 : size);
  }
}

}  // namespace
}  // namespace photon::test
