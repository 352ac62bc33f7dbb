#include "netsim/command/paper_claims.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace photon::netsim::command {
namespace {

// A number of the paper and ours agree if they differ by at most a tenth. "Little" is at most a
// tenth too, "much" is a half and more.
constexpr double kNear = 0.1;
constexpr double kMuch = 1.5;

double time_of(const PaperCell& cell) { return static_cast<double>(cell.last_ps); }

bool is_near(double value, double papers) {
  return value >= papers * (1 - kNear) && value <= papers * (1 + kNear);
}

// A form of the motif and the card beside rvma.
struct Sides {
  const PaperMatrix& matrix;
  std::vector<PaperCell> places;
  std::string side;

  std::vector<double> speed_ups(const std::function<bool(const PaperCell&)>& is_meant) const {
    std::vector<double> all;
    for (const PaperCell& place : places) {
      if (is_meant(place)) all.push_back(speed_up_at(matrix, place, side));
    }
    return all;
  }
};

// Nothing where no cell is meant.
using Measure = std::function<std::optional<double>(const Sides&)>;

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> mean_speed_up(const Sides& sides) {
  return mean_of(sides.speed_ups([](const PaperCell&) { return true; }));
}

std::optional<double> least_speed_up_today(const Sides& sides) {
  const auto all = sides.speed_ups([](const PaperCell& place) { return place.Gbps <= 400; });
  if (all.empty()) return {};
  return *std::min_element(all.begin(), all.end());
}

Measure speed_up_on(const char* topology, const char* routing, std::uint32_t Gbps) {
  return [=](const Sides& sides) {
    return mean_of(sides.speed_ups([&](const PaperCell& place) {
      return place.topology == topology && place.routing == routing && place.Gbps == Gbps;
    }));
  };
}

using AreMeant = std::function<bool(const PaperCell&, const PaperCell&)>;

// The greatest ratio of times of two places that `are_meant`, of the same card and rate.
double greatest_ratio(const Sides& sides, std::string_view side, std::uint32_t Gbps,
                      const AreMeant& are_meant) {
  double most = 1;
  for (const PaperCell& one : sides.places) {
    for (const PaperCell& other : sides.places) {
      if (one.Gbps != Gbps || other.Gbps != Gbps || !are_meant(one, other)) continue;
      most = std::max(
          most, time_of(*sides.matrix.find(one, side)) / time_of(*sides.matrix.find(other, side)));
    }
  }
  return most;
}

// Of the card beside rvma and of rvma.
std::pair<double, double> greatest_ratios(const Sides& sides, std::uint32_t Gbps,
                                          const AreMeant& are_meant) {
  return {greatest_ratio(sides, sides.side, Gbps, are_meant),
          greatest_ratio(sides, kRvma, Gbps, are_meant)};
}

std::optional<double> most_by_routing(const Sides& sides) {
  double most = 1;
  for (const std::uint32_t Gbps : kRates) {
    const auto [one, other] = greatest_ratios(
        sides, Gbps, [](const auto& a, const auto& b) { return a.topology == b.topology; });
    most = std::max({most, one, other});
  }
  return most;
}

Measure least_by_topology(std::uint32_t Gbps) {
  return [Gbps](const Sides& sides) -> std::optional<double> {
    const auto [one, other] = greatest_ratios(sides, Gbps, [](const auto& a, const auto& b) {
      return a.routing == "static" && b.routing == "static";
    });
    return std::min(one, other);
  };
}

Claim claim_of(const PaperMatrix& matrix, Claim claim, const Measure& measure,
               const std::function<bool(double)>& holds) {
  for (const std::string& form : matrix.forms) {
    for (const char* side : kSides) {
      const auto places = matrix.places_of(form);
      const bool is_there = matrix.find(places.front(), side) != nullptr;
      if (!is_there || std::string_view(side) == kRvma) continue;
      const auto value = measure({matrix, places, side});
      if (value) claim.findings.push_back({form, side, *value, holds(*value)});
    }
  }
  return claim;
}

Claim near_claim(const PaperMatrix& matrix, const char* words, double papers,
                 const Measure& measure) {
  return claim_of(matrix, {words, "within 10% of it", {}}, measure,
                  [papers](double value) { return is_near(value, papers); });
}

std::vector<Claim> claims_of_sweep(const PaperMatrix& matrix) {
  return {
      near_claim(matrix, "the mean speed-up over all topologies and rates is 3.56", 3.56,
                 mean_speed_up),
      claim_of(matrix,
               {"on contemporary networks (100 to 400 Gbps) the speed-up is at least 2",
                "the least is 2 or more",
                {}},
               least_speed_up_today, [](double value) { return value >= 2; }),
      near_claim(matrix, "on the adaptive dragonfly at 2 Tbps the speed-up is 4.4", 4.4,
                 speed_up_on("dragonfly", "ugal", 2000)),
      claim_of(matrix,
               {"most routings perform alike: routing matters little",
                "the greatest ratio of times of two routings of a topology, of the same card and "
                "rate, is at most 1.1",
                {}},
               most_by_routing, [](double value) { return value <= 1 + kNear; }),
  };
}

std::vector<Claim> claims_of_halo(const PaperMatrix& matrix) {
  std::vector<Claim> claims{
      near_claim(matrix, "the mean speed-up over all topologies and rates is 1.57", 1.57,
                 mean_speed_up),
      near_claim(matrix, "on HyperX with dimension order at 400 Gbps the speed-up is 1.64", 1.64,
                 speed_up_on("hyperx", "static", 400)),
      near_claim(matrix, "on HyperX with dimension order at 2 Tbps the speed-up is 1.89", 1.89,
                 speed_up_on("hyperx", "static", 2000)),
  };
  for (const std::uint32_t Gbps : kRates) {
    claims.push_back(claim_of(
        matrix,
        {"topology matters much: at " + std::to_string(Gbps) + " Gbps",
         "the slowest topology takes at least 1.5 times as long as the fastest one, with either "
         "card and static routing",
         {}},
        least_by_topology(Gbps), [](double value) { return value >= kMuch; }));
  }
  return claims;
}

}  // namespace

std::string Claim::verdict() const {
  std::string with;
  bool holds = true;
  for (std::size_t i = 0; i < findings.size();) {
    std::string sides;
    bool is_each = true;
    const std::string& form = findings[i].form;
    for (; i < findings.size() && findings[i].form == form; ++i) {
      is_each = is_each && findings[i].holds;
      if (findings[i].holds) sides += (sides.empty() ? "" : ", ") + findings[i].side;
    }
    holds = holds && is_each;
    if (sides.empty()) continue;
    with += (with.empty() ? "" : "; ") + form + " against " + (is_each ? "each card" : sides);
  }
  if (holds) return "confirmed";
  return with.empty() ? "not confirmed" : "only with " + with;
}

double Claim::least() const {
  double value = findings.front().value;
  for (const Finding& finding : findings) value = std::min(value, finding.value);
  return value;
}

double Claim::most() const {
  double value = findings.front().value;
  for (const Finding& finding : findings) value = std::max(value, finding.value);
  return value;
}

double speed_up_at(const PaperMatrix& matrix, const PaperCell& place, std::string_view side) {
  return time_of(*matrix.find(place, side)) / time_of(*matrix.find(place, kRvma));
}

std::vector<Claim> claims_of(const PaperMatrix& matrix) {
  return matrix.figure == 7 ? claims_of_sweep(matrix) : claims_of_halo(matrix);
}

}  // namespace photon::netsim::command
