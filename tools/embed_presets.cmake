# cmake -DPRESETS=presets -DOUTPUT=presets.cc -P embed_presets.cmake
# Writes the tables of engine/preset_table.h: one row a JSON file, sorted by file name, the JSON without its
# indentation. A row's detail is a model's "parameters" and an accelerator's "vendor".

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
  file(APPEND ${OUTPUT}.tmp "static constexpr PresetRow ${function}_rows[] = {\n")
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
    set(row "  {")
    foreach(text id name detail json family)
      string(APPEND row "R\"preset(${${text}})preset\",\n   ")
    endforeach()
    file(APPEND ${OUTPUT}.tmp "${row}},\n")
  endforeach()
  file(APPEND ${OUTPUT}.tmp "};\nstd::span<const PresetRow> ${function}() { return ${function}_rows; }\n\n")
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
