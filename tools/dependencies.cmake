# Third-party code: nlohmann_json (header only), Catch2 and Dear ImGui. None of it is in this repository.
# tools/setup.sh leaves the sources in the cache folder below; where they are not there, FetchContent gets them.

if(DEFINED ENV{XDG_CACHE_HOME})
  set(VRAM_CACHE "$ENV{XDG_CACHE_HOME}/vram-ledger" CACHE PATH "Third-party sources and libraries")
else()
  set(VRAM_CACHE "$ENV{HOME}/.cache/vram-ledger" CACHE PATH "Third-party sources and libraries")
endif()
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

# Sets `out` to the source folder of `name`: the newest in the cache that has `file`, else a download to there.
function(third_party_source out name file url hash)
  file(GLOB found ${VRAM_CACHE}/src/${name}-*/${file})
  if(NOT found)
    set(folder ${VRAM_CACHE}/src/${name}-upstream)
    # SOURCE_SUBDIR names a folder without a CMakeLists.txt: we take the sources, not the project.
    FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${hash} SOURCE_DIR ${folder} SOURCE_SUBDIR none)
    FetchContent_MakeAvailable(${name})
    set(found ${folder}/${file})
  endif()
  list(SORT found COMPARE NATURAL)
  list(GET found -1 newest)
  string(REPLACE /${file} "" newest ${newest})
  set(${out} ${newest} PARENT_SCOPE)
endfunction()

# A static library built once per source version, compiler and flags, and kept in the cache: another clone or
# preset finds it built. IMPORTED where it is there, else built here and copied there when done (and from then on
# used from here: a second configuration relinks nothing).
function(add_cached_library name)
  cmake_parse_arguments(PARSE_ARGV 1 lib "" "SOURCE" "FILES;INCLUDES;OPTIONS")
  string(SHA256 key "${lib_SOURCE}|${lib_FILES}|${lib_OPTIONS}|${CMAKE_CXX_FLAGS}|${CMAKE_CXX_COMPILER}|\
${CMAKE_CXX_COMPILER_VERSION}|${EMSCRIPTEN_VERSION}|${CMAKE_SYSTEM_PROCESSOR}")
  string(SUBSTRING ${key} 0 16 key)
  set(kept ${VRAM_CACHE}/lib/${name}-${key}.a)
  if(EXISTS ${kept} AND NOT EXISTS ${PROJECT_BINARY_DIR}/lib${name}.a)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${kept})
  else()
    list(TRANSFORM lib_FILES PREPEND ${lib_SOURCE}/)
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${lib_FILES})
    target_compile_options(${name} PRIVATE ${lib_OPTIONS})
    target_include_directories(${name} PRIVATE ${lib_INCLUDES})
    string(MD5 draft ${PROJECT_BINARY_DIR})
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${VRAM_CACHE}/lib
      COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${name}> ${kept}.${draft}
      COMMAND ${CMAKE_COMMAND} -E rename ${kept}.${draft} ${kept})
  endif()
  target_include_directories(${name} SYSTEM INTERFACE ${lib_INCLUDES})
endfunction()

# --- nlohmann_json: through a link of its own, so that Emscripten does not see the rest of /usr/include --------
find_path(VRAM_JSON_INCLUDE nlohmann/json.hpp PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH)
if(VRAM_JSON_INCLUDE)
  set(json_include ${PROJECT_BINARY_DIR}/include)
  file(MAKE_DIRECTORY ${json_include})
  file(CREATE_LINK ${VRAM_JSON_INCLUDE}/nlohmann ${json_include}/nlohmann SYMBOLIC)
else()
  third_party_source(json_source nlohmann_json include/nlohmann/json.hpp
    https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
  set(json_include ${json_source}/include)
endif()
add_library(nlohmann_json INTERFACE)
target_include_directories(nlohmann_json SYSTEM INTERFACE ${json_include})
target_compile_definitions(nlohmann_json INTERFACE JSON_NOEXCEPTION $<$<BOOL:${EMSCRIPTEN}>:NDEBUG>)

# --- Catch2: its amalgamated source, against its separate headers ---------------------------------------------
if(BUILD_TESTING)
  third_party_source(catch2_source catch2 extras/catch_amalgamated.cpp
    https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
    c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
  set(CATCH_CONFIG_DEFAULT_REPORTER console)
  set(CATCH_CONFIG_CONSOLE_WIDTH 80)
  configure_file(${catch2_source}/src/catch2/catch_user_config.hpp.in
                 ${PROJECT_BINARY_DIR}/include/catch2/catch_user_config.hpp)
  add_cached_library(catch2 SOURCE ${catch2_source} FILES extras/catch_amalgamated.cpp
    INCLUDES ${catch2_source}/src ${PROJECT_BINARY_DIR}/include OPTIONS -O1 -fexceptions)
endif()

# --- Dear ImGui: core and the two backends of the page --------------------------------------------------------
if(EMSCRIPTEN)
  third_party_source(imgui_source imgui imgui.h
    https://github.com/ocornut/imgui/archive/refs/tags/v1.92.2b.tar.gz
    da3d453cce74e0fb3d67f8d798a2a8d04fcaf0b33ce0e0131d0695dfc4f64191)
  set(imgui_defines -DNDEBUG -DIMGUI_DISABLE_DEMO_WINDOWS -DIMGUI_DISABLE_DEBUG_TOOLS -DIMGUI_DISABLE_OBSOLETE_FUNCTIONS
    -DIMGUI_DISABLE_DEFAULT_FONT -DIMGUI_DISABLE_FILE_FUNCTIONS -DIMGUI_DISABLE_DEFAULT_SHELL_FUNCTIONS
    -DIMGUI_IMPL_OPENGL_ES3)
  add_cached_library(imgui SOURCE ${imgui_source}
    FILES imgui.cpp imgui_draw.cpp imgui_tables.cpp imgui_widgets.cpp
          backends/imgui_impl_glfw.cpp backends/imgui_impl_opengl3.cpp
    INCLUDES ${imgui_source} ${imgui_source}/backends
    OPTIONS -Oz -fno-exceptions -fno-rtti -mbulk-memory -mnontrapping-fptoint -msign-ext ${imgui_defines}
            -DglGetIntegerv=vram_gl_state)  # web/browser/graphics.cc
  target_compile_options(imgui INTERFACE ${imgui_defines})
endif()

# The licences that the built page must carry: those of what is compiled into it.
function(write_licences file)
  string(REPEAT "=" 78 line)
  set(text "The page is made of the following, each under its licence; Emscripten's runtime\n\
and C library under the MIT licence, its C++ library under Apache 2.0 with LLVM exceptions.\n\n${line}\n\n")
  foreach(path ${PROJECT_SOURCE_DIR}/LICENSE ${imgui_source}/LICENSE.txt
      /usr/share/doc/nlohmann-json3-dev/copyright ${json_include}/../LICENSE.MIT
      /usr/share/doc/fonts-inter/copyright /usr/share/doc/fonts-noto-cjk/copyright
      ${EMSCRIPTEN_ROOT_PATH}/LICENSE)
    if(EXISTS ${path})
      file(READ ${path} licence)
      string(APPEND text "${licence}\n${line}\n\n")
    endif()
  endforeach()
  file(WRITE ${file} "${text}")
endfunction()
