package fault

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Set holds the rules of one lab. It is safe for concurrent use.
type Set struct {
	timeline *timeline.Timeline

	mu      sync.Mutex
	rules   []*armed
	count   int
	changed chan struct{}
}

// armed is a rule, with the number of points that met it.
type armed struct {
	Rule
	met     int
	removed chan struct{}
}

// NewSet returns a set without rules.
func NewSet(timeline *timeline.Timeline) *Set {
	return &Set{timeline: timeline, changed: make(chan struct{})}
}

// NewID returns an id that no other rule has.
func (s *Set) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return fmt.Sprintf("fault-%d", s.count)
}

// Add arms a rule and returns its id.
func (s *Set) Add(rule Rule) (string, error) {
	if err := rule.Check(); err != nil {
		return "", err
	}
	if rule.ID == "" {
		rule.ID = s.NewID()
	}
	if !s.arm(rule) {
		return "", fmt.Errorf("there is a fault %q already", rule.ID)
	}
	s.timeline.Record(rule.ID, "fault", "armed", "on", string(rule.On), "name", rule.Name, "subject", rule.Subject, "do", string(rule.Do))
	return rule.ID, nil
}

// arm adds a rule unless its id exists, and reports whether it did.
func (s *Set) arm(rule Rule) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.rules, func(other *armed) bool { return other.ID == rule.ID }) {
		return false
	}
	s.rules = append(s.rules, &armed{Rule: rule, removed: make(chan struct{})})
	s.announce()
	return true
}

// Remove removes a rule; whatever it holds is released.
func (s *Set) Remove(id string) error {
	if !s.disarm(id) {
		return fmt.Errorf("there is no fault %q", id)
	}
	s.timeline.Record(id, "fault", "removed")
	return nil
}

func (s *Set) disarm(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.rules, func(rule *armed) bool { return rule.ID == id })
	if i < 0 {
		return false
	}
	close(s.rules[i].removed)
	s.rules = slices.Concat(s.rules[:i], s.rules[i+1:])
	s.announce()
	return true
}

// Rules lists the armed rules.
func (s *Set) Rules() []Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	rules := make([]Rule, 0, len(s.rules))
	for _, rule := range s.rules {
		rules = append(rules, rule.Rule)
	}
	return rules
}

// Has reports whether a rule of this kind is armed, and returns a channel that is closed when the rules change.
func (s *Set) Has(kind Kind) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rule := range s.rules {
		if rule.On == kind {
			return true, s.changed
		}
	}
	return false, s.changed
}

// Meet is called at a point. It waits until delays and holds have ended and returns what happens then, or nil for nothing. Its error is that of the context.
func (s *Set) Meet(ctx context.Context, point Point) (*Outcome, error) {
	strike := s.take(point)
	// All of them are recorded here, where nothing is locked: a fact may arm other rules.
	for _, rule := range strike {
		s.timeline.Record(point.Subject, "fault", string(rule.Do), "rule", rule.ID, "on", string(point.On), "name", point.Name)
	}
	for _, rule := range strike {
		switch rule.Do {
		case Delay:
			timer := time.NewTimer(time.Duration(rule.Delay))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return nil, context.Cause(ctx)
			}
		case Hold:
			select {
			case <-rule.removed:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		default:
			return &Outcome{Do: rule.Do, Code: rule.Code, Message: rule.Message, By: time.Duration(rule.By)}, nil
		}
	}
	return nil, nil
}

// take counts the point and returns the rules that apply, up to the first that determines the outcome.
func (s *Set) take(point Point) []*armed {
	s.mu.Lock()
	defer s.mu.Unlock()
	var strike []*armed
	kept := s.rules[:0:0]
	for i, rule := range s.rules {
		if !rule.matches(point) {
			kept = append(kept, rule)
			continue
		}
		rule.met++
		if !rule.strikes() {
			kept = append(kept, rule)
			continue
		}
		strike = append(strike, rule)
		// A hold stays until it is removed, however often it was met.
		if !rule.isSpent() || rule.Do == Hold {
			kept = append(kept, rule)
		}
		if rule.Do != Delay && rule.Do != Hold {
			kept = append(kept, s.rules[i+1:]...)
			break
		}
	}
	if len(kept) != len(s.rules) {
		s.rules = kept
		s.announce()
	}
	return strike
}

func (s *Set) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// strikes reports whether the point that was just counted is one at which the fault happens.
func (r *armed) strikes() bool {
	counted := r.met - r.Skip
	return counted > 0 && counted%max(r.Every, 1) == 0
}

// isSpent reports whether the fault has happened as often as it may.
func (r *armed) isSpent() bool {
	return r.Times > 0 && r.met >= r.Skip+r.Times*max(r.Every, 1)
}

func (r *armed) matches(point Point) bool {
	if r.Do == Hold && r.isSpent() {
		return false
	}
	return r.On == point.On && Like(r.Name, point.Name) && Like(r.Subject, point.Subject)
}

// Like reports whether a pattern matches: as in path.Match, but "*" also matches "/". An empty pattern matches all.
func Like(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	flat := strings.NewReplacer("/", "\x01")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(text))
	return err == nil && ok
}
