// SPDX-License-Identifier: Apache-2.0

// Writes profiles of every kind that runtime/pprof has, into the folder of the first argument.
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
)

var kept [][]byte
var sum uint64

//go:noinline
func spin() {
	for i := uint64(0); i < 300000000; i++ {
		sum += i * i
	}
}

//go:noinline
func allocate() {
	for i := 0; i < 1000; i++ {
		kept = append(kept, make([]byte, 10000))
	}
}

// Two goroutines wait for a lock that a third one holds.
func wait() {
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < 3; i++ {
		all.Add(1)
		go func() {
			lock.Lock()
			spin()
			lock.Unlock()
			all.Done()
		}()
	}
	all.Wait()
}

func create(name string) *os.File {
	f, err := os.Create(filepath.Join(os.Args[1], name))
	if err != nil {
		panic(err)
	}
	return f
}

func main() {
	runtime.MemProfileRate = 4096
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	cpu := create("cpu")
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	allocate()
	wait()
	pprof.StopCPUProfile()
	cpu.Close()
	for _, p := range pprof.Profiles() {
		f := create(p.Name())
		if err := p.WriteTo(f, 0); err != nil {
			panic(err)
		}
		f.Close()
	}
}
