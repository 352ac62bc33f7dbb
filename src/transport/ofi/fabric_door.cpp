// Memory that peers touch, and memory of peers, by libfabric.
#include <rdma/fi_rma.h>

#include <utility>

#include <photon/memory.h>

#include "transport/ofi/lib_fabric.hpp"
#include "transport/ofi/provider_codes.hpp"

namespace photon::transport::ofi {

namespace {

class LibDoor final : public Door {
 public:
  explicit LibDoor(LibFabric& fabric) noexcept : fabric_(fabric) {}
  base::Result<> open() { return fabric_.open_endpoint(endpoint_, address_); }

  std::span<const std::byte> address() const noexcept override { return address_; }
  Taken write(std::uint64_t to, std::span<const std::byte> source, const Place& place,
              Operation& operation) noexcept override {
    iovec own{const_cast<std::byte*>(source.data()), source.size()};
    return post(::fi_writemsg, FI_DELIVERY_COMPLETE, to, Piece(own, place), operation);
  }
  Taken read_from(std::uint64_t to, std::span<std::byte> destination, const Place& place,
                  Operation& operation) noexcept override {
    iovec own{destination.data(), destination.size()};
    return post(::fi_readmsg, 0, to, Piece(own, place), operation);
  }

 private:
  struct Piece {
    Piece(const iovec& its_own, const Place& place) noexcept
        : own(its_own), theirs{place.address, its_own.iov_len, place.key} {}
    iovec own;
    fi_rma_iov theirs;
  };
  template <class Post>
  Taken post(Post call, std::uint64_t flags, std::uint64_t to, const Piece& piece,
             Operation& operation) noexcept {
    fi_msg_rma posted{};
    posted.msg_iov = &piece.own;
    posted.iov_count = 1;
    posted.addr = to;
    posted.rma_iov = &piece.theirs;
    posted.rma_iov_count = 1;
    posted.context = &operation.provider;
    const ssize_t code = call(endpoint_.get(), &posted, flags | FI_COMPLETION);
    fabric_.keep_words(code);
    return taken_piece(code);
  }

  LibFabric& fabric_;
  std::vector<std::byte> address_;
  Handle<fid_ep> endpoint_;
};

}  // namespace

base::Result<std::unique_ptr<Door>> LibFabric::open_door() {
  if (!traits_.has_doors) return no_doors();
  auto made = std::make_unique<LibDoor>(*this);
  if (auto opened = made->open(); !opened) return std::move(opened.error());
  return std::unique_ptr<Door>(std::move(made));
}

base::Result<Exposed> LibFabric::expose(const Exposure& wanted) {
  if (!traits_.has_doors) return no_doors();
  const auto memory = wanted.memory;
  const std::uint64_t access = ((wanted.access & PH_ACCESS_READ) != 0 ? FI_REMOTE_READ : 0) |
                               ((wanted.access & PH_ACCESS_WRITE) != 0 ? FI_REMOTE_WRITE : 0);
  fid_mr* made = nullptr;
  const int code = ::fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0,
                               chooses_keys_ ? 0 : wanted.key, 0, &made, nullptr);
  if (code != 0) return error("exposing memory to peers", code);
  return Exposed{.handle = reinterpret_cast<std::uintptr_t>(made),
                 .begin = names_addresses_ ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0,
                 .key = ::fi_mr_key(made)};
}

void LibFabric::conceal(const Exposed& exposed) noexcept { hide(exposed.handle); }

}  // namespace photon::transport::ofi
