#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::Described;
using service::coll::digest_of;
using service::coll::text_of;

TEST(CollDescribe, says_what_was_begun_in_words) {
  Described what;
  what.kind = PH_COLL_REDUCE;
  what.type = PH_FLOAT;
  what.op = PH_OP_ADD;
  what.count = 8;
  what.root = 3;
  EXPECT_EQ(text_of(what), "reduce of 8 float by add with root 3");
  what.op = -1;
  what.flags = PH_REPRODUCIBLE;
  EXPECT_EQ(text_of(what), "reduce of 8 float by a function with root 3, reproducible");
  what.kind = PH_COLL_BARRIER;
  EXPECT_EQ(text_of(what), "barrier");
  what.kind = 4711;  // as a peer may have sent it
  EXPECT_EQ(text_of(what), "unknown operation");
}

TEST(CollDescribe, gives_other_calls_other_digests_and_no_regard_to_who_it_was) {
  const Described base{PH_COLL_REDUCE, PH_FLOAT, PH_OP_ADD, 1, 8, 0, 0};
  Described other = base;
  other.member = 5;
  EXPECT_EQ(digest_of(other), digest_of(base));
  for (int which = 0; which < 6; ++which) {
    other = base;
    if (which == 0) other.kind = PH_COLL_ALLREDUCE;
    if (which == 1) other.type = PH_DOUBLE;
    if (which == 2) other.op = PH_OP_MAX;
    if (which == 3) other.root = 2;
    if (which == 4) other.count = 9;
    if (which == 5) other.flags = PH_REPRODUCIBLE;
    EXPECT_NE(digest_of(other), digest_of(base)) << which;
  }
}

}  // namespace
}  // namespace photon::test
