#include "boot/address_boot.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/resource_limits.hpp"
#include "boot/packet.hpp"
#include "boot/proof.hpp"

namespace photon::boot {

namespace {

std::string rank_text(const AddressBlob& blob) { return "rank " + std::to_string(blob.rank); }

base::Error cannot(const AddressBlob& blob, ph_status status, const std::string& what) {
  return {status, 0, "connect: " + what, blob.rank};
}

base::Result<> check(const Job& job) {
  if (job.size == 0 || job.rank >= job.size)
    return base::Error{PH_ERR_ARGUMENT, 0,
                       "ph_job needs rank < ranks_count, not rank " + std::to_string(job.rank) +
                           " of " + std::to_string(job.size),
                       PH_ANY_RANK};
  if (job.size > kMostRanks)
    return base::Error{PH_ERR_ARGUMENT, 0,
                       "ph_job has at most " + std::to_string(kMostRanks) + " ranks, not " +
                           std::to_string(job.size),
                       PH_ANY_RANK};
  if (job.secret.size() < kLeastSecretBytes || job.secret.size() > kMostSecretBytes)
    return base::Error{PH_ERR_ARGUMENT, 0,
                       "ph_job needs a secret of 16 to 4096 bytes that strangers cannot guess, not "
                       "of " +
                           std::to_string(job.secret.size()),
                       PH_ANY_RANK};
  return can_prove();
}

base::Error no_collectives() {
  return {PH_ERR_STATE, 0,
          "a job by addresses has no collective calls: nobody knows who of its ranks is there; "
          "meet as the addresses were handed around, or by notices",
          PH_ANY_RANK};
}

}  // namespace

base::Result<std::unique_ptr<Boot>> AddressBoot::open(const Job& job, const base::Config& config) {
  if (auto checked = check(job); !checked) return checked.error();
  auto parts = make_parts();
  if (!parts) return parts.error();
  std::unique_ptr<AddressBoot> boot(new AddressBoot(job, std::move(*parts)));
  const Secret secret = job_secret(job.secret);
  if (secret == Secret{})
    return base::Error{PH_ERR_SYSTEM, 0, "the cryptographic library made nothing of the secret",
                       PH_ANY_RANK};
  boot->trust(secret);
  if (auto introduced = boot->introduce(config); !introduced) return introduced.error();
  return std::unique_ptr<Boot>(std::move(boot));
}

base::Result<> AddressBoot::introduce(const base::Config& config) {
  own_.rank = rank();
  own_.size = size();
  own_.endpoint_info = endpoint_info();
  own_.endpoint_info.nonce = {};
  auto listens = open_side_channel(config);
  if (listens) {
    own_.addresses = *listens;
    auto begun = begin_messages(std::vector<Addresses>(size()));
    if (!begun) return begun;
  } else if (const base::Error& why = listens.error(); why.status == PH_ERR_CONFIG ||
                                                       base::is_call_refused(why.native_errno) ||
                                                       why.native_errno == EADDRINUSE) {
    unreachable_ = why;  // those of this host can be met all the same
  } else {
    return listens.error();
  }
  seal(secret(), own_);
  place(rank(), endpoint_info(), true);
  exchange_addresses_by(bytes_of(own_));
  return {};
}

base::Result<std::span<const std::byte>> AddressBoot::address() const { return bytes_of(own_); }

base::Result<Rank> AddressBoot::connect(std::span<const std::byte> address) {
  auto blob = read_blob(address, secret(), size());
  if (!blob) return blob.error();
  if (knows(blob->rank)) {
    if (is_placed_as(blob->rank, blob->endpoint_info)) return blob->rank;
    return cannot(*blob, PH_ERR_BOOTSTRAP,
                  rank_text(*blob) +
                      " is known by another address; was it started again, or are two processes "
                      "called so? A rank's number is used once in a job");
  }
  auto near = is_near(*blob);
  if (!near) return near.error();
  if (!*near)
    if (auto checked = check_route(*blob); !checked) return checked.error();
  keep(*blob, *near);
  return blob->rank;
}

// Who answers to the random name shares kernel and network namespace with us. Who would, and does
// not, has ended, or is on a copy of this virtual machine: its side channel says which.
base::Result<bool> AddressBoot::is_near(const AddressBlob& blob) const {
  if (!says_same_host(endpoint_info(), blob.endpoint_info)) return false;
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return base::system_error("connect: a socket to look for " + rank_text(blob));
  const DatagramName name = datagram_name(blob.endpoint_info);
  if (::connect(socket.get(), name.get(), name.size_bytes) != 0) return false;
  // Numbers of users can be compared where those of processes can.
  if (endpoint_info().pid_namespace != blob.endpoint_info.pid_namespace ||
      endpoint_info().uid == blob.endpoint_info.uid)
    return true;
  return cannot(blob, PH_ERR_BOOTSTRAP,
                rank_text(blob) + " is a process of another user (" +
                    std::to_string(blob.endpoint_info.uid) + ", here " +
                    std::to_string(endpoint_info().uid) +
                    "); the ranks of a job on one host belong to one");
}

// It is not within reach of our socket: is there a way over the network, both ways?
base::Result<> AddressBoot::check_route(const AddressBlob& blob) const {
  const bool is_theirs = !blob.addresses.empty() && !blob.addresses.front().is_loopback();
  if (is_theirs && !own_.addresses.empty() && !own_.addresses.front().is_loopback()) return {};
  if (says_same_host(endpoint_info(), blob.endpoint_info))
    return cannot(blob, PH_ERR_PEER,
                  rank_text(blob) + " has ended: nobody answers at its address on this host");
  const std::string far = rank_text(blob) + " is on another host, and ";
  if (own_.addresses.empty()) return cannot(blob, PH_ERR_CONFIG, far + unreachable_.what);
  if (own_.addresses.front().is_loopback())
    return cannot(blob, PH_ERR_CONFIG,
                  far + "this one listens at " + own_.addresses.text() +
                      ", which no other host can reach (setting tcp_interface)");
  return cannot(blob, PH_ERR_CONFIG,
                far +
                    (blob.addresses.empty()
                         ? "has no network address"
                         : "listens at " + blob.addresses.text() + ", which is within its own") +
                    " (its setting tcp_interface)");
}

void AddressBoot::keep(const AddressBlob& blob, bool near) {
  if (side_channel() != nullptr) side_channel()->set_addresses(blob.rank, blob.addresses);
  place(blob.rank, blob.endpoint_info, near);
}

bool AddressBoot::on_address(Rank from, std::span<const std::byte> bytes, const Secret* key) {
  const bool near = key != nullptr;
  auto blob = read_blob(bytes, secret(), size());
  if (!blob || blob->rank != from) return false;
  if (near && !is_key_of(*key, blob->endpoint_info.name)) return false;
  if (!knows(from)) {
    keep(*blob, near);
    return true;
  }
  if (is_placed_as(from, blob->endpoint_info)) return true;
  if (near) refuse(blob->endpoint_info);  // or it would wait for our answer
  return false;
}

base::Result<> AddressBoot::allgather(std::span<const std::byte> /*mine*/,
                                      std::span<std::byte> /*all*/, const Serve& /*serve*/) {
  return no_collectives();
}

base::Result<> AddressBoot::barrier(const Serve& /*serve*/) { return no_collectives(); }

}  // namespace photon::boot
