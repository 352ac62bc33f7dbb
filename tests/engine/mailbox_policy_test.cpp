// What mailboxes do with messages by the choices of their owners, over every transport.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class MailboxPolicyOver : public OverSettings {};

TEST_P(MailboxPolicyOver, a_catch_all_takes_what_names_no_open_mailbox) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::vector<std::byte>> memory(3, std::vector<std::byte>(2000));
    ph_mailbox box{}, all{};
    if (rank == 1) {
      box = opened(context);
      all = opened(context, {.address = 5, .flags = PH_MAILBOX_CATCH_ALL});
      ASSERT_EQ(post(context, box, memory[0], 8), PH_OK);
      for (const std::size_t i : {1, 2}) ASSERT_EQ(post(context, all, memory[i]), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto small = filled(8, 3), large = filled(1500, 4);
      EXPECT_EQ(verdict(context, 1, mail(small)), PH_OK);
      ph_mailbox_put_args args = mail(large, 100);
      args.address = 77;
      EXPECT_EQ(verdict(context, 1, args), PH_OK);
      args.offset = 0;
      args.address = 78;
      args.epoch = 0;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_NOT_FOUND) << "an epoch of no mailbox";
      args.epoch = PH_ANY_EPOCH;
      EXPECT_EQ(verdict(context, 1, args, true), PH_OK);
    } else {
      EXPECT_EQ(taken(context, box).named, kAddress);
      for (const std::uint64_t i : {1, 2}) {
        const ph_mailbox_event event = taken(context, all);
        EXPECT_EQ(event.address, 5u);
        EXPECT_EQ(event.named, 76 + i);
        EXPECT_EQ(event.from, 0u);
        EXPECT_EQ(event.operations, 1u);
        const std::size_t offset = i == 1 ? 100 : 0;
        EXPECT_EQ(first_difference({memory[i].data() + offset, 1500}, 4), 1500u);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, MailboxPolicyOver, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
