// One bootstrap, two faces: each message at the face of its sender's side.
#include "transport/mixed/mixed_split_boot.hpp"

#include <poll.h>

#include "address_ranks.hpp"
#include "hosts_boot.hpp"
#include "memory_boot.hpp"

namespace photon::transport::mixed {
namespace {

using photon::test::as_bytes;
using photon::test::as_text;
using photon::test::MemoryJob;
using Texts = std::vector<std::string>;

Texts take(boot::Boot& face) {
  Texts found;
  for (;;) {
    auto message = face.receive();
    EXPECT_TRUE(message);
    if (!message || !*message) return found;
    found.push_back((*message)->kind == boot::Message::Kind::gone ? "gone"
                                                                  : as_text((*message)->bytes));
  }
}

bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

// Rank 0; of its peers 1 is far, 2 is near.
class SplitBootTest : public testing::Test {
 protected:
  SplitBootTest() {
    for (ph_rank rank = 0; rank < 3; ++rank)
      boots_[rank] = std::make_unique<photon::test::HostsBoot>(job_.boot(rank), 2);
    split_ = std::move(*SplitBoot::open(*boots_[0], std::make_shared<Sides>(*boots_[0])));
  }
  void send(ph_rank from, std::string_view text) {
    EXPECT_TRUE(*boots_[from]->send(0, as_bytes(text), {}));
  }

  MemoryJob job_{3};
  std::unique_ptr<boot::Boot> boots_[3];
  std::unique_ptr<SplitBoot> split_;
};

TEST_F(SplitBootTest, messages_come_out_in_order_at_the_face_of_their_senders_side) {
  send(1, "far one");
  send(2, "near one");
  send(1, "far two");
  send(2, "near two");
  EXPECT_EQ(take(split_->near()), (Texts{"near one", "near two"}));
  EXPECT_EQ(take(split_->far()), (Texts{"far one", "far two"}));
}

TEST_F(SplitBootTest, the_end_of_a_rank_is_told_on_its_side_only) {
  boots_[1].reset();
  EXPECT_EQ(take(split_->near()), Texts{});
  EXPECT_EQ(take(split_->far()), Texts{"gone"});
  boots_[2].reset();
  EXPECT_EQ(take(split_->far()), Texts{});
  EXPECT_EQ(take(split_->near()), Texts{"gone"});
}

TEST_F(SplitBootTest, what_one_face_has_taken_off_for_the_other_ends_the_others_sleep) {
  EXPECT_FALSE(is_readable(split_->near().poll_fd()));
  EXPECT_FALSE(is_readable(split_->far().poll_fd()));
  send(1, "for far");
  EXPECT_TRUE(is_readable(split_->near().poll_fd()));  // nobody knows yet whose it is
  EXPECT_TRUE(is_readable(split_->far().poll_fd()));
  EXPECT_EQ(take(split_->near()), Texts{});
  EXPECT_FALSE(is_readable(split_->near().poll_fd()));
  EXPECT_TRUE(is_readable(split_->far().poll_fd()));
  EXPECT_EQ(take(split_->far()), Texts{"for far"});
  EXPECT_FALSE(is_readable(split_->far().poll_fd()));
}

TEST_F(SplitBootTest, both_faces_send_and_are_the_rank) {
  EXPECT_TRUE(*split_->far().send(1, as_bytes("to 1"), {}));
  EXPECT_TRUE(*split_->near().send(2, as_bytes("to 2"), {}));
  EXPECT_EQ(take(*boots_[1]), Texts{"to 1"});
  EXPECT_EQ(take(*boots_[2]), Texts{"to 2"});
  for (boot::Boot* face : {&split_->near(), &split_->far()}) {
    EXPECT_EQ(face->rank(), 0u);
    EXPECT_EQ(face->size(), 3u);
    EXPECT_EQ(face->local_size(), 2u);
    EXPECT_EQ(face->secret(), boots_[0]->secret());
    EXPECT_TRUE(face->idle());
  }
}

TEST(Sides, say_where_a_rank_is_once_the_bootstrap_knows) {
  photon::test::AddressRanks ranks(2);
  Sides sides(ranks[0]);
  EXPECT_FALSE(sides.is_far(0));
  EXPECT_FALSE(sides.is_far(1));
  ASSERT_TRUE(ranks[0].connect(photon::test::blob_of(ranks[1])));
  EXPECT_FALSE(sides.is_far(1));
  EXPECT_FALSE(sides.is_far(7));
}

// A bootstrap that is lost.
class LostBoot final : public boot::Boot {
 public:
  boot::Rank rank() const override { return 0; }
  std::uint32_t size() const override { return 2; }
  const boot::Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return 1; }
  bool passes_descriptors(boot::Rank rank) const override { return rank == 0; }
  base::Result<bool> send(boot::Rank, std::span<const std::byte>, std::span<const int>) override {
    return false;
  }
  base::Result<std::optional<boot::Message>> receive() override {
    if (std::exchange(is_told_, true)) return std::optional<boot::Message>{};
    return base::Error{PH_ERR_BOOTSTRAP, 0, "lost", PH_ANY_RANK};
  }
  bool idle() const override { return true; }
  int poll_fd() const override { return -1; }
  base::Result<> allgather(std::span<const std::byte>, std::span<std::byte>,
                           const boot::Serve&) override {
    return {};
  }
  base::Result<> barrier(const boot::Serve&) override { return {}; }

 private:
  boot::Secret secret_{};
  bool is_told_ = false;
};

TEST(SplitBootAlone, an_error_of_the_bootstrap_is_told_once_by_each_face) {
  LostBoot lost;
  auto split = std::move(*SplitBoot::open(lost, std::make_shared<Sides>(lost)));
  const auto near = split->near().receive();
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().what, "lost");
  EXPECT_TRUE(is_readable(split->far().poll_fd()));
  EXPECT_FALSE(split->far().receive());
  for (boot::Boot* face : {&split->near(), &split->far()}) {
    EXPECT_EQ(take(*face), Texts{});
    EXPECT_FALSE(is_readable(face->poll_fd()));
  }
}

}  // namespace
}  // namespace photon::transport::mixed
