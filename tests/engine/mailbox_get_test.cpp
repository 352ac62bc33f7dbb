// Gets from buffers of mailboxes, over every transport.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class MailboxGetOver : public OverSettings {};

ph_status got(ph_context* context, ph_rank rank, std::span<std::byte> to, std::uint64_t offset,
              std::uint64_t epoch = PH_ANY_EPOCH) {
  ph_request request = PH_REQUEST_NONE;
  ph_mailbox_get_args args{};
  args.size = sizeof args;
  args.address = kAddress;
  args.offset = offset;
  args.destination = to.data();
  args.size_bytes = to.size();
  args.epoch = epoch;
  args.request = &request;
  const ph_status posted = insist(context, [&] { return ph_mailbox_get(context, rank, &args); });
  if (posted != PH_OK) return posted;
  ph_result result{};
  return ph_wait_request(context, &request, &result, kTakeTimeoutUs);
}

TEST_P(MailboxGetOver, brings_the_bytes_of_the_current_buffer_and_counts) {
  constexpr std::size_t kSizes[] = {0, 1, 24, 25, 1024, 1025, 65'536, 65'537, 300'000};
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_mailbox box{};
    std::vector<std::byte> memory = filled(300'007, 3);
    if (rank == 1) {
      box = opened(context, {.unit = PH_MAILBOX_OPERATIONS, .flags = PH_MAILBOX_READ});
      ASSERT_EQ(post(context, box, memory, std::size(kSizes)), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (const std::size_t size : kSizes) {
        std::vector<std::byte> here(size);
        ASSERT_EQ(got(context, 1, here, 7), PH_OK) << size;
        EXPECT_TRUE(std::equal(here.begin(), here.end(), memory.begin() + 7)) << size;
      }
      std::vector<std::byte> here(8);
      EXPECT_EQ(got(context, 1, here, 0, 0), PH_ERR_EPOCH) << "it has come back";
      EXPECT_EQ(got(context, 1, here, 0), PH_ERR_NO_BUFFER);
    } else {
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
      EXPECT_EQ(event.operations, std::size(kSizes));
      EXPECT_EQ(event.size_bytes, memory.size());
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Many at a time, of what messages have brought, and of a retained epoch.
TEST_P(MailboxGetOver, reads_what_has_landed_and_what_is_retained) {
  constexpr std::size_t kGets = 40, kBytes = 5000;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_mailbox box{};
    std::vector<std::byte> first(kBytes), second(kBytes);
    if (rank == 1) {
      box = opened(context, {.retained = 1});
      ASSERT_EQ(post(context, box, first), PH_OK);
      ASSERT_EQ(post(context, box, second), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto all = filled(kBytes, 5);
      ASSERT_EQ(verdict(context, 1, mail(all)), PH_OK);
      std::vector<ph_request> requests(kGets, PH_REQUEST_NONE);
      std::vector<std::vector<std::byte>> here(kGets, std::vector<std::byte>(kBytes));
      for (std::size_t i = 0; i < kGets; ++i) {
        ph_mailbox_get_args args{};
        args.size = sizeof args;
        args.address = kAddress;
        args.destination = here[i].data();
        args.size_bytes = kBytes;
        args.request = &requests[i];
        ASSERT_EQ(insist(context, [&] { return ph_mailbox_get(context, 1, &args); }), PH_OK);
      }
      for (std::size_t i = 0; i < kGets; ++i) {
        ph_result result{};
        ASSERT_EQ(ph_wait_request(context, &requests[i], &result, kTakeTimeoutUs), PH_OK) << i;
        EXPECT_EQ(first_difference(here[i], 5), kBytes) << i;
      }
      ASSERT_EQ(verdict(context, 1, mail(all)), PH_OK);
      EXPECT_EQ(got(context, 1, here[0], 0, 0), PH_ERR_EPOCH) << "it is retained no more";
      EXPECT_EQ(got(context, 1, here[0], 0, 1), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, MailboxGetOver, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
