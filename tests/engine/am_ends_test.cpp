// How active messages end: PH_DELIVERED, refusals, late errors, replies; and the calls that are
// refused, each with its words.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {
namespace {

class AmEnds : public OverSettings {
 protected:
  // A message whose completion is wanted, and the status of that.
  static ph_status delivered(ph_context* context, ph_rank rank, std::uint32_t id,
                             std::size_t size_bytes = 8, std::uint32_t flags = PH_DELIVERED) {
    const auto bytes = filled(size_bytes, 5);
    ph_am_args args = am_args(id, bytes);
    const std::uint64_t local = 99;
    args.flags = flags;
    args.local = id_of(local);
    const ph_status status = send_surely(context, [&] { return ph_am_send(context, rank, &args); });
    if (status != PH_OK) return status;
    const ph_completion one = take_polling(context, {rank, PH_LOCAL, nullptr});
    EXPECT_EQ(one.id, local);
    return one.status;
  }
};

TEST_P(AmEnds, delivered_means_that_the_handler_has_returned) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    static std::atomic<int> handled;
    if (rank == 0) handled = 0;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      int sent = 0;
      for (const std::size_t size : {0, 8, 100, 1000, 5000, 30'000}) {
        ASSERT_EQ(delivered(context, 1, 1, size), PH_OK) << size;
        ASSERT_EQ(handled, ++sent) << size;
      }
    }
    job.meet(context);
  });
}

TEST_P(AmEnds, an_id_without_a_handler_and_a_handler_that_fails_end_the_message_with_the_error) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([](const ph_am_message&, ph_am_landing&) { return PH_ERR_RANGE; });
    AmHandler again([](const ph_am_message&, ph_am_landing&) { return PH_AGAIN; });
    handler.enroll(context, 1);
    again.enroll(context, 2);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (const std::size_t size : {8, 500, 20'000}) {
        EXPECT_EQ(delivered(context, 1, 17, size), PH_ERR_NOT_FOUND);
        EXPECT_EQ(delivered(context, 1, 1, size), PH_ERR_RANGE);
        EXPECT_EQ(delivered(context, 1, 2, size), PH_ERR_ARGUMENT);
      }
    }
    job.meet(context);
  });
}

TEST_P(AmEnds, a_refusal_that_nobody_waits_for_comes_as_a_late_completion) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      // Its local completion comes, and then the late one with the same id.
      EXPECT_EQ(delivered(context, 1, 17, 8, 0), PH_OK);
      ph_completion one = take_polling(context, {1, PH_LOCAL, nullptr});
      EXPECT_EQ(one.status, PH_ERR_NOT_FOUND);
      EXPECT_EQ(one.id, 99u);
      EXPECT_NE(std::string(last_error(context).text).find("17"), std::string::npos)
          << last_error(context).text;
      // One without an id: 0.
      ASSERT_EQ(ph_am_send_small(context, 1, 18, {}), PH_OK);
      one = take_polling(context, {1, PH_LOCAL, nullptr});
      EXPECT_EQ(one.status, PH_ERR_NOT_FOUND);
      EXPECT_EQ(one.id, 0u);
    }
    job.meet(context);
  });
}

TEST_P(AmEnds, a_request_gets_its_reply_and_the_room_of_one_without_is_free_again) {
  constexpr int kCount = 600;
  ThreadJob job(2, options({{"am_slots", "4"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    int asked = 0, served = 0;
    AmHandler server([&](const ph_am_message& message, ph_am_landing&) {
      ++served;
      EXPECT_NE(message.flags & PH_AM_REPLY, 0u);
      if (message.immediate % 3 == 0) return PH_OK;  // without a reply
      const auto bytes = filled(message.immediate % 50, message.immediate);
      ph_am_args args = am_args(2, bytes);
      args.immediate = message.immediate;
      EXPECT_EQ(ph_am_reply(&message, &args), PH_OK) << last_error(context).text;
      return PH_OK;
    });
    std::uint64_t last = 0;
    int replies = 0;
    AmHandler client([&](const ph_am_message& message, ph_am_landing&) {
      EXPECT_EQ(message.flags, PH_AM_IS_REPLY);
      EXPECT_GT(message.immediate, last) << "out of order";
      last = message.immediate;
      ++replies;
      EXPECT_EQ(first_difference({static_cast<const std::byte*>(message.payload),
                                  static_cast<std::size_t>(message.payload_bytes)},
                                 message.immediate),
                message.payload_bytes);
      return PH_OK;
    });
    server.enroll(context, 1);
    client.enroll(context, 2);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (asked = 1; asked <= kCount; ++asked) {
      ph_am_args args = am_args(1, {});
      args.flags |= PH_AM_REPLY;
      args.immediate = static_cast<std::uint64_t>(asked);
      ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1 - rank, &args); }), PH_OK);
    }
    // The peer waits for its replies only: what wants none may still be to come when it is done.
    poll_until(context, [&] { return replies == kCount - kCount / 3 && served == kCount; });
    job.meet(context);
  });
}

