# cmake -DTABLE=zh.tsv -DSITE=build/web -P place_language.cmake
# Writes SITE/zh.txt, the table without its comments, and SITE/zh.otf, Noto Sans CJK cut down to the characters that
# the table uses. The page fetches both only when it is to speak that language; without the font it stays English.

cmake_path(GET TABLE STEM name)
file(READ ${TABLE} table)
string(REGEX REPLACE "(^|\n)#[^\n]*" "" table "${table}")
find_program(HB_SUBSET hb-subset)
file(GLOB font /usr/share/fonts/*/noto*/NotoSansCJK-Regular.ttc)
if(NOT HB_SUBSET OR NOT font)
  message(WARNING "no hb-subset or no Noto Sans CJK: the page goes without ${name}")
  return()
endif()
list(GET font 0 font)
execute_process(COMMAND ${HB_SUBSET} --face-index=2 --text-file=${TABLE} --unicodes-=0000-2FFF --unicodes+=3000-3002,4E2D,6587,FF08-FF09,FF0C,FF1A-FF1B
  --layout-features= --no-hinting --desubroutinize --output-file=${SITE}/${name}.otf ${font} COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${SITE}/${name}.txt "${table}")
