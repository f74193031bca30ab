// Command go_wastes wastes memory or time in one way each, and writes a profile to standard output.
// Usage: go_wastes NAME PROFILE.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
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

type node struct {
	left, right *node
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

func keepGarbage() {
	live := tree(20)
	for time.Now().Before(end) {
		live.left = tree(18)
	}
}

func allocate() {
	for time.Now().Before(end) {
		pages := make([][]byte, 1000)
		for i := range pages {
			pages[i] = make([]byte, 2000)
		}
		sink += len(pages)
	}
}

func growMaps() {
	for time.Now().Before(end) {
		counts := map[int]int{}
		for i := 0; i < 20000; i++ {
			counts[i] = i
		}
		sink += len(counts)
	}
}

type order struct {
	ID    int
	Name  string
	Lines []int
}

func jsonRoundTrips() {
	for time.Now().Before(end) {
		data, _ := json.Marshal(order{1, text, []int{1, 2, 3}})
		var decoded order
		_ = json.Unmarshal(data, &decoded)
		sink += decoded.ID
	}
}

func compileExpressions() {
	for time.Now().Before(end) {
		sink += regexp.MustCompile("^(some|any) [a-z]+$").NumSubexp()
	}
}

func copyBuffers() {
	from, to := make([]byte, 1<<20), make([]byte, 1<<20)
	for time.Now().Before(end) {
		sink += copy(to, from)
	}
}

func deferInLoop() {
	for time.Now().Before(end) {
		func() {
			for i := 0; i < 100; i++ {
				defer func() { sink++ }()
			}
		}()
	}
}

func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
}

func handshakes() {
	server := &tls.Config{Certificates: []tls.Certificate{selfSigned()}}
	for time.Now().Before(end) {
		here, there := net.Pipe()
		go func() { _ = tls.Server(there, server).Handshake() }()
		if err := tls.Client(here, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
			panic(err)
		}
		here.Close()
		there.Close()
	}
}

func formatValues() {
	for time.Now().Before(end) {
		sink += len(fmt.Sprintf("%s %d %v", text, sink, end))
	}
}

// The same work as that of the wastes, as it should be.
func carefulWork() {
	expression := regexp.MustCompile("^(some|any) [a-z]+$")
	counts := make(map[int]int, 20000)
	buffer := make([]byte, 0, 64)
	for time.Now().Before(end) {
		for i := 0; i < 20000; i++ {
			counts[i] = i
		}
		for i := 0; i < 2000; i++ {
			// Not each time: it copies a few bytes.
			if expression.MatchString(text) && i%32 == 0 {
				buffer = strconv.AppendInt(buffer[:0], int64(i), 10)
			}
			func() {
				defer func() { sink++ }()
				sink += len(buffer)
			}()
		}
	}
}

func writeCPUProfile(program func()) {
	if err := pprof.StartCPUProfile(os.Stdout); err != nil {
		panic(err)
	}
	program()
	pprof.StopCPUProfile()
}

func main() {
	runtime.SetMutexProfileFraction(1)
	runtime.MemProfileRate = 64 << 10
	programs := map[string]func(){
		"growBuffers":        growBuffers,
		"growBuilder":        growBuilder,
		"readAll":            readAll,
		"lockWaits":          lockWaits,
		"plainWork":          plainWork,
		"keepGarbage":        keepGarbage,
		"allocate":           allocate,
		"growMaps":           growMaps,
		"jsonRoundTrips":     jsonRoundTrips,
		"compileExpressions": compileExpressions,
		"copyBuffers":        copyBuffers,
		"deferInLoop":        deferInLoop,
		"handshakes":         handshakes,
		"formatValues":       formatValues,
		"carefulWork":        carefulWork,
	}
	program := programs[os.Args[1]]
	if os.Args[2] == "cpu" {
		writeCPUProfile(program)
		return
	}
	program()
	runtime.GC()
	if err := pprof.Lookup(os.Args[2]).WriteTo(os.Stdout, 0); err != nil {
		panic(err)
	}
}
