// Package task is the tasks of a cluster: operations that take time on a host.
package task

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
)

// Task is a task that was started.
type Task struct {
	upid     string
	host     string
	kind, id string
	caller   string
	pid      uint64
	began    time.Time
	ended    time.Time
	exit     string // once it has ended: "OK", or an error
	log      []string
}

// Logf adds a line to the log of the task.
func (t *Task) Logf(format string, args ...any) {
	t.log = append(t.log, fmt.Sprintf(format, args...))
}

// Job is the work of a task.
type Job struct {
	// Kind is the kind of the task, such as "qmcreate", and ID its subject.
	Kind, ID string
	// Machine is the machine that it is about, or "": the subject of its facts.
	Machine string
	// Takes is its duration; the default is that of pace.CloudAction.
	Takes pace.Step
	// Work is called without the lock and may wait; Done is called after it. After is called at the end, whether or not the task failed.
	Work  func(ctx context.Context, its *Task) error
	Done  func(its *Task) error
	After func(failed error)
}

// subject returns that of the facts of the task.
func (j Job) subject() string { return cmp.Or(j.Machine, datacenter.Subject) }

// Tasks are the tasks of a cluster.
type Tasks struct {
	datacenter *datacenter.Datacenter
	byUPID     map[string]*Task
}

// New returns a cluster without tasks.
func New(in *datacenter.Datacenter) *Tasks {
	return &Tasks{datacenter: in, byUPID: map[string]*Task{}}
}

// Start starts a task on the host that the path of a call names, and answers with
// its name.
func (t *Tasks) Start(r *api.Call, job Job) (any, error) {
	its := &Task{
		host: r.PathValue("node"), kind: job.Kind, id: job.ID, caller: r.Caller.Name(), began: time.Now(),
		pid: t.datacenter.Identities.Number("task", job.Kind+job.ID)%0x3fffff + 1000,
	}
	its.upid = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", its.host, its.pid, its.began.UnixMilli()/10%0xffffffff, its.began.Unix(), its.kind, its.id, its.caller)
	t.byUPID[its.upid] = its
	t.datacenter.Run(func() { t.run(its, job) })
	return its.upid, nil
}

// Logf adds a line to the log of a task. It is called without the lock.
func (t *Tasks) Logf(its *Task, format string, args ...any) {
	t.datacenter.Lock()
	defer t.datacenter.Unlock()
	its.Logf(format, args...)
}

// run carries out a task. It is called without the lock.
func (t *Tasks) run(its *Task, job Job) {
	failed := t.carryOut(its, job)
	if t.datacenter.Life().Err() != nil {
		return
	}
	t.datacenter.Lock()
	defer t.datacenter.Unlock()
	if failed == nil {
		failed = t.datacenter.Reachable(its.host)
	}
	if failed == nil && job.Done != nil {
		failed = job.Done(its)
	}
	if job.After != nil {
		job.After(failed)
	}
	its.ended, its.exit = time.Now(), "OK"
	if failed != nil {
		its.exit = failed.Error()
		its.Logf("TASK ERROR: %s", its.exit)
	} else {
		its.Logf("TASK OK")
	}
	t.datacenter.Timeline.Record(job.subject(), "task", its.kind, "status", its.exit)
}

// carryOut waits for the duration of a task and meets the faults that were injected for it, and does its work. It is called without the lock.
func (t *Tasks) carryOut(its *Task, job Job) error {
	life := t.datacenter.Life()
	if err := t.datacenter.Pace.Wait(life, cmp.Or(job.Takes, pace.CloudAction), job.subject()+"/"+job.Kind); err != nil {
		return err
	}
	outcome, err := t.datacenter.Faults.Meet(life, fault.Point{On: fault.Cloud, Name: "task " + job.Kind, Subject: datacenter.Subject})
	switch {
	case err != nil:
		return err
	case outcome != nil && outcome.Do == fault.Drop:
		<-life.Done() // it never ends
		return life.Err()
	case outcome != nil:
		return api.Failure("%s", cmp.Or(outcome.Message, "unexpected status"))
	}
	if job.Work == nil {
		return nil
	}
	return job.Work(life, its)
}
