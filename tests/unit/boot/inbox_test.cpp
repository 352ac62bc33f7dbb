#include "boot/inbox.hpp"

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

TEST(Inbox, is_readable_exactly_while_it_is_not_empty) {
  boot::Inbox inbox = std::move(*boot::Inbox::create());
  EXPECT_FALSE(is_readable(inbox.fd()));
  inbox.push({.from = 1});
  inbox.push({.from = 2});
  EXPECT_TRUE(is_readable(inbox.fd()));
  EXPECT_EQ(inbox.pop()->from, 1u);
  EXPECT_TRUE(is_readable(inbox.fd()));
  EXPECT_EQ(inbox.pop()->from, 2u);
  EXPECT_FALSE(is_readable(inbox.fd()));
  EXPECT_FALSE(inbox.pop());
}

TEST(Inbox, a_doorbell_keeps_it_readable_without_a_message) {
  boot::Inbox inbox = std::move(*boot::Inbox::create());
  inbox.set_readable(true);
  inbox.push({.from = 1});
  EXPECT_TRUE(inbox.pop());
  EXPECT_TRUE(is_readable(inbox.fd()));
  inbox.set_readable(false);
  EXPECT_FALSE(is_readable(inbox.fd()));
}

}  // namespace
}  // namespace photon::test
