// What ends the program on purpose: a message of one line and an exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace csg {

enum ExitCode {
  kFailed = 1,
  kBadArguments = 2,  // of the command line or the schedule
  kNoGpu = 77,
  kWrongDevice = 78,  // fewer devices than needed, or not the kind it was compiled for
  kNoCollectives = 79,
  kHangs = 124,
};

class Failure : public std::runtime_error {
 public:
  Failure(int exit_code, const std::string& what) : std::runtime_error(what), code(exit_code) {}
  const int code;
};

inline Failure failed(const std::string& what) { return Failure(kFailed, what); }
inline Failure bad(const std::string& what) { return Failure(kBadArguments, what); }

}  // namespace csg
