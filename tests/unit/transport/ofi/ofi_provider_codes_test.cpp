#include "transport/ofi/ofi_provider_codes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

namespace photon::transport::ofi {
namespace {

constexpr int kOwnCodes = 256;  // libfabric's FI_ERRNO_OFFSET: from here on they are no errno's
constexpr int kPastCodes = 512;

// All that are not told apart otherwise: of a message, and of a fragment.
struct Means {
  Taken message = Taken::failed;
  Taken fragment = Taken::refused;
};

// What each code means that means something of its own.
const std::map<int, Means>& meanings() {
  constexpr Means kLost = {Taken::failed, Taken::failed};
  constexpr Means kRouteless = {Taken::no_way, Taken::no_way};
  static const std::map<int, Means> all = {{0, {Taken::yes, Taken::yes}},
                                           {EAGAIN, {Taken::full, Taken::full}},
                                           {ENETUNREACH, kRouteless},
                                           {EHOSTUNREACH, kRouteless},
                                           {ENETDOWN, kRouteless},
                                           {ECONNREFUSED, kLost},
                                           {ECONNRESET, kLost},
                                           {ECONNABORTED, kLost},
                                           {ENOTCONN, kLost},
                                           {ESHUTDOWN, kLost},
                                           {ETIMEDOUT, kLost},
                                           {EPIPE, kLost},
                                           {ENETRESET, kLost},
                                           {EHOSTDOWN, kLost}};
  return all;
}

TEST(ProviderCodes, each_means_one_thing_for_a_message_and_one_for_a_fragment) {
  for (int code = 0; code < kPastCodes; ++code) {
    const auto found = meanings().find(code);
    const Means means = found == meanings().end() ? Means{} : found->second;
    EXPECT_EQ(taken_message(-code), means.message) << code;
    EXPECT_EQ(taken_fragment(-code), means.fragment) << code;
  }
}

// A peer that is alive must not be ended for what our own side has run out of, or does not take.
TEST(ProviderCodes, of_our_own_side_end_no_peer_when_they_are_said_of_a_fragment) {
  for (const int code : {ENOMEM, EMFILE, ENFILE, EMSGSIZE, EINVAL, EACCES, EPERM, ENOSYS, EIO,
                         kOwnCodes, kOwnCodes + 1, kOwnCodes + 10})
    EXPECT_EQ(taken_fragment(-code), Taken::refused) << code;
}

// A link that is down comes up again: neither the peer nor the fragment is given up for it.
TEST(ProviderCodes, of_a_missing_route_are_no_failures) {
  for (const int code : {ENETUNREACH, EHOSTUNREACH, ENETDOWN}) {
    EXPECT_EQ(taken_message(-code), Taken::no_way) << code;
    EXPECT_EQ(taken_fragment(-code), Taken::no_way) << code;
  }
}

// The codes of calls are negative: a positive one is no code of ours, and never success.
TEST(ProviderCodes, that_are_positive_are_failures_and_not_the_code_without_the_sign) {
  for (const int code : {EAGAIN, ENETUNREACH, ECONNREFUSED}) {
    EXPECT_EQ(taken_message(code), Taken::failed) << code;
    EXPECT_EQ(taken_fragment(code), Taken::refused) << code;
  }
}

}  // namespace
}  // namespace photon::transport::ofi
