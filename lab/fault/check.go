package fault

import (
	"errors"
	"fmt"
	"path"
	"slices"
)

// possible lists the actions that are possible at points of each kind.
var possible = map[Kind][]Action{
	Cloud:    {Refuse, Delay, Drop, Lose, Mute, Fail, Hold},
	Talos:    {Refuse, Delay, Drop, Lose, Cut, Fail, Hold},
	Kube:     {Refuse, Delay, Drop, Lose, Mute, Fail, Hold},
	Machine:  {Delay, Crash},
	Stage:    {Delay, Fail, Hold, Crash},
	Boot:     {Delay, Fail, Hold, Crash},
	Install:  {Delay, Fail, Hold, Crash},
	Service:  {Delay, Fail, Hold, Crash},
	Health:   {Fail},
	Clock:    {Delay, Hold, Skew},
	Member:   {Delay, Hold},
	Node:     {Delay, Hold, Drop},
	Pod:      {Delay, Fail, Hold},
	Datapath: {Refuse, Delay, Drop, Hold},
	Image:    {Delay, Fail, Hold},
	Disk:     {Absent},
	PKI:      {Other},
	Host:     {Delay, Crash, Absent},
}

// FieldError is a fault in one field of a rule.
type FieldError struct {
	Field, Message string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// Check returns the faults of a rule: FieldErrors, joined.
func (r Rule) Check() error {
	var faults []error
	fault := func(field, format string, args ...any) {
		faults = append(faults, &FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	actions, known := possible[r.On]
	if !known {
		fault("on", "no kind %q; there are cloud, talos, kube, machine, stage, boot, install, service, health, clock, member, node, pod, datapath, image, disk, pki and host", r.On)
	} else if !slices.Contains(actions, r.Do) {
		fault("do", "%q is not possible on %q; possible is one of %q", r.Do, r.On, actions)
	}
	for _, pattern := range []struct{ field, text string }{{"name", r.Name}, {"subject", r.Subject}} {
		if _, err := path.Match(pattern.text, ""); err != nil {
			fault(pattern.field, "%q is not a pattern", pattern.text)
		}
	}
	for _, count := range []struct {
		field string
		count int
	}{{"times", r.Times}, {"skip", r.Skip}, {"every", r.Every}} {
		if count.count < 0 {
			fault(count.field, "is %d, cannot be negative", count.count)
		}
	}
	if (r.Delay > 0) != (r.Do == Delay) {
		fault("delay", "is needed for do %q, and for nothing else", Delay)
	}
	if (r.By != 0) != (r.Do == Skew) {
		fault("by", "is needed for do %q, and for nothing else", Skew)
	}
	if r.Code != "" && r.Do != Fail && (r.Do != Crash || r.Code != StaysOff) {
		fault("code", "is for do %q only, but for %q of do %q", Fail, StaysOff, Crash)
	}
	if r.Code == StaysOff && r.On == Host {
		fault("code", "a host that stays off is do %q", Absent)
	}
	if r.Message != "" && r.Do != Fail {
		fault("message", "is for do %q only", Fail)
	}
	return errors.Join(faults...)
}
