// Rids name one operation each, and nothing once it was taken.
#include "compat/requests.hpp"

#include <gtest/gtest.h>

#include <set>

namespace photon::test {
namespace {

using classic::Request;
using classic::Requests;
using classic::RequestType;

Request of(RequestType type, int tag) {
  Request request;
  request.type = type;
  request.tag = tag;
  return request;
}

TEST(ClassicRequests, have_names_that_are_never_0_and_never_given_again) {
  Requests requests;
  std::set<photon_rid> seen{0};
  for (int i = 0; i < 1000; ++i) {
    const photon_rid rid = requests.add({});
    EXPECT_TRUE(seen.insert(rid).second) << rid;
    const bool is_taken = i % 2 == 0 && requests.remove(rid);
    EXPECT_EQ(is_taken, i % 2 == 0);
  }
}

TEST(ClassicRequests, are_found_until_one_takes_them) {
  Requests requests;
  const photon_rid rid = requests.add(of(RequestType::ledger, 7));
  ASSERT_TRUE(requests.find(rid));
  EXPECT_EQ(requests.find(rid)->tag, 7);
  EXPECT_TRUE(requests.change(rid, of(RequestType::ledger, 8)));
  EXPECT_EQ(requests.find(rid)->tag, 8);
  EXPECT_TRUE(requests.remove(rid));
  EXPECT_FALSE(requests.remove(rid)) << "another thread has taken it";
  EXPECT_FALSE(requests.find(rid));
  EXPECT_FALSE(requests.change(rid, {}));
}

TEST(ClassicRequests, of_a_slot_that_is_used_again_are_not_those_before) {
  Requests requests;
  const photon_rid before = requests.add(of(RequestType::event, 1));
  EXPECT_TRUE(requests.remove(before));
  const photon_rid after = requests.add(of(RequestType::event, 2));
  EXPECT_EQ(static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(after));
  EXPECT_FALSE(requests.find(before));
  EXPECT_EQ(requests.find(after)->tag, 2);
}

TEST(ClassicRequests, that_are_reserved_are_found_by_nobody_before_they_are_posted) {
  Requests requests;
  const photon_rid rid = requests.reserve();
  EXPECT_FALSE(requests.find(rid));
  EXPECT_TRUE(requests.all(RequestType::event).empty());
  EXPECT_TRUE(requests.change(rid, of(RequestType::event, 3)));
  EXPECT_EQ(requests.all(RequestType::event), std::vector<photon_rid>{rid});
  const photon_rid never_posted = requests.reserve();
  EXPECT_TRUE(requests.remove(never_posted));
}

TEST(ClassicRequests, of_one_type_are_listed_by_their_slots) {
  Requests requests;
  const photon_rid first = requests.add(of(RequestType::send_recv, 0));
  const photon_rid other = requests.add(of(RequestType::event, 0));
  const photon_rid last = requests.add(of(RequestType::send_recv, 0));
  EXPECT_EQ(requests.all(RequestType::send_recv), (std::vector<photon_rid>{first, last}));
  EXPECT_EQ(requests.all(RequestType::event), std::vector<photon_rid>{other});
  EXPECT_TRUE(requests.all(RequestType::collective).empty());
}

TEST(ClassicRequests, are_unknown_if_they_were_never_given) {
  Requests requests;
  const photon_rid rid = requests.add({});
  for (const photon_rid none :
       {photon_rid{0}, rid + 1, rid + (photon_rid{1} << 32), ~photon_rid{0}})
    EXPECT_FALSE(requests.find(none)) << none;
  requests.clear();
  EXPECT_FALSE(requests.find(rid));
}

}  // namespace
}  // namespace photon::test
