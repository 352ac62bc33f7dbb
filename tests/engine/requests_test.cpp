// Requests over every transport and its settings: whole bytes when they are over, each taken once.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class Requests : public OverSettings {};

const std::vector<std::size_t> kRequestSizes = {0,    1,    33,    192,   193,    1000,   4095,
                                                4096, 4097, 16384, 65537, 262144, 300001, 1 << 20};
constexpr std::size_t kRequestRoom = 4 << 20;

// Rank 0 starts all of them at once; places of their own one behind the other.
std::vector<ph_request> start_all(ph_context* context, std::vector<std::byte>& memory, bool gets,
                                  const ph_region& there) {
  std::vector<ph_request> requests(kRequestSizes.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < kRequestSizes.size(); ++i) {
    ph_status status = PH_AGAIN;
    while (status == PH_AGAIN) {
      if (gets) {
        ph_get_args args{};
        args = {sizeof args, &memory[at], kRequestSizes[i], ph_at(&there, at),
                {},          {},          PH_NO_RCE,        nullptr};
        args.request = &requests[i];
        status = ph_get(context, 1, &args);
      } else {
        ph_put_args args{};
        args = {sizeof args, &memory[at], kRequestSizes[i], ph_at(&there, at), {}, {}, 0, nullptr};
        args.flags = PH_NO_RCE | PH_DELIVERED;
        args.request = &requests[i];
        status = ph_put(context, 1, &args);
      }
    }
    EXPECT_EQ(status, PH_OK);
    at += kRequestSizes[i];
  }
  return requests;
}

TEST_P(Requests, puts_and_gets_of_every_size_are_over_when_their_requests_are) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kRequestRoom);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), kRequestRoom, PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region there = exchange(context, mine)[1];
    if (rank == 0) {
      std::vector<std::byte> source = filled(kRequestRoom, 3);
      std::vector<ph_request> puts = start_all(context, source, false, there);
      for (ph_request& one : puts)
        EXPECT_EQ(ph_wait_request(context, &one, nullptr, PH_FOREVER), PH_OK);
      std::vector<std::byte> back(kRequestRoom);
      std::vector<ph_request> gets = start_all(context, back, true, there);
      std::vector<ph_result> results(gets.size());
      for (std::size_t left = gets.size(); left > 0;) {
        std::size_t done = 0;
        const auto status =
            ph_wait_some(context, {gets.data(), gets.size()}, results.data(), &done, PH_FOREVER);
        if (status == PH_ERR_NOT_FOUND) break;  // all were over at once
        ASSERT_EQ(status, PH_OK);
        for (std::size_t i = 0; i < done; ++i)
          EXPECT_EQ(results[i].size_bytes, kRequestSizes[results[i].index]);
        left -= done;
      }
      std::size_t moved = 0;
      for (const std::size_t size : kRequestSizes) moved += size;
      EXPECT_EQ(first_difference(std::span(back).first(moved), 3), moved);
      EXPECT_EQ(count_now(context, PH_EITHER), 0u) << "requests are no events";
    }
    job.meet(context);  // and serves until then
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Requests, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
