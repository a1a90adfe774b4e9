# cmake -DSHELL=shell.html -DSITE=build/web -P place_shell.cmake
# Writes SITE/index.html: shell.html with @VRAM_BUILD@ replaced by a hash of all that the page loads. It asks for
# vram-ledger.js?v=HASH and the like, so that no cache pairs an old file with a new one; and places sw.js beside it.

get_filename_component(root ${SHELL} DIRECTORY)
file(COPY ${root}/web/sw.js DESTINATION ${SITE})
set(hashes "")
foreach(file ${SHELL} ${SITE}/sw.js ${SITE}/vram-ledger.js ${SITE}/vram-ledger.wasm ${SITE}/vram-ledger-rest.wasm
        ${SITE}/zh.txt ${SITE}/zh.otf)
  if(EXISTS ${file})
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
  endif()
endforeach()
string(SHA256 VRAM_BUILD "${hashes}")
string(SUBSTRING ${VRAM_BUILD} 0 12 VRAM_BUILD)
configure_file(${SHELL} ${SITE}/index.html @ONLY)
file(TOUCH ${SITE}/index.html)
