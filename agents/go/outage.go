package flamewatch

import (
	"log/slog"
	"time"
)

// outage logs the first failure of each kind, and one line when it is over.
type outage struct {
	log    *slog.Logger
	logged map[string]bool // kinds of failures logged in this outage
	since  time.Time
}

func (o *outage) failed(kind, line string) {
	if o.logged[kind] {
		return
	}
	if o.logged == nil {
		o.logged, o.since = map[string]bool{}, time.Now()
	}
	o.logged[kind] = true
	o.log.Warn("flamewatch: " + line)
}

func (o *outage) over(server string) {
	if o.logged != nil {
		o.logged = nil
		lasted := time.Since(o.since).Round(time.Second)
		o.log.Info("flamewatch: " + server + " works again, after " + lasted.String() + ".")
	}
}

// forget ends the outage without a line.
func (o *outage) forget() { o.logged = nil }
