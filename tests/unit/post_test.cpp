#include "service/coll/post.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::decode;
using service::coll::encode;
using service::coll::Head;
using service::coll::HeadWords;
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
