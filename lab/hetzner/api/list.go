package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPerPage = 25
	maxPerPage     = 50
)

// page is the requested part of a list.
type page struct{ number, size int }

// pagination is schema.MetaPagination with the nulls of the real API.
type pagination struct {
	Page         int  `json:"page"`
	PerPage      int  `json:"per_page"`
	PreviousPage *int `json:"previous_page"`
	NextPage     *int `json:"next_page"`
	LastPage     *int `json:"last_page"`
	TotalEntries *int `json:"total_entries"`
}

type meta struct {
	Pagination pagination `json:"pagination"`
}

func parsePage(query url.Values) (page, error) {
	number, err := positive(query, "page", 1)
	if err != nil {
		return page{}, err
	}
	size, err := positive(query, "per_page", defaultPerPage)
	if err != nil {
		return page{}, err
	}
	return page{number: number, size: min(size, maxPerPage)}, nil
}

func positive(query url.Values, key string, otherwise int) (int, error) {
	text := query.Get(key)
	if text == "" {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, Invalid(key, "must be a positive number")
	}
	return number, nil
}

// cut returns the page of the items, and its position among all.
func cut[T any](items []T, at page) ([]T, pagination) {
	total := len(items)
	last := max(1, (total+at.size-1)/at.size)
	where := pagination{Page: at.number, PerPage: at.size, LastPage: &last, TotalEntries: &total}
	if at.number > 1 {
		previous := at.number - 1
		where.PreviousPage = &previous
	}
	if at.number < last {
		next := at.number + 1
		where.NextPage = &next
	}
	start := min((at.number-1)*at.size, total)
	return items[start:min(start+at.size, total)], where
}

// links returns the Link header of a page of the list at the address.
func (p pagination) links(at url.URL) string {
	var links []string
	for _, link := range []struct {
		number *int
		rel    string
	}{{p.PreviousPage, "prev"}, {p.NextPage, "next"}, {p.LastPage, "last"}} {
		if link.number == nil {
			continue
		}
		query := at.Query()
		query.Set("page", strconv.Itoa(*link.number))
		query.Set("per_page", strconv.Itoa(p.PerPage))
		at.RawQuery = query.Encode()
		links = append(links, fmt.Sprintf("<%s>; rel=%q", at.String(), link.rel))
	}
	return strings.Join(links, ", ")
}

// Order compares two items by one field.
type Order[T any] func(a, b T) int

// sorted returns the items in the requested order, such as "name:desc".
func sorted[T any](items []T, asked []string, fields map[string]Order[T]) ([]T, error) {
	items = slices.Clone(items)
	// The last field is the least significant: a stable sort begins with it.
	for _, text := range slices.Backward(asked) {
		name, direction, _ := strings.Cut(text, ":")
		by, known := fields[name]
		if !known || direction != "" && direction != "asc" && direction != "desc" {
			return nil, Invalid("sort", "cannot sort by '%s'", text)
		}
		if direction == "desc" {
			ascending := by
			by = func(a, b T) int { return ascending(b, a) }
		}
		slices.SortStableFunc(items, by)
	}
	return items, nil
}

// ByTime compares two times.
func ByTime(a, b time.Time) int { return a.Compare(b) }

// Filter returns the items that have one of the requested values, or all if no value is requested.
func Filter[T any](items []T, asked []string, value func(T) string) []T {
	if len(asked) == 0 {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !slices.Contains(asked, value(item)) })
}

// List answers with the requested page of the items, in the requested order. Fields are those by which items can be sorted.
func List[T, V any](r *Call, key string, items []T, view func(T) V, fields map[string]Order[T]) (Reply, error) {
	query := r.URL.Query()
	items, err := sorted(items, query["sort"], fields)
	if err != nil {
		return Reply{}, err
	}
	at, err := parsePage(query)
	if err != nil {
		return Reply{}, err
	}
	items, where := cut(items, at)
	views := make([]V, 0, len(items))
	for _, item := range items {
		views = append(views, view(item))
	}
	base := *r.URL
	base.Scheme, base.Host = "http", r.Host
	return Reply{Status: http.StatusOK, Body: map[string]any{key: views, "meta": meta{where}}, Links: where.links(base)}, nil
}
