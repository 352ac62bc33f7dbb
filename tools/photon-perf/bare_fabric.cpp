#include "bare_fabric.hpp"

#include <dlfcn.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "failure.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kApi = FI_VERSION(1, 17);
constexpr std::size_t kQueueSize =
    BareFabric::kSends + BareFabric::kReceives + kWindow;  // and the peer's writes

// Some providers put handlers of their own in the place of ours as soon as they are loaded.
class KeptSignals {
 public:
  KeptSignals() noexcept {
    for (int number = 1; number < kCount; ++number) ::sigaction(number, nullptr, &before_[number]);
  }
  ~KeptSignals() {
    for (int number = 1; number < kCount; ++number) ::sigaction(number, &before_[number], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr int kCount = 32;
  struct sigaction before_[kCount] = {};
};

// The version of the functions that take a fi_info as our headers describe it.
const char* info_version() noexcept {
  constexpr auto kHeaders = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  if (kHeaders < FI_VERSION(1, 20)) return "FABRIC_1.3";
  return kHeaders < FI_VERSION(2, 0) ? "FABRIC_1.7" : "FABRIC_1.8";
}

template <class Function>
void find(void* from, const char* name, Function*& function) {
  void* found = ::dlvsym(from, name, info_version());
  function = reinterpret_cast<Function*>(found != nullptr ? found : ::dlsym(from, name));
  if (function == nullptr) throw Failure(std::string("bare libfabric: it has no ") + name);
}

bool has(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

// As the library chooses (docs/ofi.md), so that both use the same.
bool is_wanted(const fi_info& info, const FabricNames& names) {
  const std::string_view provider = info.fabric_attr->prov_name;
  const std::string_view domain = info.domain_attr->name;
  if ((info.tx_attr->msg_order & info.rx_attr->msg_order & FI_ORDER_SAS) == 0) return false;
  if (names.domain != "auto" && names.domain != domain) return false;
  if (names.provider != "auto")
    return provider == names.provider || provider.starts_with(names.provider + ";");
  return provider != "shm" && provider != "net" && provider != "sockets" &&
         !has(provider, "ofi_rxd");
}

}  // namespace

void BareFabric::require(ssize_t code, const char* doing) const {
  if (code == 0) return;
  throw Failure(std::string("bare libfabric, ") + doing + ": " +
                library_.strerror(static_cast<int>(-code)));
}

void BareFabric::load() {
  void* loaded = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (loaded == nullptr) throw Failure("libfabric cannot be loaded");
  find(loaded, "fi_getinfo", library_.getinfo);
  find(loaded, "fi_freeinfo", library_.freeinfo);
  find(loaded, "fi_dupinfo", library_.dupinfo);
  find(loaded, "fi_fabric", library_.fabric);
  find(loaded, "fi_strerror", library_.strerror);
}

BareFabric::Info BareFabric::offers(const FabricNames& names, std::uint64_t caps) const {
  const Info hints(library_.dupinfo(nullptr), InfoEnd{library_.freeinfo});
  if (hints == nullptr) throw Failure("no memory for libfabric's hints");
  hints->caps = caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  // Freed with the hints.
  if (names.provider != "auto") hints->fabric_attr->prov_name = ::strdup(names.provider.c_str());
  if (names.domain != "auto") hints->domain_attr->name = ::strdup(names.domain.c_str());
  fi_info* found = nullptr;
  const int code = library_.getinfo(kApi, nullptr, nullptr, 0, hints.get(), &found);
  return Info(code == 0 ? found : nullptr, InfoEnd{library_.freeinfo});
}

BareFabric::Info BareFabric::choose(const FabricNames& names) const {
  const auto all = offers(names, FI_MSG);
  for (const bool is_loopback : {true, false}) {  // all ranks are on this host
    for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
      if (!is_wanted(*info, names) || (info->domain_attr->name == std::string("lo")) != is_loopback)
        continue;
      return Info(library_.dupinfo(info), InfoEnd{library_.freeinfo});
    }
  }
  throw Failure("libfabric has no provider for it (ofi_provider = " + names.provider + ")");
}

// The same provider and domain with FI_RMA, if it has that and tells the target of writes.
BareFabric::Info BareFabric::with_writes(const fi_info& chosen) const {
  const FabricNames names{chosen.fabric_attr->prov_name, chosen.domain_attr->name};
  const auto all = offers(names, FI_MSG | FI_RMA);
  for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
    const bool fits = info->domain_attr->cq_data_size >= 4 &&
                      std::string_view(info->domain_attr->name) == chosen.domain_attr->name &&
                      std::string_view(info->fabric_attr->name) == chosen.fabric_attr->name;
    if (fits) return Info(library_.dupinfo(info), InfoEnd{library_.freeinfo});
  }
  return Info(nullptr, InfoEnd{library_.freeinfo});
}

