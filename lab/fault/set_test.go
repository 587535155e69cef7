package fault

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// armedSet returns a set with these rules, and the faults on its timeline.
func armedSet(t *testing.T, rules ...Rule) (*Set, func() []string) {
	t.Helper()
	facts := timeline.New(time.Now, nil)
	set := NewSet(facts)
	for _, rule := range rules {
		_, err := set.Add(rule)
		require.NoError(t, err)
	}
	return set, func() []string {
		found, _ := facts.After(0)
		var said []string
		for _, fact := range found {
			said = append(said, fact.Subject+" "+fact.Value)
		}
		return said
	}
}

var install = Point{On: Stage, Name: "installing", Subject: "cp-1"}

// outcomes meets the point a number of times.
func outcomes(t *testing.T, set *Set, point Point, times int) []Action {
	t.Helper()
	var found []Action
	for range times {
		outcome, err := set.Meet(t.Context(), point)
		require.NoError(t, err)
		if outcome == nil {
			found = append(found, "")
		} else {
			found = append(found, outcome.Do)
		}
	}
	return found
}

func TestMeet(t *testing.T) {
	for name, test := range map[string]struct {
		rules []Rule
		want  []Action
	}{
		"no rule":           {nil, []Action{"", ""}},
		"another kind":      {[]Rule{{On: Service, Do: Crash}}, []Action{"", ""}},
		"another subject":   {[]Rule{{On: Stage, Subject: "w-*", Do: Crash}}, []Action{"", ""}},
		"always":            {[]Rule{{On: Stage, Name: "inst*", Do: Fail}}, []Action{Fail, Fail, Fail}},
		"twice":             {[]Rule{{On: Stage, Do: Crash, Times: 2}}, []Action{Crash, Crash, "", ""}},
		"once after two":    {[]Rule{{On: Stage, Do: Crash, Skip: 2, Times: 1}}, []Action{"", "", Crash, ""}},
		"always after one":  {[]Rule{{On: Stage, Do: Fail, Skip: 1}}, []Action{"", Fail, Fail}},
		"every third":       {[]Rule{{On: Stage, Do: Fail, Every: 3, Skip: 1}}, []Action{"", "", "", Fail, "", "", Fail}},
		"every other, once": {[]Rule{{On: Stage, Do: Fail, Every: 2, Times: 1}}, []Action{"", Fail, "", ""}},
		"the first decides": {[]Rule{{On: Stage, Do: Crash, Times: 1}, {On: Stage, Do: Fail, Times: 1}}, []Action{Crash, Fail, ""}},
		"a delay continues": {[]Rule{{On: Stage, Do: Delay, Delay: 1, Times: 1}, {On: Stage, Do: Fail, Times: 2}}, []Action{Fail, Fail, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, _ := armedSet(t, test.rules...)
				require.Equal(t, test.want, outcomes(t, set, install, len(test.want)))
			})
		})
	}
}

func TestFailSaysWhy(t *testing.T) {
	set, said := armedSet(t, Rule{ID: "full", On: Cloud, Do: Fail, Code: "resource_limit_exceeded", Message: "no more servers", Times: 1})
	outcome, err := set.Meet(t.Context(), Point{On: Cloud, Name: "POST /v1/servers", Subject: "hetzner"})
	require.NoError(t, err)
	require.Equal(t, &Outcome{Do: Fail, Code: "resource_limit_exceeded", Message: "no more servers"}, outcome)
	require.Equal(t, []string{"full armed", "hetzner fail"}, said())
	require.Empty(t, set.Rules(), "it is spent")
}

func TestDelayTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _ := armedSet(t, Rule{On: Stage, Do: Delay, Delay: Duration(2 * time.Second)}, Rule{On: Stage, Do: Delay, Delay: Duration(time.Second)})
		begun := time.Now()
		require.Equal(t, []Action{""}, outcomes(t, set, install, 1))
		require.Equal(t, 3*time.Second, time.Since(begun))

		lost := errors.New("the power was cut")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, lost)
		defer cancel()
		_, err := set.Meet(ctx, install)
		require.ErrorIs(t, err, lost)
	})
}

func TestHoldLastsUntilItIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, said := armedSet(t, Rule{ID: "stuck", On: Stage, Do: Hold, Times: 2}, Rule{ID: "then", On: Stage, Do: Fail})
		var passed sync.WaitGroup
		for range 2 {
			passed.Go(func() {
				outcome, err := set.Meet(t.Context(), install)
				if err != nil || outcome == nil || outcome.Do != Fail {
					t.Errorf("got %v, %v in place of what comes after the hold", outcome, err)
				}
			})
		}
		synctest.Wait()
		require.Len(t, set.Rules(), 2, "a hold stays, also after it was met as often as Times allows")
		require.Equal(t, []Action{Fail}, outcomes(t, set, install, 1), "it holds no third one")
		time.Sleep(time.Hour)
		require.NoError(t, set.Remove("stuck"))
		passed.Wait()
		require.Equal(t, "stuck removed", said()[len(said())-1])
	})
}

func TestHoldEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _ := armedSet(t, Rule{On: Stage, Do: Hold})
		lost := errors.New("the power was cut")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, lost)
		defer cancel()
		_, err := set.Meet(ctx, install)
		require.ErrorIs(t, err, lost)
	})
}

func TestRulesHaveIDs(t *testing.T) {
	set, _ := armedSet(t, Rule{On: Stage, Do: Fail}, Rule{ID: "mine", On: Stage, Do: Fail}, Rule{On: Stage, Do: Fail})
	var ids []string
	for _, rule := range set.Rules() {
		ids = append(ids, rule.ID)
	}
	require.Equal(t, []string{"fault-1", "mine", "fault-2"}, ids)
	_, err := set.Add(Rule{ID: "mine", On: Stage, Do: Fail})
	require.EqualError(t, err, `there is a fault "mine" already`)
	require.EqualError(t, set.Remove("other"), `there is no fault "other"`)
	_, err = set.Add(Rule{On: Stage})
	require.ErrorContains(t, err, "do: ")
	require.Len(t, set.Rules(), 3)
}

func TestHasTellsOfChanges(t *testing.T) {
	set, _ := armedSet(t)
	has, changed := set.Has(Disk)
	require.False(t, has)
	id, err := set.Add(Rule{On: Disk, Do: Absent})
	require.NoError(t, err)
	<-changed
	has, changed = set.Has(Disk)
	require.True(t, has)
	require.NoError(t, set.Remove(id))
	<-changed
	_, err = set.Add(Rule{On: Stage, Do: Crash, Times: 1})
	require.NoError(t, err)
	_, changed = set.Has(Stage)
	require.Equal(t, []Action{Crash}, outcomes(t, set, install, 1))
	<-changed
	has, _ = set.Has(Stage)
	require.False(t, has, "it is spent")
}

func TestARuleStrikesAsOftenAsItSaysWhoeverComes(t *testing.T) {
	set, _ := armedSet(t, Rule{On: Stage, Do: Crash, Skip: 10, Times: 25})
	var crashes sync.Map
	var running sync.WaitGroup
	for i := range 100 {
		running.Go(func() {
			if outcome, _ := set.Meet(t.Context(), install); outcome != nil {
				crashes.Store(i, outcome)
			}
		})
	}
	running.Wait()
	count := 0
	crashes.Range(func(_, _ any) bool { count++; return true })
	require.Equal(t, 25, count)
}

func TestAFactOfAFaultMayArmAnother(t *testing.T) {
	facts := timeline.New(time.Now, nil)
	set := NewSet(facts)
	facts.Hear(func(fact timeline.Fact) {
		if fact.Value == "crash" {
			_, err := set.Add(Rule{ID: "next", On: Stage, Do: Fail})
			require.NoError(t, err)
		}
	})
	_, err := set.Add(Rule{On: Stage, Do: Crash, Times: 1})
	require.NoError(t, err)
	require.Equal(t, []Action{Crash, Fail}, outcomes(t, set, install, 2))
}
