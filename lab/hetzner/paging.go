package hetzner

import (
	"cmp"
	"fmt"
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

// page is the part of a list that is asked for.
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
		return 0, invalid(key, "must be a positive number")
	}
	return number, nil
}

// cut takes the page's part of the items and says where it is among all.
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

// links is the Link header for a page of what is at the address.
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

// order compares two items by one field.
type order[T any] func(a, b T) int

// sorted orders items by the fields that are asked for, such as "name:desc".
func sorted[T any](items []T, asked []string, fields map[string]order[T]) ([]T, error) {
	items = slices.Clone(items)
	// The last one is the least important: a stable sort begins with it.
	for _, text := range slices.Backward(asked) {
		name, direction, _ := strings.Cut(text, ":")
		by, known := fields[name]
		if !known || direction != "" && direction != "asc" && direction != "desc" {
			return nil, invalid("sort", "cannot sort by '%s'", text)
		}
		if direction == "desc" {
			ascending := by
			by = func(a, b T) int { return ascending(b, a) }
		}
		slices.SortStableFunc(items, by)
	}
	return items, nil
}

// recordOrders are the fields that every resource can be sorted by.
func recordOrders[T resource]() map[string]order[T] {
	return map[string]order[T]{
		"id":      func(a, b T) int { return cmp.Compare(a.base().id, b.base().id) },
		"name":    func(a, b T) int { return strings.Compare(a.base().name, b.base().name) },
		"created": func(a, b T) int { return byTime(a.base().created, b.base().created) },
	}
}

func byTime(a, b time.Time) int { return a.Compare(b) }
