#include "dataset/format/json_stream.h"

#include <istream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

/// Translates nlohmann's events into ours.
class Sax : public nlohmann::json_sax<nlohmann::json> {
 public:
  Sax(const std::string& name, JsonEvents& events) : name_(name), events_(events) {}

  bool null() override { not_a_number("null"); }
  bool boolean(bool) override { not_a_number("a boolean"); }
  bool string(string_t&) override { not_a_number("a string"); }
  bool binary(binary_t&) override { not_a_number("binary data"); }
  bool number_integer(number_integer_t value) override { return number(double(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(double(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool key(string_t& name) override {
    last_key_ = name;
    events_.key(name, depth_);
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override {
    events_.end_array(depth_--);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) override {
    fail("{}: byte {}: is not JSON: {} can't stand there; copy or download it again", name_, position,
         in_quotes(token));
  }

 private:
  bool number(double value) {
    events_.number(value, depth_);
    return true;
  }
  [[noreturn]] void not_a_number(const char* what) const {
    fail("{}: the value of {} holds {} where a number is needed; correct it", name_, in_quotes(last_key_),
         what);
  }

  const std::string& name_;
  JsonEvents& events_;
  std::string last_key_;
  int depth_ = 0;
};

}  // namespace

void read_json(ByteSource& source, JsonEvents& events) {
  ByteSourceBuffer buffer(source);
  std::istream stream(&buffer);
  stream.exceptions(std::ios::badbit);  // lets our own Error pass through the stream
  Sax sax(source.name(), events);
  nlohmann::json::sax_parse(stream, &sax);
}

}  // namespace atl
