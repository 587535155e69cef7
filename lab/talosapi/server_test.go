package talosapi

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func TestAddresses(t *testing.T) {
	l := newLab(t)
	f := l.machine("1.13.8", "hcloud")
	more := l.machine("1.13.8", "hcloud").addresses[0]
	running := l.serve(f)
	reach := func(addr netip.Addr) error {
		conn, err := net.Dial("tcp", netip.AddrPortFrom(addr, 50000).String())
		if err == nil {
			require.NoError(t, conn.Close())
		}
		return err
	}
	require.NoError(t, reach(f.addresses[0]))
	require.Error(t, reach(more))
	require.NoError(t, running.Add(more))
	require.NoError(t, running.Add(more), "again")
	require.NoError(t, reach(more))
	require.Error(t, running.Add(netip.MustParseAddr("127.50.255.250")), "the address is not up")

	c := l.insecure(f)
	_, err := c.Version(within(t))
	require.NoError(t, err)
	running.Remove(f.addresses[0])
	require.Error(t, reach(f.addresses[0]))
	_, err = c.Version(within(t))
	require.Equal(t, codes.Unavailable, status.Code(err), "its connection is gone too")
	require.NoError(t, reach(more))
}

// An API that stops waits for every answer, but not for calls that only follow
// something.
func TestStopInOrder(t *testing.T) {
	l := newLab(t, func(options *Options) { options.Drain = 20 * time.Millisecond })
	f := l.machine("1.13.8", "metal")
	l.configure(f, machine.TypeControlPlane)
	running := l.serve(f)
	c := l.client(f, role.Admin)
	watched := make(chan state.Event)
	require.NoError(t, c.COSI.WatchKind(within(t), block.NewDisk(block.NamespaceName, "").Metadata(), watched))
	id, err := l.faults.Add(fault.Rule{On: fault.Talos, Name: "Version", Do: fault.Hold})
	require.NoError(t, err)
	answered, stopped := make(chan error), make(chan struct{})
	go func() {
		_, err := c.Version(within(t))
		answered <- err
	}()
	for facts, more := l.timeline.After(0); len(facts) == 0; facts, more = l.timeline.After(0) {
		<-more
	}
	go func() {
		running.Stop(true)
		close(stopped)
	}()
	cut := <-watched
	require.Equal(t, state.Errored, cut.Type)
	require.Equal(t, codes.Unavailable, status.Code(cut.Error), "%v", cut.Error)
	require.ErrorContains(t, cut.Error, "error reading from server: EOF")
	require.NoError(t, l.faults.Remove(id))
	require.NoError(t, <-answered)
	<-stopped
}

// When a node goes down machined ends before apid, which has nobody to pass calls on to.
func TestMachinedStopsBeforeApid(t *testing.T) {
	l := newLab(t)
	f := l.machine("1.13.8", "metal")
	l.configure(f, machine.TypeControlPlane)
	running := l.serve(f)
	c := l.client(f, role.Admin)
	_, err := c.Version(within(t))
	require.NoError(t, err)
	running.StopMachined()
	running.StopMachined()
	for _, client := range []*client.Client{c, l.client(f, role.Admin)} {
		_, err = client.Version(within(t))
		require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
		require.ErrorContains(t, err, "dial unix /system/run/machined/machine.sock: connect: no such file or directory")
	}
	running.Stop(true)
	_, err = l.client(f, role.Admin).Version(within(t))
	require.ErrorContains(t, err, "connection refused")
}

// A node judges the certificate of a client by its own clock.
func TestAWrongClock(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	for skew, accepted := range map[time.Duration]bool{-time.Hour: false, 0: true, 20 * 365 * 24 * time.Hour: false} {
		f.skew = skew
		_, err := l.client(f, role.Admin).Version(within(t))
		require.Equal(t, accepted, err == nil, "%s: %v", skew, err)
	}
	f.skew = 0
	c := l.client(f, role.Admin)
	_, err := c.Version(within(t))
	require.NoError(t, err)
	f.skew = time.Hour
	clock, err := c.TimeClient.Time(within(t), &emptypb.Empty{})
	require.NoError(t, err)
	answer := clock.GetMessages()[0]
	require.InDelta(t, time.Hour.Seconds(), answer.GetLocaltime().AsTime().Sub(answer.GetRemotetime().AsTime()).Seconds(), 60)
}

func TestStop(t *testing.T) {
	l := newLab(t)
	for name, graceful := range map[string]bool{"at once": false, "in order": true} {
		t.Run(name, func(t *testing.T) {
			f := l.machine("1.13.8", "metal")
			l.configure(f, machine.TypeControlPlane)
			running := l.serve(f)
			c := l.client(f, role.Admin)
			events := make(chan client.EventResult)
			require.NoError(t, c.EventsWatchV2(within(t), events))
			running.Stop(graceful)
			require.Error(t, (<-events).Error, "a call that follows gets an error")
			// The first client may still be noticing that its connection has ended.
			_, err := l.client(f, role.Admin).Version(within(t))
			require.Equal(t, codes.Unavailable, status.Code(err))
			require.ErrorContains(t, err, "connection refused")

			// The next boot serves the same address.
			l.serve(f)
			_, err = l.client(f, role.Admin).Version(within(t))
			require.NoError(t, err)
		})
	}
}
