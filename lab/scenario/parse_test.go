package scenario

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func TestParse(t *testing.T) {
	entries, err := Parse("scenario.yaml", []byte(`
- id: slow
  on: cloud
  name: POST *
  do: delay
  delay: 2s
  after: 10s
  for: 1m
- on: talos
  subject: cp-1
  do: drop
  times: 3
  when: {subject: cp-1, what: stage, value: booting}
  until: {what: stage}
`))
	require.NoError(t, err)
	require.Equal(t, []Entry{
		{
			Rule:  fault.Rule{ID: "slow", On: fault.Cloud, Name: "POST *", Do: fault.Delay, Delay: fault.Duration(2 * time.Second)},
			After: fault.Duration(10 * time.Second), For: fault.Duration(time.Minute),
		},
		{
			Rule: fault.Rule{On: fault.Talos, Subject: "cp-1", Do: fault.Drop, Times: 3},
			When: &Moment{Subject: "cp-1", What: "stage", Value: "booting"}, Until: &Moment{What: "stage"},
		},
	}, entries)
}

func TestParseTakesOneAndJSONAndNothing(t *testing.T) {
	entries, err := Parse("request", []byte(`{"on": "pod", "do": "hold"}`))
	require.NoError(t, err)
	require.Equal(t, []Entry{{Rule: fault.Rule{On: fault.Pod, Do: fault.Hold}}}, entries)
	entries, err = Parse("empty.yaml", []byte("# nothing goes wrong\n"))
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestParseNamesEveryMistakeWithItsLine(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"no YAML":       {"- on: [", "s.yaml: line 1: did not find expected node content"},
		"no entry":      {"- on: pod\n  do: hold\n- pod", "s.yaml:3: is not a fault: a fault has keys such as on and do"},
		"not a mapping": {"pod", "s.yaml:1: is not a fault: a fault has keys such as on and do"},
		"several": {
			"- on: pod\n  do: absent\n- nme: x\n  times: many\n  after: 10\n- on: nowhere\n  do: fail\n  times: -1\n  when: {}\n",
			`s.yaml:2: do: "absent" is not possible on "pod"; possible is one of ["delay" "fail" "hold"]
s.yaml:3: nme: unknown key "nme"
s.yaml:4: times: is a string, must be int
s.yaml:5: after: 10 is not a duration such as "1m30s"
s.yaml:6: on: no kind "nowhere"; there are cloud, talos, kube, machine, stage, boot, install, service, health, clock, member, node, pod, datapath, image, disk, pki and host
s.yaml:8: times: is -1, cannot be negative
s.yaml:9: when: names no fact: it needs one of subject, what and value`,
		},
		"a key in a key":     {"on: pod\ndo: hold\nuntil: {where: here}", `s.yaml:3: until: unknown key "where"`},
		"a missing key":      {"\n- do: hold\n", "s.yaml:2: on: no kind \"\"; there are cloud, talos, kube, machine, stage, boot, install, service, health, clock, member, node, pod, datapath, image, disk, pki and host"},
		"a pattern":          {"on: pod\ndo: hold\nwhen: {subject: \"[\"}", `s.yaml:3: when: "[" is not a pattern`},
		"the same key twice": {"on: pod\ndo: hold\non: kube", "s.yaml:3: on: is in line 1 already"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(test.content))
			require.EqualError(t, err, test.want)
		})
	}
}
