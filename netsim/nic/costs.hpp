// The settings' costs as picoseconds. Invariant: never changed. Owner: one card.
#pragma once

#include <algorithm>

#include "netsim/nic/settings.hpp"

namespace photon::netsim::nic {

struct Costs {
  explicit Costs(const Settings& s)
      : pcie(time_of_ns(s.pcie_ns)),
        dma_read(time_of_ns(s.dma_read_ns)),
        per_packet(time_of_ns(s.packet_ns)),
        lookup(time_of_ns(s.lookup_ns)),
        registration(time_of_ns(s.registration_ns)),
        poll(time_of_ns(s.poll_ns)),
        cq(time_of_ns(s.cq_ns)),
        dma_ps_per_byte(1000.0 / (s.dma_GBps == 0 ? 1.5 * s.link_GBps : s.dma_GBps)),
        copy_ps_per_byte(1000.0 / s.memcpy_GBps),
        buffers(s.buffers_per_peer),
        mtu(s.mtu),
        small(std::min(s.mtu, std::max(kControlBytes, s.flit_bytes))) {}

  Time dma(std::uint32_t bytes) const { return rounded_ps(bytes * dma_ps_per_byte); }
  Time copy(std::uint32_t bytes) const { return rounded_ps(bytes * copy_ps_per_byte); }
  std::uint32_t packets_of(std::uint32_t bytes) const {
    return bytes <= mtu ? 1 : static_cast<std::uint32_t>((std::uint64_t{bytes} + mtu - 1) / mtu);
  }
  std::uint32_t bytes_of(const Packet& packet) const {
    const std::uint64_t before = std::uint64_t{packet.index} * mtu;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(mtu, packet.message_bytes - before));
  }
  // Packets that are read ahead: one waits for the port, one is being read, and so many more are
  // asked for as a read's latency hides.
  std::uint32_t read_ahead() const {
    return static_cast<std::uint32_t>(2 + dma_read / std::max<Time>(1, dma(mtu)));
  }

  Time pcie;
  Time dma_read;
  Time per_packet;
  Time lookup;
  Time registration;
  Time poll;
  Time cq;
  double dma_ps_per_byte;
  double copy_ps_per_byte;
  std::uint32_t buffers;
  std::uint32_t mtu;
  std::uint32_t small;  // up to this a message leaves like a control packet
};

}  // namespace photon::netsim::nic
