#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace vram::accuracy {

using nlohmann::json;

/// Reads a JSON array of cases. Null where the file is not one; `error` then says why.
json read_cases(const std::string& path, std::string* error);

// Fields of a case; "model.layers" looks inside. Absent, null, or of another type: the neutral value.
const json* find(const json& object, std::string_view path);
std::string text(const json& object, std::string_view path);
double number(const json& object, std::string_view path);  // a number given as text ("4") counts
std::optional<bool> flag(const json& object, std::string_view path);

}  // namespace vram::accuracy
