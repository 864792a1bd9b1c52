// The command line.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "failure.h"

namespace csg {

struct Options {
  std::string schedule, out, rendezvous;
  int rank = -1;
  int device = -1;  // the rank's number on its host
  bool gemm = false;
  int gemm_side = 2048;
  bool mock = false;
  long mock_us = 500;  // where the schedule does not say how long
  int mock_blocks = 16;
  bool stamps = true;
  bool markers = true;
  bool collect = true;
  long timeout_s = 120;
};

// Of a matrix: a tile of 128 * 128 at least, and places that an int can hold.
constexpr int kLeastSide = 128, kMostSide = 16384;

constexpr const char* kUsage =
    "usage: commscope-gen --schedule FILE --rank N --out FOLDER [--rendezvous FOLDER]\n"
    "  [--compute spin|gemm] [--gemm-n ROWS] [--comm real|mock] [--mock-us US]\n"
    "  [--mock-blocks N] [--truth stamps|none] [--collector auto|none] [--device D]\n"
    "  [--markers auto|none] [--timeout S]\n";

class OptionReader {
 public:
  OptionReader(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      if (name.rfind("--", 0) != 0) throw bad("'" + name + "' is no option");
      if (i + 1 == argc) throw bad("option " + name + " has no value");
      given_[name] = argv[i + 1];
    }
  }

  Options read() {
    Options o;
    o.schedule = needed("--schedule");
    o.out = needed("--out");
    o.rank = static_cast<int>(number("--rank", -1, 0));
    if (o.rank < 0) throw bad("option --rank is missing");
    o.rendezvous = text("--rendezvous", o.out);
    o.device = static_cast<int>(number("--device", -1, 0));
    o.gemm = choice("--compute", "spin", "gemm");
    o.gemm_side = static_cast<int>(number("--gemm-n", o.gemm_side, kLeastSide));
    const bool is_power = (o.gemm_side & (o.gemm_side - 1)) == 0;
    if (!is_power || o.gemm_side > kMostSide) {
      throw bad("option --gemm-n is a power of two from 128 to 16384");
    }
    o.mock = choice("--comm", "real", "mock");
    o.mock_us = number("--mock-us", o.mock_us, 0);
    o.mock_blocks = static_cast<int>(number("--mock-blocks", o.mock_blocks, 1));
    o.stamps = !choice("--truth", "stamps", "none");
    o.collect = !choice("--collector", "auto", "none");
    o.markers = !choice("--markers", "auto", "none");
    o.timeout_s = number("--timeout", o.timeout_s, 1);
    if (!given_.empty()) throw bad("there is no option " + given_.begin()->first);
    return o;
  }

 private:
  std::string text(const std::string& name, const std::string& otherwise) {
    const auto found = given_.find(name);
    if (found == given_.end()) return otherwise;
    const std::string value = found->second;
    given_.erase(found);
    return value;
  }

  std::string needed(const std::string& name) {
    const std::string value = text(name, "");
    if (value.empty()) throw bad("option " + name + " is missing");
    return value;
  }

  long number(const std::string& name, long otherwise, long least) {
    const std::string value = text(name, "");
    if (value.empty()) return otherwise;
    char* end = nullptr;
    const long found = std::strtol(value.c_str(), &end, 10);
    if (*end != '\0' || found < least) {
      throw bad("option " + name + " is a number from " + std::to_string(least) + ", not " + value);
    }
    return found;
  }

  // Whether the second of two words was chosen; the first is meant without the option.
  bool choice(const std::string& name, const std::string& first, const std::string& second) {
    const std::string value = text(name, first);
    if (value != first && value != second) {
      throw bad("option " + name + " is " + first + " or " + second + ", not " + value);
    }
    return value == second;
  }

  std::map<std::string, std::string> given_;
};

}  // namespace csg
