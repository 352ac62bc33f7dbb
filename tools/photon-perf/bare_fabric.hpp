// A bare libfabric endpoint of this process and the peer's address: what the limit programs of
// transport ofi stand on. Included by what is built with libfabric's headers only.
// Invariant: an operation's slot is used again when its completion was read; completions are never
// more than operations and the queue has room for all of them.
// Owner: FabricLimits.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "limit_fabric.hpp"

namespace photon::perf {

class BareFabric {
 public:
  static constexpr std::size_t kReceives = 512;  // slots, and so many messages may be under way
  static constexpr std::size_t kSends = 512;

  // Opens an endpoint and shows it the row's memory. Throws Failure.
  BareFabric(const FabricNames& names, const Buffers& buffers);

  // What the peer needs to reach this side.
  struct Card {
    bool is_open;
    bool writes;
    std::size_t address_bytes;
    std::array<std::byte, 96> address;
    std::array<std::uint64_t, kWindow> keys;
    std::array<std::uint64_t, kWindow> places;
  };
  Card card();
  void connect(const Card& theirs);

  const std::string& provider() const noexcept { return provider_; }
  std::size_t inject_bytes() const noexcept { return inject_bytes_; }
  bool writes() const noexcept { return writes_; }  // both have FI_RMA and say when it is over

  // A message from `source`, `landing` or a word; returns when the provider has taken it.
  void send(const std::byte* from, std::size_t bytes);
  void inject(const std::byte* from, std::size_t bytes);
  void write(const std::byte* from, std::size_t bytes, std::size_t landing);
  // Messages go into the posted slots one after the other.
  void receive(std::size_t slot, std::byte* into, std::size_t bytes);
  void await(std::size_t slot);           // the message in that slot
  bool has_come(std::size_t slot);        // asks the provider once
  void await_write(std::size_t landing);  // of the peer, into this landing
  void progress() { poll(); }
  void await_sends();  // nothing is the provider's any more
  // 8 bytes for each slot of sends and of receives.
  std::byte* sent_word();  // of the next send, whose slot is free
  std::byte* received_word(std::size_t slot) noexcept { return words_.data() + slot * 8; }

 private:
  struct Library {
    decltype(&::fi_getinfo) getinfo = nullptr;
    decltype(&::fi_freeinfo) freeinfo = nullptr;
    decltype(&::fi_dupinfo) dupinfo = nullptr;
    decltype(&::fi_fabric) fabric = nullptr;
    decltype(&::fi_strerror) strerror = nullptr;
  };
  struct InfoEnd {
    decltype(&::fi_freeinfo) end = nullptr;
    void operator()(fi_info* info) const noexcept { end(info); }
  };
  using Info = std::unique_ptr<fi_info, InfoEnd>;
  struct FidEnd {
    template <class Fid>
    void operator()(Fid* fid) const noexcept {
      ::fi_close(&fid->fid);
    }
  };
  template <class Fid>
  using Handle = std::unique_ptr<Fid, FidEnd>;
  struct Operation {
    fi_context2 provider{};
    bool is_pending = false;
  };
  struct Shown {
    const std::byte* begin;
    std::size_t bytes;
    Handle<fid_mr> region;
  };

  void load();
  Info offers(const FabricNames& names, std::uint64_t caps) const;
  Info choose(const FabricNames& names) const;
  Info with_writes(const fi_info& chosen) const;
  void open(fi_info& info);
  void show(std::byte* memory, std::size_t bytes);
  void* descriptor_of(const std::byte* memory) const noexcept;
  void poll();
  Operation& next_send();
  void require(ssize_t code, const char* doing) const;
  // Until the provider takes it.
  template <class Call>
  void insist(const char* doing, Call call);

  Library library_;
  std::string provider_;
  std::size_t inject_bytes_ = 0;
  bool writes_ = false;
  bool needs_descriptors_ = false;
  bool needs_endpoint_ = false;
  bool chooses_keys_ = false;
  bool takes_addresses_ = false;
  std::uint64_t keys_count_ = 0;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  std::array<std::uint64_t, kWindow> peer_keys_{};
  std::array<std::uint64_t, kWindow> peer_places_{};

  Handle<fid_fabric> fabric_;
  Handle<fid_domain> domain_;
  Handle<fid_cq> queue_;
  Handle<fid_av> addresses_;
  std::vector<std::byte> words_;
  std::vector<Operation> sends_{kSends};
  std::vector<Operation> receives_{kReceives};
  std::array<std::uint64_t, kWindow> writes_come_{};
  std::array<std::uint64_t, kWindow> writes_taken_{};
  std::uint64_t sends_count_ = 0;
  std::vector<Shown> shown_;
  Handle<fid_ep> endpoint_;  // last: ends before what it was bound to
};

}  // namespace photon::perf
