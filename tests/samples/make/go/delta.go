package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"runtime"
	"time"
)

var retained [][]byte

//go:noinline
func hold(blocks int) {
	for range blocks {
		retained = append(retained, make([]byte, 64<<10))
	}
}

// delta writes the response of Go's /debug/pprof/heap?seconds=1 while the program frees most of its
// memory and allocates some: a difference with negative values of memory in use.
func delta(folder string) {
	server := httptest.NewServer(http.DefaultServeMux)
	defer server.Close()
	hold(400)
	runtime.GC()
	runtime.GC()
	go func() {
		time.Sleep(300 * time.Millisecond)
		retained = nil
		hold(40)
		runtime.GC()
		runtime.GC()
	}()
	response, err := http.Get(server.URL + "/debug/pprof/heap?seconds=1")
	check(err)
	if response.StatusCode != http.StatusOK {
		check(fmt.Errorf("the heap endpoint responded %s", response.Status))
	}
	file := create(folder, "go-heap-delta")
	_, err = io.Copy(file, response.Body)
	check(err)
	check(response.Body.Close())
	check(file.Close())
}
