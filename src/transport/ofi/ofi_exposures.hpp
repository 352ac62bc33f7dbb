// Our memory that peers touch by themselves, who may at present, and the RMA endpoint by which they
// do (docs/ofi.md, Fragments).
//
//   exposure: none -- the first ask for a live key --> exposed -- its key is revoked --> stale
//     stale -- nobody holds a lease of it, or the RMA endpoint has ended --> concealed
//   RMA endpoint: none -- somebody is granted something --> open -- end_rma_endpoint() --> none
//
// Invariants: an exposure is by the RMA endpoint that is open, and concealed before that ends, for
// where a registration belongs to an endpoint (FI_MR_ENDPOINT) it must; a rank that holds no lease
// of an exposure touches nothing of it; what was concealed is touched by nobody, once the RMA
// endpoint that was open has ended. An exposure is that of one registration, whole. Owner:
// OfiTransport, under its lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/ofi/fabric.hpp"
#include "transport/ofi/ofi_message.hpp"
#include "transport/transport.hpp"

namespace photon::transport::ofi {

class Exposures {
 public:
  // Both outlive it; the fabric is stopped after the last end_rma_endpoint().
  Exposures(Fabric& fabric, std::span<const RegionEntry> regions) noexcept
      : fabric_(fabric), regions_(regions) {}

  // To a rank that asks for a key; if it is a yes it holds a lease. Why it is a no of ours and not
  // of the key: trouble().
  TellBody answer(Rank rank, std::uint64_t key);
  void given(Rank rank, std::uint64_t key) noexcept;
  const std::string& trouble() const noexcept { return trouble_; }

  // Conceals what is stale and not held; whether something is stale and held.
  bool collect() noexcept;
  struct Holder {
    Rank rank = 0;
    std::uint64_t key = 0;
  };
  // Who holds what is stale.
  std::vector<Holder> stale_holders() const;
  // Whether that rank holds anything at all.
  bool is_holder(Rank rank) const noexcept;
  // Whether that RMA endpoint is the one that is open.
  bool is_open(std::uint64_t rma_endpoint) const noexcept {
    return rma_endpoint_ != nullptr && rma_endpoint == rma_endpoints_count_;
  }
  // RMA endpoints with this and lower numbers have ended.
  std::uint64_t ended() const noexcept {
    return rma_endpoint_ == nullptr ? rma_endpoints_count_ : rma_endpoints_count_ - 1;
  }
  // No fragment begins any more by the RMA endpoint that is open.
  void conceal_all() noexcept;
  // Leases and exposures end, and what was begun by them. The number of the RMA endpoint; 0: there
  // was none.
  std::uint64_t end_rma_endpoint() noexcept;

 private:
  struct Shown {
    Exposed exposed;
    sync::RegionView view;
    std::vector<Rank> holders;
  };
  bool is_stale(std::uint64_t key) const noexcept {
    return regions_[key & (regions_.size() - 1)].key() != key;
  }
  base::Result<> open_rma_endpoint();
  base::Result<Shown*> show(std::uint64_t key, const sync::RegionView& view);

  Fabric& fabric_;
  const std::span<const RegionEntry> regions_;
  std::map<std::uint64_t, Shown> shown_;  // by the key of the registration
  std::unique_ptr<RmaEndpoint> rma_endpoint_;
  std::uint64_t rma_endpoints_count_ = 0;
  std::string trouble_;
};

}  // namespace photon::transport::ofi
