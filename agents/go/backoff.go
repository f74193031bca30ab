package flamewatch

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	firstRange         = 60 * time.Second
	rangeGrowth        = 1.3
	longestRange       = time.Hour
	longestServerDelay = 24 * time.Hour // a wrong delay of the server must not end profiling
)

// backoff counts consecutive failures and returns the pause after each of them.
type backoff struct {
	failures int
	uniform  func() float64 // random, from 0 to 1
}

func newBackoff() *backoff { return &backoff{uniform: rand.Float64} }

func (b *backoff) succeed() { b.failures = 0 }

// next returns the server's delay or slightly more; without one a random time from a range that
// grows with each failure, so that a restarting server is not overloaded.
func (b *backoff) next(serverDelay *time.Duration) time.Duration {
	whole := b.wholeRange()
	b.failures++
	if serverDelay == nil {
		return time.Duration(b.uniform() * float64(whole))
	}
	return time.Duration(float64(min(*serverDelay, longestServerDelay)) * (1 + 0.1*b.uniform()))
}

// nextLong returns a pause for errors that waiting does not cure, such as a rejected key.
func (b *backoff) nextLong(serverDelay *time.Duration) time.Duration {
	whole := float64(b.wholeRange())
	return max(b.next(serverDelay), time.Duration(whole/2*(1+b.uniform())))
}

func (b *backoff) wholeRange() time.Duration {
	grown := float64(firstRange) * math.Pow(rangeGrowth, float64(min(b.failures, 64)))
	return time.Duration(min(grown, float64(longestRange)))
}
