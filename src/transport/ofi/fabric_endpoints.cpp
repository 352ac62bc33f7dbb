// The endpoints of libfabric that messages leave and arrive by.
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <utility>

#include "base/signals.hpp"
#include "transport/ofi/lib_fabric.hpp"

namespace photon::transport::ofi {

// One that began and does not come up leaves in the provider's descriptor what fi_trywait() of
// libfabric 1.17 crashes on.
base::Result<> LibFabric::enable(Endpoint& endpoint) {
  const base::SignalsLeftToOthers block;  // a provider may start threads
  auto& handle = endpoint.handle;
  const auto open_one = [&](auto** made) {
    return ::fi_endpoint(domain_.get(), info_.get(), made, nullptr);
  };
  if (auto done = opened(handle, "the endpoint", open_one); !done) return done;
  const bool left_before = std::exchange(has_left_something_, true);
  int code = ::fi_ep_bind(handle.get(), &addresses_->fid, 0);
  if (code == 0) code = ::fi_ep_bind(handle.get(), &queue_->fid, FI_TRANSMIT | FI_RECV);
  if (code == 0) code = ::fi_enable(handle.get());
  if (code != 0) return error("enabling the endpoint", code);
  std::size_t bytes = 0;
  ::fi_getname(&handle->fid, nullptr, &bytes);  // says how long it is
  endpoint.address.resize(bytes);
  code = ::fi_getname(&handle->fid, endpoint.address.data(), &bytes);
  if (code != 0) return error("the address of the endpoint", code);
  endpoint.address.resize(bytes);
  has_left_something_ = left_before;
  return {};
}

// Registrations that belong to an endpoint would have to belong to each.
base::Result<> LibFabric::open_endpoint() {
  if (!endpoints_.empty() && shows_memory_ && binds_regions_)
    return base::Error{PH_ERR_STATE, 0, "ofi: its registrations belong to the first one"};
  Endpoint made;
  if (auto done = enable(made); !done) return done;
  endpoints_.push_back(std::move(made));
  return {};
}

base::Result<std::uint64_t> LibFabric::insert(std::span<const std::byte> address) {
  fi_addr_t made = FI_ADDR_UNSPEC;
  // How long it has to be, only the provider knows; ours is as long, or both are texts (shm).
  const bool has_end = !address.empty() && address.back() == std::byte{0};
  if (addresses_are_texts_ ? !has_end : address.size() != endpoints_.front().address.size())
    return base::Error{PH_ERR_PROTOCOL, 0, "ofi: an address of another length than ours"};
  const int count = ::fi_av_insert(addresses_.get(), address.data(), 1, &made, 0, nullptr);
  if (count != 1) return error("taking the address of a peer", count < 0 ? count : -FI_EINVAL);
  return made;
}

Fabric::Taken LibFabric::send(const Route& route, const Buffer& message,
                              Operation& operation) noexcept {
  const auto& bytes = message.bytes;
  const ssize_t code = ::fi_send(endpoints_[route.by].handle.get(), bytes.data(), bytes.size(),
                                 descriptor_of(message.handle), route.to, &operation.provider);
  return taken(code);
}

// By the endpoint that has the fewest.
Fabric::Taken LibFabric::receive(const Buffer& into, Operation& operation) noexcept {
  const auto least =
      std::min_element(endpoints_.begin(), endpoints_.end(),
                       [](const auto& a, const auto& b) { return a.receives < b.receives; });
  const Taken posted =
      taken(::fi_recv(least->handle.get(), into.bytes.data(), into.bytes.size(),
                      descriptor_of(into.handle), FI_ADDR_UNSPEC, &operation.provider));
  if (posted != Taken::yes) return posted;
  ++least->receives;
  operation.by = static_cast<std::uint8_t>(least - endpoints_.begin());
  return posted;
}

// A receive is over.
void LibFabric::received(const Operation* operation) noexcept {
  if (operation != nullptr && operation->rank == Operation::kReceive)
    --endpoints_[operation->by].receives;
}

}  // namespace photon::transport::ofi
