// Program under Pyroscope's client: shop URL KEY SECONDS
package main

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/grafana/pyroscope-go"
)

var (
	carts [][]byte
	lock  sync.Mutex
	sink  float64
)

//go:noinline
func hotFunction() {
	total := 0.0
	for number := 0; number < 200000; number++ {
		total += math.Sqrt(float64(number))
	}
	sink = total
}

func reserve() {
	for {
		lock.Lock()
		time.Sleep(time.Millisecond)
		lock.Unlock()
		time.Sleep(time.Millisecond)
	}
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[3])
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	profiler, err := pyroscope.Start(pyroscope.Config{
		ApplicationName:   "shop.go",
		ServerAddress:     os.Args[1],
		BasicAuthUser:     "shop",
		BasicAuthPassword: os.Args[2],
		TenantID:          "of-another",
		Tags:              map[string]string{"region": "eu/west 1", "version": "1.4+b", "hostname": "pod-1"},
		UploadRate:        4 * time.Second,
		ProfileTypes: []pyroscope.ProfileType{
			pyroscope.ProfileCPU, pyroscope.ProfileAllocObjects, pyroscope.ProfileAllocSpace,
			pyroscope.ProfileInuseObjects, pyroscope.ProfileInuseSpace, pyroscope.ProfileGoroutines,
			pyroscope.ProfileMutexCount, pyroscope.ProfileMutexDuration,
			pyroscope.ProfileBlockCount, pyroscope.ProfileBlockDuration,
		},
	})
	if err != nil {
		panic(err)
	}
	go reserve()
	go reserve()
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	for time.Now().Before(end) {
		hotFunction()
		carts = append(carts, make([]byte, 20000))
		if len(carts) > 1000 {
			carts = carts[500:]
		}
		time.Sleep(time.Millisecond)
	}
	_ = profiler.Stop()
}
