package hetzner

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// quiet are the actions that are about settings and lock nothing.
var quiet = map[string]bool{
	"change_dns_ptr": true, "change_protection": true, "assign_floating_ip": true, "unassign_floating_ip": true,
	"enable_backup": true, "disable_backup": true,
}

// reference names a resource that an action is about.
type reference = schema.ActionResourceReference

// action is something that takes its time.
type action struct {
	schema.Action
	// began and takes tell its progress while it runs.
	began time.Time
	takes time.Duration
}

// step is an action to be done.
type step struct {
	command string
	// takes is how long, CloudAction unless it is said.
	takes pace.Step
	// about are the resources; they are locked until the whole chain is done,
	// unless the command is a quiet one.
	about []reference
	// begin is called when the step's turn has come, done when its time has
	// passed; both with the cloud locked. What must wait is in work, without.
	begin func()
	work  func(ctx context.Context)
	done  func() error
	// undone is called instead of done when the step fails.
	undone func()
}

// start does steps one after the other. When one fails, those after it do not
// happen. Whose names what they happen to.
func (c *Cloud) start(whose string, steps ...step) []schema.Action {
	actions := make([]*action, 0, len(steps))
	views := make([]schema.Action, 0, len(steps))
	for _, next := range steps {
		c.lastAction++
		made := &action{Action: schema.Action{
			ID: c.lastAction, Command: next.command, Status: string(hcloud.ActionStatusRunning),
			Started: now(), Resources: next.about,
		}}
		c.actions[made.ID] = made
		if !quiet[next.command] {
			c.lock(next.about)
		}
		actions = append(actions, made)
		views = append(views, made.view())
	}
	c.run(func() { c.chain(whose, steps, actions) })
	return views
}

// startOne is start for a single step.
func (c *Cloud) startOne(whose string, only step) schema.Action { return c.start(whose, only)[0] }

// act starts an action on one resource that cannot fail of itself, and answers
// with it.
func (c *Cloud) act(whose, command, kind string, id int64, done func()) (reply, error) {
	return acting(c.startOne(whose, step{command: command, about: []reference{{Type: kind, ID: id}}, done: func() error {
		done()
		return nil
	}}))
}

// acting answers with an action that was started.
func acting(began schema.Action) (reply, error) {
	return created(schema.ActionGetResponse{Action: began})
}

// chain is the life of the actions that were started together.
func (c *Cloud) chain(whose string, steps []step, actions []*action) {
	var failed *schema.ActionError
	for i, next := range steps {
		if failed == nil {
			failed = c.perform(whose, next, actions[i])
		} else {
			failed = &schema.ActionError{Code: "canceled", Message: "canceled"}
		}
		if c.life.Err() != nil {
			return
		}
		c.mu.Lock()
		if failed == nil && next.done != nil {
			if err := next.done(); err != nil {
				failed = &schema.ActionError{Code: "action_failed", Message: err.Error()}
			}
		}
		if failed != nil && next.undone != nil {
			next.undone()
		}
		c.finish(whose, actions[i], failed)
		if i == len(steps)-1 {
			c.release(steps)
		}
		c.mu.Unlock()
	}
}

// perform lets the step's time pass, with the faults that are armed for it.
func (c *Cloud) perform(whose string, next step, its *action) *schema.ActionError {
	takes := next.takes
	if takes == "" {
		takes = pace.CloudAction
	}
	c.mu.Lock()
	its.began, its.takes = time.Now(), c.Pace.Of(takes, whose)
	if next.begin != nil {
		next.begin()
	}
	timer := time.NewTimer(its.takes)
	c.mu.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.life.Done():
		return nil
	}
	outcome, err := c.Faults.Meet(c.life, fault.Point{On: fault.Cloud, Name: "action " + next.command, Subject: subject})
	switch {
	case err != nil:
		return nil
	case outcome != nil && outcome.Do == fault.Drop:
		<-c.life.Done() // it never ends
		return nil
	case outcome != nil:
		return &schema.ActionError{
			Code:    cmp.Or(outcome.Code, "action_failed"),
			Message: cmp.Or(outcome.Message, "Action failed"),
		}
	}
	if next.work != nil {
		next.work(c.life)
	}
	return nil
}

// finish ends an action.
func (c *Cloud) finish(whose string, its *action, failed *schema.ActionError) {
	its.Status, its.Error = string(hcloud.ActionStatusSuccess), failed
	if failed != nil {
		its.Status = string(hcloud.ActionStatusError)
	}
	its.Progress, its.Finished = 100, pointer(now())
	c.Timeline.Record(whose, "action", its.Command, "status", its.Status)
}

// lock keeps resources from other actions.
func (c *Cloud) lock(about []reference) {
	for _, one := range about {
		c.busy[one]++
	}
}

// release unlocks what the steps were about.
func (c *Cloud) release(steps []step) {
	for _, done := range steps {
		if quiet[done.command] {
			continue
		}
		for _, one := range done.about {
			if c.busy[one]--; c.busy[one] == 0 {
				delete(c.busy, one)
			}
		}
	}
}

// unlocked refuses what cannot be done while an action runs.
func (c *Cloud) unlocked(kind string, id int64) error {
	if c.busy[reference{Type: kind, ID: id}] > 0 {
		return failure(hcloud.ErrorCodeLocked, "cannot perform operation because %s is locked", spoken(kind))
	}
	return nil
}

// view is the action as it is now.
func (a *action) view() schema.Action {
	view := a.Action
	if view.Status == string(hcloud.ActionStatusRunning) && a.takes > 0 {
		view.Progress = int(min(99, 100*time.Since(a.began)/a.takes))
	}
	return view
}

var actionOrders = map[string]order[*action]{
	"id":       func(a, b *action) int { return cmp.Compare(a.ID, b.ID) },
	"command":  func(a, b *action) int { return strings.Compare(a.Command, b.Command) },
	"status":   func(a, b *action) int { return strings.Compare(a.Status, b.Status) },
	"progress": func(a, b *action) int { return cmp.Compare(a.view().Progress, b.view().Progress) },
	"started":  func(a, b *action) int { return byTime(a.Started, b.Started) },
	"finished": func(a, b *action) int { return byTime(valueOr(a.Finished, now()), valueOr(b.Finished, now())) },
}
