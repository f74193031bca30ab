// Command example burns CPU time, allocates memory and waits for a lock, with the agent started.
// Its settings come from the environment; it ends on SIGINT or SIGTERM.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	flamewatch "flamewatch.dev/agent"
)

var (
	total  float64
	keep   [][]byte
	lock   sync.Mutex
	rounds atomic.Int64
	ended  = make(chan struct{})
)

func main() {
	// One block in 64 KiB is sampled; the default, 512 KiB, would miss many of this program.
	runtime.MemProfileRate = 64 << 10
	agent := flamewatch.Start(flamewatch.Config{})
	for _, job := range []func(){burnCPU, allocate, holdLock, waitForLock} {
		go repeat(job)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	close(ended)
	agent.Stop()
	fmt.Println("rounds", rounds.Load()) // of burnCPU; more per second of CPU time is less overhead
}

func repeat(job func()) {
	for {
		select {
		case <-ended:
			return
		default:
			job()
		}
	}
}

//go:noinline
func burnCPU() {
	rounds.Add(1)
	for i := 0; i < 2_000_000; i++ {
		total += float64(i) * 1.000001
	}
	time.Sleep(2 * time.Millisecond)
}

//go:noinline
func allocate() {
	keep = append(keep, make([]byte, 256<<10))
	if len(keep) > 100 {
		keep = append([][]byte(nil), keep[50:]...) // never nothing: a heap profile is of one moment
	}
	time.Sleep(5 * time.Millisecond)
}

//go:noinline
func holdLock() {
	lock.Lock()
	time.Sleep(5 * time.Millisecond)
	lock.Unlock()
	time.Sleep(time.Millisecond)
}

//go:noinline
func waitForLock() {
	lock.Lock()
	lock.Unlock() //nolint:staticcheck // only the wait is of interest
	time.Sleep(time.Millisecond)
}
