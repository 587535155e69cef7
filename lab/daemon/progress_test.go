package daemon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFollow(t *testing.T) {
	for name, test := range map[string]struct {
		said  string
		steps []string
		env   map[string]string
		err   string
	}{
		"ready":  {`{"step":"one"}{"step":"two"}{"ready":true,"env":{"A":"b"}}`, []string{"one", "two"}, map[string]string{"A": "b"}, ""},
		"failed": {`{"step":"one"}{"error":"no network"}`, []string{"one"}, nil, "no network"},
		"died":   {`{"step":"one"}`, []string{"one"}, nil, "the lab ended before it was ready"},
		"noise":  {`Segmentation fault`, nil, nil, "read the lab's progress: invalid character 'S' looking for beginning of value"},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []string
			env, err := follow(strings.NewReader(test.said), func(step string) { steps = append(steps, step) })
			require.Equal(t, test.steps, steps)
			require.Equal(t, test.env, env)
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.err)
			}
		})
	}
}
