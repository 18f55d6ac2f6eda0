// Rounded tables: cos and sin kept in a small format, or formed of angles that were.
//
//   angle = R_angle(R_angle(p) R_angle(inv_freq_f));   cos' = R_table(cos angle),  sin' = R_table(sin angle)
//
// R is the nearest number that the format holds, ties to even; int8 and int4 hold k / 127 and k / 7. Not a method: it asks
// what a program loses that keeps its tables, or its angles, in half precision.
//
// Source: framework definition.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Rounded {
  Format table = Format::fp64, angle = Format::fp64;

  static constexpr char const* summary = "keeps cos and sin, or their angles, in a small number format";
  static constexpr char const* formula = "R_table(cos R_angle(p inv_freq_f)), likewise sin";

  static std::vector<Example> examples() {
    return {{{{"table", std::string("int8")}}, {}}, {{{"angle", std::string("bf16")}}, {}}};
  }

  static auto schema() {
    return Schema<Rounded>{}
        .choice("table", &Rounded::table, "what cos and sin are kept in; fp64: as they are",
                {{"fp64", Format::fp64},
                 {"fp32", Format::fp32},
                 {"bf16", Format::bf16},
                 {"fp16", Format::fp16},
                 {"int8", Format::int8},
                 {"int4", Format::int4}})
        .choice("angle", &Rounded::angle, "what position, frequency and their product are kept in; fp64: as they are",
                {{"fp64", Format::fp64}, {"fp32", Format::fp32}, {"bf16", Format::bf16}});
  }
  void check(ScalingContext const&) const {
    expect(!table_format().exact(), "rounded rounds nothing: expected table or angle to be another format than fp64");
  }
  TableFormat table_format() const { return {table, angle}; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Rounded, "rounded", "framework definition")
