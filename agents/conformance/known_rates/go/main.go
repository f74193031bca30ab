// Command known_rates prints what its functions used in total, for comparison with profiles.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	flamewatch "flamewatch.dev/agent"
)

const (
	parkedGoroutines = 7
	blockBytes       = 10240 // a size class of Go's allocator
	liveBlocks       = 6400
	holders          = 2 // one waits; the runtime estimates the delay of further ones
	clockThreadCPU   = 3 // CLOCK_THREAD_CPUTIME_ID
)

var (
	total                       float64
	block                       []byte
	live                        [][]byte
	lock                        sync.Mutex
	unlocked                    time.Time // last
	cpu, wall, allocated, delay atomic.Int64
)

func main() {
	// One block in 4 KiB is sampled: the standard error falls below 1 % within few captures.
	runtime.MemProfileRate = 4 << 10
	debug.SetGCPercent(2) // the heap profile advances with each garbage collection
	for range liveBlocks {
		retain()
	}
	runtime.GC()
	runtime.GC() // publishes the allocations of the cycle before
	agent := flamewatch.Start(flamewatch.Config{MutexFraction: 1})
	defer agent.Stop()
	jobs := []func(){burn, waitHere, allocateSome, parkHere, parkHere, parkHere, parkHere, parkHere, parkHere, parkHere}
	for range holders {
		jobs = append(jobs, hold)
	}
	for _, job := range jobs {
		go repeat(job)
	}
	for {
		fmt.Fprintf(os.Stdout, "rates time=%d cpu=%d wall=%d allocated=%d live=%d delay=%d threads=%d\n",
			time.Now().UnixNano(), cpu.Load(), wall.Load(), allocated.Load(), liveBlocks*blockBytes, delay.Load(), parkedGoroutines)
		time.Sleep(5 * time.Millisecond)
	}
}

func repeat(job func()) {
	runtime.LockOSThread() // so that the CPU clock is that of one goroutine
	for {
		job()
	}
}

func threadCPU() int64 {
	var now syscall.Timespec
	if _, _, problem := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&now)), 0); problem != 0 {
		panic(problem)
	}
	return now.Nano()
}

// pause sleeps for a random time, never in step with a sampler.
func pause(most time.Duration) { time.Sleep(time.Duration(rand.Int63n(int64(most)))) }

//go:noinline
func burn() {
	start := threadCPU()
	for i := 0; i < 2_000_000; i++ {
		total += float64(i) * 1.000001
	}
	cpu.Add(threadCPU() - start)
	pause(2 * time.Millisecond)
}

//go:noinline
func waitHere() {
	start := time.Now()
	pause(40 * time.Millisecond)
	wall.Add(int64(time.Since(start)))
}

//go:noinline
func allocateSome() {
	for range 20 {
		allocate()
	}
	pause(5 * time.Millisecond)
}

//go:noinline
func allocate() {
	block = make([]byte, blockBytes)
	allocated.Add(blockBytes)
}

//go:noinline
func retain() { live = append(live, make([]byte, blockBytes)) }

// hold counts the wait up to the moment when the lock was unlocked, as the runtime does: not the time to be scheduled.
//
//go:noinline
func hold() {
	start := time.Now()
	lock.Lock()
	delay.Add(max(0, int64(unlocked.Sub(start))))
	pause(5 * time.Millisecond)
	unlocked = time.Now()
	lock.Unlock()
}

//go:noinline
func parkHere() { select {} }
