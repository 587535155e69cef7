package proxmox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// task is something that takes its time on a host.
type task struct {
	upid     string
	host     string
	kind, id string
	who      string
	pid      uint64
	begun    time.Time
	ended    time.Time
	exit     string // once it ended: "OK", or why not
	log      []string
}

// job is what a task does.
type job struct {
	// kind is what it is called, such as "qmcreate", and id what it is about.
	kind, id string
	// whose is the machine in whose time it passes, or nothing.
	whose string
	// takes is how long, CloudAction unless it is said.
	takes pace.Step
	// work is done without the lock and may wait; done with it, after that. after
	// is called with the lock when it ended, whichever way.
	work  func(ctx context.Context, its *task) error
	done  func(its *task) error
	after func(failed error)
}

// start begins a task and answers with its name.
func (c *Cluster) start(r *call, does job) (any, error) {
	its := &task{
		host: r.PathValue("node"), kind: does.kind, id: does.id, who: r.who.name(), begun: time.Now(),
		pid: c.identities.Number("task", does.kind+does.id)%0x3fffff + 1000,
	}
	its.upid = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", its.host, its.pid, its.begun.UnixMilli()/10%0xffffffff, its.begun.Unix(), its.kind, its.id, its.who)
	c.tasks[its.upid] = its
	if !c.closed {
		c.work.Go(func() { c.perform(its, does) })
	}
	return its.upid, nil
}

// perform is the life of a task.
func (c *Cluster) perform(its *task, does job) {
	failed := c.pass(its, does)
	if c.life.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed == nil {
		failed = c.reachable(its.host)
	}
	if failed == nil && does.done != nil {
		failed = does.done(its)
	}
	if does.after != nil {
		does.after(failed)
	}
	its.ended, its.exit = time.Now(), "OK"
	if failed != nil {
		its.exit = failed.Error()
		its.say("TASK ERROR: %s", its.exit)
	} else {
		its.say("TASK OK")
	}
	c.Timeline.Record(does.subject(), "task", its.kind, "status", its.exit)
}

// subject is whom facts of the task are about.
func (j job) subject() string {
	if j.whose == "" {
		return Subject
	}
	return j.whose
}

// pass lets the task's time pass, with the faults that are armed for it.
func (c *Cluster) pass(its *task, does job) error {
	step := does.takes
	if step == "" {
		step = pace.CloudAction
	}
	if err := c.Pace.Wait(c.life, step, does.subject()+"/"+does.kind); err != nil {
		return err
	}
	outcome, err := c.Faults.Meet(c.life, fault.Point{On: fault.Cloud, Name: "task " + does.kind, Subject: Subject})
	switch {
	case err != nil:
		return err
	case outcome != nil && outcome.Do == fault.Drop:
		<-c.life.Done() // it never ends
		return c.life.Err()
	case outcome != nil:
		message := outcome.Message
		if message == "" {
			message = "unexpected status"
		}
		return failure("%s", message)
	}
	if does.work == nil {
		return nil
	}
	return does.work(c.life, its)
}

func (t *task) say(format string, args ...any) {
	t.log = append(t.log, fmt.Sprintf(format, args...))
}

func (c *Cluster) taskRoutes() map[string]handler {
	return map[string]handler{
		"GET /cluster/tasks":                    c.listAllTasks,
		"GET /nodes/{node}/tasks":               c.listTasks,
		"GET /nodes/{node}/tasks/{upid}/status": c.getTask,
		"GET /nodes/{node}/tasks/{upid}/log":    c.getTaskLog,
		"DELETE /nodes/{node}/tasks/{upid}":     c.stopTask,
	}
}

// task is the one that a path names, which is seen by who began it and by who
// may audit the host.
func (c *Cluster) task(r *call) (*task, error) {
	upid := r.PathValue("upid")
	found := c.tasks[upid]
	if found == nil {
		if !strings.HasPrefix(upid, "UPID:") {
			return nil, invalid("upid", "value '%s' does not look like a valid Process ID", upid)
		}
		return nil, failure("no such task")
	}
	if found.who == r.who.name() {
		return found, nil
	}
	return found, r.all(c, "/nodes/"+r.PathValue("node"), "Sys.Audit")
}

func (t *task) status() string {
	if t.exit == "" {
		return "running"
	}
	return "stopped"
}

func (t *task) view() map[string]any {
	user, token, _ := strings.Cut(t.who, "!")
	view := map[string]any{
		"upid": t.upid, "node": t.host, "type": t.kind, "id": t.id, "user": user, "tokenid": token, "status": t.status(),
		"pid": t.pid, "pstart": t.begun.UnixMilli() / 10, "starttime": t.begun.Unix(),
	}
	if t.exit != "" {
		view["exitstatus"] = t.exit
	}
	return view
}

func (c *Cluster) getTask(r *call) (any, error) {
	found, err := c.task(r)
	if err != nil {
		return nil, err
	}
	return found.view(), nil
}

func (c *Cluster) getTaskLog(r *call) (any, error) {
	found, err := c.task(r)
	if err != nil {
		return nil, err
	}
	start, err := r.params.number("start", 0)
	if err != nil {
		return nil, err
	}
	limit, err := r.params.number("limit", 50)
	if err != nil {
		return nil, err
	}
	lines := []map[string]any{}
	for i, line := range found.log {
		if i >= start && (limit == 0 || len(lines) < limit) {
			lines = append(lines, map[string]any{"n": i + 1, "t": line})
		}
	}
	return lines, nil
}

// stopTask would end one that runs; here each comes to its end by itself.
func (c *Cluster) stopTask(r *call) (any, error) {
	_, err := c.task(r)
	return nil, err
}

func (c *Cluster) listTasks(r *call) (any, error) { return c.tasksOf(r, r.PathValue("node")), nil }

func (c *Cluster) listAllTasks(r *call) (any, error) { return c.tasksOf(r, ""), nil }

// tasksOf are those of a host, or of all, the last one first.
func (c *Cluster) tasksOf(r *call, host string) []map[string]any {
	views := []map[string]any{}
	for _, one := range slices.SortedFunc(maps.Values(c.tasks), func(a, b *task) int { return b.begun.Compare(a.begun) }) {
		if host != "" && one.host != host || one.who != r.who.name() && r.all(c, "/nodes/"+one.host, "Sys.Audit") != nil {
			continue
		}
		view := one.view()
		if one.exit != "" {
			view["status"], view["endtime"] = one.exit, one.ended.Unix()
		}
		views = append(views, view)
	}
	return views
}

// tell adds to the log of a task while it works.
func (c *Cluster) tell(its *task, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	its.say(format, args...)
}
