package proxmox

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// watch lets a host fail and come back as faults ask for it, until Close.
func (c *Cluster) watch(h *host) {
	point := fault.Point{On: fault.Host, Name: "power", Subject: h.name}
	for c.life.Err() == nil {
		some, changed := c.Faults.Has(fault.Host)
		if some {
			outcome, err := c.Faults.Meet(c.life, point)
			if err != nil {
				return
			}
			if outcome != nil {
				c.lose(h)
				c.await(outcome.Do, point)
				if c.Pace.Wait(c.life, pace.Firmware, h.name) != nil || c.Pace.Wait(c.life, pace.Kernel, h.name) != nil {
					return
				}
				c.regain(h)
				continue
			}
		}
		select {
		case <-changed:
		case <-c.life.Done():
		}
	}
}

// await returns when a host that is absent may come back: no fault wants it gone.
func (c *Cluster) await(what fault.Action, point fault.Point) {
	for what == fault.Absent {
		_, changed := c.Faults.Has(fault.Host)
		gone := slices.ContainsFunc(c.Faults.Rules(), func(rule fault.Rule) bool {
			return rule.On == point.On && rule.Do == fault.Absent && fault.Like(rule.Name, point.Name) && fault.Like(rule.Subject, point.Subject)
		})
		if !gone {
			return
		}
		select {
		case <-changed:
		case <-c.life.Done():
			return
		}
	}
}

// lose takes the power of a host, and with it that of its machines.
func (c *Cluster) lose(h *host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.up = false
	for _, one := range c.sortedVMs() {
		if one.host == h.name {
			c.cut(one)
		}
	}
	if c.hostsUp() == 0 {
		c.Door(false)
	}
	// Who hears of it finds it so.
	c.Timeline.Record(h.name, "host", "down")
}

// regain is a host that has booted: it starts the machines that are to start
// with it, in their order.
func (c *Cluster) regain(h *host) {
	starting := c.startWith(h)
	for _, one := range starting {
		c.retire(c.life, one)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	h.up = true
	if c.hostsUp() == 1 {
		c.Door(true)
	}
	c.Timeline.Record(h.name, "host", "up")
	for _, one := range starting {
		if err := c.powerOn(one); err != nil {
			c.Timeline.Record(one.lab, "vm", "failed", "error", err.Error())
		}
	}
}

// startWith are the machines that start with a host, in their order.
func (c *Cluster) startWith(h *host) []*vm {
	c.mu.Lock()
	defer c.mu.Unlock()
	starting := slices.DeleteFunc(c.sortedVMs(), func(one *vm) bool {
		return one.host != h.name || one.config["onboot"] != "1" || one.lock != ""
	})
	slices.SortStableFunc(starting, func(a, b *vm) int { return cmp.Compare(a.startOrder(), b.startOrder()) })
	return starting
}

// startOrder is the machine's place among those that start with a host; those
// without one are last.
func (m *vm) startOrder() int {
	order, err := strconv.Atoi(parseProperties(m.config["startup"], "order")["order"])
	if err != nil {
		return math.MaxInt
	}
	return order
}

func (c *Cluster) hostsUp() int {
	count := 0
	for _, one := range c.hosts {
		if one.up {
			count++
		}
	}
	return count
}

// quorate says whether the hosts that are up may change anything: the larger
// half of all.
func (c *Cluster) quorate() bool { return 2*c.hostsUp() > len(c.hosts) }
