# cmake -DPRESETS=presets -DOUTPUT=presets.cc -P embed_presets.cmake
# Writes the tables of engine/preset_table.h: one row a JSON file, sorted by file name, the JSON without its
# indentation. As one text a table: on the page a row of pointers would weigh as much as what they point to. A row's detail is a model's "parameters" and an accelerator's "vendor".

function(json_text out json key)
  string(JSON value ERROR_VARIABLE missing GET "${json}" "${key}")
  if(missing)
    set(value "")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

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
    foreach(key id name ${detail_key} family)
      json_text(${key} "${json}" ${key})
    endforeach()
    if(id STREQUAL "" OR name STREQUAL "")
      message(FATAL_ERROR "${path}: without \"id\" or \"name\"")
    endif()
    set(detail "")
    if(detail_key)
      set(detail "${${detail_key}}")
    endif()
    string(REGEX REPLACE "[\r\n][ \t\r\n]*" "" json "${json}")
    foreach(text id name detail json family)
      file(APPEND ${OUTPUT}.tmp "  R\"preset(${${text}})preset\" \"\\0\"\n")
    endforeach()
  endforeach()
  file(APPEND ${OUTPUT}.tmp ";
std::span<const PresetRow> ${function}() {
  static const std::vector<PresetRow> rows = preset_rows({${function}_text, sizeof ${function}_text - 1});
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
