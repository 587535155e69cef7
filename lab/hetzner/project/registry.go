package project

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
)

// Record is what every resource has.
type Record struct {
	ID      int64
	Name    string
	Created time.Time
	Labels  map[string]string
}

// Base implements Resource.
func (r *Record) Base() *Record { return r }

// LabelsOf returns the labels in the format of an answer.
func (r *Record) LabelsOf() map[string]string {
	if r.Labels == nil {
		return map[string]string{}
	}
	return maps.Clone(r.Labels)
}

// Resource is anything that has an id and can be listed.
type Resource interface{ Base() *Record }

// Registry holds the resources of one kind.
type Registry[T Resource] struct {
	// Kind is its name in actions and messages, such as "load_balancer".
	Kind    string
	project *Project
	items   map[int64]T
}

// NewRegistry returns an empty registry of a kind.
func NewRegistry[T Resource](in *Project, kind string) *Registry[T] {
	return &Registry[T]{Kind: kind, project: in, items: map[int64]T{}}
}

// Get returns the resource with an id.
func (r *Registry[T]) Get(id int64) (T, error) {
	item, found := r.items[id]
	if !found {
		return item, api.NotFound(r.Kind, id)
	}
	return item, nil
}

// GetAll returns the resources with these ids.
func (r *Registry[T]) GetAll(ids []int64) ([]T, error) {
	var found []T
	for _, id := range ids {
		item, err := r.Get(id)
		if err != nil {
			return nil, err
		}
		found = append(found, item)
	}
	return found, nil
}

// All returns the resources, by id.
func (r *Registry[T]) All() []T {
	items := make([]T, 0, len(r.items))
	for _, id := range slices.Sorted(maps.Keys(r.items)) {
		items = append(items, r.items[id])
	}
	return items
}

// Where returns the resources that a condition holds for, by id.
func (r *Registry[T]) Where(holds func(T) bool) []T {
	return slices.DeleteFunc(r.All(), func(item T) bool { return !holds(item) })
}

// Named returns the resource with a name.
func (r *Registry[T]) Named(name string) (T, bool) {
	for _, item := range r.items {
		if item.Base().Name == name {
			return item, true
		}
	}
	var none T
	return none, false
}

// Add adds a resource, which has its record.
func (r *Registry[T]) Add(item T) { r.items[item.Base().ID] = item }

// Remove removes a resource.
func (r *Registry[T]) Remove(item T) { delete(r.items, item.Base().ID) }

// NewRecord returns the record of a new resource; it is not in the registry yet.
func (r *Registry[T]) NewRecord(name string, labels *map[string]string) (Record, error) {
	if err := r.free(name, 0); err != nil {
		return Record{}, err
	}
	record := Record{Labels: map[string]string{}}
	if labels != nil {
		if err := api.CheckLabels(*labels); err != nil {
			return Record{}, err
		}
		maps.Copy(record.Labels, *labels)
	}
	if limit, limited := r.project.limits[r.Kind]; limited && len(r.items) >= limit {
		return Record{}, api.LimitReached(r.Kind)
	}
	record.ID, record.Name, record.Created = r.NewID(name), name, Now()
	return record, nil
}

// NewID returns the id of a new resource.
func (r *Registry[T]) NewID(name string) int64 {
	return r.project.Identities.id(r.Kind, name, func(id int64) bool { _, taken := r.items[id]; return taken })
}

// Change changes the name of a resource, unless the new one is empty, and its labels, unless the new ones are nil.
func (r *Registry[T]) Change(item T, name string, labels *map[string]string) error {
	base := item.Base()
	if name != "" {
		if err := r.free(name, base.ID); err != nil {
			return err
		}
	}
	if labels != nil {
		if err := api.CheckLabels(*labels); err != nil {
			return err
		}
		base.Labels = *labels
	}
	if name != "" {
		base.Name = name
	}
	return nil
}

