// Package timeline records what was true in the lab and when: the facts from which a gate's delay and a run's overhead are computed.
package timeline

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Fact is one thing that became true.
type Fact struct {
	// Seq counts from 1.
	Seq int `json:"seq"`
	// At is measured: the seconds since the lab started.
	At float64 `json:"at"`
	// Subject is a server, a node, a cluster or a cloud.
	Subject string `json:"subject"`
	// What is the kind of fact, such as "stage", "service" or "power".
	What string `json:"what"`
	// Value is the new value, such as "booting".
	Value string `json:"value"`
	// Detail has more about it. It contains nothing measured: the same seed gives the same details.
	Detail map[string]string `json:"detail,omitempty"`
}

// Timeline is the list of facts of one lab. It is safe for concurrent use.
type Timeline struct {
	mu      sync.Mutex
	now     func() time.Time
	started time.Time
	facts   []Fact
	out     *json.Encoder
	more    chan struct{}
	heard   []func(Fact)
}

// New starts a timeline that also writes each fact to out as a line of JSON,
// unless out is nil.
func New(now func() time.Time, out io.Writer) *Timeline {
	t := &Timeline{now: now, started: now(), more: make(chan struct{})}
	if out != nil {
		t.out = json.NewEncoder(out)
	}
	return t
}

// Started returns when the lab started, by the wall clock: the start of the timeline.
func (t *Timeline) Started() time.Time { return t.started }

// Hear calls a function with each fact that is recorded from now on. Record returns after all these calls: whatever they change is in effect for the caller
// of Record.
func (t *Timeline) Hear(each func(Fact)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = append(t.heard, each)
}

// Record adds a fact. Detail consists of pairs of key and value.
func (t *Timeline) Record(subject, what, value string, detail ...string) {
	fact := Fact{Subject: subject, What: what, Value: value}
	for i := 0; i+1 < len(detail); i += 2 {
		if fact.Detail == nil {
			fact.Detail = map[string]string{}
		}
		fact.Detail[detail[i]] = detail[i+1]
	}
	for _, each := range t.add(&fact) {
		each(fact)
	}
}

// add adds the fact and returns the functions to call with it.
func (t *Timeline) add(fact *Fact) []func(Fact) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fact.Seq, fact.At = len(t.facts)+1, t.now().Sub(t.started).Seconds()
	t.facts = append(t.facts, *fact)
	if t.out != nil {
		// The file is for users; the lab continues if the disk is full.
		_ = t.out.Encode(fact)
	}
	close(t.more)
	t.more = make(chan struct{})
	return t.heard
}

// After returns the facts that follow seq, and a channel that is closed when there are more.
func (t *Timeline) After(seq int) ([]Fact, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq >= len(t.facts) {
		return nil, t.more
	}
	return append([]Fact(nil), t.facts[max(seq, 0):]...), t.more
}
