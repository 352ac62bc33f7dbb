#include "boot/address_exchange.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace photon::boot {
namespace {

// A bootstrap of two, whose other rank says what the test likes. We are rank 1.
struct Partner {
  std::function<void(void*, std::size_t)> says;
  int status = 0;

  static int allgather(void* user, const void* mine, void* all, std::size_t size_bytes) {
    const Partner& partner = *static_cast<Partner*>(user);
    partner.says(all, size_bytes);
    std::memcpy(static_cast<std::byte*>(all) + size_bytes, mine, size_bytes);
    return partner.status;
  }
  ph_bootstrap bootstrap() { return {this, 1, 2, &Partner::allgather, nullptr}; }
};

// What rank 0 says is the bytes of `object`.
template <class T>
Partner partner_of(const T& object) {
  return {.says = [object](void* to, std::size_t) { std::memcpy(to, &object, sizeof object); }};
}

TEST(AddressExchange, endpoint_infos_come_by_rank_and_of_one_version) {
  const EndpointInfo own = *own_endpoint_info();
  EndpointInfo other = *own_endpoint_info();
  auto endpoint_infos = exchange_infos(partner_of(other).bootstrap(), own);
  ASSERT_TRUE(endpoint_infos);
  EXPECT_EQ((*endpoint_infos)[0].name, other.name);
  EXPECT_EQ((*endpoint_infos)[1].name, own.name);
  ++other.version;
  endpoint_infos = exchange_infos(partner_of(other).bootstrap(), own);
  ASSERT_FALSE(endpoint_infos);
  EXPECT_EQ(endpoint_infos.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_EQ(endpoint_infos.error().rank, 0u);
  for (const std::uint32_t version : {kInfoVersion, kInfoVersion + 1})
    EXPECT_NE(endpoint_infos.error().what.find("version " + std::to_string(version)),
              std::string::npos)
        << endpoint_infos.error().what;
  ++other.magic;
  endpoint_infos = exchange_infos(partner_of(other).bootstrap(), own);
  ASSERT_FALSE(endpoint_infos);
  EXPECT_NE(endpoint_infos.error().what.find("mixes up"), std::string::npos)
      << endpoint_infos.error().what;
}

TEST(AddressExchange, a_callback_that_fails_is_named_with_its_status) {
  Partner partner = partner_of(*own_endpoint_info());
  partner.status = 5;
  const auto endpoint_infos = exchange_infos(partner.bootstrap(), *own_endpoint_info());
  ASSERT_FALSE(endpoint_infos);
  EXPECT_NE(endpoint_infos.error().what.find("allgather callback returned 5"), std::string::npos);
}

TEST(AddressExchange,
     a_socket_that_does_not_answer_is_of_another_host_whatever_its_endpoint_info_says) {
  const std::vector<EndpointInfo> endpoint_infos{*own_endpoint_info(), *own_endpoint_info()};
  ASSERT_TRUE(says_same_host(endpoint_infos[0], endpoint_infos[1]));
  const auto hosts = exchange_hosts(partner_of(Rank{0}).bootstrap(), endpoint_infos);
  ASSERT_TRUE(hosts);
  EXPECT_EQ(*hosts, (std::vector<Rank>{0, 1}));
}

TEST(AddressExchange, a_socket_that_answers_is_of_this_host) {
  const std::vector<EndpointInfo> endpoint_infos{*own_endpoint_info(), *own_endpoint_info()};
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const DatagramName name = datagram_name(endpoint_infos[0]);
  ASSERT_EQ(::bind(socket.get(), name.get(), name.size_bytes), 0);
  const auto hosts = exchange_hosts(partner_of(Rank{0}).bootstrap(), endpoint_infos);
  ASSERT_TRUE(hosts);
  EXPECT_EQ(*hosts, (std::vector<Rank>{0, 0}));
}

TEST(AddressExchange, a_host_that_is_no_rank_is_refused) {
  const std::vector<EndpointInfo> endpoint_infos{*own_endpoint_info(), *own_endpoint_info()};
  const auto hosts = exchange_hosts(partner_of(Rank{2}).bootstrap(), endpoint_infos);
  ASSERT_FALSE(hosts);
  EXPECT_EQ(hosts.error().status, PH_ERR_BOOTSTRAP);
}

TEST(AddressExchange, a_rank_without_an_address_takes_part_and_is_named_to_the_others) {
  const Addresses good = *choose_addresses({"10.1.2.3"});
  bool was_called = false;
  Partner partner{.says = [&](void* to, std::size_t) {
    was_called = true;
    std::memcpy(to, &good, sizeof good);
  }};
  const base::Error why{PH_ERR_CONFIG, 0, "no such interface"};
  auto addresses = exchange_addresses(partner.bootstrap(), why);
  EXPECT_TRUE(was_called);
  ASSERT_FALSE(addresses);
  EXPECT_EQ(addresses.error().what, why.what);
  addresses = exchange_addresses(partner_of(Addresses{}).bootstrap(), good);
  ASSERT_FALSE(addresses);
  EXPECT_EQ(addresses.error().rank, 0u);
  addresses = exchange_addresses(partner.bootstrap(), good);
  ASSERT_TRUE(addresses);
  EXPECT_EQ((*addresses)[0].text(), good.text());
}

}  // namespace
}  // namespace photon::boot
