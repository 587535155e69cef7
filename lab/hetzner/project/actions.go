package project

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// lockless are the commands of actions that only change settings, and lock nothing.
var lockless = map[string]bool{
	"change_dns_ptr": true, "change_protection": true, "enable_backup": true, "disable_backup": true,
}

// Reference names a resource that an action changes.
type Reference = schema.ActionResourceReference

// Step is an action to carry out.
type Step struct {
	Command string
	// Takes is its duration; the default is that of pace.CloudAction.
	Takes pace.Step
	// About are the resources that it changes. They are locked until all steps that were started together are done, unless the command is lockless.
	About []Reference
	// Begin is called at the start of the step, Done at its end. Work is called between them without the lock, and may wait.
	Begin func()
	Work  func(ctx context.Context)
	Done  func() error
	// Undone is called if the step fails.
	Undone func()
}

// action is a step that was started.
type action struct {
	schema.Action
	// began and takes determine its progress while it runs.
	began time.Time
	takes time.Duration
}

// view returns the action as it is now.
func (a *action) view() schema.Action {
	view := a.Action
	if view.Status == string(hcloud.ActionStatusRunning) && a.takes > 0 {
		view.Progress = int(min(99, 100*time.Since(a.began)/a.takes))
	}
	return view
}

// Actions are the actions of a project.
type Actions struct {
	project *Project
	byID    map[int64]*action
	lastID  int64
	// locks counts the actions that have locked a resource.
	locks map[Reference]int
}

func newActions(of *Project) *Actions {
	return &Actions{project: of, byID: map[int64]*action{}, locks: map[Reference]int{}}
}

// Start starts steps that follow one another. If one fails, those after it are cancelled. Whose is the subject of their facts.
func (a *Actions) Start(whose string, steps ...Step) []schema.Action {
	actions := make([]*action, 0, len(steps))
	views := make([]schema.Action, 0, len(steps))
	for _, step := range steps {
		a.lastID++
		made := &action{Action: schema.Action{
			ID: a.lastID, Command: step.Command, Status: string(hcloud.ActionStatusRunning),
			Started: Now(), Resources: step.About,
		}}
		a.byID[made.ID] = made
		a.lock(step)
		actions = append(actions, made)
		views = append(views, made.view())
	}
	a.project.Run(func() { a.run(whose, steps, actions) })
	return views
}

// StartOne is Start for a single step.
func (a *Actions) StartOne(whose string, step Step) schema.Action { return a.Start(whose, step)[0] }

// Acting answers with an action that was started.
func Acting(started schema.Action) (api.Reply, error) {
	return api.Created(schema.ActionGetResponse{Action: started})
}

// Unlocked returns an error if an action has locked a resource.
func (a *Actions) Unlocked(what Reference) error {
	if a.locks[what] > 0 {
		return api.Failure(hcloud.ErrorCodeLocked, "cannot perform operation because %s is locked", api.Spoken(what.Type))
	}
	return nil
}

func (a *Actions) lock(step Step) {
	if lockless[step.Command] {
		return
	}
	for _, one := range step.About {
		a.locks[one]++
	}
}

func (a *Actions) unlock(step Step) {
	if lockless[step.Command] {
		return
	}
	for _, one := range step.About {
		if a.locks[one]--; a.locks[one] == 0 {
			delete(a.locks, one)
		}
	}
}

// run carries out steps that were started together. It is called without the lock.
func (a *Actions) run(whose string, steps []Step, actions []*action) {
	var failed *schema.ActionError
	for i, step := range steps {
		if failed == nil {
			failed = a.carryOut(whose, step, actions[i])
		} else {
			failed = &schema.ActionError{Code: "canceled", Message: "canceled"}
		}
		if a.project.life.Err() != nil {
			return
		}
		a.project.Lock()
		if failed == nil && step.Done != nil {
			if err := step.Done(); err != nil {
				failed = &schema.ActionError{Code: "action_failed", Message: err.Error()}
			}
		}
		if failed != nil && step.Undone != nil {
			step.Undone()
		}
		a.finish(whose, actions[i], failed)
		if i == len(steps)-1 {
			for _, done := range steps {
				a.unlock(done)
			}
		}
		a.project.Unlock()
	}
}

// carryOut waits for the duration of a step and meets the faults that were injected for it, and does its work. It is called without the lock.
func (a *Actions) carryOut(whose string, step Step, its *action) *schema.ActionError {
	p := a.project
	p.Lock()
	its.began, its.takes = time.Now(), p.Pace.Of(cmp.Or(step.Takes, pace.CloudAction), whose)
	if step.Begin != nil {
		step.Begin()
	}
	timer := time.NewTimer(its.takes)
	p.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.life.Done():
		return nil
	}
	outcome, err := p.Faults.Meet(p.life, fault.Point{On: fault.Cloud, Name: "action " + step.Command, Subject: Subject})
	switch {
	case err != nil:
		return nil
	case outcome != nil && outcome.Do == fault.Drop:
		<-p.life.Done() // it never ends
		return nil
	case outcome != nil:
		return &schema.ActionError{
			Code:    cmp.Or(outcome.Code, "action_failed"),
			Message: cmp.Or(outcome.Message, "Action failed"),
		}
	}
	if step.Work != nil {
		step.Work(p.life)
	}
	return nil
}

// finish ends an action.
func (a *Actions) finish(whose string, its *action, failed *schema.ActionError) {
	its.Status, its.Error = string(hcloud.ActionStatusSuccess), failed
	if failed != nil {
		its.Status = string(hcloud.ActionStatusError)
	}
	its.Progress, its.Finished = 100, new(Now())
	a.project.Timeline.Record(whose, "action", its.Command, "status", its.Status)
}

var actionOrders = map[string]api.Order[*action]{
	"id":       func(a, b *action) int { return cmp.Compare(a.ID, b.ID) },
	"command":  func(a, b *action) int { return strings.Compare(a.Command, b.Command) },
	"status":   func(a, b *action) int { return strings.Compare(a.Status, b.Status) },
	"progress": func(a, b *action) int { return cmp.Compare(a.view().Progress, b.view().Progress) },
	"started":  func(a, b *action) int { return api.ByTime(a.Started, b.Started) },
	"finished": func(a, b *action) int {
		return api.ByTime(api.ValueOr(a.Finished, Now()), api.ValueOr(b.Finished, Now()))
	},
}
