// Write one profile of each kind that Go's standard library captures, from a program that parses,
// sorts, compresses and waits. Usage: go run . <folder>. For a series of CPU profiles of one second
// each, with varying work: go run . <folder> series. For the difference of two heap profiles:
// go run . <folder> delta.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"
)

type record struct {
	Name   string            `json:"name"`
	Values []float64         `json:"values"`
	Tags   map[string]string `json:"tags"`
}

func records(n int) []record {
	made := make([]record, n)
	for i := range made {
		made[i] = record{fmt.Sprintf("record-%d", i), []float64{float64(i), 1 / float64(i+1)}, map[string]string{"zone": fmt.Sprint(i % 7)}}
	}
	return made
}

// keyed is generic, so that its symbol name contains a shape.
func keyed[K comparable, V any](all []V, key func(V) K) map[K][]V {
	found := map[K][]V{}
	for _, v := range all {
		found[key(v)] = append(found[key(v)], v)
	}
	return found
}

func roundTrip() {
	text, err := json.Marshal(records(200))
	check(err)
	var back []record
	check(json.Unmarshal(text, &back))
	slices.SortFunc(back, func(a, b record) int { return strings.Compare(a.Name, b.Name) })
	keyed(back, func(r record) string { return r.Tags["zone"] })
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err = writer.Write(text)
	check(err)
	check(writer.Close())
	sha256.Sum256(packed.Bytes())
}

func formatSource() {
	sources, _ := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", "go", "*", "*.go"))
	for _, path := range sources[:min(len(sources), 4)] {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		check(err)
		ast.Inspect(parsed, func(ast.Node) bool { return true })
		check(format.Node(&bytes.Buffer{}, files, parsed))
	}
}

var word = regexp.MustCompile(`([a-z]+)-(\d+)(,|$)`)

func render(w http.ResponseWriter, _ *http.Request) {
	page := template.Must(template.New("page").Parse(`{{range .}}{{.Name}}: {{range .Values}}{{.}} {{end}}{{end}}`))
	check(page.Execute(w, records(60)))
	word.FindAllString(strings.Repeat("alpha-12,beta-7,", 80), -1)
}

func descend(depth int) int {
	if depth == 0 {
		roundTrip()
		return 0
	}
	return descend(depth-1) + 1
}

func work(ctx context.Context, server *httptest.Server, kind string) {
	var shared sync.Mutex
	var done sync.WaitGroup
	jobs := []func(){roundTrip, formatSource, func() { descend(12) }, func() {
		response, err := http.Get(server.URL)
		check(err)
		check(response.Body.Close())
	}}
	for number, job := range jobs {
		done.Add(1)
		go func() {
			defer done.Done()
			pprof.Do(ctx, pprof.Labels("job", fmt.Sprintf("%s-%d", kind, number)), func(ctx context.Context) {
				for ctx.Err() == nil {
					job()
					shared.Lock()
					time.Sleep(50 * time.Microsecond)
					shared.Unlock()
				}
			})
		}()
	}
	done.Wait()
}

func run(server *httptest.Server, span time.Duration, kind string) {
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	work(ctx, server, kind)
}

func main() {
	folder := os.Args[1]
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	runtime.MemProfileRate = 4096
	server := httptest.NewServer(http.HandlerFunc(render))
	defer server.Close()
	if len(os.Args) > 2 {
		if os.Args[2] == "delta" {
			delta(folder)
		} else {
			series(server, folder)
		}
		return
	}
	// 100 Hz for the duration of a real capture, which gives a realistic number of samples.
	file := create(folder, "go-cpu")
	check(pprof.StartCPUProfile(file))
	run(server, 10*time.Second, "cpu")
	pprof.StopCPUProfile()
	check(file.Close())
	for _, kind := range []string{"heap", "mutex", "goroutine"} {
		file := create(folder, "go-"+kind)
		check(pprof.Lookup(kind).WriteTo(file, 0))
		check(file.Close())
	}
}

// series writes the profiles of a service over time: one program with varying work.
func series(server *httptest.Server, folder string) {
	for number := range 20 {
		file := create(folder, fmt.Sprintf("go-cpu-%02d", number))
		check(pprof.StartCPUProfile(file))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		mixed(ctx, server, number)
		cancel()
		pprof.StopCPUProfile()
		check(file.Close())
	}
}

func mixed(ctx context.Context, server *httptest.Server, number int) {
	jobs := []func(){roundTrip, formatSource, func() { descend(number) }, func() {
		response, err := http.Get(server.URL)
		check(err)
		check(response.Body.Close())
	}}
	for turn := 0; ctx.Err() == nil; turn++ {
		jobs[(turn*number+turn/3)%len(jobs)]()
	}
}

func create(folder, name string) *os.File {
	file, err := os.Create(filepath.Join(folder, name+".pb.gz"))
	check(err)
	return file
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
