package flamewatch

import (
	"bytes"
	"io"
	"log/slog"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

var minimal = map[string]string{
	"FLAMEWATCH_URL":     "https://profiles.example.org/",
	"FLAMEWATCH_KEY":     "fw_secret_of_the_test",
	"FLAMEWATCH_SERVICE": "shop",
}

func TestConfigurationComesFromFieldsAndEnvironment(t *testing.T) {
	config, err := complete(Config{Service: "checkout", Zone: " eu-1 "}, environment(minimal))
	if err != nil {
		t.Fatal(err)
	}
	if config.Service != "checkout" || config.Zone != "eu-1" || config.Project != "-" {
		t.Errorf("unexpected configuration %+v", config)
	}
	if config.URL != "https://profiles.example.org" {
		t.Errorf("the trailing slash of %q is left", config.URL)
	}
}

func TestServiceNamesOfOtherToolsAreChanged(t *testing.T) {
	values := map[string]string{"OTEL_SERVICE_NAME": "Check Out!"}
	for _, name := range []string{"FLAMEWATCH_URL", "FLAMEWATCH_KEY"} {
		values[name] = minimal[name]
	}
	config, err := complete(Config{}, environment(values))
	if err != nil || config.Service != "check-out" {
		t.Errorf("service %q, %v", config.Service, err)
	}
}

func TestProblemsNameTheSettingAndNeverTheKey(t *testing.T) {
	broken := Config{Service: "Shop", Key: "bad key", URL: "ftp://user:password@host", Version: "a\nb", Types: []Type{"X"}}
	_, err := complete(broken, environment(nil))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"FLAMEWATCH_KEY", "FLAMEWATCH_URL", `for example "shop"`, "version", `"X"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
	if strings.Contains(err.Error(), "bad key") || strings.Contains(err.Error(), "password") {
		t.Errorf("a secret is in %q", err)
	}
}

func TestAnInvalidConfigurationIsLoggedAndHarmless(t *testing.T) {
	var log bytes.Buffer
	t.Setenv("FLAMEWATCH_KEY", "")
	agent := Start(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	agent.Stop()
	if agent != nil || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "FLAMEWATCH_KEY") {
		t.Errorf("agent %v, log %q", agent, log.String())
	}
}

func TestBackoffGrowsAndHonoursTheServer(t *testing.T) {
	pauses := &backoff{uniform: func() float64 { return 1 }}
	if first, second := pauses.next(nil), pauses.next(nil); first != time.Minute || second != 78*time.Second {
		t.Errorf("pauses %v, %v", first, second)
	}
	delay := 10 * time.Second
	if pause := pauses.next(&delay); pause != 11*time.Second {
		t.Errorf("pause %v", pause)
	}
	for range 200 {
		pauses.next(nil)
	}
	if pause := pauses.next(nil); pause != time.Hour {
		t.Errorf("longest pause %v", pause)
	}
	pauses.succeed()
	if pause := pauses.nextLong(&delay); pause != time.Minute {
		t.Errorf("pause after a rejected key %v", pause)
	}
}

func TestResponsesAreChecked(t *testing.T) {
	valid := `{"name":"projects/acme/profiles/p1","profileType":"CPU","duration":"10s"}`
	request, err := readAssignment([]byte(valid), allTypes)
	if err != nil || request != (assignment{"projects/acme/profiles/p1", CPU, 10 * time.Second}) {
		t.Errorf("%+v, %v", request, err)
	}
	for _, invalid := range []string{
		"", "[]", `{"name":"../x","profileType":"CPU","duration":"10s"}`,
		strings.Replace(valid, "CPU", "PEAK_HEAP", 1),
		strings.Replace(valid, "10s", "10", 1), strings.Replace(valid, "10s", "1000s", 1),
	} {
		if _, err := readAssignment([]byte(invalid), allTypes); err == nil {
			t.Errorf("%q is accepted", invalid)
		}
	}
}

func TestErrorsCarryTheDelayOfTheServer(t *testing.T) {
	body := `{"error":{"message":"a\nb","details":[{"@type":"x"},{"retryDelay":"1.5s"}]}}`
	found := readError(409, []byte(body), "7")
	if *found.retryAfter != 1500*time.Millisecond || found.Error() != "409 a b" {
		t.Errorf("%v, %v", found, *found.retryAfter)
	}
	if found = readError(503, []byte("<html>"), "7"); *found.retryAfter != 7*time.Second {
		t.Errorf("%v", *found.retryAfter)
	}
	if found = readError(500, nil, ""); found.retryAfter != nil {
		t.Errorf("%v", *found.retryAfter)
	}
}

// profileOf decodes a gzipped profile: the sum of each sample type by name, and all strings.
func profileOf(t *testing.T, compressed []byte) (map[string]int64, string) {
	t.Helper()
	raw, err := gunzip(compressed)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := readDump(raw)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for _, sample := range decoded.samples {
		for column, value := range sample.values {
			sums[decoded.strings[decoded.names[column]]] += int64(value)
		}
	}
	return sums, strings.Join(decoded.strings, "\n")
}

var blocks [][]byte

//go:noinline
func allocateBlocks(number, size int) {
	for range number {
		blocks = append(blocks, make([]byte, size))
	}
}

func TestAllocationsAreThoseOfTheCapture(t *testing.T) {
	former := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate, blocks = former, nil }()
	allocateBlocks(1000, 4096) // before the capture
	runtime.GC()
	runtime.GC() // publishes the allocations of the cycle before
	const number, size = 500, 8192
	wait := func() time.Duration {
		allocateBlocks(number, size)
		runtime.GC()
		runtime.GC()
		return time.Second
	}
	profile, _, err := captureDelta("heap", []string{"alloc_objects", "alloc_space"}, wait)
	if err != nil {
		t.Fatal(err)
	}
	sums, _ := profileOf(t, profile)
	if len(sums) != 2 {
		t.Errorf("metrics %v", sums)
	}
	if space := sums["alloc_space"]; space < number*size || space > number*size*11/10+2<<20 {
		t.Errorf("%d bytes instead of about %d", space, number*size)
	}
}

func TestWallTimeIsThatOfAllGoroutinesButTheAgents(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	go func() { waitHere(stop) }()
	runtime.Gosched()
	profile, lasted, err := captureWall(300*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	sums, names := profileOf(t, profile)
	if !strings.Contains(names, "waitHere") || strings.Contains(names, "untilStopped") {
		t.Errorf("functions %q", names)
	}
	if wall := time.Duration(sums["wall"]); wall < lasted {
		t.Errorf("%v of wall time in %v", wall, lasted)
	}
}

//go:noinline
//go:noinline
func (a *Agent) allocateForTest() [][]byte {
	var blocks [][]byte
	for range 64 {
		blocks = append(blocks, make([]byte, 64<<10))
	}
	return blocks
}

func TestMemoryOfTheAgentItselfIsLeftOut(t *testing.T) {
	former := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = former }()
	own := (&Agent{}).allocateForTest()
	allocateBlocks(64, 64<<10)
	runtime.GC()
	runtime.GC()
	var whole bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&whole, 0); err != nil {
		t.Fatal(err)
	}
	dump, err := gunzip(whole.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := withoutOwn(dump)
	if err != nil {
		t.Fatal(err)
	}
	for profile, expected := range map[string]bool{string(dump): true, string(kept): false} {
		found, err := hasOwnSamples([]byte(profile))
		if err != nil || found != expected {
			t.Errorf("samples of the agent: %v, want %v (%v)", found, expected, err)
		}
	}
	runtime.KeepAlive(own)
}

// hasOwnSamples reports whether a profile has samples of the agent's own goroutines.
func hasOwnSamples(profile []byte) (bool, error) {
	kept, err := withoutOwn(profile)
	return len(kept) < len(profile), err
}

func waitHere(stop chan struct{}) { <-stop }

func TestDeepStacksAreCutWithAMark(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	ready := make(chan struct{})
	go func() { deeper(100, ready, stop) }()
	<-ready
	profile, _, err := captureWall(50*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, names := profileOf(t, profile); !strings.Contains(names, cutStack) {
		t.Error("no mark")
	}
}

//go:noinline
func deeper(levels int, ready, stop chan struct{}) {
	if levels == 0 {
		close(ready)
		<-stop
		return
	}
	deeper(levels-1, ready, stop)
}

func TestTruncatedMessagesAreErrors(t *testing.T) {
	message := appendBytes(appendVarint(nil, 1, 300), 2, []byte("text"))
	for size := 1; size < len(message); size++ {
		err := fields(message[:size], func(field) error { return nil })
		if err == nil && size != 3 { // after three bytes the first field is whole
			t.Errorf("%d bytes are accepted", size)
		}
	}
}

func TestCPUProfilesOfTheProgramItselfAreLeftAlone(t *testing.T) {
	busy := func() time.Duration {
		_, _, err := captureCPU(func() time.Duration { return 0 })
		if err == nil {
			t.Error("a second CPU profile was started")
		}
		return time.Millisecond
	}
	if _, _, err := captureCPU(busy); err != nil {
		t.Fatal(err)
	}
}

func TestAllTypesAreOffered(t *testing.T) {
	agent := &Agent{config: Config{Types: slices.Clone(allTypes)}, failures: map[Type]int{CPU: failuresOfAType}}
	defer startMutexProfile(1)()
	if types := agent.types(); len(types) != 5 || slices.Contains(types, CPU) {
		t.Errorf("types %v", types)
	}
}

func TestALockWhoseQueueNeverEmptiesIsContended(t *testing.T) {
	environment := map[string]string{"FLAMEWATCH_MUTEX_FRACTION": "1"}
	for name, value := range minimal {
		environment[name] = value
	}
	environment["FLAMEWATCH_URL"] = "http://127.0.0.1:1"
	for name, value := range environment {
		t.Setenv(name, value)
	}
	agent := Start(Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	defer agent.Stop()
	var lock sync.Mutex
	var delay atomic.Int64
	stop := make(chan struct{})
	var workers sync.WaitGroup
	for range 4 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for !isClosed(stop) {
				start := time.Now()
				lock.Lock()
				delay.Add(int64(time.Since(start)))
				time.Sleep(2 * time.Millisecond)
				lock.Unlock()
			}
		}()
	}
	time.Sleep(100 * time.Millisecond) // the queue has waiters when the capture begins
	before := delay.Load()
	profile, _, err := capture(Contention, time.Second, nil)
	truth := delay.Load() - before
	close(stop)
	workers.Wait()
	if err != nil {
		t.Fatal(err)
	}
	sums, _ := profileOf(t, profile)
	// The runtime charges all waiters the mean of the first and the last one's wait.
	ratio := float64(sums["delay"]) / float64(truth)
	t.Logf("%.3f of the truth", ratio)
	if ratio < 0.7 || ratio > 1.4 {
		t.Errorf("%.2f of the delay that the program counted", ratio)
	}
}

func isClosed(channel chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

func TestMutexFractionIsThatOfTheProgramOrTheSetting(t *testing.T) {
	for text, fraction := range map[string]int{"": 10, " 5 ": 5, "0": noMutexFraction} {
		config := Config{}
		if err := completeMutexFraction(&config, text); err != nil || config.MutexFraction != fraction {
			t.Errorf("%q: %d, %v", text, config.MutexFraction, err)
		}
	}
	for _, text := range []string{"-1", "ten"} {
		if err := completeMutexFraction(&Config{}, text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	runtime.SetMutexProfileFraction(3)
	startMutexProfile(7)()
	if own := runtime.SetMutexProfileFraction(0); own != 3 {
		t.Errorf("the program's fraction became %d", own)
	}
	stop := startMutexProfile(7)
	if set := runtime.SetMutexProfileFraction(-1); set != 7 {
		t.Errorf("fraction %d", set)
	}
	stop()
	if left := runtime.SetMutexProfileFraction(-1); left != 0 {
		t.Errorf("fraction %d after the end", left)
	}
	startMutexProfile(noMutexFraction)()
	agent := &Agent{config: Config{Types: []Type{CPU, Contention}}}
	if types := agent.types(); len(types) != 1 {
		t.Errorf("types %v", types)
	}
}

func BenchmarkUncontendedLock(b *testing.B) {
	for _, fraction := range []int{0, defaultMutexFraction} {
		b.Run(strconv.Itoa(fraction), func(b *testing.B) {
			defer startMutexProfile(fraction)()
			var lock sync.Mutex
			for range b.N {
				lock.Lock()
				lock.Unlock() //nolint:staticcheck // only the lock is of interest
			}
		})
	}
}

func BenchmarkContendedLock(b *testing.B) {
	for _, fraction := range []int{0, defaultMutexFraction} {
		b.Run(strconv.Itoa(fraction), func(b *testing.B) {
			defer startMutexProfile(fraction)()
			var lock sync.Mutex
			b.SetParallelism(4)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					lock.Lock()
					lock.Unlock() //nolint:staticcheck // only the lock is of interest
				}
			})
		})
	}
}
