# Toolchain of the web preset: an activated emsdk's Emscripten where $EMSDK is set, else the system package's.
# The platform file is used directly, because emcmake hands today's Node a flag that it no longer knows.
if(DEFINED ENV{EMSDK})
  set(emscripten_root $ENV{EMSDK}/upstream/emscripten)
elseif(DEFINED ENV{EMSCRIPTEN_ROOT})
  set(emscripten_root $ENV{EMSCRIPTEN_ROOT})
else()
  set(emscripten_root /usr/share/emscripten)
endif()

# The packaged Emscripten looks for acorn where only the packaged Node would find it.
if(EXISTS /usr/share/nodejs/acorn)
  set(CMAKE_CXX_LINKER_LAUNCHER ${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs)
endif()

find_program(VRAM_NODE node REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${VRAM_NODE} CACHE FILEPATH "Runs the tests")
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)
