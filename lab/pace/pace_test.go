package pace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProfilesAreChecked(t *testing.T) {
	_, err := New("slow", 1)
	require.EqualError(t, err, `no profile "slow": there are "fast" and "real"`)
}

// run returns how long some steps take in a lab.
func run(t *testing.T, profile Profile, seed uint64) []time.Duration {
	t.Helper()
	pace, err := New(profile, seed)
	require.NoError(t, err)
	var found []time.Duration
	for _, subject := range []string{"cp-1", "cp-2", "cp-1"} {
		for _, step := range []Step{Kernel, Install, Kernel} {
			found = append(found, pace.Of(step, subject))
		}
	}
	return found
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	require.Equal(t, run(t, Real, 7), run(t, Real, 7))
	require.NotEqual(t, run(t, Real, 7), run(t, Real, 8))
}

func TestDurationsDoNotDependOnWhatElseGoesOn(t *testing.T) {
	alone, err := New(Real, 7)
	require.NoError(t, err)
	among, err := New(Real, 7)
	require.NoError(t, err)
	for range 5 {
		among.Of(Kernel, "another")
		among.Of(Install, "cp-1")
		require.Equal(t, alone.Of(Kernel, "cp-1"), among.Of(Kernel, "cp-1"))
	}
}

func TestDurationsAreWithinAFifthOfTheUsualAndDiffer(t *testing.T) {
	for step, usual := range durations {
		for profile, base := range map[Profile]time.Duration{Fast: usual.fast, Real: usual.real} {
			pace, err := New(profile, 3)
			require.NoError(t, err)
			seen := map[time.Duration]bool{}
			for range 100 {
				took := pace.Of(step, "cp-1")
				require.InDelta(t, float64(base), float64(took), 0.2*float64(base), "%s, %s", step, profile)
				seen[took] = true
			}
			require.Greater(t, len(seen), 90, "%s, %s", step, profile)
		}
		require.Less(t, usual.fast, usual.real, step)
	}
}

func TestAStepWithoutDurationTakesNoTime(t *testing.T) {
	pace, err := New(Real, 1)
	require.NoError(t, err)
	require.Zero(t, pace.Of("unknown", "cp-1"))
}

func TestWaitLetsTheTimePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace, err := New(Real, 1)
		require.NoError(t, err)
		same, err := New(Real, 1)
		require.NoError(t, err)
		begun := time.Now()
		require.NoError(t, pace.Wait(t.Context(), Install, "cp-1"))
		require.Equal(t, same.Of(Install, "cp-1"), time.Since(begun))
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace, err := New(Real, 1)
		require.NoError(t, err)
		lost := errors.New("the power was cut")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(lost) })
		begun := time.Now()
		require.ErrorIs(t, pace.Wait(ctx, Install, "cp-1"), lost)
		require.Equal(t, time.Second, time.Since(begun))
	})
}
