package hetzner

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// enableBackup only notes it: no backup is ever made.
func (c *Cloud) enableBackup(r *call) (reply, error) {
	s, _, err := ask[struct{}](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	return acting(c.startOne(s.lab, serverStep(s, "enable_backup", func() { s.backups = pointer("22-02") })))
}

func (c *Cloud) disableBackup(r *call) (reply, error) {
	s, _, err := ask[schema.ServerActionDisableBackupRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	return acting(c.startOne(s.lab, serverStep(s, "disable_backup", func() { s.backups = nil })))
}

// attachISO only notes it: the server goes on booting from its disk.
func (c *Cloud) attachISO(r *call) (reply, error) {
	s, asked, err := free[schema.ServerActionAttachISORequest](c, r)
	if err != nil {
		return reply{}, err
	}
	iso, err := c.catalog.isos.choose("iso", asked.ISO)
	if err != nil {
		return reply{}, err
	}
	return acting(c.startOne(s.lab, serverStep(s, "attach_iso", func() { s.iso = &iso })))
}

func (c *Cloud) detachISO(r *call) (reply, error) {
	s, _, err := free[schema.ServerActionDetachISORequest](c, r)
	if err != nil {
		return reply{}, err
	}
	return acting(c.startOne(s.lab, serverStep(s, "detach_iso", func() { s.iso = nil })))
}

func (c *Cloud) joinPlacementGroup(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionAddToPlacementGroupRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if err := c.stopped(s); err != nil {
		return reply{}, err
	}
	group, err := c.placementGroups.get(asked.PlacementGroup)
	if err != nil {
		return reply{}, err
	}
	if s.placement != nil {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "server is already in a placement group")
	}
	if err := c.room(group); err != nil {
		return reply{}, err
	}
	s.placement = group
	return acting(c.startOne(s.lab, serverStep(s, "add_to_placement_group", func() {})))
}

func (c *Cloud) leavePlacementGroup(r *call) (reply, error) {
	s, _, err := free[struct{}](c, r)
	if err != nil {
		return reply{}, err
	}
	if s.placement == nil {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "server is not in a placement group")
	}
	return acting(c.startOne(s.lab, serverStep(s, "remove_from_placement_group", func() { s.placement = nil })))
}

func (c *Cloud) pointServer(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionChangeDNSPtrRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	ip := s.ipv6
	if s.ipv4 != nil && s.ipv4.text() == asked.IP {
		ip = s.ipv4
	}
	if ip == nil {
		return reply{}, invalid("ip", "is not the server's")
	}
	return acting(c.startOne(s.lab, serverStep(s, "change_dns_ptr", func() { point(ip.pointers, asked.IP, asked.DNSPtr) })))
}

func (c *Cloud) protectServer(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionChangeProtectionRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if valueOr(asked.Delete, s.protected.Delete) != valueOr(asked.Rebuild, s.protected.Rebuild) {
		return reply{}, invalid("rebuild", "delete and rebuild protection must be the same")
	}
	return acting(c.startOne(s.lab, serverStep(s, "change_protection", func() {
		s.protected.Delete = valueOr(asked.Delete, s.protected.Delete)
		s.protected.Rebuild = valueOr(asked.Rebuild, s.protected.Rebuild)
	})))
}
