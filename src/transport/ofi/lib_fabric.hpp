// libfabric's side of a Fabric as a class: fabric.cpp chooses a provider, opens it and reads what
// is over; fabric_endpoints.cpp carries messages; fabric_rma_endpoint.cpp moves memory. Included by
// what is built with libfabric's headers only. Handles are closed in the reverse order of their
// opening. Owner: OfiTransport, as a Fabric. Threads: one at a time.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/resource_limits.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/fabric_library.hpp"

namespace photon::transport::ofi {

struct InfoEnd {
  decltype(&::fi_freeinfo) end = nullptr;
  void operator()(fi_info* info) const noexcept { end(info); }
};
using Info = std::unique_ptr<fi_info, InfoEnd>;

// fid_domain, fid_ep...: all begin with what is closed.
template <class Fid>
struct FidEnd {
  void operator()(Fid* fid) const noexcept { ::fi_close(&fid->fid); }
};
template <class Fid>
using Handle = std::unique_ptr<Fid, FidEnd<Fid>>;

// A write that tells is made of so many parts at most.
inline constexpr std::size_t kMostParts = 2;

// Of a registration's handle; 0: of memory that needs none.
inline void* descriptor_of(std::uint64_t handle) noexcept {
  auto* region = reinterpret_cast<fid_mr*>(static_cast<std::uintptr_t>(handle));
  return region == nullptr ? nullptr : ::fi_mr_desc(region);
}

class LibFabric final : public Fabric {
 public:
  struct Endpoint {
    Handle<fid_ep> handle;
    std::vector<std::byte> address;
    std::size_t receives = 0;  // that it has
  };
  static base::Result<std::unique_ptr<LibFabric>> open(const Library& library, fi_info& info,
                                                       const FabricWants& wants);
  explicit LibFabric(const Library& library) noexcept : library_(library) {}

  const Traits& traits() const noexcept override { return traits_; }
  void set_other_domains(std::vector<std::string> all) { traits_.other_domains = std::move(all); }
  std::span<const std::byte> address(std::size_t by) const noexcept override {
    return endpoints_[by].address;
  }
  base::Result<> open_endpoint() override;
  std::size_t endpoints_count() const noexcept override { return endpoints_.size(); }
  base::Result<std::uint64_t> insert(std::span<const std::byte> address) override;
  base::Result<std::uint64_t> show(std::span<std::byte> memory, Use use) override;
  void hide(std::uint64_t handle) noexcept override;
  Taken send(const Route& route, const Buffer& message, Operation& operation) noexcept override;
  Taken receive(const Buffer& into, Operation& operation) noexcept override;
  base::Result<Exposed> expose(const Exposure& wanted, RmaEndpoint& by) override;
  void conceal(const Exposed& exposed) noexcept override;
  base::Result<std::unique_ptr<RmaEndpoint>> open_rma_endpoint() override;
  Got read(std::span<Completion> into, std::size_t& count) noexcept override;
  Operation* failed() const noexcept override { return failed_; }
  std::string words() const override { return words_; }
  MayWait may_wait() noexcept override;
  void stop() noexcept override { endpoints_.clear(); }

  // Of LibRmaEndpoint.
  void keep_words(ssize_t code) noexcept;  // of a code that says what went wrong
  base::Result<> enable(Endpoint& endpoint);
  bool tells_behind() const noexcept { return tells_behind_; }

 private:
  base::Result<> begin(fi_info& info, const FabricWants& wants);
  base::Result<> open_queue(std::size_t size);
  base::Result<Handle<fid_mr>> registered(std::span<std::byte> memory, std::uint64_t access,
                                          std::uint64_t key);
  Got failed_part() noexcept;
  Got read_error() noexcept;
  static bool is_last(Operation* operation, bool is_well) noexcept;
  Taken taken(ssize_t code) noexcept;  // and keeps its words
  void received(const Operation* operation) noexcept;

  template <class Fid, class Open>
  base::Result<> opened(Handle<Fid>& into, const char* what, Open open) const;
  std::string words_of(ssize_t code) const { return library_.strerror(static_cast<int>(-code)); }
  base::Error error(const std::string& what, ssize_t code) const {
    const int number = static_cast<int>(-code);
    return {PH_ERR_SYSTEM, number,
            "ofi: " + what + ": " + words_of(code) +
                base::descriptors_advice(number, base::descriptors_limit())};
  }

  // PH_ERR_MEMORY: a limit that others' end may lift.
  base::Error registration_error(int code) const;

  const Library library_;
  Info info_;  // what it was opened by
  Traits traits_;
  bool shows_memory_ = false;         // FI_MR_LOCAL
  bool binds_regions_ = false;        // FI_MR_ENDPOINT
  bool names_addresses_ = false;      // FI_MR_VIRT_ADDR
  bool addresses_are_texts_ = false;  // of any length, with a zero behind
  bool chooses_keys_ = false;         // FI_MR_PROV_KEY
  bool tells_behind_ = false;         // what a write tells goes behind it, as one of nothing
  bool has_left_something_ = false;   // an endpoint that did not come up, in the descriptor
  std::uint64_t keys_count_ = 0;
  Operation* failed_ = nullptr;
  std::vector<Operation*> failed_parts_;  // are over, and not told; room for all fragments
  std::string words_;

  Handle<fid_fabric> fabric_;
  Handle<fid_domain> domain_;
  Handle<fid_cq> queue_;
  Handle<fid_av> addresses_;
  std::vector<Endpoint> endpoints_;
};

template <class Fid, class Open>
base::Result<> LibFabric::opened(Handle<Fid>& into, const char* what, Open open) const {
  Fid* made = nullptr;
  if (const int code = open(&made); code != 0) return error(what, code);
  into.reset(made);
  return {};
}

}  // namespace photon::transport::ofi
