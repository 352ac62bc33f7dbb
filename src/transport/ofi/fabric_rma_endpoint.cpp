// Memory that peers touch, and memory of peers, by libfabric.
#include <rdma/fi_rma.h>

#include <utility>

#include <photon/memory.h>

#include "transport/ofi/lib_fabric.hpp"
#include "transport/ofi/ofi_provider_codes.hpp"

namespace photon::transport::ofi {

namespace {

// Where a registration belongs to an endpoint.
int bind(fid_mr& region, fid_ep& endpoint) noexcept {
  const int code = ::fi_mr_bind(&region, &endpoint.fid, 0);
  return code != 0 ? code : ::fi_mr_enable(&region);
}

class LibRmaEndpoint final : public RmaEndpoint {
 public:
  explicit LibRmaEndpoint(LibFabric& fabric) noexcept : fabric_(fabric) {}
  base::Result<> open() { return fabric_.enable(endpoint_); }

  std::span<const std::byte> address() const noexcept override { return endpoint_.address; }
  Taken write(std::uint64_t to, const Buffer& source, const Place& place,
              Operation& operation) noexcept override {
    begin(operation);
    if (operation.data && fabric_.tells_behind())
      return write_and_tell(to, source, place, operation);
    const std::uint64_t tells = operation.data ? FI_REMOTE_CQ_DATA : 0;
    return post(::fi_writemsg, FI_DELIVERY_COMPLETE | tells, to, Fragment(source, place),
                operation);
  }
  Taken read_from(std::uint64_t to, const Buffer& destination, const Place& place,
                  Operation& operation) noexcept override {
    begin(operation);
    return post(::fi_readmsg, 0, to, Fragment(destination, place), operation);
  }
  fid_ep& endpoint() noexcept { return *endpoint_.handle; }

 private:
  struct Fragment {
    Fragment(const Buffer& its_own, const Place& place) noexcept
        : own{its_own.bytes.data(), its_own.bytes.size()},
          descriptor(descriptor_of(its_own.handle)),
          theirs{place.address, own.iov_len, place.key} {}
    iovec own;
    void* descriptor;
    fi_rma_iov theirs;
  };
  static void begin(Operation& operation) noexcept {
    operation.parts = 0;
    operation.has_failed_part = false;
  }
  // Where a target's provider must not end while it has half of a write that tells: the bytes, and
  // behind them a write of nothing, which never comes by halves. Should there be no room for that
  // one, the bytes go without, and the caller tells.
  Taken write_and_tell(std::uint64_t to, const Buffer& source, const Place& place,
                       Operation& operation) noexcept {
    const Taken taken =
        post(::fi_writemsg, FI_DELIVERY_COMPLETE, to, Fragment(source, place), operation);
    if (taken != Taken::yes) return taken;
    const Fragment nothing({source.bytes.first(0), source.handle}, place);
    const std::uint64_t flags = FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA;
    if (post(::fi_writemsg, flags, to, nothing, operation) == Taken::yes)
      operation.parts = kMostParts;
    else
      operation.data.reset();
    return taken;
  }
  template <class Post>
  Taken post(Post call, std::uint64_t flags, std::uint64_t to, Fragment fragment,
             Operation& operation) noexcept {
    fi_msg_rma posted{};
    posted.msg_iov = &fragment.own;
    posted.desc = &fragment.descriptor;
    posted.iov_count = 1;
    posted.addr = to;
    posted.rma_iov = &fragment.theirs;
    posted.rma_iov_count = 1;
    posted.context = &operation.provider;
    posted.data = operation.data.value_or(0);
    const ssize_t code = call(endpoint_.handle.get(), &posted, flags | FI_COMPLETION);
    fabric_.keep_words(code);
    return taken_fragment(code);
  }

  LibFabric& fabric_;
  LibFabric::Endpoint endpoint_;
};

}  // namespace

base::Result<std::unique_ptr<RmaEndpoint>> LibFabric::open_rma_endpoint() {
  if (!traits_.has_rma_endpoints) return no_rma_endpoints();
  auto made = std::make_unique<LibRmaEndpoint>(*this);
  if (auto opened = made->open(); !opened) return std::move(opened.error());
  return std::unique_ptr<RmaEndpoint>(std::move(made));
}

base::Error LibFabric::registration_error(int code) const {
  base::Error made = error("registering memory with provider " + traits_.provider, code);
  made.what += base::locked_memory_advice(made.native_errno, base::locked_memory_limit_bytes());
  if (code == -FI_ENOMEM || code == -FI_EAGAIN || code == -FI_ENOSPC) made.status = PH_ERR_MEMORY;
  return made;
}

base::Result<Handle<fid_mr>> LibFabric::registered(std::span<std::byte> memory,
                                                   std::uint64_t access, std::uint64_t key) {
  fid_mr* made = nullptr;
  const int code = ::fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0,
                               chooses_keys_ ? 0 : key, 0, &made, nullptr);
  if (code != 0) return registration_error(code);
  return Handle<fid_mr>(made);
}

// Where a registration belongs to an endpoint, what fragments use cannot: RMA endpoints come and
// go.
base::Result<std::uint64_t> LibFabric::show(std::span<std::byte> memory, Use use) {
  if (!shows_memory_) return std::uint64_t{0};
  constexpr std::uint64_t kAccess[] = {FI_SEND | FI_RECV, FI_WRITE, FI_READ | FI_WRITE};
  auto region = registered(memory, kAccess[static_cast<std::size_t>(use)], ++keys_count_);
  if (!region) return std::move(region.error());
  const int code = binds_regions_ ? bind(**region, *endpoints_.front().handle) : 0;
  if (code != 0) return registration_error(code);
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(region->release()));
}

void LibFabric::hide(std::uint64_t handle) noexcept {
  const Handle<fid_mr> ends(reinterpret_cast<fid_mr*>(static_cast<std::uintptr_t>(handle)));
}

base::Result<Exposed> LibFabric::expose(const Exposure& wanted, RmaEndpoint& by) {
  if (!traits_.has_rma_endpoints) return no_rma_endpoints();
  const auto memory = wanted.memory;
  const std::uint64_t access = ((wanted.access & PH_ACCESS_READ) != 0 ? FI_REMOTE_READ : 0) |
                               ((wanted.access & PH_ACCESS_WRITE) != 0 ? FI_REMOTE_WRITE : 0);
  auto region = registered(memory, access, wanted.key);
  if (!region) return std::move(region.error());
  const int code = binds_regions_ ? bind(**region, static_cast<LibRmaEndpoint&>(by).endpoint()) : 0;
  if (code != 0) return registration_error(code);
  const std::uint64_t key = ::fi_mr_key(region->get());
  return Exposed{.handle = reinterpret_cast<std::uintptr_t>(region->release()),
                 .begin = names_addresses_ ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0,
                 .key = key};
}

void LibFabric::conceal(const Exposed& exposed) noexcept { hide(exposed.handle); }

}  // namespace photon::transport::ofi
