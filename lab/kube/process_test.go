package kube

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastLine(t *testing.T) {
	for name, test := range map[string]struct {
		written []string
		last    string
	}{
		"nothing":                           {nil, ""},
		"whole lines":                       {[]string{"one\ntwo\n"}, "two"},
		"a line in pieces":                  {[]string{"on", "e\ntw", "o"}, "two"},
		"empty lines say nothing":           {[]string{"one\n\n  \n"}, "one"},
		"what is not ended yet is the last": {[]string{"one\n", "rest"}, "rest"},
	} {
		t.Run(name, func(t *testing.T) {
			last := &lastLine{}
			for _, piece := range test.written {
				n, err := last.Write([]byte(piece))
				require.NoError(t, err)
				require.Len(t, piece, n)
			}
			require.Equal(t, test.last, last.String())
		})
	}
}
