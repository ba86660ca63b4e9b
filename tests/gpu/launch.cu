// SPDX-License-Identifier: Apache-2.0
//
// Launches as nvcc writes them: launch N
#include <cstdlib>

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		empty_kernel<<<1, 1>>>();
	return cudaDeviceSynchronize() != cudaSuccess;
}
