package lifecycle

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// settings changes what a server has besides its machine.
type settings struct{ *Parts }

func (s *settings) routes() api.Routes {
	const at = "POST /servers/{id}/actions/"
	return api.Routes{
		at + "enable_backup":     s.enableBackup,
		at + "disable_backup":    s.disableBackup,
		at + "attach_iso":        s.attachISO,
		at + "detach_iso":        s.detachISO,
		at + "change_protection": s.protect,
	}
}

// enableBackup only stores the setting: no backup is ever made.
func (s *settings) enableBackup(r *api.Call) (api.Reply, error) {
	one, err := project.Find(r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.Servers.Start(one, one.Step("enable_backup", func() { one.Backups = new("22-02") }))
}

func (s *settings) disableBackup(r *api.Call) (api.Reply, error) {
	one, err := project.Find(r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.Servers.Start(one, one.Step("disable_backup", func() { one.Backups = nil }))
}

// attachISO only stores the setting: the server still boots from its disk.
func (s *settings) attachISO(r *api.Call) (api.Reply, error) {
	one, asked, err := project.AskUnlocked[schema.ServerActionAttachISORequest](r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	iso, err := s.Catalog.ISOs.Choose("iso", asked.ISO)
	if err != nil {
		return api.Reply{}, err
	}
	return s.Servers.Start(one, one.Step("attach_iso", func() { one.ISO = &iso }))
}

func (s *settings) detachISO(r *api.Call) (api.Reply, error) {
	one, _, err := project.AskUnlocked[schema.ServerActionDetachISORequest](r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.Servers.Start(one, one.Step("detach_iso", func() { one.ISO = nil }))
}

func (s *settings) protect(r *api.Call) (api.Reply, error) {
	one, asked, err := project.Ask[schema.ServerActionChangeProtectionRequest](r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if api.ValueOr(asked.Delete, one.Protection.Delete) != api.ValueOr(asked.Rebuild, one.Protection.Rebuild) {
		return api.Reply{}, api.Invalid("rebuild", "delete and rebuild protection must be the same")
	}
	return s.Servers.Start(one, one.Step("change_protection", func() {
		one.Protection.Delete = api.ValueOr(asked.Delete, one.Protection.Delete)
		one.Protection.Rebuild = api.ValueOr(asked.Rebuild, one.Protection.Rebuild)
	}))
}
