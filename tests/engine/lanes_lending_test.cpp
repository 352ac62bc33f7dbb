// The same memory announced by two lanes: the right of each ends with its own announcement.
#include <vector>

#include "engine_group.hpp"
#include "settings.hpp"

namespace photon::test {
namespace {

class LanesLending : public OverSettings {};

constexpr std::uint64_t kLentTag = 9;
constexpr std::size_t kLentBytes = 200'000;

ph_request lend_to_one(ph_context* lane, std::span<std::byte> memory) {
  ph_request request = PH_REQUEST_NONE;
  ph_announce_args args{};
  args.size = sizeof args;
  args.kind = PH_SEND_BUFFER;
  args.tag = kLentTag;
  args.buffer = memory.data();
  args.size_bytes = memory.size();
  args.request = &request;
  EXPECT_EQ(insist(lane, [&] { return ph_announce(lane, 1, &args); }), PH_OK);
  return request;
}

ph_buffer borrow(ph_context* lane) {
  const ph_match match{PH_SEND_BUFFER, 0, kLentTag, PH_ANY_SIZE};
  ph_buffer buffer{};
  EXPECT_EQ(ph_wait_buffer(lane, &match, &buffer, kTakeTimeoutUs), PH_OK);
  return buffer;
}

// What rank 0 lent there.
ph_status get_it(ph_context* lane, const ph_target& source, std::span<std::byte> destination) {
  ph_request request = PH_REQUEST_NONE;
  ph_get_args args{};
  args.size = sizeof args;
  args.destination = destination.data();
  args.size_bytes = destination.size();
  args.source = source;
  args.flags = PH_NO_RCE;
  args.request = &request;
  const ph_status status = insist(lane, [&] { return ph_get(lane, 0, &args); });
  return status != PH_OK ? status : ph_wait_request(lane, &request, nullptr, PH_FOREVER);
}

// A NIC of ours lets go of it by the lane that lent it, so no other may have lent it, too.
TEST_P(LanesLending, of_the_same_memory_ends_for_each_lane_by_itself) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_context* lane = open_lane(context, 3);
    if (rank == 0) {
      auto memory = filled(kLentBytes, 1);
      ph_request first = lend_to_one(context, memory);
      ph_request second = lend_to_one(lane, memory);
      EXPECT_EQ(ph_wait_request(context, &first, nullptr, PH_FOREVER), PH_OK);
      job.meet(context);
      job.meet(context);
      EXPECT_EQ(ph_wait_request(lane, &second, nullptr, PH_FOREVER), PH_OK);
    } else {
      std::vector<std::byte> got(kLentBytes);
      const ph_buffer first = borrow(context);
      for (int i = 0; i < 2; ++i) EXPECT_EQ(get_it(context, first.target, got), PH_OK);
      EXPECT_EQ(insist(context, [&] { return ph_finish(context, &first); }), PH_OK);
      job.meet(context);
      EXPECT_EQ(get_it(context, first.target, got), PH_ERR_KEY);
      job.meet(context);
      const ph_buffer second = borrow(lane);
      EXPECT_NE(first.target.key, second.target.key);
      got.assign(kLentBytes, {});
      EXPECT_EQ(get_it(lane, second.target, got), PH_OK);
      EXPECT_EQ(first_difference(got, 1), kLentBytes);
      EXPECT_EQ(insist(lane, [&] { return ph_finish(lane, &second); }), PH_OK);
    }
    job.meet(context);
    EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(context).text;
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, LanesLending, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
