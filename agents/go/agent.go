package flamewatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	pace            = 500 * time.Millisecond // between a profile and the next handshake
	firstPause      = time.Second            // at most; a program that ends sooner sends nothing
	uploadAttempts  = 6
	firstRetry      = 2 * time.Second // doubled after each attempt, unless the server sets the delay
	longestRetries  = 10 * time.Minute
	failuresOfAType = 3 // consecutive failures after which a type is no longer offered
	stopTimeout     = time.Second
)

// Agent is the agent of this process. All methods may be called on a nil Agent.
type Agent struct {
	config  Config
	client  *client
	stopped chan struct{} // closed by Stop
	ended   chan struct{} // closed when the goroutine has ended
	once    sync.Once

	backoff, lost *backoff
	outage        outage // of the server
	losses        outage // of profiles; ends with the next one that is uploaded
	failures      map[Type]int

	stopMutexProfile func()
}

var (
	mutex   sync.Mutex
	running *Agent
)

// Start starts the agent of this process and returns at once. If it is running already, that agent
// is returned. An invalid configuration is logged, and the returned Agent does nothing.
func Start(config Config) *Agent {
	mutex.Lock()
	defer mutex.Unlock()
	if running != nil {
		return running
	}
	completed, err := complete(config, os.Getenv)
	if err != nil {
		problems := strings.ReplaceAll(err.Error(), "\n", "; ")
		completed.Logger.Warn("flamewatch: profiling is off: " + problems)
		return nil
	}
	agent := &Agent{
		config:   completed,
		client:   newClient(completed),
		stopped:  make(chan struct{}),
		ended:    make(chan struct{}),
		backoff:  newBackoff(),
		lost:     newBackoff(),
		outage:   outage{log: completed.Logger},
		losses:   outage{log: completed.Logger},
		failures: map[Type]int{},
	}
	agent.stopMutexProfile = func() {}
	if slices.Contains(completed.Types, Contention) {
		agent.stopMutexProfile = startMutexProfile(completed.MutexFraction)
	}
	running = agent
	go agent.run()
	return agent
}

// Stop ends profiling. A capture in progress ends early and is uploaded if that takes less than a
// second.
func (a *Agent) Stop() {
	if a == nil {
		return
	}
	a.once.Do(func() {
		close(a.stopped)
		mutex.Lock()
		a.stopMutexProfile()
		running = nil
		mutex.Unlock()
	})
	select {
	case <-a.ended:
	case <-time.After(stopTimeout):
	}
}

func (a *Agent) run() {
	defer close(a.ended)
	pause := time.Duration(a.backoff.uniform() * float64(firstPause))
	for !a.sleep(pause) {
		types := a.types()
		if len(types) == 0 {
			a.config.Logger.Warn("flamewatch: profiling stopped: no profile type can be captured. The program is not affected.")
			return
		}
		pause = a.round(types)
	}
}

// sleep returns true if the agent was stopped.
func (a *Agent) sleep(pause time.Duration) bool {
	select {
	case <-a.stopped:
		return true
	case <-time.After(pause):
		return false
	}
}

func (a *Agent) isStopped() bool { return a.sleep(0) }

// types returns the types to offer: the configured ones without those that failed repeatedly, and without
// CONTENTION while no contention event is sampled.
func (a *Agent) types() []Type {
	var types []Type
	for _, kind := range a.config.Types {
		if kind == Contention && runtime.SetMutexProfileFraction(-1) == 0 {
			continue
		}
		if a.failures[kind] < failuresOfAType {
			types = append(types, kind)
		}
	}
	return types
}

// round does one handshake and serves its request. It returns the pause until the next handshake.
func (a *Agent) round(types []Type) time.Duration {
	ctx, cancel := a.untilStopped(0)
	defer cancel()
	request, err := a.client.handshake(ctx, types)
	if err != nil {
		return a.afterError(err)
	}
	a.backoff.succeed()
	a.outage.over(a.config.URL)
	profile, lasted, err := a.capture(request)
	if err != nil {
		a.failures[request.kind]++
		a.logLoss("capturing a "+string(request.kind)+" profile failed", err)
		return a.lost.next(nil)
	}
	a.failures[request.kind] = 0
	request.duration = lasted
	if err := a.upload(request, profile); err != nil {
		a.logLoss("profile not uploaded", err)
		return a.lost.next(delayOf(err))
	}
	a.lost.succeed()
	a.losses.forget()
	return pace
}

// capture captures and encodes a profile. Panics become errors: they must not end the program.
func (a *Agent) capture(request assignment) (profile []byte, lasted time.Duration, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return capture(request.kind, request.duration, a.stopped)
}

// upload sends a profile, with retries through a short outage.
func (a *Agent) upload(request assignment, profile []byte) error {
	waited := time.Duration(0)
	for attempt := 0; ; attempt++ {
		ctx, cancel := a.untilStopped(stopTimeout)
		err := a.client.upload(ctx, request, profile)
		cancel()
		if err == nil || !isWorthAnother(err) || attempt == uploadAttempts-1 {
			return err
		}
		pause := firstRetry << attempt
		if delay := delayOf(err); delay != nil {
			pause = *delay
		}
		pause += time.Duration(0.1 * a.lost.uniform() * float64(pause))
		if waited += pause; waited > longestRetries || a.sleep(pause) {
			return err
		}
	}
}

// untilStopped returns a context that is cancelled when the agent has been stopped for `grace`.
func (a *Agent) untilStopped(grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-a.stopped:
		}
		select {
		case <-ctx.Done():
		case <-time.After(grace):
			cancel()
		}
	}()
	return ctx, cancel
}

// isWorthAnother returns false for permanent errors: the same bytes get the same one again.
func isWorthAnother(err error) bool {
	var response *errorResponse
	return !errors.As(err, &response) || response.status >= 500 || response.status == 408
}

func delayOf(err error) *time.Duration {
	var response *errorResponse
	if errors.As(err, &response) {
		return response.retryAfter
	}
	return nil
}

// afterError logs the first error of each kind in an outage, and returns the pause.
func (a *Agent) afterError(err error) time.Duration {
	var response *errorResponse
	if !errors.As(err, &response) {
		return a.failed("server", "cannot send profiles to "+a.config.URL+": "+err.Error(), a.backoff.next(nil))
	}
	switch status := response.status; {
	case status == 409:
		a.outage.over(a.config.URL)
		if response.retryAfter != nil {
			a.backoff.succeed()
		}
		return a.backoff.next(response.retryAfter)
	case status == 401 || status == 403:
		line := "API key rejected by " + a.config.URL + " (" + response.Error() + ")"
		return a.failed("key", line, a.backoff.nextLong(response.retryAfter))
	case status >= 500 || status == 408:
		line := "cannot send profiles to " + a.config.URL + ": " + response.Error()
		return a.failed("server", line, a.backoff.next(response.retryAfter))
	default:
		line := "request rejected by " + a.config.URL + " (" + response.Error() + ")"
		return a.failed("request", line, a.backoff.next(response.retryAfter))
	}
}

func (a *Agent) failed(kind, line string, pause time.Duration) time.Duration {
	if !a.isStopped() {
		a.outage.failed(kind, fmt.Sprintf("%s (retry in %.0f s). The program is not affected.", line, pause.Seconds()))
	}
	return pause
}

func (a *Agent) logLoss(what string, err error) {
	if !a.isStopped() {
		a.losses.failed(what, what+": "+err.Error()+". The program is not affected.")
	}
}
