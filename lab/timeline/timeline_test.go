package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRecordSaysWhatAndWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		facts := New(time.Now, &file)
		require.Equal(t, time.Now(), facts.Started())
		time.Sleep(1500 * time.Millisecond)
		facts.Record("cp-1", "stage", "booting")
		time.Sleep(time.Second)
		facts.Record("cp-1", "image", "pulled", "ref", "kubelet", "size", "1", "without a value")

		want := []Fact{
			{Seq: 1, At: 1.5, Subject: "cp-1", What: "stage", Value: "booting"},
			{Seq: 2, At: 2.5, Subject: "cp-1", What: "image", Value: "pulled", Detail: map[string]string{"ref": "kubelet", "size": "1"}},
		}
		seen, _ := facts.After(0)
		require.Equal(t, want, seen)

		var written []Fact
		for lines := json.NewDecoder(&file); lines.More(); {
			var fact Fact
			require.NoError(t, lines.Decode(&fact))
			written = append(written, fact)
		}
		require.Equal(t, want, written)
	})
}

func TestAfterGivesWhatFollows(t *testing.T) {
	facts := New(time.Now, nil)
	for i := range 3 {
		facts.Record("lab", "count", fmt.Sprint(i+1))
	}
	for after, want := range map[int][]string{-1: {"1", "2", "3"}, 0: {"1", "2", "3"}, 2: {"3"}, 3: nil, 9: nil} {
		found, _ := facts.After(after)
		var values []string
		for _, fact := range found {
			values = append(values, fact.Value)
		}
		require.Equal(t, want, values, "after %d", after)
	}
	kept, _ := facts.After(0)
	kept[0].Value = "changed"
	again, _ := facts.After(0)
	require.Equal(t, "1", again[0].Value, "what is given out is a copy")
}

func TestFollowersMissNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, writers, followers = 50, 4, 3
		facts := New(time.Now, nil)
		var running sync.WaitGroup
		for range followers {
			running.Go(func() {
				for seen := 0; seen < each*writers; {
					found, more := facts.After(seen)
					for _, fact := range found {
						seen++
						if fact.Seq != seen {
							t.Errorf("got fact %d in place of %d", fact.Seq, seen)
							return
						}
					}
					if found == nil {
						<-more
					}
				}
			})
		}
		for range writers {
			running.Go(func() {
				for range each {
					facts.Record("lab", "count", "one more")
				}
			})
		}
		running.Wait()
	})
}

func TestHearIsToldBeforeRecordReturns(t *testing.T) {
	facts := New(time.Now, nil)
	facts.Record("lab", "state", "too early")
	var heard []string
	facts.Hear(func(fact Fact) {
		heard = append(heard, fact.Value)
		if fact.Value == "cause" {
			facts.Record("lab", "state", "effect")
		}
	})
	facts.Record("lab", "state", "cause")
	require.Equal(t, []string{"cause", "effect"}, heard)
}