// Each would wait for itself.
TEST_P(AmEnds, calls_that_wait_are_refused_in_a_handler_and_posting_is_not) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    bool has_run = false;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      EXPECT_EQ(ph_am_poll(context, 0), PH_AGAIN);
      EXPECT_EQ(ph_am_unregister(context, 1), PH_ERR_STATE);
      EXPECT_EQ(ph_wait(context, kAnyLocal, 1000), PH_ERR_STATE);
      EXPECT_EQ(ph_flush(context, message.source, 1000), PH_ERR_STATE);
      EXPECT_EQ(ph_barrier(context), PH_ERR_STATE);
      EXPECT_EQ(ph_finalize(context), PH_ERR_STATE);
      std::byte mine{};
      std::vector<std::byte> all(2);
      EXPECT_EQ(ph_allgather(context, &mine, all.data(), 1), PH_ERR_STATE);
      EXPECT_EQ(ph_am_register(context, 50, AmHandler::run, nullptr), PH_OK);
      EXPECT_EQ(ph_am_send_small(context, message.source, 2, {}), PH_OK);
      ph_completion found{};
      std::size_t count = 0;
      EXPECT_EQ(ph_probe(context, kAnyLocal, &found, 1, &count), PH_OK);
      has_run = true;
      return PH_OK;
    });
    AmRecord record(context, 2);
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(small_surely(context, 1 - rank, 1, {}), PH_OK);
    poll_until(context, [&] { return has_run && record.all.size() == 1; });
    job.meet(context);
  });
}

TEST_P(AmEnds, bad_arguments_are_refused_with_words) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank) {
    const auto run = AmHandler::run;
    expect_error(context, ph_am_register(context, 1, nullptr, nullptr), PH_ERR_ARGUMENT, "null");
    expect_error(context, ph_am_register(context, 65536, run, nullptr), PH_ERR_ARGUMENT, "65535");
    ASSERT_EQ(ph_am_register(context, 65535, run, nullptr), PH_OK);
    expect_error(context, ph_am_register(context, 65535, run, nullptr), PH_ERR_STATE, "65535");
    expect_error(context, ph_am_unregister(context, 65536), PH_ERR_ARGUMENT, "65535");
    expect_error(context, ph_am_unregister(context, 3), PH_ERR_NOT_FOUND, "3");
    expect_error(context, ph_am_poll(context, 1), PH_ERR_ARGUMENT, "flags");
    EXPECT_EQ(ph_am_unregister(context, 65535), PH_OK);
    EXPECT_EQ(ph_am_unregister(context, 65535), PH_ERR_NOT_FOUND);

    const std::byte bytes[64] = {};
    expect_error(context, ph_am_send_small(context, 5, 1, {}), PH_ERR_RANK, "5");
    expect_error(context, ph_am_send_small(context, 0, 65536, {}), PH_ERR_ARGUMENT, "id");
    expect_error(context, ph_am_send_small(context, 0, 1, {bytes, 49}), PH_ERR_ARGUMENT, "48");
    expect_error(context, ph_am_send_small(context, 0, 1, {nullptr, 1}), PH_ERR_ARGUMENT, "null");
    expect_error(context, ph_am_send(context, 0, nullptr), PH_ERR_ARGUMENT, "null");
    EXPECT_EQ(ph_am_reply(nullptr, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_am_send_small(nullptr, 0, 1, {}), PH_ERR_STATE);
    EXPECT_EQ(ph_am_poll(nullptr, 0), PH_ERR_STATE);
  });
}

TEST_P(AmEnds, each_wrong_field_of_the_args_is_refused_with_words) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank) {
    const auto bytes = filled(100, 1);
    const auto refused = [&](ph_status status, const char* words, auto change) {
      ph_am_args args = am_args(1, bytes);
      change(args);
      expect_error(context, ph_am_send(context, 0, &args), status, words);
    };
    std::vector<ph_const_block> many(1025);
    ph_request request = PH_REQUEST_NONE;
    const ph_const_block none[] = {{nullptr, 8}};
    const ph_const_block huge[] = {{bytes.data(), SIZE_MAX}, {bytes.data(), 2}};
    refused(PH_ERR_ARGUMENT, "size", [](ph_am_args& a) { a.size = 8; });
    refused(PH_ERR_ARGUMENT, "id", [](ph_am_args& a) { a.id = 65536; });
    refused(PH_ERR_ARGUMENT, "flag", [](ph_am_args& a) { a.flags |= 0x4000'0000; });
    refused(PH_ERR_ARGUMENT, "4096", [](ph_am_args& a) { a.header_bytes = 4097; });
    refused(PH_ERR_ARGUMENT, "null", [](ph_am_args& a) { a.header_bytes = 1; });
    refused(PH_ERR_ARGUMENT, "null", [](ph_am_args& a) { a.payload = nullptr; });
    refused(PH_ERR_ARGUMENT, "both", [&](ph_am_args& a) {
      a.blocks = many.data();
      a.blocks_count = 1;
    });
    const auto listed = [](ph_am_args& a, const ph_const_block* blocks, std::size_t count) {
      a.payload = nullptr;
      a.payload_bytes = 0;
      a.blocks = blocks;
      a.blocks_count = count;
    };
    refused(PH_ERR_ARGUMENT, "1024", [&](ph_am_args& a) { listed(a, many.data(), 1025); });
    refused(PH_ERR_ARGUMENT, "null", [&](ph_am_args& a) { listed(a, none, 1); });
    refused(PH_ERR_ARGUMENT, "null", [&](ph_am_args& a) { listed(a, nullptr, 1); });
    refused(PH_ERR_ARGUMENT, "wrap", [&](ph_am_args& a) { listed(a, huge, 2); });
    refused(PH_ERR_ARGUMENT, "NO_LCE", [&](ph_am_args& a) { a.request = &request; });
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmEnds, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
