#include "netsim/run/settings.hpp"

#include <algorithm>
#include <charconv>

#include "netsim/run/keys.hpp"

namespace photon::netsim {
namespace {

Error bad(std::string_view key, std::string_view value, std::string_view allowed) {
  return {std::string(key) + " = " + std::string(value) + ": allowed is " + std::string(allowed)};
}

std::string as_text(double value) {  // six digits
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  return {text, end};
}

// Adaptive routings add to twice a queue's length in 32 bits.
constexpr std::uint64_t kMostBufferFlits = std::uint64_t{1} << 30;

// What is wrong with sizes, or nothing.
std::string bad_size(const Settings& s) {
  const auto wrong = [](const char* key, std::uint64_t value, const std::string& allowed) {
    return bad(key, std::to_string(value), allowed).what;
  };
  const std::uint64_t whole = std::uint64_t{s.packet_bytes} + s.header_bytes;
  const std::uint64_t flits = flits_of(whole, s.flit_bytes);
  if (flits_of(s.buffer_bytes, s.flit_bytes) > kMostBufferFlits) {
    return wrong("network.buffer_bytes", s.buffer_bytes, "up to 2^30 flits");
  }
  if (flits > 65535) return wrong("network.packet_bytes", s.packet_bytes, "up to 65535 flits");
  if (flits > flits_of(s.buffer_bytes, s.flit_bytes)) {
    return wrong("network.packet_bytes", s.packet_bytes,
                 "up to network.buffer_bytes = " + std::to_string(s.buffer_bytes));
  }
  if (s.nic.mtu > s.packet_bytes) {
    return wrong("nic.mtu", s.nic.mtu,
                 "up to network.packet_bytes = " + std::to_string(s.packet_bytes));
  }
  // Control packets have to fit as well.
  if (s.nic.protocol != "bare" && s.packet_bytes < nic::kControlBytes) {
    return wrong("network.packet_bytes", s.packet_bytes,
                 "8 B and more with nic.protocol = " + s.nic.protocol);
  }
  return {};
}

}  // namespace

Settings with_defaults(Settings settings) {
  const double half_more = 1.5 * settings.link_GBps;
  if (settings.crossbar_GBps == 0) settings.crossbar_GBps = half_more;
  if (settings.nic.dma_GBps == 0) settings.nic.dma_GBps = half_more;
  if (settings.nic.mtu == 0) settings.nic.mtu = settings.packet_bytes;
  settings.nic.link_GBps = settings.link_GBps;
  settings.nic.flit_bytes =
      settings.flit_bytes - std::min(settings.flit_bytes, settings.header_bytes);
  settings.motif = with_defaults(std::move(settings.motif));
  return settings;
}

Result<Rounded> parameters_of(const Settings& s, std::uint32_t vcs) {
  const double crossbar = with_defaults(s).crossbar_GBps;
  for (const Key& key : keys()) {  // settings may have been written without with()
    const auto allowed = with(s, key, text_of(value_of(s, key)));
    if (!allowed) return Error{allowed.error()};
  }
  if (crossbar < s.link_GBps) {
    return bad("network.crossbar_GBps", as_text(crossbar), "the link's rate and more");
  }
  if (std::string wrong = bad_size(s); !wrong.empty()) return Error{wrong};
  const FlitTime link = flit_time(s.flit_bytes, s.link_GBps);
  const FlitTime through = flit_time(s.flit_bytes, crossbar);
  const auto packet_flits = static_cast<std::uint32_t>(
      flits_of(std::uint64_t{s.packet_bytes} + s.header_bytes, s.flit_bytes));
  Rounded rounded;
  Parameters& p = rounded.parameters;
  p.flit_ps = link.ps;
  p.crossbar_ps = through.ps;
  p.link_ps = time_of_ns(s.link_ns);
  p.input_ps = time_of_ns(s.input_ns);
  p.output_ps = time_of_ns(s.output_ns);
  p.buffer_flits = static_cast<std::uint32_t>(flits_of(s.buffer_bytes, s.flit_bytes));
  p.card_flits = s.nic.protocol == "bare" ? p.buffer_flits : packet_flits;
  p.vcs = s.vcs == 0 ? vcs : s.vcs;
  p.is_delivered_at_tail = s.delivery == "tail";
  p.seed = s.seed;
  const double worst = link.error > through.error ? link.error : through.error;
  if (worst > 0.001) {
    rounded.note = "a flit takes " + std::to_string(link.ps) + " ps on a link and " +
                   std::to_string(through.ps) + " ps in the crossbar: rounding to whole " +
                   "picoseconds changed a rate by " + as_text(100 * worst) + "%";
  }
  return rounded;
}

}  // namespace photon::netsim
