"""Machine code for the layer, on a CPU (LLVM) and on a GPU (CUDA). Whoever does mathematics need not open it."""
