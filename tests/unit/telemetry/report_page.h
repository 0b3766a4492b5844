// Takes a report's page apart, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"

namespace atl {

/// The text between each `begin` and the next `end`, without these.
inline std::vector<std::string> pieces_between(const std::string& text, const std::string& begin,
                                               const std::string& end) {
  std::vector<std::string> pieces;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    pieces.push_back(text.substr(at, text.find(end, at) - at));
  }
  return pieces;
}

/// The page without its scripts and style sheet.
inline std::string markup_of(std::string html) {
  for (const std::string name : {"script", "style"}) {
    const std::string close = "</" + name + ">";
    for (std::size_t at; (at = html.find("<" + name)) != std::string::npos;)
      html.erase(at, html.find(close, at) + close.size() - at);
  }
  return html;
}

/// Checks that every opened element is closed, in order, as browsers need it for SVG and sections.
inline void expect_balanced(const std::string& html) {
  std::vector<std::string> open;
  for (const std::string& tag : pieces_between(markup_of(html), "<", ">")) {
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (name == "meta" || name[0] == '!' || tag.back() == '/') continue;
    if (name[0] != '/') {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << tag;
      ASSERT_EQ("/" + open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

/// The data that the page's script reads; the page holds them once.
inline nlohmann::json data_of(const std::string& html) {
  const auto blocks = pieces_between(html, "<script type=\"application/json\" id=run>", "</script>");
  EXPECT_EQ(blocks.size(), 1u);
  return parse_json(blocks.at(0));
}

}  // namespace atl
