// Command go_wastes wastes memory or time in one way each, and writes a profile to standard output.
// Usage: go_wastes NAME PROFILE.
package main

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

const text = "some text"

var end = time.Now().Add(800 * time.Millisecond)
var sink int

func growBuffers() {
	for time.Now().Before(end) {
		var buffer bytes.Buffer
		for i := 0; i < 10000; i++ {
			buffer.WriteString(text)
		}
		sink += buffer.Len()
	}
}

func growBuilder() {
	for time.Now().Before(end) {
		var buffer strings.Builder
		for i := 0; i < 10000; i++ {
			buffer.WriteString(text)
		}
		sink += buffer.Len()
	}
}

func readAll() {
	body := strings.Repeat(text, 10000)
	for time.Now().Before(end) {
		data, _ := io.ReadAll(strings.NewReader(body))
		sink += len(data)
	}
}

func lockWaits() {
	var lock sync.Mutex
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				lock.Lock()
				time.Sleep(time.Millisecond)
				lock.Unlock()
			}
		}()
	}
	group.Wait()
}

func plainWork() {
	buffer := make([]byte, 0, 100000)
	for time.Now().Before(end) {
		buffer = buffer[:0]
		for i := 0; i < 10000; i++ {
			buffer = append(buffer, text...)
		}
		list := make([]int, 1000)
		sink += len(buffer) + len(list)
	}
}

func main() {
	runtime.SetMutexProfileFraction(1)
	runtime.MemProfileRate = 64 << 10
	programs := map[string]func(){
		"growBuffers": growBuffers,
		"growBuilder": growBuilder,
		"readAll":     readAll,
		"lockWaits":   lockWaits,
		"plainWork":   plainWork,
	}
	programs[os.Args[1]]()
	runtime.GC()
	if err := pprof.Lookup(os.Args[2]).WriteTo(os.Stdout, 0); err != nil {
		panic(err)
	}
}
