// A folder through which the processes of a job give each other small files.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include "clocks.h"
#include "failure.h"

namespace csg {

// What an earlier run left there would be taken for this one's.
inline Failure used_before(const std::string& path) {
  return bad(path + " is of an earlier run: give another folder as --rendezvous, or empty it");
}

// Others see the file only when it is whole.
inline void publish(const std::string& path, const std::string& content) {
  if (std::ifstream(path)) throw used_before(path);
  const std::string unfinished = path + ".tmp";
  std::ofstream file(unfinished, std::ios::binary);
  file << content;
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    throw failed(path + " cannot be written");
  }
}

// Waits for the file; what waits too long is ended by the watchdog.
inline std::string await(const std::string& path) {
  for (;;) {
    std::ifstream file(path, std::ios::binary);
    if (file) return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    sleep_until(monotonic_ns() + kSecond / 200);
  }
}

}  // namespace csg
