package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelectorsMatchLabels(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"env": "prod", "example.com/team": "a", "flag": ""}
	for text, want := range map[string]bool{
		"":                                  true,
		"env":                               true,
		"!env":                              false,
		"other":                             false,
		"!other":                            true,
		"env=prod":                          true,
		"env==prod":                         true,
		"env = prod":                        true,
		"env=test":                          false,
		"env!=prod":                         false,
		"env!=test":                         true,
		"other!=x":                          true,
		"other=x":                           false,
		"flag=":                             true,
		"flag!=":                            false,
		"env in (prod,test)":                true,
		"env in ( test , prod )":            true,
		"env in (test)":                     false,
		"other in (x)":                      false,
		"env notin (test)":                  true,
		"env notin (prod,test)":             false,
		"other notin (x)":                   true,
		"example.com/team=a,env=prod,!x":    true,
		"env in (prod,test),flag,team!=b":   true,
		"env in (prod,test), env=test":      false,
		"example.com/team in (a,b),!absent": true,
	} {
		parsed, err := ParseSelector(text)
		require.NoError(t, err, text)
		require.Equal(t, want, parsed.Matches(labels), text)
	}
}

func TestBrokenSelectorsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"=x", "a b", "a in b", "a in (b", "a>1", "a,,b", "a in (b c)", "-a", "a=b=c", "!a=b"} {
		_, err := ParseSelector(text)
		require.Error(t, err, text)
	}
}

func TestLabelsAreChecked(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckLabels(map[string]string{"a": "", "example.com/b": "c.d-e_f"}))
	for key, value := range map[string]string{"": "x", "a b": "", "ok": "not ok", "hetzner.cloud/x": "y"} {
		require.Error(t, CheckLabels(map[string]string{key: value}), key)
	}
}
