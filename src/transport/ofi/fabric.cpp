// libfabric, and nothing else: which of its providers, and what is over.
#include "transport/ofi/fabric.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "base/signals.hpp"
#include "boot/interfaces.hpp"
#include "transport/ofi/lib_fabric.hpp"
#include "transport/ofi/ofi_provider_codes.hpp"
#include "transport/ofi/ofi_providers.hpp"

namespace photon::transport::ofi {

namespace {

static_assert(sizeof(Operation::provider) >= sizeof(fi_context2));
static_assert(FI_EAGAIN == EAGAIN && FI_ENETUNREACH == ENETUNREACH && FI_ENOTCONN == ENOTCONN &&
                  FI_ECONNREFUSED == ECONNREFUSED && FI_ESHUTDOWN == ESHUTDOWN &&
                  FI_EHOSTUNREACH == EHOSTUNREACH && FI_ENETDOWN == ENETDOWN &&
                  FI_ECONNRESET == ECONNRESET && FI_ECONNABORTED == ECONNABORTED &&
                  FI_ETIMEDOUT == ETIMEDOUT,
              "ofi_provider_codes.cpp takes libfabric's codes for errno's");

constexpr std::uint32_t kApi = FI_VERSION(1, 17);

// What fi_getinfo() should sort out. Of `all`, it is only what carries no messages, so that an
// error can name what there is.
enum class Sort : std::uint8_t { usable_in_order, usable, all };
Info hints_for(const Library& library, const FabricWants& wants, Sort sort) {
  Info hints(library.dupinfo(nullptr), InfoEnd{library.freeinfo});
  if (hints == nullptr) return hints;
  hints->caps = wants.fragments_count == 0 ? FI_MSG : FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  if (wants.provider != "auto")
    hints->fabric_attr->prov_name =
        ::strndup(wants.provider.data(), wants.provider.size());  // freed with the hints
  if (sort == Sort::all) return hints;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;  // we lock, and each lane has its own
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (sort == Sort::usable) return hints;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  return hints;
}

Info offers_for(const Library& library, const FabricWants& wants, Sort sort) {
  const Info hints = hints_for(library, wants, sort);
  fi_info* offers = nullptr;
  if (hints == nullptr || library.getinfo(kApi, nullptr, nullptr, 0, hints.get(), &offers) != 0)
    return Info(nullptr, InfoEnd{library.freeinfo});
  return Info(offers, InfoEnd{library.freeinfo});
}

// Where the offer begins, if that is an address of IPv4 or IPv6.
boot::Address source_of(const fi_info& info) noexcept {
  const bool is_one = info.src_addr != nullptr &&
                      (info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
                       info.addr_format == FI_SOCKADDR_IN6);
  return is_one ? boot::from_socket(*static_cast<const sockaddr*>(info.src_addr)) : boot::Address{};
}

Offer offer_of(const fi_info& info, const FabricWants& wants) {
  const boot::Address source = source_of(info);
  const auto met = boot::addresses_of(wants.met);
  return {.provider = info.fabric_attr->prov_name,
          .domain = info.domain_attr->name,
          .most_bytes = info.ep_attr->max_msg_size,
          .is_met = source.family != 0 && std::ranges::any_of(met, [&](const boot::Address& one) {
                      return one.is_same_host(source);
                    })};
}

// What an RMA endpoint needs: keys as long as ours and room for any fragment; and memory of ours
// that belongs to no endpoint, for RMA endpoints come and go.
constexpr std::size_t kMostFragmentBytes = 16 << 20;  // of the setting posted_piece_bytes
bool has_rma_endpoints(const fi_info& info) noexcept {
  const auto& domain = *info.domain_attr;
  const bool is_key_long =
      (domain.mr_mode & FI_MR_PROV_KEY) != 0 || domain.mr_key_size >= sizeof(Exposed::key);
  return (info.caps & FI_RMA) != 0 && is_key_long &&
         info.ep_attr->max_msg_size >= kMostFragmentBytes &&
         (domain.mr_mode & (FI_MR_LOCAL | FI_MR_ENDPOINT)) != (FI_MR_LOCAL | FI_MR_ENDPOINT);
}

// Whether this provider can say when a write is seen at its target (FI_DELIVERY_COMPLETE): what it
// offers it lists without that, so it is asked for once more, by name.
bool tells_delivery(const Library& library, const fi_info& info, FabricWants wants) {
  wants.provider = info.fabric_attr->prov_name;
  const Info hints = hints_for(library, wants, Sort::all);
  if (hints == nullptr) return false;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  hints->domain_attr->name = ::strdup(info.domain_attr->name);  // freed with the hints
  fi_info* offers = nullptr;
  const int code = library.getinfo(kApi, nullptr, nullptr, 0, hints.get(), &offers);
  const Info freed(offers, InfoEnd{library.freeinfo});
  return code == 0;
}

}  // namespace

base::Result<std::unique_ptr<LibFabric>> LibFabric::open(const Library& library, fi_info& info,
                                                         const FabricWants& wants) {
  auto made = std::make_unique<LibFabric>(library);
  if (auto began = made->begin(info, wants); !began) return std::move(began.error());
  return made;
}

base::Result<> LibFabric::begin(fi_info& info, const FabricWants& wants) {
  const int mode = info.domain_attr->mr_mode;
  shows_memory_ = (mode & FI_MR_LOCAL) != 0 || wants.registers_all;
  binds_regions_ = (mode & FI_MR_ENDPOINT) != 0;
  chooses_keys_ = (mode & FI_MR_PROV_KEY) != 0;
  names_addresses_ = (mode & FI_MR_VIRT_ADDR) != 0;
  addresses_are_texts_ = info.addr_format == FI_ADDR_STR;
  info_ = Info(library_.dupinfo(&info), InfoEnd{library_.freeinfo});
  if (info_ == nullptr) return error("what the provider offers", -FI_ENOMEM);
  traits_.has_rma_endpoints = wants.fragments_count != 0 && has_rma_endpoints(info) &&
                              tells_delivery(library_, info, wants);
  traits_.registers_own = shows_memory_;
  if (traits_.has_rma_endpoints && info.domain_attr->cq_data_size >= sizeof(std::uint32_t))
    traits_.data_bytes = std::min(info.domain_attr->cq_data_size, sizeof(std::uint64_t));
  tells_behind_ = traits_.data_bytes != 0 && forgets_whose_writes(info.fabric_attr->prov_name);
  if (tells_behind_ && (info.mode & (FI_CONTEXT | FI_CONTEXT2)) != 0) traits_.data_bytes = 0;
  traits_.provider = info.fabric_attr->prov_name;
  traits_.domain = info.domain_attr->name;
  traits_.most_bytes = info.ep_attr->max_msg_size;
  traits_.inject_bytes = 0;  // what the provider still holds must be known until it is over
  traits_.advice =
      advice(traits_.provider, wants.peers_count + 1, library_.is_told("FI_UNIVERSE_SIZE"));
  traits_.keeps_order = (info.tx_attr->msg_order & info.rx_attr->msg_order & FI_ORDER_SAS) != 0;
  traits_.progresses_itself = info.domain_attr->data_progress == FI_PROGRESS_AUTO;
  if (auto done =
          opened(fabric_, "the fabric",
                 [&](auto** made) { return library_.fabric(info.fabric_attr, made, nullptr); });
      !done)
    return done;
  if (auto done =
          opened(domain_, "the domain",
                 [&](auto** made) { return ::fi_domain(fabric_.get(), &info, made, nullptr); });
      !done)
    return done;
  failed_parts_.reserve(wants.fragments_count);
  const std::size_t told_count = traits_.data_bytes == 0 ? 0 : wants.told_count;
  const std::size_t completions_count = wants.sends_count + wants.receives_count +
                                        (tells_behind_ ? kMostParts : 1) * wants.fragments_count +
                                        told_count;
  if (auto done = open_queue(completions_count); !done) return done;
  fi_av_attr table{};
  table.count = std::max<std::size_t>(wants.peers_count, 1);
  if (auto done =
          opened(addresses_, "the address table",
                 [&](auto** made) { return ::fi_av_open(domain_.get(), &table, made, nullptr); });
      !done)
    return done;
  return open_endpoint();
}

void LibFabric::keep_words(ssize_t code) noexcept {
  if (code == 0 || code == -FI_EAGAIN) return;
  try {
    words_ = words_of(code);
  } catch (const std::bad_alloc&) {
    words_.clear();
  }
}

Fabric::Taken LibFabric::taken(ssize_t code) noexcept {
  keep_words(code);
  return taken_message(code);
}

namespace {

// What there is beside a provider that there is not: its name may be misspelt, or its NIC
// missing.
std::string others(const Library& library, const FabricWants& wants) {
  const std::string none = ": it offers none that carries messages between any ranks (FI_EP_RDM)";
  if (wants.provider == "auto") return none;
  FabricWants any = wants;
  any.provider = "auto";
  const Info offers = offers_for(library, any, Sort::all);
  std::set<std::string> named;
  std::string said;
  for (const fi_info* info = offers.get(); info != nullptr; info = info->next)
    if (named.insert(info->fabric_attr->prov_name).second)
      said += (said.empty() ? "" : ", ") + std::string(info->fabric_attr->prov_name);
  if (said.empty()) return none;
  return ": it offers none of that name here, or none that carries messages between any ranks "
         "(FI_EP_RDM), but these: " +
         said;
}

// Each provider once, with why it is none for us.
std::string refusals(const Library& library, const FabricWants& wants,
                     const std::string& troubles) {
  std::string said = troubles;
  std::set<std::string> named;
  const Info offers = offers_for(library, wants, Sort::all);
  for (const fi_info* info = offers.get(); info != nullptr; info = info->next) {
    const Offer offer = offer_of(*info, wants);
    const char* why = refusal(offer, wants);
    if (why == nullptr) why = "cannot be driven as this transport does";
    const std::string one = std::string(offer.provider) + " (" + std::string(offer.domain) + ") ";
    if (troubles.find(one) == std::string::npos && named.insert(one).second)
      said += "; " + one + why;
  }
  return said.empty() ? others(library, wants) : said;
}

fi_info* like(const Info& offers, const fi_info& one) noexcept {
  const std::string_view provider = one.fabric_attr->prov_name, domain = one.domain_attr->name;
  for (fi_info* info = offers.get(); info != nullptr; info = info->next)
    if (info->fabric_attr->prov_name == provider && info->domain_attr->name == domain &&
        source_of(*info).is_same_host(source_of(one)))
      return info;
  return nullptr;
}

// Order is asked for, since a provider may not keep what it could unless it was; who cannot is
// taken all the same.
base::Result<std::unique_ptr<Fabric>> open_one(const FabricWants& wants) {
  const base::SignalsLeftToOthers block;  // a provider may start threads
  const KeptSignals signals;
  auto library = load_library();
  if (!library) return std::move(library.error());
  const Info offers = offers_for(*library, wants, Sort::usable);
  const Info in_order = offers_for(*library, wants, Sort::usable_in_order);
  std::string troubles;
  std::vector<fi_info*> infos;
  std::vector<Offer> looks;
  for (fi_info* info = offers.get(); info != nullptr; info = info->next) {
    infos.push_back(info);
    looks.push_back(offer_of(*info, wants));
  }
  for (const std::size_t i : choice(looks, wants)) {
    fi_info* const same = like(in_order, *infos[i]);
    auto made = LibFabric::open(*library, same != nullptr ? *same : *infos[i], wants);
    if (made) {
      (*made)->set_other_domains(others_than(looks, i, wants));
      return std::unique_ptr<Fabric>(std::move(*made));
    }
    const std::string one =
        std::string(looks[i].provider) + " (" + std::string(looks[i].domain) + ") ";
    if (troubles.find(one) == std::string::npos)
      troubles += "; " + one + "cannot be opened: " + made.error().what;
  }
  return base::Error{PH_ERR_CONFIG, 0,
                     "transport ofi: libfabric has no provider for it (ofi_provider = " +
                         std::string(wants.provider) +
                         ", ofi_domain = " + std::string(wants.domain) + ")" +
                         refusals(*library, wants, troubles) + "; fi_info lists what there is"};
}

}  // namespace

base::Result<> has_fabric() { return {}; }

// What is preferred first, else in libfabric's order, which is from fast to slow. Of those that
// move memory, if that is wanted; else of all.
base::Result<std::unique_ptr<Fabric>> open_fabric(const FabricWants& wants) {
  if (wants.fragments_count != 0) {
    if (auto made = open_one(wants)) return made;
  }
  FabricWants messages = wants;
  messages.fragments_count = 0;
  return open_one(messages);
}

}  // namespace photon::transport::ofi