// free returns an error if a resource other than the one with this id has the
// name.
func (r *Registry[T]) free(name string, id int64) error {
	if name == "" {
		return api.Invalid("name", "is required")
	}
	if other, taken := r.Named(name); taken && other.Base().ID != id {
		return api.NotUnique("name", api.Spoken(r.Kind)+" name is already used")
	}
	return nil
}

// Reference names a resource in an action.
func (r *Registry[T]) Reference(item T) Reference {
	return Reference{Type: r.Kind, ID: item.Base().ID}
}

// Unlocked returns an error if an action has locked the resource.
func (r *Registry[T]) Unlocked(item T) error {
	return r.project.Actions.Unlocked(r.Reference(item))
}

// Act starts an action on a resource that cannot fail by itself, and answers with it. Whose is the subject of its facts.
func (r *Registry[T]) Act(item T, whose, command string, done func()) (api.Reply, error) {
	step := Step{Command: command, About: []Reference{r.Reference(item)}, Done: func() error {
		done()
		return nil
	}}
	return Acting(r.project.Actions.StartOne(whose, step))
}

// Find returns the resource that the path of a call names.
func Find[T Resource](r *api.Call, in *Registry[T]) (T, error) {
	id, err := r.ID()
	if err != nil {
		var none T
		return none, err
	}
	return in.Get(id)
}

// Getter returns the handler that answers with the resource that the path names.
func Getter[T Resource](in *Registry[T], body func(T) any) api.Handler {
	return func(r *api.Call) (api.Reply, error) {
		found, err := Find(r, in)
		if err != nil {
			return api.Reply{}, err
		}
		return api.Answer(body(found))
	}
}

// Updater returns the handler that changes the name and the labels of the resource that
// the path names, for resources of which nothing else can be changed.
func Updater[T Resource](in *Registry[T], body func(T) any) api.Handler {
	type update struct {
		Name   string             `json:"name"`
		Labels *map[string]string `json:"labels"`
	}
	return func(r *api.Call) (api.Reply, error) {
		found, asked, err := Ask[update](r, in)
		if err != nil {
			return api.Reply{}, err
		}
		if err := in.Change(found, asked.Name, asked.Labels); err != nil {
			return api.Reply{}, err
		}
		return api.Answer(body(found))
	}
}

// Ask returns the resource that the path of a call names, and the body of the call.
func Ask[Q any, T Resource](r *api.Call, in *Registry[T]) (T, Q, error) {
	var asked Q
	found, err := Find(r, in)
	if err == nil {
		err = r.Decode(&asked)
	}
	return found, asked, err
}

// AskUnlocked is Ask for what needs a resource that no action has locked.
func AskUnlocked[Q any, T Resource](r *api.Call, in *Registry[T]) (T, Q, error) {
	found, asked, err := Ask[Q](r, in)
	if err == nil {
		err = in.Unlocked(found)
	}
	return found, asked, err
}

// List answers with a page of the resources that have the requested name and labels.
func List[T Resource, V any](r *api.Call, key string, items []T, view func(T) V) (api.Reply, error) {
	query := r.URL.Query()
	wanted, err := api.ParseSelector(query.Get("label_selector"))
	if err != nil {
		return api.Reply{}, api.Invalid("label_selector", "%s", err)
	}
	name, named := query.Get("name"), query.Has("name")
	items = slices.DeleteFunc(slices.Clone(items), func(item T) bool {
		return named && item.Base().Name != name || !wanted.Matches(item.Base().Labels)
	})
	return api.List(r, key, items, view, map[string]api.Order[T]{
		"id":      func(a, b T) int { return cmp.Compare(a.Base().ID, b.Base().ID) },
		"name":    func(a, b T) int { return strings.Compare(a.Base().Name, b.Base().Name) },
		"created": func(a, b T) int { return api.ByTime(a.Base().Created, b.Base().Created) },
	})
}
