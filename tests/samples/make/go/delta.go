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

var held [][]byte

//go:noinline
func hold(blocks int) {
	for range blocks {
		held = append(held, make([]byte, 64<<10))
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
		held = nil
		hold(40)
		runtime.GC()
		runtime.GC()
	}()
	answer, err := http.Get(server.URL + "/debug/pprof/heap?seconds=1")
	check(err)
	if answer.StatusCode != http.StatusOK {
		check(fmt.Errorf("the heap endpoint answered %s", answer.Status))
	}
	file := create(folder, "go-heap-delta")
	_, err = io.Copy(file, answer.Body)
	check(err)
	check(answer.Body.Close())
	check(file.Close())
}
