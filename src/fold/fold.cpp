#include "fold/fold.hpp"

#include "fold/table.hpp"

namespace photon::fold {

namespace {

struct Type {
  const char* name;
  std::size_t element_bytes;
};

constexpr std::array<Type, PH_BYTES> kTypes{{{"int32", 4},
                                             {"uint32", 4},
                                             {"int64", 8},
                                             {"uint64", 8},
                                             {"float", sizeof(float)},
                                             {"double", sizeof(double)},
                                             {"int8", 1},
                                             {"uint8", 1},
                                             {"int16", 2},
                                             {"uint16", 2},
                                             {"half", sizeof(Half)},
                                             {"bfloat16", sizeof(Bfloat)},
                                             {"long_double", sizeof(Extended)},
                                             {"complex_float", sizeof(Complex<float>)},
                                             {"complex_double", sizeof(Complex<double>)},
                                             {"complex_long_double", sizeof(Complex<Extended>)},
                                             {"float_int", sizeof(Located<float>)},
                                             {"double_int", sizeof(Located<double>)},
                                             {"int32_int", sizeof(Located<std::int32_t>)},
                                             {"int64_int", sizeof(Located<std::int64_t>)},
                                             {"bytes", 1}}};

constexpr std::array<const char*, PH_OP_MAXLOC> kOps{
    "add", "swap",     "compare_swap", "min",        "max",         "and",    "or",
    "xor", "multiply", "logical_and",  "logical_or", "logical_xor", "minloc", "maxloc"};

// Numbers begin at 1; what no name has becomes an index beyond all.
template <class Number>
std::size_t index_of(Number number) noexcept {
  return static_cast<std::size_t>(number) - 1;
}

const Table& folds_of(Isa isa) noexcept {
  switch (isa) {
    case Isa::avx512: return avx512_folds();
    case Isa::avx2: return avx2_folds();
    case Isa::baseline: break;
  }
  return baseline_folds();
}

}  // namespace

std::size_t element_bytes_of(ph_type type) noexcept {
  const std::size_t index = index_of(type);
  return index < kTypes.size() ? kTypes[index].element_bytes : 0;
}

const char* name_of(ph_type type) noexcept {
  const std::size_t index = index_of(type);
  return index < kTypes.size() ? kTypes[index].name : "unknown";
}

const char* name_of(ph_op op) noexcept {
  const std::size_t index = index_of(op);
  return index < kOps.size() ? kOps[index] : "unknown";
}

Fold find(ph_type type, ph_op op, Isa isa) noexcept {
  const Table& folds = folds_of(isa);
  const std::size_t row = index_of(type), column = index_of(op);
  return row < folds.size() && column < kOps.size() ? folds[row][column] : nullptr;
}

}  // namespace photon::fold
