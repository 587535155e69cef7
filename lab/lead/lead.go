// Package lead has programs of a cluster elect one of them, by a Lease, as they
// do in life.
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

// ErrLost is how an election ends for a leader that could not say in time that it
// still is one.
var ErrLost = errors.New("lost leadership")

// Election is one, by the Lease of this name.
type Election struct {
	Client          kubernetes.Interface
	Namespace, Name string
	// Identity is who stands for it.
	Identity               string
	Duration, Renew, Retry time.Duration
	// IsHeard says whether the machine is up: one that lost its power lets go of
	// nothing.
	IsHeard func() bool
}

// Run stands for election until the context ends, and does what a leader does
// while it is one. It ends when that does.
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

// leader is what an election asks for in a goroutine of its own, which may begin
// when the election is over already.
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

// end waits until nothing is done any more.
func (l *leader) end() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.acting.Wait()
}

// spoken is a lock to which a machine that is off says nothing, also not that it
// lets go.
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
