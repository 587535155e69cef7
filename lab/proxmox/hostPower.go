package proxmox

import (
	"cmp"
	"slices"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// hostPower makes hosts fail and recover as faults require. Its methods are called without the lock.
type hostPower struct {
	datacenter *datacenter.Datacenter
	vms        *vm.VMs
	door       func(open bool)
}

// watch injects the faults of a host until the cluster ends.
func (p *hostPower) watch(h *datacenter.Host) {
	d, life := p.datacenter, p.datacenter.Life()
	point := fault.Point{On: fault.Host, Name: "power", Subject: h.Name}
	for life.Err() == nil {
		some, changed := d.Faults.Has(fault.Host)
		if some {
			outcome, err := d.Faults.Meet(life, point)
			if err != nil {
				return
			}
			if outcome != nil {
				p.cut(h)
				p.await(outcome.Do, point)
				if d.Pace.Wait(life, pace.Firmware, h.Name) != nil || d.Pace.Wait(life, pace.Kernel, h.Name) != nil {
					return
				}
				p.restore(h)
				continue
			}
		}
		select {
		case <-changed:
		case <-life.Done():
		}
	}
}

// await returns when a host may recover: no fault requires it to be absent.
func (p *hostPower) await(what fault.Action, point fault.Point) {
	for what == fault.Absent {
		_, changed := p.datacenter.Faults.Has(fault.Host)
		absent := slices.ContainsFunc(p.datacenter.Faults.Rules(), func(rule fault.Rule) bool {
			return rule.On == point.On && rule.Do == fault.Absent && fault.Like(rule.Name, point.Name) && fault.Like(rule.Subject, point.Subject)
		})
		if !absent {
			return
		}
		select {
		case <-changed:
		case <-p.datacenter.Life().Done():
			return
		}
	}
}

// cut cuts the power of a host, and with it that of its virtual machines.
func (p *hostPower) cut(h *datacenter.Host) {
	p.datacenter.Lock()
	defer p.datacenter.Unlock()
	h.Up = false
	for _, one := range p.vms.On(h.Name) {
		p.vms.PowerOff(one)
	}
	if p.datacenter.HostsUp() == 0 {
		p.door(false)
	}
	// Last, so that whoever reads the fact finds the host down.
	p.datacenter.Timeline.Record(h.Name, "host", "down")
}

// restore brings up a host that has booted. It starts the virtual machines that start with it, in their order.
func (p *hostPower) restore(h *datacenter.Host) {
	starting := p.startingWith(h)
	for _, one := range starting {
		p.vms.Retire(p.datacenter.Life(), one)
	}
	p.datacenter.Lock()
	defer p.datacenter.Unlock()
	if p.datacenter.Closed() {
		return
	}
	h.Up = true
	if p.datacenter.HostsUp() == 1 {
		p.door(true)
	}
	p.datacenter.Timeline.Record(h.Name, "host", "up")
	for _, one := range starting {
		if err := p.vms.PowerOn(one); err != nil {
			p.datacenter.Timeline.Record(one.Machine, "vm", "failed", "error", err.Error())
		}
	}
}

// startingWith returns the virtual machines that start with a host, in their order.
func (p *hostPower) startingWith(h *datacenter.Host) []*vm.VM {
	p.datacenter.Lock()
	defer p.datacenter.Unlock()
	starting := slices.DeleteFunc(p.vms.On(h.Name), func(one *vm.VM) bool { return one.Config["onboot"] != "1" || one.Lock != "" })
	slices.SortStableFunc(starting, func(a, b *vm.VM) int { return cmp.Compare(a.StartOrder(), b.StartOrder()) })
	return starting
}
