// Folds by the instructions that every processor of the architecture has.
#include "fold/table.hpp"

namespace photon::fold {

namespace {

constexpr Table kBaselineFolds = table_of<Baseline>();

}  // namespace

const Table& baseline_folds() noexcept { return kBaselineFolds; }

}  // namespace photon::fold
