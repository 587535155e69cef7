package api

import (
	"cmp"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	items := make([]int, 60)
	for i := range items {
		items[i] = i
	}
	for _, test := range []struct {
		query             string
		first, count      int
		previous, next    int // 0 is none
		last, size, total int
	}{
		{"", 0, 25, 0, 2, 3, 25, 60},
		{"page=3", 50, 10, 2, 0, 3, 25, 60},
		{"page=2&per_page=50", 50, 10, 1, 0, 2, 50, 60},
		{"per_page=1000", 0, 50, 0, 2, 2, 50, 60},
		{"page=9", 0, 0, 8, 0, 3, 25, 60},
	} {
		query, err := url.ParseQuery(test.query)
		require.NoError(t, err)
		at, err := parsePage(query)
		require.NoError(t, err)
		part, where := cut(items, at)
		require.Len(t, part, test.count, test.query)
		if test.count > 0 {
			require.Equal(t, test.first, part[0], test.query)
		}
		require.Equal(t, []int{test.previous, test.next, test.last, test.total, test.size}, []int{
			ValueOr(where.PreviousPage, 0), ValueOr(where.NextPage, 0), *where.LastPage, *where.TotalEntries, where.PerPage,
		}, test.query)
	}
	none, where := cut([]int{}, page{1, 25})
	require.Empty(t, none)
	require.Equal(t, 1, *where.LastPage)
	for _, text := range []string{"page=0", "page=x", "per_page=-1"} {
		query, err := url.ParseQuery(text)
		require.NoError(t, err)
		_, err = parsePage(query)
		require.Error(t, err, text)
	}
}

func TestLinkHeaderOfAPage(t *testing.T) {
	t.Parallel()
	_, where := cut(make([]int, 30), page{2, 10})
	require.Equal(t, `<http://cloud/v1/servers?name=x&page=1&per_page=10>; rel="prev", `+
		`<http://cloud/v1/servers?name=x&page=3&per_page=10>; rel="next", `+
		`<http://cloud/v1/servers?name=x&page=3&per_page=10>; rel="last"`,
		where.links(url.URL{Scheme: "http", Host: "cloud", Path: "/v1/servers", RawQuery: "name=x"}))
}

func TestListsAreSorted(t *testing.T) {
	t.Parallel()
	type pair struct{ a, b int }
	fields := map[string]Order[pair]{
		"a": func(x, y pair) int { return cmp.Compare(x.a, y.a) },
		"b": func(x, y pair) int { return cmp.Compare(x.b, y.b) },
	}
	items := []pair{{1, 1}, {2, 2}, {1, 2}}
	got, err := sorted(items, []string{"a:desc", "b"}, fields)
	require.NoError(t, err)
	require.Equal(t, []pair{{2, 2}, {1, 1}, {1, 2}}, got)
	for _, text := range []string{"c", "a:up"} {
		_, err := sorted(items, []string{text}, fields)
		require.Error(t, err, text)
	}
}
