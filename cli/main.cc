#include <cstdio>

int main() {
  std::puts("vram-ledger");
  return 0;
}
