// Command pgo spends its time in calls of an interface, and writes a CPU profile of itself.
package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

type step interface{ next(value uint64) uint64 }

type usual struct{ factor uint64 }

func (u usual) next(value uint64) uint64 { return value*u.factor + value>>7 }

type rare struct{}

func (rare) next(value uint64) uint64 { return value + 1 }

//go:noinline
func walk(steps []step, count int) uint64 {
	value := uint64(1)
	for i := 0; i < count; i++ {
		value = steps[i%len(steps)].next(value)
	}
	return value
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	steps := make([]step, 64)
	for i := range steps {
		steps[i] = usual{6364136223846793005}
	}
	steps[63] = rare{}
	sum := uint64(0)
	for start := time.Now(); time.Since(start) < 2*time.Second; {
		sum += walk(steps, 1_000_000)
	}
	pprof.StopCPUProfile()
	fmt.Println(sum)
}
