#include "api/service_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace photon::api {
namespace {

TEST(ServiceTable, names_each_owner_of_this_version_once_and_never_the_application) {
  std::set<wire::Owner> owners;
  for (const service::Kind& kind : services()) {
    EXPECT_NE(kind.owner, wire::Owner::application) << kind.name;
    EXPECT_NE(kind.make, nullptr) << kind.name;
    EXPECT_TRUE(owners.insert(kind.owner).second) << kind.name << " is there twice";
  }
  EXPECT_EQ(owners.size() + 1, wire::kOwners);
}

}  // namespace
}  // namespace photon::api
