package hetzner

import (
	"maps"
	"slices"
	"time"
)

// record is what every resource has.
type record struct {
	id      int64
	name    string
	created time.Time
	labels  map[string]string
}

func (r *record) base() *record { return r }

// resource is anything that has an id and can be listed.
type resource interface{ base() *record }

// registry holds the resources of one kind.
type registry[T resource] struct {
	// kind is its name in actions and messages, such as "load_balancer".
	kind  string
	items map[int64]T
}

func newRegistry[T resource](kind string) *registry[T] {
	return &registry[T]{kind: kind, items: map[int64]T{}}
}

func (r *registry[T]) get(id int64) (T, error) {
	item, found := r.items[id]
	if !found {
		return item, notFound(r.kind, id)
	}
	return item, nil
}

// all are the resources by id.
func (r *registry[T]) all() []T {
	items := make([]T, 0, len(r.items))
	for _, id := range slices.Sorted(maps.Keys(r.items)) {
		items = append(items, r.items[id])
	}
	return items
}

func (r *registry[T]) add(item T) { r.items[item.base().id] = item }

func (r *registry[T]) remove(item T) { delete(r.items, item.base().id) }

// named finds one by its name.
func (r *registry[T]) named(name string) (T, bool) {
	for _, item := range r.items {
		if item.base().name == name {
			return item, true
		}
	}
	var none T
	return none, false
}

// free says whether no other than the one with this id has the name.
func (r *registry[T]) free(name string, id int64) error {
	if name == "" {
		return invalid("name", "is required")
	}
	if other, taken := r.named(name); taken && other.base().id != id {
		return notUnique("name", spoken(r.kind)+" name is already used")
	}
	return nil
}

// change gives a resource another name, unless it is empty, and other labels,
// unless they are nil.
func (r *registry[T]) change(item T, name string, labels *map[string]string) error {
	base := item.base()
	if name != "" {
		if err := r.free(name, base.id); err != nil {
			return err
		}
	}
	if labels != nil {
		if err := checkLabels(*labels); err != nil {
			return err
		}
		base.labels = *labels
	}
	if name != "" {
		base.name = name
	}
	return nil
}

// enroll makes the record of a new resource and adds nothing yet.
func enroll[T resource](c *Cloud, into *registry[T], name string, labels *map[string]string) (record, error) {
	if err := into.free(name, 0); err != nil {
		return record{}, err
	}
	made := record{labels: map[string]string{}}
	if labels != nil {
		if err := checkLabels(*labels); err != nil {
			return record{}, err
		}
		maps.Copy(made.labels, *labels)
	}
	if limit, limited := c.limits[into.kind]; limited && len(into.items) >= limit {
		return record{}, limitReached(into.kind)
	}
	made.id = c.identities.id(into.kind, name, func(id int64) bool { _, taken := into.items[id]; return taken })
	made.name = name
	made.created = now()
	return made, nil
}

// now is the time as the API tells it, in whole seconds.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// labelled gives labels of which a list has at least an empty object.
func labelled(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return maps.Clone(labels)
}

func pointer[T any](value T) *T { return &value }

// valueOr is what a pointer points to, or something else without one.
func valueOr[T any](at *T, otherwise T) T {
	if at == nil {
		return otherwise
	}
	return *at
}
