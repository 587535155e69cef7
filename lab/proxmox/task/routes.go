package task

import (
	"maps"
	"slices"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// Routes returns the routes of tasks.
func (t *Tasks) Routes() api.Routes {
	return api.Routes{
		"GET /cluster/tasks":                    t.listAll,
		"GET /nodes/{node}/tasks":               t.list,
		"GET /nodes/{node}/tasks/{upid}/status": t.get,
		"GET /nodes/{node}/tasks/{upid}/log":    t.getLog,
		"DELETE /nodes/{node}/tasks/{upid}":     t.stop,
	}
}

// find returns the task that a path names. It is shown to the caller who started it
// and to those who may audit the host.
func (t *Tasks) find(r *api.Call) (*Task, error) {
	upid := r.PathValue("upid")
	found := t.byUPID[upid]
	if found == nil {
		if !strings.HasPrefix(upid, "UPID:") {
			return nil, api.Invalid("upid", "value '%s' does not look like a valid Process ID", upid)
		}
		return nil, api.Failure("no such task")
	}
	if found.caller == r.Caller.Name() {
		return found, nil
	}
	return found, r.All("/nodes/"+r.PathValue("node"), "Sys.Audit")
}

func (t *Task) status() string {
	if t.exit == "" {
		return "running"
	}
	return "stopped"
}

func (t *Task) view() map[string]any {
	user, token, _ := strings.Cut(t.caller, "!")
	view := map[string]any{
		"upid": t.upid, "node": t.host, "type": t.kind, "id": t.id, "user": user, "tokenid": token, "status": t.status(),
		"pid": t.pid, "pstart": t.began.UnixMilli() / 10, "starttime": t.began.Unix(),
	}
	if t.exit != "" {
		view["exitstatus"] = t.exit
	}
	return view
}

func (t *Tasks) get(r *api.Call) (any, error) {
	found, err := t.find(r)
	if err != nil {
		return nil, err
	}
	return found.view(), nil
}

func (t *Tasks) getLog(r *api.Call) (any, error) {
	found, err := t.find(r)
	if err != nil {
		return nil, err
	}
	start, err := r.Params.Number("start", 0)
	if err != nil {
		return nil, err
	}
	limit, err := r.Params.Number("limit", 50)
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

// stop does not stop a task: each ends by itself here.
func (t *Tasks) stop(r *api.Call) (any, error) {
	_, err := t.find(r)
	return nil, err
}

func (t *Tasks) list(r *api.Call) (any, error) { return t.of(r, r.PathValue("node")), nil }

func (t *Tasks) listAll(r *api.Call) (any, error) { return t.of(r, ""), nil }

// of returns the tasks of a host, or of all, the last one first.
func (t *Tasks) of(r *api.Call, host string) []map[string]any {
	views := []map[string]any{}
	for _, one := range slices.SortedFunc(maps.Values(t.byUPID), func(a, b *Task) int { return b.began.Compare(a.began) }) {
		if host != "" && one.host != host || one.caller != r.Caller.Name() && r.All("/nodes/"+one.host, "Sys.Audit") != nil {
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
