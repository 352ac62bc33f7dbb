// Calls of mailboxes as the tests over all transports make them: what is not said is usual.
// Owner: the test.
#pragma once

#include <gtest/gtest.h>
#include <photon/photon.h>

#include <span>

#include "engine/settings.hpp"

namespace photon::test {

inline constexpr std::uint64_t kAddress = 0x1234'5678'9abc'def0;

struct alignas(64) Pointer {
  ph_mailbox_pointer at{};
};

inline ph_mailbox opened(ph_context* context, ph_mailbox_args args = {}) {
  args.size = sizeof args;
  if (args.address == 0) args.address = kAddress;
  if (args.source == 0) args.source = PH_ANY_RANK;
  ph_mailbox box{};
  EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_OK) << last_error(context).text;
  return box;
}

inline ph_status post(ph_context* context, ph_mailbox box, std::span<std::byte> memory,
                      std::uint64_t threshold = 0, Pointer* pointer = nullptr) {
  const ph_mailbox_buffer buffer{sizeof buffer,
                                 memory.data(),
                                 memory.size(),
                                 threshold,
                                 pointer == nullptr ? nullptr : &pointer->at,
                                 42};
  return ph_mailbox_post(context, box, &buffer);
}

inline ph_mailbox_put_args mail(std::span<const std::byte> source, std::uint64_t offset = 0) {
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = kAddress;
  args.offset = offset;
  args.source = source.data();
  args.size_bytes = source.size();
  args.epoch = PH_ANY_EPOCH;
  args.flags = PH_NO_LCE;
  return args;
}

inline ph_mailbox_event taken(ph_context* context, ph_mailbox box) {
  ph_mailbox_event event{};
  EXPECT_EQ(ph_mailbox_wait(context, box, &event, kTakeTimeoutUs), PH_OK);
  return event;
}

// A request that asks for the verdict; what it was.
inline ph_status verdict(ph_context* context, ph_rank rank, ph_mailbox_put_args args,
                         bool appends = false) {
  ph_request request = PH_REQUEST_NONE;
  args.flags = 0;
  args.request = &request;
  const ph_status posted = insist(context, [&] {
    return appends ? ph_mailbox_append(context, rank, &args) : ph_mailbox_put(context, rank, &args);
  });
  if (posted != PH_OK) return posted;
  ph_result result{};
  return ph_wait_request(context, &request, &result, kTakeTimeoutUs);
}

}  // namespace photon::test
