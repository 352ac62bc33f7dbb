#include "transport/ofi/ofi_exposures.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/readable.hpp"
#include "boot/proof.hpp"

namespace photon::transport::ofi {

base::Result<> Exposures::open_rma_endpoint() {
  if (rma_endpoint_ != nullptr) return {};
  auto opened = fabric_.open_rma_endpoint();
  if (!opened) return std::move(opened.error());
  if ((*opened)->address().size() > kMostAddressBytes)
    return base::Error{PH_ERR_SYSTEM, 0,
                       "ofi: the address of an RMA endpoint is too long to be told"};
  rma_endpoint_ = std::move(*opened);
  ++rma_endpoints_count_;
  return {};
}

// By a key of its own, which nobody can guess: those of registrations are known to all peers.
base::Result<Exposures::Shown*> Exposures::show(std::uint64_t key, const sync::RegionView& view) {
  if (const auto found = shown_.find(key); found != shown_.end()) return &found->second;
  const auto nonce = boot::random_nonce();
  if (!nonce) return nonce.error();
  Exposure wanted{.memory = {reinterpret_cast<std::byte*>(view.address), view.size_bytes},
                  .key = 0,
                  .access = view.access};
  std::memcpy(&wanted.key, nonce->data(), sizeof wanted.key);
  Shown& made = shown_[key];
  auto exposed = fabric_.expose(wanted, *rma_endpoint_);
  if (!exposed) {
    shown_.erase(key);
    return std::move(exposed.error());
  }
  made.exposed = *exposed;
  made.view = view;
  return &made;
}

TellBody Exposures::answer(Rank rank, std::uint64_t key) {
  TellBody answer;
  answer.key = key;
  sync::RegionView view;
  if (key == 0 || !regions_[key & (regions_.size() - 1)].read(key, view)) {
    answer.status = PH_ERR_KEY;
    return answer;
  }
  if (view.size_bytes == 0) {  // no fragment fits
    answer.status = PH_ERR_RANGE;
    return answer;
  }
  // A NIC that meets memory which is gone may end this process, or not say what became of a read.
  if (!base::is_mapped({reinterpret_cast<const std::byte*>(view.address), view.size_bytes})) {
    answer.status = PH_ERR_ACCESS;
    return answer;
  }
  auto opened = open_rma_endpoint();
  auto shown = opened ? show(key, view) : base::Result<Shown*>(std::move(opened.error()));
  if (!shown) {
    trouble_ = shown.error().what;
    answer.status = shown.error().status == PH_ERR_MEMORY ? PH_ERR_MEMORY : PH_ERR_SYSTEM;
    return answer;
  }
  Shown& one = **shown;
  if (std::find(one.holders.begin(), one.holders.end(), rank) == one.holders.end())
    one.holders.push_back(rank);
  answer.access = one.view.access;
  answer.address = one.view.address;
  answer.size_bytes = one.view.size_bytes;
  answer.begin = one.exposed.begin;
  answer.rma_endpoint_key = one.exposed.key;
  answer.rma_endpoint = rma_endpoints_count_;
  const auto address = rma_endpoint_->address();
  answer.rma_endpoint_bytes = address.size();
  std::copy(address.begin(), address.end(), answer.rma_endpoint_address.begin());
  return answer;
}

void Exposures::given(Rank rank, std::uint64_t key) noexcept {
  const auto found = shown_.find(key);
  if (found != shown_.end()) std::erase(found->second.holders, rank);
}

bool Exposures::collect() noexcept {
  bool is_held = false;
  for (auto one = shown_.begin(); one != shown_.end();) {
    const bool stale = is_stale(one->first);
    if (!stale || !one->second.holders.empty()) {
      is_held = is_held || stale;
      ++one;
      continue;
    }
    fabric_.conceal(one->second.exposed);
    one = shown_.erase(one);
  }
  return is_held;
}

std::vector<Exposures::Holder> Exposures::stale_holders() const {
  std::vector<Holder> all;
  for (const auto& [key, one] : shown_)
    if (is_stale(key))
      for (const Rank rank : one.holders) all.push_back({rank, key});
  return all;
}

bool Exposures::is_holder(Rank rank) const noexcept {
  return std::any_of(shown_.begin(), shown_.end(), [rank](const auto& one) {
    const auto& holders = one.second.holders;
    return std::find(holders.begin(), holders.end(), rank) != holders.end();
  });
}

void Exposures::conceal_all() noexcept {
  for (const auto& one : shown_) fabric_.conceal(one.second.exposed);
  shown_.clear();
}

std::uint64_t Exposures::end_rma_endpoint() noexcept {
  if (rma_endpoint_ == nullptr) return 0;
  conceal_all();
  rma_endpoint_.reset();
  return rma_endpoints_count_;
}

}  // namespace photon::transport::ofi
