// Memory that both processes have mapped: the sender stores into the landing, or the receiver
// copies out of the source. A flag tells the other side.
#include "copies.hpp"
#include "means.hpp"

namespace photon::perf {
namespace {

// Below this all forms are a few instructions, and one of each kind is enough.
constexpr std::size_t kLeastForAll = 512;

}  // namespace

void add_stores(std::vector<Means>& all, std::size_t size_bytes) {
  for (const auto& form : store_forms()) {
    Means means;
    means.name = std::string(form.name) + " + flag";
    means.family = "store into mapped memory";
    means.send = [copy = form.copy](Channel& channel, std::uint64_t number) {
      copy(channel.shared_landing(number), channel.source(number), channel.size_bytes());
      raise_flag(channel, number);
    };
    means.await = await_flag;
    means.landing = &Channel::shared_landing;
    all.push_back(std::move(means));
    if (size_bytes < kLeastForAll) break;
  }
}

void add_pulls(std::vector<Means>& all, std::size_t size_bytes) {
  for (const auto& form : load_forms()) {
    Means means;
    means.name = std::string("flag + pull by ") + form.name;
    means.family = "pull from mapped memory";
    means.send = raise_flag;
    means.await = await_flag;
    means.fetch = [copy = form.copy](Channel& channel, std::uint64_t number) {
      copy(channel.landing(number), channel.shared_source(number), channel.size_bytes());
    };
    means.source = &Channel::shared_source;
    means.is_fetched = true;
    all.push_back(std::move(means));
    if (size_bytes < kLeastForAll) break;
  }
}

}  // namespace photon::perf
