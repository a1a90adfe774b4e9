# cmake -DPRESETS=presets -DOUTPUT=presets.cc [-DFIGURES_ONLY=ON] -P embed_presets.cmake
# Writes the tables of engine/preset_table.h: one row a JSON file, sorted by file name, the JSON without its
# indentation. As one text a table, in which everything stands once: on the page a row of pointers would weigh as much
# as what they point to. A row's detail is a model's "parameters" and an accelerator's "vendor". FIGURES_ONLY leaves out
# where the figures are from.

function(write_table folder function detail_key)
  file(GLOB files ${PRESETS}/${folder}/*.json)
  list(LENGTH files count)
  if(count EQUAL 0)
    file(APPEND ${OUTPUT}.tmp "std::span<const PresetRow> ${function}() { return {}; }\n\n")
    return()
  endif()
  file(APPEND ${OUTPUT}.tmp "static constexpr char ${function}_text[] =\n")
  foreach(path ${files})
    file(READ ${path} json)
    string(JSON type ERROR_VARIABLE fault TYPE "${json}")
    if(fault)
      message(FATAL_ERROR "${path}: ${fault}")
    endif()
    string(REGEX REPLACE "[\r\n][ \t\r\n]*" "" json "${json}")
    if(FIGURES_ONLY)
      string(REGEX REPLACE "\"(note|source)\": \"([^\"\\]|\\\\.)*\",?|\"sources\": {[^}]*},?" "" json "${json}")
      string(REPLACE ",}" "}" json "${json}")
    endif()
    if(NOT json MATCHES "^{\"id\": \"[^\"\\]+\",\"name\": \"[^\"\\]+\",")
      message(FATAL_ERROR "${path}: does not begin with \"id\" and \"name\"")
    endif()
    file(APPEND ${OUTPUT}.tmp "  R\"preset(${json})preset\" \"\\0\"\n")
  endforeach()
  file(APPEND ${OUTPUT}.tmp ";
std::span<const PresetRow> ${function}() {
  static const std::vector<PresetRow> rows = preset_rows({${function}_text, sizeof ${function}_text - 1}, \"${detail_key}\");
  return rows;
}

")
endfunction()

file(WRITE ${OUTPUT}.tmp "// Generated from presets/ by tools/embed_presets.cmake.
#include \"engine/preset_table.h\"

namespace vram {

")
write_table(models model_presets parameters)
write_table(hardware hardware_presets vendor)
write_table(plans plan_presets "")
file(APPEND ${OUTPUT}.tmp "}  // namespace vram\n")
file(RENAME ${OUTPUT}.tmp ${OUTPUT})
