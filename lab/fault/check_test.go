package fault

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		rule Rule
		want string
	}{
		"fine":               {Rule{On: Cloud, Do: Fail, Code: "503", Times: 2, Skip: 1}, ""},
		"a delay":            {Rule{On: Kube, Do: Delay, Delay: Duration(time.Second)}, ""},
		"nothing said":       {Rule{}, `on: no kind ""; there are cloud, talos, kube, machine, stage, boot, install, service, health, clock, member, node, pod, datapath, image, disk, pki and host`},
		"impossible there":   {Rule{On: Disk, Do: Crash}, `do: "crash" is not possible on "disk"; possible is one of ["absent"]`},
		"patterns":           {Rule{On: Talos, Do: Drop, Name: "[", Subject: "a["}, "name: \"[\" is not a pattern\nsubject: \"a[\" is not a pattern"},
		"counts":             {Rule{On: Talos, Do: Drop, Times: -1, Skip: -2}, "times: is -1, cannot be negative\nskip: is -2, cannot be negative"},
		"delay without time": {Rule{On: Pod, Do: Delay}, `delay: is needed for do "delay", and for nothing else`},
		"time without delay": {Rule{On: Pod, Do: Hold, Delay: 1}, `delay: is needed for do "delay", and for nothing else`},
		"a clock behind":     {Rule{On: Clock, Name: "boot", Do: Skew, By: Offset(-time.Hour)}, ""},
		"a skew of nothing":  {Rule{On: Clock, Do: Skew}, `by: is needed for do "skew", and for nothing else`},
		"a host":             {Rule{On: Host, Do: Absent, Subject: "pve2"}, ""},
		"a host stays off":   {Rule{On: Host, Do: Crash, Code: StaysOff}, `code: a host that stays off is do "absent"`},
		"code without fail":  {Rule{On: Pod, Do: Hold, Code: "1", Message: "x"}, "code: is for do \"fail\" only, but for \"off\" of do \"crash\"\nmessage: is for do \"fail\" only"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.rule.Check()
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.want)
		})
	}
}

func TestLike(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "anything", true},
		{"cp-1", "cp-1", true},
		{"cp-1", "cp-11", false},
		{"cp-*", "cp-11", true},
		{"cp-?", "cp-1", true},
		{"cp-[12]", "cp-3", false},
		{"POST *", "POST /v1/servers/1/actions", true},
		{"POST /v1/servers", "POST /v1/servers/1", false},
		{"kube-system/cilium-*", "kube-system/cilium-x7", true},
		{"*/cilium-*", "kube-system/cilium-x7", true},
	} {
		require.Equal(t, test.want, Like(test.pattern, test.text), "%q, %q", test.pattern, test.text)
	}
}

func TestDurationsAreText(t *testing.T) {
	var rule Rule
	require.NoError(t, json.Unmarshal([]byte(`{"delay": "1m30s"}`), &rule))
	require.Equal(t, Duration(90*time.Second), rule.Delay)
	text, err := json.Marshal(rule.Delay)
	require.NoError(t, err)
	require.JSONEq(t, `"1m30s"`, string(text))
	for _, wrong := range []string{`10`, `"10"`, `"-1s"`, `{}`} {
		require.EqualError(t, json.Unmarshal([]byte(wrong), &rule.Delay), wrong+` is not a duration such as "1m30s"`)
	}
}

func TestOffsetsAreText(t *testing.T) {
	var rule Rule
	require.NoError(t, json.Unmarshal([]byte(`{"by": "-1h"}`), &rule))
	require.Equal(t, Offset(-time.Hour), rule.By)
	text, err := json.Marshal(rule.By)
	require.NoError(t, err)
	require.JSONEq(t, `"-1h0m0s"`, string(text))
	require.EqualError(t, json.Unmarshal([]byte(`10`), &rule.By), `10 is no offset such as "-1h"`)
}
