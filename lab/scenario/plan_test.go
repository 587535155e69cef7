package scenario

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// stage is a lab with a plan.
type stage struct {
	*Plan
	t      *testing.T
	facts  *timeline.Timeline
	faults *fault.Set
}

func newStage(t *testing.T) *stage {
	facts := timeline.New(time.Now, nil)
	faults := fault.NewSet(facts)
	return &stage{Plan: NewPlan(faults, facts), t: t, facts: facts, faults: faults}
}

func (s *stage) add(entries ...Entry) []string {
	s.t.Helper()
	ids, err := s.Add(entries...)
	require.NoError(s.t, err)
	return ids
}

// expect says which faults are armed, and which wait.
func (s *stage) expect(armed, waiting []string) {
	s.t.Helper()
	var rules, wait []string
	for _, rule := range s.faults.Rules() {
		rules = append(rules, rule.ID)
	}
	for _, listed := range s.List() {
		if listed.State == Waiting {
			wait = append(wait, listed.ID)
		} else {
			require.Contains(s.t, rules, listed.ID, "listed as armed")
		}
	}
	require.Equal(s.t, armed, rules, "armed")
	require.Equal(s.t, waiting, wait, "waiting")
}

var hold = fault.Rule{ID: "held", On: fault.Stage, Do: fault.Hold}

var booting = &Moment{Subject: "cp-1", What: "stage", Value: "booting"}

func TestAnEntryWithoutAMomentIsArmedAtOnce(t *testing.T) {
	s := newStage(t)
	require.Equal(t, []string{"held", "fault-1"}, s.add(Entry{Rule: hold}, Entry{Rule: fault.Rule{On: fault.Pod, Do: fault.Hold}}))
	s.expect([]string{"held", "fault-1"}, nil)
	require.NoError(t, s.Remove("held"))
	s.expect([]string{"fault-1"}, nil)
	require.EqualError(t, s.Remove("held"), `there is no fault "held"`)
}

func TestAnEntryIsArmedBeforeWhoeverRecordedItsMomentGoesOn(t *testing.T) {
	s := newStage(t)
	s.facts.Record("cp-1", "stage", "booting")
	s.add(Entry{Rule: hold, When: booting, Until: &Moment{Subject: "cp-1", What: "stage", Value: "running"}})
	s.expect(nil, []string{"held"})
	s.facts.Record("cp-2", "stage", "booting")
	s.facts.Record("cp-1", "stage", "running")
	s.expect(nil, []string{"held"})
	s.facts.Record("cp-1", "stage", "booting")
	s.expect([]string{"held"}, nil)
	s.facts.Record("cp-1", "stage", "booting")
	s.expect([]string{"held"}, nil)
	s.facts.Record("cp-1", "stage", "running")
	s.expect(nil, nil)
	s.facts.Record("cp-1", "stage", "booting")
	s.expect(nil, nil)
}

func TestTimesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.add(
			Entry{Rule: hold, After: fault.Duration(10 * time.Second), For: fault.Duration(5 * time.Second)},
			Entry{Rule: fault.Rule{ID: "later", On: fault.Pod, Do: fault.Hold}, When: booting, After: fault.Duration(2 * time.Second)},
		)
		time.Sleep(9 * time.Second)
		s.expect(nil, []string{"held", "later"})
		s.facts.Record("cp-1", "stage", "booting")
		time.Sleep(1500 * time.Millisecond)
		s.expect([]string{"held"}, []string{"later"})
		s.facts.Record("cp-1", "stage", "booting")
		time.Sleep(time.Second)
		s.expect([]string{"held", "later"}, nil)
		time.Sleep(4 * time.Second)
		s.expect([]string{"later"}, nil)
	})
}

func TestAFaultMayWaitForAnother(t *testing.T) {
	s := newStage(t)
	s.add(
		Entry{Rule: fault.Rule{ID: "first", On: fault.Stage, Do: fault.Crash, Times: 1}},
		Entry{Rule: hold, When: &Moment{What: "fault", Value: "crash"}},
	)
	_, err := s.faults.Meet(t.Context(), fault.Point{On: fault.Stage, Name: "installing", Subject: "cp-1"})
	require.NoError(t, err)
	s.expect([]string{"held"}, nil)
}

func TestWhatWaitsCanBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.add(Entry{Rule: hold, After: fault.Duration(time.Second)}, Entry{Rule: fault.Rule{ID: "other", On: fault.Pod, Do: fault.Hold}, When: booting})
		require.NoError(t, s.Remove("held"))
		require.NoError(t, s.Remove("other"))
		s.facts.Record("cp-1", "stage", "booting")
		time.Sleep(2 * time.Second)
		s.expect(nil, nil)
	})
}

func TestASpentFaultMayComeAgain(t *testing.T) {
	s := newStage(t)
	once := Entry{Rule: fault.Rule{ID: "once", On: fault.Stage, Do: fault.Crash, Times: 1}, Until: booting}
	s.add(once)
	_, err := s.faults.Meet(t.Context(), fault.Point{On: fault.Stage, Subject: "cp-1"})
	require.NoError(t, err)
	s.expect(nil, nil)
	s.add(once)
	s.expect([]string{"once"}, nil)
}

func TestEntriesAreAddedAllOrNone(t *testing.T) {
	s := newStage(t)
	s.add(Entry{Rule: hold, When: booting})
	for want, wrong := range map[string]Entry{
		`entry 2: there is a fault "held" already`:                               {Rule: hold},
		`entry 2: delay: is needed for do "delay", and for nothing else`:         {Rule: fault.Rule{On: fault.Pod, Do: fault.Delay}},
		"entry 2: until: names no fact: it needs one of subject, what and value": {Rule: fault.Rule{On: fault.Pod, Do: fault.Hold}, Until: &Moment{}},
		"entry 2: when: \"[\" is not a pattern":                                  {Rule: fault.Rule{On: fault.Pod, Do: fault.Hold}, When: &Moment{What: "["}},
	} {
		_, err := s.Add(Entry{Rule: fault.Rule{ID: "good", On: fault.Pod, Do: fault.Hold}}, wrong)
		require.EqualError(t, err, want)
		s.expect(nil, []string{"held"})
	}
}

func TestCloseLetsEverythingGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.add(Entry{Rule: hold}, Entry{Rule: fault.Rule{On: fault.Pod, Do: fault.Hold}, After: fault.Duration(time.Second)})
		passed := make(chan error, 1)
		go func() {
			_, err := s.faults.Meet(t.Context(), fault.Point{On: fault.Stage, Subject: "cp-1"})
			passed <- err
		}()
		synctest.Wait()
		s.Close()
		require.NoError(t, <-passed)
		s.expect(nil, nil)
		_, err := s.Add(Entry{Rule: hold})
		require.EqualError(t, err, "the lab is going down")
	})
}

func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		for range 50 {
			go func() {
				ids, err := s.Add(Entry{Rule: fault.Rule{On: fault.Stage, Do: fault.Hold}, When: booting, For: fault.Duration(time.Second)})
				if err != nil || len(ids) != 1 {
					t.Errorf("got %v, %v", ids, err)
				}
			}()
			go s.facts.Record("cp-1", "stage", "booting")
		}
		synctest.Wait()
		s.facts.Record("cp-1", "stage", "booting")
		require.Len(t, s.faults.Rules(), 50)
		require.False(t, slices.ContainsFunc(s.List(), func(listed Listed) bool { return listed.State != Armed }))
		time.Sleep(2 * time.Second)
		s.expect(nil, nil)
	})
}
