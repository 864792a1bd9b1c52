// Lines of JSON, written to a file that has its name only when it is whole.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "failure.h"

namespace csg {

class JsonLine {
 public:
  JsonLine& add(const char* name, const std::string& value) { return raw(name, quoted(value)); }
  JsonLine& add(const char* name, const char* value) { return raw(name, quoted(value)); }
  JsonLine& add(const char* name, std::int64_t value) { return raw(name, std::to_string(value)); }
  JsonLine& add(const char* name, int value) { return raw(name, std::to_string(value)); }

  JsonLine& add(const char* name, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6f", value);
    return raw(name, text);
  }

  JsonLine& add(const char* name, const JsonLine& value) { return raw(name, value.text()); }

  std::string text() const { return "{" + text_ + "}"; }

 private:
  JsonLine& raw(const char* name, const std::string& value) {
    text_ += (text_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
    return *this;
  }

  static std::string quoted(const std::string& value) {
    std::string text = "\"";
    for (const char each : value) {
      const unsigned char code = static_cast<unsigned char>(each);
      if (each == '"' || each == '\\') text += '\\';
      if (code >= 0x20) {
        text += each;
      } else {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
        text += escaped;
      }
    }
    return text + "\"";
  }

  std::string text_;
};

class JsonFile {
 public:
  explicit JsonFile(const std::string& path) : path_(path), file_(path + ".tmp") {
    if (!file_) throw failed(path + " cannot be written");
  }

  void line(const JsonLine& line) { file_ << line.text() << '\n'; }

  void close() {
    file_.close();
    if (!file_ || std::rename((path_ + ".tmp").c_str(), path_.c_str()) != 0) {
      throw failed(path_ + " cannot be written");
    }
  }

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace csg