BareFabric::BareFabric(const FabricNames& names, const Buffers& buffers)
    : words_((kSends + kReceives) * 8) {
  const KeptSignals signals;
  load();
  const auto chosen = choose(names);
  const auto writing = with_writes(*chosen);
  writes_ = writing != nullptr && buffers.size_bytes != 0;
  open(writes_ ? *writing : *chosen);
  show(words_.data(), words_.size());
  if (buffers.size_bytes == 0) return;
  show(buffers.source, buffers.size_bytes + (kWindow - 1) * buffers.source_stride);
  for (auto* landing : buffers.landing) show(landing, buffers.size_bytes);
}

void BareFabric::open(fi_info& info) {
  const auto mode = info.domain_attr->mr_mode;
  needs_descriptors_ = (mode & FI_MR_LOCAL) != 0;
  needs_endpoint_ = (mode & FI_MR_ENDPOINT) != 0;
  chooses_keys_ = (mode & FI_MR_PROV_KEY) != 0;
  takes_addresses_ = (mode & FI_MR_VIRT_ADDR) != 0;
  provider_ = info.fabric_attr->prov_name;
  inject_bytes_ = info.tx_attr->inject_size;
  fid_fabric* fabric = nullptr;
  require(library_.fabric(info.fabric_attr, &fabric, nullptr), "opening the fabric");
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  require(::fi_domain(fabric, &info, &domain, nullptr), "opening the domain");
  domain_.reset(domain);
  fi_cq_attr wanted{};
  wanted.size = kQueueSize;
  wanted.format = FI_CQ_FORMAT_DATA;
  wanted.wait_obj = FI_WAIT_NONE;  // both spin
  fid_cq* queue = nullptr;
  require(::fi_cq_open(domain, &wanted, &queue, nullptr), "opening the completion queue");
  queue_.reset(queue);
  fi_av_attr table{};
  table.count = 1;
  fid_av* addresses = nullptr;
  require(::fi_av_open(domain, &table, &addresses, nullptr), "opening the address table");
  addresses_.reset(addresses);
  fid_ep* endpoint = nullptr;
  require(::fi_endpoint(domain, &info, &endpoint, nullptr), "opening the endpoint");
  endpoint_.reset(endpoint);
  require(::fi_ep_bind(endpoint, &addresses->fid, 0), "binding the address table");
  require(::fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "binding the queue");
  require(::fi_enable(endpoint), "enabling the endpoint");
}

void BareFabric::show(std::byte* memory, std::size_t bytes) {
  if (!needs_descriptors_ && !writes_) return;
  fid_mr* made = nullptr;
  const auto access = FI_SEND | FI_RECV | (writes_ ? FI_WRITE | FI_REMOTE_WRITE : 0);
  require(::fi_mr_reg(domain_.get(), memory, bytes, access, 0, chooses_keys_ ? 0 : ++keys_count_, 0,
                      &made, nullptr),
          "registering memory");
  shown_.push_back({memory, bytes, Handle<fid_mr>(made)});
  if (!needs_endpoint_) return;
  require(::fi_mr_bind(made, &endpoint_->fid, 0), "registering memory");
  require(::fi_mr_enable(made), "registering memory");
}

void* BareFabric::descriptor_of(const std::byte* memory) const noexcept {
  if (!needs_descriptors_) return nullptr;
  for (const auto& shown : shown_)
    if (memory >= shown.begin && memory < shown.begin + shown.bytes)
      return ::fi_mr_desc(shown.region.get());
  return nullptr;
}

