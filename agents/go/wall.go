package flamewatch

import (
	"math"
	"math/rand/v2"
	"runtime"
	"time"
)

const (
	wallPeriod = 10 * time.Millisecond
	// Reading all stacks stops the program for some microseconds per goroutine. With more
	// goroutines than this the period grows in proportion, which bounds the cost.
	wallGoroutines = 250
	mostGoroutines = 100_000
)

// wallStack holds return addresses, leaf first, as runtime.StackRecord does: deeper stacks lose
// their roots.
type wallStack [32]uintptr

type wallSum struct {
	count int64
	nanos int64
}

// captureWall samples the stacks of all goroutines, running and waiting ones alike. Each sample
// counts for the time since the one before.
func captureWall(duration time.Duration, stopped <-chan struct{}) ([]byte, time.Duration, error) {
	sums := map[wallStack]*wallSum{}
	var records []runtime.StackRecord
	start := time.Now()
	for last := start; time.Since(start) < duration; {
		period := wallPeriod * time.Duration(1+runtime.NumGoroutine()/wallGoroutines)
		// A fixed period could run in step with a periodic program.
		period = time.Duration(float64(period) * (0.5 + rand.Float64()))
		select {
		case <-stopped:
			duration = 0
		case <-time.After(min(period, duration-time.Since(start))):
		}
		records = goroutines(records)
		now := time.Now()
		for _, record := range records {
			sum := sums[record.Stack0]
			if sum == nil {
				sum = &wallSum{}
				sums[record.Stack0] = sum
			}
			sum.count++
			sum.nanos += int64(now.Sub(last))
		}
		last = now
	}
	lasted := time.Since(start)
	profile, err := encodeWall(sums, start, lasted)
	return profile, lasted, err
}

// goroutines returns the stacks of all goroutines, at most mostGoroutines.
func goroutines(records []runtime.StackRecord) []runtime.StackRecord {
	records = records[:cap(records)]
	for {
		number, complete := runtime.GoroutineProfile(records)
		if complete || len(records) >= mostGoroutines {
			return records[:min(number, len(records))]
		}
		records = make([]runtime.StackRecord, min(number+number/10+10, mostGoroutines))
	}
}

// encodeWall encodes stacks as a gzipped pprof profile, without the agent's own goroutines.
func encodeWall(sums map[wallStack]*wallSum, start time.Time, lasted time.Duration) ([]byte, error) {
	table := newSymbols()
	var profile []byte
	for _, metric := range [][2]string{{"sample", "count"}, {"wall", "nanoseconds"}} {
		message := appendVarint(nil, 1, table.text(metric[0]))
		profile = appendBytes(profile, profileSampleType, appendVarint(message, 2, table.text(metric[1])))
	}
	for stack, sum := range sums {
		locations, isOwn := table.locations(stack[:])
		if isOwn {
			continue
		}
		message := appendPacked(nil, 1, locations)
		message = appendPacked(message, 2, []uint64{uint64(sum.count), uint64(min(sum.nanos, math.MaxInt64))})
		profile = appendBytes(profile, profileSample, message)
	}
	profile = table.appendTo(profile)
	profile = appendVarint(profile, profileTime, uint64(start.UnixNano()))
	profile = appendVarint(profile, profileDuration, uint64(lasted))
	return gzipped(profile)
}
