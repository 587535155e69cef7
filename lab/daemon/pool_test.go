package daemon

import (
	"net/netip"
	"testing"
)

func TestAPoolLiesInItsNetwork(t *testing.T) {
	asked := &Pool{From: netip.MustParseAddr("10.0.9.1"), To: netip.MustParseAddr("10.0.9.9")}
	for _, known := range []struct {
		pool              *Pool
		network, from, to string
	}{
		{nil, "10.0.0.0/16", "10.0.0.100", "10.0.0.199"},
		{nil, "192.168.20.0/22", "192.168.20.100", "192.168.20.199"},
		{nil, "192.168.1.0/28", "192.168.1.8", "192.168.1.14"},
		{asked, "10.0.0.0/16", "10.0.9.1", "10.0.9.9"},
		{asked, "192.168.1.0/24", "192.168.1.100", "192.168.1.199"},
	} {
		from, to := known.pool.In(netip.MustParsePrefix(known.network))
		if from.String() != known.from || to.String() != known.to {
			t.Errorf("in %s: %s to %s, wanted %s to %s", known.network, from, to, known.from, known.to)
		}
	}
}
