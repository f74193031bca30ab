package flamewatch

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/pprof"
	"time"
)

// startMutexProfile begins to sample contention events, unless the program does. It returns a function that ends it.
//
// Waiters that were queued before it are not timed, nor those that follow them as long as the queue does not empty: it
// has to begin with the program, not with a capture.
func startMutexProfile(fraction int) (stop func()) {
	if fraction <= 0 || runtime.SetMutexProfileFraction(-1) != 0 {
		return func() {}
	}
	runtime.SetMutexProfileFraction(fraction)
	return func() {
		if runtime.SetMutexProfileFraction(-1) == fraction {
			runtime.SetMutexProfileFraction(0)
		}
	}
}

// capture captures a profile for `duration`, or until `stopped` is closed. It returns the gzipped
// pprof profile and its real duration, which is 0 for the types that are snapshots.
func capture(kind Type, duration time.Duration, stopped <-chan struct{}) ([]byte, time.Duration, error) {
	wait := func() time.Duration {
		start := time.Now()
		select {
		case <-stopped:
		case <-time.After(duration):
		}
		return time.Since(start)
	}
	switch kind {
	case CPU:
		return captureCPU(wait)
	case Wall:
		return captureWall(duration, stopped)
	case Heap:
		return captureSnapshot("heap")
	case Threads:
		return captureSnapshot("goroutine")
	case HeapAlloc:
		return captureDelta("heap", []string{"alloc_objects", "alloc_space"}, wait)
	case Contention:
		return captureDelta("mutex", nil, wait)
	}
	return nil, 0, fmt.Errorf("unknown profile type %q", kind)
}

func captureCPU(wait func() time.Duration) ([]byte, time.Duration, error) {
	var profile bytes.Buffer
	// It fails while the program itself captures one.
	if err := pprof.StartCPUProfile(&profile); err != nil {
		return nil, 0, err
	}
	lasted := wait()
	pprof.StopCPUProfile()
	kept, err := uncompressed(profile.Bytes())
	if err != nil {
		return nil, 0, err
	}
	compressed, err := gzipped(kept)
	return compressed, lasted, err
}

func captureSnapshot(name string) ([]byte, time.Duration, error) {
	profile, err := dumped(name)
	if err != nil {
		return nil, 0, err
	}
	compressed, err := gzipped(profile)
	return compressed, 0, err
}

// captureDelta captures the growth of a cumulative profile. `values` are the names of its sample
// types that grow; nil for all.
func captureDelta(name string, values []string, wait func() time.Duration) ([]byte, time.Duration, error) {
	before, err := dumped(name)
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	lasted := wait()
	after, err := dumped(name)
	if err != nil {
		return nil, 0, err
	}
	profile, err := delta(before, after, values, start, lasted)
	return profile, lasted, err
}

// dumped returns a profile of the runtime, uncompressed and without the agent's own goroutines.
func dumped(name string) ([]byte, error) {
	var profile bytes.Buffer
	if err := pprof.Lookup(name).WriteTo(&profile, 0); err != nil {
		return nil, err
	}
	return uncompressed(profile.Bytes())
}

func uncompressed(profile []byte) ([]byte, error) {
	whole, err := gunzip(profile)
	if err != nil {
		return nil, err
	}
	return withoutOwn(whole)
}
