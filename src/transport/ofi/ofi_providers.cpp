#include "transport/ofi/ofi_providers.hpp"

#include <algorithm>

namespace photon::transport::ofi {

namespace {

// "tcp" means "tcp;ofi_rxm" as well: the utility provider over it.
bool is_named(std::string_view provider, std::string_view wanted) noexcept {
  return provider == wanted || (provider.size() > wanted.size() && provider.starts_with(wanted) &&
                                provider[wanted.size()] == ';');
}

}  // namespace

const char* refusal(const Offer& offer, const FabricWants& wants) noexcept {
  const bool is_asked = wants.provider != "auto";
  if (is_asked && !is_named(offer.provider, wants.provider))
    return "is not what setting ofi_provider names";
  if (wants.domain != "auto" && offer.domain != wants.domain)
    return "is not of the domain that setting ofi_domain names";
  if (offer.most_bytes < kLeastMessageBytes) return "carries messages of less than 4096 bytes only";
  if (is_asked) return nullptr;
  if (offer.provider == "shm")
    return "reaches this host only, as transport shm does; taken when ofi_provider names it";
  if (offer.provider == "net")
    return "keeps a processor busy while its rank sleeps; taken when ofi_provider names it";
  if (offer.provider == "sockets")
    return "was given up by libfabric; taken when ofi_provider names it";
  if (offer.provider.find("ofi_rxd") != std::string_view::npos)
    return "is a best effort over datagrams; taken when ofi_provider names it";
  if (!wants.is_one_host && wants.domain == "auto" && offer.domain == "lo")
    return "is the loopback, and there are ranks on other hosts";
  return nullptr;
}

std::vector<std::size_t> choice(std::span<const Offer> offers, const FabricWants& wants) {
  struct Ranked {
    std::size_t index;
    std::size_t rank;
  };
  std::vector<Ranked> ranked;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const Offer& offer = offers[i];
    if (refusal(offer, wants) != nullptr) continue;
    const auto first = std::ranges::find(offers, offer.provider, &Offer::provider);
    const auto place = static_cast<std::size_t>(first - offers.begin());
    // A job of one host has no reason to listen where others reach it.
    const bool is_first = wants.is_one_host && offer.domain == "lo";
    ranked.push_back({i, is_first ? 0 : 1 + 2 * place + (offer.is_met ? 0U : 1U)});
  }
  std::ranges::stable_sort(ranked, {}, &Ranked::rank);
  std::vector<std::size_t> chosen;
  chosen.reserve(ranked.size());
  for (const Ranked& one : ranked) chosen.push_back(one.index);
  return chosen;
}

std::vector<std::string> others_than(std::span<const Offer> offers, std::size_t taken,
                                     const FabricWants& wants) {
  const Offer& own = offers[taken];
  std::vector<std::string> found;
  for (const std::size_t i : choice(offers, wants)) {
    const std::string domain(offers[i].domain);
    if (offers[i].provider != own.provider || domain == own.domain) continue;
    if (std::ranges::find(found, domain) == found.end()) found.push_back(domain);
  }
  return found;
}

std::string way_text(const Fabric::Traits& traits) {
  constexpr std::size_t kMost = 6;
  std::string text = "; tried by " + traits.provider + ", domain " + traits.domain;
  if (traits.other_domains.empty()) return text;
  text += "; there are also";
  for (std::size_t i = 0; i < std::min(kMost, traits.other_domains.size()); ++i)
    text += (i == 0 ? " " : ", ") + traits.other_domains[i];
  if (traits.other_domains.size() > kMost) text += " and others";
  return text + ": the setting ofi_domain (PHOTON_OFI_DOMAIN) chooses";
}

bool forgets_whose_writes(std::string_view provider) noexcept {
  return is_named(provider, "tcp") && provider.find("ofi_rxm") != std::string_view::npos;
}

const char* advice(std::string_view provider, std::size_t ranks_count, bool is_told) noexcept {
  constexpr std::size_t kUnlessTold = 256;
  const bool is_sized = provider.find("ofi_rxm") != std::string_view::npos;
  if (!is_sized || ranks_count <= kUnlessTold || is_told) return nullptr;
  return "its queues are made for 256 ranks; start the ranks of a larger job with their number in "
         "FI_UNIVERSE_SIZE in the environment, as photonrun does";
}

}  // namespace photon::transport::ofi
