package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// program returns a validator that says the same whatever it is asked.
func program(t *testing.T, answer string, code string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "validator")
	script := "#!/bin/sh\ncat > /dev/null\necho '" + answer + "'\necho \"$@\" > \"$0.args\"\nexit " + code + "\n"
	require.NoError(t, os.WriteFile(file, []byte(script), 0o755))
	return file
}

func TestAVersionsOwnValidatorIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		answer, code string
		want         string
		unreadable   bool
	}{
		"nothing to say":      {`{"-":{"documents":2}}`, "0", "", false},
		"a fault":             {`{"-":{"documents":1,"faults":["bad value"]}}`, "1", "bad value", false},
		"a config unreadable": {`{"-":{"documents":0,"faults":["unknown keys"]}}`, "1", "unknown keys", true},
		"it fails itself":     {"", "2", "the validator of Talos 1.12.6: exit status 2", false},
		"it speaks nonsense":  {"yes", "0", "the validator of Talos 1.12.6: invalid character 'y' looking for beginning of value", false},
	} {
		t.Run(name, func(t *testing.T) {
			file := program(t, c.answer, c.code)
			known := validatorsOf(map[string]string{"configcheck-1.12": file, "kubectl": "/bin/false"})
			err := known.validate("1.12.6", []byte("machine: {}"), "metal", true)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
			}
			var unreadable *talosapi.Unreadable
			require.Equal(t, c.unreadable, errors.As(err, &unreadable))
			args, err := os.ReadFile(file + ".args")
			require.NoError(t, err)
			require.Equal(t, "-node -mode metal -installed\n", string(args))
		})
	}
}

func TestAVersionWithoutAValidatorIsLeftToTheLabsOwnTalos(t *testing.T) {
	require.NoError(t, validatorsOf(nil).validate("1.13.8", []byte("nonsense"), "metal", false))
}