BareFabric::Card BareFabric::card() {
  Card mine{};
  mine.is_open = true;
  mine.writes = writes_;
  mine.address_bytes = mine.address.size();
  require(::fi_getname(&endpoint_->fid, mine.address.data(), &mine.address_bytes),
          "asking for the address");
  for (std::size_t slot = 0; slot < kWindow && writes_; ++slot) {
    const auto& shown = shown_[shown_.size() - kWindow + slot];
    mine.keys[slot] = ::fi_mr_key(shown.region.get());
    mine.places[slot] = takes_addresses_ ? reinterpret_cast<std::uint64_t>(shown.begin) : 0;
  }
  return mine;
}

void BareFabric::connect(const Card& theirs) {
  const int count = ::fi_av_insert(addresses_.get(), theirs.address.data(), 1, &peer_, 0, nullptr);
  if (count != 1) throw Failure("bare libfabric did not take the peer's address");
  peer_keys_ = theirs.keys;
  peer_places_ = theirs.places;
  writes_ = writes_ && theirs.writes;
}

void BareFabric::poll() {
  std::array<fi_cq_data_entry, 32> entries;
  const ssize_t got = ::fi_cq_read(queue_.get(), entries.data(), entries.size());
  if (got == -FI_EAGAIN) return;
  if (got == -FI_EAVAIL) {
    fi_cq_err_entry error{};
    ::fi_cq_readerr(queue_.get(), &error, 0);
    require(-error.err, "at a completion");
  }
  if (got < 0) require(got, "reading completions");
  for (ssize_t i = 0; i < got; ++i) {
    const auto& entry = entries[static_cast<std::size_t>(i)];
    if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
      ++writes_come_.at(entry.data);
    } else {
      static_cast<Operation*>(entry.op_context)->is_pending = false;
    }
  }
}

template <class Call>
void BareFabric::insist(const char* doing, Call call) {
  for (;;) {
    const ssize_t code = call();
    if (code == 0) return;
    if (code != -FI_EAGAIN) require(code, doing);
    poll();
  }
}

BareFabric::Operation& BareFabric::next_send() {
  auto& operation = sends_[sends_count_ % kSends];
  while (operation.is_pending) poll();
  return operation;
}

std::byte* BareFabric::sent_word() {
  next_send();
  return words_.data() + (kReceives + sends_count_ % kSends) * 8;
}

void BareFabric::send(const std::byte* from, std::size_t bytes) {
  auto& operation = next_send();
  operation.is_pending = true;
  ++sends_count_;
  insist("sending", [&, descriptor = descriptor_of(from)] {
    return ::fi_send(endpoint_.get(), from, bytes, descriptor, peer_, &operation.provider);
  });
}

void BareFabric::inject(const std::byte* from, std::size_t bytes) {
  insist("injecting", [&] { return ::fi_inject(endpoint_.get(), from, bytes, peer_); });
}

void BareFabric::write(const std::byte* from, std::size_t bytes, std::size_t landing) {
  auto& operation = next_send();
  operation.is_pending = true;
  ++sends_count_;
  insist("writing", [&, descriptor = descriptor_of(from)] {
    return ::fi_writedata(endpoint_.get(), from, bytes, descriptor, landing, peer_,
                          peer_places_[landing], peer_keys_[landing], &operation.provider);
  });
}

void BareFabric::receive(std::size_t slot, std::byte* into, std::size_t bytes) {
  auto& operation = receives_[slot];
  operation.is_pending = true;
  insist("receiving", [&, descriptor = descriptor_of(into)] {
    return ::fi_recv(endpoint_.get(), into, bytes, descriptor, FI_ADDR_UNSPEC, &operation.provider);
  });
}

bool BareFabric::has_come(std::size_t slot) {
  if (receives_[slot].is_pending) poll();
  return !receives_[slot].is_pending;
}

void BareFabric::await(std::size_t slot) {
  while (receives_[slot].is_pending) poll();
}

void BareFabric::await_write(std::size_t landing) {
  while (writes_come_[landing] == writes_taken_[landing]) poll();
  ++writes_taken_[landing];
}

void BareFabric::await_sends() {
  for (auto& operation : sends_)
    while (operation.is_pending) poll();
}

}  // namespace photon::perf
