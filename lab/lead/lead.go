// Package lead is leader election among programs of a cluster by a Lease, as in a real cluster.
package lead

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrLost is the error of a leader that could not renew its Lease in time.
var ErrLost = errors.New("lost leadership")

// Election is an election by the Lease of this name.
type Election struct {
	Client          kubernetes.Interface
	Namespace, Name string
	// Identity is that of the candidate.
	Identity               string
	Duration, Renew, Retry time.Duration
	// IsHeard reports whether the machine is up: one that lost its power cannot release its Lease.
	IsHeard func() bool
}

// Run takes part in the election until the context ends, and calls do while it leads.
// It ends when do ends with an error, or when it is no longer the leader.
func (e Election) Run(ctx context.Context, do func(context.Context) error) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: e.Name, Namespace: e.Namespace},
		Client:     e.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	leader := leader{}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            spoken{Interface: lock, isHeard: e.IsHeard},
		ReleaseOnCancel: true,
		LeaseDuration:   e.Duration, RenewDeadline: e.Renew, RetryPeriod: e.Retry,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				if err := leader.act(ctx, do); err != nil {
					stop(err)
				}
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	leader.end()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return ErrLost
}

// leader runs do. The election calls it in a separate goroutine, which may start after the election has ended.
type leader struct {
	mu     sync.Mutex
	over   bool
	acting sync.WaitGroup
}

func (l *leader) act(ctx context.Context, do func(context.Context) error) error {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return nil
	}
	l.acting.Add(1)
	l.mu.Unlock()
	defer l.acting.Done()
	return do(ctx)
}

// end waits until do has returned, and prevents further calls.
func (l *leader) end() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.acting.Wait()
}

// spoken is a lock to which a machine that is off cannot write, and which it cannot release.
type spoken struct {
	resourcelock.Interface
	isHeard func() bool
}

func (s spoken) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if !s.isHeard() {
		return errors.New("the machine is off")
	}
	return s.Interface.Update(ctx, record)
}
