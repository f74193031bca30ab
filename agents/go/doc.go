// Package flamewatch captures profiles of the process in which it runs and uploads them to a
// Flamewatch server, which requests a profile of each type about once a minute:
//
//	import flamewatch "flamewatch.dev/agent"
//
//	func main() {
//		agent := flamewatch.Start(flamewatch.Config{Service: "checkout", Version: "1.4.2"})
//		defer agent.Stop()
//		…
//	}
//
// The address of the server and the API key come from FLAMEWATCH_URL and FLAMEWATCH_KEY. Start
// returns at once and never fails: an invalid setting is reported in one line of the log, and the
// program runs without profiling. Only the standard library is used.
//
// Types: CPU, WALL, HEAP, HEAP_ALLOC, CONTENTION and THREADS (goroutines). CPU profiles, and
// THREADS, carry the labels of runtime/pprof.Do.
package flamewatch
